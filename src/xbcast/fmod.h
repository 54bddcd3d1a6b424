/* Remainders and floor quotients of floating-point numbers, a block at a time.
 *
 * Where the quotient has fewer bits than the type, let q be the integer nearest to the
 * rounded |a / b|. It is right or one too large, and |a| - q * |b| needs no more bits than
 * the type has: an exact remainder in a few operations that vectors have. All lanes of a block go that
 * way, the others with 1 and 1 in place of their operands, so that nothing is raised
 * for them; these then go the long way, by the C library, as NumPy does. Either way
 * the remainder is exact, so the bits do not depend on the way, and what is computed
 * from it is the same (benchmarks/bench_ops.py, remainder, fmod and floor_divide). */
#ifndef XBCAST_FMOD_H
#define XBCAST_FMOD_H

#include <math.h>
#include <stddef.h>

#include "bits.h"
#include "elements.h"

/* x - q * y, exact. */
#if defined(__FMA__) || defined(__aarch64__)
static inline float float32_less_multiple(float x, float q, float y)
{
    return fmaf(-q, y, x);
}

static inline double float64_less_multiple(double x, double q, double y)
{
    return fma(-q, y, x);
}

#define XBCAST_LEAST64 0x0010000000000000
#define XBCAST_LIMIT64 0x7ff0000000000000
#else
static inline float float32_less_multiple(float x, float q, float y)
{
    /* double holds the product of two floats */
    return (float)((double)x - (double)q * (double)y);
}

/* The product as the sum of two numbers, by halves of 26 and 27 bits (Dekker). */
static inline double float64_less_multiple(double x, double q, double y)
{
    const double cut = 0x8000001;
    double q_high = cut * q - (cut * q - q), q_low = q - q_high;
    double y_high = cut * y - (cut * y - y), y_low = y - y_high;
    double product = q * y;
    double error = ((q_high * y_high - product) + q_high * y_low + q_low * y_high) + q_low * y_low;
    return (x - product) - error;
}

/* so that no part overflows or underflows */
#define XBCAST_LEAST64 0x0800000000000000
#define XBCAST_LIMIT64 0x7800000000000000
#endif

/* The long way. */
#define XBCAST_LONG_WAY(NAME, REAL, SUFFIX)                                            \
    static REAL fmod_##NAME##_alone(REAL a, REAL b)                                    \
    {                                                                                  \
        return fmod##SUFFIX(a, b);                                                     \
    }                                                                                  \
    static REAL remainder_##NAME##_alone(REAL a, REAL b)                               \
    {                                                                                  \
        REAL r = fmod##SUFFIX(a, b);                                                   \
        if (b == 0) {                                                                  \
            return r;                                                                  \
        }                                                                              \
        if (r != 0) {                                                                  \
            return isless(b, 0) != isless(r, 0) ? r + b : r;                           \
        }                                                                              \
        return copysign##SUFFIX(0, b);                                                 \
    }                                                                                  \
    static REAL floor_divide_##NAME##_alone(REAL a, REAL b)                            \
    {                                                                                  \
        /* The remainder is exact, so a - r is nearly a multiple of b and the quotient \
         * nearly an integer: round it. */                                             \
        REAL r, q, whole;                                                              \
        if (b == 0) {                                                                  \
            return a / b;                                                              \
        }                                                                              \
        r = fmod##SUFFIX(a, b);                                                        \
        q = (a - r) / b;                                                               \
        if (r != 0 && isless(b, 0) != isless(r, 0)) {                                  \
            q -= 1;                                                                    \
        }                                                                              \
        if (q == 0) {                                                                  \
            return copysign##SUFFIX(0, a / b);                                         \
        }                                                                              \
        whole = floor##SUFFIX(q);                                                      \
        return isgreater(q - whole, 0.5f) ? whole + 1 : whole;                         \
    }

XBCAST_LONG_WAY(float32, float, f)
XBCAST_LONG_WAY(float64, double, )

#undef XBCAST_LONG_WAY

/* The nearest integer to x, which is not negative and has that many bits at most. */
#define WHOLE(REAL, X, BITS) ((X) + (REAL)((uint64_t)1 << BITS) - (REAL)((uint64_t)1 << BITS))

