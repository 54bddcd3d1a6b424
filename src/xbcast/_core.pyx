# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, freethreading_compatible=True
"""
Carries out a call: operands as they are, the loop for their dtypes, the result's
shape, `out` and the mask checked, the plan, the run, and the warnings. Strides are
worked out as integers on the C stack; no view of an operand is made. What has no
inner loop here goes to _numpy_path.py. Only this module, _short and
_dtypes use NumPy's C API.
"""

import numpy as np

cimport numpy as cnp
from cpython.bool cimport PyBool_Check
from cpython.complex cimport PyComplex_CheckExact, PyComplex_ImagAsDouble, PyComplex_RealAsDouble
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.list cimport PyList_CheckExact
from cpython.long cimport PyLong_AsDouble, PyLong_AsUnsignedLongLong, PyLong_CheckExact
from cpython.object cimport PyObject
from cpython.pyport cimport PY_SSIZE_T_MAX
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_CheckExact
from libc.stdint cimport int8_t, int16_t, int32_t
from libc.stdlib cimport calloc
from libc.string cimport memcpy, memset

from xbcast._arrays cimport (
    SAME_KIND, can_cast, casting_of, data_of, dtype_of, is_exact_array, is_native, is_writeable, itemsize_of,
    keep_alive, new_array, new_scalar, rank_of, size_of, stride_of, type_of,
)
from xbcast._dtypes cimport (
    WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT, choose_loop, choose_loop_into, element_dtype, element_type,
    find_loop, loop_t, loop_table, same_element_type,
)
from xbcast._inner_loop cimport (
    BOOL, COMPLEX64, COMPLEX128, COMPUTED, FLOAT16, FLOAT64, HARDWARE, INT8, INT64, MASK, NEVER, N_TYPES, OUT,
    UINT8, UINT16, UINT32, UINT64, UNDERFLOW, X1, X2, CopyWalk, InnerLoop, element_alignment, element_size,
)
from xbcast._integers cimport absolute
from xbcast._pattern cimport (
    MAX_AXES, are_disjoint, byte_bounds, is_unique, pattern_t, pattern_tuple_t,
)
from xbcast._plan cimport CACHE_LINE, CAST, OWN, make_plan, operand_t, plan_t, stage_t
from xbcast._run cimport NEGATIVE, scan_negative
from xbcast._shape cimport (
    IN_DIM, degenerate_t, dims_t, fault_error, fault_t, infer_shape, parse_degenerate, parse_dims,
    parse_in_dim, placement_t, shape_t,
)
from xbcast._threads cimport run_shared, threads_for

from xbcast import _errors, _numpy_path
from xbcast._dtypes import ELEMENTS, cpu_levels, explicit_types, use_level
from xbcast._dtypes import level as cpu_level
from xbcast._optable import MIXED, OPS

cdef extern from *:
    PyObject PyGenericArrType_Type

cdef extern from "numpy/ufuncobject.h":
    int PyUFunc_GiveFloatingpointErrors(const char* name, int fpe_errors) except -1

cdef extern from "Python.h":
    long long PyLong_AsLongLong(object value) except? -1
    long long PyLong_AsLongLongAndOverflow(object value, int* overflow) except? -1
    bint PyObject_TypeCheck(object value, PyObject* type)
    PyObject* Py_Ellipsis

cnp.import_array()
cnp.import_ufunc()

cdef enum:
    # Steps an overlap question may take; what stays open counts as overlap.
    OVERLAP_WORK = 1000

# What an operand is, beside the kinds of _dtypes.
cdef enum:
    NO_LOOPS = -1              # an array or scalar of a dtype without loops
    ANYTHING = -2              # to be turned into an array first
    FOREIGN = -3               # never turned into an array

# Facts of an op that the call needs, from the op table.
cdef struct op_t:
    char* name
    bint compares              # out-of-range Python ints are answered by sign
    bint exponent              # x2 is one (see _optable.Op)
    int square                 # the op that a power of two is; -1: no other

cdef tuple OP_NAMES = tuple([op.name for op in OPS])
cdef tuple NUMPY_UFUNCS = tuple([getattr(np, op.numpy) if op.numpy else None for op in OPS])
cdef tuple ROLES = ("out", "x1", "x2", "where")            # by Role
cdef op_t* ops = NULL
cdef list op_names = []                                # owns the bytes of op_t.name

# An operand as it came: everything is read once, at entry.
cdef struct arg_t:
    int kind
    int type_num               # NumPy's, of an array or NumPy scalar
    bint swapped
    bint weak                  # a Python number
    int ndim
    Py_ssize_t size[MAX_AXES]
    Py_ssize_t stride[MAX_AXES]
    Py_ssize_t itemsize
    char* data
    PyObject* array            # borrowed; NULL for a scalar
    long long value[2]         # a scalar's bytes


# --------------------------------------------------------------------- operands

cdef inline bint is_foreign(object value):
    """Whether an object that is no exact ndarray must not be stripped to one."""
    cls = type(value)
    return (isinstance(value, np.ndarray) or hasattr(cls, "__array_ufunc__")
            or hasattr(cls, "__array_priority__") or hasattr(cls, "__array_wrap__"))


cdef int read_array(PyObject* value, arg_t* arg) except -1:
    cdef int d
    arg.array = value
    arg.type_num = type_of(value)
    arg.kind = element_type(arg.type_num)
    arg.ndim = rank_of(value)
    arg.data = data_of(value)
    arg.itemsize = itemsize_of(value)
    arg.swapped = not is_native(value)
    for d in range(arg.ndim):
        arg.size[d] = size_of(value, d)
        arg.stride[d] = stride_of(value, d)
    return 0


cdef int read_scalar(PyObject* value, arg_t* arg) except -1:
    """A NumPy scalar: its bytes are copied, its dtype is not weak."""
    cdef cnp.dtype dtype = cnp.PyArray_DescrFromScalar(<object>value)
    arg.type_num = dtype.type_num
    arg.kind = element_type(arg.type_num)
    if same_element_type(arg.type_num) >= 0:
        arg.itemsize = dtype.itemsize
        cnp.PyArray_ScalarAsCtype(<object>value, arg.value)
    return 0


cdef int read_operand(PyObject* value, arg_t* arg) except -1:
    """Find out what an operand is, without changing it."""
    cdef object obj
    if cnp.PyArray_CheckExact(<object>value):
        return read_array(value, arg)
    obj = <object>value
    arg.array = NULL
    arg.ndim = 0
    arg.swapped = False
    arg.weak = PyFloat_CheckExact(obj) or PyLong_CheckExact(obj) or PyComplex_CheckExact(obj)
    arg.data = <char*>arg.value
    # exact types first: asking whether an object is foreign looks up attributes
    if PyFloat_CheckExact(obj):
        arg.kind = WEAK_FLOAT
    elif PyLong_CheckExact(obj):
        arg.kind = WEAK_INT
    elif PyObject_TypeCheck(obj, &PyGenericArrType_Type):
        return read_scalar(value, arg)
    elif PyBool_Check(obj):
        arg.kind = BOOL
        arg.itemsize = 1
        (<char*>arg.value)[0] = obj is True
    elif PyComplex_CheckExact(obj):
        arg.kind = WEAK_COMPLEX
    elif PyList_CheckExact(obj) or PyTuple_CheckExact(obj):
        # at once: asking for attributes that are not there takes as long as the rest
        # (benchmarks/bench_calls.py, Lists)
        arg.kind = ANYTHING
    elif is_foreign(obj):
        arg.kind = FOREIGN
    else:
        # subclasses of Python's numbers too: NumPy takes only exact ones for weak
        arg.kind = ANYTHING
    return 0


