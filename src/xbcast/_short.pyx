# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, freethreading_compatible=True
"""
The short way of a call: exact arrays and Python numbers of the loop's own types, a
result in C order of at most SHORT_WORK elements, one or two levels of a walk. There
the work is less than a plan would cost, so there is none (benchmarks/bench_calls.py).

The loop comes from _dtypes, the shape from _shape. Of layouts, overlap and numbers only
what is plainly within the rules of _core is taken: whatever is not recognised, and every
fault, is left to it, and it gives the same answers for all that is taken here.
"""

cimport numpy as cnp
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.long cimport PyLong_CheckExact
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from libc.stdint cimport uint16_t

from xbcast._arrays cimport (
    data_of, is_exact_array, is_native, is_packed, is_writeable, new_array, rank_of, size_of, stride_of,
    type_of,
)
from xbcast._core cimport RELEASE_GIL, give_warnings, store_int
from xbcast._dtypes cimport (
    WEAK_FLOAT, WEAK_INT, choose_loop, element_dtype, element_type, loop_t,
)
from xbcast._inner_loop cimport BOOL, FLOAT16, FLOAT32, FLOAT64, INT64, OUT, X1, X2, Walk, element_size
from xbcast._plan cimport WORTH_PACKING
from xbcast._run cimport run_walk
from xbcast._shape cimport IN_DIM, degenerate_t, dims_t, fault_t, infer_shape, placement_t, read_dims, shape_t

cdef extern from "<math.h>" nogil:
    bint isinf(double)

cdef extern from "half.h" nogil:
    enum:
        HALF_OVERFLOW
    uint16_t half_of_float64(double)
    unsigned int half_warnings_of_float64(double)

cnp.import_array()

cdef enum:
    # Elements of the result (benchmarks/bench_calls.py). No loop is so slow that so few
    # would be shared among threads.
    SHORT_WORK = 4096
    SHORT_RANK = 8
    # So few rows are done before a plan would have joined them (bench_calls.py, Rows).
    SHORT_ROWS = 64

# An array, read once.
cdef struct plain_t:
    int kind                   # as in _dtypes
    int ndim
    bint packed                # C order without gaps
    Py_ssize_t count           # elements
    Py_ssize_t size[SHORT_RANK]
    Py_ssize_t stride[SHORT_RANK]
    char* data


cdef inline bint read_plain(PyObject* value, plain_t* x):
    """Read an array of one of the element types, or the kind of a Python number."""
    cdef int d
    if not is_exact_array(value):
        x.ndim = 0
        x.count = 1
        x.packed = True
        x.kind = WEAK_FLOAT if PyFloat_CheckExact(<object>value) else WEAK_INT
        return x.kind == WEAK_FLOAT or PyLong_CheckExact(<object>value)
    x.kind = element_type(type_of(value))
    x.ndim = rank_of(value)
    if x.kind < 0 or x.ndim > SHORT_RANK or not is_native(value):
        return False
    x.packed = is_packed(value)
    x.data = data_of(value)
    x.count = 1
    for d in range(x.ndim):
        x.size[d] = size_of(value, d)
        x.stride[d] = stride_of(value, d)
        if x.size[d] > SHORT_WORK:
            return False
        x.count *= x.size[d]
    return True


cdef inline bint read_number(PyObject* value, int kind, plain_t* x, long long* space) except -1:
    """Put a Python number into `space` as an element; false if that takes more than rounding."""
    cdef long long number
    cdef double exact
    x.data = <char*>space
    if x.kind == WEAK_INT and BOOL < kind < FLOAT16:
        return store_int(<object>value, kind, space)
    if not FLOAT16 <= kind <= FLOAT64:
        return False
    if x.kind == WEAK_INT:
        if not store_int(<object>value, INT64, &number) or not -(1 << 24) <= number <= 1 << 24:
            return False
        exact = <double>number
    else:
        exact = PyFloat_AS_DOUBLE(<object>value)
    if kind == FLOAT64:
        (<double*>space)[0] = exact
        return True
    # a finite number that becomes infinite is warned of
    if kind == FLOAT16:
        (<uint16_t*>space)[0] = half_of_float64(exact)
        return not (half_warnings_of_float64(exact) & HALF_OVERFLOW)
    (<float*>space)[0] = <float>exact
    return not (isinf((<float*>space)[0]) and not isinf(exact))


