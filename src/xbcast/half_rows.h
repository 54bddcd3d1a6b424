/* Arithmetic on rows of float16 in one pass, where no result can warn
 * (benchmarks/bench_ops.py, float16).
 *
 * OP_float16_row(to, x1, s1, x2, s2, n) computes n elements in float32 and rounds them. It
 * returns whether that will do: not where some result is infinite or NaN, or so small that
 * rounding it may warn; `to` then holds nothing of use. `to` is contiguous and shares no
 * memory with operands; s1 and s2 are the bytes of an element or 0. The status of the
 * hardware is left as it happens to be. */
#ifndef XBCAST_HALF_ROWS_H
#define XBCAST_HALF_ROWS_H

#include "elements.h"
#include "half.h"

/* Elements that loops over float16 convert at a time, and room for them: not on the stack,
 * of which a thread may have been given little. */
enum { HALF_BLOCK = 512 };

typedef struct {
    any_float32 x1[HALF_BLOCK], x2[HALF_BLOCK];
    any_float16 apart[HALF_BLOCK];
    any_float32 out[HALF_BLOCK];
} half_scratch_t;

static inline half_scratch_t *half_scratch(void)
{
    static _Thread_local _Alignas(64) half_scratch_t space;
    half_scratch_t *scratch = &space;
    /* GCC looks a thread's memory up again for each use if it can, in loops too */
    __asm__("" : "+r"(scratch));
    return scratch;
}

typedef int (*HalfRow)(any_float16 *to, const any_float16 *x1, ptrdiff_t s1,
                       const any_float16 *x2, ptrdiff_t s2, ptrdiff_t n);

#if defined(__F16C__)
#include <immintrin.h>

/* float32 and, half as wide, float16. */
#if defined(__AVX512BW__) && defined(__AVX512VL__)
typedef __m512 half_wide;
typedef __m512i half_wide_bits;
typedef __m256i half_narrow;
#define XBCAST_LANES(NAME) _mm512_##NAME
#define XBCAST_NARROW(NAME) _mm256_##NAME
#define half_narrow_load(X) _mm256_loadu_si256((const void *)(X))
#define half_narrow_store(TO, X) _mm256_storeu_si256((void *)(TO), X)
#define half_narrow_zero() _mm256_setzero_si256()
#else
typedef __m256 half_wide;
typedef __m256i half_wide_bits;
typedef __m128i half_narrow;
#define XBCAST_LANES(NAME) _mm256_##NAME
#define XBCAST_NARROW(NAME) _mm_##NAME
#define half_narrow_load(X) _mm_loadu_si128((const void *)(X))
#define half_narrow_store(TO, X) _mm_storeu_si128((void *)(TO), X)
#define half_narrow_zero() _mm_setzero_si128()
#endif

enum { HALF_LANES = sizeof(half_narrow) / 2 };

/* The first n elements of a vector; the others are like the first, so that their results,
 * which count for the range, are no others. */
static inline half_narrow half_narrow_load_some(const any_float16 *x, ptrdiff_t n)
{
    const half_narrow first = XBCAST_NARROW(set1_epi16)((int16_t)*x);
#if defined(__AVX512BW__) && defined(__AVX512VL__)
    return _mm256_mask_loadu_epi16(first, (__mmask16)((1u << n) - 1), x);
#else
    half_narrow some = first;
    memcpy(&some, x, 2 * n);
    return some;
#endif
}

static inline void half_narrow_store_some(any_float16 *to, half_narrow x, ptrdiff_t n)
{
#if defined(__AVX512BW__) && defined(__AVX512VL__)
    _mm256_mask_storeu_epi16(to, (__mmask16)((1u << n) - 1), x);
#else
    memcpy(to, &x, 2 * n);
#endif
}

/* The greatest magnitude among results, and the least but for 0, less one. */
typedef struct {
    half_narrow most;
    half_wide_bits least;
} half_range;

static inline half_range half_range_of_none(void)
{
    return (half_range){half_narrow_zero(), XBCAST_LANES(set1_epi32)(-1)};
}

static inline int half_range_is_safe(half_range range)
{
    /* the greatest finite number, and 2**-14 less one */
    uint16_t most[HALF_LANES];
    uint32_t least[HALF_LANES];
    int is_safe = 1;
    memcpy(most, &range.most, sizeof(most));
    memcpy(least, &range.least, sizeof(least));
    for (int k = 0; k < HALF_LANES; k++) {
        is_safe &= (most[k] <= 0x7bff) & (least[k] >= 0x387fffff);
    }
    return is_safe;
}

/* One vector of results, and what it means for the range. SMALL is 0 where results below
 * 2**-14 are exact. */
