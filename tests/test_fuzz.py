"""Random calls against the oracle: shapes, dimensions, layouts, dtypes, out and where at once."""

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

import grids
import oracle
import xbcast
from layouts import LAYOUTS

OPS = ["add", "subtract", "multiply", "divide", "floor_divide", "remainder", "maximum", "fmin", "copysign",
       "equal", "less", "greater_equal", "logical_and", "bitwise_xor", "left_shift", "gcd", "hypot",
       "shift_right_logical", "complex"]  # fmt: skip
DTYPES = [*grids.NATIVE, "longdouble", "object"]

sizes = st.integers(1, 5) | st.sampled_from([0, 1, 1, 17, 33])


@st.composite
def calls(draw, strict=True):
    """Two shapes and dimensions; accepted by the rules if `strict`."""
    result = draw(st.lists(sizes, max_size=4))
    rank = len(result)
    dims = None
    if draw(st.booleans()):
        placed = [sorted(draw(st.sets(st.integers(0, max(rank - 1, 0)), max_size=rank))) for _ in range(2)]
        placed = [p if rank else [] for p in placed]
        dims = tuple(tuple(p) for p in placed)
    else:
        low = sorted(draw(st.sets(st.integers(0, max(rank - 1, 0)), max_size=rank))) if rank else []
        placed = [list(range(rank)), low]
        dims = None if len(low) in (0, rank) else tuple(low)
        if draw(st.booleans()):
            placed.reverse()
    shapes = [tuple(draw(st.sampled_from([result[d], result[d], result[d], 1])) for d in p) for p in placed]
    if not strict:
        shapes = [tuple(draw(st.sampled_from([n, n, n, 2])) for n in s) for s in shapes]
        if dims is not None and not oracle.is_per_operand(dims):
            dims = tuple(draw(st.lists(st.integers(-1, rank), min_size=0, max_size=rank + 1)))
    return (*shapes, dims)


@hypothesis.settings(max_examples=1500)
@hypothesis.given(calls(strict=False), st.none() | st.lists(st.integers(0, 3), max_size=3).map(tuple))
def test_rules(call, degenerate):
    """Accepted or refused, by the rule and for the entry that the oracle names."""
    shape1, shape2, dims = call
    try:
        want = oracle.result_shape(shape1, shape2, dims, degenerate)
        if degenerate and max(degenerate) >= len(want):
            want = "B10"
    except oracle.Refused as refused:
        want = refused.rule
    try:
        got = xbcast.broadcast_shapes(shape1, shape2, dims, degenerate)
    except xbcast.BroadcastError as error:
        got = error.rule, error.shapes
        want = want, (shape1, shape2)
    assert got == want


@hypothesis.settings(max_examples=1500)
@hypothesis.given(data=st.data())
def test_calls(data):
    name = data.draw(st.sampled_from(OPS))
    shape1, shape2, dims = data.draw(calls())
    dtypes = [data.draw(st.sampled_from(DTYPES)) for _ in range(2)]
    operands = []
    for seed, (shape, dtype) in enumerate(zip((shape1, shape2), dtypes, strict=True)):
        layout = data.draw(st.sampled_from(list(LAYOUTS)))
        if dtype in grids.NATIVE:
            operands.append(LAYOUTS[layout](shape, dtype, seed))
        else:
            operands.append(grids.ordinary("float64", shape, seed).astype(dtype))
    kinds = [np.dtype(d).kind for d in dtypes]
    if name in ("left_shift", "shift_right_logical") and "O" in kinds:
        return  # Python would shift by as many bits as it is told
    if (
        oracle.OP[name].numpy is None
        and not set("".join(kinds)) <= set("biuf")
        or (name == "complex" and "longdouble" in dtypes)
    ):
        with pytest.raises(TypeError):
            getattr(xbcast, name)(*operands, broadcast_dimensions=dims)
        return
    keywords = {"broadcast_dimensions": dims}
    with np.errstate(all="ignore"):
        try:
            want = np.asarray(oracle.call(name, *operands, dims))
        except (TypeError, ZeroDivisionError, AttributeError) as error:
            # NumPy's own TypeErrors are private subclasses
            kind = TypeError if isinstance(error, TypeError) else type(error)
            with pytest.raises(kind):
                getattr(xbcast, name)(*operands, **keywords)
            return
        want = np.broadcast_to(want, oracle.result_shape(shape1, shape2, dims))
        where = data.draw(st.sampled_from([True, True, False, "mask", "row"]))
        if isinstance(where, str):
            mask_shape = (
                want.shape
                if where == "mask"
                else tuple(n if d % 2 else min(n, 1) for d, n in enumerate(want.shape))
            )
            where = np.random.default_rng(want.size).random(mask_shape) < 0.5
        out = data.draw(st.sampled_from([None, None, "contiguous", "packed", "fortran", "reversed_all",
                                         "swapped", "unaligned", "stepped"]))  # fmt: skip
        if out is not None and want.dtype.kind == "O":
            out = "contiguous"
        if out is None:
            zero = np.zeros_like(want, subok=False)
        else:
            wider = data.draw(st.booleans()) and want.dtype in ("float32", "int8", "uint8", "bool", "float16")
            dtype = np.result_type(want.dtype, "float32") if wider else want.dtype
            fill = dtype if dtype.kind != "O" and dtype.char not in "gG" else np.dtype("float64")
            out = LAYOUTS[out](want.shape, fill, 7)
            out = out if fill == dtype else out.astype(dtype)
            zero = out.astype(out.dtype.newbyteorder("="))
        expected = np.array(zero)
        np.copyto(expected, want, where=np.array(where), casting="unsafe")
        got = getattr(xbcast, name)(*operands, out=out, where=where, **keywords)
    if out is not None:
        assert got is out
        got = out.astype(expected.dtype)
    plain = oracle.expanded(*operands, dims)
    loop = np.result_type(*plain)
    oracle.assert_same_values(name, got, expected, [np.asarray(x).astype(loop) for x in plain])


