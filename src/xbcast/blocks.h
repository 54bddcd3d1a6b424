/* Inner loops that apply a function to a block of elements at a time, for kernels
 * that are fastest in several passes: all lanes by the short way, then those that
 * it does not suit by the long one.
 *
 * A block is at most XBCAST_BLOCK elements, contiguous in memory; one that is strided or
 * constant is copied first. The results stay in a buffer until the block is done, because
 * `out` may be an operand. */
#ifndef XBCAST_BLOCKS_H
#define XBCAST_BLOCKS_H

#include <stddef.h>

#include "elements.h"
#include "fmod.h"
#include "gcd.h"
#include "power.h"

/* NAME##_blocks applies NAME##_block along a row: n elements, strides in bytes. */
#define XBCAST_BLOCKS(NAME, ELEMENT, C)                                             \
    static void NAME##_blocks(char *out, ptrdiff_t s, const char *x1, ptrdiff_t s1, \
                              const char *x2, ptrdiff_t s2, ptrdiff_t n)            \
    {                                                                               \
        C a[XBCAST_BLOCK], b[XBCAST_BLOCK], r[XBCAST_BLOCK];                        \
        const ptrdiff_t size = sizeof(C);                                           \
        for (ptrdiff_t done = 0; done < n; done += XBCAST_BLOCK) {                  \
            const ptrdiff_t m = n - done < XBCAST_BLOCK ? n - done : XBCAST_BLOCK;  \
            const any_##ELEMENT *p = (const any_##ELEMENT *)(x1 + done * s1);       \
            const any_##ELEMENT *q = (const any_##ELEMENT *)(x2 + done * s2);       \
            if (s1 != size) {                                                       \
                for (ptrdiff_t i = 0; i < m && (done == 0 || s1 != 0); i++) {       \
                    a[i] = *(const any_##ELEMENT *)((const char *)p + i * s1);      \
                }                                                                   \
                p = a;                                                              \
            }                                                                       \
            if (s2 != size) {                                                       \
                for (ptrdiff_t i = 0; i < m && (done == 0 || s2 != 0); i++) {       \
                    b[i] = *(const any_##ELEMENT *)((const char *)q + i * s2);      \
                }                                                                   \
                q = b;                                                              \
            }                                                                       \
            NAME##_block(r, p, q, m);                                               \
            if (s == size) {                                                        \
                memcpy(out + done * s, r, m * size);                                \
            }                                                                       \
            else {                                                                  \
                for (ptrdiff_t i = 0; i < m; i++) {                                 \
                    *(any_##ELEMENT *)(out + (done + i) * s) = r[i];                \
                }                                                                   \
            }                                                                       \
        }                                                                           \
    }

#define XBCAST_INTEGER_BLOCKS(OP)                \
    XBCAST_BLOCKS(OP##_int8, int8, int8_t)       \
    XBCAST_BLOCKS(OP##_uint8, uint8, uint8_t)    \
    XBCAST_BLOCKS(OP##_int16, int16, int16_t)    \
    XBCAST_BLOCKS(OP##_uint16, uint16, uint16_t) \
    XBCAST_BLOCKS(OP##_int32, int32, int32_t)    \
    XBCAST_BLOCKS(OP##_uint32, uint32, uint32_t) \
    XBCAST_BLOCKS(OP##_int64, int64, int64_t)    \
    XBCAST_BLOCKS(OP##_uint64, uint64, uint64_t)

XBCAST_INTEGER_BLOCKS(gcd)
XBCAST_INTEGER_BLOCKS(lcm)

#define XBCAST_FLOAT_BLOCKS(OP)                 \
    XBCAST_BLOCKS(OP##_float32, float32, float) \
    XBCAST_BLOCKS(OP##_float64, float64, double)

XBCAST_FLOAT_BLOCKS(fmod)
XBCAST_FLOAT_BLOCKS(remainder)
XBCAST_FLOAT_BLOCKS(floor_divide)

XBCAST_BLOCKS(power_uint8, uint8, uint8_t)
XBCAST_BLOCKS(power_uint16, uint16, uint16_t)
XBCAST_BLOCKS(power_uint32, uint32, uint32_t)
XBCAST_BLOCKS(power_uint64, uint64, uint64_t)

#undef XBCAST_INTEGER_BLOCKS
#undef XBCAST_FLOAT_BLOCKS
#undef XBCAST_BLOCKS

#endif
