/* Which builds of the inner loops this processor can run. The only file that knows CPUID.
 *
 * cpu_level() gives the x86-64 microarchitecture level, 1 to 4, as the psABI defines
 * it (what -march=x86-64-vN asks for), with the operating system's support of the
 * wide registers; 0 on another architecture, where there is one build only.
 */
#ifndef XBCAST_CPU_H
#define XBCAST_CPU_H

#if defined(__x86_64__)
#include <cpuid.h>

static unsigned int cpu_enabled_state(void)
{
    unsigned int low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static inline int cpu_has(unsigned int reg, unsigned int bits)
{
    return (reg & bits) == bits;
}

static int cpu_level(void)
{
    unsigned int a, b, c, d, c1, b7 = 0, c80 = 0, state;

    if (!__get_cpuid(1, &a, &b, &c1, &d)) {
        return 1;
    }
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
        b7 = b;
    }
    if (__get_cpuid(0x80000001u, &a, &b, &c, &d)) {
        c80 = c;
    }
    /* v2: SSE3, SSSE3, CMPXCHG16B, SSE4.1, SSE4.2, POPCNT, LAHF */
    if (!cpu_has(c1, 1u << 0 | 1u << 9 | 1u << 13 | 1u << 19 | 1u << 20 | 1u << 23)
        || !cpu_has(c80, 1u << 0)) {
        return 1;
    }
    /* v3: FMA, MOVBE, XSAVE, OSXSAVE, AVX, F16C; BMI1, AVX2, BMI2; LZCNT; XMM and YMM state */
    if (!cpu_has(c1, 1u << 12 | 1u << 22 | 1u << 26 | 1u << 27 | 1u << 28 | 1u << 29)
        || !cpu_has(b7, 1u << 3 | 1u << 5 | 1u << 8) || !cpu_has(c80, 1u << 5)) {
        return 2;
    }
    state = cpu_enabled_state();
    if (!cpu_has(state, 0x06u)) {
        return 2;
    }
    /* v4: AVX512 F, DQ, CD, BW, VL; mask and ZMM state */
    if (!cpu_has(b7, 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31)
        || !cpu_has(state, 0xe6u)) {
        return 3;
    }
    return 4;
}
#else
static int cpu_level(void)
{
    return 0;
}
#endif

#endif
