/* Greatest common divisors and least common multiples of integers, a block at a time.
 *
 * Vectors divide slowly, but halve and subtract fast: with `a` odd, an even b may be
 * halved, and of an odd one the difference, which is even. Each step takes a bit off, and
 * all lanes step until the last is done. Vectors of fewer than 8 lanes are no faster
 * than Euclid's divisions (benchmarks/bench_ops.py, gcd and lcm). */
#ifndef XBCAST_GCD_H
#define XBCAST_GCD_H

#include <stddef.h>

#include "elements.h"

/* Magnitudes to divisors. 0 has every divisor. */
#define XBCAST_DIVISORS(U)                                                                          \
    static inline void divisors_##U(U##_t *restrict g, const U##_t *x, const U##_t *y, ptrdiff_t n) \
    {                                                                                               \
        if (XBCAST_VECTOR < 8 * (int)sizeof(U##_t)) {                                               \
            for (ptrdiff_t i = 0; i < n; i++) {                                                     \
                U##_t a = x[i], b = y[i];                                                           \
                while (a != 0) {                                                                    \
                    U##_t rest = b % a;                                                             \
                    b = a;                                                                          \
                    a = rest;                                                                       \
                }                                                                                   \
                g[i] = b;                                                                           \
            }                                                                                       \
        }                                                                                           \
        else {                                                                                      \
            U##_t odd[XBCAST_BLOCK], other[XBCAST_BLOCK], left;                                     \
            unsigned char twos[XBCAST_BLOCK];                                                       \
            for (ptrdiff_t i = 0; i < n; i++) {                                                     \
                U##_t a = x[i] != 0 ? x[i] : y[i], b = y[i];                                        \
                int shift = __builtin_ctzll((unsigned long long)a | b | (a == 0));                  \
                twos[i] = (unsigned char)shift;                                                     \
                odd[i] = (U##_t)(a >> __builtin_ctzll((unsigned long long)a | (a == 0)));           \
                other[i] = (U##_t)(b >> shift);                                                     \
            }                                                                                       \
            do {                                                                                    \
                left = 0;                                                                           \
                for (ptrdiff_t i = 0; i < n; i++) {                                                 \
                    U##_t a = odd[i], b = other[i];                                                 \
                    U##_t is_odd = (U##_t) - (b & 1);                                               \
                    U##_t less = a < b ? a : b, more = a < b ? b : a;                               \
                    U##_t halved = (U##_t)((b ^ ((b ^ (U##_t)(more - less)) & is_odd)) >> 1);       \
                    odd[i] = (U##_t)(a ^ ((a ^ less) & is_odd));                                    \
                    other[i] = halved;                                                              \
                    left |= halved;                                                                 \
                }                                                                                   \
            } while (left != 0);                                                                    \
            for (ptrdiff_t i = 0; i < n; i++) {                                                     \
                g[i] = (U##_t)(odd[i] << twos[i]);                                                  \
            }                                                                                       \
        }                                                                                           \
    }

/* The quotient by a divisor: exact, so a floating-point division does. */
#define XBCAST_EXACT_QUOTIENT(U, REAL)                       \
    static inline U##_t exact_quotient_##U(U##_t a, U##_t d) \
    {                                                        \
        return (U##_t)((REAL)a / (REAL)d);                   \
    }

XBCAST_EXACT_QUOTIENT(uint8, float)
XBCAST_EXACT_QUOTIENT(uint16, float)
XBCAST_EXACT_QUOTIENT(uint32, double)
XBCAST_EXACT_QUOTIENT(uint64, uint64_t)

#define XBCAST_GCD(TYPE, U)                                                          \
    static inline void gcd_##TYPE##_block(TYPE##_t *restrict r, const any_##TYPE *a, \
                                          const any_##TYPE *b, ptrdiff_t n)          \
    {                                                                                \
        U##_t x[XBCAST_BLOCK], y[XBCAST_BLOCK], g[XBCAST_BLOCK];                     \
        for (ptrdiff_t i = 0; i < n; i++) {                                          \
            x[i] = a[i] < 0 ? (U##_t) - (U##_t)a[i] : (U##_t)a[i];                   \
            y[i] = b[i] < 0 ? (U##_t) - (U##_t)b[i] : (U##_t)b[i];                   \
        }                                                                            \
        divisors_##U(g, x, y, n);                                                    \
        for (ptrdiff_t i = 0; i < n; i++) {                                          \
            r[i] = (TYPE##_t)g[i];                                                   \
        }                                                                            \
    }                                                                                \
    static inline void lcm_##TYPE##_block(TYPE##_t *restrict r, const any_##TYPE *a, \
                                          const any_##TYPE *b, ptrdiff_t n)          \
    {                                                                                \
        U##_t x[XBCAST_BLOCK], y[XBCAST_BLOCK], g[XBCAST_BLOCK];                     \
        for (ptrdiff_t i = 0; i < n; i++) {                                          \
            x[i] = a[i] < 0 ? (U##_t) - (U##_t)a[i] : (U##_t)a[i];                   \
            y[i] = b[i] < 0 ? (U##_t) - (U##_t)b[i] : (U##_t)b[i];                   \
        }                                                                            \
        divisors_##U(g, x, y, n);                                                    \
        /* wraps around where the multiple is too large, as in NumPy */              \
        for (ptrdiff_t i = 0; i < n; i++) {                                          \
            U##_t d = (U##_t)(g[i] + (g[i] == 0));                                   \
            r[i] = (TYPE##_t)(1u * exact_quotient_##U(x[i], d) * y[i]);              \
        }                                                                            \
    }

XBCAST_DIVISORS(uint8)
XBCAST_DIVISORS(uint16)
XBCAST_DIVISORS(uint32)
XBCAST_DIVISORS(uint64)
XBCAST_GCD(int8, uint8)
XBCAST_GCD(uint8, uint8)
XBCAST_GCD(int16, uint16)
XBCAST_GCD(uint16, uint16)
XBCAST_GCD(int32, uint32)
XBCAST_GCD(uint32, uint32)
XBCAST_GCD(int64, uint64)
XBCAST_GCD(uint64, uint64)

#undef XBCAST_GCD
#undef XBCAST_EXACT_QUOTIENT
#undef XBCAST_DIVISORS

#endif
