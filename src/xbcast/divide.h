/* Quotients of 64-bit integers, rounded towards zero. Divisors are made safe first: 1
 * in place of 0. The least integer through -1 is itself.
 *
 * Where vectors convert between 64-bit integers and double (AVX-512DQ), multiplication
 * by a reciprocal is the faster way (benchmarks/bench_ops.py, floor_divide and remainder of
 * int64 and uint64). The reciprocal is taken too small by 2**-50, more
 * than all roundings together, so that a quotient never comes out too large and what
 * is left keeps the sign of the dividend. The first quotient leaves at most
 * |d| + |a| * 2**-49, the second at most |d| and a bit: less than one divisor too much. */
#ifndef XBCAST_DIVIDE_H
#define XBCAST_DIVIDE_H

#include <stdint.h>

#if defined(__AVX512DQ__)

#define XBCAST_SHORT_OF_ONE (1 - 0x1p-50)

static inline uint64_t uint64_safe_divisor(uint64_t b)
{
    return b + (b == 0);
}

static inline int64_t int64_safe_divisor(int64_t b)
{
    return b + (b == 0);
}

static inline uint64_t uint64_quotient(uint64_t a, uint64_t d)
{
    double inverse = XBCAST_SHORT_OF_ONE / (double)d;
    uint64_t q = (uint64_t)((double)a * inverse);
    uint64_t r = a - q * d;
    uint64_t more = (uint64_t)((double)r * inverse);
    r -= more * d;
    return q + more + (r >= d);
}

static inline int64_t int64_quotient(int64_t a, int64_t d)
{
    double inverse = XBCAST_SHORT_OF_ONE / (double)d;
    int64_t q = (int64_t)((double)a * inverse);
    int64_t r = a - q * d;
    int64_t more = (int64_t)((double)r * inverse);
    r -= more * d;
    /* the divisor with the sign of `a`; the magnitude of the least integer wraps
     * around, and so does the difference, to the right sign */
    int64_t opposite = (a ^ d) >> 63;
    int64_t excess = r - ((d ^ opposite) - opposite);
    int64_t too_small = -(int64_t)((excess == 0) | ((excess ^ a) >= 0));
    return q + more + (((1 ^ opposite) - opposite) & too_small);
}

#else

/* Branches, because computing with flags makes each division wait for the last one. */
static inline uint64_t uint64_safe_divisor(uint64_t b)
{
    return b == 0 ? 1 : b;
}

static inline int64_t int64_safe_divisor(int64_t b)
{
    return b == 0 ? 1 : b;
}

static inline uint64_t uint64_quotient(uint64_t a, uint64_t d)
{
    return a / d;
}

static inline int64_t int64_quotient(int64_t a, int64_t d)
{
    return d == -1 ? -a : a / d;
}

#endif

#endif
