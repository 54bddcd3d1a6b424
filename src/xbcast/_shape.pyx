# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, freethreading_compatible=True
"""
The one place for shape rules: which shapes combine, and how (docs/semantics.md,
B1 to B11). The rules run on C integers without the GIL; arguments are parsed and
errors are made around them, with texts from _errors.py. Knows no NumPy.
"""

from cpython.list cimport PyList_CheckExact
from cpython.long cimport PyLong_CheckExact
from cpython.object cimport PyObject
from cpython.pyport cimport PY_SSIZE_T_MAX, PY_SSIZE_T_MIN
from cpython.tuple cimport PyTuple_CheckExact, PyTuple_GET_ITEM, PyTuple_GET_SIZE
from itertools import islice
from operator import index as as_index

from xbcast import _errors

cdef extern from "Python.h":
    long long PyLong_AsLongLongAndOverflow(object value, int* overflow) except? -1


# ---------------------------------------------------------------- arguments

cdef object as_sequence(object op, object name, object value):
    """Return the argument as a tuple; TypeError if it is no sequence."""
    if PyTuple_CheckExact(value):
        return value
    if PyList_CheckExact(value):
        return tuple(value)
    if isinstance(value, (str, bytes, dict, set, frozenset, bool)):
        raise _errors.not_a_sequence(op, name, value)
    try:
        number = as_index(value)
    except TypeError:
        pass
    else:
        raise _errors.bare_dimension(op, name, number)
    try:
        # no rank has more entries than these, so what follows makes no difference
        return tuple(islice(value, MAX_AXES + 1))
    except TypeError:
        raise _errors.not_a_sequence(op, name, value) from None


cdef Py_ssize_t as_entry(object op, object name, Py_ssize_t i, object value) except? -1:
    """Return an entry as a C integer, clamped; TypeError if it is no integer."""
    cdef int overflow
    cdef Py_ssize_t entry
    if not PyLong_CheckExact(value):
        # bool is an int to Python, and NumPy's has an __index__ before NumPy 2.1
        if isinstance(value, bool) or getattr(getattr(value, "dtype", None), "kind", "") == "b":
            raise _errors.dimension_kind(op, name, i, value)
        try:
            value = as_index(value)
        except TypeError:
            raise _errors.dimension_kind(op, name, i, value) from None
    entry = PyLong_AsLongLongAndOverflow(value, &overflow)
    if overflow != 0:
        return PY_SSIZE_T_MAX if overflow > 0 else PY_SSIZE_T_MIN
    return entry


cdef object parse_row(object op, object name, object row, Py_ssize_t* n, Py_ssize_t* entry):
    """Read the entries of a tuple; returns them as ints, for an entry can be read once only."""
    cdef Py_ssize_t i, value
    cdef bint exact = True
    n[0] = PyTuple_GET_SIZE(row)
    for i in range(n[0]):
        exact &= PyLong_CheckExact(<object>PyTuple_GET_ITEM(row, i))
        value = as_entry(op, name, i, <object>PyTuple_GET_ITEM(row, i))
        if i < MAX_AXES:
            entry[i] = value
    if exact:
        return row
    return tuple([entry[i] for i in range(min(n[0], MAX_AXES))]) + row[MAX_AXES:]


cdef bint is_row(object entry):
    """Whether an entry of broadcast_dimensions is None or a sequence (B11)."""
    if entry is None or isinstance(entry, (tuple, list)):
        return True
    return not isinstance(entry, (int, float, str, bytes)) and hasattr(entry, "__len__")


cdef bint read_dims(PyObject* value, dims_t* dims) except -1:
    """Read broadcast_dimensions if it is a tuple of ints; false if it is anything else."""
    cdef Py_ssize_t i, n
    cdef int overflow
    if not PyTuple_CheckExact(<object>value):
        return False
    n = PyTuple_GET_SIZE(<object>value)
    if n > MAX_AXES:
        return False
    dims.form = IN_DIM
    dims.n[0] = n
    dims.n[1] = 0
    for i in range(n):
        if not PyLong_CheckExact(<object>PyTuple_GET_ITEM(<object>value, i)):
            return False
        dims.entry[0][i] = PyLong_AsLongLongAndOverflow(
            <object>PyTuple_GET_ITEM(<object>value, i), &overflow)
        if overflow != 0:
            return False
    return True


