/* Rows of elements by vector instructions that the compiler does not find by itself.
 *
 * NAME_row(out, s, x1, s1, x2, s2, n) does the first elements of a row, as many as it
 * suits, and returns how many: 0 for a layout or a constant that it is not made for.
 * The inner loop does the rest; both give the same bits. */
#ifndef XBCAST_ROWS_H
#define XBCAST_ROWS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "elements.h"

/* Vectors as wide as this CPU level has them. */
#if defined(__AVX512F__)
typedef __m512 float32_lanes;
typedef __m512d float64_lanes;
#define XBCAST_WIDE(NAME) _mm512_##NAME
#elif defined(__AVX2__)
typedef __m256 float32_lanes;
typedef __m256d float64_lanes;
#define XBCAST_WIDE(NAME) _mm256_##NAME
#endif

#define XBCAST_ROW(NAME)                                                              \
    static ptrdiff_t NAME##_row(char *out, ptrdiff_t s, const char *x1, ptrdiff_t s1, \
                                const char *x2, ptrdiff_t s2, ptrdiff_t n)

/* GCC reads memory again for each use of a vector if it can, though most vectors straddle
 * two cache lines; not behind this. */
#if defined(__AVX512F__)
#define XBCAST_READ(X) __asm__("" : "+v"(X))
#elif defined(__SSE2__)
#define XBCAST_READ(X) __asm__("" : "+x"(X))
#endif

/* ---- comparisons ----
 *
 * AVX-512 makes 16 bytes of a mask at once, AVX2 packs masks down to bytes; the compiler
 * narrows vectors by more steps (benchmarks/bench_ops.py, equal to
 * greater_equal of float32 and float64). */
#if defined(__AVX512BW__) && defined(__AVX512VL__)

#define XBCAST_COMPARE_SOME(TEST, LEFT, RIGHT)                                                  \
    for (; i + 64 <= n; i += 64) {                                                              \
        for (int k = 0; k < 64; k += 16) {                                                      \
            _mm_storeu_si128((void *)(out + i + k), _mm_maskz_set1_epi8(TEST(LEFT, RIGHT), 1)); \
        }                                                                                       \
    }

