# The strided-layout algebra: C functions on the structs of _pattern.pxd, which
# the planner calls, and the Python classes Pattern and PatternTuple on top of
# the same functions. Uses no NumPy; of other modules _search and _memory_sets, _errors,
# and _svg to draw. What a plan does with a reduced tuple is left to _plan; what an
# array is, to _core.
#
# Words. M(p) is the set of memory indices of a pattern: the bytes at which its
# elements start. B(p) is the set of bytes that the elements cover. An axis of
# `size` elements has `size - 1` steps; searches count in steps, because a step
# count multiplies a stride without a correction.

# cython: language_level=3, cdivision=True, boundscheck=False, wraparound=False
# cython: initializedcheck=False, freethreading_compatible=True
# cython: embedsignature=True, embedsignature.format=clinic, autotestdict=False

cimport cython
from cpython.buffer cimport (
    PyBUF_STRIDES, PyBuffer_Release, PyObject_CheckBuffer, PyObject_GetBuffer,
)
from cpython.object cimport PyObject_RichCompare
from libc.stdlib cimport free

from xbcast import _errors
from xbcast._integers cimport (
    PY_SSIZE_T_MAX, XB_HAVE_WIDE, absolute, greatest_common_divisor, integer, wide,
    xb_add_overflows, xb_mul_overflows, xb_sub_overflows,
)
from xbcast._memory_sets cimport (
    DONE, FOUND, NO_MEMORY, UNDECIDED, are_equal, canonicalize, combine_any, find_union,
    init_pieces, is_subset, join_pieces, locate, pieces_t, push_axis, read_piece,
    reduce_set, remove_axis, set_t,
)
from xbcast._search cimport MAX_SEARCH_AXES, search

# Below this span, twice the span of one pattern and the spans of two together
# stay far inside 64 bits.
cdef Py_ssize_t NARROW_SPAN = (<Py_ssize_t> 1) << 60


# Bounds -------------------------------------------------------------------

# The least and greatest memory index; 1, or 0 if they leave 64 bits. The
# pattern must not be empty. The stride of a unit axis is never used, so it may
# be anything.
cdef inline bint index_bounds(const pattern_t* p, Py_ssize_t* lowest,
                              Py_ssize_t* highest) noexcept nogil:
    cdef Py_ssize_t low = p.offset, high = p.offset, reach
    cdef int i
    for i in range(p.ndim):
        if p.size[i] == 1:
            continue
        if xb_mul_overflows(p.size[i] - 1, p.stride[i], &reach):
            return False
        if reach < 0:
            if xb_add_overflows(low, reach, &low):
                return False
        elif xb_add_overflows(high, reach, &high):
            return False
    lowest[0] = low
    highest[0] = high
    return True


cdef inline bint is_empty(const pattern_t* p) noexcept nogil:
    cdef int i
    for i in range(p.ndim):
        if p.size[i] == 0:
            return True
    return False


cdef bint byte_bounds(const pattern_t* p, Py_ssize_t* lowest, Py_ssize_t* end) noexcept nogil:
    cdef Py_ssize_t high, span
    if is_empty(p):
        lowest[0] = end[0] = p.offset
        return True
    # The span must fit as well: then |stride| of a walked axis does too, and
    # any axis can be flipped.
    return (index_bounds(p, lowest, &high)
            and not xb_add_overflows(high, p.itemsize, end)
            and not xb_sub_overflows(end[0], lowest[0], &span))


# Whether a set of this pattern can be worked on at all.
cdef inline bint fits_search(const pattern_t* p) noexcept nogil:
    cdef Py_ssize_t lowest, end
    return XB_HAVE_WIDE or (byte_bounds(p, &lowest, &end) and end - lowest < NARROW_SPAN)


# The reduced tuple --------------------------------------------------------

# Whether axis `a` comes before axis `b`: absolute strides, first pattern first.
# Where these tie, signs and then sizes decide, so that the reduced form does
# not depend on the order in which the axes came.
cdef inline bint comes_before(const axis_t* a, const axis_t* b, int n) noexcept nogil:
    cdef Py_ssize_t s, t
    cdef int k
    for k in range(n):
        s = absolute(a.stride[k])
        t = absolute(b.stride[k])
        if s != t:
            return s < t
    for k in range(n):
        if a.stride[k] != b.stride[k]:
            return a.stride[k] > b.stride[k]
    return a.size < b.size


cdef inline void copy_axis(axis_t* to, const axis_t* source, int n) noexcept nogil:
    cdef int k
    to.size = source.size
    for k in range(n):
        to.stride[k] = source.stride[k]


cdef inline bint merges(const axis_t* inner, const axis_t* outer, int n) noexcept nogil:
    cdef Py_ssize_t reach
    cdef int k
    for k in range(n):
        if xb_mul_overflows(inner.size, inner.stride[k], &reach):
            return False
        if reach != outer.stride[k]:
            return False
    return True


# Whether the first pattern that moves along the axis has a negative stride.
cdef inline bint runs_backwards(const axis_t* a, int n) noexcept nogil:
    cdef int k
    for k in range(n):
        if a.stride[k]:
            return a.stride[k] < 0
    return False


# Moves the last of the first `end` axes to its place; those before it are sorted.
cdef inline void sink(axis_t* axes, int end, int n) noexcept nogil:
    cdef axis_t axis
    cdef int i = end - 1
    if i == 0 or not comes_before(&axes[i], &axes[i - 1], n):
        return
    copy_axis(&axis, &axes[i], n)
    while i and comes_before(&axis, &axes[i - 1], n):
        copy_axis(&axes[i], &axes[i - 1], n)
        i -= 1
    copy_axis(&axes[i], &axis, n)


cdef void reduce_tuple(pattern_tuple_t* t) noexcept nogil:
    cdef int n = t.n, ndim = 0, i, j, k
    cdef axis_t* a
    cdef bint merged = False
    # Drop, flip and sort, in place: no axis is overwritten before it is read.
    for i in range(t.ndim):
        a = &t.axis[i]
        if a.size == 1:
            continue
        if runs_backwards(a, n):
            for k in range(n):
                t.offset[k] += (a.size - 1) * a.stride[k]
                a.stride[k] = -a.stride[k]
        if ndim != i:
            copy_axis(&t.axis[ndim], a, n)
        ndim += 1
        sink(t.axis, ndim, n)
    # Merge. The partner of an axis lies after it, but not always next to it: a
    # pattern that overlaps itself can have a stride between the two.
    i = 0
    while i < ndim:
        j = i + 1
        while j < ndim:
            if merges(&t.axis[i], &t.axis[j], n):
                t.axis[i].size *= t.axis[j].size
                for k in range(j + 1, ndim):
                    copy_axis(&t.axis[k - 1], &t.axis[k], n)
                ndim -= 1
                merged = True
            else:
                j += 1
        i += 1
    # Axes of equal strides are ordered by size, which merging changes.
    if merged:
        for i in range(2, ndim + 1):
            sink(t.axis, i, n)
    t.ndim = ndim


# Shared bytes -------------------------------------------------------------
#
# Every question about them is one of _search: the bytes of an element are the width
# of the window [lo, hi].

# The axes that move, as coefficients and step counts, behind the n that are there.
cdef inline int add_axes(const pattern_t* p, integer* c, integer* m, int n) noexcept nogil:
    cdef int i
    for i in range(p.ndim):
        if p.size[i] > 1 and p.stride[i]:
            c[n] = absolute(p.stride[i])
            m[n] = p.size[i] - 1
            n += 1
    return n


# 1 if a byte is shared, 0 if none, -1 if undecided; `integer` is the type of
# `gap`, the greatest index of q less the least of p.
cdef int search_shared(integer gap, const pattern_t* p, const pattern_t* q,
                       Py_ssize_t max_work) noexcept nogil:
    cdef integer c[MAX_SEARCH_AXES]
    cdef integer m[MAX_SEARCH_AXES]
    cdef int n = add_axes(q, c, m, add_axes(p, c, m, 0))
    # x - y for an element x of p and y of q, where y is counted down from its
    # greatest: bytes meet if it is in (-p.itemsize, q.itemsize).
    return search(c, m, n, gap - <integer> (p.itemsize - 1), gap + <integer> (q.itemsize - 1),
                  &max_work)


cdef int are_disjoint(const pattern_t* p, const pattern_t* q, Py_ssize_t max_work) noexcept nogil:
    cdef Py_ssize_t p_lowest = 0, p_end = 0, q_lowest = 0, q_end = 0
    cdef int shared
    if not byte_bounds(p, &p_lowest, &p_end) or not byte_bounds(q, &q_lowest, &q_end):
        return -1
    # Also where one is empty or its elements have no bytes.
    if p_end <= q_lowest or q_end <= p_lowest or p_lowest == p_end or q_lowest == q_end:
        return 1
    if p.itemsize == 0 or q.itemsize == 0:
        return 1
    if p_end - p_lowest < NARROW_SPAN and q_end - q_lowest < NARROW_SPAN:
        shared = search_shared[Py_ssize_t](q_end - q.itemsize - p_lowest, p, q, max_work)
    elif XB_HAVE_WIDE:
        shared = search_shared[wide](<wide> (q_end - q.itemsize) - <wide> p_lowest, p, q, max_work)
    else:
        shared = -1
    return shared if shared < 0 else not shared


# Whether two elements of a pattern share a byte: 1, 0 or -1. Given are its
# axes that move (coefficients sorted); `one` chooses the integer type.
#
# Two elements differ by a sum of c[i] * d[i] with |d[i]| <= m[i]. Let k be the
# last axis with d[k] != 0, which may be taken positive.
cdef int search_repeat(integer one, const Py_ssize_t* c, const Py_ssize_t* m, int n,
                       Py_ssize_t itemsize, Py_ssize_t max_work) noexcept nogil:
    cdef integer coefficient[MAX_SEARCH_AXES]
    cdef integer steps[MAX_SEARCH_AXES]
    cdef integer reach = 0, item = itemsize
    cdef int i, k, found
    for k in range(n):
        # An axis that clears all bytes below it repeats none of them.
        if reach + item > <integer> c[k]:
            for i in range(k):
                coefficient[i] = c[i]
                steps[i] = <integer> m[i] + <integer> m[i]
            coefficient[k] = c[k]
            steps[k] = <integer> m[k] - one
            found = search(coefficient, steps, k + 1, reach - <integer> c[k] - item + one,
                           reach - <integer> c[k] + item - one, &max_work)
            if found:
                return found
        reach += <integer> c[k] * <integer> m[k]
    return 0


