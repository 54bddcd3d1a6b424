"""Every error text of xbcast, `BroadcastError` and `UndecidedError`.

The compiled modules find a fault and say which rule it breaks; the functions here
turn that into an exception. They get the caller's own shapes and arguments and
work out nothing that decides whether a call is accepted, with one exception: the
way out that a message may offer (`_only_placement`). Imports nothing but the
standard library. Rules are numbered as in docs/semantics.md.
"""

__all__ = ["BroadcastError", "UndecidedError"]


class BroadcastError(ValueError):
    """
    Raised where two shapes do not combine under the strict broadcasting rules.

    Parameters
    ----------
    message : str
        One line: the op, the argument at fault, the original shapes, and the way
        out if there is exactly one.
    rule : str
        The rule that is broken, ``"B1"`` to ``"B11"`` (see "Semantics" in the
        documentation; B1 to B8 are XLA's).
    op : str
        Name of the op or function that was called.
    shapes : tuple of tuple of int
        The operands' original shapes.
    broadcast_dimensions : object, optional
        The argument as it was given.
    entry : int, optional
        Index of the entry at fault in `broadcast_dimensions` (or in
        `degenerate_dimensions` for rule B10), where one is at fault.

    Examples
    --------
    >>> import numpy as np
    >>> import xbcast
    >>> try:
    ...     xbcast.add(np.ones((2, 3)), np.ones(3))
    ... except xbcast.BroadcastError as error:
    ...     print(error.rule, error.shapes)
    B3 ((2, 3), (3,))
    """

    def __init__(self, message, rule, op, shapes, broadcast_dimensions=None, entry=None):
        super().__init__(message)
        self.rule = rule
        self.op = op
        self.shapes = shapes
        self.broadcast_dimensions = broadcast_dimensions
        self.entry = entry

    def __reduce__(self):
        return type(self), (
            self.args[0],
            self.rule,
            self.op,
            self.shapes,
            self.broadcast_dimensions,
            self.entry,
        )


def _show(value):
    """Return the repr of an argument, cut where it gets long."""
    if isinstance(value, tuple):
        value = value[:65]
    try:
        text = repr(value)
    except ValueError:  # an int of more digits than Python prints
        return "(numbers too long to print)"
    return text if len(text) <= 200 else f"{text[:197]}..."


def _fits(size, other):
    return size == other or size == 1 or other == 1


def _only_placement(lhs, rhs):
    """
    Return the one `broadcast_dimensions` that makes the shapes fit, or None.

    ``ways[j]`` counts, up to two, the ways to place the first i dimensions of the
    lower-rank shape within the first j of the higher-rank one.
    """
    low, high = sorted((lhs, rhs), key=len)
    if not low or len(low) == len(high):
        return None
    table = [[1] * (len(high) + 1)]
    for size in low:
        ways = [0]
        for j, other in enumerate(high):
            ways.append(min(2, ways[j] + table[-1][j] * _fits(size, other)))
        table.append(ways)
    if table[-1][-1] != 1:
        return None
    dims = []
    j = len(high)
    for i in range(len(low), 0, -1):
        while table[i][j - 1] == table[i][j]:
            j -= 1
        j -= 1
        dims.append(j)
    return tuple(reversed(dims))


def _way_out(lhs, rhs):
    if len(lhs) == len(rhs):
        if all(map(_fits, lhs, rhs)):
            return "; leave broadcast_dimensions out"
        return ""
    if not lhs or not rhs:
        return "; leave broadcast_dimensions out"
    dims = _only_placement(lhs, rhs)
    return "" if dims is None else f"; broadcast_dimensions={dims} is the one placement that fits"


def _b1(lhs, rhs, dims, entry):
    return (
        f"broadcast_dimensions = {_show(dims)} for operands of equal rank {len(lhs)} must be left "
        f"out, empty or {tuple(range(len(lhs)))} (shapes {lhs} and {rhs}){_way_out(lhs, rhs)}"
    )


