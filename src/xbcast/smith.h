/* Complex division by Smith's algorithm: by the larger part of the divisor first, so
 * that no square overflows.
 *
 * A function that is neither inlined nor vectorised. Inlined, the compiler pairs the
 * two parts and raises status bits for what the data do not contain, and it does so
 * differently for each layout. The divisions cost more than the call. */
#ifndef XBCAST_SMITH_H
#define XBCAST_SMITH_H

#include <math.h>

#include "elements.h"

#if defined(__GNUC__) && !defined(__clang__)
#define XBCAST_AS_WRITTEN __attribute__((noinline, optimize("no-tree-vectorize", "no-tree-slp-vectorize")))
#else
#define XBCAST_AS_WRITTEN __attribute__((noinline))
#endif

#define XBCAST_SMITH(NAME, COMPLEX, REAL, FABS)                       \
    XBCAST_AS_WRITTEN static COMPLEX NAME(COMPLEX a, COMPLEX b)       \
    {                                                                 \
        COMPLEX c;                                                    \
        REAL re = FABS(b.re), im = FABS(b.im);                        \
        if (re >= im) {                                               \
            if (re == 0 && im == 0) {                                 \
                c.re = a.re / re;                                     \
                c.im = a.im / im;                                     \
            }                                                         \
            else {                                                    \
                REAL ratio = b.im / b.re;                             \
                REAL scale = 1 / (b.re + b.im * ratio);               \
                c.re = (a.re + a.im * ratio) * scale;                 \
                c.im = (a.im - a.re * ratio) * scale;                 \
            }                                                         \
        }                                                             \
        else {                                                        \
            REAL ratio = b.re / b.im;                                 \
            REAL scale = 1 / (b.im + b.re * ratio);                   \
            c.re = (a.re * ratio + a.im) * scale;                     \
            c.im = (a.im * ratio - a.re) * scale;                     \
        }                                                             \
        return c;                                                     \
    }

XBCAST_SMITH(complex64_quotient, complex64, float, fabsf)
XBCAST_SMITH(complex128_quotient, complex128, double, fabs)

#undef XBCAST_SMITH

#endif