/* The short way. `*near` is all ones where it holds, else 0. Selects are bit masks. */
#define XBCAST_SHORT_WAY(NAME, REAL, INT, LEAST, LIMIT, ONE, QUOTIENT_BITS, PRECISION)                     \
    static inline REAL fmod_##NAME##_near(REAL a, REAL b, INT *near)                                       \
    {                                                                                                      \
        const INT magnitude = ~((INT)1 << (8 * sizeof(INT) - 1));                                          \
        INT ua = (INT)bits_of_##REAL(a) & magnitude, ub = (INT)bits_of_##REAL(b) & magnitude;              \
        INT is = -(INT)((ub >= LEAST) & (ub < LIMIT) & (ua < LIMIT)                                        \
                        & (ua - ub < (INT)QUOTIENT_BITS << PRECISION));                                    \
        INT ux = (ua & is) | (ONE & ~is), uy = (ub & is) | (ONE & ~is);                                    \
        REAL x = REAL##_of_bits(ux), y = REAL##_of_bits(uy), q, r;                                         \
        *near = is;                                                                                        \
        /* nothing for a quotient below 1, which can underflow */                                          \
        q = WHOLE(REAL, REAL##_of_bits(ux & -(INT)(ux >= uy)) / y, PRECISION);                             \
        r = NAME##_less_multiple(x, q, y);                                                                 \
        r += REAL##_of_bits(uy & -(INT)(r < 0));                                                           \
        return REAL##_of_bits(bits_of_##REAL(r) | (bits_of_##REAL(a) & ~magnitude));                       \
    }                                                                                                      \
    static inline REAL remainder_##NAME##_near(REAL a, REAL b, INT *near)                                  \
    {                                                                                                      \
        const INT sign = (INT)1 << (8 * sizeof(INT) - 1);                                                  \
        REAL r = fmod_##NAME##_near(a, b, near);                                                           \
        INT ua = bits_of_##REAL(a), ub = bits_of_##REAL(b);                                                \
        INT some = -(INT)(r != 0), opposite = some & -(INT)((ua ^ ub) < 0);                                \
        r += REAL##_of_bits(ub & opposite);                                                                \
        return REAL##_of_bits(((INT)bits_of_##REAL(r) & some) | (ub & sign & ~some));                      \
    }                                                                                                      \
    static inline REAL floor_divide_##NAME##_near(REAL a, REAL b, INT *near)                               \
    {                                                                                                      \
        const INT sign = (INT)1 << (8 * sizeof(INT) - 1);                                                  \
        REAL r = fmod_##NAME##_near(a, b, near), q;                                                        \
        INT ua = bits_of_##REAL(a), ub = bits_of_##REAL(b);                                                \
        INT ux = ua & ~sign, uy = ub & ~sign;                                                              \
        INT some = -(INT)(r != 0), opposite = some & -(INT)((ua ^ ub) < 0);                                \
        /* where the true quotient underflows, NumPy says so */                                            \
        *near &= -(INT)((ux == 0)                                                                          \
                        | ((ux >= LEAST) & (uy - ux < ((INT)(LIMIT >> PRECISION) / 2 - 4) << PRECISION))); \
        ux = (ua & *near) | (ONE & ~*near);                                                                \
        uy = (ub & *near) | (ONE & ~*near);                                                                \
        r = REAL##_of_bits(bits_of_##REAL(r) & *near);                                                     \
        q = (REAL##_of_bits(ux) - r) / REAL##_of_bits(uy);                                                 \
        q += REAL##_of_bits(bits_of_##REAL(-1) & opposite);                                                \
        /* nearly an integer */                                                                            \
        q = WHOLE(REAL, REAL##_of_bits((INT)bits_of_##REAL(q) & ~sign), PRECISION);                        \
        return REAL##_of_bits((INT)bits_of_##REAL(q) | ((ua ^ ub) & sign));                                \
    }

XBCAST_SHORT_WAY(float32, float, int32_t, 0x00800000, 0x7f800000, 0x3f800000, 21, 23)
XBCAST_SHORT_WAY(float64, double, int64_t, XBCAST_LEAST64, XBCAST_LIMIT64, 0x3ff0000000000000, 50, 52)

#undef XBCAST_SHORT_WAY
#undef WHOLE

#define XBCAST_BOTH_WAYS(OP, NAME, REAL, INT)                                     \
    static inline void OP##_##NAME##_block(REAL *restrict r, const any_##NAME *a, \
                                           const any_##NAME *b, ptrdiff_t n)      \
    {                                                                             \
        INT near[XBCAST_BLOCK], all = -1;                                         \
        for (ptrdiff_t i = 0; i < n; i++) {                                       \
            INT is;                                                               \
            r[i] = OP##_##NAME##_near(a[i], b[i], &is);                           \
            near[i] = is;                                                         \
            all &= is;                                                            \
        }                                                                         \
        if (all == 0) {                                                           \
            for (ptrdiff_t i = 0; i < n; i++) {                                   \
                if (near[i] == 0) {                                               \
                    r[i] = OP##_##NAME##_alone(a[i], b[i]);                       \
                }                                                                 \
            }                                                                     \
        }                                                                         \
    }

XBCAST_BOTH_WAYS(fmod, float32, float, int32_t)
XBCAST_BOTH_WAYS(remainder, float32, float, int32_t)
XBCAST_BOTH_WAYS(floor_divide, float32, float, int32_t)
XBCAST_BOTH_WAYS(fmod, float64, double, int64_t)
XBCAST_BOTH_WAYS(remainder, float64, double, int64_t)
XBCAST_BOTH_WAYS(floor_divide, float64, double, int64_t)

#undef XBCAST_BOTH_WAYS

#endif
