"""`broadcast_in_dim` (a read-only view) and `broadcast_shapes` as functions of their own."""

import itertools

import numpy as np
import pytest

import layouts
import oracle
import xbcast


@pytest.mark.parametrize("shape, result, dims", [
    ((3,), (2, 3), (1,)),
    ((2,), (2, 3), (0,)),
    ((1,), (2, 3), (0,)),
    ((1,), (2, 3), (1,)),
    ((2, 4), (2, 3, 4), (0, 2)),
    ((1, 4), (2, 3, 4), (0, 2)),
    ((2, 3), (2, 3), (0, 1)),
    ((2, 1), (2, 3), (0, 1)),
    ((), (2, 3), ()),
    ((), (), ()),
    ((1,), (0,), (0,)),
    ((0,), (2, 0), (1,)),
    ((3,), (3, 0), (0,)),
], ids=str)  # fmt: skip
@pytest.mark.parametrize("layout", layouts.LAYOUTS)
def test_view(shape, result, dims, layout):
    x = layouts.LAYOUTS[layout](shape, "float32")
    view = xbcast.broadcast_in_dim(x, result, dims)
    assert view.shape == result
    assert view.dtype == x.dtype
    want = np.broadcast_to(oracle.expand(x, dims, len(result)), result)
    assert view.tobytes() == want.tobytes()
    assert not view.flags.writeable
    with pytest.raises(ValueError):
        view[...] = 0
    if view.size:
        assert np.shares_memory(view, x)
        for d, n in enumerate(result):
            if n > 1:
                stretched = d not in dims or shape[dims.index(d)] == 1
                assert view.strides[d] == (0 if stretched else x.strides[dims.index(d)])


def test_view_follows_its_source():
    x = np.zeros(3)
    view = xbcast.broadcast_in_dim(x, (2, 3), (1,))
    x[1] = 5
    assert view.tolist() == [[0, 5, 0]] * 2
    assert x.flags.writeable
    x[0] = 7
    assert view[1, 0] == 7


def test_source_is_kept_alive():
    view = xbcast.broadcast_in_dim(np.arange(10000.0), (3, 10000), (1,))
    assert np.array_equal(view, np.tile(np.arange(10000.0), (3, 1)))


@pytest.mark.parametrize(
    "x", [5, 2.5, [1, 2, 3], (1.0, 2.0, 3.0), np.float32(3), True], ids=lambda x: f"{type(x).__name__}"
)
def test_takes_what_asarray_takes(x):
    dims = (1,) if np.ndim(x) else ()
    view = xbcast.broadcast_in_dim(x, [np.int64(2), 3], dims)
    assert view.shape == (2, 3)
    assert view.dtype == np.asarray(x).dtype
    assert np.array_equal(view, np.broadcast_to(np.asarray(x), (2, 3)))


def test_every_dtype():
    for dtype in ["O", "U3", "S2", "M8[s]", "m8[D]", "longdouble", "V5", "i4,f8"]:
        x = np.zeros(3, dtype)
        view = xbcast.broadcast_in_dim(x, (2, 3), (1,))
        assert view.dtype == x.dtype
        assert view.shape == (2, 3)


def test_an_operand_expanded_by_hand_is_an_operand():
    x, y = np.arange(6.0).reshape(2, 3), np.arange(2.0)
    by_view = xbcast.subtract(x, xbcast.broadcast_in_dim(y, (2, 3), (0,)))
    assert np.array_equal(by_view, xbcast.subtract(x, y, broadcast_dimensions=(0,)))


