/* What masks ask for: counting and finding what is kept, bringing kept elements together,
 * and bringing results back to where they belong. A mask byte keeps if it is not zero.
 *
 * Nothing is read or written but the elements named. Functions take the element size
 * as a constant, to be inlined once per size (benchmarks/bench_layouts.py, Masked).
 */
#ifndef XBCAST_MASKS_H
#define XBCAST_MASKS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif
#if defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__BMI2__)
#define XBCAST_COMPRESSES
#endif

typedef uint8_t mask_vector __attribute__((vector_size(16)));

static inline ptrdiff_t count_kept(const char* mask, ptrdiff_t n)
{
    ptrdiff_t i = 0, kept = 0;
    while (i + 16 <= n) {
        /* a byte counts to 255 */
        mask_vector counts = {0};
        const ptrdiff_t end = n - i < 255 * 16 ? n : i + 255 * 16;
        for (; i + 16 <= end; i += 16) {
            mask_vector m;
            memcpy(&m, mask + i, 16);
            counts -= (mask_vector)(m != 0);
        }
        for (int k = 0; k < 16; k++) {
            kept += counts[k];
        }
    }
    for (; i < n; i++) {
        kept += mask[i] != 0;
    }
    return kept;
}

/* One bit for each of 64 elements. */
static inline uint64_t kept_of_64(const char* mask)
{
    uint64_t bits = 0;
#if defined(__SSE2__)
    for (int k = 0; k < 64; k += 16) {
        const __m128i m = _mm_loadu_si128((const __m128i*)(mask + k));
        const uint32_t zeros = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(m, _mm_setzero_si128()));
        bits |= (uint64_t)(zeros ^ 0xffff) << k;
    }
#else
    for (int k = 0; k < 64; k++) {
        bits |= (uint64_t)(mask[k] != 0) << k;
    }
#endif
    return bits;
}

static inline ptrdiff_t find_bits(uint16_t* place, uint64_t bits, ptrdiff_t first)
{
    const int count = __builtin_popcountll(bits);
    /* four at a time, without branches */
    for (int done = 0; done < count; done += 4) {
        for (int k = 0; k < 4; k++) {
            place[done + k] = (uint16_t)(first + (bits == 0 ? 0 : __builtin_ctzll(bits)));
            bits &= bits - 1;
        }
    }
    return count;
}

/* Writes down the places of the elements that are kept, of at most 2**16, and up to three
 * numbers more; returns how many. */
static inline ptrdiff_t find_kept(uint16_t* place, const char* mask, ptrdiff_t n)
{
    char rest[64] = {0};
    ptrdiff_t i = 0, kept = 0;
    for (; i + 64 <= n; i += 64) {
        kept += find_bits(place + kept, kept_of_64(mask + i), i);
    }
    memcpy(rest, mask + i, n - i);
    return kept + find_bits(place + kept, kept_of_64(rest), i);
}

#if defined(XBCAST_COMPRESSES)
/* One bit per element for 4, 8 or 16 of them. */
static inline __attribute__((always_inline)) uint32_t kept_bits(const char* mask, int count)
{
    __m128i m;
    if (count == 16) {
        m = _mm_loadu_si128((const void*)mask);
    }
    else if (count == 8) {
        m = _mm_loadl_epi64((const void*)mask);
    }
    else {
        int32_t four;
        memcpy(&four, mask, 4);
        m = _mm_cvtsi32_si128(four);
    }
    return _mm_test_epi8_mask(m, m);
}

/* Elements in a vector as it is compressed: of 16 bytes, of 8, or widened to 4. */
#define XBCAST_IN_VECTOR(size) ((size) == 16 ? 4 : (size) == 8 ? 8 : 16)

/* One bit per lane of 8 bytes for elements that take two. */
static inline __attribute__((always_inline)) uint32_t lane_bits(uint32_t bits, int size)
{
    return size == 16 ? _pdep_u32(bits, 0x55) * 3 : bits;
}