def _b2(lhs, rhs, dims, entry):
    return (
        f"broadcast_dimensions = {_show(dims)} is given for a rank-0 operand, which needs none "
        f"(shapes {lhs} and {rhs}){_way_out(lhs, rhs)}"
    )


def _b3(lhs, rhs, dims, entry):
    return (
        f"broadcast_dimensions is required for operands of rank {len(lhs)} and {len(rhs)} "
        f"(shapes {lhs} and {rhs}){_way_out(lhs, rhs)}"
    )


def _b4(lhs, rhs, dims, entry):
    low = min(len(lhs), len(rhs))
    return (
        f"broadcast_dimensions = {_show(dims)} has {_count(len(dims), 'entry', 'entries')}, and the "
        f"lower-rank operand has {_count(low, 'dimension', 'dimensions')} "
        f"(shapes {lhs} and {rhs}){_way_out(lhs, rhs)}"
    )


def _b5(lhs, rhs, dims, entry):
    high = max(lhs, rhs, key=len)
    return (
        f"broadcast_dimensions[{entry}] = {_show(dims[entry])} is out of range for rank {len(high)} "
        f"(shape {high}){_way_out(lhs, rhs)}"
    )


def _b6(lhs, rhs, dims, entry):
    return (
        f"broadcast_dimensions = {_show(dims)} must strictly increase, and entry {entry} does not "
        f"(shapes {lhs} and {rhs}){_way_out(lhs, rhs)}"
    )


def _b7(lhs, rhs, dims, entry):
    if entry is None:
        dim = next(d for d, (m, n) in enumerate(zip(lhs, rhs, strict=True)) if not _fits(m, n))
        return (
            f"dimension {dim} has sizes {lhs[dim]} and {rhs[dim]}, which differ and of which "
            f"neither is 1 (shapes {lhs} and {rhs})"
        )
    low, high = sorted((lhs, rhs), key=len)
    return (
        f"broadcast_dimensions[{entry}] = {_show(dims[entry])} matches sizes {low[entry]} and "
        f"{high[dims[entry]]}, which differ and of which neither is 1 "
        f"(shapes {lhs} and {rhs}){_way_out(lhs, rhs)}"
    )


_RULES = {"B1": _b1, "B2": _b2, "B3": _b3, "B4": _b4, "B5": _b5, "B6": _b6, "B7": _b7}


def _count(n, one, many):
    return f"{n} {one if n == 1 else many}"


def broken_rule(op, rule, shapes, dims, entry, offer=True):
    """Fault of XLA's rules (B1 to B7); `offer`: whether to name the one way out, if there is."""
    text = _RULES[rule](*shapes, dims, entry)
    # what fits by these rules may still stretch where degenerate_dimensions forbids it
    message = f"{op}: {text if offer else text.partition('; ')[0]}"
    return BroadcastError(message, rule, op, shapes, dims, entry)


def may_not_stretch(op, shapes, dims, degenerate, dim):
    """B10: dimension `dim` of the result would stretch and is not listed."""
    allowed = "none may" if not degenerate else f"only {_show(degenerate)} may"
    message = (
        f"{op}: dimension {dim} of the result would stretch a size of 1, and by "
        f"degenerate_dimensions = {_show(degenerate)} {allowed} (shapes {shapes[0]} and {shapes[1]})"
    )
    return BroadcastError(message, "B10", op, shapes, dims)


def degenerate_out_of_range(op, shapes, dims, degenerate, entry, rank):
    """B10: an entry that is no dimension of the result."""
    message = (
        f"{op}: degenerate_dimensions[{entry}] = {_show(degenerate[entry])} is out of range for "
        f"a result of rank {rank} (shapes {shapes[0]} and {shapes[1]})"
    )
    return BroadcastError(message, "B10", op, shapes, dims, entry)


