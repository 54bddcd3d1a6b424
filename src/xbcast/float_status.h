/* Floating-point status bits of the calling thread, as NumPy numbers them.
 *
 * Two ways, because they cost differently: our own kernels raise bits in the SIMD
 * unit only, which on x86-64 is one register read; NumPy's loops call the C library,
 * which may raise them in the x87 unit as well. The only file that knows either.
 */
#ifndef XBCAST_FLOAT_STATUS_H
#define XBCAST_FLOAT_STATUS_H

#include <fenv.h>

static inline void clear_library_status(void)
{
    feclearexcept(FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID);
}

static inline unsigned int library_status(void)
{
    int raised = fetestexcept(FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID);
    return (raised & FE_DIVBYZERO ? 1u : 0u) | (raised & FE_OVERFLOW ? 2u : 0u)
           | (raised & FE_UNDERFLOW ? 4u : 0u) | (raised & FE_INVALID ? 8u : 0u);
}

#if defined(__x86_64__) || defined(_M_X64)
#include <xmmintrin.h>

static inline void clear_kernel_status(void)
{
    unsigned int csr = _mm_getcsr();
    /* writing the register is slow, and mostly there is nothing to clear */
    if (csr & 0x1du) {
        _mm_setcsr(csr & ~0x3fu);
    }
}

static inline unsigned int kernel_status(void)
{
    unsigned int csr = _mm_getcsr();
    /* MXCSR: invalid 0x01, divide 0x04, overflow 0x08, underflow 0x10 */
    return (csr & 0x04u ? 1u : 0u) | (csr & 0x08u ? 2u : 0u)
           | (csr & 0x10u ? 4u : 0u) | (csr & 0x01u ? 8u : 0u);
}
#else
#define clear_kernel_status clear_library_status
#define kernel_status library_status
#endif

#endif