#define XBCAST_HALF_STEP(COMPUTE, AT, RANGE, SMALL, LOAD, STORE)                                    \
    do {                                                                                            \
        const half_wide x = COMPUTE(s1 ? XBCAST_LANES(cvtph_ps)(LOAD(x1 + (AT))) : a,               \
                                    s2 ? XBCAST_LANES(cvtph_ps)(LOAD(x2 + (AT))) : b);              \
        const half_narrow rounded = XBCAST_LANES(cvtps_ph)(x, 0);                                   \
        STORE(to + (AT), rounded);                                                                  \
        RANGE.most = XBCAST_NARROW(max_epu16)(RANGE.most, rounded & magnitude_16);                  \
        if (SMALL) {                                                                                \
            const half_wide_bits magnitude = (half_wide_bits)x & magnitude_32;                      \
            RANGE.least = XBCAST_LANES(min_epu32)(                                                  \
                RANGE.least, XBCAST_LANES(add_epi32)(magnitude, XBCAST_LANES(set1_epi32)(-1)));     \
        }                                                                                           \
    } while (0)
#define XBCAST_LOAD_REST(X) half_narrow_load_some(X, n - i)
#define XBCAST_STORE_REST(TO, X) half_narrow_store_some(TO, X, n - i)

#define XBCAST_HALF_ROW(OP, COMPUTE, SMALL)                                                         \
    static inline __attribute__((always_inline)) int OP##_halves(                                   \
        any_float16 *to, const any_float16 *x1, int s1, const any_float16 *x2, int s2, ptrdiff_t n) \
    {                                                                                               \
        const half_narrow magnitude_16 = XBCAST_NARROW(set1_epi16)(0x7fff);                         \
        const half_wide_bits magnitude_32 = XBCAST_LANES(set1_epi32)(0x7fffffff);                   \
        const half_wide a = XBCAST_LANES(set1_ps)(float32_of_half(*x1));                            \
        const half_wide b = XBCAST_LANES(set1_ps)(float32_of_half(*x2));                            \
        half_range even = half_range_of_none(), odd = even;                                         \
        ptrdiff_t i = 0;                                                                            \
        for (; i + 2 * HALF_LANES <= n; i += 2 * HALF_LANES) {                                      \
            XBCAST_HALF_STEP(COMPUTE, i, even, SMALL, half_narrow_load, half_narrow_store);         \
            XBCAST_HALF_STEP(COMPUTE, i + HALF_LANES, odd, SMALL, half_narrow_load, half_narrow_store); \
        }                                                                                           \
        if (i + HALF_LANES <= n) {                                                                  \
            XBCAST_HALF_STEP(COMPUTE, i, even, SMALL, half_narrow_load, half_narrow_store);         \
            i += HALF_LANES;                                                                        \
        }                                                                                           \
        if (i < n) {                                                                                \
            XBCAST_HALF_STEP(COMPUTE, i, odd, SMALL, XBCAST_LOAD_REST, XBCAST_STORE_REST);          \
        }                                                                                           \
        even.most = XBCAST_NARROW(max_epu16)(even.most, odd.most);                                  \
        even.least = XBCAST_LANES(min_epu32)(even.least, odd.least);                                \
        return half_range_is_safe(even);                                                            \
    }                                                                                               \
    static int OP##_float16_row(any_float16 *to, const any_float16 *x1, ptrdiff_t s1,               \
                                const any_float16 *x2, ptrdiff_t s2, ptrdiff_t n)                   \
    {                                                                                               \
        return s1 == 0   ? OP##_halves(to, x1, 0, x2, 1, n)                                         \
               : s2 == 0 ? OP##_halves(to, x1, 1, x2, 0, n)                                         \
                         : OP##_halves(to, x1, 1, x2, 1, n);                                        \
    }
#else
#define XBCAST_HALF_ROW(OP, COMPUTE, SMALL)                                                 \
    static int OP##_float16_row(any_float16 *to, const any_float16 *x1, ptrdiff_t s1,       \
                                const any_float16 *x2, ptrdiff_t s2, ptrdiff_t n)           \
    {                                                                                       \
        return 0;                                                                           \
    }
#endif

/* Sums are whole multiples of the least number, so that small ones are exact. */
XBCAST_HALF_ROW(add, XBCAST_LANES(add_ps), 0)
XBCAST_HALF_ROW(subtract, XBCAST_LANES(sub_ps), 0)
XBCAST_HALF_ROW(multiply, XBCAST_LANES(mul_ps), 1)
XBCAST_HALF_ROW(divide, XBCAST_LANES(div_ps), 1)

#endif
