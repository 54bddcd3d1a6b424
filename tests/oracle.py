"""The independent judge: what a call must answer, worked out slowly in Python.

Shapes follow rules B1-B11 of docs/semantics.md, written here a second time and
on purpose without a look at the package.  Values are those of NumPy's ufunc of
that name on operands whose missing dimensions were put in by hand.  Nothing here
imports the code under test but the op table, which has names only.
"""

import itertools
import operator

import numpy as np

from xbcast._optable import OPS

OP = {op.name: op for op in OPS}
MAX_RANK = 64


class Refused(Exception):
    """A call that the rules refuse: which rule, and which entry is at fault."""

    def __init__(self, rule, entry=None):
        super().__init__(rule, entry)
        self.rule = rule
        self.entry = entry


# ---- shapes -----------------------------------------------------------------


def _is_sequence(entry):
    return isinstance(entry, (tuple, list))


def is_per_operand(dims):
    """Whether `dims` has the form of B11, one entry per operand."""
    return dims is not None and any(d is None or _is_sequence(d) for d in dims)


def _join(size1, size2):
    """The size of two matched ones, or None if they do not match (B7, B8)."""
    if size1 == size2 or size2 == 1:
        return size1
    if size1 == 1:
        return size2
    return None


def placements(shape1, shape2, dims):
    """The result's rank, and for each operand the result dimension of each of its own."""
    rank1, rank2 = len(shape1), len(shape2)
    if is_per_operand(dims):
        return _placements_per_operand((shape1, shape2), dims)
    dims = () if dims is None else tuple(operator.index(d) for d in dims)
    if rank1 == rank2:
        if dims and len(dims) != rank1:
            raise Refused("B1")
        for i, d in enumerate(dims):
            if d != i:
                raise Refused("B1", i)
        return rank1, (tuple(range(rank1)), tuple(range(rank1)))
    rank, low = max(rank1, rank2), min(rank1, rank2)
    if low == 0:
        if dims:
            raise Refused("B2")
    elif not dims:
        raise Refused("B3")
    elif len(dims) != low:
        raise Refused("B4")
    high_shape, low_shape = (shape1, shape2) if rank1 > rank2 else (shape2, shape1)
    # One entry after the other, and for each in this order: B9.
    for i, d in enumerate(dims):
        if d < 0 or d >= rank:
            raise Refused("B5", i)
        if _join(low_shape[i], high_shape[d]) is None:
            raise Refused("B7", i)
        if i and d <= dims[i - 1]:
            raise Refused("B6", i)
    whole = tuple(range(rank))
    return rank, ((whole, dims) if rank1 > rank2 else (dims, whole))


def _placements_per_operand(shapes, dims):
    if len(dims) != 2:
        raise Refused("B11")
    # Which operand cannot be placed is all that B11 reports, so `entry` is its number.
    named = [d for entry in dims if entry is not None for d in entry]
    rank = max(len(shapes[0]), len(shapes[1]), 1 + max(named, default=-1))
    placed = []
    for operand, (shape, entry) in enumerate(zip(shapes, dims, strict=True)):
        if entry is None:
            if len(shape) not in (0, rank):
                raise Refused("B11", operand)
            entry = range(len(shape))
        increasing = all(d < e for d, e in itertools.pairwise(entry))
        inside = all(0 <= d < MAX_RANK for d in entry)
        if len(entry) != len(shape) or not inside or not increasing:
            raise Refused("B11", operand)
        placed.append(tuple(entry))
    return rank, tuple(placed)


def result_shape(shape1, shape2, dims=None, degenerate=None):
    """The result's shape, or Refused."""
    rank, placed = placements(shape1, shape2, dims)
    full = []
    for shape, place in zip((shape1, shape2), placed, strict=True):
        sizes = [1] * rank
        for size, d in zip(shape, place, strict=True):
            sizes[d] = size
        full.append(sizes)
    result = []
    for size1, size2 in zip(*full, strict=True):
        size = _join(size1, size2)
        if size is None:
            raise Refused("B7")
        result.append(size)
    if degenerate is not None:
        for shape, place in zip((shape1, shape2), placed, strict=True):
            for size, d in zip(shape, place, strict=True):
                if size == 1 and result[d] != 1 and d not in degenerate:
                    raise Refused("B10")
    return tuple(result)


def working_dims(shape1, shape2):
    """Every `broadcast_dimensions` of the plain form that the rules accept."""
    rank, low = max(len(shape1), len(shape2)), min(len(shape1), len(shape2))
    found = []
    for dims in itertools.combinations(range(rank), low):
        try:
            result_shape(shape1, shape2, dims)
        except Refused:
            continue
        found.append(dims)
    return found


