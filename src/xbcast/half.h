/* float16 to and from float32 and float64. Results, and the warnings of rounding
 * to float16, are NumPy's: overflow where a finite number becomes infinite,
 * underflow where a number below 2**-14 is not exact. The latter is decided
 * before rounding, while the hardware decides after it, so the hardware's status
 * is never asked; callers put it back as it was (float_status.h). */
#ifndef XBCAST_HALF_H
#define XBCAST_HALF_H

#include "bits.h"
#include "elements.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

enum { HALF_OVERFLOW = 2, HALF_UNDERFLOW = 4 };

/* Without branches, so that a loop over it vectorises. Subnormals go by way of an
 * integer because arithmetic on subnormal floats is slow. */
static inline float float32_of_half(uint16_t h)
{
    uint32_t magnitude = h & 0x7fffu;
    uint32_t normal = (magnitude << 13) + 0x38000000u;
    normal += magnitude >= 0x7c00u ? 0x38000000u : 0;
    uint32_t subnormal = bits_of_float((float)(int32_t)magnitude * 0x1p-24f);
    uint32_t u = magnitude < 0x0400u ? subnormal : normal;
    return float_of_bits(u | (uint32_t)(h & 0x8000u) << 16);
}

/* The bits of Warning that rounding `x` to float16 gives. */
static inline uint32_t half_warnings_of_float32(float x)
{
    uint32_t magnitude = bits_of_float(x) & 0x7fffffffu;
    uint32_t small = magnitude < 0x38800000u ? magnitude : 0;
    float y = float_of_bits(small);
    uint32_t inexact = (y + 0.5f) - 0.5f != y;
    /* 0x477ff000 is 65520, the least number that rounds to infinity */
    uint32_t overflow = magnitude - 0x477ff000u < 0x7f800000u - 0x477ff000u;
    return inexact * HALF_UNDERFLOW | overflow * HALF_OVERFLOW;
}

static inline uint16_t half_of_float32(float x)
{
    uint32_t u = bits_of_float(x), magnitude = u & 0x7fffffffu;
    /* the last kept bit of x + 0.5 is worth 2**-24, as that of a subnormal half */
    uint32_t small = magnitude < 0x38800000u ? magnitude : 0;
    uint32_t subnormal = bits_of_float(float_of_bits(small) + 0.5f) - 0x3f000000u;
    uint32_t normal = (magnitude + 0xfffu + (magnitude >> 13 & 1) - 0x38000000u) >> 13;
    uint32_t h = magnitude < 0x38800000u ? subnormal : normal;
    h = magnitude >= 0x477ff000u ? 0x7c00u : h;
    h = magnitude > 0x7f800000u ? 0x7e00u : h;
    return (uint16_t)(h | (u >> 16 & 0x8000u));
}

/* A NaN that signals goes on doing so, as in float32_of_half. */
static inline double float64_of_half(uint16_t h)
{
    const uint64_t nan = (uint64_t)(h & 0x8000u) << 48 | 0x7ff0000000000000ull | (uint64_t)(h & 0x3ffu) << 42;
    const double x = (double)float32_of_half(h);
    return (h & 0x7fffu) > 0x7c00u ? double_of_bits(nan) : x;
}

/* Rounded once: by way of float32 some numbers would be rounded twice. */
static inline uint16_t half_of_float64(double x)
{
    uint64_t u = bits_of_double(x), magnitude = u & 0x7fffffffffffffffull;
    int is_small = magnitude < 0x3f10000000000000ull;
    uint64_t small = is_small ? magnitude : 0;
    uint64_t subnormal = bits_of_double(double_of_bits(small) + 0x1p28) - 0x41b0000000000000ull;
    uint64_t normal = (magnitude + 0x1ffffffffffull + (magnitude >> 42 & 1) - 0x3f00000000000000ull) >> 42;
    uint64_t h = is_small ? subnormal : normal;
    h = magnitude >= 0x40effe0000000000ull ? 0x7c00u : h;
    h = magnitude > 0x7ff0000000000000ull ? 0x7e00u : h;
    return (uint16_t)(h | (u >> 48 & 0x8000u));
}

static inline uint32_t half_warnings_of_float64(double x)
{
    uint64_t magnitude = bits_of_double(x) & 0x7fffffffffffffffull;
    uint64_t small = magnitude < 0x3f10000000000000ull ? magnitude : 0;
    double y = double_of_bits(small);
    uint32_t inexact = (y + 0x1p28) - 0x1p28 != y;
    uint32_t overflow = magnitude - 0x40effe0000000000ull < 0x7ff0000000000000ull - 0x40effe0000000000ull;
    return inexact * HALF_UNDERFLOW | overflow * HALF_OVERFLOW;
}

/* Whether rounding any of these can warn: cheaper than asking which warning. */
static inline int half_may_warn(const any_float32* from, ptrdiff_t n)
{
    uint32_t least = 0xffffffffu, most = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        uint32_t magnitude = bits_of_float(from[i]) & 0x7fffffffu;
        /* 0 is no risk, infinity and NaN are taken for one: both are rare */
        least = magnitude - 1 < least ? magnitude - 1 : least;
        most = magnitude > most ? magnitude : most;
    }
    return least < 0x387fffffu || most >= 0x477ff000u;
}