cdef int is_unique(const pattern_t* p, Py_ssize_t max_work) noexcept nogil:
    cdef Py_ssize_t c[MAX_AXES]
    cdef Py_ssize_t m[MAX_AXES]
    cdef Py_ssize_t lowest, end, stride, reach = p.itemsize
    cdef int i, j, n = 0, repeat
    if not byte_bounds(p, &lowest, &end):
        return -1
    if lowest == end or p.itemsize == 0:
        return 1
    for i in range(p.ndim):
        if p.size[i] == 1:
            continue
        stride = absolute(p.stride[i])
        if stride < p.itemsize:
            return 0
        j = n
        while j and c[j - 1] > stride:
            c[j] = c[j - 1]
            m[j] = m[j - 1]
            j -= 1
        c[j] = stride
        m[j] = p.size[i] - 1
        n += 1
    for i in range(n):
        if c[i] < reach:
            break
        reach += c[i] * m[i]
    else:
        return 1
    if end - lowest < NARROW_SPAN:
        repeat = search_repeat[Py_ssize_t](1, c, m, n, p.itemsize, max_work)
    elif XB_HAVE_WIDE:
        repeat = search_repeat[wide](1, c, m, n, p.itemsize, max_work)
    else:
        repeat = -1
    return repeat if repeat < 0 else not repeat


# Linearity ----------------------------------------------------------------

# Whether the map from p's index tuples to q's, through memory indices, is defined
# and respects addition: 1, 0, or UNDECIDED.
#
# Such a map takes (0, ..., 0) to itself and is a sum over p's axes, so it is
# enough to find where one step along each goes, and that all steps together
# stay in q.
cdef int is_linear(const pattern_t* p, const pattern_t* q, Py_ssize_t* work) noexcept nogil:
    cdef pattern_t indices
    cdef wide c[MAX_AXES]
    cdef wide m[MAX_AXES]
    cdef wide digit[MAX_AXES]
    cdef wide total[MAX_AXES]
    cdef bint backwards[MAX_AXES]
    cdef wide stride, steps, index
    cdef wide below = 0            # from q's least memory index to its offset
    cdef int i, j, n = 0, status
    if not (fits_search(p) and fits_search(q)):
        return UNDECIDED
    if is_empty(p):
        return 1
    if is_empty(q) or p.offset != q.offset:
        return 0
    indices.ndim = q.ndim
    indices.offset = q.offset
    indices.itemsize = 1
    for i in range(q.ndim):
        indices.size[i] = q.size[i]
        indices.stride[i] = q.stride[i]
        if q.size[i] == 1:
            continue
        stride = absolute(<wide> q.stride[i])
        steps = q.size[i] - 1
        j = n
        while j and c[j - 1] > stride:
            c[j] = c[j - 1]
            m[j] = m[j - 1]
            backwards[j] = backwards[j - 1]
            j -= 1
        c[j] = stride
        m[j] = steps
        backwards[j] = q.stride[i] < 0
        if backwards[j]:
            below += stride * steps
        n += 1
    status = is_unique(&indices, work[0])
    if status != 1:
        return status
    for j in range(n):
        total[j] = 0
    for i in range(p.ndim):
        if p.size[i] == 1 or p.stride[i] == 0:
            continue
        status = locate(c, m, n, below + <wide> p.stride[i], digit, work)
        if status != FOUND:
            return status
        for j in range(n):
            index = m[j] - digit[j] if backwards[j] else digit[j]
            if index > m[j] // (p.size[i] - 1):
                return 0
            total[j] += index * (p.size[i] - 1)
            if total[j] > m[j]:
                return 0
    return 1


# From patterns to sets and back -------------------------------------------

# The greatest unit in which all strides that move count.
cdef wide common_stride(const pattern_t* p, wide unit) noexcept nogil:
    cdef int i
    for i in range(p.ndim):
        if p.size[i] > 1:
            unit = greatest_common_divisor(unit, absolute(<wide> p.stride[i]))
    return unit


