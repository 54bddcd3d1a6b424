"""The short way of small calls gives what the long way gives.

Any keyword but `out` and `broadcast_dimensions` sends a call the long way; order="K",
the default, changes nothing else. Values against NumPy are the matter of other tests.
"""

import itertools
import warnings

import numpy as np
import pytest

import grids
import xbcast
from oracle import OP

LONG = {"order": "K"}
DIMS = (None, (), (0,), (1,), (0, 1), (0, 2), ((0,), (1,)), (None, (1,)))

# Sizes around every limit of the short way: rank, levels of a walk, elements, the GIL.
SHAPES = [
    ((), (3,)), ((1,), (5,)), ((5,), (5,)), ((0,), (1,)), ((2, 3), (3,)), ((3, 2), (3,)),
    ((1, 3), (2, 1)), ((1, 1), (1, 4)), ((2, 3, 4), (2, 4)), ((2, 3, 4), (2, 3, 4)),
    ((2, 3, 4), (2, 1, 4)), ((1, 7, 1, 1), (7,)), ((2, 1, 2, 1, 2), (2, 1, 2, 1, 2)),
    ((2,) * 8, (2,) * 8), ((1,) * 6 + (2, 3), (1,) * 6 + (2, 1)), ((2,) * 9, (2,) * 9),
    ((500,), (500,)), ((501,), (501,)), ((170, 3), (3,)), ((171, 3), (3,)), ((4096,), (4096,)),
    ((4097,), (4097,)), ((64, 64), (64, 1)), ((64, 63), (63,)), ((65, 63), (63,)), ((4096, 1), (1, 2)),
    ((2,), (3,)), ((2, 3), (2,)),
]  # fmt: skip


