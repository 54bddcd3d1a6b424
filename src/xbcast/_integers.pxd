# The integers of the pattern algebra: checked 64-bit arithmetic, and a type that holds
# any sum of products that occurs there. C and inline functions only, no module.

# cython: cdivision=True

cdef extern from *:
    """
    /* MSVC has neither; there the wide search answers "undecided", which only
       patterns that span more than 2**60 bytes see. */
    #if defined(__GNUC__) || defined(__clang__)
    #define xb_mul_overflows(a, b, r) __builtin_mul_overflow((a), (b), (r))
    #define xb_add_overflows(a, b, r) __builtin_add_overflow((a), (b), (r))
    #define xb_sub_overflows(a, b, r) __builtin_sub_overflow((a), (b), (r))
    #else
    static CYTHON_INLINE int xb_mul_overflows(Py_ssize_t a, Py_ssize_t b, Py_ssize_t* r) {
        *r = (Py_ssize_t)((size_t)a * (size_t)b);
        if (a == 0 || b == 0) return 0;
        if ((a == -1 && b == PY_SSIZE_T_MIN) || (b == -1 && a == PY_SSIZE_T_MIN)) return 1;
        return *r / b != a;
    }
    static CYTHON_INLINE int xb_add_overflows(Py_ssize_t a, Py_ssize_t b, Py_ssize_t* r) {
        *r = (Py_ssize_t)((size_t)a + (size_t)b);
        return ((a ^ *r) & (b ^ *r)) < 0;
    }
    static CYTHON_INLINE int xb_sub_overflows(Py_ssize_t a, Py_ssize_t b, Py_ssize_t* r) {
        *r = (Py_ssize_t)((size_t)a - (size_t)b);
        return ((a ^ b) & (a ^ *r)) < 0;
    }
    #endif
    #if defined(__SIZEOF_INT128__)
    typedef __int128 xb_wide;
    #define XB_HAVE_WIDE 1
    #else
    typedef long long xb_wide;
    #define XB_HAVE_WIDE 0
    #endif
    """
    bint xb_mul_overflows(Py_ssize_t a, Py_ssize_t b, Py_ssize_t* r) noexcept nogil
    bint xb_add_overflows(Py_ssize_t a, Py_ssize_t b, Py_ssize_t* r) noexcept nogil
    bint xb_sub_overflows(Py_ssize_t a, Py_ssize_t b, Py_ssize_t* r) noexcept nogil
    Py_ssize_t PY_SSIZE_T_MAX
    ctypedef long long wide "xb_wide"
    bint XB_HAVE_WIDE

# Searches run in 64 bits where every sum fits there with room to spare, and in
# 128 bits elsewhere.
ctypedef fused integer:
    Py_ssize_t
    wide


cdef inline integer absolute(integer value) noexcept nogil:
    return -value if value < 0 else value


cdef inline integer greatest_common_divisor(integer a, integer b) noexcept nogil:
    cdef integer t
    while b:
        t = a % b
        a = b
        b = t
    return a
