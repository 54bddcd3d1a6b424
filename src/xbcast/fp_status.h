/* The floating-point status of this thread, in NumPy's numbering: 1 divide by
 * zero, 2 overflow, 4 underflow, 8 invalid. On x86-64 the MXCSR register is used
 * itself, because <fenv.h> also saves and loads the x87 unit, which costs many
 * times the rest. */
#ifndef XBCAST_FP_STATUS_H
#define XBCAST_FP_STATUS_H

#if defined(__SSE2__)

#include <xmmintrin.h>

typedef unsigned int fp_status;

/* MXCSR: bit 0 invalid, 1 denormal operand, 2 divide by zero, 3 overflow, 4
 * underflow, 5 inexact. The empty asm keeps the loops between two calls there. */
static inline fp_status fp_status_clear(void)
{
    __asm__ volatile("" ::: "memory");
    fp_status before = _mm_getcsr();
    if (before & 0x3f) {
        _mm_setcsr(before & ~0x3fu);
    }
    __asm__ volatile("" ::: "memory");
    return before;
}

/* What was raised since `before` was returned; puts the status back as it was. */
static inline unsigned int fp_status_restore(fp_status before)
{
    __asm__ volatile("" ::: "memory");
    unsigned int now = _mm_getcsr();
    if (now != before) {
        _mm_setcsr(before);
    }
    __asm__ volatile("" ::: "memory");
    return (now >> 2 & 7) | (now << 3 & 8);
}

#else

#include <fenv.h>

typedef fexcept_t fp_status;

static inline fp_status fp_status_clear(void)
{
    fp_status before;
    __asm__ volatile("" ::: "memory");
    fegetexceptflag(&before, FE_ALL_EXCEPT);
    feclearexcept(FE_ALL_EXCEPT);
    __asm__ volatile("" ::: "memory");
    return before;
}

static inline unsigned int fp_status_restore(fp_status before)
{
    __asm__ volatile("" ::: "memory");
    int now = fetestexcept(FE_ALL_EXCEPT);
    fesetexceptflag(&before, FE_ALL_EXCEPT);
    __asm__ volatile("" ::: "memory");
    return (now & FE_DIVBYZERO ? 1u : 0u) | (now & FE_OVERFLOW ? 2u : 0u)
         | (now & FE_UNDERFLOW ? 4u : 0u) | (now & FE_INVALID ? 8u : 0u);
}

#endif

#endif