def expand(x, place, rank):
    """`x` with a new axis wherever `place` leaves a result dimension out."""
    x = np.asanyarray(x)
    return x[(*(slice(None) if d in place else np.newaxis for d in range(rank)), ...)]


def expanded(x1, x2, dims=None):
    """Both operands with the result's rank; scalars stay as they are."""
    shape1, shape2 = np.shape(x1), np.shape(x2)
    result_shape(shape1, shape2, dims)
    rank, placed = placements(shape1, shape2, dims)
    return tuple(
        expand(x, place, rank) if np.ndim(x) else x for x, place in zip((x1, x2), placed, strict=True)
    )


# ---- values -----------------------------------------------------------------


def _shift_right_logical(x1, x2, **kwargs):
    """Zeros come in from the left; a count outside the width gives 0, as in XLA."""
    dtype = np.right_shift.resolve_dtypes(_kinds(x1, x2))[2]
    # a Python int that does not fit is an OverflowError
    x1, x2 = (np.array(x, dtype) if type(x) is int else np.asarray(x).astype(dtype) for x in (x1, x2))
    bits = dtype.itemsize * 8
    unsigned = x1.view(f"u{dtype.itemsize}")
    inside = (x2 >= 0) & (x2 < bits)
    count = np.where(inside, x2, 0).astype(unsigned.dtype)
    shifted = np.where(inside, np.right_shift(unsigned, count), 0)
    return _deliver(shifted.astype(unsigned.dtype).view(dtype), **kwargs)


def _complex(x1, x2, **kwargs):
    """Two reals to one complex: no arithmetic, so infinities and zeros stay."""
    loop = np.arctan2.resolve_dtypes(_kinds(x1, x2))
    part = np.result_type(loop[2], np.float32)
    x1, x2 = (np.asarray(x).astype(dtype) for x, dtype in zip((x1, x2), loop, strict=False))
    x1, x2 = np.broadcast_arrays(x1, x2)
    result = np.empty(x1.shape, np.result_type(part, np.complex64))
    result.real, result.imag = x1, x2
    return _deliver(result, **kwargs)


def _kinds(x1, x2):
    weak = (int, float, complex)
    return (*(type(x) if type(x) in weak else np.asarray(x).dtype for x in (x1, x2)), None)


def _deliver(result, out=None, order="K", **unused):
    if out is None:
        return result[()]
    np.copyto(out, result, casting="same_kind")
    return out


_OWN = {"shift_right_logical": _shift_right_logical, "complex": _complex}


def reference(name):
    """The function that says what op `name` gives on operands of equal rank."""
    numpy_name = OP[name].numpy
    return getattr(np, numpy_name) if numpy_name else _OWN[name]


def call(name, x1, x2, dims=None, **kwargs):
    """What the op must give: NumPy's answer on copies of the expanded operands."""
    x1, x2 = expanded(x1, x2, dims)
    x1, x2 = (np.array(x, subok=True) if isinstance(x, np.ndarray) else x for x in (x1, x2))
    return reference(name)(x1, x2, **kwargs)


def masked(name, x1, x2, where, dims=None, out=None):
    """The same under a mask: untouched cells keep `out`'s values, or are zero."""
    with np.errstate(all="ignore"):
        full = np.asarray(call(name, x1, x2, dims))
    result = np.zeros(full.shape, full.dtype) if out is None else np.array(out)
    np.copyto(result, full, where=np.broadcast_to(where, full.shape), casting="unsafe")
    return result


# ---- comparison -------------------------------------------------------------

# Where NumPy itself answers differently for the same values in another layout or
# length (docs/semantics.md, "Values"): which of two zeros comes out ...
EITHER_ZERO = frozenset({"maximum", "minimum", "fmax", "fmin"})


def any_of_numpys(name, dtype):
    """... and where any answer that NumPy gives in some layout is right."""
    kind = np.dtype(dtype).kind
    return kind in "fc" and name in ("power", "arctan2") or kind == "c" and name == "multiply"


def bits(x):
    """The elements as unsigned integers, NaN payloads and signs taken away."""
    x = np.array(x, ndmin=1, order="C")
    if not x.dtype.isnative:
        x = x.astype(x.dtype.newbyteorder("="))
    if x.dtype.kind == "c":
        x = x.view(f"f{x.dtype.itemsize // 2}")
    if x.dtype.kind == "f" and x.dtype.itemsize <= 8:
        return np.where(np.isnan(x), x.dtype.type(np.nan), x).view(f"u{x.dtype.itemsize}")
    return x