cdef void name_native(arg_t* arg) noexcept:
    """Take a type number that stands for the same type as another (long long for long)."""
    if arg.kind == NO_LOOPS:
        arg.kind = same_element_type(arg.type_num)


cdef object shape_of(const arg_t* arg):
    return tuple([arg.size[d] for d in range(arg.ndim)])


cdef inline void set_scalar(arg_t* arg, int kind) noexcept nogil:
    """Declare that `value` holds an element of this type."""
    arg.kind = kind
    arg.itemsize = element_size[kind]


cdef void put_int(long long number, int itemsize, void* to) noexcept nogil:
    """Store the low bytes of a number as an integer of this size."""
    cdef int8_t one = <int8_t>number
    cdef int16_t two = <int16_t>number
    cdef int32_t four = <int32_t>number
    cdef const void* source = &number
    if itemsize == 1:
        source = &one
    elif itemsize == 2:
        source = &two
    elif itemsize == 4:
        source = &four
    memcpy(to, source, itemsize)


cdef bint store_int(object value, int kind, void* to) except -1:
    """Store a Python int as an element of an integer type; false if it does not fit."""
    cdef int overflow = 0
    cdef int bits = <int>(8 * element_size[kind])
    cdef unsigned long long unsigned_value
    cdef long long number = PyLong_AsLongLongAndOverflow(value, &overflow)
    if kind == UINT64 and overflow > 0:
        try:
            unsigned_value = PyLong_AsUnsignedLongLong(value)
        except OverflowError:
            return False
        memcpy(to, &unsigned_value, sizeof(unsigned_value))
        return True
    if overflow != 0:
        return False
    if kind in (UINT8, UINT16, UINT32, UINT64):
        if number < 0 or (bits < 64 and number >> bits):
            return False
    elif bits < 64 and not -(1LL << (bits - 1)) <= number < 1LL << (bits - 1):
        return False
    put_int(number, <int>element_size[kind], to)
    return True


cdef bint fit_int(object value, int kind, arg_t* arg) except -1:
    """Make an operand of a Python int; false if the type cannot hold it."""
    if not store_int(value, kind, arg.value):
        return False
    set_scalar(arg, kind)
    return True


cdef bint fit_number(PyObject* value, int kind, arg_t* arg) except -1:
    """
    Store a Python number so that it can become an element of type `kind`.

    False if it is an int that the type cannot hold. A bool is asked for by logical ops:
    they take the truth of any number but ints that NumPy cannot make an element of.
    """
    cdef object obj = <object>value
    cdef double* parts = <double*>arg.value
    if kind == BOOL:
        if arg.kind == WEAK_INT:
            put_int(PyLong_AsLongLong(obj) != 0, 1, arg.value)
        else:
            put_int(bool(obj), 1, arg.value)
        set_scalar(arg, BOOL)
        return True
    if arg.kind == WEAK_INT and kind < FLOAT16:
        return fit_int(obj, kind, arg)
    if arg.kind == WEAK_INT:
        parts[0] = PyLong_AsDouble(obj)
        set_scalar(arg, FLOAT64)
    elif arg.kind == WEAK_FLOAT:
        parts[0] = PyFloat_AS_DOUBLE(obj)
        set_scalar(arg, FLOAT64)
    else:
        parts[0] = PyComplex_RealAsDouble(obj)
        parts[1] = PyComplex_ImagAsDouble(obj)
        set_scalar(arg, COMPLEX128)
    return True


# ------------------------------------------------------------- output and layout

cdef void fill_strides(const int* order, int ndim, const Py_ssize_t* size, Py_ssize_t itemsize,
                       Py_ssize_t* stride) noexcept nogil:
    """Strides of a packed array whose axes, slowest first, are `order`."""
    cdef int i
    for i in range(ndim - 1, -1, -1):
        stride[order[i]] = itemsize
        itemsize *= size[order[i]]


cdef int change_places(const Py_ssize_t** strides, int n, int slow, int fast) noexcept nogil:
    """
    Whether two dimensions should change places: 1 yes, 0 no, -1 nobody can tell.

    An operand has a say if neither stride is 0. The first one that has decides, but
    for any that wants them as they are.
    """
    cdef int k, answer = -1
    cdef Py_ssize_t s, f
    for k in range(n):
        s = strides[k][slow]
        f = strides[k][fast]
        if s != 0 and f != 0:
            if absolute(f) <= absolute(s):
                answer = 0
            elif answer == -1:
                answer = 1
    return answer


cdef void keep_order(const placement_t* placement, const Py_ssize_t** strides, int n,
                     int* order) noexcept nogil:
    """
    order="K": the dimensions of the result, slowest first, as the operands lie.

    An insertion sort that starts from C order; two dimensions about which nobody
    can tell are stepped over, not swapped.
    """
    cdef int i, j, place, moved, verdict
    for i in range(placement.ndim):
        order[i] = i
    # from the fastest towards the slowest, each inserted among the faster ones
    for i in range(1, placement.ndim):
        moved = order[placement.ndim - 1 - i]
        place = i
        for j in range(i - 1, -1, -1):
            verdict = change_places(strides, n, moved, order[placement.ndim - 1 - j])
            if verdict == 0:
                break
            if verdict == 1:
                place = j
        for j in range(i, place, -1):
            order[placement.ndim - 1 - j] = order[placement.ndim - j]
        order[placement.ndim - 1 - place] = moved


cdef bint is_packed_c(const arg_t* arg) noexcept nogil:
    """Whether an operand lies in C order without gaps; strides along a size of 1 do no harm."""
    cdef int d
    cdef Py_ssize_t expected = arg.itemsize
    for d in range(arg.ndim - 1, -1, -1):
        if arg.size[d] != 1:
            if arg.stride[d] != expected:
                return False
            expected *= arg.size[d]
    return True


cdef bint is_packed_f(const arg_t* arg) noexcept nogil:
    """The same for Fortran order."""
    cdef int d
    cdef Py_ssize_t expected = arg.itemsize
    for d in range(arg.ndim):
        if arg.size[d] != 1:
            if arg.stride[d] != expected:
                return False
            expected *= arg.size[d]
    return True


ctypedef bint (*layout_test)(const arg_t*) noexcept nogil


# What a call works on, from the shape rules to the run.
cdef struct call_t:
    int op
    const loop_t* loop
    arg_t arg[4]               # by Role; MASK if `masked`
    bint masked
    char order                 # C, F, A or K
    bint fresh                 # `out` is allocated by the call
    int by_sign                # operand of a comparison answered by sign; 0: none
    bint squares               # x2 is the exponent 2: x1 takes its place in a product
    PyObject* report           # explain: a dict to describe the call in; else NULL
    dims_t dims
    degenerate_t degenerate
    placement_t placement
    Py_ssize_t stride[4][MAX_AXES]     # of each operand along the result's dimensions


