/* Floating-point status of the calling thread, in NumPy's numbering: 1 divide by
 * zero, 2 overflow, 4 underflow, 8 invalid. The only file that knows where it is kept.
 *
 * Two ways, because they cost differently: our own kernels raise bits in the SIMD
 * unit only, whose register on x86-64 takes one instruction to read; NumPy's loops
 * call the C library, which may raise them in the x87 unit as well.
 */
#ifndef XBCAST_FLOAT_STATUS_H
#define XBCAST_FLOAT_STATUS_H

#include <fenv.h>

#define STATUS_FENCE() __asm__ volatile("" ::: "memory")

static inline unsigned int status_of_fenv(int raised)
{
    return (raised & FE_DIVBYZERO ? 1u : 0u) | (raised & FE_OVERFLOW ? 2u : 0u)
           | (raised & FE_UNDERFLOW ? 4u : 0u) | (raised & FE_INVALID ? 8u : 0u);
}

/* Both units: around NumPy's loops. */
static inline void clear_library_status(void)
{
    feclearexcept(FE_ALL_EXCEPT);
}

static inline unsigned int library_status(void)
{
    return status_of_fenv(fetestexcept(FE_ALL_EXCEPT));
}

/* The unit that kernels run in. clear_kernel_status returns what was there, for
 * restore_kernel_status, which returns what was raised since. */
#if defined(__SSE2__)
#include <xmmintrin.h>

typedef unsigned int kernel_status;

/* MXCSR: bit 0 invalid, 1 denormal operand, 2 divide by zero, 3 overflow, 4
 * underflow, 5 inexact. Writing it is slow, and mostly there is nothing to clear.
 * The fences keep the loops in between there. */
static inline kernel_status clear_kernel_status(void)
{
    STATUS_FENCE();
    kernel_status before = _mm_getcsr();
    if (before & 0x1du) {
        _mm_setcsr(before & ~0x3fu);
    }
    STATUS_FENCE();
    return before;
}

static inline unsigned int kernel_status_raised(void)
{
    STATUS_FENCE();
    unsigned int now = _mm_getcsr();
    return (now >> 2 & 7) | (now << 3 & 8);
}

static inline unsigned int restore_kernel_status(kernel_status before)
{
    unsigned int raised = kernel_status_raised();
    if (_mm_getcsr() != before) {
        _mm_setcsr(before);
    }
    return raised;
}
#else
typedef fexcept_t kernel_status;

static inline kernel_status clear_kernel_status(void)
{
    kernel_status before;
    STATUS_FENCE();
    fegetexceptflag(&before, FE_ALL_EXCEPT);
    feclearexcept(FE_ALL_EXCEPT);
    STATUS_FENCE();
    return before;
}

static inline unsigned int kernel_status_raised(void)
{
    STATUS_FENCE();
    return library_status();
}

static inline unsigned int restore_kernel_status(kernel_status before)
{
    unsigned int raised = kernel_status_raised();
    fesetexceptflag(&before, FE_ALL_EXCEPT);
    return raised;
}
#endif

#endif