def broken_placement(op, shapes, dims, operand, form):
    """B11: entries of the per-operand form that cannot place an operand."""
    if form == "count":
        fault = (
            f"broadcast_dimensions = {_show(dims)} has {_count(len(dims), 'entry', 'entries')}, and "
            f"the per-operand form takes one for each of 2 operands"
        )
    else:
        own = dims[operand]
        rank = len(shapes[operand])
        fault = f"broadcast_dimensions[{operand}] = {_show(own)} " + {
            "length": f"has {_count(len(own), 'entry', 'entries')}, and operand x{operand + 1} "
            f"has {_count(rank, 'dimension', 'dimensions')}",
            "range": "has an entry outside [0, 64)",
            "order": "must strictly increase",
        }[form]
    message = f"{op}: {fault} (shapes {shapes[0]} and {shapes[1]})"
    return BroadcastError(message, "B11", op, shapes, dims, operand)


def unplaced_operand(op, shapes, dims, operand, rank):
    """B11: None for an operand that is neither a scalar nor of the result's rank."""
    message = (
        f"{op}: broadcast_dimensions[{operand}] is None, which serves an operand of the "
        f"result's rank {rank} or a scalar, not one of rank {len(shapes[operand])} "
        f"(shapes {shapes[0]} and {shapes[1]})"
    )
    return BroadcastError(message, "B11", op, shapes, dims, operand)


def placed_sizes_differ(op, shapes, dims, dim, sizes):
    """B7 under B11: two placed operands disagree about a dimension of the result."""
    message = (
        f"{op}: dimension {dim} of the result gets sizes {sizes[0]} and {sizes[1]} by "
        f"broadcast_dimensions = {_show(dims)}, which differ and of which neither is 1 "
        f"(shapes {shapes[0]} and {shapes[1]})"
    )
    return BroadcastError(message, "B7", op, shapes, dims)


def bare_dimension(op, name, value):
    """B5: an int where a sequence is wanted."""
    way_out = f"write ({_show(value)},)" if value >= 0 else "dimensions are counted from 0"
    return TypeError(f"{op}: {name} must be a sequence of ints, not the int {_show(value)}; {way_out}")


def not_a_sequence(op, name, value):
    """B5: not a sequence of integers at all."""
    return TypeError(f"{op}: {name} must be a sequence of ints, not {type(value).__name__}")


def dimension_kind(op, name, index, value):
    """B5: an entry that is no integer; bool counts as none."""
    return TypeError(
        f"{op}: {name}[{index}] must be an int, not {_show(value)} of type {type(value).__name__}"
    )


def mixed_forms(op, dims):
    """B11: ints beside None or sequences."""
    return TypeError(
        f"{op}: broadcast_dimensions = {_show(dims)} mixes ints with None or sequences; give either "
        f"one int per dimension of the lower-rank operand, or one sequence or None per operand"
    )


def too_many_dimensions(op, name, rank):
    """Ranks beyond what NumPy can hold."""
    return ValueError(f"{op}: {name} has rank {rank}, and the largest rank is 64")


def result_too_large(op, shape, itemsize, shapes):
    """The result's size in bytes leaves 64 bits; found before any allocation."""
    count = 1
    for size in shape:
        count *= size or 1
    return ValueError(
        f"{op}: a result of shape {shape} with {itemsize} bytes an element would need "
        f"{count * itemsize} bytes, more than can be addressed "
        f"(shapes {shapes[0]} and {shapes[1]})"
    )


def out_shape(op, out, shape, shapes):
    """`out` is not of the result's shape."""
    message = (
        f"{op}: out has shape {out}, and the result has shape {shape} "
        f"(shapes {shapes[0]} and {shapes[1]})"
    )
    grows = len(out) >= len(shape) and any(
        all(s in (1, o) for s, o in zip(shape, out[k : k + len(shape)], strict=True))
        for k in range(len(out) - len(shape) + 1)
    )
    if grows and shape:
        message += "; to fill a larger out, expand an operand with broadcast_in_dim"
    return ValueError(message)