static inline __attribute__((always_inline)) __m512i load_kept(const char* source, uint32_t bits, int size)
{
    return size >= 8   ? _mm512_maskz_loadu_epi64((__mmask8)bits, source)
           : size == 4 ? _mm512_maskz_loadu_epi32((__mmask16)bits, source)
           : size == 2 ? _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16((__mmask16)bits, source))
                       : _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8((__mmask16)bits, source));
}

static inline __attribute__((always_inline)) void store_kept(char* to, uint32_t bits, __m512i x, int size)
{
    if (size >= 8) {
        _mm512_mask_storeu_epi64(to, (__mmask8)bits, x);
    }
    else if (size == 4) {
        _mm512_mask_storeu_epi32(to, (__mmask16)bits, x);
    }
    else if (size == 2) {
        _mm256_mask_storeu_epi16(to, (__mmask16)bits, _mm512_cvtepi32_epi16(x));
    }
    else {
        _mm_mask_storeu_epi8(to, (__mmask16)bits, _mm512_cvtepi32_epi8(x));
    }
}
#endif

/* Keeps elements of `data`, in place. */
static inline __attribute__((always_inline)) ptrdiff_t compress_elements(
    char* data, const char* mask, ptrdiff_t n, int size)
{
    ptrdiff_t i = 0, kept = 0;
#if defined(XBCAST_COMPRESSES)
    const int step = XBCAST_IN_VECTOR(size);
    for (; i + step <= n; i += step) {
        const uint32_t bits = kept_bits(mask + i, step);
        __m512i x = load_kept(data + i * size, 0xffff, size);
        x = size >= 8 ? _mm512_maskz_compress_epi64((__mmask8)lane_bits(bits, size), x)
                      : _mm512_maskz_compress_epi32((__mmask16)bits, x);
        /* whole vectors: what lies behind the kept ones has been read already */
        store_kept(data + kept * size, 0xffff, x, size);
        kept += __builtin_popcount(bits);
    }
#endif
    /* stores that are overwritten instead of branches */
    for (; i < n; i++) {
        char element[16];
        memcpy(element, data + i * size, size);
        memcpy(data + kept * size, element, size);
        kept += mask[i] != 0;
    }
    return kept;
}

/* One level of a scatter; returns the rest of `source`. */
static inline __attribute__((always_inline)) const char* scatter_elements(
    char* to, const char* source, const char* mask, ptrdiff_t n, ptrdiff_t stride, int size)
{
    ptrdiff_t i = 0;
#if defined(XBCAST_COMPRESSES)
    if (stride == size) {
        const int step = XBCAST_IN_VECTOR(size);
        for (; i + step <= n; i += step) {
            const uint32_t kept_here = kept_bits(mask + i, step), bits = lane_bits(kept_here, size);
            const int kept = __builtin_popcount(kept_here);
            __m512i x = load_kept(source, lane_bits((1u << kept) - 1, size), size);
            x = size >= 8 ? _mm512_maskz_expand_epi64((__mmask8)bits, x)
                          : _mm512_maskz_expand_epi32((__mmask16)bits, x);
            store_kept(to + i * size, bits, x, size);
            source += kept * size;
        }
    }
#endif
    while (i < n) {
        /* first where they belong, without branches, then the elements: rows are often too
         * short for find_kept (benchmarks/bench_layouts.py, MaskedRows) */
        uint8_t place[256];
        const ptrdiff_t count = n - i < 256 ? n - i : 256;
        ptrdiff_t kept = 0;
        for (ptrdiff_t k = 0; k < count; k++) {
            place[kept] = (uint8_t)k;
            kept += mask[i + k] != 0;
        }
        for (ptrdiff_t k = 0; k < kept; k++) {
            memcpy(to + (i + place[k]) * stride, source + k * size, size);
        }
        source += kept * size;
        i += count;
    }
    return source;
}

#endif
