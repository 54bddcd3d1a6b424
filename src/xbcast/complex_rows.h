/* Rows of complex numbers by vector instructions; the contract is that of rows.h, which
 * includes this.
 *
 * Lanes compute what the kernels do, in their order, so with their bits and their status
 * (benchmarks/bench_ops.py, multiply and divide). Operands may be strided: each number
 * is one load, and every second one takes fewer (benchmarks/bench_layouts.py, Gaps). */
#ifndef XBCAST_COMPLEX_ROWS_H
#define XBCAST_COMPLEX_ROWS_H

#include "elements.h"
#include "smith.h"

#if defined(__AVX512F__)
#define XBCAST_CHOICE(PS, A, B, PREDICATE) _mm512_cmp_##PS##_mask(A, B, PREDICATE)
#define XBCAST_CHOOSE(PS, CHOICE, YES, NO) _mm512_mask_blend_##PS(CHOICE, NO, YES)
#define XBCAST_ANY(PS, CHOICE) ((CHOICE) != 0)
#else
#define XBCAST_CHOICE(PS, A, B, PREDICATE) _mm256_cmp_##PS(A, B, PREDICATE)
#define XBCAST_CHOOSE(PS, CHOICE, YES, NO) _mm256_blendv_##PS(NO, YES, CHOICE)
#define XBCAST_ANY(PS, CHOICE) (_mm256_movemask_##PS(CHOICE) != 0)
#endif

/* ---- lanes from memory: numbers that lie s bytes apart ---- */

static inline float64_lanes complex128_at(const char *x, ptrdiff_t s)
{
    if (s == 16) {
        return XBCAST_WIDE(loadu_pd)((const void *)x);
    }
    __m256d low = _mm256_set_m128d(_mm_loadu_pd((const void *)(x + s)), _mm_loadu_pd((const void *)x));
#if defined(__AVX512F__)
    x += 2 * s;
    __m256d high = _mm256_set_m128d(_mm_loadu_pd((const void *)(x + s)), _mm_loadu_pd((const void *)x));
    return _mm512_insertf64x4(_mm512_castpd256_pd512(low), high, 1);
#else
    return low;
#endif
}

static inline __m128d complex64_pair_at(const char *x, ptrdiff_t s)
{
    return _mm_loadh_pd(_mm_set_sd(*(const any_float64 *)x), (const void *)(x + s));
}

static inline float32_lanes complex64_at(const char *x, ptrdiff_t s)
{
    if (s == 8) {
        return XBCAST_WIDE(loadu_ps)((const void *)x);
    }
    __m256d low = _mm256_set_m128d(complex64_pair_at(x + 2 * s, s), complex64_pair_at(x, s));
#if defined(__AVX512F__)
    x += 4 * s;
    __m256d high = _mm256_set_m128d(complex64_pair_at(x + 2 * s, s), complex64_pair_at(x, s));
    return _mm512_castpd_ps(_mm512_insertf64x4(_mm512_castpd256_pd512(low), high, 1));
#else
    return _mm256_castpd_ps(low);
#endif
}

/* Those that every second number of memory is; the one after the last is read too. */
static inline float64_lanes every_second_complex128(const char *x)
{
    float64_lanes low = complex128_at(x, 16), high = complex128_at(x + XBCAST_VECTOR, 16);
#if defined(__AVX512F__)
    return _mm512_shuffle_f64x2(low, high, 0x88);
#else
    return _mm256_permute2f128_pd(low, high, 0x20);
#endif
}

static inline float32_lanes every_second_complex64(const char *x)
{
    float64_lanes low = complex128_at(x, 16), high = complex128_at(x + XBCAST_VECTOR, 16);
#if defined(__AVX512F__)
    const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
    return _mm512_castpd_ps(_mm512_permutex2var_pd(low, even, high));
#else
    return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_unpacklo_pd(low, high), 0xd8));
#endif
}

/* ---- products ---- */

/* (a.re, a.re), (a.im, a.im) and (b.im, b.re) of each number; `minus` turns the sign of a
 * real part. */
static inline float32_lanes complex64_product(float32_lanes a, float32_lanes b)
{
    const complex64 minus = {-0.0f, 0};
    float32_lanes x = XBCAST_WIDE(mul_ps)(XBCAST_WIDE(moveldup_ps)(a), b);
    float32_lanes y = XBCAST_WIDE(mul_ps)(XBCAST_WIDE(movehdup_ps)(a), XBCAST_WIDE(permute_ps)(b, 0xb1));
    return XBCAST_WIDE(add_ps)(x, XBCAST_WIDE(xor_ps)(y, complex64_at((const char *)&minus, 0)));
}