# M(p) in units of `unit`, counted from `base`; with element > 0, the set of all
# units that elements of that many units cover. Axes are sorted only by the caller.
cdef void set_of(const pattern_t* p, wide base, wide unit, wide element, set_t* x) noexcept nogil:
    cdef wide stride
    cdef int i
    x.low = <wide> p.offset - base
    x.ndim = 0
    for i in range(p.ndim):
        if p.size[i] == 0:
            x.ndim = -1
            return
        if p.size[i] == 1 or p.stride[i] == 0:
            continue
        stride = p.stride[i]
        if stride < 0:
            x.low += (<wide> p.size[i] - 1) * stride
            stride = -stride
        push_axis(x, p.size[i], stride // unit)
    x.low = x.low // unit
    push_axis(x, element, 1)


# B(p) and B(q) as canonical sets in the greatest unit for which both are sets, and
# that unit; 0 if they cannot be worked on. Must hold: both have bytes.
cdef wide sets_of_both(const pattern_t* p, const pattern_t* q, set_t* x, set_t* y) noexcept nogil:
    cdef wide unit
    if not (fits_search(p) and fits_search(q)):
        return 0
    unit = absolute(<wide> p.offset - <wide> q.offset)
    unit = greatest_common_divisor(unit, p.itemsize)
    unit = common_stride(q, common_stride(p, greatest_common_divisor(unit, q.itemsize)))
    set_of(p, p.offset, unit, p.itemsize // unit, x)
    set_of(q, p.offset, unit, q.itemsize // unit, y)
    canonicalize(x)
    canonicalize(y)
    return unit


cdef inline bint has_no_bytes(const pattern_t* p) noexcept nogil:
    return p.itemsize == 0 or is_empty(p)


# Arguments ----------------------------------------------------------------

cdef object integer_of(str op, str name, object index, object value):
    if type(value) is int:
        return value
    try:
        if isinstance(value, bool):
            raise TypeError
        return value.__index__()
    except (AttributeError, TypeError):
        if index is None:
            raise _errors.integer_kind(op, name, value) from None
        raise _errors.dimension_kind(op, name, index, value) from None


cdef tuple integers_of(str op, str name, object values):
    if hasattr(values, "__index__") and not hasattr(values, "__len__"):
        raise _errors.bare_dimension(op, name, values)
    if isinstance(values, (str, bytes)):
        raise _errors.not_a_sequence(op, name, values)
    try:
        values = tuple(values)
    except TypeError:
        raise _errors.not_a_sequence(op, name, values) from None
    return tuple([integer_of(op, name, i, value) for i, value in enumerate(values)])


cdef tuple shape_of(str op, object shape):
    cdef tuple sizes = integers_of(op, "shape", shape)
    for i, size in enumerate(sizes):
        if not 0 <= size < 1 << 63:
            raise _errors.shape_entry(op, "shape", i, size)
    return sizes


cdef Py_ssize_t index_of(str op, str name, object value) except? -1:
    value = integer_of(op, name, None, value)
    try:
        return value
    except OverflowError:
        raise _errors.leaves_64_bits(op, name, value) from None


# The private number of an axis that Python names.
cdef int axis_of(str op, Pattern p, object axis) except -1:
    cdef object value = integer_of(op, "axis", None, axis)
    if not -p.p.ndim <= value < p.p.ndim:
        raise _errors.axis_range(op, value, p.shape)
    return (-1 if value < 0 else p.p.ndim - 1) - value


# The same of an axis or several.
cdef list axes_of(str op, Pattern p, object axes):
    cdef list found
    if hasattr(axes, "__index__") and not hasattr(axes, "__len__"):
        return [axis_of(op, p, axes)]
    found = [axis_of(op, p, axis) for axis in integers_of(op, "axis", axes)]
    if len(set(found)) < len(found):
        raise _errors.repeated_axis(op, tuple(axes))
    return found


cdef Py_ssize_t budget(str op, object max_work) except -1:
    if max_work is None:
        return DEFAULT_WORK
    max_work = integer_of(op, "max_work", None, max_work)
    if max_work < 0:
        raise _errors.negative_work(op, max_work)
    return min(max_work, PY_SSIZE_T_MAX)


# The answer of a search, or the reason why there is none.
cdef bint verdict(str op, int answer, object max_work) except -1:
    if answer < 0:
        raise failure(op, answer, max_work)
    return answer == 1


cdef object failure(str op, int status, object max_work):
    if status == NO_MEMORY:
        return MemoryError()
    return _errors.undecided(op, DEFAULT_WORK if max_work is None else max_work)


cdef str braces(object numbers):
    return "[" + " ".join([str(n) for n in numbers]) + "]"


# Pattern ------------------------------------------------------------------

# From here on, axes are in public order wherever Python sees them.

@cython.final
@cython.freelist(16)
cdef class Pattern:
    """Pattern(shape, strides=None, offset=0, itemsize=1)\n--\n\n
    Where the elements of a strided array lie in memory: sizes, strides and an offset.

    A Pattern holds no data. Two sets belong to it: **M**, the memory indices (for
    each element the byte at which it starts), and **B**, the bytes that the elements
    cover. With ``itemsize=1`` they are the same. Patterns are immutable, hashable,
    ordered and picklable. Axis numbers run as in NumPy: the first axis is the
    slowest in C order, and negative numbers count from the end. "Private" axis
    numbers run the other way: 0 is the last axis.

    Parameters
    ----------
    shape : sequence of int
        Number of elements along each axis, at most 64 axes. 0 is allowed.
    strides : sequence of int, optional
        Bytes between neighbours along each axis: any integers, 0 and negative ones
        included. By default those of a C-order array; sizes of 0 count as 1 there.
    offset : int, optional
        Memory index of the element whose indices are all 0.
    itemsize : int, optional
        Bytes of an element.

    Raises
    ------
    ValueError
        If memory indices, their span or the number of elements leave 64 bits, or
        `shape` and `strides` do not fit each other.
    TypeError
        If something is no integer.

    Examples
    --------
    >>> from xbcast import Pattern
    >>> p = Pattern((2, 3), itemsize=8)
    >>> p
    Pattern(shape=(2, 3), strides=(24, 8), offset=0, itemsize=8)
    >>> p[1, 2]
    40
    >>> p == p.canonical()
    False
    >>> p.canonical()
    Pattern(shape=(6,), strides=(8,), offset=0, itemsize=8)
    """

    cdef pattern_t p
    cdef Py_ssize_t count          # elements
    cdef bint is_made              # from here on it does not change

    def __cinit__(self):
        # What is made here, without a call of __init__, gets its fields next; of
        # Python, object.__new__(Pattern) gets a scalar.
        self.p.ndim = 0
        self.p.itemsize = 1
        self.count = 1

    def __init__(self, shape, strides=None, offset=0, itemsize=1):
        cdef tuple sizes, steps
        cdef Py_ssize_t stride
        cdef int i, n
        if self.is_made:
            raise _errors.immutable("Pattern")
        sizes = shape_of("Pattern", shape)
        n = len(sizes)
        if n > MAX_AXES:
            raise _errors.too_many_dimensions("Pattern", "shape", n)
        for i in range(n):
            self.p.size[n - 1 - i] = sizes[i]
        self.p.ndim = n
        self.p.offset = index_of("Pattern", "offset", offset)
        self.p.itemsize = index_of("Pattern", "itemsize", itemsize)
        if self.p.itemsize < 0:
            raise _errors.negative_itemsize("Pattern", itemsize)
        if strides is None:
            stride = self.p.itemsize
            for i in range(n):
                self.p.stride[i] = stride
                if self.p.size[i] > 1 and xb_mul_overflows(stride, self.p.size[i], &stride):
                    raise _errors.pattern_bounds(sizes, None, offset, itemsize)
        else:
            steps = integers_of("Pattern", "strides", strides)
            if len(steps) != n:
                raise _errors.stride_count("Pattern", sizes, steps)
            for i in range(n):
                if not -(1 << 63) <= steps[i] < 1 << 63:
                    raise _errors.leaves_64_bits("Pattern", f"strides[{i}]", steps[i])
                self.p.stride[n - 1 - i] = steps[i]
        self.finish()

    # Counts the elements and refuses what does not fit in 64 bits.
    cdef int finish(self) except -1:
        cdef Py_ssize_t lowest, end, count = 1
        cdef bint fits = True
        cdef int i
        for i in range(self.p.ndim):
            if xb_mul_overflows(count, self.p.size[i], &count):
                fits = False
        if is_empty(&self.p):
            count = 0
            fits = True
        self.count = count
        self.is_made = True
        if not fits or not byte_bounds(&self.p, &lowest, &end):
            raise _errors.pattern_bounds(self.shape, self.strides, self.p.offset, self.p.itemsize)
        return 0

    @staticmethod
    def of(array, origin=None):
        """
        Return the pattern of an array's memory.

        Parameters
        ----------
        array : array_like with memory of its own
            A NumPy array of any kind, or any object with the buffer protocol or
            ``__array_interface__``.
        origin : array, optional
            By default the offset is the array's address, so that relations between
            the patterns of any two arrays are true while these are alive. With
            `origin`, it counts from the first byte of that array.

        Returns
        -------
        Pattern

        Raises
        ------
        TypeError
            If `array` has no memory that can be described, as a list.

        Examples
        --------
        >>> import numpy as np
        >>> from xbcast import Pattern
        >>> a = np.zeros((4, 6), np.int16)
        >>> Pattern.of(a[1:, ::-2], origin=a)
        Pattern(shape=(3, 3), strides=(12, -4), offset=22, itemsize=2)
        >>> Pattern.of(a[:, ::2]).isdisjoint(Pattern.of(a[:, 1::2]))
        True
        """
        cdef Pattern p = pattern_of_array("array", array), base
        cdef Py_ssize_t lowest = 0, end = 0
        if origin is not None:
            base = pattern_of_array("origin", origin)
            byte_bounds(&base.p, &lowest, &end)
            if xb_sub_overflows(p.p.offset, lowest, &p.p.offset):
                raise _errors.leaves_64_bits("Pattern.of", "offset", p.p.offset - lowest)
            p.finish()
        return p

    # The value ------------------------------------------------------------

    @property
    def ndim(self):
        """
        Number of axes.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((2, 3)).ndim
        2
        """
        return self.p.ndim

    @property
    def shape(self):
        """
        Number of elements along each axis.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((2, 3)).shape
        (2, 3)
        """
        return tuple([self.p.size[i] for i in range(self.p.ndim - 1, -1, -1)])

    @property
    def strides(self):
        """
        Bytes between neighbours along each axis.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((2, 3), itemsize=4).strides
        (12, 4)
        """
        return tuple([self.p.stride[i] for i in range(self.p.ndim - 1, -1, -1)])

    @property
    def offset(self):
        """
        Memory index of the element whose indices are all 0, in bytes.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((3,), (-1,), offset=2).offset
        2
        """
        return self.p.offset

    @property
    def itemsize(self):
        """
        Bytes of an element.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((3,), itemsize=8).itemsize
        8
        """
        return self.p.itemsize

    @property
    def size(self):
        """
        Number of elements: 1 for a scalar, 0 for an empty shape.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((2, 3)).size, Pattern(()).size, Pattern((2, 0)).size
        (6, 1, 0)
        """
        return self.count

    def __getitem__(self, indices):
        """
        Return the memory index of an index tuple: offset + sum of index x stride.

        Parameters
        ----------
        indices : int or tuple of int
            One index for each axis, at least 0 and below its size.

        Returns
        -------
        int

        Raises
        ------
        IndexError
            Outside the shape, or with another number of indices than axes. There
            are no negative indices here: a memory index belongs to one index tuple.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> p = Pattern((2, 3), (24, 8), offset=100)
        >>> p[0, 0], p[1, 2]
        (100, 140)
        """
        return self.memory_index("Pattern", indices, False)

    def __iter__(self):
        # Without this, Python would try p[0], p[1], ... until IndexError.
        raise _errors.no_iteration()

    def index(self, indices, extended=False):
        """
        Return the memory index of an index tuple.

        Parameters
        ----------
        indices : int or tuple of int
            One index for each axis.
        extended : bool, optional
            By default this is ``p[indices]``. If true, an axis of size 1 takes any
            index (as though it were stretched), and extra leading indices are
            ignored (as though unit axes stood on the left).

        Returns
        -------
        int

        Raises
        ------
        IndexError
            Outside the shape, with too few indices, or (unless extended) too many.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> p = Pattern((5, 1))
        >>> p.index((4, 0))
        4
        >>> p.index((7, 4, 100), extended=True)
        4
        """
        return self.memory_index("Pattern.index", indices, bool(extended))

    cdef object memory_index(self, str op, object indices, bint extended):
        cdef tuple given
        cdef Py_ssize_t m = self.p.offset, i
        cdef int axis, extra
        if isinstance(indices, (slice, type(None), type(Ellipsis))):
            raise _errors.index_kind(op, indices)
        if not isinstance(indices, (tuple, list)):
            indices = (indices,)
        for index in indices:
            if isinstance(index, (slice, type(None), type(Ellipsis))):
                raise _errors.index_kind(op, index)
        given = integers_of(op, "indices", indices)
        extra = len(given) - self.p.ndim
        if extra < 0 or (extra and not extended):
            raise _errors.index_count(op, given, self.shape)
        for axis in range(len(given)):
            if given[axis] < 0:
                raise _errors.index_range(op, axis, given[axis], self.shape)
        for axis in range(self.p.ndim):
            if extended and self.p.size[self.p.ndim - 1 - axis] == 1:
                continue
            if not given[extra + axis] < self.p.size[self.p.ndim - 1 - axis]:
                raise _errors.index_range(op, extra + axis, given[extra + axis], self.shape)
            i = given[extra + axis]
            # A unit axis may have a stride of any size, and its index is 0.
            if i:
                m += i * self.p.stride[self.p.ndim - 1 - axis]
        return m

    @property
    def code(self):
        """
        Small integer that tells kinds of pattern apart; -1 with more than 16 axes.

        Bits 0 to 15: bit k is set if the axis with private number k (0 is the last
        axis) has a size other than 1. Bits 16 to 20: one plus the private number of
        the lowest such axis whose stride is the itemsize, 0 if there is none. Bit
        21: some stride is negative.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> hex(Pattern((4, 3), (24, 8), itemsize=8).code)      # C order
        '0x10003'
        >>> hex(Pattern((4, 3), (8, 32), itemsize=8).code)      # Fortran order
        '0x20003'
        >>> hex(Pattern((4, 1, 3), (-24, 0, 8), 72, itemsize=8).code)
        '0x210005'
        """
        cdef int code = 0, place = 0, i
        if self.p.ndim > 16:
            return -1
        for i in range(self.p.ndim):
            if self.p.size[i] != 1:
                code |= 1 << i
                if place == 0 and self.p.stride[i] == self.p.itemsize:
                    place = i + 1
            if self.p.stride[i] < 0:
                code |= 1 << 21
        return code | place << 16

    @property
    def lowest(self):
        """
        Least memory index; ValueError for an empty pattern.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((3,), (-8,), offset=16).lowest
        0
        """
        cdef Py_ssize_t lowest = 0, highest = 0
        self.write_bounds("lowest", &lowest, &highest)
        return lowest

    @property
    def highest(self):
        """
        Greatest memory index; ValueError for an empty pattern.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((3,), (8,), itemsize=8).highest
        16
        """
        cdef Py_ssize_t lowest = 0, highest = 0
        self.write_bounds("highest", &lowest, &highest)
        return highest

    cdef int write_bounds(self, str name, Py_ssize_t* lowest, Py_ssize_t* highest) except -1:
        if self.count == 0:
            raise _errors.no_memory_index(name, self.shape)
        index_bounds(&self.p, lowest, highest)
        return 0

    def __repr__(self):
        """
        Return a call that makes an equal pattern.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> p = Pattern((2, 3), itemsize=8)
        >>> repr(p)
        'Pattern(shape=(2, 3), strides=(24, 8), offset=0, itemsize=8)'
        >>> eval(repr(p)) == p
        True
        """
        return (f"Pattern(shape={self.shape}, strides={self.strides}, "
                f"offset={self.p.offset}, itemsize={self.p.itemsize})")

    def __str__(self):
        """
        Return offset, shape and strides in public order, in square brackets.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> print(Pattern((2, 3), itemsize=8))
        offset=0 shape=[2 3] strides=[24 8]
        """
        return (f"offset={self.p.offset} shape={braces(self.shape)} "
                f"strides={braces(self.strides)}")

    def __reduce__(self):
        return Pattern, (self.shape, self.strides, self.p.offset, self.p.itemsize)

    def __hash__(self):
        """
        Return the same number for equal patterns.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> hash(Pattern((3,))) == hash(Pattern((3,), strides=(1,)))
        True
        """
        return hash((self.p.offset, self.shape, self.strides, self.p.itemsize))

    def __richcmp__(self, other, int op):
        if not isinstance(other, Pattern):
            return NotImplemented
        return PyObject_RichCompare(compare(&self.p, &(<Pattern> other).p), 0, op)

    # Properties -----------------------------------------------------------

    def is_valid(self, level=0, max_work=None):
        """
        Whether Kaldi's rules for a pattern hold.

        Level 0: at most 64 axes; sizes above 0; no reachable memory index is
        negative; a stride other than 0 wherever the size is not 1; axis dominance;
        stride 0 wherever the size is 1. Level 1 drops the last. Level 2 replaces
        axis dominance by uniqueness (and drops the last as well).

        Parameters
        ----------
        level : {0, 1, 2}, optional
            Which rules.
        max_work : int, optional
            Budget for uniqueness, see `is_unique`.

        Returns
        -------
        bool

        Examples
        --------
        >>> from xbcast import Pattern
        >>> p = Pattern((3, 1), (8, 8), itemsize=8)
        >>> p.is_valid(), p.is_valid(1)
        (False, True)
        >>> Pattern((6, 2), (2, 3)).is_valid(1), Pattern((6, 2), (2, 3)).is_valid(2)
        (False, True)
        """
        cdef Py_ssize_t lowest = 0, highest = 0
        cdef int i
        level = integer_of("Pattern.is_valid", "level", None, level)
        if not 0 <= level <= 2:
            raise _errors.validity_level(level)
        budget("Pattern.is_valid", max_work)
        if self.count == 0:
            return False
        index_bounds(&self.p, &lowest, &highest)
        if lowest < 0:
            return False
        for i in range(self.p.ndim):
            if self.p.size[i] != 1 and self.p.stride[i] == 0:
                return False
            if level == 0 and self.p.size[i] == 1 and self.p.stride[i] != 0:
                return False
        return self.is_unique(max_work) if level == 2 else self.has_axis_dominance()

    def has_axis_dominance(self, axis=None):
        """
        Whether each axis is cleared by the next longer one.

        With the axes of size other than 1 sorted by absolute stride: the itemsize
        does not exceed the least of these strides, and size x stride of each axis
        does not exceed the stride of the next. Sufficient for uniqueness, not
        necessary.

        Parameters
        ----------
        axis : int, optional
            Ask only whether size x stride of this axis does not exceed the next
            stride (so for a unit axis, and the one with the greatest stride: yes).

        Returns
        -------
        bool

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((4, 3), (24, 8), itemsize=8).has_axis_dominance()
        True
        >>> windows = Pattern((4, 3), (8, 8), itemsize=8)
        >>> windows.has_axis_dominance(), windows.has_axis_dominance(0)
        (False, True)
        """
        cdef Py_ssize_t stride[MAX_AXES]
        cdef int number[MAX_AXES]
        cdef Py_ssize_t step, extent
        cdef int asked = -1, i, j, n = 0
        if axis is not None:
            asked = axis_of("Pattern.has_axis_dominance", self, axis)
        for i in range(self.p.ndim):
            if self.p.size[i] == 1:
                continue
            step = self.p.stride[i]
            # The most negative stride is its own negative; only an axis without
            # elements can have it.
            if step < 0:
                step = -(step + 1)
                step += step != PY_SSIZE_T_MAX
            j = n
            while j and stride[j - 1] > step:
                stride[j] = stride[j - 1]
                number[j] = number[j - 1]
                j -= 1
            stride[j] = step
            number[j] = i
            n += 1
        if asked < 0 and n and self.p.itemsize > stride[0]:
            return False
        for i in range(n - 1):
            if asked < 0 or number[i] == asked:
                if (xb_mul_overflows(self.p.size[number[i]], stride[i], &extent)
                        or extent > stride[i + 1]):
                    return False
        return True

    def is_unique(self, max_work=None):
        """
        Whether no two elements share a byte (B).

        Parameters
        ----------
        max_work : int, optional
            How many steps a search may take, 1000000 by default. Most patterns are
            decided without any.

        Returns
        -------
        bool

        Raises
        ------
        UndecidedError
            If the answer was not found within `max_work` steps.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((6, 2), (2, 3)).is_unique()
        True
        >>> Pattern((6, 2), (2, 3), itemsize=2).is_unique()
        False
        """
        cdef Py_ssize_t work = budget("Pattern.is_unique", max_work)
        cdef int answer
        with nogil:
            answer = is_unique(&self.p, work)
        return verdict("Pattern.is_unique", answer, max_work)

    @property
    def is_canonical(self):
        """
        Whether this is its own canonical form (M).

        No unit axis, no stride 0, no two axes that could be one, positive strides,
        and axes sorted: the last has the least stride. An empty pattern is
        canonical if its shape is (0,), its stride the itemsize and its offset 0.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((6,), (8,)).is_canonical, Pattern((2, 3), (24, 8)).is_canonical
        (True, False)
        """
        cdef set_t x
        cdef int i, n = self.p.ndim
        if self.count == 0:
            return (n == 1 and self.p.stride[0] == self.p.itemsize and self.p.offset == 0)
        for i in range(n):
            if (self.p.size[i] == 1 or self.p.stride[i] <= 0
                    or (i and self.p.stride[i] <= self.p.stride[i - 1])):
                return False
        set_of(&self.p, 0, 1, 0, &x)
        canonicalize(&x)
        return x.ndim == n

    def is_reduced(self, max_work=None):
        """
        Whether no pattern with the same M has fewer axes.

        Decided at once where axis dominance holds or two axes are left once those
        that could be one are; by search elsewhere.

        Parameters
        ----------
        max_work : int, optional
            How many steps the search may take, 1000000 by default.

        Returns
        -------
        bool

        Raises
        ------
        UndecidedError
            If the answer was not found within `max_work` steps.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((2, 3), (4, 1)).is_reduced()
        True
        >>> Pattern((2, 2, 2), (3, 2, 1)).is_reduced()      # M is 0, 1, ..., 6
        False
        """
        return self.p.ndim == (<Pattern> self.fewest_axes("Pattern.is_reduced", max_work)).p.ndim

    @property
    def is_compact(self):
        """
        Whether B is one range without gaps. An empty pattern is compact.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((2, 3), (8, 24), itemsize=8).is_compact
        False
        >>> Pattern((3, 2), (8, 24), itemsize=8).is_compact
        True
        """
        cdef set_t x
        if has_no_bytes(&self.p):
            return True
        set_of(&self.p, self.p.offset, 1, self.p.itemsize, &x)
        canonicalize(&x)
        return x.ndim == 0 or (x.ndim == 1 and x.stride[0] == 1)

    @property
    def is_justified(self):
        """
        Whether the least memory index is 0. An empty pattern is justified.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((3,), (-8,), offset=16).is_justified
        True
        """
        return self.count == 0 or self.lowest == 0

    @property
    def has_default_strides(self):
        """
        Whether the strides are those of a C-order array.

        Strides of unit axes do not matter, and none matters in an empty pattern.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((2, 1, 3), (24, 5, 8), itemsize=8).has_default_strides
        True
        >>> Pattern((2, 3), (8, 16), itemsize=8).has_default_strides
        False
        """
        cdef Py_ssize_t stride = self.p.itemsize
        cdef int i
        if self.count == 0:
            return True
        for i in range(self.p.ndim):
            if self.p.size[i] != 1:
                if self.p.stride[i] != stride:
                    return False
                stride *= self.p.size[i]
        return True

    @property
    def has_normalized_strides(self):
        """
        Whether strides are 0 or positive, and the nonzero ones strictly sorted.

        Towards the first axis they ascend.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((2, 5, 3), (8, 0, 2)).has_normalized_strides
        True
        >>> Pattern((2, 3), (2, 2)).has_normalized_strides
        False
        """
        cdef Py_ssize_t last = 0
        cdef int i
        for i in range(self.p.ndim):
            if self.p.stride[i] < 0 or 0 < self.p.stride[i] <= last:
                return False
            if self.p.stride[i]:
                last = self.p.stride[i]
        return True

    @property
    def has_positive_normalized_strides(self):
        """
        Whether all strides are positive and strictly sorted.

        Towards the first axis they ascend.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((2, 3), (8, 2)).has_positive_normalized_strides
        True
        >>> Pattern((2, 5, 3), (8, 0, 2)).has_positive_normalized_strides
        False
        """
        cdef Py_ssize_t last = 0
        cdef int i
        for i in range(self.p.ndim):
            if self.p.stride[i] <= last:
                return False
            last = self.p.stride[i]
        return True

    @property
    def is_regular(self):
        """
        Whether this is unique and each axis is cleared by a later one.

        Strides are positive and sorted, and in private numbers: for each axis i
        there is a k > i, or k is the number of axes, so that the axes between have
        size 1 and strides that are multiples of stride i, and size x stride of axis
        i does not exceed stride k (if there is such an axis).

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((4, 3), (30, 8), itemsize=8).is_regular
        True
        >>> Pattern((6, 2), (3, 2)).is_regular
        False
        """
        cdef Py_ssize_t extent, reach = self.p.itemsize
        cdef int n = self.p.ndim, i, k
        for i in range(n):
            if self.p.stride[i] <= 0 or (i and self.p.stride[i] < self.p.stride[i - 1]):
                return False
        for i in range(n):
            # The last axis needs no k, however far it reaches.
            for k in range(i + 1, n):
                if (not xb_mul_overflows(self.p.size[i], self.p.stride[i], &extent)
                        and extent <= self.p.stride[k]):
                    break
                if self.p.size[k] != 1 or self.p.stride[k] % self.p.stride[i]:
                    return False
        # Elements start at least an itemsize apart if each axis clears those below.
        if self.count:
            for i in range(n):
                if self.p.size[i] > 1:
                    if self.p.stride[i] < reach:
                        return False
                    reach += (self.p.size[i] - 1) * self.p.stride[i]
        return True

    @property
    def has_negative_stride(self):
        """
        Whether some stride is negative, that of a unit axis included.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((2, 3), (-3, 1), 3).has_negative_stride
        True
        """
        cdef int i
        for i in range(self.p.ndim):
            if self.p.stride[i] < 0:
                return True
        return False

    def is_trivial(self, axis):
        """
        Whether an axis has size 1.

        Parameters
        ----------
        axis : int
            Which axis; negative ones count from the end.

        Returns
        -------
        bool

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((1, 3)).is_trivial(0), Pattern((1, 3)).is_trivial(-1)
        (True, False)
        """
        return self.p.size[axis_of("Pattern.is_trivial", self, axis)] == 1

    # Operations -----------------------------------------------------------

    def canonical(self):
        """
        Return the canonical form: the same M, without axes that could be spared.

        Unit axes and strides of 0 are dropped (the set is kept, multiplicity is
        not), negative strides flipped, axes sorted so that the last has the least
        stride, and any two axes joined that make one run of equal steps. An empty
        pattern becomes shape (0,) at offset 0.

        Returns
        -------
        Pattern

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((3, 1, 4), (-32, 5, 8), offset=64, itemsize=8).canonical()
        Pattern(shape=(12,), strides=(8,), offset=0, itemsize=8)
        >>> Pattern((5, 3), (8, 8), itemsize=8).canonical()     # windows overlap
        Pattern(shape=(7,), strides=(8,), offset=0, itemsize=8)
        """
        cdef set_t x
        set_of(&self.p, 0, 1, 0, &x)
        canonicalize(&x)
        return pattern_of_set(&x, 0, 1, self.p.itemsize)

    def reduced(self, max_work=None):
        """
        Return a pattern with the same M and the fewest axes.

        This is the canonical form, except where axis dominance fails and a search
        finds a shorter one.

        Parameters
        ----------
        max_work : int, optional
            How many steps the search may take, 1000000 by default.

        Returns
        -------
        Pattern

        Raises
        ------
        UndecidedError
            If the search did not end within `max_work` steps.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((2, 3), (6, 2)).reduced()
        Pattern(shape=(6,), strides=(2,), offset=0, itemsize=1)
        >>> p = Pattern((2, 2, 2, 2), (11, 9, 3, 2))
        >>> p.is_canonical, p.reduced() == p
        (True, True)
        """
        return self.fewest_axes("Pattern.reduced", max_work)

    cdef object fewest_axes(self, str op, object max_work):
        cdef set_t x
        cdef Py_ssize_t work = budget(op, max_work)
        cdef wide unit = common_stride(&self.p, 0)
        cdef int status = DONE
        if unit == 0:
            unit = 1
        set_of(&self.p, self.p.offset, unit, 0, &x)
        canonicalize(&x)
        if x.ndim >= 0:
            with nogil:
                status = reduce_set(&x, &work)
        if status != DONE:
            raise failure(op, status, max_work)
        return pattern_of_set(&x, self.p.offset, unit, self.p.itemsize)

    def normalized(self):
        """
        Return a pattern with the same M and positive, strictly sorted strides.

        The last axis has the least stride. As `canonical`, but only axes of equal
        stride are joined.

        Returns
        -------
        Pattern

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((3, 2), (-1, 3), offset=2).normalized()
        Pattern(shape=(2, 3), strides=(3, 1), offset=0, itemsize=1)
        """
        cdef set_t x, sorted
        cdef int i, least
        set_of(&self.p, 0, 1, 0, &x)
        sorted.ndim = 0 if x.ndim >= 0 else -1
        sorted.low = x.low
        while x.ndim > 0:
            least = 0
            for i in range(1, x.ndim):
                if x.stride[i] < x.stride[least]:
                    least = i
            if sorted.ndim and sorted.stride[sorted.ndim - 1] == x.stride[least]:
                sorted.size[sorted.ndim - 1] += x.size[least] - 1
            else:
                push_axis(&sorted, x.size[least], x.stride[least])
            remove_axis(&x, least)
        return pattern_of_set(&sorted, 0, 1, self.p.itemsize)

    def drop_unit_axes(self):
        """
        Return the pattern without its axes of size 1.

        Returns
        -------
        Pattern

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((1, 3, 1), itemsize=8).drop_unit_axes()
        Pattern(shape=(3,), strides=(8,), offset=0, itemsize=8)
        """
        return self.select([k for k in self.axes() if self.p.size[k] != 1])

    def squeeze(self, axis=None):
        """
        Return the pattern without the axes named, which must have size 1.

        Parameters
        ----------
        axis : int or sequence of int, optional
            Which axes; all of size 1 by default.

        Returns
        -------
        Pattern

        Raises
        ------
        ValueError
            If an axis has another size, is named twice, or does not exist.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((1, 3, 1)).squeeze(0).shape
        (3, 1)
        """
        cdef list axes
        cdef int k
        if axis is None:
            return self.drop_unit_axes()
        axes = axes_of("Pattern.squeeze", self, axis)
        for k in axes:
            if self.p.size[k] != 1:
                raise _errors.no_unit_axis("Pattern.squeeze", self.p.ndim - 1 - k, self.shape)
        return self.select([k for k in self.axes() if k not in axes])

    def unsqueeze(self, axis):
        """
        Return the pattern with a new axis of size 1 and stride 0.

        Parameters
        ----------
        axis : int
            Where the new axis stands in the result; negative ones count from its
            end.

        Returns
        -------
        Pattern

        Raises
        ------
        ValueError
            If there is no such place, or the result would have more than 64 axes.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((2, 3)).unsqueeze(-1).shape, Pattern((2, 3)).unsqueeze(0).shape
        ((2, 3, 1), (1, 2, 3))
        """
        cdef int n = self.p.ndim
        place = integer_of("Pattern.unsqueeze", "axis", None, axis)
        if not -n - 1 <= place <= n:
            raise _errors.place_range("Pattern.unsqueeze", place, self.shape)
        if n == MAX_AXES:
            raise _errors.too_many_dimensions("Pattern.unsqueeze", "result", n + 1)
        if place < 0:
            place += n + 1
        order = self.axes()
        order.insert(place, -1)
        return self.select(order)

    def transpose(self, axes=None):
        """
        Return the pattern with its axes in another order.

        Parameters
        ----------
        axes : sequence of int, optional
            For each axis of the result, the axis that it was; reversed by default.

        Returns
        -------
        Pattern

        Raises
        ------
        ValueError
            If `axes` is not each axis once.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((2, 3, 4)).transpose((1, 0, 2))
        Pattern(shape=(3, 2, 4), strides=(4, 12, 1), offset=0, itemsize=1)
        """
        cdef int n = self.p.ndim
        if axes is None:
            return self.select(list(range(n)))
        order = integers_of("Pattern.transpose", "axes", axes)
        places = [i + n if i < 0 else i for i in order]
        if sorted(places) != list(range(n)):
            raise _errors.no_permutation("Pattern.transpose", order, n)
        return self.select([n - 1 - i for i in places])

    # The private numbers of the axes, in public order.
    cdef list axes(self):
        return list(range(self.p.ndim - 1, -1, -1))

    # The axes with these private numbers, in public order; -1 is a new unit axis.
    cdef Pattern select(self, list axes):
        cdef Pattern result = Pattern.__new__(Pattern)
        cdef int n = len(axes), i, k
        result.p.ndim = n
        result.p.offset = self.p.offset
        result.p.itemsize = self.p.itemsize
        for i in range(n):
            k = axes[i]
            result.p.size[n - 1 - i] = self.p.size[k] if k >= 0 else 1
            result.p.stride[n - 1 - i] = self.p.stride[k] if k >= 0 else 0
        result.finish()
        return result

    def flip(self, axis=None):
        """
        Return the pattern walked backwards along some axes: the same M.

        Parameters
        ----------
        axis : int or sequence of int, optional
            Which axes; all by default.

        Returns
        -------
        Pattern

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((2, 3)).flip(1)
        Pattern(shape=(2, 3), strides=(3, -1), offset=2, itemsize=1)
        """
        cdef Pattern result = self.select(self.axes())
        cdef int k
        for k in self.axes() if axis is None else axes_of("Pattern.flip", self, axis):
            if self.count and self.p.size[k] > 1:
                result.p.offset += (self.p.size[k] - 1) * self.p.stride[k]
            if xb_sub_overflows(0, self.p.stride[k], &result.p.stride[k]):
                name = f"strides[{self.p.ndim - 1 - k}]"
                raise _errors.leaves_64_bits("Pattern.flip", name, 1 << 63)
        return result

    def slice(self, *items):
        """
        Return the pattern of a part, as basic indexing of an array does.

        Parameters
        ----------
        *items : int, slice, None or Ellipsis
            What would stand between the brackets, or one tuple of that. An int
            drops an axis (a negative one counts from the end), None adds a unit
            axis of stride 0.

        Returns
        -------
        Pattern

        Raises
        ------
        IndexError
            If an int is outside, or there are more items than axes.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((4, 6)).slice(1, slice(None, None, -2))
        Pattern(shape=(3,), strides=(-2,), offset=11, itemsize=1)
        >>> Pattern((4, 6)).slice(..., slice(0, 3)).shape
        (4, 3)
        """
        cdef list sizes = [], strides = []
        cdef object offset = self.p.offset
        cdef object stride
        cdef Py_ssize_t size, start, stop, step
        cdef int used, axis = 0
        if len(items) == 1 and isinstance(items[0], tuple):
            items = items[0]
        used = sum([item is not None and item is not Ellipsis for item in items])
        if sum([item is Ellipsis for item in items]) > 1:
            raise _errors.two_ellipses("Pattern.slice")
        if used > self.p.ndim:
            raise _errors.item_count("Pattern.slice", used, self.shape)
        if not any([item is Ellipsis for item in items]):
            items = (*items, Ellipsis)
        for item in items:
            if item is None:
                sizes.append(1)
                strides.append(0)
                continue
            if item is Ellipsis:
                for _ in range(self.p.ndim - used):
                    sizes.append(self.p.size[self.p.ndim - 1 - axis])
                    strides.append(self.p.stride[self.p.ndim - 1 - axis])
                    axis += 1
                continue
            size = self.p.size[self.p.ndim - 1 - axis]
            stride = self.p.stride[self.p.ndim - 1 - axis]
            if isinstance(item, slice):
                start, stop, step = item.indices(size)
                size = len(range(start, stop, step))
                sizes.append(size)
                # A step over the whole axis leaves one element or none, whose
                # stride is not used; it may not fit in 64 bits either.
                if not -(1 << 63) <= stride * step < 1 << 63:
                    step = 1
                strides.append(stride * step)
                if size and start:
                    offset += start * stride
            else:
                index = integer_of("Pattern.slice", "items", axis, item)
                if not -size <= index < size:
                    raise _errors.index_range("Pattern.slice", axis, index, self.shape)
                if index < 0:
                    index += size
                if index:
                    offset += index * stride
            axis += 1
        return Pattern(sizes, strides, offset, self.p.itemsize)

    def pad_left(self, ndim):
        """
        Return the pattern with unit axes of stride 0 on the left.

        Parameters
        ----------
        ndim : int
            Number of axes of the result, not below that of the pattern.

        Returns
        -------
        Pattern

        Raises
        ------
        ValueError
            If `ndim` is below the number of axes or above 64.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((3,)).pad_left(3)
        Pattern(shape=(1, 1, 3), strides=(0, 0, 1), offset=0, itemsize=1)
        """
        cdef int n = self.p.ndim
        ndim = integer_of("Pattern.pad_left", "ndim", None, ndim)
        if ndim < n:
            raise _errors.pad_below("Pattern.pad_left", ndim, self.shape)
        if ndim > MAX_AXES:
            raise _errors.too_many_dimensions("Pattern.pad_left", "result", ndim)
        return self.select([-1] * (ndim - n) + self.axes())

    def as_bytes(self):
        """
        Return the pattern of itemsize 1 with the same B.

        Unless the itemsize is 1, it has one axis more: the bytes of an element.

        Returns
        -------
        Pattern

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((2, 3), (40, 8), itemsize=4).as_bytes()
        Pattern(shape=(2, 3, 4), strides=(40, 8, 1), offset=0, itemsize=1)
        """
        if self.p.itemsize == 1:
            return self
        if self.p.ndim == MAX_AXES:
            # At most 62 of 64 axes can have a size above 1.
            return self.drop_unit_axes().as_bytes()
        return Pattern((*self.shape, self.p.itemsize), (*self.strides, 1), self.p.offset, 1)

    def broadcast_in_dim(self, shape, dims):
        """
        Return the pattern of an in-dim broadcast: no element is copied.

        Parameters
        ----------
        shape : sequence of int
            Shape of the result.
        dims : sequence of int
            For each axis of the pattern, the axis of the result that it becomes.
            Sizes must be equal there, or the pattern's 1, which is stretched by
            stride 0, as are the axes that `dims` does not name.

        Returns
        -------
        Pattern

        Raises
        ------
        BroadcastError
            If rules B4 to B7 are broken (a ValueError). In the message `dims` is
            called broadcast_dimensions, and the pattern x.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((3,), itemsize=8).broadcast_in_dim((3, 4), (0,))
        Pattern(shape=(3, 4), strides=(8, 0), offset=0, itemsize=8)
        """
        cdef tuple result = shape_of("Pattern.broadcast_in_dim", shape)
        cdef tuple own = self.shape, places
        cdef list strides = [0] * len(result)
        cdef int i
        places = integers_of("Pattern.broadcast_in_dim", "dims", dims)
        if len(places) != self.p.ndim:
            raise _errors.in_dim_length(own, result, places)
        for i in range(self.p.ndim):
            if not 0 <= places[i] < len(result):
                raise _errors.in_dim_range(own, result, places, i)
            if own[i] not in (1, result[places[i]]):
                raise _errors.in_dim_size(own, result, places, i)
            if i and places[i] <= places[i - 1]:
                raise _errors.in_dim_order(own, result, places, i)
            if own[i] == result[places[i]]:
                strides[places[i]] = self.p.stride[self.p.ndim - 1 - i]
        return Pattern(result, strides, self.p.offset, self.p.itemsize)

    def with_strides(self, strides, max_work=None):
        """
        Return patterns over given strides whose M together are this one's.

        So two patterns can be brought to common strides. An axis is kept where its
        stride is given; where only a multiple k of it is, it becomes k patterns;
        else one pattern for each of its elements.

        Parameters
        ----------
        strides : sequence of int
            The strides of every pattern in the result, in public order.
        max_work : int, optional
            The greatest number of patterns, 1000000 by default.

        Returns
        -------
        list of Pattern
            None of them empty; of an empty pattern, no pattern.

        Raises
        ------
        UndecidedError
            If the list would have more than `max_work` patterns.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> for p in Pattern((5, 3), (10, 1)).with_strides((10, 2)):
        ...     print(p)
        offset=0 shape=[5 2] strides=[10 2]
        offset=1 shape=[5 1] strides=[10 2]
        """
        cdef tuple steps = integers_of("Pattern.with_strides", "strides", strides)
        cdef Py_ssize_t work = budget("Pattern.with_strides", max_work)
        cdef Pattern form
        cdef list shapes, parts, axes = []
        cdef object choice, count, total = 1
        cdef int i, k
        if len(steps) > MAX_AXES:
            raise _errors.too_many_dimensions("Pattern.with_strides", "strides", len(steps))
        if self.count == 0:
            return []
        form = self.canonical()
        # For each axis: the place of the stride that it goes to, and how many
        # patterns that takes. -1: no place, each element by itself.
        taken = set()
        for i in range(form.p.ndim):
            choice = -1
            count = form.p.size[i]
            for k in range(len(steps)):
                if k not in taken and steps[k] and abs(steps[k]) % form.p.stride[i] == 0:
                    if abs(steps[k]) // form.p.stride[i] < count:
                        choice = k
                        count = abs(steps[k]) // form.p.stride[i]
            if choice >= 0:
                taken.add(choice)
            axes.append((i, choice, count))
            total *= count
            if total > work:
                raise failure("Pattern.with_strides", UNDECIDED, max_work)
        parts = [(form.p.offset, (1,) * len(steps))]
        for i, choice, count in reversed(axes):
            shapes = []
            for offset, shape in parts:
                for k in range(count):
                    # The elements k, k + count, ... of this axis.
                    if choice < 0:
                        shapes.append((offset + k * form.p.stride[i], shape))
                        continue
                    size = (form.p.size[i] - k + count - 1) // count
                    first = k if steps[choice] > 0 else k + (size - 1) * count
                    shapes.append((
                        offset + first * form.p.stride[i],
                        (*shape[:choice], size, *shape[choice + 1:]),
                    ))
            parts = shapes
        # Checks the strides; what is left differs in shape and offset.
        form = Pattern((1,) * len(steps), steps, 0, self.p.itemsize)
        return [form.moved(shape, offset) for offset, shape in parts]

    # The pattern with another shape of as many axes, and another offset.
    cdef Pattern moved(self, tuple shape, Py_ssize_t offset):
        cdef Pattern result = self.select(self.axes())
        cdef int i
        for i in range(self.p.ndim):
            result.p.size[self.p.ndim - 1 - i] = shape[i]
        result.p.offset = offset
        result.finish()
        return result

    # Relations ------------------------------------------------------------

    def same_set(self, Pattern other not None, max_work=None):
        """
        Whether two patterns cover the same bytes (B).

        Equal canonical forms say yes; different ones say no if both have axis
        dominance. Elsewhere, as (6 at 2) x (2 at 3) and (3 at 2) x (4 at 3) show,
        different forms can be the same set, and a search decides.

        Parameters
        ----------
        other : Pattern
            The other pattern.
        max_work : int, optional
            How many steps the search may take, 1000000 by default.

        Returns
        -------
        bool

        Raises
        ------
        UndecidedError
            If the answer was not found within `max_work` steps.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((6, 2), (2, 3)).same_set(Pattern((3, 4), (2, 3)))
        True
        >>> Pattern((3,), itemsize=8).same_set(Pattern((6,), itemsize=4))
        True
        """
        cdef set_t x, y
        cdef Py_ssize_t work = budget("Pattern.same_set", max_work)
        cdef int answer = UNDECIDED
        if has_no_bytes(&self.p) or has_no_bytes(&other.p):
            return has_no_bytes(&self.p) and has_no_bytes(&other.p)
        if sets_of_both(&self.p, &other.p, &x, &y):
            with nogil:
                answer = are_equal(&x, &y, &work)
        return verdict("Pattern.same_set", answer, max_work)

    def isdisjoint(self, Pattern other not None, max_work=None):
        """
        Whether two patterns have no byte in common (B).

        Exact, unlike `numpy.may_share_memory`, which compares ranges.

        Parameters
        ----------
        other : Pattern
            The other pattern.
        max_work : int, optional
            How many steps a search may take, 1000000 by default. Views of one
            array are decided without any.

        Returns
        -------
        bool

        Raises
        ------
        UndecidedError
            If the answer was not found within `max_work` steps.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> left = Pattern((100, 3), (80, 8), itemsize=8)
        >>> left.isdisjoint(Pattern((100, 3), (80, 8), offset=40, itemsize=8))
        True
        >>> left.isdisjoint(Pattern((100, 3), (80, 8), offset=20, itemsize=8))
        False
        """
        cdef Py_ssize_t work = DEFAULT_WORK
        cdef int answer
        if max_work is not None:
            work = budget("Pattern.isdisjoint", max_work)
        # Releasing the GIL costs as much as most answers.
        answer = are_disjoint(&self.p, &other.p, QUICK if work > QUICK else work)
        if answer < 0 and work > QUICK:
            with nogil:
                answer = are_disjoint(&self.p, &other.p, work)
        return verdict("Pattern.isdisjoint", answer, max_work)

    def issubset(self, Pattern other not None, max_work=None):
        """
        Whether each byte of this pattern is one of the other (B).

        Parameters
        ----------
        other : Pattern
            The other pattern.
        max_work : int, optional
            How many steps may be taken, 1000000 by default.

        Returns
        -------
        bool

        Raises
        ------
        UndecidedError
            If the answer was not found within `max_work` steps.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> rows = Pattern((10, 10), itemsize=8)
        >>> Pattern((10, 5), (80, 16), itemsize=8).issubset(rows)
        True
        >>> rows.issubset(Pattern((10, 5), (80, 16), itemsize=8))
        False
        """
        cdef set_t x, y
        cdef Py_ssize_t work = budget("Pattern.issubset", max_work)
        cdef int answer = UNDECIDED
        if has_no_bytes(&self.p):
            return True
        if has_no_bytes(&other.p):
            return False
        if sets_of_both(&self.p, &other.p, &x, &y):
            with nogil:
                answer = is_subset(&x, &y, &work)
        return verdict("Pattern.issubset", answer, max_work)

    def intersection(self, Pattern other not None, max_work=None):
        """
        Return disjoint patterns that together cover the bytes in both (B).

        ``p & q`` is the same with the default budget.

        Parameters
        ----------
        other : Pattern
            The other pattern.
        max_work : int, optional
            How many steps may be taken, 1000000 by default. A step is a pair of
            blocks compared, so the number of patterns in the result counts too.

        Returns
        -------
        list of Pattern
            In ascending order, canonical. They keep the itemsize if both patterns
            have it and elements meet whole; else the itemsize is what fits, down
            to 1. Empty if no byte is common.

        Raises
        ------
        UndecidedError
            If more than `max_work` steps were needed.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((10,), (2,)) & Pattern((10,), (3,))
        [Pattern(shape=(4,), strides=(6,), offset=0, itemsize=1)]
        >>> Pattern((4,), (8,), itemsize=8) & Pattern((2,), (16,), 4, itemsize=8)
        [Pattern(shape=(2, 2), strides=(16, 4), offset=4, itemsize=4)]
        """
        return combination("Pattern.intersection", self, other, False, max_work)

    def __and__(self, other):
        """
        Return `intersection` with the default budget.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((6,)) & Pattern((6,), offset=4)
        [Pattern(shape=(2,), strides=(1,), offset=4, itemsize=1)]
        """
        if not isinstance(other, Pattern):
            return NotImplemented
        return combination("Pattern.intersection", self, other, False, None)

    def difference(self, Pattern other not None, max_work=None):
        """
        Return disjoint patterns that cover the bytes in this one only (B).

        ``p - q`` is the same with the default budget.

        Parameters
        ----------
        other : Pattern
            The other pattern.
        max_work : int, optional
            How many steps may be taken, 1000000 by default. A step is a pair of
            blocks compared, so the number of patterns in the result counts too.

        Returns
        -------
        list of Pattern
            As for `intersection`; only the pattern itself if no byte is common.

        Raises
        ------
        UndecidedError
            If more than `max_work` steps were needed.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((10, 10)) - Pattern((10, 5), (10, 2))
        [Pattern(shape=(50,), strides=(2,), offset=1, itemsize=1)]
        """
        return combination("Pattern.difference", self, other, True, max_work)

    def __sub__(self, other):
        """
        Return `difference` with the default budget.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((6,)) - Pattern((6,), offset=4)
        [Pattern(shape=(4,), strides=(1,), offset=0, itemsize=1)]
        """
        if not isinstance(other, Pattern):
            return NotImplemented
        return combination("Pattern.difference", self, other, True, None)

    def __contains__(self, byte):
        """
        Whether a byte belongs to an element (B). UndecidedError beyond the budget.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> p = Pattern((3,), (16,), itemsize=8)
        >>> 23 in p, 24 in p
        (True, False)
        """
        cdef pattern_t one
        cdef int answer
        byte = integer_of("Pattern", "byte", None, byte)
        # The last number of 64 bits has no end within them.
        if not -(1 << 63) <= byte < (1 << 63) - 1:
            return False
        one.ndim = 0
        one.offset = byte
        one.itemsize = 1
        with nogil:
            answer = are_disjoint(&self.p, &one, DEFAULT_WORK)
        return not verdict("Pattern", answer, None)

    def is_adjacent(self, Pattern other not None, max_work=None):
        """
        Whether two patterns share no byte and one has exactly the bytes of both (B).

        Parameters
        ----------
        other : Pattern
            The other pattern.
        max_work : int, optional
            How many steps may be taken, 1000000 by default.

        Returns
        -------
        bool

        Raises
        ------
        UndecidedError
            If the answer was not found within `max_work` steps.

        See Also
        --------
        Pattern.union : That pattern.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> even, odd = Pattern((5,), (2,)), Pattern((5,), (2,), offset=1)
        >>> even.is_adjacent(odd)
        True
        >>> even.is_adjacent(Pattern((3,), (2,), offset=1))
        False
        """
        return self.joined_with("Pattern.is_adjacent", other, max_work) is not None

    def union(self, Pattern other not None, max_work=None):
        """
        Return the one pattern with the bytes of two adjacent ones (B).

        Parameters
        ----------
        other : Pattern
            The other pattern.
        max_work : int, optional
            How many steps may be taken, 1000000 by default.

        Returns
        -------
        Pattern
            Canonical, with an itemsize as for `intersection`; the other pattern
            itself where one is empty.

        Raises
        ------
        ValueError
            If the patterns are not adjacent.
        UndecidedError
            If the answer was not found within `max_work` steps.

        See Also
        --------
        Pattern.is_adjacent : Whether there is one.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> Pattern((5,), (2,)).union(Pattern((5,), (2,), offset=1))
        Pattern(shape=(10,), strides=(1,), offset=0, itemsize=1)
        >>> Pattern((2,), (13,)).union(Pattern((10,), (1,), offset=2))
        Pattern(shape=(4, 3), strides=(3, 2), offset=0, itemsize=1)
        """
        result = self.joined_with("Pattern.union", other, max_work)
        if result is None:
            raise _errors.not_adjacent("Pattern.union", self, other)
        return result

    cdef object joined_with(self, str op, Pattern other, object max_work):
        cdef set_t x, y, r
        cdef Py_ssize_t work = budget(op, max_work)
        cdef wide unit
        cdef int status
        if has_no_bytes(&self.p):
            return other
        if has_no_bytes(&other.p):
            return self
        with nogil:
            unit = sets_of_both(&self.p, &other.p, &x, &y)
            status = are_disjoint(&self.p, &other.p, work)
            if status == 0:
                status = DONE
            elif status == 1:
                status = find_union(&x, &y, MAX_AXES, &r, &work) if unit else UNDECIDED
        if status < 0:
            raise failure(op, status, max_work)
        if status == DONE:
            return None
        return pattern_of_set(&r, self.p.offset, unit, <Py_ssize_t> unit)

    def is_linear_in(self, Pattern other not None, max_work=None):
        """
        Whether the map to the other's index tuples respects addition (M).

        The map takes an index tuple i of this pattern to the index tuple j of the
        other with ``other[j] == self[i]``. It exists if M is a subset of the
        other's and the other has no memory index twice; it respects addition if
        i, k and i + k go to tuples of which the last is the sum of the others.
        Then index 0 goes to index 0, so the offsets are equal. An empty pattern
        is linear in any other.

        Parameters
        ----------
        other : Pattern
            The other pattern.
        max_work : int, optional
            How many steps may be taken, 1000000 by default.

        Returns
        -------
        bool

        Raises
        ------
        UndecidedError
            If the answer was not found within `max_work` steps.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> rows = Pattern((4, 6))
        >>> Pattern((2, 3), (12, 2)).is_linear_in(rows)     # every second of both
        True
        >>> Pattern((4,), (3,)).is_linear_in(rows)          # goes round a corner
        False
        """
        cdef Py_ssize_t work = budget("Pattern.is_linear_in", max_work)
        cdef int answer
        with nogil:
            answer = is_linear(&self.p, &other.p, &work)
        return verdict("Pattern.is_linear_in", answer, max_work)

    def to_svg(self, *others):
        """
        Return a drawing of the memory, each byte where it lies.

        Memory runs from left to right and goes on in the next row. A box is an
        element, with its index tuple in it; other patterns have strips of their
        own, so common bytes stand above each other. Notebooks show the drawing of
        one pattern by themselves.

        Parameters
        ----------
        *others : Pattern
            Patterns to draw in the same memory.

        Returns
        -------
        str
            One ``<svg>`` element, to be put in a page or a file.

        Examples
        --------
        >>> from xbcast import Pattern
        >>> picture = Pattern((3,), (2,)).to_svg(Pattern((2,), (2,), offset=1))
        >>> picture[:4], picture[-6:]
        ('<svg', '</svg>')
        """
        # Not needed by a program that only asks questions.
        from xbcast import _svg

        common_shape("Pattern.to_svg", others)
        return _svg.draw_patterns([self, *others])

    def _repr_svg_(self):
        return self.to_svg()


cdef enum:
    # Steps worth taking without releasing the GIL: some microseconds.
    QUICK = 64


# Below 0, 0 or above: the lexical order of offset, number of axes, shape, strides, itemsize.
cdef int compare(const pattern_t* p, const pattern_t* q) noexcept nogil:
    cdef int i
    if p.offset != q.offset:
        return -1 if p.offset < q.offset else 1
    if p.ndim != q.ndim:
        return -1 if p.ndim < q.ndim else 1
    for i in range(p.ndim - 1, -1, -1):
        if p.size[i] != q.size[i]:
            return -1 if p.size[i] < q.size[i] else 1
    for i in range(p.ndim - 1, -1, -1):
        if p.stride[i] != q.stride[i]:
            return -1 if p.stride[i] < q.stride[i] else 1
    if p.itemsize != q.itemsize:
        return -1 if p.itemsize < q.itemsize else 1
    return 0


cdef Pattern pattern_of_set(const set_t* x, wide base, wide unit, Py_ssize_t itemsize):
    cdef Pattern result = Pattern.__new__(Pattern)
    cdef int i
    result.p.itemsize = itemsize
    if x.ndim < 0:
        result.p.ndim = 1
        result.p.size[0] = 0
        result.p.stride[0] = itemsize
        result.p.offset = 0
    else:
        result.p.ndim = x.ndim
        result.p.offset = <Py_ssize_t> (base + x.low * unit)
        for i in range(x.ndim):
            result.p.size[i] = <Py_ssize_t> x.size[i]
            result.p.stride[i] = <Py_ssize_t> (x.stride[i] * unit)
    result.finish()
    return result


cdef list combination(str op, Pattern p, Pattern q, bint less, object max_work):
    cdef set_t x, y
    cdef pieces_t out
    cdef size_t position = 0
    cdef Py_ssize_t work = budget(op, max_work)
    cdef wide unit
    cdef list result = []
    cdef int status = UNDECIDED
    if has_no_bytes(&p.p):
        return result
    if has_no_bytes(&q.p) or are_disjoint(&p.p, &q.p, 0) == 1:
        return [p] if less else result
    unit = sets_of_both(&p.p, &q.p, &x, &y)
    init_pieces(&out)
    if unit:
        with nogil:
            status = combine_any(&x, &y, less, &out, &work)
            if status == DONE:
                status = join_pieces(&out)
    try:
        if status != DONE:
            raise failure(op, status, max_work)
        while position < out.length:
            read_piece(&out, &position, &x)
            canonicalize(&x)
            result.append(pattern_of_set(&x, p.p.offset, unit, <Py_ssize_t> unit))
    finally:
        free(out.data)
    result.sort()
    return result


cdef Pattern pattern_of_array(str name, object array):
    cdef Pattern result
    cdef Py_buffer view
    cdef bint odd = False
    cdef int i, n
    # The buffer protocol is the fast way; NumPy has it for most dtypes.
    if PyObject_CheckBuffer(array):
        try:
            PyObject_GetBuffer(array, &view, PyBUF_STRIDES)
        except (BufferError, ValueError):
            pass
        else:
            n = view.ndim
            if n > MAX_AXES:
                PyBuffer_Release(&view)
                raise _errors.too_many_dimensions("Pattern.of", name, n)
            result = Pattern.__new__(Pattern)
            result.p.ndim = n
            result.p.offset = <Py_ssize_t> view.buf
            result.p.itemsize = view.itemsize
            for i in range(n):
                result.p.size[n - 1 - i] = view.shape[i]
                result.p.stride[n - 1 - i] = view.strides[i]
                if view.shape[i] <= 1:
                    odd = True
            PyBuffer_Release(&view)
            # An exporter may make up strides that nobody uses.
            if odd and hasattr(array, "strides"):
                strides = array.strides
                if len(strides) == n:
                    for i in range(n):
                        result.p.stride[n - 1 - i] = strides[i]
            result.finish()
            return result
    interface = getattr(array, "__array_interface__", None)
    if interface is None or interface.get("data") is None:
        raise _errors.no_memory("Pattern.of", name, array)
    itemsize = getattr(array, "itemsize", None)
    if itemsize is None:
        itemsize = int(interface["typestr"][2:]) * (4 if interface["typestr"][1] == "U" else 1)
    return Pattern(interface["shape"], interface.get("strides"), interface["data"][0], itemsize)


# PatternTuple -------------------------------------------------------------

@cython.final
cdef class PatternTuple:
    """PatternTuple(*patterns)\n--\n\n
    Broadcastable patterns taken together, as the operands of one operation are.

    To each index tuple of the common shape belongs a tuple of memory indices, one
    from each pattern, which is stretched where its size is 1. Immutable, hashable,
    ordered and picklable. It has a length, and its patterns are its items.

    Parameters
    ----------
    *patterns : Pattern
        One to 8 patterns. An operation has at most four (its result, two operands
        and a mask), and the planner works on this struct.

    Raises
    ------
    ValueError
        If the patterns are not broadcastable (see `broadcastable`), there are none
        or more than 8, or the common shape has more elements than 64 bits count.

    Examples
    --------
    >>> from xbcast import Pattern, PatternTuple
    >>> t = PatternTuple(Pattern((4, 3), itemsize=8), Pattern((3,), itemsize=8))
    >>> t.shape
    (4, 3)
    >>> t[1]
    Pattern(shape=(3,), strides=(8,), offset=0, itemsize=8)
    """

    cdef tuple patterns
    cdef tuple common

    def __cinit__(self, *patterns):
        cdef object count = 1
        if not 0 < len(patterns) <= MAX_PATTERNS:
            raise _errors.pattern_count("PatternTuple", len(patterns), MAX_PATTERNS)
        self.patterns = patterns
        self.common = common_shape("PatternTuple", patterns)
        if self.common is None:
            raise _errors.not_broadcastable("PatternTuple", [p.shape for p in patterns])
        for size in self.common:
            count *= size
        if count.bit_length() > 63:
            raise _errors.element_count("PatternTuple", self.common)

    @property
    def shape(self):
        """
        The common shape.

        Shapes are padded with 1 on the left; on each axis it is the size that is
        not 1, if there is one.

        Examples
        --------
        >>> from xbcast import Pattern, PatternTuple
        >>> PatternTuple(Pattern((4, 1, 5)), Pattern((6, 1)), Pattern((5,))).shape
        (4, 6, 5)
        """
        return self.common

    def __len__(self):
        return len(self.patterns)

    def __getitem__(self, index):
        return self.patterns[index]

    def __iter__(self):
        return iter(self.patterns)

    def __repr__(self):
        return f"PatternTuple({', '.join([repr(p) for p in self.patterns])})"

    def __str__(self):
        return "\n".join([str(p) for p in self.patterns])

    def _repr_svg_(self):
        return self.patterns[0].to_svg(*self.patterns[1:])

    def __reduce__(self):
        return PatternTuple, self.patterns

    def __hash__(self):
        return hash(self.patterns)

    def __richcmp__(self, other, int op):
        if not isinstance(other, PatternTuple):
            return NotImplemented
        return PyObject_RichCompare(self.patterns, (<PatternTuple> other).patterns, op)

    # Writes the tuple as the planner has it. Must hold: no size is 0.
    cdef void fill(self, pattern_tuple_t* t):
        cdef Pattern p
        cdef int k, i
        t.n = len(self.patterns)
        t.ndim = len(self.common)
        for i in range(t.ndim):
            t.axis[i].size = self.common[t.ndim - 1 - i]
        for k in range(t.n):
            p = self.patterns[k]
            t.offset[k] = p.p.offset
            for i in range(t.ndim):
                t.axis[i].stride[k] = 0
                if i < p.p.ndim and p.p.size[i] == t.axis[i].size:
                    t.axis[i].stride[k] = p.p.stride[i]

    def reduced(self):
        """
        Return the form that the planner works on: the same index tuples, fewer axes.

        Each memory index tuple occurs as often as before. Axes that are unit axes
        of all patterns are dropped. An axis is flipped for all patterns where the
        first pattern with a nonzero stride there has a negative one. Axes are
        sorted by absolute stride, that of the first pattern first and ties by the
        next; the last axis has the least. Axes are merged that merge in every
        pattern. An axis with stride 0 in some or all patterns
        stays.

        Returns
        -------
        PatternTuple
            All patterns have the common shape, stride 0 where they are stretched.
            Of an empty tuple, patterns of shape (0,).

        Examples
        --------
        >>> from xbcast import Pattern, PatternTuple
        >>> out = Pattern((4, 3, 5), itemsize=8)
        >>> column = Pattern((4, 1, 1), itemsize=8)
        >>> for p in PatternTuple(out, out.flip(0), column).reduced():
        ...     print(p)
        offset=0 shape=[4 15] strides=[120 8]
        offset=360 shape=[4 15] strides=[-120 8]
        offset=0 shape=[4 15] strides=[8 0]
        """
        cdef pattern_tuple_t t
        if 0 in self.common:
            return PatternTuple(*[
                Pattern((0,), ((<Pattern> p).p.itemsize,), 0, (<Pattern> p).p.itemsize)
                for p in self.patterns
            ])
        self.fill(&t)
        with nogil:
            reduce_tuple(&t)
        return pattern_tuple_of(&t, [(<Pattern> p).p.itemsize for p in self.patterns])

    def same_set(self, PatternTuple other not None, max_work=None):
        """
        Whether two tuples have the same set of memory index tuples (M).

        Parameters
        ----------
        other : PatternTuple
            The other tuple.
        max_work : int, optional
            How many steps a search may take, 1000000 by default.

        Returns
        -------
        bool

        Raises
        ------
        UndecidedError
            If the answer was not found within `max_work` steps.

        Examples
        --------
        >>> from xbcast import Pattern, PatternTuple
        >>> a, b = Pattern((4, 3), (3, 1)), Pattern((4, 3), (1, 4))
        >>> PatternTuple(a, b).same_set(PatternTuple(a.transpose(), b.transpose()))
        True
        >>> PatternTuple(a, b).same_set(PatternTuple(a, a))
        False
        """
        cdef set_t x, y
        cdef Py_ssize_t work = budget("PatternTuple.same_set", max_work)
        cdef list weights = [], lows = []
        cdef object weight = 1, unit
        cdef int answer
        cdef pattern_tuple_t s, t
        if 0 in self.common or 0 in other.common:
            return 0 in self.common and 0 in other.common
        if len(self.patterns) != len(other.patterns):
            return False
        # One number for each tuple: its entries are digits, each with room for the
        # range of its pattern. Strides and offsets add up the same way.
        for p, q in zip(self.patterns, other.patterns):
            if p.lowest != q.lowest or p.highest != q.highest:
                return False
            unit = max(gcd_of_strides(p, q), 1)
            lows.append(p.lowest)
            weights.append((weight, unit))
            weight *= (p.highest - p.lowest) // unit + 1
        if weight.bit_length() > (120 if XB_HAVE_WIDE else 60):
            return self.same_set_listed(other, work, max_work)
        self.fill(&s)
        other.fill(&t)
        weave(&s, lows, weights, &x)
        weave(&t, lows, weights, &y)
        with nogil:
            answer = are_equal(&x, &y, &work)
        return verdict("PatternTuple.same_set", answer, max_work)

    # The same question where the numbers would be too large.
    cdef object same_set_listed(self, PatternTuple other, Py_ssize_t work, object max_work):
        cdef object count = 1, other_count = 1
        for size in self.common:
            count *= size
        for size in other.common:
            other_count *= size
        if count + other_count > work:
            raise failure("PatternTuple.same_set", UNDECIDED, max_work)
        return (set(memory_index_tuples(*self.patterns))
                == set(memory_index_tuples(*other.patterns)))


cdef object pattern_tuple_of(const pattern_tuple_t* t, object itemsizes):
    cdef list patterns = []
    cdef Pattern p
    cdef int i, k
    for k in range(t.n):
        p = Pattern.__new__(Pattern)
        p.p.ndim = t.ndim
        p.p.offset = t.offset[k]
        p.p.itemsize = itemsizes[k]
        for i in range(t.ndim):
            p.p.size[i] = t.axis[i].size
            p.p.stride[i] = t.axis[i].stride[k]
        p.finish()
        patterns.append(p)
    return PatternTuple(*patterns)


cdef object gcd_of_strides(Pattern p, Pattern q):
    return <Py_ssize_t> common_stride(&q.p, common_stride(&p.p, 0))


# A Python int of up to 126 bits.
cdef wide wide_of(object value):
    cdef object low = value & ((1 << 60) - 1), high = value >> 60
    return (<wide> <long long> high) * (<wide> 1 << 60) + <wide> <long long> low


# A tuple as one set: each pattern's indices, less its `lows` entry, are counted in
# its unit and multiplied by its weight. Consumes t.
cdef int weave(pattern_tuple_t* t, list lows, list weights, set_t* x) except -1:
    cdef wide stride, weight
    cdef Py_ssize_t unit, low
    cdef int i, k
    x.ndim = 0
    x.low = 0
    for k in range(t.n):
        weight = wide_of(weights[k][0])
        unit = weights[k][1]
        low = lows[k]
        x.low += <wide> ((t.offset[k] - low) // unit) * weight
    for i in range(t.ndim):
        if t.axis[i].size == 1:
            continue
        stride = 0
        for k in range(t.n):
            weight = wide_of(weights[k][0])
            unit = weights[k][1]
            stride += <wide> (t.axis[i].stride[k] // unit) * weight
        if stride < 0:
            x.low += (<wide> t.axis[i].size - 1) * stride
            stride = -stride
        if stride:
            push_axis(x, t.axis[i].size, stride)
    canonicalize(x)
    return 0


# The common shape of patterns, or None if they are not broadcastable.
cdef object common_shape(str op, tuple patterns):
    cdef list shape = []
    cdef Pattern p
    cdef int i
    for item in patterns:
        if not isinstance(item, Pattern):
            raise _errors.no_pattern(op, item)
        p = item
        for i in range(p.p.ndim):
            if i == len(shape):
                shape.append(p.p.size[i])
            elif shape[i] == 1:
                shape[i] = p.p.size[i]
            elif p.p.size[i] != 1 and p.p.size[i] != shape[i]:
                return None
    return tuple(reversed(shape))


# Functions ----------------------------------------------------------------

def broadcastable(*patterns):
    """
    Whether patterns can be broadcast together by Kaldi's and PyTorch's rule.

    Shapes are padded with 1 on the left; then on each axis the sizes are equal or
    1. XLA's rule, which xbcast's operations keep, is `broadcast_shapes`.

    Parameters
    ----------
    *patterns : Pattern
        Any number of patterns.

    Returns
    -------
    bool

    Examples
    --------
    >>> from xbcast import Pattern, broadcastable
    >>> broadcastable(Pattern((3, 4)), Pattern((4,)))
    True
    >>> broadcastable(Pattern((3, 4)), Pattern((3,)))
    False
    """
    return common_shape("broadcastable", patterns) is not None


def memory_indices(Pattern p not None):
    """
    Return the memory index of every element, in natural order.

    The natural order of index tuples is that of a C-order array: the last index
    runs fastest. An index occurs as often as elements start there, so
    ``set(memory_indices(p))`` is M. Slow; for tests and teaching.

    Parameters
    ----------
    p : Pattern
        The pattern.

    Returns
    -------
    list of int

    Examples
    --------
    >>> from xbcast import Pattern, memory_indices
    >>> memory_indices(Pattern((2, 3), (10, -1), offset=2))
    [2, 1, 0, 12, 11, 10]
    """
    cdef list found = [p.p.offset]
    cdef object stride
    cdef int i
    if p.count == 0:
        return []
    for i in range(p.p.ndim - 1, -1, -1):
        if p.p.size[i] != 1:
            stride = p.p.stride[i]
            found = [m + index * stride for m in found for index in range(p.p.size[i])]
    return found


def memory_index_tuples(*patterns):
    """
    Return the memory indices of every index tuple of the common shape, as tuples.

    They come in natural order: the last index runs fastest. Patterns are broadcast
    as in `PatternTuple`. Slow; for tests and teaching.

    Parameters
    ----------
    *patterns : Pattern
        Broadcastable patterns, at least one.

    Returns
    -------
    list of tuple of int

    Raises
    ------
    ValueError
        If the patterns are not broadcastable.

    Examples
    --------
    >>> from xbcast import Pattern, memory_index_tuples
    >>> memory_index_tuples(Pattern((2, 1), (8, 0)), Pattern((2,)))
    [(0, 0), (0, 1), (8, 0), (8, 1)]
    """
    cdef list columns
    cdef int n
    if not patterns:
        raise _errors.pattern_count("memory_index_tuples", 0, None)
    shape = common_shape("memory_index_tuples", patterns)
    if shape is None:
        raise _errors.not_broadcastable("memory_index_tuples", [p.shape for p in patterns])
    n = len(shape)
    columns = [memory_indices(p.broadcast_in_dim(shape, range(n - p.ndim, n))) for p in patterns]
    return list(zip(*columns))


def _reduce_repeatedly(PatternTuple patterns not None, Py_ssize_t times):
    """Reduce a tuple many times, without making objects: for benchmarks."""
    cdef pattern_tuple_t given, t
    cdef Py_ssize_t _
    cdef int i, k
    if 0 in patterns.common:
        return
    patterns.fill(&given)
    with nogil:
        for _ in range(times):
            t.n = given.n
            t.ndim = given.ndim
            for k in range(given.n):
                t.offset[k] = given.offset[k]
            for i in range(given.ndim):
                copy_axis(&t.axis[i], &given.axis[i], given.n)
            reduce_tuple(&t)
