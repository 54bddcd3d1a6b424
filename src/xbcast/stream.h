/* Stores past the cache, for results so large that they would leave it before anybody
 * reads them: a plain store first reads the line that it is about to overwrite. */
#ifndef XBCAST_STREAM_H
#define XBCAST_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <x86intrin.h>

enum { CAN_STREAM = 1, STREAM_LINE = 64 };

/* One line of the cache; stores of less than a whole line take longer
 * (benchmarks/bench_layouts.py, Memory). */
static inline void stream_line(char *to, const char *source)
{
#if defined(__AVX512F__)
    _mm512_stream_si512((void *)to, _mm512_loadu_si512((const void *)source));
#elif defined(__AVX__)
    for (int k = 0; k < STREAM_LINE; k += 32) {
        _mm256_stream_si256((__m256i *)(to + k), _mm256_loadu_si256((const __m256i *)(source + k)));
    }
#else
    for (int k = 0; k < STREAM_LINE; k += 16) {
        _mm_stream_si128((__m128i *)(to + k), _mm_loadu_si128((const __m128i *)(source + k)));
    }
#endif
}

/* Copies; whole lines of the cache go past it. Other threads may see the bytes after
 * the next stream_end. */
static inline void stream_bytes(char *to, const char *source, ptrdiff_t bytes)
{
    const ptrdiff_t head = -(uintptr_t)to & (STREAM_LINE - 1);
    if (bytes < head + STREAM_LINE) {
        memcpy(to, source, bytes);
        return;
    }
    if (head > 0) {
        memcpy(to, source, head);
    }
    ptrdiff_t at = head;
    for (; at + STREAM_LINE <= bytes; at += STREAM_LINE) {
        stream_line(to + at, source + at);
    }
    if (at < bytes) {
        memcpy(to + at, source + at, bytes - at);
    }
}

static inline void stream_end(void) { _mm_sfence(); }

/* A clock, in whatever unit. */
static inline uint64_t stream_clock(void) { return __rdtsc(); }
#else
enum { CAN_STREAM = 0 };
static inline void stream_bytes(char *to, const char *source, ptrdiff_t bytes) { memcpy(to, source, bytes); }
static inline void stream_end(void) {}
static inline uint64_t stream_clock(void) { return 0; }
#endif

#endif