cdef tuple parse_dims(object op, object value, dims_t* dims):
    """
    Parse broadcast_dimensions.

    Before: any object. After: `dims` is filled, or TypeError (B5, B11).
    """
    cdef Py_ssize_t i, n, rows = 0
    dims.form = IN_DIM
    dims.n[0] = 0
    dims.n[1] = 0
    if value is None or read_dims(<PyObject*>value, dims):
        return value
    if not PyTuple_CheckExact(value):
        value = as_sequence(op, "broadcast_dimensions", value)
    n = PyTuple_GET_SIZE(value)
    for i in range(n):
        if not PyLong_CheckExact(<object>PyTuple_GET_ITEM(value, i)):
            rows += is_row(<object>PyTuple_GET_ITEM(value, i))
    if rows == 0:
        return parse_row(op, "broadcast_dimensions", value, &dims.n[0], dims.entry[0])
    if rows != n:
        raise _errors.mixed_forms(op, value)
    dims.form = PER_OPERAND
    if n != 2:
        # reported by infer_shape's caller, who knows the shapes
        dims.n[0] = -2
        return value
    given = []
    for i in range(2):
        row = value[i]
        if row is None:
            dims.n[i] = -1
        else:
            name = f"broadcast_dimensions[{i}]"
            row = as_sequence(op, name, row)
            row = parse_row(op, name, row, &dims.n[i], dims.entry[i])
        given.append(row)
    return tuple(given)


cdef tuple parse_degenerate(object op, object value, degenerate_t* degenerate):
    """Parse degenerate_dimensions (B10). After: `degenerate` is filled, or TypeError."""
    cdef Py_ssize_t i, entry
    degenerate.given = value is not None
    degenerate.beyond = False
    degenerate.may_stretch = 0
    if value is None:
        return None
    value = as_sequence(op, "degenerate_dimensions", value)
    value = tuple([
        as_entry(op, "degenerate_dimensions", i, <object>PyTuple_GET_ITEM(value, i))
        for i in range(PyTuple_GET_SIZE(value))
    ])
    for i in range(PyTuple_GET_SIZE(value)):
        entry = value[i]
        if 0 <= entry < MAX_AXES:
            degenerate.may_stretch |= <unsigned long long>1 << entry
        else:
            degenerate.beyond = True
    return value


# -------------------------------------------------------------------- rules

cdef inline bint broken(fault_t* fault, int rule, int form, Py_ssize_t entry, int dim) noexcept nogil:
    fault.rule = rule
    fault.form = form
    fault.entry = entry
    fault.dim = dim
    return False


cdef inline bint fits(Py_ssize_t m, Py_ssize_t n) noexcept nogil:
    return m == n or m == 1 or n == 1                                    # B7


cdef inline Py_ssize_t combined(Py_ssize_t m, Py_ssize_t n) noexcept nogil:
    return n if m == 1 else m                                            # B8