@hypothesis.settings(max_examples=600)
@hypothesis.given(data=st.data())
def test_overlapping_views(data):
    """Any three views of one buffer: the result is that of copies."""
    dtypes = [
        data.draw(st.sampled_from(["float64", "float32", "int16", "uint8", "bool", "float16"]))
        for _ in range(3)
    ]
    memory = np.random.default_rng(data.draw(st.integers(0, 99))).integers(0, 2, 1024).astype(np.uint8)
    shape = tuple(data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=3)))

    def view(dtype, unique):
        itemsize = np.dtype(dtype).itemsize
        steps = [
            data.draw(st.sampled_from([1, 2, 3, -1, -2, 5, itemsize, -itemsize, 8, 16, 24])) for _ in shape
        ]
        if unique:
            reach = itemsize
            for d in np.random.default_rng(data.draw(st.integers(0, 9))).permutation(len(shape)):
                steps[d] = int(np.sign(steps[d])) * (reach + data.draw(st.integers(0, 3)))
                reach = abs(steps[d]) * shape[d]
        low = sum(min(0, s * (n - 1)) for s, n in zip(steps, shape, strict=True))
        high = sum(max(0, s * (n - 1)) for s, n in zip(steps, shape, strict=True)) + itemsize
        hypothesis.assume(high - low < 1024)
        start = data.draw(st.integers(-low, 1024 - high))
        return np.ndarray(shape, dtype, memory.data, start, steps)

    x1, x2, out = (view(dtype, role == 2) for role, dtype in enumerate(dtypes))
    where = data.draw(st.sampled_from([True, "mask", "memory"]))
    if where == "mask":
        where = np.random.default_rng(3).random(shape) < 0.5
    elif where == "memory":
        where = view("bool", False)
    name = data.draw(st.sampled_from(["add", "less", "maximum", "logical_or"]))
    with np.errstate(all="ignore"):
        result = oracle.call(name, np.array(x1), np.array(x2))
        casting = "same_kind" if np.can_cast(result.dtype, out.dtype, "same_kind") else "unsafe"
        hypothesis.assume(casting == "same_kind")
        before = memory.copy()
        want = np.ndarray(shape, out.dtype, before.data, *_place(out, memory))
        np.copyto(want, result, where=np.array(where), casting=casting)
        getattr(xbcast, name)(x1, x2, out=out, where=where)
    if out.dtype.kind == "f":
        oracle.assert_same_values(name, out, want)
        out[...] = want[...] = 0  # payloads of NaN apart, what is beside the elements too
    assert memory.tobytes() == before.tobytes()


def _place(view, memory):
    return view.__array_interface__["data"][0] - memory.__array_interface__["data"][0], view.strides
