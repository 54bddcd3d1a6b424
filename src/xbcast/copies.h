/* Copies of elements of one size along two levels, for packing: any strides, any
 * alignment, and nothing is read or written but the elements named. Every function
 * takes the element size as a constant, to be inlined once per size.
 *
 * Levels are [inner, outer]; `to` and `source` do not overlap.
 */
#ifndef XBCAST_COPIES_H
#define XBCAST_COPIES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "elements.h"

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSSE3__)
#include <tmmintrin.h>
#endif

#define XBCAST_INLINE static inline __attribute__((always_inline))

XBCAST_INLINE void copy_one(char* to, const char* source, ptrdiff_t size)
{
    memcpy(to, source, size);
}

/* ---- rows that are contiguous on both sides ---- */

/* Rows of `bytes` bytes, `word` or up to twice that, as one word or as two that overlap. */
XBCAST_INLINE void copy_rows_by_words(char* to, const char* source, ptrdiff_t rows, ptrdiff_t bytes,
                                      ptrdiff_t to_step, ptrdiff_t source_step, ptrdiff_t word, int words)
{
    char first[32], last[32];
    for (ptrdiff_t j = 0; j < rows; j++) {
        memcpy(first, source, word);
        if (words == 2) {
            memcpy(last, source + bytes - word, word);
            memcpy(to + bytes - word, last, word);
        }
        memcpy(to, first, word);
        to += to_step;
        source += source_step;
    }
}

#define XBCAST_ROWS_BY_WORDS(WORD)                                                            \
    if (bytes == WORD) {                                                                      \
        copy_rows_by_words(to, source, rows, bytes, to_step, source_step, WORD, 1);           \
        return;                                                                               \
    }                                                                                         \
    if (bytes < 2 * WORD) {                                                                   \
        copy_rows_by_words(to, source, rows, bytes, to_step, source_step, WORD, 2);           \
        return;                                                                               \
    }

static void copy_rows_apart(char* to, const char* source, ptrdiff_t rows, ptrdiff_t bytes,
                            ptrdiff_t to_step, ptrdiff_t source_step)
{
    XBCAST_ROWS_BY_WORDS(1)
    XBCAST_ROWS_BY_WORDS(2)
    XBCAST_ROWS_BY_WORDS(4)
    XBCAST_ROWS_BY_WORDS(8)
    XBCAST_ROWS_BY_WORDS(16)
    XBCAST_ROWS_BY_WORDS(32)
    if (bytes == 64) {
        /* one of 64 takes longer */
        copy_rows_by_words(to, source, rows, bytes, to_step, source_step, 32, 2);
        return;
    }
    for (ptrdiff_t j = 0; j < rows; j++) {
        memcpy(to, source, bytes);
        to += to_step;
        source += source_step;
    }
}
#undef XBCAST_ROWS_BY_WORDS

static void copy_rows(char* to, const char* source, ptrdiff_t rows, ptrdiff_t bytes,
                      ptrdiff_t to_step, ptrdiff_t source_step)
{
    if (rows == 1 || (to_step == bytes && source_step == bytes)) {
        memcpy(to, source, rows * bytes);
    }
    else if (to_step == bytes && source_step == 0) {
        /* twice as much at each step */
        ptrdiff_t done = bytes, all = rows * bytes;
        memcpy(to, source, bytes);
        while (done < all) {
            ptrdiff_t more = done < all - done ? done : all - done;
            memcpy(to + done, to, more);
            done += more;
        }
    }
    else {
        copy_rows_apart(to, source, rows, bytes, to_step, source_step);
    }
}

/* ---- each element repeated ---- */

/* Rows of one element each, `n` times over. */
XBCAST_INLINE void fill_rows(char* to, const char* source, ptrdiff_t rows, ptrdiff_t n,
                             ptrdiff_t to_step, ptrdiff_t source_step, ptrdiff_t size)
{
    char pattern[64];
    for (ptrdiff_t j = 0; j < rows; j++) {
        ptrdiff_t i = 0;
        if (n * size >= 64) {
            for (ptrdiff_t k = 0; k < 64; k += size) {
                copy_one(pattern + k, source, size);
            }
            for (; i + 64 <= n * size; i += 64) {
                memcpy(to + i, pattern, 64);
            }
            memcpy(to + n * size - 64, pattern, 64);
        }
        else {
            for (; i < n * size; i += size) {
                copy_one(to + i, source, size);
            }
        }
        to += to_step;
        source += source_step;
    }
}