cdef void place_operand(call_t* c, int k) noexcept nogil:
    """Strides of x1 or x2 along the result's dimensions; 0 where it is stretched."""
    cdef int d, own
    cdef const arg_t* arg = &c.arg[k]
    for d in range(c.placement.ndim):
        own = c.placement.source[k - X1][d]
        c.stride[k][d] = arg.stride[own] if own >= 0 and arg.size[own] != 1 else 0


cdef bint all_packed(const call_t* c, layout_test is_packed) noexcept nogil:
    return (is_packed(&c.arg[X1]) and is_packed(&c.arg[X2])
            and (not c.masked or is_packed(&c.arg[MASK])))


cdef bint is_unstretched(const call_t* c) noexcept nogil:
    """Whether NumPy would take this call past its iterator: no mask, and each operand
    is a scalar or has, once placed, the result's shape."""
    cdef int k, d, own
    if c.masked:
        return False
    for k in range(X1, MASK):
        for d in range(c.placement.ndim if c.arg[k].ndim > 0 else 0):
            own = c.placement.source[k - X1][d]
            if c.placement.size[d] != (c.arg[k].size[own] if own >= 0 else 1):
                return False
    return True


cdef bint count_elements(const placement_t* placement, Py_ssize_t itemsize, Py_ssize_t* count) noexcept nogil:
    """
    Number of elements of the result; false if its bytes leave 64 bits.

    An empty result is held to the same limit by its other sizes, as in NumPy.
    """
    cdef int d
    cdef bint empty = False
    cdef Py_ssize_t n = 1
    cdef Py_ssize_t limit = PY_SSIZE_T_MAX // itemsize
    for d in range(placement.ndim):
        if placement.size[d] == 0:
            empty = True
        elif n > limit // placement.size[d]:
            return False
        else:
            n *= placement.size[d]
    count[0] = 0 if empty else n
    return True


cdef char order_letter(object op, PyObject* order) except 0:
    """'C', 'F', 'A' or 'K'; the refusal is NumPy's."""
    cdef object value
    cdef int letter = 0
    if order == NULL:
        return b"K"
    value = <object>order
    if value is None:
        return b"K"
    if isinstance(value, bytes) and len(<bytes>value) == 1:
        letter = (<bytes>value)[0]
    elif isinstance(value, str) and len(<str>value) == 1:
        letter = ord(<str>value)
    if letter != 0:
        if c"a" <= letter <= c"z":
            letter -= 32
        if letter == c"C" or letter == c"F" or letter == c"A" or letter == c"K":
            return <char>letter
    raise _errors.order_letter(op, value)


cdef object new_result(call_t* c, int kind):
    """Allocate the result, laid out by the call's order."""
    cdef Py_ssize_t stride[MAX_AXES]
    cdef int axes[MAX_AXES]
    cdef const Py_ssize_t* strides[3]
    cdef int i, n = 0
    cdef int ndim = c.placement.ndim
    # explain asks how a result would lie, and never writes one: any address will do
    cdef void* nowhere = NULL if c.report == NULL else <void*>CACHE_LINE
    cdef char letter = c.order
    cdef bint c_order = letter == b"C"
    cdef PyObject* descr = <PyObject*>element_dtype(kind)
    if letter == b"A" or letter == b"K":
        if all_packed(c, is_packed_c) and (letter == b"K" or is_unstretched(c)):
            letter = b"C"
        elif all_packed(c, is_packed_f) and (letter == b"A" or is_unstretched(c)):
            letter = b"F"
        elif letter == b"A":
            letter = b"C"
        c_order = letter == b"C"
    for i in range(ndim if nowhere != NULL else 0):
        if c.placement.size[i] == 0:
            # takes no memory, and NumPy gives it strides of its own
            nowhere = NULL
    Py_INCREF(<object>descr)
    if c_order or ndim < 2:
        return new_array(descr, ndim, c.placement.size, NULL, nowhere, 0)
    if letter == b"K":
        for i in range(X1, MASK + 1 if c.masked else MASK):
            strides[n] = c.stride[i]
            n += 1
        keep_order(&c.placement, strides, n, axes)
    else:
        for i in range(ndim):
            axes[i] = ndim - 1 - i
    fill_strides(axes, ndim, c.placement.size, element_size[kind], stride)
    return new_array(descr, ndim, c.placement.size, stride, nowhere, 0)


cdef void fill_pattern(const arg_t* arg, pattern_t* pattern) noexcept nogil:
    cdef int d
    pattern.ndim = arg.ndim
    pattern.offset = <Py_ssize_t>arg.data
    pattern.itemsize = arg.itemsize
    for d in range(arg.ndim):
        pattern.size[arg.ndim - 1 - d] = arg.size[d]
        pattern.stride[arg.ndim - 1 - d] = arg.stride[d]


cdef int check_unique(object op, const arg_t* out) except -1:
    """Refuse an `out` whose elements share memory, or for which that stays open."""
    cdef pattern_t pattern
    cdef int unique
    if not is_packed_c(out):
        fill_pattern(out, &pattern)
        unique = is_unique(&pattern, OVERLAP_WORK)
        if unique != 1:
            raise _errors.out_overlaps_itself(
                op, shape_of(out), (<object>out.array).strides, unique == 0)
    return 0


cdef int check_out(object op, call_t* c) except -1:
    """Refuse an `out` of another shape, a read-only one, and one that overlaps itself."""
    cdef int d
    cdef const arg_t* out = &c.arg[OUT]
    cdef bint same = out.ndim == c.placement.ndim
    for d in range(out.ndim if same else 0):
        same &= out.size[d] == c.placement.size[d]
    if not same:
        result = tuple([c.placement.size[d] for d in range(c.placement.ndim)])
        raise _errors.out_shape(op, shape_of(out), result, shapes_of(c))
    if not is_writeable(out.array):
        raise _errors.out_read_only(op)
    check_unique(op, out)
    for d in range(out.ndim):
        c.stride[OUT][d] = out.stride[d]
    return 0


cdef int read_mask(call_t* c, PyObject* where) except -1:
    """Read `where`; a mask that is True is none."""
    cdef object value = <object>where
    c.masked = value is not True
    if value is True:
        return 0
    if value is False:
        c.arg[MASK].array = NULL
        c.arg[MASK].ndim = 0
        c.arg[MASK].itemsize = 1
        c.arg[MASK].kind = BOOL
        c.arg[MASK].swapped = False
        c.arg[MASK].value[0] = 0
        c.arg[MASK].data = <char*>c.arg[MASK].value
        return 0
    return read_array(where, &c.arg[MASK])