cdef bint infer_shape(const shape_t* x, const dims_t* dims, const degenerate_t* degenerate,
                      placement_t* placement, fault_t* fault) noexcept nogil:
    """
    Find the result's shape and where each operand's dimensions land in it.

    Before: ranks are at most 64. After: true and `placement` is filled, or false
    and `fault` names the fault that XLA reports first (B9).

    x1         x2      broadcast_dimensions   result
    (2, 3, 4)  (3,)    (1,)                   (2, 3, 4)
    (2, 1, 4)  (2, 3)  (0, 1)                 (2, 3, 4)
    (4, 3)     (4,)    (1,)                   error B7: sizes 4 and 3
    """
    cdef int d, low, high, rank
    cdef Py_ssize_t i, entry
    if dims.form == PER_OPERAND:
        return (infer_placed(x, dims, placement, fault)
                and check_degenerate(x, degenerate, placement, fault))
    if x[0].ndim == x[1].ndim:
        rank = x[0].ndim
        if dims.n[0] != 0:                                               # B1
            if dims.n[0] != rank:
                return broken(fault, 1, 0, -1, -1)
            for d in range(rank):
                if dims.entry[0][d] != d:
                    return broken(fault, 1, 0, d, -1)
        placement.ndim = rank
        for d in range(rank):
            if not fits(x[0].size[d], x[1].size[d]):
                return broken(fault, 7, 0, -1, d)
            placement.size[d] = combined(x[0].size[d], x[1].size[d])
            placement.source[0][d] = <signed char>d
            placement.source[1][d] = <signed char>d
        return not degenerate.given or check_degenerate(x, degenerate, placement, fault)
    low = 0 if x[0].ndim < x[1].ndim else 1
    high = 1 - low
    rank = x[high].ndim
    if dims.n[0] != x[low].ndim:
        if x[low].ndim == 0:
            return broken(fault, 2, 0, -1, -1)                           # B2
        if dims.n[0] == 0:
            return broken(fault, 3, 0, -1, -1)                           # B3
        return broken(fault, 4, 0, -1, -1)                               # B4
    placement.ndim = rank
    for d in range(rank):
        placement.size[d] = x[high].size[d]
        placement.source[high][d] = <signed char>d
        placement.source[low][d] = -1
    for i in range(x[low].ndim):
        entry = dims.entry[0][i]
        if entry < 0 or entry >= rank:
            return broken(fault, 5, 0, i, -1)                            # B5
        if not fits(x[low].size[i], x[high].size[entry]):
            return broken(fault, 7, 1, i, <int>entry)                    # B7
        if i > 0 and entry <= dims.entry[0][i - 1]:
            return broken(fault, 6, 0, i, -1)                            # B6
        placement.size[entry] = combined(x[low].size[i], x[high].size[entry])
        placement.source[low][entry] = <signed char>i
    return not degenerate.given or check_degenerate(x, degenerate, placement, fault)


cdef bint infer_placed(const shape_t* x, const dims_t* dims, placement_t* placement,
                       fault_t* fault) noexcept nogil:
    """
    B11: each operand placed by its own entry of broadcast_dimensions.

    x1    x2    broadcast_dimensions   result
    (3,)  (4,)  ((0,), (1,))           (3, 4)
    (3,)  ()    ((1,), None)           (1, 3)
    """
    cdef int k, d, rank = 0
    cdef Py_ssize_t i, entry, size
    if dims.n[0] == -2:
        return broken(fault, 11, 0, -1, -1)
    for k in range(2):
        rank = max(rank, x[k].ndim)
        # `()` is None for a scalar; for any other operand it is one entry too few
        if dims.n[k] >= 0 and dims.n[k] != x[k].ndim:
            return broken(fault, 11, 1, k, -1)
        for i in range(max(dims.n[k], 0)):
            entry = dims.entry[k][i]
            if entry < 0 or entry >= MAX_AXES:
                return broken(fault, 11, 2, k, -1)
            if i > 0 and entry <= dims.entry[k][i - 1]:
                return broken(fault, 11, 3, k, -1)
            rank = max(rank, <int>entry + 1)
    placement.ndim = rank
    for d in range(rank):
        placement.size[d] = 1
    for k in range(2):
        if dims.n[k] == -1 and x[k].ndim != 0 and x[k].ndim != rank:
            placement.ndim = rank
            return broken(fault, 11, 4, k, -1)
        for d in range(rank):
            placement.source[k][d] = -1
        for i in range(x[k].ndim):
            entry = i if dims.n[k] == -1 else dims.entry[k][i]
            placement.source[k][entry] = <signed char>i
    for d in range(rank):
        for k in range(2):
            if placement.source[k][d] < 0:
                continue
            size = x[k].size[placement.source[k][d]]
            if not fits(size, placement.size[d]):
                return broken(fault, 7, 2, -1, d)
            placement.size[d] = combined(size, placement.size[d])
    return True