#if defined(__SSSE3__)
/* Vectors of elements, and their permutation by another vector, of numbers of 4 bytes
 * each. Elements that the widest vectors of a level cannot permute go sixteen bytes at a
 * time. */
#if defined(__AVX512F__)
#define XBCAST_WIDE 64
typedef __m512i wide_vector;
#define XBCAST_PERMUTED(x, by) _mm512_permutexvar_epi32((wide_vector)(by), x)
#elif defined(__AVX2__)
#define XBCAST_WIDE 32
typedef __m256i wide_vector;
#define XBCAST_PERMUTED(x, by) _mm256_permutevar8x32_epi32(x, (wide_vector)(by))
#endif

enum { LONGEST_REPEAT = 16 };

/* Lane k of a vector that holds k: what GCC makes of a loop over lanes takes ten times as
 * long (benchmarks/bench_layouts.py, short_stretched). */
static const int32_t lane_number[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

/* `n` times each of `count` adjacent elements, into contiguous memory. */
XBCAST_INLINE void repeat_elements(char* to, const char* source, ptrdiff_t count, ptrdiff_t n, ptrdiff_t size)
{
    /* i * share >> 16 is i / n, while i is below 2**12 */
    const int32_t share = 65536 / (int32_t)n + 1;
    ptrdiff_t j = 0;
#if defined(XBCAST_WIDE)
    if (size == 4 || size == 8) {
        /* one vector read makes n vectors written; element i of these comes from i / n */
        typedef int32_t lanes __attribute__((vector_size(XBCAST_WIDE)));
        const ptrdiff_t in_vector = XBCAST_WIDE / size;
        if (count < in_vector) {
            fill_rows(to, source, count, n, n * size, size, size);
            return;
        }
        lanes by[LONGEST_REPEAT], k;
        memcpy(&k, lane_number, sizeof(k));
        for (ptrdiff_t v = 0; v < n; v++) {
            const int32_t first = (int32_t)(v * in_vector);
            by[v] = size == 8 ? 2 * (((k >> 1) + first) * share >> 16) + (k & 1) : (k + first) * share >> 16;
        }
        for (; j + in_vector <= count; j += in_vector) {
            wide_vector x;
            memcpy(&x, source + j * size, sizeof(x));
            for (ptrdiff_t v = 0; v < n; v++) {
                wide_vector y = XBCAST_PERMUTED(x, by[v]);
                memcpy(to, &y, sizeof(y));
                to += sizeof(y);
            }
        }
    }
    else
#endif
    if (size < 16) {
        typedef int32_t lanes __attribute__((vector_size(64)));
        typedef uint8_t bytes __attribute__((vector_size(16)));
        const ptrdiff_t in_vector = 16 / size;
        if (count < in_vector) {
            fill_rows(to, source, count, n, n * size, size, size);
            return;
        }
        __m128i by[LONGEST_REPEAT];
        lanes k;
        memcpy(&k, lane_number, sizeof(k));
        for (ptrdiff_t v = 0; v < n; v++) {
            const lanes i = k / (int32_t)size + (int32_t)(v * in_vector);
            by[v] = (__m128i)__builtin_convertvector((i * share >> 16) * (int32_t)size + k % (int32_t)size, bytes);
        }
        for (; j + in_vector <= count; j += in_vector) {
            __m128i x;
            memcpy(&x, source + j * size, sizeof(x));
            for (ptrdiff_t v = 0; v < n; v++) {
                __m128i y = _mm_shuffle_epi8(x, by[v]);
                memcpy(to, &y, sizeof(y));
                to += sizeof(y);
            }
        }
    }
    fill_rows(to, source + j * size, count - j, n, n * size, size, size);
}
#endif

/* ---- the source runs along the outer level ---- */

/* Interleaving the elements of two vectors, in each 16 bytes by themselves: what
 * hardware does in one instruction, whatever the vectors' length. */
#if defined(__AVX__)
typedef uint32_t vector_4 __attribute__((vector_size(32)));
typedef uint64_t vector_8 __attribute__((vector_size(32)));
#define LOW_4 0, 8, 1, 9, 4, 12, 5, 13
#define HIGH_4 2, 10, 3, 11, 6, 14, 7, 15
#define LOW_8 0, 4, 2, 6
#define HIGH_8 1, 5, 3, 7
#else
typedef uint32_t vector_4 __attribute__((vector_size(16)));
typedef uint64_t vector_8 __attribute__((vector_size(16)));
#define LOW_4 0, 4, 1, 5
#define HIGH_4 2, 6, 3, 7
#define LOW_8 0, 2
#define HIGH_8 1, 3
#endif
typedef uint8_t vector_1 __attribute__((vector_size(16)));
typedef uint16_t vector_2 __attribute__((vector_size(16)));
#define LOW_1 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH_1 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define LOW_2 0, 8, 1, 9, 2, 10, 3, 11
#define HIGH_2 4, 12, 5, 13, 6, 14, 7, 15

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define XBCAST_TRANSPOSES
#endif
#endif

#if defined(XBCAST_TRANSPOSES)
/* load_N reads 16 bytes for each 16 of a vector, `step` apart. */
#if defined(__AVX__)
XBCAST_INLINE vector_4 load_4(const char* source, ptrdiff_t step)
{
    return (vector_4)_mm256_loadu2_m128i((const void*)(source + step), (const void*)source);
}
XBCAST_INLINE vector_8 load_8(const char* source, ptrdiff_t step)
{
    return (vector_8)_mm256_loadu2_m128i((const void*)(source + step), (const void*)source);
}
#else
XBCAST_INLINE vector_4 load_4(const char* source, ptrdiff_t step)
{
    vector_4 x;
    (void)step;
    memcpy(&x, source, sizeof(x));
    return x;
}
XBCAST_INLINE vector_8 load_8(const char* source, ptrdiff_t step)
{
    vector_8 x;
    (void)step;
    memcpy(&x, source, sizeof(x));
    return x;
}
#endif
XBCAST_INLINE vector_1 load_1(const char* source, ptrdiff_t step)
{
    vector_1 x;
    (void)step;
    memcpy(&x, source, sizeof(x));
    return x;
}
XBCAST_INLINE vector_2 load_2(const char* source, ptrdiff_t step)
{
    vector_2 x;
    (void)step;
    memcpy(&x, source, sizeof(x));
    return x;
}
/* transpose_N turns 16 bytes of each of `rows` source rows, `step` apart, into as
 * many destination rows as elements in 16 bytes, `to_step` apart. A vector takes one
 * source row per 16 bytes, each `lanes` of them; interleaving its first half with its
 * second half as often as halving is possible transposes them. */
#define XBCAST_TRANSPOSE(SIZE)                                                                \
    enum { ROWS_##SIZE = sizeof(vector_##SIZE) / SIZE };                                      \
    XBCAST_INLINE void transpose_##SIZE(char* to, ptrdiff_t to_step, const char* source,      \
                                        ptrdiff_t step)                                       \
    {                                                                                         \
        enum { N = 16 / SIZE };                                                               \
        vector_##SIZE x[N], y[N];                                                             \
        for (int k = 0; k < N; k++) {                                                         \
            x[k] = load_##SIZE(source + k * step, N * step);                                  \
        }                                                                                     \
        for (int stage = 1; stage < N; stage *= 2) {                                          \
            for (int k = 0; k < N / 2; k++) {                                                 \
                y[2 * k] = __builtin_shufflevector(x[k], x[k + N / 2], LOW_##SIZE);           \
                y[2 * k + 1] = __builtin_shufflevector(x[k], x[k + N / 2], HIGH_##SIZE);      \
            }                                                                                 \
            memcpy(x, y, sizeof(x));                                                          \
        }                                                                                     \
        for (int k = 0; k < N; k++) {                                                         \
            memcpy(to + k * to_step, &x[k], sizeof(x[k]));                                    \
        }                                                                                     \
    }
XBCAST_TRANSPOSE(1)
XBCAST_TRANSPOSE(2)
XBCAST_TRANSPOSE(4)
XBCAST_TRANSPOSE(8)
#endif

#if defined(XBCAST_TRANSPOSES)
XBCAST_INLINE ptrdiff_t rows_at_once(ptrdiff_t size)
{
    return size == 1 ? ROWS_1 : size == 2 ? ROWS_2 : size == 4 ? ROWS_4 : ROWS_8;
}

/* `n` elements of each of rows_at_once source rows, `step` apart. */
XBCAST_INLINE void transpose_rows(char* to, const char* source, ptrdiff_t n, ptrdiff_t to_step,
                                  ptrdiff_t step, ptrdiff_t size)
{
    ptrdiff_t j = 0;
    for (; j + 16 / size <= n; j += 16 / size) {
        char* place = to + j * to_step;
        if (size == 1) {
            transpose_1(place, to_step, source + j * size, step);
        }
        else if (size == 2) {
            transpose_2(place, to_step, source + j * size, step);
        }
        else if (size == 4) {
            transpose_4(place, to_step, source + j * size, step);
        }
        else {
            transpose_8(place, to_step, source + j * size, step);
        }
    }
    for (; j < n; j++) {
        for (ptrdiff_t k = 0; k < rows_at_once(size); k++) {
            copy_one(to + k * size + j * to_step, source + k * step + j * size, size);
        }
    }
}

#if defined(__AVX512F__)
/* Whole vectors, each a cache line of its row, which so is read once; the interleaving
 * goes across the 16 bytes here (benchmarks/bench_layouts.py, Transposed). */
typedef uint32_t line_4 __attribute__((vector_size(64)));
typedef uint64_t line_8 __attribute__((vector_size(64)));
#define LOW_LINE_4 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH_LINE_4 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define LOW_LINE_8 0, 8, 1, 9, 2, 10, 3, 11
#define HIGH_LINE_8 4, 12, 5, 13, 6, 14, 7, 15
#define XBCAST_TRANSPOSE_LINES(SIZE)                                                          \
    XBCAST_INLINE void transpose_lines_##SIZE(char* to, ptrdiff_t to_step, const char* source, \
                                              ptrdiff_t step)                                 \
    {                                                                                         \
        enum { N = 64 / SIZE };                                                               \
        line_##SIZE x[N], y[N];                                                               \
        _Pragma("GCC unroll 16") for (int k = 0; k < N; k++)                                  \
        {                                                                                     \
            memcpy(&x[k], source + k * step, sizeof(x[k]));                                   \
        }                                                                                     \
        _Pragma("GCC unroll 4") for (int stage = 1; stage < N; stage *= 2)                    \
        {                                                                                     \
            _Pragma("GCC unroll 8") for (int k = 0; k < N / 2; k++)                           \
            {                                                                                 \
                y[2 * k] = __builtin_shufflevector(x[k], x[k + N / 2], LOW_LINE_##SIZE);      \
                y[2 * k + 1] = __builtin_shufflevector(x[k], x[k + N / 2], HIGH_LINE_##SIZE); \
            }                                                                                 \
            _Pragma("GCC unroll 16") for (int k = 0; k < N; k++)                              \
            {                                                                                 \
                x[k] = y[k];                                                                  \
            }                                                                                 \
        }                                                                                     \
        _Pragma("GCC unroll 16") for (int k = 0; k < N; k++)                                  \
        {                                                                                     \
            memcpy(to + k * to_step, &x[k], sizeof(x[k]));                                    \
        }                                                                                     \
    }
XBCAST_TRANSPOSE_LINES(4)
XBCAST_TRANSPOSE_LINES(8)
#endif
#endif

/* As few source rows at a time as a set of the cache holds: where they are a
 * multiple of a page apart, they all share one. */
XBCAST_INLINE void copy_transposed(char* to, const char* source, const ptrdiff_t* n, const ptrdiff_t* t,
                                   const ptrdiff_t* s, ptrdiff_t size)
{
    ptrdiff_t to_step = t[1], along = s[1];
    ptrdiff_t i = 0;
    if (along < 0) {
        /* the outer level the other way round */
        source += (n[1] - 1) * along;
        to += (n[1] - 1) * to_step;
        along = -along;
        to_step = -to_step;
    }
#if defined(XBCAST_TRANSPOSES)
    if (size < 16 && along == size) {
        const ptrdiff_t rows = rows_at_once(size);
#if defined(__AVX512F__)
        if (size == 4 || size == 8) {
            const ptrdiff_t line = 64 / size, lines = n[1] - n[1] % line;
            for (; lines > 0 && i + line <= n[0]; i += line) {
                const char* row = source + i * s[0];
                char* place = to + i * size;
                for (ptrdiff_t j = 0; j < lines; j += line) {
                    if (size == 4) {
                        transpose_lines_4(place + j * to_step, to_step, row + j * size, s[0]);
                    }
                    else {
                        transpose_lines_8(place + j * to_step, to_step, row + j * size, s[0]);
                    }
                }
                for (ptrdiff_t k = 0; k < line && lines < n[1]; k += rows) {
                    transpose_rows(place + k * size + lines * to_step, row + k * s[0] + lines * size,
                                   n[1] - lines, to_step, s[0], size);
                }
            }
        }
#endif
        /* a line of each row at a time: what is written stays in the L1 cache until its
         * own lines are complete */
        const ptrdiff_t strip = 64 / size, begin = i;
        for (ptrdiff_t j = 0; j < n[1]; j += strip) {
            const ptrdiff_t width = n[1] - j < strip ? n[1] - j : strip;
            for (i = begin; i + rows <= n[0]; i += rows) {
                transpose_rows(to + i * size + j * to_step, source + i * s[0] + j * size,
                               width, to_step, s[0], size);
            }
        }
    }
#endif
    for (; i < n[0]; i += 8) {
        const ptrdiff_t rows = n[0] - i < 8 ? n[0] - i : 8;
        for (ptrdiff_t j = 0; j < n[1]; j++) {
            for (ptrdiff_t k = 0; k < rows; k++) {
                copy_one(to + (i + k) * size + j * to_step, source + (i + k) * s[0] + j * along, size);
            }
        }
    }
}

/* ---- other strides ---- */

/* One level, the source `STEP` elements apart: constants that the compiler makes
 * shuffles of. Functions of their own, where `restrict` holds
 * (benchmarks/bench_layouts.py, reversed, stepped and third). */
#define XBCAST_STRIDED(NAME, SIZE, STEP, TYPE)                                                \
    static __attribute__((noinline)) void copy_##NAME##_##SIZE(                               \
        TYPE* restrict to, const TYPE* restrict source, ptrdiff_t n)                          \
    {                                                                                         \
        for (ptrdiff_t i = 0; i < n; i++) {                                                   \
            to[i] = source[STEP * i];                                                         \
        }                                                                                     \
    }
#define XBCAST_ALL_STRIDED(SIZE, TYPE)                                                        \
    XBCAST_STRIDED(reversed, SIZE, -1, TYPE)                                                  \
    XBCAST_STRIDED(second, SIZE, 2, TYPE)                                                     \
    XBCAST_STRIDED(third, SIZE, 3, TYPE)                                                      \
    XBCAST_STRIDED(fourth, SIZE, 4, TYPE)                                                     \
    XBCAST_INLINE int copy_strided_##SIZE(char* to, const char* source, ptrdiff_t n, ptrdiff_t step) \
    {                                                                                         \
        switch (step) {                                                                       \
        case -SIZE:                                                                           \
            copy_reversed_##SIZE((TYPE*)to, (const TYPE*)source, n);                          \
            return 1;                                                                         \
        case 2 * SIZE:                                                                        \
            copy_second_##SIZE((TYPE*)to, (const TYPE*)source, n);                            \
            return 1;                                                                         \
        case 3 * SIZE:                                                                        \
            copy_third_##SIZE((TYPE*)to, (const TYPE*)source, n);                             \
            return 1;                                                                         \
        case 4 * SIZE:                                                                        \
            copy_fourth_##SIZE((TYPE*)to, (const TYPE*)source, n);                            \
            return 1;                                                                         \
        }                                                                                     \
        return 0;                                                                             \
    }
XBCAST_ALL_STRIDED(1, any_uint8)
XBCAST_ALL_STRIDED(2, any_uint16)
XBCAST_ALL_STRIDED(4, any_uint32)
XBCAST_ALL_STRIDED(8, any_uint64)

/* One level with any other strides: four at a time, three times as fast as what the
 * compiler makes of one (benchmarks/bench_layouts.py, third of complex128). */
#define XBCAST_APART(SIZE, TYPE)                                                              \
    static __attribute__((noinline)) void copy_apart_##SIZE(                                  \
        char* restrict to, const char* restrict source, ptrdiff_t n, ptrdiff_t to_step, ptrdiff_t step) \
    {                                                                                         \
        for (; n >= 4; n -= 4) {                                                              \
            const TYPE a = *(const TYPE*)source, b = *(const TYPE*)(source + step);           \
            const TYPE c = *(const TYPE*)(source + 2 * step), d = *(const TYPE*)(source + 3 * step); \
            *(TYPE*)to = a;                                                                   \
            *(TYPE*)(to + to_step) = b;                                                       \
            *(TYPE*)(to + 2 * to_step) = c;                                                   \
            *(TYPE*)(to + 3 * to_step) = d;                                                   \
            source += 4 * step;                                                               \
            to += 4 * to_step;                                                                \
        }                                                                                     \
        for (; n > 0; n--) {                                                                  \
            *(TYPE*)to = *(const TYPE*)source;                                                \
            source += step;                                                                   \
            to += to_step;                                                                    \
        }                                                                                     \
    }
XBCAST_APART(1, any_uint8)
XBCAST_APART(2, any_uint16)
XBCAST_APART(4, any_uint32)
XBCAST_APART(8, any_uint64)
XBCAST_APART(16, any_bytes16)

XBCAST_INLINE void copy_apart(char* to, const char* source, ptrdiff_t n, ptrdiff_t to_step,
                              ptrdiff_t step, ptrdiff_t size)
{
    if (size == 1) {
        copy_apart_1(to, source, n, to_step, step);
    }
    else if (size == 2) {
        copy_apart_2(to, source, n, to_step, step);
    }
    else if (size == 4) {
        copy_apart_4(to, source, n, to_step, step);
    }
    else if (size == 8) {
        copy_apart_8(to, source, n, to_step, step);
    }
    else {
        copy_apart_16(to, source, n, to_step, step);
    }
}

/* Whether a level was copied: destination contiguous, and the stride a constant one. */
XBCAST_INLINE int copy_strided(char* to, const char* source, ptrdiff_t n, ptrdiff_t step, ptrdiff_t size)
{
    return size == 1   ? copy_strided_1(to, source, n, step)
           : size == 2 ? copy_strided_2(to, source, n, step)
           : size == 4 ? copy_strided_4(to, source, n, step)
           : size == 8 ? copy_strided_8(to, source, n, step)
                       : 0;
}

/* ---- all of them ---- */

XBCAST_INLINE ptrdiff_t magnitude_of(ptrdiff_t stride)
{
    return stride < 0 ? -stride : stride;
}

/* Copies n[0] x n[1] elements of `size` bytes. */
XBCAST_INLINE void copy_elements(char* to, const char* source, const ptrdiff_t* n, const ptrdiff_t* t,
                                 const ptrdiff_t* s, ptrdiff_t size)
{
    if (t[0] == size && s[0] == size) {
        copy_rows(to, source, n[1], n[0] * size, t[1], s[1]);
        return;
    }
    if (t[0] == size && s[0] == 0) {
#if defined(__SSSE3__)
        if (n[0] <= LONGEST_REPEAT && t[1] == n[0] * size && s[1] == size && size < 16) {
            repeat_elements(to, source, n[1], n[0], size);
            return;
        }
#endif
        fill_rows(to, source, n[1], n[0], t[1], s[1], size);
        return;
    }
    if (t[0] == size && n[1] > 1 && n[0] > 1 && s[1] != 0 && magnitude_of(s[1]) < magnitude_of(s[0])) {
        copy_transposed(to, source, n, t, s, size);
        return;
    }
    for (ptrdiff_t j = 0; j < n[1]; j++) {
        if (t[0] != size || !copy_strided(to, source, n[0], s[0], size)) {
            copy_apart(to, source, n[0], t[0], s[0], size);
        }
        to += t[1];
        source += s[1];
    }
}

/* ---- truth values to numbers ---- */

/* Any byte but 0 is 1. In two steps: of both in one the compiler makes selects, and
 * no vectors (benchmarks/bench_layouts.py, converted). Both arrays contiguous. */
#define XBCAST_OF_BOOL(NAME)                                                                  \
    static inline void NAME##_of_bool_block(any_##NAME* to, const any_bool* from, ptrdiff_t n) \
    {                                                                                         \
        uint8_t bits[256];                                                                    \
        while (n > 0) {                                                                       \
            const ptrdiff_t count = n < 256 ? n : 256;                                        \
            for (ptrdiff_t i = 0; i < count; i++) {                                           \
                bits[i] = from[i] != 0;                                                       \
            }                                                                                 \
            for (ptrdiff_t i = 0; i < count; i++) {                                           \
                to[i] = bits[i];                                                              \
            }                                                                                 \
            to += count;                                                                      \
            from += count;                                                                    \
            n -= count;                                                                       \
        }                                                                                     \
    }
XBCAST_OF_BOOL(float32)
XBCAST_OF_BOOL(float64)

#endif
