/* Complex division by Smith's algorithm: by the larger part of the divisor first, so
 * that no square overflows.
 *
 * In functions that are neither inlined nor vectorised. Inlined, the compiler pairs the
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

/* The parts travel in registers, which unaligned structs do not. */
#define XBCAST_SMITH(COMPLEX, REAL, FABS)                                                 \
    typedef struct { REAL re, im; } COMPLEX##_parts;                                      \
                                                                                          \
    XBCAST_AS_WRITTEN static COMPLEX##_parts COMPLEX##_divide(REAL a_re, REAL a_im,       \
                                                              REAL b_re, REAL b_im)       \
    {                                                                                     \
        /* `k` is the larger part of the divisor. Picking parts by index instead of by    \
         * branches spares mispredictions: which is larger is anyone's guess. */          \
        REAL a[2] = {a_re, a_im}, b[2] = {b_re, b_im};                                    \
        int k = !(FABS(b_re) >= FABS(b_im));                                              \
        COMPLEX##_parts c;                                                                \
        if ((k == 0) & (b_re == 0)) {                                                     \
            c.re = a_re / FABS(b_re);                                                     \
            c.im = a_im / FABS(b_im);                                                     \
            return c;                                                                     \
        }                                                                                 \
        REAL ratio = b[1 - k] / b[k];                                                     \
        REAL scale = 1 / (b[k] + b[1 - k] * ratio);                                       \
        REAL terms[2] = {a[1 - k], a[k] * ratio};                                         \
        c.re = (a[k] + a[1 - k] * ratio) * scale;                                         \
        c.im = (terms[k] - terms[1 - k]) * scale;                                         \
        return c;                                                                         \
    }                                                                                     \
                                                                                          \
    static inline COMPLEX COMPLEX##_quotient(COMPLEX a, COMPLEX b)                        \
    {                                                                                     \
        COMPLEX##_parts c = COMPLEX##_divide(a.re, a.im, b.re, b.im);                     \
        COMPLEX result = {c.re, c.im};                                                    \
        return result;                                                                    \
    }

XBCAST_SMITH(complex64, float, fabsf)
XBCAST_SMITH(complex128, double, fabs)

#undef XBCAST_SMITH

#endif
