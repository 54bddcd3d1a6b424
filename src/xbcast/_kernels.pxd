# Scalar kernels: what the op table's expressions call, and what they are made of.
# Inline functions of elements, nothing else: no memory, no Python, no NumPy.
#
# Selects are written without short circuit (`&`, `|`, one value or the other), so
# that the compiler can turn them into vector selects; divisions by a harmless
# value replace branches for the same reason. The inner loops are compiled with
# -fwrapv, so signed integers wrap around.

cimport cython
from libc.stdint cimport (int8_t, int16_t, int32_t, int64_t,
                          uint8_t, uint16_t, uint32_t, uint64_t)

cdef extern from "elements.h" nogil:
    ctypedef struct complex64:
        float re
        float im
    ctypedef struct complex128:
        double re
        double im

cdef extern from "divide.h" nogil:
    int64_t int64_safe_divisor(int64_t)
    uint64_t uint64_safe_divisor(uint64_t)
    int64_t int64_quotient(int64_t, int64_t)
    uint64_t uint64_quotient(uint64_t, uint64_t)

cdef extern from "bits.h" nogil:
    float float_minus(float, float)
    double double_minus(double, double)

cdef extern from "smith.h" nogil:
    complex64 complex64_quotient(complex64, complex64)
    complex128 complex128_quotient(complex128, complex128)

cdef extern from "<math.h>" nogil:
    float c_copysignf "copysignf"(float, float)
    double c_copysign "copysign"(double, double)

ctypedef fused unsigned_t:
    uint8_t
    uint16_t
    uint32_t
    uint64_t

ctypedef fused integer_t:
    int8_t
    uint8_t
    int16_t
    uint16_t
    int32_t
    uint32_t
    int64_t
    uint64_t

ctypedef fused left64_t:
    int64_t
    uint64_t

ctypedef fused right64_t:
    int64_t
    uint64_t

ctypedef fused real_t:
    float
    double

ctypedef fused complex_t:
    complex64
    complex128


# ---- integers ----

cdef inline bint quotient_overflows(integer_t a, integer_t b) noexcept nogil:
    # The only one: the least integer through -1.
    if integer_t is int8_t or integer_t is int16_t or integer_t is int32_t or integer_t is int64_t:
        return (b == -1) & (a == <integer_t> (-a)) & (a != 0)
    else:
        return False

cdef inline integer_t floor_divide_warnings(integer_t a, integer_t b) noexcept nogil:
    return <integer_t> ((b == 0) | (quotient_overflows(a, b) << 1))

cdef inline integer_t remainder_warnings(integer_t a, integer_t b) noexcept nogil:
    return b == 0

# The next ones add and mask where others would select: from selects on `b` the
# compiler makes a path of its own for b == 0, around the division, and then cannot
# vectorise.

cdef inline integer_t safe_divisor(integer_t a, integer_t b) noexcept nogil:
    # 1 in place of the divisors that the hardware traps on: 0, and -1 under the least
    # integer. The latter through 1 is itself with remainder 0, as NumPy has it.
    if integer_t is int64_t:
        return int64_safe_divisor(b)
    elif integer_t is uint64_t:
        return uint64_safe_divisor(b)
    else:
        return <integer_t> (b + floor_divide_warnings(a, b))


@cython.cdivision(True)
cdef inline integer_t quotient(integer_t a, integer_t d) noexcept nogil:
    # a / d rounded towards zero, for a safe divisor. There are no vector divisions
    # of integers, but those of floating-point numbers are exact enough for up to 32
    # bits: unless a / d is an integer, it is further than 1 / a (relative) from one,
    # and `a` has fewer bits than the floating-point type.
    if integer_t is int64_t:
        return int64_quotient(a, d)
    elif integer_t is uint64_t:
        return uint64_quotient(a, d)
    elif integer_t is int32_t or integer_t is uint32_t:
        return <integer_t> (<double> a / <double> d)
    else:
        return <integer_t> <int32_t> (<float> a / <float> d)

cdef inline integer_t floor_divide(integer_t a, integer_t b) noexcept nogil:
    cdef integer_t d = safe_divisor(a, b)
    cdef integer_t q = quotient(a, d)
    if integer_t is int8_t or integer_t is int16_t or integer_t is int32_t or integer_t is int64_t:
        q = <integer_t> (q - ((<integer_t> (a - q * d) != 0) & ((a ^ d) < 0)))
    return <integer_t> (q & -<integer_t> (b != 0))

cdef inline integer_t fmod(integer_t a, integer_t b) noexcept nogil:
    cdef integer_t d = safe_divisor(a, b)
    return <integer_t> (a - quotient(a, d) * d)

cdef inline integer_t remainder(integer_t a, integer_t b) noexcept nogil:
    cdef integer_t d = safe_divisor(a, b)
    cdef integer_t r = <integer_t> (a - quotient(a, d) * d)
    if integer_t is int8_t or integer_t is int16_t or integer_t is int32_t or integer_t is int64_t:
        r = <integer_t> (r + (d & -<integer_t> ((r != 0) & ((r ^ d) < 0))))
    return r

cdef inline integer_t maximum(integer_t a, integer_t b) noexcept nogil:
    return a if a > b else b

cdef inline integer_t minimum(integer_t a, integer_t b) noexcept nogil:
    return a if a < b else b

# A shift by a negative amount or by the width and more moves all bits out. As an
# unsigned number a negative amount is a large one.

cdef inline unsigned_t left_shift(unsigned_t a, unsigned_t b) noexcept nogil:
    cdef unsigned_t moved = <unsigned_t> (a << (b & (8 * sizeof(a) - 1)))
    return moved if b < 8 * sizeof(a) else 0