def outcome(op, *operands, **keywords):
    """What a call gives, warnings included, in a form that compares."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with np.errstate(all="warn"):
                result = op(*operands, **keywords)
        except Exception as error:
            # the text may name the keyword that makes the way long
            return type(error)
    texts = sorted(str(w.message) for w in caught)
    array = np.asarray(result)
    return type(result), array.dtype, array.shape, array.strides, array.tobytes(), texts


def same(op, *operands, **keywords):
    short, long = outcome(op, *operands, **keywords), outcome(op, *operands, **LONG, **keywords)
    assert short == long, (op, operands, keywords)


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["int16", "float32", "float64", "complex128"])
def test_shapes(shapes, dtype):
    x1, x2 = (grids.ordinary(dtype, shape, seed) for seed, shape in enumerate(shapes))
    for dims in DIMS:
        if dims == ((0,), (1,)) and x1.size > 500:
            continue  # an outer product of many megabytes
        keywords = {} if dims is None else {"broadcast_dimensions": dims}
        same(xbcast.add, x1, x2, **keywords)
        same(xbcast.multiply, x2, x1, **keywords)
        same(xbcast.not_equal, x2, x1, **keywords)


@pytest.mark.parametrize("name", OP)
def test_ops(name):
    op = getattr(xbcast, name)
    for dtype in grids.NATIVE:
        x1, x2 = grids.pairs(dtype)
        for start in range(0, x1.size, 300):
            same(op, x1[start : start + 300], x2[start : start + 300])


VIEWS = {
    "stepped": lambda x: np.repeat(x, 2, -1)[..., ::2],
    "reversed": lambda x: x[..., ::-1],
    "stretched": lambda x: np.broadcast_to(x[..., :1], x.shape),
    "fortran": lambda x: np.asfortranarray(x),
    "swapped": lambda x: x.astype(x.dtype.newbyteorder()),
    "unaligned": lambda x: np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(x.dtype).reshape(x.shape),
    "subclass": lambda x: x.view(np.ma.MaskedArray),
    "scalar": lambda x: x.flat[0],
    "list": lambda x: x.tolist(),
}  # fmt: skip


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("shape", [(6,), (5, 4)], ids=str)
def test_layouts(view, shape):
    x1, x2 = grids.ordinary("float64", shape), grids.ordinary("float64", shape, 1)
    same(xbcast.subtract, VIEWS[view](x1), x2)
    same(xbcast.subtract, x1, VIEWS[view](x2))
    same(xbcast.subtract, VIEWS[view](x1), VIEWS[view](x2))


NUMBERS = [0, 1, -1, 127, 128, 255, 256, 2**24, 2**24 + 1, -(2**31), 2**53 + 1, 2**63, 2**64, 10**400,
           0.0, -0.0, 0.5, 0.1, 1e39, 1e-46, float("inf"), float("nan"), 1j, True]  # fmt: skip


@pytest.mark.parametrize("dtype", grids.NATIVE)
def test_python_numbers(dtype):
    x = grids.ordinary(dtype, (3,))
    for number in NUMBERS:
        for op in (xbcast.add, xbcast.less, xbcast.logical_and):
            same(op, x, number)
            same(op, number, x)


def test_out():
    def outs():
        yield "plain", lambda: np.zeros((4, 3))
        yield "fortran", lambda: np.zeros((4, 3), order="F")
        yield "stepped", lambda: np.zeros((4, 6))[:, ::2]
        yield "float32", lambda: np.zeros((4, 3), "f4")
        yield "int64", lambda: np.zeros((4, 3), "i8")
        yield "larger", lambda: np.zeros((5, 3))
        yield "rank", lambda: np.zeros((4, 3, 1))
        yield "read-only", lambda: np.broadcast_to(np.zeros((4, 3)), (4, 3))
        yield "stretched", lambda: np.lib.stride_tricks.as_strided(np.zeros(3), (4, 3), (0, 8))
        yield "tuple", lambda: (np.zeros((4, 3)),)
        yield "ellipsis", lambda: ...
        yield "list", lambda: [0.0]

    for (_, make), row in itertools.product(outs(), [False, True]):
        x1 = grids.ordinary("float64", (4, 3))
        x2 = grids.ordinary("float64", (3,) if row else (4, 3), 1)
        keywords = {"broadcast_dimensions": (1,)} if row else {}
        short = outcome(xbcast.add, x1, x2, out=make(), **keywords)
        assert short == outcome(xbcast.add, x1, x2, out=make(), **keywords, **LONG)
    out = np.zeros((4, 3))
    assert xbcast.add(x1, x1, out=out) is out


@pytest.mark.parametrize("n", [3, 40, 600])
def test_overlap(n):
    """Every way in which three pieces of one buffer can lie to one another."""
    for places in itertools.product([0, 1, n - 1, n, 2 * n], repeat=3):
        answers = []
        for keywords in ({}, LONG):
            buffer = np.arange(3.0 * n)
            out, x1, x2 = (buffer[p : p + n] for p in places)
            assert xbcast.subtract(x1, x2, out=out, **keywords) is out
            answers.append(buffer)
        np.testing.assert_array_equal(*answers, strict=True, err_msg=str(places))
    for shift in (-1, 0, 1):
        answers = []
        for keywords in ({}, LONG):
            # elements of another size, in one place
            buffer = np.zeros(16 * n, np.uint8)
            x = buffer[8 : 8 + 4 * n].view("i4")
            x[:] = np.arange(n)
            out = buffer[8 + shift : 8 + shift + n].view(bool)
            xbcast.less(x, n // 2, out=out, **keywords)
            answers.append(buffer)
        np.testing.assert_array_equal(*answers, strict=True, err_msg=str(shift))


def test_a_stretched_operand_at_the_address_of_out():
    for shape, dims in (((1,), None), ((3,), (1,)), ((4,), (0,)), ((1, 3), None)):
        answers = []
        for keywords in ({}, LONG):
            out = np.arange(1.0, 13).reshape(4, 3)
            x = out.ravel()[: np.prod(shape)].reshape(shape)
            full = np.full((4, 3), 2.0) if len(shape) == 2 or dims else np.full(12, 2.0)
            target = out if full.ndim == 2 else out.ravel()
            dims_given = {} if dims is None else {"broadcast_dimensions": dims}
            xbcast.multiply(x, full, out=target, **dims_given, **keywords)
            answers.append(out)
        np.testing.assert_array_equal(*answers, strict=True)


def test_small_plain_calls_go_the_short_way():
    from timeit import repeat

    x = np.ones(3)
    short = min(repeat(lambda: xbcast.add(x, x), number=2000, repeat=9))
    long = min(repeat(lambda: xbcast.add(x, x, **LONG), number=2000, repeat=9))
    assert short < long


def test_errors_of_the_run_leave_no_reference():
    import sys

    out, zero = np.ones(3), np.zeros(3)
    before = sys.getrefcount(out)
    for _ in range(10):
        with np.errstate(all="raise"), pytest.raises(FloatingPointError):
            xbcast.divide(out, zero, out=out)
        out[:] = 1
        with np.errstate(all="raise"), pytest.raises(FloatingPointError):
            xbcast.divide(out, zero)
    assert sys.getrefcount(out) == before
