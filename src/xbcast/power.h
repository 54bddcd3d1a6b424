/* Powers of integers by squaring, all lanes at once: as many steps as the largest
 * exponent has bits. Signed operands have the same bits: no exponent is negative
 * (benchmarks/bench_ops.py, power). */
#ifndef XBCAST_POWER_H
#define XBCAST_POWER_H

#include <stddef.h>

#include "elements.h"

#define XBCAST_POWER(TYPE)                                                             \
    static inline void power_##TYPE##_block(TYPE##_t *restrict r, const any_##TYPE *a, \
                                            const any_##TYPE *b, ptrdiff_t n)          \
    {                                                                                  \
        TYPE##_t square[XBCAST_BLOCK], rest[XBCAST_BLOCK], any = 0;                    \
        for (ptrdiff_t i = 0; i < n; i++) {                                            \
            TYPE##_t x = a[i], e = b[i];                                               \
            square[i] = x;                                                             \
            r[i] = (TYPE##_t)((x & -(e & 1)) | (~e & 1));                              \
            rest[i] = e >> 1;                                                          \
            any |= e;                                                                  \
        }                                                                              \
        while ((any >>= 1) != 0) {                                                     \
            for (ptrdiff_t i = 0; i < n; i++) {                                        \
                TYPE##_t x = square[i], y = r[i], e = rest[i];                         \
                TYPE##_t more;                                                         \
                x = (TYPE##_t)(1u * x * x);                                            \
                more = (TYPE##_t)(1u * x * y);                                         \
                square[i] = x;                                                         \
                r[i] = (TYPE##_t)(y ^ ((y ^ more) & -(e & 1)));                        \
                rest[i] = e >> 1;                                                      \
            }                                                                          \
        }                                                                              \
    }

XBCAST_POWER(uint8)
XBCAST_POWER(uint16)
XBCAST_POWER(uint32)
XBCAST_POWER(uint64)

#undef XBCAST_POWER

#endif