static inline float64_lanes complex128_product(float64_lanes a, float64_lanes b)
{
    const complex128 minus = {-0.0, 0};
    float64_lanes x = XBCAST_WIDE(mul_pd)(XBCAST_WIDE(movedup_pd)(a), b);
    float64_lanes y = XBCAST_WIDE(mul_pd)(XBCAST_WIDE(permute_pd)(a, 0xff & 0xff >> (64 - XBCAST_VECTOR) / 8),
                                          XBCAST_WIDE(permute_pd)(b, 0x55 & 0xff >> (64 - XBCAST_VECTOR) / 8));
    return XBCAST_WIDE(add_pd)(x, XBCAST_WIDE(xor_pd)(y, complex128_at((const char *)&minus, 0)));
}

/* ---- quotients ----
 *
 * Of two vectors at a time: one holds the real parts, one the imaginary parts. Where the
 * divisor's imaginary part is the larger one, the parts change places. */

static inline float32_lanes float32_parts(float32_lanes x, float32_lanes y, int which)
{
    return which == 0 ? XBCAST_WIDE(shuffle_ps)(x, y, 0x88) : XBCAST_WIDE(shuffle_ps)(x, y, 0xdd);
}

static inline float64_lanes float64_parts(float64_lanes x, float64_lanes y, int which)
{
    return which == 0 ? XBCAST_WIDE(unpacklo_pd)(x, y) : XBCAST_WIDE(unpackhi_pd)(x, y);
}