def out_overlaps_itself(op, shape, strides, decided):
    """Two elements of `out` share memory, so the result would depend on the order.

    Or they may: not `decided` means that the search for them took too many steps.
    """
    zero = [d for d, (n, s) in enumerate(zip(shape, strides, strict=True)) if n > 1 and s == 0]
    if zero:
        why = f"dimension {zero[0]} of size {shape[zero[0]]} has stride 0"
    else:
        why = f"strides {strides} for shape {shape} let elements share bytes"
    if not decided:
        return ValueError(
            f"{op}: whether elements of out share memory takes too long to find out (shape {shape}, "
            f"strides {strides}); pass out.copy()"
        )
    return ValueError(f"{op}: out has elements that share memory ({why}); pass out.copy()")


def out_read_only(op):
    """`out` cannot be written."""
    return ValueError(f"{op}: out is read-only")


def out_kind(op, value):
    """`out` is no array."""
    return TypeError(f"{op}: out must be an array, not {type(value).__name__}")


def out_tuple(op, n):
    """`out` as a tuple has as many entries as the op has results."""
    return ValueError(f"{op}: out as a tuple must have exactly one entry, not {n}")


def subok_kind(op, value):
    """`subok` is no bool."""
    return TypeError(f"{op}: subok must be a bool, not {_show(value)}")


def order_letter(op, value):
    """`order` is none of NumPy's letters."""
    kind = ValueError if isinstance(value, (str, bytes)) else TypeError
    return kind(f"{op}: order must be one of 'C', 'F', 'A' or 'K', not {_show(value)}")


def dtype_and_signature(op):
    """Both say which loop to take."""
    return TypeError(f"{op}: give either dtype or signature, not both")


def where_shape(op, mask, shape):
    """The mask does not cover the result."""
    return ValueError(
        f"{op}: where has shape {mask}, and must be a scalar or have the result's rank "
        f"with each size equal or 1 (result shape {shape})"
    )


def negative_exponent():
    """Integer power; the words are NumPy's, so that callers who match them still do."""
    return ValueError("Integers to negative integer powers are not allowed.")


def thread_count(name, value):
    """A number of threads that is no positive integer."""
    if isinstance(value, int) and not isinstance(value, bool):
        return ValueError(f"{name}: n must be at least 1, not {_show(value)}")
    return TypeError(f"{name}: n must be an int, not {_show(value)} of type {type(value).__name__}")


def operand_count(op, n):
    """Too few or too many positional arguments."""
    if n > 2:
        return TypeError(
            f"{op}: takes 2 positional operands but {n} were given; pass the output as out=, "
            "dimensions as broadcast_dimensions="
        )
    return TypeError(f"{op}: takes 2 positional operands but {n} {_was(n)} given")


def _was(n):
    return "was" if n == 1 else "were"


def unknown_keyword(op, name):
    """A keyword that no op has."""
    return TypeError(f"{op}: unexpected keyword argument {name!r}")


def no_op(value):
    """explain: neither an op nor the name of one."""
    if isinstance(value, str):
        return ValueError(f"explain: there is no op {value!r}")
    kind = type(value)
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return TypeError(f"explain: op must be an xbcast.ufunc or a name, not {module}{kind.__qualname__}")


def not_indexable(value):
    """A foreign operand that cannot be placed along the result's dimensions."""
    return TypeError(
        f"an operand of type {type(value).__name__} cannot be placed by broadcast_dimensions: "
        "it has no indexing; pass numpy.asarray of it for a plain array"
    )


def no_numpy_ufunc(op, detail):
    """A call that would have to be handed to a NumPy ufunc that does not exist."""
    return TypeError(f"{op}: there is no NumPy ufunc of that name to handle {detail}")


def in_dim_length(shape, result, dims):
    """broadcast_in_dim: one entry per dimension."""
    return BroadcastError(
        f"broadcast_in_dim: broadcast_dimensions = {_show(dims)} has "
        f"{_count(len(dims), 'entry', 'entries')}, and x has "
        f"{_count(len(shape), 'dimension', 'dimensions')} (shape {shape})",
        "B4", "broadcast_in_dim", (shape, result), dims,
    )  # fmt: skip


