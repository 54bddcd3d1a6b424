/* Floating-point numbers as bits. */
#ifndef XBCAST_BITS_H
#define XBCAST_BITS_H

#include <stdint.h>
#include <string.h>

static inline uint32_t bits_of_float(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline float float_of_bits(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static inline uint64_t bits_of_double(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline double double_of_bits(uint64_t u)
{
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* a - b, the sign of `b` changed as a bit. GCC 12 and later make a vector multiply-add of
 * products that are added in one lane and subtracted in the next, even under
 * -ffp-contract=off, and a complex product would depend on the CPU level. With this
 * in place of the subtraction it does not see the pair. */
static inline float float_minus(float a, float b)
{
    return a + float_of_bits(bits_of_float(b) ^ 0x80000000u);
}

static inline double double_minus(double a, double b)
{
    return a + double_of_bits(bits_of_double(b) ^ 0x8000000000000000ull);
}

#endif