cdef int place_mask(object op, call_t* c) except -1:
    """A mask is a scalar or has the result's rank; it never changes the result's shape."""
    cdef int d
    cdef arg_t* mask = &c.arg[MASK]
    cdef bint fits = mask.ndim == 0 or mask.ndim == c.placement.ndim
    for d in range(mask.ndim if fits else 0):
        fits &= mask.size[d] == 1 or mask.size[d] == c.placement.size[d]
    if not fits:
        result = tuple([c.placement.size[d] for d in range(c.placement.ndim)])
        raise _errors.where_shape(op, shape_of(mask), result)
    for d in range(c.placement.ndim):
        c.stride[MASK][d] = mask.stride[d] if mask.ndim > 0 and mask.size[d] != 1 else 0
    return 0


# ------------------------------------------------------------------------ overlap

cdef bint must_copy(const call_t* c, int k) noexcept nogil:
    """
    Whether writing `out` could disturb an operand that is still to be read.

    It cannot if no byte is shared, nor if each element is read and written at one
    place: the same address, strides and size of elements.
    """
    cdef const arg_t* arg = &c.arg[k]
    cdef const arg_t* out = &c.arg[OUT]
    cdef pattern_t p, q
    cdef Py_ssize_t low1, end1, low2, end2
    cdef int d
    cdef bint same = arg.data == out.data and arg.itemsize == out.itemsize
    if arg.array == NULL:
        return False
    for d in range(c.placement.ndim if same else 0):
        same &= c.placement.size[d] == 1 or c.stride[k][d] == c.stride[OUT][d]
    if same:
        return False
    fill_pattern(arg, &p)
    fill_pattern(out, &q)
    if byte_bounds(&p, &low1, &end1) and byte_bounds(&q, &low2, &end2):
        if end1 <= low2 or end2 <= low1:
            return False
    return are_disjoint(&p, &q, OVERLAP_WORK) != 1


cdef object copy_overlapping(call_t* c):
    """Copy operands that share memory with `out`; returns what must be kept alive."""
    cdef list copies = []
    cdef int k, kind
    for k in range(X1, MASK + 1 if c.masked else MASK):
        if must_copy(c, k):
            if c.report == NULL:
                copy = cnp.PyArray_NewCopy(<cnp.ndarray>c.arg[k].array, cnp.NPY_KEEPORDER)
            else:
                # where a copy would lie is all that is asked
                copy = np.empty_like(<object>c.arg[k].array)
                (<dict>c.report)["copied"][ROLES[k]] = copy.nbytes
            copies.append(copy)
            # the kind stays what it is taken for (name_native)
            kind = c.arg[k].kind
            read_array(<PyObject*>copy, &c.arg[k])
            c.arg[k].kind = kind
            if k != MASK:
                place_operand(c, k)
            else:
                place_mask(None, c)
    return copies


# ----------------------------------------------------------------------- the plan

cdef void add_stage(operand_t* operand, int to, int source, int slot) noexcept nogil:
    """Append a conversion, if there is anything to convert."""
    cdef stage_t* stage = &operand.stage[operand.n_stages]
    if to != source:
        stage.copy = loop_table().truth[source] if to == BOOL else loop_table().convert[to][source]
        stage.itemsize = element_size[to]
        stage.slot = slot
        operand.n_stages += 1


cdef void add_swap(operand_t* operand, int kind, bint swapped) noexcept nogil:
    cdef stage_t* stage = &operand.stage[operand.n_stages]
    if swapped and loop_table().swap[kind] != NULL:
        stage.copy = loop_table().swap[kind]
        stage.itemsize = element_size[kind]
        stage.slot = OWN
        operand.n_stages += 1


cdef void fill_operand(plan_t* plan, const call_t* c, int k) noexcept nogil:
    """Tell the plan where an operand lies and what stands between it and the loop."""
    cdef operand_t* operand = &plan.operand[k]
    cdef const arg_t* arg = &c.arg[k]
    cdef int run_type = BOOL if k == MASK else c.loop.type[k]
    operand.data = arg.data
    operand.itemsize = arg.itemsize
    operand.n_stages = 0
    operand.keep_scalar = False
    operand.run_type = run_type
    operand.run_itemsize = element_size[run_type]
    operand.alignment = element_alignment[run_type]
    operand.copy = loop_table().convert[arg.kind][arg.kind]
    if arg.kind == run_type and not arg.swapped:
        return
    if k == OUT:
        # NumPy names the op, not "cast", for converting the result
        add_stage(operand, arg.kind, run_type, OWN)
        add_swap(operand, arg.kind, arg.swapped)
    elif k != MASK:
        add_swap(operand, arg.kind, arg.swapped)
        add_stage(operand, run_type, arg.kind, CAST)


cdef bint is_stretched_everywhere(const call_t* c, int k) noexcept nogil:
    cdef int d
    for d in range(c.placement.ndim):
        if c.stride[k][d] != 0:
            return False
    return True


cdef void convert_scalar(operand_t* operand, long long* space, unsigned int* warnings) noexcept nogil:
    """
    Convert a single element once, before the run.

    `space` holds two elements of at most 16 bytes each.
    """
    cdef CopyWalk walk
    cdef int s
    walk.size[0] = 1
    walk.size[1] = 1
    walk.to[0] = walk.to[1] = walk.source[0] = walk.source[1] = 0
    for s in range(operand.n_stages):
        operand.stage[s].copy(<char*>(space + 2 * (s % 2)), operand.data, &walk,
                              &warnings[operand.stage[s].slot])
        operand.data = <char*>(space + 2 * (s % 2))
    if operand.n_stages == 0:
        # NumPy's loops ask for aligned elements, and out may lie on top of this one
        memcpy(space, operand.data, operand.itemsize)
        operand.data = <char*>space
    operand.n_stages = 0
    operand.itemsize = operand.run_itemsize
    operand.copy = loop_table().convert[operand.run_type][operand.run_type]


cdef void fill_plan(plan_t* plan, const call_t* c) noexcept nogil:
    """Hand a call to the planner: the result's axes, fastest first, without unit axes."""
    cdef int d, k
    plan.table = loop_table()
    plan.run = c.loop.run
    plan.numpy_run = c.loop.numpy_run
    plan.numpy_data = c.loop.numpy_data
    plan.warning_source = c.loop.warning_source
    plan.takes_every_second = c.loop.takes_every_second
    plan.takes_gaps = c.loop.takes_gaps
    plan.squares = c.squares
    plan.masked = c.masked
    plan.writes = True
    plan.fresh = c.fresh
    plan.n = 4 if c.masked else 3
    plan.nest.n = plan.n
    plan.nest.ndim = 0
    for k in range(plan.n):
        fill_operand(plan, c, k)
        plan.nest.offset[k] = 0
    plan.operand[X2].keep_scalar = ops[c.loop.op].exponent and c.arg[X2].ndim == 0
    for d in range(c.placement.ndim - 1, -1, -1):
        if c.placement.size[d] != 1:
            plan.nest.axis[plan.nest.ndim].size = c.placement.size[d]
            for k in range(plan.n):
                plan.nest.axis[plan.nest.ndim].stride[k] = c.stride[k][d]
            plan.nest.ndim += 1