cdef inline integer_t right_shift(integer_t a, integer_t b) noexcept nogil:
    cdef integer_t last = 8 * sizeof(a) - 1
    cdef integer_t amount
    if integer_t is int8_t or integer_t is int16_t or integer_t is int32_t or integer_t is int64_t:
        amount = b if (b >= 0) & (b <= last) else last
        return a >> amount
    else:
        return a >> (b & last) if b <= last else 0

# int64 with uint64, in either order: 0 or 1. Of comparisons that are joined the compiler
# makes no vectors; of the sign bits of 64-bit numbers it does (benchmarks/bench_layouts.py,
# converted).

cdef inline uint64_t mixed_less(left64_t a, right64_t b) noexcept nogil:
    cdef uint64_t x = <uint64_t> a, y = <uint64_t> b
    # the borrow of x - y
    cdef uint64_t below = (~x & y) | (~(x ^ y) & (x - y))
    if left64_t is int64_t:
        return (x | below) >> 63
    else:
        return (~y & below) >> 63

cdef inline uint64_t mixed_equal(left64_t a, right64_t b) noexcept nogil:
    cdef uint64_t x = <uint64_t> a, y = <uint64_t> b, different = x ^ y
    # where both have their highest bit, one is negative
    return ((different | -different | (x & y)) >> 63) ^ 1


# ---- floating-point numbers ----

# Of two zeros, and of two NaNs, the choice depends on nothing but the operands.

cdef inline real_t float_maximum(real_t a, real_t b) noexcept nogil:
    cdef real_t larger = a if a > b else b      # `b` where either is NaN
    return a if a != a else larger

cdef inline real_t float_minimum(real_t a, real_t b) noexcept nogil:
    cdef real_t smaller = a if a < b else b
    return a if a != a else smaller

cdef inline real_t float_fmax(real_t a, real_t b) noexcept nogil:
    # rows.h has the vectors where both are arrays
    return a if (a > b) | (b != b) else b

cdef inline real_t float_fmin(real_t a, real_t b) noexcept nogil:
    return a if (a < b) | (b != b) else b

cdef inline real_t float_copysign(real_t a, real_t b) noexcept nogil:
    if real_t is float:
        return c_copysignf(a, b)
    else:
        return c_copysign(a, b)

cdef inline real_t float_heaviside(real_t a, real_t b) noexcept nogil:
    cdef real_t step = 1 if a > 0 else 0
    step = b if a == 0 else step
    return a if a != a else step


# ---- complex numbers ----

cdef inline real_t minus(real_t a, real_t b) noexcept nogil:
    # a - b, where b is a product next to one that is added: see bits.h
    if real_t is float:
        return float_minus(a, b)
    else:
        return double_minus(a, b)

cdef inline complex64 complex64_of(float re, float im) noexcept nogil:
    cdef complex64 c
    c.re = re
    c.im = im
    return c

cdef inline complex128 complex128_of(double re, double im) noexcept nogil:
    cdef complex128 c
    c.re = re
    c.im = im
    return c

cdef inline complex_t complex_add(complex_t a, complex_t b) noexcept nogil:
    cdef complex_t c
    c.re = a.re + b.re
    c.im = a.im + b.im
    return c

cdef inline complex_t complex_subtract(complex_t a, complex_t b) noexcept nogil:
    cdef complex_t c
    c.re = a.re - b.re
    c.im = a.im - b.im
    return c

cdef inline complex_t complex_multiply(complex_t a, complex_t b) noexcept nogil:
    cdef complex_t c
    c.re = minus(a.re * b.re, a.im * b.im)
    c.im = a.re * b.im + a.im * b.re
    return c

cdef inline complex_t complex_divide(complex_t a, complex_t b) noexcept nogil:
    if complex_t is complex64:
        return complex64_quotient(a, b)
    else:
        return complex128_quotient(a, b)

cdef inline bint complex_truth(complex_t a) noexcept nogil:
    return (a.re != 0) | (a.im != 0)

cdef inline bint complex_nan(complex_t a) noexcept nogil:
    return (a.re != a.re) | (a.im != a.im)

cdef inline bint complex_equal(complex_t a, complex_t b) noexcept nogil:
    return (a.re == b.re) & (a.im == b.im)

# Real parts first, then imaginary parts. A NaN in an imaginary part leaves unequal
# real parts unordered too.

cdef inline bint complex_less(complex_t a, complex_t b) noexcept nogil:
    return (((a.re < b.re) & (a.im == a.im) & (b.im == b.im))
            | ((a.re == b.re) & (a.im < b.im)))

cdef inline bint complex_less_equal(complex_t a, complex_t b) noexcept nogil:
    return (((a.re < b.re) & (a.im == a.im) & (b.im == b.im))
            | ((a.re == b.re) & (a.im <= b.im)))

cdef inline unsigned int complex_order_warnings(complex_t a, complex_t b) noexcept nogil:
    # INVALID for a NaN in parts that decide the order.
    return (((a.re != a.re) | (b.re != b.re)
             | ((a.re == b.re) & ((a.im != a.im) | (b.im != b.im)))) << 3)

cdef inline complex_t complex_maximum(complex_t a, complex_t b) noexcept nogil:
    return a if complex_nan(a) | complex_less_equal(b, a) else b

cdef inline complex_t complex_minimum(complex_t a, complex_t b) noexcept nogil:
    return a if complex_nan(a) | complex_less_equal(a, b) else b

cdef inline complex_t complex_fmax(complex_t a, complex_t b) noexcept nogil:
    return a if complex_nan(b) | complex_less_equal(b, a) else b

cdef inline complex_t complex_fmin(complex_t a, complex_t b) noexcept nogil:
    return a if complex_nan(b) | complex_less_equal(a, b) else b