cdef bint check_degenerate(const shape_t* x, const degenerate_t* degenerate,
                           const placement_t* placement, fault_t* fault) noexcept nogil:
    """B10: only the listed dimensions of the result stretch a size of 1."""
    cdef int d, s1, s2
    if not degenerate.given:
        return True
    if degenerate.beyond or (placement.ndim < MAX_AXES
                             and degenerate.may_stretch >> placement.ndim):
        return broken(fault, 10, 0, -1, -1)
    for d in range(placement.ndim):
        s1 = placement.source[0][d]
        s2 = placement.source[1][d]
        if (s1 >= 0 and s2 >= 0 and x[0].size[s1] != x[1].size[s2]
                and not degenerate.may_stretch >> d & 1):
            return broken(fault, 10, 1, -1, d)
    return True


# ------------------------------------------------------------------- errors

cdef object fault_error(object op, object shapes, object dims, object degenerate,
                        const placement_t* placement, const fault_t* fault):
    """Return the exception for a fault of infer_shape."""
    entry = None if fault.entry < 0 else fault.entry
    if fault.rule == 10:
        if fault.form == 1:
            return _errors.may_not_stretch(op, shapes, dims, degenerate, fault.dim)
        rank = placement.ndim
        entry = next(i for i, d in enumerate(degenerate) if not 0 <= d < rank)
        return _errors.degenerate_out_of_range(op, shapes, dims, degenerate, entry, rank)
    if fault.rule == 11:
        if fault.form == 4:
            return _errors.unplaced_operand(op, shapes, dims, entry, placement.ndim)
        form = ("count", "length", "range", "order")[fault.form]
        return _errors.broken_placement(op, shapes, dims, entry, form)
    if fault.rule == 7 and fault.form == 2:
        sizes = tuple([shapes[k][placement.source[k][fault.dim]] for k in range(2)])
        return _errors.placed_sizes_differ(op, shapes, dims, fault.dim, sizes)
    return _errors.broken_rule(op, f"B{fault.rule}", shapes, dims, entry, degenerate is None)


# ------------------------------------------------------------ public functions

cdef tuple parse_shape(object op, object name, object value, Py_ssize_t* size):
    """Copy a shape into `size`; TypeError or ValueError if it is none."""
    cdef Py_ssize_t i, entry
    value = as_sequence(op, name, value)
    if len(value) > MAX_AXES:
        raise _errors.too_many_dimensions(op, name, len(value))
    for i in range(PyTuple_GET_SIZE(value)):
        item = <object>PyTuple_GET_ITEM(value, i)
        entry = as_entry(op, name, i, item)
        if entry < 0 or entry != as_index(item):
            raise _errors.shape_entry(op, name, i, as_index(item))
        size[i] = entry
    return tuple([size[i] for i in range(len(value))])


def broadcast_shapes(lhs, rhs, broadcast_dimensions=None, degenerate_dimensions=None):
    """
    Return the shape of an elementwise operation on two shapes.

    The rules are XLA's shape inference (B1 to B9), with two additions (B10, B11);
    every op of xbcast keeps them.

    Parameters
    ----------
    lhs, rhs : sequence of int
        The operands' shapes (elements per dimension).
    broadcast_dimensions : sequence, optional
        For each dimension of the lower-rank operand the dimension of the
        higher-rank one that it matches, strictly increasing. Or one entry per
        operand, each a sequence of ints or None, which places each operand by
        itself (B11).
    degenerate_dimensions : sequence of int, optional
        Dimensions of the result in which a size of 1 may stretch (B10). By default
        all may.

    Returns
    -------
    tuple of int
        The result's shape.

    Raises
    ------
    BroadcastError
        If the shapes do not combine. It is a ValueError.
    TypeError
        If an argument is of the wrong kind.

    See Also
    --------
    broadcast_in_dim : place one array within a larger shape.

    Examples
    --------
    >>> import xbcast
    >>> xbcast.broadcast_shapes((2, 3, 4), (3,), broadcast_dimensions=(1,))
    (2, 3, 4)
    >>> xbcast.broadcast_shapes((3,), (4,), broadcast_dimensions=((0,), (1,)))
    (3, 4)
    >>> xbcast.broadcast_shapes((8, 18), (1, 18), degenerate_dimensions=())
    Traceback (most recent call last):
        ...
    xbcast.BroadcastError: broadcast_shapes: dimension 0 of the result would stretch a \
size of 1, and by degenerate_dimensions = () none may (shapes (8, 18) and (1, 18))
    """
    return place_shapes("broadcast_shapes", lhs, rhs, broadcast_dimensions,
                        degenerate_dimensions)[0]