@pytest.mark.parametrize("shape, result, dims, rule, entry", [
    ((3,), (2, 3), (), "B4", None),
    ((3,), (2, 3), (0, 1), "B4", None),
    ((), (2, 3), (0,), "B4", None),
    ((3,), (2, 3), (2,), "B5", 0),
    ((3,), (2, 3), (-1,), "B5", 0),
    ((2, 2), (2, 2), (1, 0), "B6", 1),      # StableHLO would transpose; XLA refuses
    ((2, 2), (2, 2), (0, 0), "B6", 1),
    ((3,), (2, 3), (0,), "B7", 0),
    ((3,), (3, 1), (1,), "B7", 0),          # the result is what it is: it never stretches
    ((2, 3), (1, 2, 2), (1, 2), "B7", 1),
    ((0,), (1,), (0,), "B7", 0),
    ((2, 3), (1, 3), (0, 1), "B7", 0),
], ids=str)  # fmt: skip
def test_refused(shape, result, dims, rule, entry):
    with pytest.raises(xbcast.BroadcastError, match="^broadcast_in_dim: ") as caught:
        xbcast.broadcast_in_dim(np.zeros(shape), result, dims)
    assert (caught.value.rule, caught.value.entry) == (rule, entry)
    assert caught.value.op == "broadcast_in_dim"
    assert caught.value.shapes == (shape, result)
    assert str(shape) in str(caught.value) or str(result) in str(caught.value)


@pytest.mark.parametrize(
    "dims", [1, (True,), (1.0,), "1", ((1,),), (None,)], ids=["int", "bool", "float", "str", "nested", "none"]
)
def test_dimensions_are_a_sequence_of_integers(dims):
    with pytest.raises(TypeError, match="^broadcast_in_dim: .*broadcast_dimensions"):
        xbcast.broadcast_in_dim(np.zeros(3), (2, 3), dims)


@pytest.mark.parametrize("result, error", [
    ((2, -3), ValueError), ((2**63, 3), ValueError), ((2.0, 3), TypeError), ("23", TypeError),
    ((True, 3), TypeError),
], ids=str)  # fmt: skip
def test_shape_is_a_sequence_of_sizes(result, error):
    with pytest.raises(error, match="^broadcast_in_dim: "):
        xbcast.broadcast_in_dim(np.zeros(3), result, (1,))
    with pytest.raises(error, match="^broadcast_shapes: "):
        xbcast.broadcast_shapes(result, (3,), (1,))


def test_64_dimensions():
    view = xbcast.broadcast_in_dim(np.arange(2.0), (1,) * 63 + (2,), (63,))
    assert view.ndim == 64
    with pytest.raises(ValueError, match="^broadcast_in_dim: .*64"):
        xbcast.broadcast_in_dim(np.arange(2.0), (1,) * 64 + (2,), (64,))


def test_huge_views_cost_nothing():
    view = xbcast.broadcast_in_dim(np.arange(2.0), (2**40, 2), (1,))
    assert view.shape == (2**40, 2)
    with pytest.raises(ValueError, match="^broadcast_in_dim: "):
        xbcast.broadcast_in_dim(np.arange(2.0), (2**40, 2**40, 2), (2,))


def test_every_small_case_agrees_with_the_ops():
    """`broadcast_in_dim` accepts exactly what makes an op's result have that shape."""
    shapes = [s for rank in range(3) for s in itertools.product((0, 1, 2), repeat=rank)]
    for shape in shapes:
        for result in itertools.product((0, 1, 2), repeat=3):
            for dims in itertools.combinations(range(3), len(shape)):
                fits = all(n in (1, result[d]) for n, d in zip(shape, dims, strict=True))
                try:
                    got = xbcast.broadcast_in_dim(np.zeros(shape), result, dims).shape
                except xbcast.BroadcastError:
                    got = None
                assert got == (result if fits else None), (shape, result, dims)


def test_broadcast_shapes_takes_shapes_of_any_spelling():
    assert xbcast.broadcast_shapes([2, 3], (np.int64(3),), [1]) == (2, 3)
    assert xbcast.broadcast_shapes((2, 3), (3,), broadcast_dimensions=(1,)) == (2, 3)
    assert xbcast.broadcast_shapes((), ()) == ()
    result = xbcast.broadcast_shapes((np.int64(2),), (np.int32(2),))
    assert type(result) is tuple and type(result[0]) is int


def test_broadcast_shapes_keywords():
    assert xbcast.broadcast_shapes(lhs=(2, 1), rhs=(2, 3), degenerate_dimensions=(1,)) == (2, 3)
    with pytest.raises(TypeError):
        xbcast.broadcast_shapes((2,))
    with pytest.raises(TypeError):
        xbcast.broadcast_shapes((2,), (2,), axis=0)
