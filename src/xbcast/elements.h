/* Element types as they lie in memory. The types named any_* may be read and
 * written at any address, whatever its alignment and whatever type was stored
 * there; x86-64 and 64-bit ARM need no other instruction for it. */
#ifndef XBCAST_ELEMENTS_H
#define XBCAST_ELEMENTS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define XBCAST_ANYWHERE __attribute__((aligned(1), may_alias))

typedef uint8_t any_bool XBCAST_ANYWHERE;
typedef int8_t any_int8 XBCAST_ANYWHERE;
typedef uint8_t any_uint8 XBCAST_ANYWHERE;
typedef int16_t any_int16 XBCAST_ANYWHERE;
typedef uint16_t any_uint16 XBCAST_ANYWHERE;
typedef int32_t any_int32 XBCAST_ANYWHERE;
typedef uint32_t any_uint32 XBCAST_ANYWHERE;
typedef int64_t any_int64 XBCAST_ANYWHERE;
typedef uint64_t any_uint64 XBCAST_ANYWHERE;
typedef uint16_t any_float16 XBCAST_ANYWHERE;
typedef float any_float32 XBCAST_ANYWHERE;
typedef double any_float64 XBCAST_ANYWHERE;

/* Structs take over what their members allow. */
typedef struct { any_float32 re, im; } complex64;
typedef struct { any_float64 re, im; } complex128;
typedef uint64_t any_bytes16 __attribute__((vector_size(16), aligned(1), may_alias));
typedef complex64 any_complex64;
typedef complex128 any_complex128;

/* Elements that an inner loop may keep on the stack: of each operand at most this many. */
enum { XBCAST_BLOCK = 128 };

/* Bytes of a vector at this CPU level. */
#if defined(__AVX512F__)
enum { XBCAST_VECTOR = 64 };
#elif defined(__AVX2__)
enum { XBCAST_VECTOR = 32 };
#else
enum { XBCAST_VECTOR = 16 };
#endif

/* How many of the n elements of `out`, `stride` bytes apart, come before the first that
 * lies where an aligned vector may; n if alignment cannot be had or is not worth it.
 * NumPy's arrays begin 16 bytes off, so each vector would straddle two cache lines,
 * which takes twice the time in cache (benchmarks/bench_ops.py, contiguous). */
static inline ptrdiff_t leading_elements(const char *out, ptrdiff_t stride, ptrdiff_t n, ptrdiff_t size)
{
    if (n * size < 1024 || stride != size) {
        return n;
    }
    const ptrdiff_t bytes = -(uintptr_t)out & (XBCAST_VECTOR - 1);
    return bytes == 0 || bytes % size != 0 ? n : bytes / size;
}

/* 0 or 1 for any byte. */
static inline uint8_t truth(uint8_t x) { return x != 0; }

/* The same, for all elements of a row. Where GCC knows that it is 0 or 1, it makes a vector of
 * it bit by bit (benchmarks/bench_layouts.py, Cache, less of bool). */
static inline uint8_t truth_of_all(uint8_t x)
{
    x = truth(x);
    __asm__("" : "+r"(x));
    return x;
}

/* The bytes of one number in the opposite order. */
static inline uint16_t swapped_2(uint16_t x) { return __builtin_bswap16(x); }
static inline uint32_t swapped_4(uint32_t x) { return __builtin_bswap32(x); }
static inline uint64_t swapped_8(uint64_t x) { return __builtin_bswap64(x); }

#endif
