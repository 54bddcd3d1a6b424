/* The remainder of a quotient rounded towards zero: the C library's fmod, faster where
 * the quotient is below the precision of the type. Exact in any case, so the same bits
 * come out either way.
 *
 * For such a quotient the rounded a / b, cut to an integer q, is right or one too
 * large, and a - q * b needs no more bits than the type has. Operands that overflow
 * or underflow on the way are left to the C library: nothing is raised here that it
 * would not raise. */
#ifndef XBCAST_FMOD_H
#define XBCAST_FMOD_H

#include <math.h>

#include "bits.h"

static inline float float32_fmod(float a, float b)
{
    const uint32_t least_normal = 0x00800000u, infinity = 0x7f800000u;
    uint32_t ua = bits_of_float(a) & 0x7fffffffu, ub = bits_of_float(b) & 0x7fffffffu;
    if (ub - least_normal < infinity - least_normal && ua < infinity) {
        if (ua < ub) {
            return a;
        }
        if (ua - ub < 22u << 23) {
            float x = float_of_bits(ua), y = float_of_bits(ub);
            /* double holds the product of two floats */
            double r = (double)x - (double)floorf(x / y) * (double)y;
            return copysignf((float)(r < 0 ? r + (double)y : r), a);
        }
    }
    return fmodf(a, b);
}

static inline double float64_fmod(double a, double b)
{
#if defined(__FMA__) || defined(__aarch64__)
    const uint64_t least_normal = 0x0010000000000000u, infinity = 0x7ff0000000000000u;
    uint64_t ua = bits_of_double(a) & 0x7fffffffffffffffu, ub = bits_of_double(b) & 0x7fffffffffffffffu;
    if (ub - least_normal < infinity - least_normal && ua < infinity) {
        if (ua < ub) {
            return a;
        }
        if (ua - ub < (uint64_t)51 << 52) {
            double x = double_of_bits(ua), y = double_of_bits(ub);
            double r = fma(-floor(x / y), y, x);
            return copysign(r < 0 ? r + y : r, a);
        }
    }
#endif
    return fmod(a, b);
}

#endif
