/* Complex division by Smith's algorithm: by the larger part of the divisor first, so
 * that no square overflows. */
#ifndef XBCAST_SMITH_H
#define XBCAST_SMITH_H

#include <math.h>

#include "elements.h"

/* Tells the compiler that `x` may have changed. Without it, it computes the two parts as
 * a pair, adding and subtracting both, and raises status bits for sums that are not
 * there, differently in each layout. */
#if defined(__SSE2__)
#define XBCAST_BY_ITSELF(x) __asm__("" : "+x"(x))
#elif defined(__aarch64__)
#define XBCAST_BY_ITSELF(x) __asm__("" : "+w"(x))
#else
#define XBCAST_BY_ITSELF(x) __asm__("" : "+m"(x))
#endif

#define XBCAST_SMITH(COMPLEX, REAL, FABS)                            \
    static inline COMPLEX COMPLEX##_quotient(COMPLEX a, COMPLEX b)   \
    {                                                                \
        COMPLEX c;                                                   \
        REAL ratio, scale, term;                                     \
        if (FABS(b.re) >= FABS(b.im)) {                              \
            if (b.re == 0) {                                         \
                c.re = a.re / FABS(b.re);                            \
                c.im = a.im / FABS(b.im);                            \
                return c;                                            \
            }                                                        \
            ratio = b.im / b.re;                                     \
            scale = 1 / (b.re + b.im * ratio);                       \
            term = a.im * ratio;                                     \
            XBCAST_BY_ITSELF(term);                                  \
            c.re = (a.re + term) * scale;                            \
            XBCAST_BY_ITSELF(c.re);                                  \
            c.im = (a.im - a.re * ratio) * scale;                    \
        }                                                            \
        else {                                                       \
            ratio = b.re / b.im;                                     \
            scale = 1 / (b.im + b.re * ratio);                       \
            term = a.re * ratio;                                     \
            XBCAST_BY_ITSELF(term);                                  \
            c.re = (term + a.im) * scale;                            \
            XBCAST_BY_ITSELF(c.re);                                  \
            c.im = (a.im * ratio - a.re) * scale;                    \
        }                                                            \
        return c;                                                    \
    }

XBCAST_SMITH(complex64, float, fabsf)
XBCAST_SMITH(complex128, double, fabs)

#undef XBCAST_SMITH

#endif