/* Both arrays contiguous, and apart from each other. What is left after whole vectors takes
 * one more: a masked one, or one that does some elements again. */
static inline void float32_of_half_block(any_float32* to, const any_float16* from, ptrdiff_t n)
{
    ptrdiff_t i = 0;
#if defined(__AVX512BW__) && defined(__AVX512VL__)
    for (; i + 16 <= n; i += 16) {
        _mm512_storeu_ps((void*)(to + i), _mm512_cvtph_ps(_mm256_loadu_si256((const void*)(from + i))));
    }
    const __mmask16 rest = (__mmask16)((1u << (n - i)) - 1);
    if (rest) {
        _mm512_mask_storeu_ps((void*)(to + i), rest,
                              _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(rest, (const void*)(from + i))));
    }
#else
#if defined(__F16C__)
    for (; n >= 8 && i < n; i += 8) {
        i = i < n - 8 ? i : n - 8;
        _mm256_storeu_ps((float*)(to + i), _mm256_cvtph_ps(_mm_loadu_si128((const void*)(from + i))));
    }
#endif
    for (; i < n; i++) {
        to[i] = float32_of_half(from[i]);
    }
#endif
}

/* In two steps, each of which is vectorised (benchmarks/bench_layouts.py, converted). */
static inline void float64_of_half_block(any_float64* to, const any_float16* from, ptrdiff_t n)
{
    any_float32 part[256];
    while (n > 0) {
        ptrdiff_t count = n < 256 ? n : 256;
        float32_of_half_block(part, from, count);
        for (ptrdiff_t i = 0; i < count; i++) {
            to[i] = part[i];
        }
        to += count;
        from += count;
        n -= count;
    }
}

/* The least and the greatest magnitude tell whether a warning is possible at all: found
 * while rounding, at almost no cost (benchmarks/bench_layouts.py, Cache, float16). NaN
 * gives no warning and is passed over. A 0 is taken for
 * too small here; half_may_warn knows better. */
static inline uint32_t half_of_float32_block(any_float16* to, const any_float32* from, ptrdiff_t n)
{
    uint32_t warnings = 0;
    ptrdiff_t i = 0;
    int safe = 0;
#if defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__AVX512DQ__)
    const __m512 one = _mm512_set1_ps(1);
    __m512 least[2] = {one, one}, most[2] = {one, one};
    for (; i + 32 <= n; i += 32) {
        for (int k = 0; k < 2; k++) {
            __m512 x = _mm512_loadu_ps((const void*)(from + i + 16 * k));
            _mm256_storeu_si256((void*)(to + i + 16 * k), _mm512_cvtps_ph(x, 0));
            x = _mm512_abs_ps(x);
            /* of a NaN, signalling or not, and another, the second */
            least[k] = _mm512_min_ps(x, least[k]);
            most[k] = _mm512_max_ps(x, most[k]);
        }
    }
    for (int k = 0; i < n; i += 16, k++) {
        const __mmask16 rest = (__mmask16)(n - i < 16 ? (1u << (n - i)) - 1 : 0xffffu);
        __m512 x = _mm512_mask_loadu_ps(one, rest, (const void*)(from + i));
        _mm256_mask_storeu_epi16((void*)(to + i), rest, _mm512_cvtps_ph(x, 0));
        x = _mm512_abs_ps(x);
        least[k] = _mm512_min_ps(x, least[k]);
        most[k] = _mm512_max_ps(x, most[k]);
    }
    safe = _mm512_reduce_min_ps(_mm512_min_ps(least[0], least[1])) >= 0x1p-14f
           && _mm512_reduce_max_ps(_mm512_max_ps(most[0], most[1])) < 65520;
#elif defined(__F16C__)
    if (n >= 8) {
        const __m256 sign = _mm256_set1_ps(-0.0f);
        __m256 least = _mm256_set1_ps(1), most = least;
        for (; i < n; i += 8) {
            i = i < n - 8 ? i : n - 8;
            __m256 x = _mm256_loadu_ps((const float*)(from + i)), magnitude = _mm256_andnot_ps(sign, x);
            _mm_storeu_si128((void*)(to + i), _mm256_cvtps_ph(x, 0));
            least = _mm256_min_ps(magnitude, least);
            most = _mm256_max_ps(magnitude, most);
        }
        least = _mm256_cmp_ps(least, _mm256_set1_ps(0x1p-14f), _CMP_GE_OQ);
        most = _mm256_cmp_ps(most, _mm256_set1_ps(65520), _CMP_LT_OQ);
        safe = _mm256_movemask_ps(_mm256_and_ps(least, most)) == 0xff;
    }
#endif
    if (!safe && half_may_warn(from, n)) {
        for (ptrdiff_t k = 0; k < n; k++) {
            warnings |= half_warnings_of_float32(from[k]);
        }
    }
    for (; i < n; i++) {
        to[i] = half_of_float32(from[i]);
    }
    return warnings;
}

#endif