cdef int scan_exponents(const plan_t* plan, const loop_t* loop) except -1:
    """Integer power: refuse negative exponents before anything is written."""
    cdef plan_t scan
    cdef unsigned int warnings[2]
    cdef int a, k
    cdef InnerLoop look = scan_negative(loop.type[X2])
    if look == NULL:
        return 0
    memcpy(&scan, plan, sizeof(plan_t))
    warnings[OWN] = warnings[CAST] = 0
    scan.run = look
    scan.writes = scan.streams = False
    scan.warning_source = COMPUTED
    for k in range(X2):
        # nobody looks at these: neither packed nor walked
        scan.operand[k].packed = False
        for a in range(scan.nest.ndim):
            scan.nest.axis[a].stride[k] = 0
    if plan.count > RELEASE_GIL:
        with nogil:
            run_shared(&scan, warnings)
    else:
        run_shared(&scan, warnings)
    if warnings[OWN] & NEGATIVE:
        raise _errors.negative_exponent()
    return 0


cdef object tuples_of(const pattern_tuple_t* nest):
    """Sizes and strides of a nest in public order, slowest first: (shape, strides of each)."""
    axes = range(nest.ndim - 1, -1, -1)
    return (tuple([nest.axis[a].size for a in axes]),
            [tuple([nest.axis[a].stride[k] for a in axes]) for k in range(nest.n)])


cdef int describe_plan(const plan_t* plan, dict report) except -1:
    """Write a plan down for explain, which shows it."""
    cdef int k
    roles = ROLES[:plan.n]
    shape, strides = tuples_of(&plan.nest)
    packed = tuple([roles[k] for k in range(plan.n)
                    if plan.operand[k].packed and not (k == X2 and plan.squares)])
    report.update(
        count=plan.count,
        nest_shape=shape,
        nest_strides=dict(zip(roles, strides, strict=True)),
        nest_offsets={roles[k]: plan.nest.offset[k] for k in range(plan.n)},
        nest_itemsizes={roles[k]: plan.operand[k].itemsize for k in range(plan.n)},
        packed=packed,
        streams=bool(plan.streams),
        takes_every_second=bool(plan.takes_every_second),
        takes_gaps=bool(plan.takes_gaps),
        scratch_bytes=plan.scratch if plan.packs else 0,
        steps={roles[k]: plan.operand[k].n_stages for k in range(plan.n)},
        block=(plan.block[1], plan.block[0]) if plan.packs else None,
        threads=threads_for(plan),
    )
    return 0


cdef int give_warnings(int op, unsigned int warnings) except -1:
    """Report bits of Warning as the errstate of the moment asks for; it may raise."""
    return PyUFunc_GiveFloatingpointErrors(ops[op].name, <int>warnings)


cdef void square(call_t* c) noexcept nogil:
    """Put x1, which is placed and copied if it has to be, in the place of x2."""
    c.arg[X2] = c.arg[X1]
    memcpy(c.stride[X2], c.stride[X1], sizeof(c.stride[X1]))


cdef int run_call(call_t* c, Py_ssize_t count) except -1:
    """Plan and run; afterwards give the warnings that NumPy would give."""
    cdef plan_t plan
    cdef unsigned int warnings[2]
    cdef unsigned int found[2]
    cdef long long space[2][4]
    cdef int k
    warnings[OWN] = warnings[CAST] = 0
    plan.count = count
    if c.squares:
        square(c)
    fill_plan(&plan, c)
    for k in range(X1, MASK):
        # one of rank 0 is converted, and may warn, even if there is nothing to compute
        if c.arg[k].ndim == 0 or (count != 0 and is_stretched_everywhere(c, k)):
            found[OWN] = found[CAST] = 0
            convert_scalar(&plan.operand[k], space[k - X1], found)
            if c.arg[k].array == NULL and c.arg[k].weak:
                # NumPy makes an element of a Python number without a word on underflow
                found[CAST] &= ~<unsigned int>UNDERFLOW
            warnings[OWN] |= found[OWN]
            warnings[CAST] |= found[CAST]
    if count == 0:
        if warnings[CAST] and c.report == NULL:
            PyUFunc_GiveFloatingpointErrors("cast", <int>warnings[CAST])
        return 0
    make_plan(&plan)
    if c.report != NULL:
        describe_plan(&plan, <dict>c.report)
        return 0
    if ops[c.loop.op].exponent:
        scan_exponents(&plan, c.loop)
    if count > RELEASE_GIL:
        with nogil:
            run_shared(&plan, warnings)
    else:
        run_shared(&plan, warnings)
    if warnings[CAST]:
        PyUFunc_GiveFloatingpointErrors("cast", <int>warnings[CAST])
    if warnings[OWN]:
        give_warnings(c.op, warnings[OWN])
    return 0


# ----------------------------------------------------------------------- the call

cdef object shapes_of(const call_t* c):
    return shape_of(&c.arg[X1]), shape_of(&c.arg[X2])


cdef int place(object op, call_t* c, const keywords_t* keywords) except -1:
    """Apply the shape rules; BroadcastError where they are broken."""
    cdef shape_t shape[2]
    cdef fault_t fault
    cdef int k
    for k in range(2):
        shape[k].ndim = c.arg[X1 + k].ndim
        shape[k].size = c.arg[X1 + k].size
    if not infer_shape(shape, &c.dims, &c.degenerate, &c.placement, &fault):
        raise fault_error(
            op, shapes_of(c),
            None if keywords.broadcast_dimensions == NULL else <object>keywords.broadcast_dimensions,
            None if keywords.degenerate_dimensions == NULL else <object>keywords.degenerate_dimensions,
            &c.placement, &fault)
    return 0


cdef int describe_call(const call_t* c, int kind, PyObject* out, dict report) except -1:
    """Write down for explain what the shape rules and the output make of a call."""
    cdef int d, k
    types = [c.loop.type[k] for k in range(3)]
    report.update(
        loop_op=OP_NAMES[c.loop.op],
        squares=bool(c.squares),
        loop_dtypes=tuple([ELEMENTS[t] for t in types]),
        own_loop=c.loop.run != NULL,
        warnings={NEVER: "never", HARDWARE: "hardware", COMPUTED: "computed"}[c.loop.warning_source],
        result_shape=tuple([c.placement.size[d] for d in range(c.placement.ndim)]),
        sources=tuple([tuple([c.placement.source[k][d] for d in range(c.placement.ndim)])
                       for k in range(2)]),
        shapes=(shape_of(&c.arg[X1]), shape_of(&c.arg[X2])),
        result_dtype=ELEMENTS[kind],
        out_given=out != NULL and out != Py_Ellipsis,
        masked=bool(c.masked),
        copied={},
    )
    return 0


cdef int describe_operands(const call_t* c, dict report) except -1:
    """Write down for explain where operands and result lie, once they are placed."""
    cdef int d, k
    roles = ROLES[:4 if c.masked else 3]
    report.update(
        placed_strides={
            role: tuple([c.stride[k][d] for d in range(c.placement.ndim)])
            for k, role in enumerate(roles)
        },
        addresses={role: <Py_ssize_t>c.arg[k].data for k, role in enumerate(roles)},
        itemsizes={role: c.arg[k].itemsize for k, role in enumerate(roles)},
        memory_dtypes={role: ELEMENTS[c.arg[k].kind] for k, role in enumerate(roles)},
        swapped=tuple([role for k, role in enumerate(roles) if c.arg[k].swapped]),
    )
    return 0