def in_dim_range(shape, result, dims, entry):
    """broadcast_in_dim: an entry that is no dimension of the result."""
    return BroadcastError(
        f"broadcast_in_dim: broadcast_dimensions[{entry}] = {_show(dims[entry])} is out of range "
        f"for rank {len(result)} (shape {result})",
        "B5", "broadcast_in_dim", (shape, result), dims, entry,
    )  # fmt: skip


def in_dim_order(shape, result, dims, entry):
    """broadcast_in_dim: entries increase, as XLA asks (StableHLO would transpose)."""
    return BroadcastError(
        f"broadcast_in_dim: broadcast_dimensions = {_show(dims)} must strictly increase, and entry "
        f"{entry} does not (shapes {shape} and {result})",
        "B6", "broadcast_in_dim", (shape, result), dims, entry,
    )  # fmt: skip


def in_dim_size(shape, result, dims, entry):
    """broadcast_in_dim: only a size of 1 stretches, and only in x."""
    return BroadcastError(
        f"broadcast_in_dim: broadcast_dimensions[{entry}] = {_show(dims[entry])} matches size "
        f"{shape[entry]} of x with size {result[dims[entry]]} of the result; they must be "
        f"equal, or x's must be 1 (shapes {shape} and {result})",
        "B7", "broadcast_in_dim", (shape, result), dims, entry,
    )  # fmt: skip


def shape_entry(op, name, index, value):
    """A size that is no nonnegative integer of 63 bits."""
    return ValueError(f"{op}: {name}[{index}] = {_show(value)} is not a size in [0, 2**63)")


# ---- Patterns: `op` is the function or method that was called ----


class UndecidedError(RuntimeError):
    """
    Raised where a question about patterns was not answered within its work budget.

    The answer is neither yes nor no; a larger ``max_work`` may find it.

    Examples
    --------
    >>> from xbcast import Pattern, UndecidedError
    >>> p = Pattern((50, 50, 50, 50), (4699, 4703, 4721, 4723))
    >>> try:
    ...     p.is_unique(max_work=10)
    ... except UndecidedError as error:
    ...     print(error)
    Pattern.is_unique: undecided within max_work = 10 steps
    """


def undecided(op, max_work):
    """A search that used up its budget."""
    return UndecidedError(f"{op}: undecided within max_work = {_show(max_work)} steps")


def negative_work(op, value):
    """A work budget below 0."""
    return ValueError(f"{op}: max_work = {_show(value)} must not be negative")


def integer_kind(op, name, value):
    """One integer is wanted; bool counts as none."""
    return TypeError(f"{op}: {name} must be an int, not {_show(value)} of type {type(value).__name__}")


def leaves_64_bits(op, name, value):
    """An integer that does not fit in a stride or an offset."""
    return ValueError(f"{op}: {name} = {_show(value)} does not fit in 64 bits")


def negative_itemsize(op, value):
    """Elements of fewer than no bytes."""
    return ValueError(f"{op}: itemsize = {_show(value)} must not be negative")


def stride_count(op, shape, strides):
    """One stride for each axis."""
    return ValueError(
        f"{op}: strides = {_show(strides)} has {_count(len(strides), 'entry', 'entries')}, and shape = "
        f"{_show(shape)} has {_count(len(shape), 'entry', 'entries')}"
    )


def pattern_bounds(shape, strides, offset, itemsize):
    """Memory indices, their span or the number of elements leave 64 bits."""
    return ValueError(
        f"Pattern: the bounds of shape = {_show(shape)}, strides = {_show(strides)}, offset = {offset}, "
        f"itemsize = {itemsize} leave 64 bits"
    )


def element_count(op, shape):
    """More elements than 64 bits count."""
    return ValueError(f"{op}: the elements of shape {shape} are more than 64 bits count")