cdef inline bint lay_out(const placement_t* placement, Py_ssize_t count, plain_t* x,
                         Py_ssize_t itemsize, Walk* walk) noexcept nogil:
    """
    Find the walk: one level if both operands are packed or constant, else two.

    False if it takes more, or if the result would not be in C order.
    """
    cdef int d, k, own, level = 0
    cdef bint joined = True
    for k in range(2):
        joined &= x[k].count == 1 or (x[k].count == count and x[k].packed)
    if joined:
        walk.size[0] = count
        walk.size[1] = 1
        for k in range(2):
            walk.stride[X1 + k][0] = 0 if x[k].count == 1 else element_size[x[k].kind]
            walk.stride[X1 + k][1] = 0
        walk.stride[OUT][0] = itemsize
        walk.stride[OUT][1] = 0
        return True
    if placement.ndim > 1 and not (x[0].packed and x[1].packed):
        return False
    walk.size[1] = 1
    for k in range(3):
        walk.stride[k][1] = 0
    for d in range(placement.ndim - 1, -1, -1):
        if placement.size[d] == 1:
            continue
        if level == 2:
            return False
        walk.size[level] = placement.size[d]
        walk.stride[OUT][level] = itemsize
        itemsize *= placement.size[d]
        for k in range(2):
            own = placement.source[k][d]
            walk.stride[X1 + k][level] = 0 if own < 0 or x[k].size[own] == 1 else x[k].stride[own]
        level += 1
    return count < WORTH_PACKING or (level == 2 and walk.size[1] <= SHORT_ROWS)


cdef inline bint suits(PyObject* out, int kind, const placement_t* placement, Py_ssize_t count,
                       const plain_t* x):
    """Whether `out` may be written as it lies, and no operand is disturbed by that."""
    cdef int d, k
    cdef char* end
    if not (is_exact_array(out) and element_type(type_of(out)) == kind and is_native(out)
            and is_writeable(out) and is_packed(out) and rank_of(out) == placement.ndim):
        return False
    for d in range(placement.ndim):
        if size_of(out, d) != placement.size[d]:
            return False
    end = data_of(out) + count * element_size[kind]
    for k in range(2):
        if x[k].kind >= WEAK_INT:
            continue
        if not x[k].packed:
            return False
        if data_of(out) < x[k].data + x[k].count * element_size[x[k].kind] and x[k].data < end:
            # each element is read and written at one place, or else is for _core
            if (x[k].data != data_of(out) or x[k].count != count
                    or element_size[x[k].kind] != element_size[kind]):
                return False
    return True


cdef bint call_short(int op, PyObject* x1, PyObject* x2, PyObject* dims, PyObject* out,
                     PyObject** result) except -1:
    cdef plain_t x[2]
    cdef shape_t shape[2]
    cdef dims_t placing
    cdef degenerate_t degenerate
    cdef placement_t placement
    cdef fault_t fault
    cdef Walk walk
    cdef long long space[2]
    cdef char* data[3]
    cdef unsigned int warnings = 0
    cdef const loop_t* loop
    cdef Py_ssize_t count = 1
    cdef int d, k
    cdef object array
    if not read_plain(x1, &x[0]) or not read_plain(x2, &x[1]) or x[0].ndim + x[1].ndim == 0:
        return False
    loop = choose_loop(op, x[0].kind, x[1].kind)
    if loop == NULL or not loop.direct:
        return False
    for k in range(2):
        if x[k].kind >= WEAK_INT:
            if not read_number(x1 if k == 0 else x2, loop.type[X1 + k], &x[k], &space[k]):
                return False
        elif x[k].kind != loop.type[X1 + k]:
            return False
    placing.form = IN_DIM
    placing.n[0] = 0
    if dims != NULL and not read_dims(dims, &placing):
        return False
    degenerate.given = False
    for k in range(2):
        shape[k].ndim = x[k].ndim
        shape[k].size = x[k].size
    if not infer_shape(shape, &placing, &degenerate, &placement, &fault):
        return False
    for d in range(placement.ndim):
        count *= placement.size[d]
        if count > SHORT_WORK:
            return False
    if count == 0 or not lay_out(&placement, count, x, element_size[loop.type[OUT]], &walk):
        return False
    if out == NULL:
        Py_INCREF(<object>element_dtype(loop.type[OUT]))
        array = new_array(element_dtype(loop.type[OUT]), placement.ndim, placement.size, NULL, NULL, 0)
    elif suits(out, loop.type[OUT], &placement, count, x):
        array = <object>out
    else:
        return False
    data[OUT] = data_of(<PyObject*>array)
    data[X1] = x[0].data
    data[X2] = x[1].data
    if count > RELEASE_GIL:
        with nogil:
            run_walk(loop.run, loop.warning_source, data, &walk, &warnings)
    else:
        run_walk(loop.run, loop.warning_source, data, &walk, &warnings)
    if warnings:
        give_warnings(op, warnings)
    Py_INCREF(array)
    result[0] = <PyObject*>array
    return True