#define XBCAST_COMPARE(OP, TYPE, TEST)                                             \
    XBCAST_ROW(OP##_##TYPE)                                                        \
    {                                                                              \
        const ptrdiff_t size = sizeof(any_##TYPE);                                 \
        const any_##TYPE *a = (const any_##TYPE *)x1, *b = (const any_##TYPE *)x2; \
        ptrdiff_t i = 0;                                                           \
        if (s == 1 && s1 == size && s2 == size) {                                  \
            XBCAST_COMPARE_SOME(TEST, TYPE##_at(a + i + k), TYPE##_at(b + i + k))  \
        }                                                                          \
        else if (s == 1 && s1 == size && s2 == 0) {                                \
            const TYPE##_16 same = TYPE##_all(*b);                                 \
            XBCAST_COMPARE_SOME(TEST, TYPE##_at(a + i + k), same)                  \
        }                                                                          \
        else if (s == 1 && s1 == 0 && s2 == size) {                                \
            const TYPE##_16 same = TYPE##_all(*a);                                 \
            XBCAST_COMPARE_SOME(TEST, same, TYPE##_at(b + i + k))                  \
        }                                                                          \
        return i;                                                                  \
    }

/* 16 elements */
typedef __m512 float32_16;
typedef struct {
    __m512d low, high;
} float64_16;

static inline float32_16 float32_at(const any_float32 *x)
{
    return _mm512_loadu_ps(x);
}

static inline float32_16 float32_all(float x)
{
    return _mm512_set1_ps(x);
}

static inline float64_16 float64_at(const any_float64 *x)
{
    return (float64_16){_mm512_loadu_pd(x), _mm512_loadu_pd(x + 8)};
}

static inline float64_16 float64_all(double x)
{
    return (float64_16){_mm512_set1_pd(x), _mm512_set1_pd(x)};
}

#define XBCAST_COMPARE_FLOATS(OP, PREDICATE)                                  \
    static inline __mmask16 float32_##OP##_16(float32_16 a, float32_16 b)     \
    {                                                                         \
        return _mm512_cmp_ps_mask(a, b, PREDICATE);                           \
    }                                                                         \
    static inline __mmask16 float64_##OP##_16(float64_16 a, float64_16 b)     \
    {                                                                         \
        return _mm512_kunpackb(_mm512_cmp_pd_mask(a.high, b.high, PREDICATE), \
                               _mm512_cmp_pd_mask(a.low, b.low, PREDICATE));  \
    }                                                                         \
    XBCAST_COMPARE(OP, float32, float32_##OP##_16)                            \
    XBCAST_COMPARE(OP, float64, float64_##OP##_16)

XBCAST_COMPARE_FLOATS(equal, _CMP_EQ_OQ)
XBCAST_COMPARE_FLOATS(not_equal, _CMP_NEQ_UQ)
XBCAST_COMPARE_FLOATS(less, _CMP_LT_OQ)
XBCAST_COMPARE_FLOATS(less_equal, _CMP_LE_OQ)
XBCAST_COMPARE_FLOATS(greater, _CMP_GT_OQ)
XBCAST_COMPARE_FLOATS(greater_equal, _CMP_GE_OQ)

#undef XBCAST_COMPARE_FLOATS
#undef XBCAST_COMPARE
#undef XBCAST_COMPARE_SOME
#elif defined(__AVX2__)

/* 32 elements to bytes. Packs work on both halves of a vector by themselves. A constant is
 * read from memory like the rest. */
#define XBCAST_FLOATS_AT(K, PREDICATE) \
    _mm256_castps_si256(_mm256_cmp_ps(_mm256_loadu_ps(a + 8 * (K)), _mm256_loadu_ps(b + 8 * (K)), PREDICATE))

#define XBCAST_DOUBLES_AT(K, PREDICATE) \
    _mm256_castpd_si256(_mm256_cmp_pd(_mm256_loadu_pd(a + 4 * (K)), _mm256_loadu_pd(b + 4 * (K)), PREDICATE))

#define XBCAST_DOUBLE_PAIRS_AT(K, PREDICATE) \
    _mm256_packs_epi32(XBCAST_DOUBLES_AT(K, PREDICATE), XBCAST_DOUBLES_AT((K) + 1, PREDICATE))

#define XBCAST_COMPARE(OP, TYPE)                                                                      \
    XBCAST_ROW(OP##_##TYPE)                                                                           \
    {                                                                                                 \
        const ptrdiff_t size = sizeof(any_##TYPE);                                                    \
        const any_##TYPE *a = (const any_##TYPE *)x1, *b = (const any_##TYPE *)x2;                    \
        any_##TYPE same[32];                                                                          \
        ptrdiff_t i = 0;                                                                              \
        if (s != 1 || (s1 != size && s1 != 0) || (s2 != size && s2 != 0) || s1 + s2 == 0 || n < 32) { \
            return 0;                                                                                 \
        }                                                                                             \
        if (s1 == 0 || s2 == 0) {                                                                     \
            for (int k = 0; k < 32; k++) {                                                            \
                same[k] = s1 == 0 ? *a : *b;                                                          \
            }                                                                                         \
            a = s1 == 0 ? same : a;                                                                   \
            b = s2 == 0 ? same : b;                                                                   \
        }                                                                                             \
        for (; i + 32 <= n; i += 32) {                                                                \
            _mm256_storeu_si256((void *)(out + i), TYPE##_##OP##_32(a, b));                           \
            a += s1 != 0 ? 32 : 0;                                                                    \
            b += s2 != 0 ? 32 : 0;                                                                    \
        }                                                                                             \
        return i;                                                                                     \
    }

#define XBCAST_COMPARE_FLOATS(OP, PREDICATE)                                                                 \
    static inline __m256i float32_##OP##_32(const any_float32 *a, const any_float32 *b)                      \
    {                                                                                                        \
        __m256i m = _mm256_packs_epi16(                                                                      \
            _mm256_packs_epi32(XBCAST_FLOATS_AT(0, PREDICATE), XBCAST_FLOATS_AT(1, PREDICATE)),              \
            _mm256_packs_epi32(XBCAST_FLOATS_AT(2, PREDICATE), XBCAST_FLOATS_AT(3, PREDICATE)));             \
        m = _mm256_permutevar8x32_epi32(m, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));                       \
        return _mm256_and_si256(m, _mm256_set1_epi8(1));                                                     \
    }                                                                                                        \
    static inline __m256i float64_##OP##_32(const any_float64 *a, const any_float64 *b)                      \
    {                                                                                                        \
        __m256i m = _mm256_packs_epi16(                                                                      \
            _mm256_packs_epi32(XBCAST_DOUBLE_PAIRS_AT(0, PREDICATE), XBCAST_DOUBLE_PAIRS_AT(2, PREDICATE)),  \
            _mm256_packs_epi32(XBCAST_DOUBLE_PAIRS_AT(4, PREDICATE), XBCAST_DOUBLE_PAIRS_AT(6, PREDICATE))); \
        __m128i low = _mm256_castsi256_si128(m), high = _mm256_extracti128_si256(m, 1);                      \
        m = _mm256_set_m128i(_mm_unpackhi_epi16(low, high), _mm_unpacklo_epi16(low, high));                  \
        return _mm256_and_si256(m, _mm256_set1_epi8(1));                                                     \
    }                                                                                                        \
    XBCAST_COMPARE(OP, float32)                                                                              \
    XBCAST_COMPARE(OP, float64)

XBCAST_COMPARE_FLOATS(equal, _CMP_EQ_OQ)
XBCAST_COMPARE_FLOATS(not_equal, _CMP_NEQ_UQ)
XBCAST_COMPARE_FLOATS(less, _CMP_LT_OQ)
XBCAST_COMPARE_FLOATS(less_equal, _CMP_LE_OQ)
XBCAST_COMPARE_FLOATS(greater, _CMP_GT_OQ)
XBCAST_COMPARE_FLOATS(greater_equal, _CMP_GE_OQ)

#undef XBCAST_COMPARE_FLOATS
#undef XBCAST_COMPARE
#undef XBCAST_DOUBLE_PAIRS_AT
#undef XBCAST_DOUBLES_AT
#undef XBCAST_FLOATS_AT
#else
#define XBCAST_NO_COMPARE(OP)              \
    XBCAST_ROW(OP##_float32) { return 0; } \
    XBCAST_ROW(OP##_float64) { return 0; }

XBCAST_NO_COMPARE(equal)
XBCAST_NO_COMPARE(not_equal)
XBCAST_NO_COMPARE(less)
XBCAST_NO_COMPARE(less_equal)
XBCAST_NO_COMPARE(greater)
XBCAST_NO_COMPARE(greater_equal)

#undef XBCAST_NO_COMPARE
#endif

/* ---- numbers before NaNs ----
 *
 * Of the kernel, the compiler makes more steps, and reads one operand twice
 * (benchmarks/bench_ops.py, fmax and fmin of float32 and float64). Of two zeros, and of two NaNs, the choice is the same. */
#if defined(__AVX2__)
#if defined(__AVX512F__)
#define XBCAST_PREFER(SUFFIX, PICK, A, B) \
    _mm512_mask_##PICK##_##SUFFIX(A, _mm512_cmp_##SUFFIX##_mask(B, B, _CMP_ORD_Q), A, B)
#else
#define XBCAST_PREFER(SUFFIX, PICK, A, B) \
    _mm256_blendv_##SUFFIX(_mm256_##PICK##_##SUFFIX(A, B), A, _mm256_cmp_##SUFFIX(B, B, _CMP_UNORD_Q))
#endif

#define XBCAST_PREFER_NUMBERS(OP, TYPE, SUFFIX, PICK)                                    \
    XBCAST_ROW(OP##_##TYPE)                                                              \
    {                                                                                    \
        const ptrdiff_t size = sizeof(any_##TYPE), lanes = XBCAST_VECTOR / size;         \
        ptrdiff_t i = 0;                                                                 \
        if (s != size || s1 != size || s2 != size) {                                     \
            return 0;                                                                    \
        }                                                                                \
        for (; i + lanes <= n; i += lanes) {                                             \
            TYPE##_lanes a = XBCAST_WIDE(loadu_##SUFFIX)((const void *)(x1 + i * size)); \
            TYPE##_lanes b = XBCAST_WIDE(loadu_##SUFFIX)((const void *)(x2 + i * size)); \
            XBCAST_READ(a);                                                              \
            XBCAST_READ(b);                                                              \
            a = XBCAST_PREFER(SUFFIX, PICK, a, b);                                       \
            XBCAST_WIDE(storeu_##SUFFIX)((void *)(out + i * size), a);                   \
        }                                                                                \
        return i;                                                                        \
    }

XBCAST_PREFER_NUMBERS(fmax, float32, ps, max)
XBCAST_PREFER_NUMBERS(fmin, float32, ps, min)
XBCAST_PREFER_NUMBERS(fmax, float64, pd, max)
XBCAST_PREFER_NUMBERS(fmin, float64, pd, min)

#undef XBCAST_PREFER_NUMBERS
#undef XBCAST_PREFER
#else
XBCAST_ROW(fmax_float32) { return 0; }
XBCAST_ROW(fmin_float32) { return 0; }
XBCAST_ROW(fmax_float64) { return 0; }
XBCAST_ROW(fmin_float64) { return 0; }
#endif

/* ---- integers divided by a constant ----
 *
 * By multiplication with a rounded reciprocal and shifts, exact for every dividend
 * (Granlund and Montgomery 1994): with l bits enough for d - 1, that is 2**l >= d, and
 * m = 2**N * (2**l - d) / d + 1, and t the high half of m * u,
 * u / d = (t + (u - t >> min(l, 1))) >> max(l - 1, 0). A signed quotient rounded down is
 * made of it: for u < 0, that of ~u has just the opposite bits. 0 and -1 are left to the
 * inner loop, which knows what they warn of (benchmarks/bench_ops.py, floor_divide,
 * scalar_right). */

typedef struct {
    uint64_t multiplier;
    int first, second; /* shifts */
} reciprocal;

static inline reciprocal reciprocal_of(uint64_t d, int bits)
{
    reciprocal r;
    int l = d == 1 ? 0 : 64 - __builtin_clzll(d - 1);
#if defined(__SIZEOF_INT128__)
    r.multiplier = (uint64_t)(((((unsigned __int128)1 << l) - d) << bits) / d + 1);
#else
    r.multiplier = ((((uint64_t)1 << l) - d) << bits) / d + 1; /* up to 32 bits */
#endif
    r.first = l > 0;
    r.second = l > 0 ? l - 1 : 0;
    return r;
}

/* Vectors as the compiler has them. */
#if defined(__SSE2__) && defined(__SIZEOF_INT128__)
typedef uint32_t uint32_lanes __attribute__((vector_size(XBCAST_VECTOR)));
typedef int32_t int32_lanes __attribute__((vector_size(XBCAST_VECTOR)));
typedef uint64_t uint64_lanes __attribute__((vector_size(XBCAST_VECTOR)));
typedef int64_t int64_lanes __attribute__((vector_size(XBCAST_VECTOR)));

/* Products of the lower halves. */
static inline uint64_lanes low_products(uint64_lanes a, uint64_lanes b)
{
#if defined(__AVX512F__)
    return (uint64_lanes)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (uint64_lanes)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#else
    return (uint64_lanes)_mm_mul_epu32((__m128i)a, (__m128i)b);
#endif
}

static inline uint32_lanes uint32_high(uint32_lanes u, uint64_t m)
{
    const uint64_lanes zero = {0};
    uint64_lanes even = low_products((uint64_lanes)u, zero + m);
    uint64_lanes odd = low_products((uint64_lanes)u >> 32, zero + m);
#if defined(__AVX512F__)
    const __m512i in_turns = _mm512_setr_epi32(1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31);
    return (uint32_lanes)_mm512_permutex2var_epi32((__m512i)even, in_turns, (__m512i)odd);
#elif defined(__AVX2__)
    return (uint32_lanes)_mm256_blend_epi32((__m256i)(even >> 32), (__m256i)odd, 0xaa);
#else
    return (uint32_lanes)((even >> 32) | (odd & (zero + 0xffffffff00000000u)));
#endif
}

static inline uint64_lanes uint64_high(uint64_lanes u, uint64_t m)
{
    const uint64_lanes zero = {0}, low = zero + 0xffffffffu, m_low = zero + m, m_high = m_low >> 32;
    uint64_lanes u_high = u >> 32;
    uint64_lanes middle = low_products(u_high, m_low) + (low_products(u, m_low) >> 32);
    uint64_lanes other = low_products(u, m_high) + (middle & low);
    return low_products(u_high, m_high) + (middle >> 32) + (other >> 32);
}

#define XBCAST_DIVIDE_LANES(BITS)                                                                     \
    static inline uint##BITS##_lanes uint##BITS##_lanes_by(uint##BITS##_lanes u, reciprocal r)        \
    {                                                                                                 \
        uint##BITS##_lanes t = uint##BITS##_high(u, r.multiplier);                                    \
        return (t + ((u - t) >> r.first)) >> r.second;                                                \
    }                                                                                                 \
    XBCAST_ROW(floor_divide_uint##BITS)                                                               \
    {                                                                                                 \
        const ptrdiff_t size = BITS / 8, lanes = XBCAST_VECTOR / size;                                \
        uint##BITS##_t d = *(const any_uint##BITS *)x2;                                               \
        reciprocal r;                                                                                 \
        ptrdiff_t i = 0;                                                                              \
        if (s != size || s1 != size || s2 != 0 || n < 64 || d == 0) {                                 \
            return 0;                                                                                 \
        }                                                                                             \
        r = reciprocal_of(d, BITS);                                                                   \
        for (; i + lanes <= n; i += lanes) {                                                          \
            uint##BITS##_lanes u;                                                                     \
            memcpy(&u, x1 + i * size, sizeof u);                                                      \
            XBCAST_READ(u);                                                                           \
            u = uint##BITS##_lanes_by(u, r);                                                          \
            memcpy(out + i * size, &u, sizeof u);                                                     \
        }                                                                                             \
        return i;                                                                                     \
    }                                                                                                 \
    XBCAST_ROW(floor_divide_int##BITS)                                                                \
    {                                                                                                 \
        const ptrdiff_t size = BITS / 8, lanes = XBCAST_VECTOR / size;                                \
        int##BITS##_t d = *(const any_int##BITS *)x2, turn = d >> (BITS - 1);                         \
        reciprocal r;                                                                                 \
        ptrdiff_t i = 0;                                                                              \
        if (s != size || s1 != size || s2 != 0 || n < 64 || d == 0 || d == -1) {                      \
            return 0;                                                                                 \
        }                                                                                             \
        r = reciprocal_of((uint##BITS##_t)((d ^ turn) - turn), BITS);                                 \
        for (; i + lanes <= n; i += lanes) {                                                          \
            int##BITS##_lanes a, below;                                                               \
            memcpy(&a, x1 + i * size, sizeof a);                                                      \
            XBCAST_READ(a);                                                                           \
            /* all ones where the quotient is below zero; that of 0 is not */                         \
            below = ((a ^ turn) >> (BITS - 1)) & (int##BITS##_lanes)(a != 0);                         \
            a = (a ^ turn) - turn;                                                                    \
            a = (int##BITS##_lanes)uint##BITS##_lanes_by((uint##BITS##_lanes)(a ^ below), r) ^ below; \
            memcpy(out + i * size, &a, sizeof a);                                                     \
        }                                                                                             \
        return i;                                                                                     \
    }

XBCAST_DIVIDE_LANES(32)
XBCAST_DIVIDE_LANES(64)

#undef XBCAST_DIVIDE_LANES
#else
XBCAST_ROW(floor_divide_uint32) { return 0; }
XBCAST_ROW(floor_divide_int32) { return 0; }
XBCAST_ROW(floor_divide_uint64) { return 0; }
XBCAST_ROW(floor_divide_int64) { return 0; }
#endif

/* The compiler finds the high halves of 16-bit products. */
static inline uint16_t uint16_by(uint16_t u, reciprocal r)
{
    uint16_t t = (uint16_t)((uint32_t)u * (uint16_t)r.multiplier >> 16);
    return (uint16_t)((uint16_t)(t + (uint16_t)((uint16_t)(u - t) >> r.first)) >> r.second);
}

/* 2**16 / d, rounded up, is enough for 8 bits; that of 1 does not fit. */
static inline uint8_t uint8_by(uint8_t u, uint16_t multiplier, uint8_t whole)
{
    return (uint8_t)((uint16_t)((uint32_t)u * multiplier >> 16) + (u & whole));
}

XBCAST_ROW(floor_divide_uint16)
{
    uint16_t d = *(const any_uint16 *)x2;
    if (s != 2 || s1 != 2 || s2 != 0 || n < 64 || d == 0) {
        return 0;
    }
    reciprocal r = reciprocal_of(d, 16);
    for (ptrdiff_t i = 0; i < n; i++) {
        ((any_uint16 *)out)[i] = uint16_by(((const any_uint16 *)x1)[i], r);
    }
    return n;
}

XBCAST_ROW(floor_divide_int16)
{
    int16_t d = *(const any_int16 *)x2, turn = (int16_t)(d >> 15);
    if (s != 2 || s1 != 2 || s2 != 0 || n < 64 || d == 0 || d == -1) {
        return 0;
    }
    reciprocal r = reciprocal_of((uint16_t)((d ^ turn) - turn), 16);
    for (ptrdiff_t i = 0; i < n; i++) {
        int16_t a = ((const any_int16 *)x1)[i];
        int16_t below = (int16_t)((int16_t)(a ^ turn) >> 15 & -(a != 0));
        uint16_t u = (uint16_t)((a ^ turn) - turn);
        ((any_int16 *)out)[i] = (int16_t)(uint16_by((uint16_t)(u ^ below), r) ^ below);
    }
    return n;
}

XBCAST_ROW(floor_divide_uint8)
{
    uint8_t d = *(const any_uint8 *)x2;
    if (s != 1 || s1 != 1 || s2 != 0 || d == 0) {
        return 0;
    }
    uint16_t multiplier = d == 1 ? 0 : (uint16_t)(65536 / d + 1);
    uint8_t whole = d == 1 ? 255 : 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        ((any_uint8 *)out)[i] = uint8_by(((const any_uint8 *)x1)[i], multiplier, whole);
    }
    return n;
}

XBCAST_ROW(floor_divide_int8)
{
    int8_t d = *(const any_int8 *)x2, turn = (int8_t)(d >> 7);
    if (s != 1 || s1 != 1 || s2 != 0 || d == 0 || d == -1) {
        return 0;
    }
    uint8_t magnitude = (uint8_t)((d ^ turn) - turn);
    uint16_t multiplier = magnitude == 1 ? 0 : (uint16_t)(65536 / magnitude + 1);
    uint8_t whole = magnitude == 1 ? 255 : 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        int8_t a = ((const any_int8 *)x1)[i];
        int8_t below = (int8_t)((int8_t)(a ^ turn) >> 7 & -(a != 0));
        uint8_t u = (uint8_t)((a ^ turn) - turn);
        ((any_int8 *)out)[i] = (int8_t)(uint8_by((uint8_t)(u ^ below), multiplier, whole) ^ below);
    }
    return n;
}

/* ---- complex numbers ---- */
#if defined(__AVX2__)
#include "complex_rows.h"
#else
XBCAST_ROW(add_complex64) { return 0; }
XBCAST_ROW(subtract_complex64) { return 0; }
XBCAST_ROW(multiply_complex64) { return 0; }
XBCAST_ROW(multiply_complex128) { return 0; }
XBCAST_ROW(divide_complex64) { return 0; }
XBCAST_ROW(divide_complex128) { return 0; }
#endif

/* ---- 8 bits ----
 *
 * There are no products and shifts of bytes; of two at a time there are
 * (benchmarks/bench_ops.py, multiply of int8 and uint8; right_shift, scalar_right). */

XBCAST_ROW(multiply_uint8)
{
    const ptrdiff_t pairs = n / 2;
    any_uint16 *to = (any_uint16 *)out;
    const any_uint16 *a = (const any_uint16 *)x1, *b = (const any_uint16 *)x2;
    if (s != 1 || n < 2) {
        return 0;
    }
    if (s1 == 1 && s2 == 1) {
        for (ptrdiff_t i = 0; i < pairs; i++) {
            uint16_t x = a[i], y = b[i];
            to[i] = (uint16_t)((1u * x * y & 0xff) | (uint16_t)(x >> 8) * (y & 0xff00u));
        }
        return 2 * pairs;
    }
    if ((s1 == 1 && s2 == 0) || (s1 == 0 && s2 == 1)) {
        uint16_t y = *(const any_uint8 *)(s2 == 0 ? x2 : x1);
        a = s2 == 0 ? a : b;
        for (ptrdiff_t i = 0; i < pairs; i++) {
            uint16_t x = a[i];
            to[i] = (uint16_t)((1u * x * y & 0xff) | (uint16_t)(x & 0xff00u) * y);
        }
        return 2 * pairs;
    }
    return 0;
}

#if defined(__SSE2__)
typedef uint16_t uint16_lanes __attribute__((vector_size(XBCAST_VECTOR)));

#define XBCAST_SHIFT(TYPE, BITS, ONES)                                         \
    XBCAST_ROW(right_shift_##TYPE)                                             \
    {                                                                          \
        const ptrdiff_t size = sizeof(TYPE##_t), lanes = XBCAST_VECTOR / size; \
        TYPE##_t by = *(const any_##TYPE *)x2;                                 \
        ptrdiff_t i = 0;                                                       \
        if (s != size || s1 != size || s2 != 0 || by >= BITS) {                \
            return 0;                                                          \
        }                                                                      \
        for (; i + lanes <= n; i += lanes) {                                   \
            uint16_lanes x;                                                    \
            memcpy(&x, x1 + i * size, sizeof x);                               \
            x = (x >> by) & (uint16_t)((ONES >> by) * (0xffff / ONES));        \
            memcpy(out + i * size, &x, sizeof x);                              \
        }                                                                      \
        return i;                                                              \
    }

XBCAST_SHIFT(uint8, 8, 0xff)
XBCAST_SHIFT(uint16, 16, 0xffff)

#undef XBCAST_SHIFT
#else
XBCAST_ROW(right_shift_uint8) { return 0; }
XBCAST_ROW(right_shift_uint16) { return 0; }
#endif

#undef XBCAST_WIDE
#undef XBCAST_READ
#undef XBCAST_ROW

#endif