cdef bint is_two(const arg_t* arg) noexcept nogil:
    """Whether an operand is the number 2, of rank 0."""
    cdef CopyWalk walk
    cdef double value
    cdef unsigned int ignored = 0
    if arg.ndim != 0 or arg.swapped or not BOOL < arg.kind < COMPLEX64:
        return False
    walk.size[0] = walk.size[1] = 1
    walk.to[0] = walk.to[1] = walk.source[0] = walk.source[1] = 0
    loop_table().convert[FLOAT64][arg.kind](<char*>&value, arg.data, &walk, &ignored)
    return value == 2


cdef int find_square(call_t* c) except -1:
    """
    Take the loop of a product for a power of two, as NumPy's loops do for one of rank 0.

    Half of NumPy's time for float64 in cache, less for float32 and small integers
    (benchmarks/bench_ops.py, Squares). Of float16 and complex numbers NumPy takes a
    power, which may round otherwise.
    """
    cdef const loop_t* product
    cdef int element = c.loop.type[X1]
    c.squares = False
    if (ops[c.op].square >= 0 and BOOL < element < COMPLEX64 and element != FLOAT16
            and c.loop.type[X2] == element and is_two(&c.arg[X2])):
        product = choose_loop(ops[c.op].square, element, element)
        if product.type[OUT] == c.loop.type[OUT]:
            c.squares = True
            c.loop = product
    return 0


cdef object finish(call_t* c, object op, const keywords_t* keywords, PyObject* out):
    """
    Everything after loop choice: shapes, output, run.

    `out` is an exact array, Ellipsis or NULL; `c.arg` are filled, numbers converted.
    """
    cdef Py_ssize_t count
    cdef int kind = c.loop.type[OUT]
    cdef object result, kept = None
    cdef long long space[2]
    cdef int d
    place(op, c, keywords)
    find_square(c)
    place_operand(c, X1)
    place_operand(c, X2)
    if c.masked:
        place_mask(op, c)
    c.fresh = out == NULL or out == Py_Ellipsis
    if not c.fresh:
        check_out(op, c)
        kind = c.arg[OUT].kind
    if c.report != NULL:
        describe_call(c, kind, out, <dict>c.report)
    if not count_elements(&c.placement, element_size[kind], &count):
        result = tuple([c.placement.size[d] for d in range(c.placement.ndim)])
        raise _errors.result_too_large(op, result, element_size[kind], shapes_of(c))
    if not c.fresh:
        hide_elements(c)
        kept = copy_overlapping(c) if count != 0 else None
        run_call(c, count)
        return <object>out
    if c.placement.ndim == 0 and out == NULL:
        # a scalar result needs no array
        hide_elements(c)
        space[0] = space[1] = 0
        c.arg[OUT].array = NULL
        c.arg[OUT].kind = kind
        c.arg[OUT].swapped = False
        c.arg[OUT].ndim = 0
        c.arg[OUT].itemsize = element_size[kind]
        c.arg[OUT].data = <char*>space
        run_call(c, 1)
        return new_scalar(space, element_dtype(kind))
    result = new_result(c, kind)
    read_array(<PyObject*>result, &c.arg[OUT])
    for d in range(c.placement.ndim):
        c.stride[OUT][d] = c.arg[OUT].stride[d]
    if c.masked and c.report == NULL:
        memset(c.arg[OUT].data, 0, count * c.arg[OUT].itemsize)
    hide_elements(c)
    run_call(c, count)
    return result


cdef object hand_over(int op, object x1, object x2, const keywords_t* keywords, PyObject* report):
    """Let NumPy's ufunc take the call, after our shape rules."""
    cdef arg_t arg
    arguments = {}
    if keywords.out != NULL:
        arguments["out"] = <object>keywords.out
        if isinstance(<object>keywords.out, np.ndarray):
            read_array(keywords.out, &arg)
            check_unique(OP_NAMES[op], &arg)
    if keywords.broadcast_dimensions != NULL:
        arguments["broadcast_dimensions"] = <object>keywords.broadcast_dimensions
    if keywords.degenerate_dimensions != NULL:
        arguments["degenerate_dimensions"] = <object>keywords.degenerate_dimensions
    if keywords.where != NULL:
        arguments["where"] = <object>keywords.where
    if keywords.casting != NULL:
        arguments["casting"] = <object>keywords.casting
    if keywords.order != NULL:
        arguments["order"] = <object>keywords.order
    if keywords.dtype != NULL:
        arguments["dtype"] = <object>keywords.dtype
    if keywords.subok != NULL:
        arguments["subok"] = <object>keywords.subok
    if keywords.signature != NULL:
        arguments["signature"] = <object>keywords.signature
    if report != NULL:
        return _numpy_path.describe(<dict>report, OP_NAMES[op], NUMPY_UFUNCS[op], x1, x2,
                                    **arguments)
    return _numpy_path.call(OP_NAMES[op], NUMPY_UFUNCS[op], x1, x2, **arguments)


cdef object kind_of(object x):
    """What NumPy's promotion is told about an operand: a dtype, or a Python number's type."""
    if type(x) in (int, float, complex):
        return type(x)
    if isinstance(x, (np.ndarray, np.generic)):
        return x.dtype
    return np.result_type(x) if isinstance(x, bool) else None


cdef bint may_cast(const arg_t* arg, int element, int casting) noexcept:
    """Whether casting lets an array become an element type; of numbers can_become says so."""
    return arg.kind >= N_TYPES or can_cast(element_dtype(arg.kind), element_dtype(element), casting)


cdef bint find_asked_in_tables(call_t* c, const keywords_t* keywords, object x1, object x2,
                               object out) except? True:
    """
    As find_asked, where the choice tables have the answer; else return False.

    They have it for native dtypes, and for Python numbers under the usual casting.
    """
    cdef int casting = SAME_KIND, kind_of_out = -1
    cdef int k, element
    cdef cnp.dtype dtype
    if keywords.signature != NULL or NUMPY_UFUNCS[c.op] is None:
        return False
    try:
        if keywords.casting != NULL:
            casting = casting_of(<object>keywords.casting)
        if keywords.dtype != NULL:
            dtype = dtype_of(<object>keywords.dtype)
    except (TypeError, ValueError):
        return False               # no such casting or dtype, which NumPy says when it is called
    # a dtype may be a property of the caller's, which has run now
    read_operand(<PyObject*>x1, &c.arg[X1])
    read_operand(<PyObject*>x2, &c.arg[X2])
    for k in range(X1, MASK):
        if c.arg[k].kind < 0 or c.arg[k].swapped:
            return False
    if out is not None and out is not Ellipsis:
        if not is_exact_array(<PyObject*>out) or not is_native(<PyObject*>out):
            return False
        kind_of_out = element_type(type_of(<PyObject*>out))
        if kind_of_out < 0:
            return False
    if casting != SAME_KIND and max(c.arg[X1].kind, c.arg[X2].kind) >= N_TYPES:
        return False
    if keywords.dtype == NULL:
        c.loop = choose_loop(c.op, c.arg[X1].kind, c.arg[X2].kind)
    else:
        element = element_type(dtype.type_num)
        if element < 0 or not dtype.isnative:
            return False
        c.loop = choose_loop_into(c.op, c.arg[X1].kind, c.arg[X2].kind, element)
    if c.loop != NULL:
        for k in range(X1, MASK):
            if not may_cast(&c.arg[k], c.loop.type[k], casting):
                c.loop = NULL
                return True
        if kind_of_out >= 0 and not can_cast(
                element_dtype(c.loop.type[OUT]), element_dtype(kind_of_out), casting):
            c.loop = NULL
    return True