def _without_zero_signs(x):
    x = np.array(x, ndmin=1, order="C")
    parts = x.view(f"f{x.dtype.itemsize // 2}") if x.dtype.kind == "c" else x
    parts[parts == 0] = 0
    return parts


def numpys_answers(name, x1, x2):
    """NumPy's result for flat operands, laid out and cut up in several ways."""
    ufunc = reference(name)
    x1, x2 = np.broadcast_arrays(x1, x2)
    x1, x2 = np.array(x1).ravel(), np.array(x2).ravel()

    def spread(x):
        wide = np.ones((x.size, 3), x.dtype)
        wide[:, 1] = x
        return wide[:, 1]

    with np.errstate(all="ignore"):
        yield ufunc(x1, x2)
        yield ufunc(spread(x1), spread(x2))
        yield ufunc(x1[::-1].copy(), x2[::-1].copy())[::-1]
        yield ufunc(x1[:, None], x2[:, None])[:, 0]
        out = np.empty_like(ufunc(x1[:1], x2[:1]), shape=x1.shape)
        for i in range(x1.size):
            out[i] = ufunc(x1[i], x2[i])
        yield out
        if name == "multiply":  # NumPy's scalars do not fuse, its arrays do
            yield np.array([a * b for a, b in zip(x1, x2, strict=True)], out.dtype)
        # one constant operand: the loops have shortcuts for it
        for constant, other, swap in ((x2, x1, False), (x1, x2, True)):
            out = np.empty_like(out)
            raw = constant.view(f"V{constant.itemsize}")
            for value in set(raw.tolist()):
                at = np.flatnonzero(raw == np.void(value))
                pair = (other[at], constant[at[0]])
                out[at] = ufunc(*(pair[::-1] if swap else pair))
            yield out


def assert_same_values(name, got, want, operands=None):
    """`got` is `want`, bit for bit, but for what docs/semantics.md lets vary.

    `operands` are the two (equal-rank) operands; they are needed only where any
    of NumPy's own answers is right.
    """
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype, (name, got.dtype, want.dtype)
    assert got.shape == want.shape, (name, got.shape, want.shape)
    if want.dtype.kind not in "biufc" or want.dtype.itemsize > 16 or want.dtype.char in "gG":
        _assert_equal_objects(name, got, want)
        return
    if name in EITHER_ZERO:
        got_bits, want_bits = (bits(_without_zero_signs(x)) for x in (got, want))
    else:
        got_bits, want_bits = bits(got), bits(want)
    if np.array_equal(got_bits, want_bits):
        return
    wrong = (got_bits != want_bits).reshape(want.size, -1).any(axis=1)
    if operands is not None and any_of_numpys(name, want.dtype):
        # a Python number takes part as the element that it becomes
        operands = [x if isinstance(x, np.ndarray) else np.asarray(x, want.dtype) for x in operands]
        flat = [np.broadcast_to(x, want.shape).ravel()[wrong] for x in operands]
        left = np.ones(wrong.sum(), bool)
        for answer in numpys_answers(name, *flat):
            same = bits(got.ravel()[wrong]) == bits(answer.astype(want.dtype))
            left &= ~same.reshape(left.size, -1).all(axis=1)
        wrong[wrong] = left
        if not wrong.any():
            return
    at = np.flatnonzero(wrong)
    shown = [
        (
            got.ravel()[i],
            want.ravel()[i],
            *(np.broadcast_to(x, want.shape).ravel()[i] for x in operands or ()),
        )
        for i in at[:5]
    ]
    raise AssertionError(f"{name}: {at.size} of {want.size} differ; (got, want, x1, x2): {shown}")


def _assert_equal_objects(name, got, want):
    if want.dtype.kind in "OT":
        same = [repr(g) == repr(w) for g, w in zip(got.ravel(), want.ravel(), strict=True)]
        assert all(same), (name, got, want)
    elif want.dtype.char in "gG":
        # padding bytes of a longdouble hold anything
        assert np.array_equal(got, want, equal_nan=True), (name, got, want)
        for part in ("real", "imag"):
            g, w = getattr(got, part), getattr(want, part)
            ordered = ~np.isnan(w)
            assert np.array_equal(np.signbit(g)[ordered], np.signbit(w)[ordered]), (name, got, want)
    else:
        assert got.tobytes() == want.tobytes(), (name, got, want)
