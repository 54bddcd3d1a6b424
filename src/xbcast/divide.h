/* Quotients of 64-bit integers, rounded towards zero, for a divisor that is not 0
 * (nor -1 under the least integer).
 *
 * Where vectors convert between 64-bit integers and double (AVX-512DQ), division
 * by a reciprocal is the faster way. The reciprocal is taken too small by 2**-50, more
 * than all roundings together, so that a quotient never comes out too large and what
 * is left keeps the sign of the dividend. The first quotient leaves at most
 * |d| + |a| * 2**-49, the second at most |d| and a bit: less than one divisor too much. */
#ifndef XBCAST_DIVIDE_H
#define XBCAST_DIVIDE_H

#include <stdint.h>

#if defined(__AVX512DQ__)

#define XBCAST_SHORT_OF_ONE (1 - 0x1p-50)

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

/* The empty asm keeps the compiler from making vectors of everything around the
 * division, which costs more moves than it saves. */
static inline uint64_t uint64_quotient(uint64_t a, uint64_t d)
{
    uint64_t q = a / d;
    __asm__("" : "+r"(q));
    return q;
}

static inline int64_t int64_quotient(int64_t a, int64_t d)
{
    int64_t q = a / d;
    __asm__("" : "+r"(q));
    return q;
}

#endif

#endif