cdef bint find_asked(call_t* c, const keywords_t* keywords, object x1, object x2, object out) except? True:
    """
    Find the loop that `dtype=`, `signature=` and `casting=` ask for; False if they have no say.

    It is NULL where NumPy must take the call. To ask may run the caller's code.
    """
    c.loop = NULL
    casting = "same_kind" if keywords.casting == NULL else <object>keywords.casting
    if keywords.signature == NULL and keywords.dtype == NULL and casting == "same_kind":
        return False
    if find_asked_in_tables(c, keywords, x1, x2, out):
        return True
    kinds = kind_of(x1), kind_of(x2), out.dtype if isinstance(out, np.ndarray) else None
    if kinds[0] is None or kinds[1] is None:
        return True
    types = explicit_types(
        c.op, kinds,
        None if keywords.signature == NULL else <object>keywords.signature,
        None if keywords.dtype == NULL else <object>keywords.dtype,
        casting)
    if types is not None:
        c.loop = find_loop(c.op, types[0], types[1])
    return True


cdef bint can_become(int kind, int element) noexcept nogil:
    """Whether an operand of this kind, a Python number included, converts to a loop's type."""
    if kind == WEAK_INT:
        # as an int of the loop's own type, else by way of float64
        kind = element if BOOL < element < FLOAT16 else FLOAT64
    elif kind == WEAK_FLOAT:
        kind = FLOAT64
    elif kind == WEAK_COMPLEX:
        kind = COMPLEX128
    return loop_table().convert[element][kind] != NULL


cdef int convert_numbers(call_t* c, PyObject* x1, PyObject* x2) except -1:
    """
    Turn Python numbers into elements of the loop's types.

    OverflowError, in NumPy's words, where an int does not fit.
    """
    if c.arg[X1].kind >= N_TYPES and not fit_number(x1, c.loop.type[X1], &c.arg[X1]):
        refuse_int(<object>x1, <object>element_dtype(c.loop.type[X1]))
    if c.arg[X2].kind >= N_TYPES and not fit_number(x2, c.loop.type[X2], &c.arg[X2]):
        refuse_int(<object>x2, <object>element_dtype(c.loop.type[X2]))
    return 0


cdef int refuse_int(object value, object dtype) except -1:
    np.array(value, dtype)
    raise OverflowError(f"Python integer {value} out of bounds for {dtype}")


cdef int out_of_range(PyObject* value, const arg_t* number, const arg_t* other) except -2:
    """Sign of a Python int beside an integer operand that cannot hold it; 0 otherwise."""
    cdef arg_t probe
    if number.kind != WEAK_INT or not BOOL <= other.kind <= UINT64:
        return 0
    # NumPy's default integer stands in for bool
    if fit_int(<object>value, INT64 if other.kind == BOOL else other.kind, &probe):
        return 0
    return 1 if <object>value > 0 else -1


cdef void answer_by_sign(call_t* c, int number, int sign) noexcept nogil:
    """
    Make a comparison with an int out of range one of 0 with a number of its sign.

    The answer is the same for every element. The other operand keeps its shape and
    strides until the result is laid out; hide_elements then makes it a single 0.
    """
    c.by_sign = X1 + X2 - number
    c.arg[c.by_sign].kind = INT8
    c.arg[c.by_sign].swapped = False
    put_int(sign, 1, c.arg[number].value)
    set_scalar(&c.arg[number], INT8)


cdef object zeros_for(PyObject* report, object x):
    """Zeros in place of an operand answered by sign; explain takes no memory for them."""
    if report == NULL:
        return np.zeros_like(x, np.int8)
    return np.broadcast_to(np.int8(0), x.shape)


cdef inline void hide_elements(call_t* c) noexcept nogil:
    cdef arg_t* arg = &c.arg[c.by_sign]
    cdef int d
    if c.by_sign == 0:
        return
    arg.value[0] = 0
    arg.data = <char*>arg.value
    arg.array = NULL
    arg.itemsize = 1
    for d in range(c.placement.ndim):
        c.stride[c.by_sign][d] = 0


cdef object as_mask(object where):
    """A mask as NumPy takes it: bool, or what becomes bool safely."""
    if where is True or where is False:
        return where
    if isinstance(where, np.bool):
        return bool(where)
    if isinstance(where, np.ndarray):
        return np.asarray(where).astype(bool, casting="safe", copy=False)
    return np.asarray(where, dtype=bool)


cdef object as_out(object op, object out):
    """`out` as an array, Ellipsis or None, whether or not it came in a tuple."""
    if isinstance(out, tuple):
        if len(out) != 1:
            raise _errors.out_tuple(op, len(out))
        out = out[0]
    if out is None or out is Ellipsis or isinstance(out, np.ndarray):
        return out
    if is_foreign(out) and not isinstance(out, np.generic):
        return out
    raise _errors.out_kind(op, out)


cdef object call(int op, PyObject* x1, PyObject* x2, const keywords_t* given):
    """
    Carry out one call of an op.

    Before: borrowed operands and keywords, NULL for a keyword that was left out.
    After: the result, or an exception; nothing was written if the exception is about
    the arguments.
    """
    return call_or_report(op, x1, x2, given, NULL)


cdef object report_call(int op, PyObject* x1, PyObject* x2, const keywords_t* given, dict report):
    """
    Prepare a call as `call` does, and describe it in `report` instead of running it.

    What NumPy's ufunc would be handed leaves `report` without a plan.
    """
    call_or_report(op, x1, x2, given, <PyObject*>report)