def no_memory(op, name, value):
    """An object whose memory cannot be described."""
    return TypeError(
        f"{op}: {name} must have the buffer protocol or __array_interface__, "
        f"not be of type {type(value).__name__}"
    )


def no_pattern(op, value):
    """A pattern is wanted."""
    return TypeError(f"{op}: takes patterns, not {type(value).__name__}; try Pattern.of")


def immutable(op):
    """A second call of __init__."""
    return TypeError(f"{op}: immutable; make a new one")


def no_iteration():
    """Elements have no order that would go without saying."""
    return TypeError("Pattern: not iterable; memory_indices lists its memory indices")


def index_kind(op, value):
    """Extended indexing syntax where one element is asked for."""
    return TypeError(f"{op}: an index must be an int, not {_show(value)}; parts come from slice()")


def index_count(op, indices, shape):
    """Too few or too many indices."""
    return IndexError(
        f"{op}: {_show(indices)} has {_count(len(indices), 'index', 'indices')}, and the pattern has "
        f"{_count(len(shape), 'axis', 'axes')} (shape {shape})"
    )


def index_range(op, position, index, shape):
    """An index outside its axis."""
    return IndexError(f"{op}: index {_show(index)} at position {position} is outside shape {shape}")


def item_count(op, n, shape):
    """More items than axes to slice."""
    return IndexError(
        f"{op}: {n} items are too many for {_count(len(shape), 'axis', 'axes')} (shape {shape})"
    )


def two_ellipses(op):
    """Nothing tells which axes each stands for."""
    return IndexError(f"{op}: at most one item may be an Ellipsis")


def axis_range(op, axis, shape):
    """No such axis."""
    return ValueError(
        f"{op}: axis {_show(axis)} is out of range for {_count(len(shape), 'axis', 'axes')} (shape {shape})"
    )


def place_range(op, place, shape):
    """No place for a new axis."""
    return ValueError(
        f"{op}: axis = {_show(place)} is out of range for a result with "
        f"{_count(len(shape) + 1, 'axis', 'axes')} (shape {shape})"
    )


def repeated_axis(op, axes):
    """An axis named twice."""
    return ValueError(f"{op}: axis = {_show(axes)} names an axis twice")


def no_unit_axis(op, axis, shape):
    """Only an axis of size 1 can be left out."""
    return ValueError(f"{op}: axis {axis} has size {shape[axis]}, not 1 (shape {shape})")


def no_permutation(op, axes, ndim):
    """Each axis once."""
    return ValueError(f"{op}: axes = {_show(axes)} must name each of {_count(ndim, 'axis', 'axes')} once")


def pad_below(op, ndim, shape):
    """Padding takes no axes away."""
    return ValueError(
        f"{op}: ndim = {_show(ndim)} is below the {_count(len(shape), 'axis', 'axes')} of the pattern "
        f"(shape {shape})"
    )


def validity_level(level):
    """Kaldi's three sets of rules."""
    return ValueError(f"Pattern.is_valid: level = {_show(level)} must be 0, 1 or 2")


def no_memory_index(op, shape):
    """An empty pattern has no bounds."""
    return ValueError(f"Pattern.{op}: an empty pattern has no memory index (shape {shape})")


def not_adjacent(op, p, q):
    """No one pattern has the bytes of both, or some byte is common."""
    return ValueError(f"{op}: the patterns are not adjacent ({p}; {q})")


def pattern_count(op, n, most):
    """A tuple of no patterns, or of more than the planner takes."""
    wanted = "at least 1 pattern" if most is None else f"1 to {most} patterns"
    return ValueError(f"{op}: takes {wanted}, not {n}")


def not_broadcastable(op, shapes):
    """Padded on the left, some axis has two sizes other than 1."""
    listed = ", ".join(map(str, shapes))
    return ValueError(f"{op}: the patterns are not broadcastable (shapes {listed})")
