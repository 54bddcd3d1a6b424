/* Scratch memory of the calling thread, which packed blocks and streams go through.
 *
 * Not on the stack: a thread may have been given a small one. The memory is made when
 * a thread first uses it and goes with the thread; a run never enters another.
 */
#ifndef XBCAST_SCRATCH_H
#define XBCAST_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

enum {
    /* Bytes of one scratch buffer, of which there are two for each operand. Three
     * operands' buffers stay within the L1 cache. */
    SCRATCH = 8192,
    /* Of one for a large tile of a transposed operand, as far as all of scratch allows
     * (share_scratch of _plan.pyx). */
    TILE_SCRATCH = 8 * SCRATCH,
    ALL_SCRATCH = 2 * TILE_SCRATCH,
    /* Bytes that are computed in cache before they go past it, after what is left of the
     * block before, less than a line; and a line that may be read beyond them. */
    STREAM_BLOCK = 4096,
    STREAM_SCRATCH = STREAM_BLOCK + 2 * 64,
    /* Elements of a block that a mask may keep to be taken one by one, and bytes for their
     * offsets and places, of which up to three more are written. */
    MOST_KEPT = 512,
    OFFSETS = ALL_SCRATCH + STREAM_SCRATCH,
    PLACES = OFFSETS + MOST_KEPT * sizeof(ptrdiff_t)
};

static inline char *thread_scratch(void)
{
    /* a cache line's alignment serves any loop */
    static _Thread_local _Alignas(64) char space[PLACES + (MOST_KEPT + 3) * sizeof(uint16_t)];
    return space;
}

static inline char *thread_stream(void) { return thread_scratch() + ALL_SCRATCH; }

#endif
