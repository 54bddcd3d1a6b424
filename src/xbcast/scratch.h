/* Scratch memory of the calling thread, which packed blocks go through.
 *
 * Not on the stack: a thread may have been given a small one. The memory is made when
 * a thread first uses it and goes with the thread; a run never enters another.
 */
#ifndef XBCAST_SCRATCH_H
#define XBCAST_SCRATCH_H

#define SCRATCH_BYTES (8 * 8192)

static inline char *thread_scratch(void)
{
    /* a cache line's alignment serves any loop */
    static _Thread_local _Alignas(64) char space[SCRATCH_BYTES];
    return space;
}

#endif