#define XBCAST_QUOTIENTS(TYPE, PART, PS)                                                                     \
    static inline void TYPE##_quotients(PART##_lanes c[2], const PART##_lanes a[2], const PART##_lanes b[2]) \
    {                                                                                                        \
        const PART##_lanes a_re = PART##_parts(a[0], a[1], 0), a_im = PART##_parts(a[0], a[1], 1);           \
        const PART##_lanes b_re = PART##_parts(b[0], b[1], 0), b_im = PART##_parts(b[0], b[1], 1);           \
        const PART##_lanes sign = XBCAST_WIDE(set1_##PS)(-0.0f), one = XBCAST_WIDE(set1_##PS)(1.0f);         \
        /* a comparison that raises INVALID for a NaN, as >= does */                                         \
        const __auto_type turned = XBCAST_CHOICE(PS, XBCAST_WIDE(andnot_##PS)(sign, b_re),                   \
                                                 XBCAST_WIDE(andnot_##PS)(sign, b_im), _CMP_NGE_US);         \
        const PART##_lanes larger = XBCAST_CHOOSE(PS, turned, b_im, b_re);                                   \
        const PART##_lanes smaller = XBCAST_CHOOSE(PS, turned, b_re, b_im);                                  \
        const PART##_lanes first = XBCAST_CHOOSE(PS, turned, a_im, a_re);                                    \
        const PART##_lanes second = XBCAST_CHOOSE(PS, turned, a_re, a_im);                                   \
        if (XBCAST_ANY(PS, XBCAST_CHOICE(PS, larger, XBCAST_WIDE(setzero_##PS)(), _CMP_EQ_OQ))) {            \
            TYPE p[2 * XBCAST_VECTOR / sizeof(TYPE)], q[2 * XBCAST_VECTOR / sizeof(TYPE)];                   \
            memcpy(p, a, sizeof p);                                                                          \
            memcpy(q, b, sizeof q);                                                                          \
            for (size_t k = 0; k < sizeof p / sizeof *p; k++) {                                              \
                p[k] = TYPE##_quotient(p[k], q[k]);                                                          \
            }                                                                                                \
            memcpy(c, p, sizeof p);                                                                          \
            return;                                                                                          \
        }                                                                                                    \
        const PART##_lanes ratio = XBCAST_WIDE(div_##PS)(smaller, larger);                                   \
        const PART##_lanes scale = XBCAST_WIDE(div_##PS)(                                                    \
            one, XBCAST_WIDE(add_##PS)(larger, XBCAST_WIDE(mul_##PS)(smaller, ratio)));                      \
        const PART##_lanes term = XBCAST_WIDE(mul_##PS)(first, ratio);                                       \
        const PART##_lanes sum = XBCAST_WIDE(add_##PS)(first, XBCAST_WIDE(mul_##PS)(second, ratio));         \
        const PART##_lanes difference = XBCAST_WIDE(sub_##PS)(XBCAST_CHOOSE(PS, turned, term, second),       \
                                                              XBCAST_CHOOSE(PS, turned, second, term));      \
        const PART##_lanes c_re = XBCAST_WIDE(mul_##PS)(sum, scale);                                         \
        const PART##_lanes c_im = XBCAST_WIDE(mul_##PS)(difference, scale);                                  \
        c[0] = XBCAST_WIDE(unpacklo_##PS)(c_re, c_im);                                                       \
        c[1] = XBCAST_WIDE(unpackhi_##PS)(c_re, c_im);                                                       \
    }

XBCAST_QUOTIENTS(complex64, float32, ps)
XBCAST_QUOTIENTS(complex128, float64, pd)

/* ---- rows ---- */

/* Four vectors at a time, all read before any is written: arrays of one size often lie a
 * multiple of 4096 bytes apart, and reads wait for writes that seem to overlap. The loop is
 * compiled once for each layout. */
#define XBCAST_COMPLEX_ROW(OP, TYPE, PART, COMPUTE)                                                            \
    static inline __attribute__((always_inline)) ptrdiff_t OP##_##TYPE##_some(                                 \
        char *out, const char *x1, ptrdiff_t s1, const char *x2, ptrdiff_t s2, ptrdiff_t n, int every_second)  \
    {                                                                                                          \
        enum { LANES = XBCAST_VECTOR / sizeof(TYPE) };                                                         \
        const PART##_lanes same1 = TYPE##_at(x1, 0), same2 = TYPE##_at(x2, 0);                                 \
        ptrdiff_t i = 0;                                                                                       \
        for (; i + 4 * LANES + every_second <= n; i += 4 * LANES) {                                            \
            PART##_lanes a[4], b[4], c[4];                                                                     \
            for (int k = 0; k < 4; k++) {                                                                      \
                const char *p = x1 + (i + k * LANES) * s1, *q = x2 + (i + k * LANES) * s2;                     \
                a[k] = s1 == 0 ? same1 : every_second ? every_second_##TYPE(p) : TYPE##_at(p, s1);             \
                b[k] = s2 == 0 ? same2 : every_second ? every_second_##TYPE(q) : TYPE##_at(q, s2);             \
            }                                                                                                  \
            COMPUTE                                                                                            \
            for (int k = 0; k < 4; k++) {                                                                      \
                memcpy(out + (i + k * LANES) * sizeof(TYPE), &c[k], sizeof c[k]);                              \
            }                                                                                                  \
        }                                                                                                      \
        return i;                                                                                              \
    }                                                                                                          \
    static ptrdiff_t OP##_##TYPE##_row(char *out, ptrdiff_t s, const char *x1, ptrdiff_t s1,                   \
                                       const char *x2, ptrdiff_t s2, ptrdiff_t n)                              \
    {                                                                                                          \
        const ptrdiff_t size = sizeof(TYPE);                                                                   \
        if (s != size || n * size < 4 * XBCAST_VECTOR) {                                                       \
            return 0;                                                                                          \
        }                                                                                                      \
        if (s1 == size && s2 == size) {                                                                        \
            return OP##_##TYPE##_some(out, x1, size, x2, size, n, 0);                                          \
        }                                                                                                      \
        if (s1 == 0 && s2 == size) {                                                                           \
            return OP##_##TYPE##_some(out, x1, 0, x2, size, n, 0);                                             \
        }                                                                                                      \
        if (s1 == size && s2 == 0) {                                                                           \
            return OP##_##TYPE##_some(out, x1, size, x2, 0, n, 0);                                             \
        }                                                                                                      \
        if (s1 == 2 * size && s2 == 2 * size) {                                                                \
            return OP##_##TYPE##_some(out, x1, 2 * size, x2, 2 * size, n, 1);                                  \
        }                                                                                                      \
        return OP##_##TYPE##_some(out, x1, s1, x2, s2, n, 0);                                                  \
    }

#define XBCAST_EACH(RESULT)                                                                                    \
    for (int k = 0; k < 4; k++) {                                                                              \
        c[k] = RESULT;                                                                                         \
    }

XBCAST_COMPLEX_ROW(add, complex64, float32, XBCAST_EACH(a[k] + b[k]))
XBCAST_COMPLEX_ROW(subtract, complex64, float32, XBCAST_EACH(a[k] - b[k]))
XBCAST_COMPLEX_ROW(multiply, complex64, float32, XBCAST_EACH(complex64_product(a[k], b[k])))
XBCAST_COMPLEX_ROW(multiply, complex128, float64, XBCAST_EACH(complex128_product(a[k], b[k])))

#define XBCAST_DIVIDE(TYPE)                \
    TYPE##_quotients(c, a, b);             \
    TYPE##_quotients(c + 2, a + 2, b + 2);

XBCAST_COMPLEX_ROW(divide, complex64, float32, XBCAST_DIVIDE(complex64))
XBCAST_COMPLEX_ROW(divide, complex128, float64, XBCAST_DIVIDE(complex128))

#undef XBCAST_DIVIDE
#undef XBCAST_EACH
#undef XBCAST_COMPLEX_ROW
#undef XBCAST_QUOTIENTS
#undef XBCAST_ANY
#undef XBCAST_CHOOSE
#undef XBCAST_CHOICE

#endif
