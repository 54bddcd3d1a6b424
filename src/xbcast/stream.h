/* Stores past the cache, for results so large that they would leave it before anybody
 * reads them: a plain store first reads the line that it is about to overwrite. */
#ifndef XBCAST_STREAM_H
#define XBCAST_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>

enum { STREAM_LINE = 64 };

/* Copies; whole lines of the cache go past it. Other threads may see the bytes after
 * the next stream_end. */
static inline void stream_copy(char *to, const char *source, ptrdiff_t bytes)
{
    ptrdiff_t head = -(uintptr_t)to & (STREAM_LINE - 1);
    if (bytes < head + STREAM_LINE) {
        memcpy(to, source, bytes);
        return;
    }
    memcpy(to, source, head);
    to += head;
    source += head;
    bytes -= head;
    for (; bytes >= STREAM_LINE; bytes -= STREAM_LINE) {
        for (int k = 0; k < STREAM_LINE; k += 16) {
            _mm_stream_si128((__m128i *)(to + k), _mm_loadu_si128((const __m128i *)(source + k)));
        }
        to += STREAM_LINE;
        source += STREAM_LINE;
    }
    memcpy(to, source, bytes);
}

static inline void stream_end(void) { _mm_sfence(); }
#else
static inline void stream_copy(char *to, const char *source, ptrdiff_t bytes) { memcpy(to, source, bytes); }
static inline void stream_end(void) {}
#endif

#endif