cdef object call_or_report(int op, PyObject* x1, PyObject* x2, const keywords_t* given,
                           PyObject* report):
    cdef call_t c
    cdef keywords_t keywords = given[0]
    cdef object name = OP_NAMES[op]
    cdef object first, second, mask, dims, degenerate, out = None
    cdef bint has_out = False
    cdef bint ours, asked = False
    cdef int sign
    c.op = op
    c.loop = NULL
    c.masked = False
    c.by_sign = 0
    c.report = report
    c.dims.form = IN_DIM
    c.dims.n[0] = 0
    c.degenerate.given = False
    # First whatever may run the caller's code, which may change any array; the arrays
    # are read after that.
    if keywords.broadcast_dimensions != NULL:
        dims = parse_dims(name, <object>keywords.broadcast_dimensions, &c.dims)
        keywords.broadcast_dimensions = NULL if dims is None else <PyObject*>dims
    if keywords.degenerate_dimensions != NULL:
        degenerate = parse_degenerate(name, <object>keywords.degenerate_dimensions, &c.degenerate)
        keywords.degenerate_dimensions = NULL if degenerate is None else <PyObject*>degenerate
    c.order = order_letter(name, keywords.order)
    if keywords.subok != NULL and not PyBool_Check(<object>keywords.subok):
        raise _errors.subok_kind(name, <object>keywords.subok)
    # None is the default of both
    if keywords.dtype == <PyObject*>None:
        keywords.dtype = NULL
    if keywords.signature == <PyObject*>None:
        keywords.signature = NULL
    if keywords.dtype != NULL and keywords.signature != NULL:
        raise _errors.dtype_and_signature(name)
    if keywords.where != NULL:
        mask = as_mask(<object>keywords.where)
        keywords.where = <PyObject*>mask
    if keywords.out != NULL:
        out = as_out(name, <object>keywords.out)
        keywords.out = NULL if out is None else <PyObject*>out
        has_out = out is not None and out is not Ellipsis
    read_operand(x1, &c.arg[X1])
    read_operand(x2, &c.arg[X2])
    if c.arg[X1].kind == ANYTHING or c.arg[X2].kind == ANYTHING:
        if c.arg[X1].kind == ANYTHING:
            first = np.asarray(<object>x1)
            x1 = <PyObject*>first
        if c.arg[X2].kind == ANYTHING:
            second = np.asarray(<object>x2)
            x2 = <PyObject*>second
        read_operand(x1, &c.arg[X1])
        read_operand(x2, &c.arg[X2])
    if keywords.dtype != NULL or keywords.signature != NULL or keywords.casting != NULL:
        asked = find_asked(&c, &keywords, <object>x1, <object>x2, out)
        read_operand(x1, &c.arg[X1])
        read_operand(x2, &c.arg[X2])
    if keywords.where != NULL:
        read_mask(&c, keywords.where)
    if ops[op].compares:
        # never NumPy's: releases up to 2.5 crash on such an int with a mask
        sign = out_of_range(x1, &c.arg[X1], &c.arg[X2])
        if sign != 0:
            answer_by_sign(&c, X1, sign)
        else:
            sign = out_of_range(x2, &c.arg[X2], &c.arg[X1])
            if sign != 0:
                answer_by_sign(&c, X2, sign)
    if NUMPY_UFUNCS[op] is None:
        name_native(&c.arg[X1])
        name_native(&c.arg[X2])
    ours = c.arg[X1].kind >= 0 and c.arg[X2].kind >= 0
    if has_out:
        ours = ours and cnp.PyArray_CheckExact(out)
        if ours:
            read_array(<PyObject*>out, &c.arg[OUT])
            if NUMPY_UFUNCS[op] is None:
                name_native(&c.arg[OUT])
            ours = c.arg[OUT].kind >= 0
    if ours and not asked:
        c.loop = choose_loop(op, c.arg[X1].kind, c.arg[X2].kind)
    elif ours and c.loop != NULL:
        # a cast that only "unsafe" allows is NumPy's to make
        ours = can_become(c.arg[X1].kind, c.loop.type[X1]) and can_become(c.arg[X2].kind, c.loop.type[X2])
    if not ours or c.loop == NULL or (has_out and loop_table().convert[c.arg[OUT].kind][c.loop.type[OUT]] == NULL):
        if c.by_sign == X1:
            first, second = zeros_for(c.report, <object>x1), np.int8(sign)
            return hand_over(op, first, second, &keywords, report)
        if c.by_sign == X2:
            first, second = np.int8(sign), zeros_for(c.report, <object>x2)
            return hand_over(op, first, second, &keywords, report)
        return hand_over(op, <object>x1, <object>x2, &keywords, report)
    convert_numbers(&c, x1, x2)
    if report == NULL:
        return finish(&c, name, &keywords, keywords.out)
    finish(&c, name, &keywords, keywords.out)
    describe_operands(&c, <dict>report)


# ------------------------------------------------------------- a view, not a call

def broadcast_in_dim(x, shape, broadcast_dimensions):
    """
    Place an array within a larger shape, without copying.

    Dimension ``i`` of `x` becomes dimension ``broadcast_dimensions[i]`` of the result;
    the dimensions that are not named, and those in which `x` has size 1, are
    stretched by a stride of 0. The meaning is that of XLA's BroadcastInDim and
    StableHLO's broadcast_in_dim; the entries increase, as XLA asks.

    Parameters
    ----------
    x : array_like
        Any array, of rank at most that of the result.
    shape : sequence of int
        The result's shape (elements per dimension).
    broadcast_dimensions : sequence of int
        One dimension of the result per dimension of `x`, strictly increasing.

    Returns
    -------
    ndarray
        A read-only view of `x` of the given shape and the same dtype; several of its
        elements may lie at one address. A subclass stays one.

    Raises
    ------
    BroadcastError
        If the dimensions do not place `x` (rules B4 to B7).
    TypeError
        If an argument is of the wrong kind.

    Examples
    --------
    >>> import numpy as np
    >>> import xbcast
    >>> xbcast.broadcast_in_dim(np.array([1, 2]), (2, 3), (0,))
    array([[1, 1, 1],
           [2, 2, 2]])
    """
    cdef arg_t arg
    cdef shape_t own
    cdef placement_t placement
    cdef Py_ssize_t stride[MAX_AXES]
    cdef Py_ssize_t count
    cdef int d, source
    cdef object array = x if isinstance(x, np.ndarray) else np.asarray(x)
    cdef cnp.dtype dtype = array.dtype
    read_array(<PyObject*>array, &arg)
    own.ndim = arg.ndim
    own.size = arg.size
    parse_in_dim(shape, broadcast_dimensions, &own, &placement)
    if not count_elements(&placement, 1, &count):
        result = tuple([placement.size[d] for d in range(placement.ndim)])
        raise _errors.result_too_large("broadcast_in_dim", result, 1, (shape_of(&arg), result))
    for d in range(placement.ndim):
        source = placement.source[0][d]
        stride[d] = arg.stride[source] if source >= 0 and arg.size[source] != 1 else 0
    Py_INCREF(dtype)
    result = new_array(<void*>dtype, placement.ndim, placement.size, stride, arg.data, 0)
    Py_INCREF(array)
    keep_alive(result, <PyObject*>array)
    return result if type(array) is np.ndarray else _numpy_path.like_subclass(result, array)


cdef int set_up() except -1:
    global ops
    cdef Py_ssize_t i
    ops = <op_t*>calloc(len(OPS), sizeof(op_t))
    if ops == NULL:
        raise MemoryError
    for i, op in enumerate(OPS):
        op_names.append(op.name.encode())
        ops[i].name = op_names[i]
        # the ops with loops of their own for int64 against uint64 are the comparisons
        ops[i].compares = MIXED in op.kernels
        ops[i].exponent = op.exponent
        ops[i].square = -1 if op.square is None else OP_NAMES.index(op.square)
    return 0


set_up()