def place_shapes(op, lhs, rhs, dims, degenerate):
    """
    Apply the shape rules to two shapes, on behalf of `op`.

    Returns the result's shape and, for each operand, a tuple that says for each of
    the result's dimensions which of the operand's own lands there (-1: none).
    """
    cdef Py_ssize_t size[2][MAX_AXES]
    cdef shape_t x[2]
    cdef dims_t parsed
    cdef degenerate_t parsed_degenerate
    cdef placement_t placement
    cdef fault_t fault
    cdef Py_ssize_t d
    shapes = parse_shape(op, "lhs", lhs, size[0]), parse_shape(op, "rhs", rhs, size[1])
    x[0].ndim = <int>len(shapes[0])
    x[0].size = size[0]
    x[1].ndim = <int>len(shapes[1])
    x[1].size = size[1]
    dims = parse_dims(op, dims, &parsed)
    degenerate = parse_degenerate(op, degenerate, &parsed_degenerate)
    if not infer_shape(x, &parsed, &parsed_degenerate, &placement, &fault):
        raise fault_error(op, shapes, dims, degenerate, &placement, &fault)
    return (tuple([placement.size[d] for d in range(placement.ndim)]),
            tuple([placement.source[0][d] for d in range(placement.ndim)]),
            tuple([placement.source[1][d] for d in range(placement.ndim)]))


def is_per_operand(op, dims):
    """Whether broadcast_dimensions has one entry per operand (B11), not per dimension."""
    cdef dims_t parsed
    parse_dims(op, dims, &parsed)
    return parsed.form == PER_OPERAND


cdef int parse_in_dim(object shape, object dims, const shape_t* x, placement_t* placement) except -1:
    """
    Place one operand within a given shape, as XLA's BroadcastInDim does.

    After: placement.size is the shape and placement.source[0] the operand's
    dimensions; or BroadcastError, TypeError.
    """
    cdef dims_t parsed
    cdef Py_ssize_t i, entry
    cdef Py_ssize_t d
    op = "broadcast_in_dim"
    result = parse_shape(op, "shape", shape, placement.size)
    placement.ndim = <int>len(result)
    dims = as_sequence(op, "broadcast_dimensions", dims)
    dims = parse_row(op, "broadcast_dimensions", dims, &parsed.n[0], parsed.entry[0])
    own = tuple([x.size[i] for i in range(x.ndim)])
    if parsed.n[0] != x.ndim:
        raise _errors.in_dim_length(own, result, dims)
    for d in range(placement.ndim):
        placement.source[0][d] = -1
    for i in range(x.ndim):
        entry = parsed.entry[0][i]
        if entry < 0 or entry >= placement.ndim:
            raise _errors.in_dim_range(own, result, dims, i)
        if x.size[i] != 1 and x.size[i] != placement.size[entry]:
            raise _errors.in_dim_size(own, result, dims, i)
        if i > 0 and entry <= parsed.entry[0][i - 1]:
            raise _errors.in_dim_order(own, result, dims, i)
        placement.source[0][entry] = <signed char>i
    return 0
