"""`out=` and `where=`: exactly the result's shape, as if every operand had been copied first,
and not a byte written beside the cells that the mask selects."""

import itertools
import re

import numpy as np
import pytest

import grids
import oracle
import xbcast
from layouts import LAYOUTS, SHAPES

OPS = ["add", "floor_divide", "maximum", "power", "less", "copysign", "logical_xor", "logaddexp"]


def expected(name, x1, x2, out, dims=None, where=True):
    """What `out` must hold afterwards: the judge works on copies of everything."""
    with np.errstate(all="ignore"):
        result = np.asarray(oracle.call(name, np.array(x1), np.array(x2), dims))
        after = np.array(out)
        np.copyto(after, result, where=np.array(where), casting="unsafe")
    return after


# ---- what out may be --------------------------------------------------------


def test_out_is_returned():
    x = np.arange(6.0).reshape(2, 3)
    out = np.empty((2, 3))
    assert xbcast.add(x, 1, out=out) is out
    assert out.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert xbcast.add(x, 2, out=(out,)) is out
    assert out.tolist() == [[2, 3, 4], [5, 6, 7]]
    assert xbcast.add(x, x[0], out=out, broadcast_dimensions=(1,)) is out
    assert out.tolist() == [[0, 2, 4], [3, 5, 7]]


@pytest.mark.parametrize("none", [None, (None,)], ids=repr)
def test_out_none_is_no_out(none):
    assert xbcast.add(np.ones(3), 1, out=none).tolist() == [2, 2, 2]
    assert type(xbcast.add(1.0, 1, out=none)) is np.float64


def test_out_ellipsis_keeps_rank_0_an_array():
    for x1, x2 in ((1.0, 2.0), (np.array(1.0), 2), (np.float32(1), np.float32(2))):
        result = xbcast.add(x1, x2, out=...)
        assert type(result) is np.ndarray and result.shape == () and result == 3
        assert type(xbcast.add(x1, x2)) is not np.ndarray
    result = xbcast.add(np.array(1, object), 2, out=...)
    assert type(result) is np.ndarray and result.dtype == object
    assert xbcast.add(np.ones(3), 1, out=...).tolist() == [2, 2, 2]
    assert xbcast.less(1, 2, out=...).dtype == bool
    assert type(xbcast.add(np.longdouble(1), 2, out=...)) is np.ndarray


def test_out_of_rank_0():
    out = np.zeros(())
    assert xbcast.add(1.0, 2.0, out=out) is out
    assert out == 3


@pytest.mark.parametrize("out, error", [
    ([0.0, 0.0], TypeError), (0.0, TypeError), ("out", TypeError), (np.float64(1), TypeError),
    ((), ValueError), ((np.zeros(2), np.zeros(2)), ValueError), (([0.0, 0.0],), TypeError),
], ids=["list", "float", "str", "scalar", "no-entry", "two-entries", "list-in-tuple"])  # fmt: skip
def test_out_is_an_array(out, error):
    with pytest.raises(error, match="^add: .*out"):
        xbcast.add(np.ones(2), np.ones(2), out=out)


@pytest.mark.parametrize("shape1, shape2, dims, out", [
    ((2,), (2,), None, ()),
    ((), (2,), None, ()),
    ((2, 3), (3,), (1,), (3,)),
    ((2, 3), (3,), (1,), (6,)),
    ((2, 3), (3,), (1,), (3, 2)),
    ((2, 1), (1, 3), None, (2, 1)),
    ((1, 3), (1, 3), None, (3,)),
    ((3,), (3,), None, (0,)),
    ((0,), (0,), None, (1,)),
], ids=str)  # fmt: skip
def test_out_of_another_shape_is_refused(shape1, shape2, dims, out):
    before = np.full(out, 7.0)
    with pytest.raises(ValueError, match=f"^add: .*out.*{re.escape(str(out))}") as caught:
        xbcast.add(np.ones(shape1), np.ones(shape2), broadcast_dimensions=dims, out=before)
    assert str(oracle.result_shape(shape1, shape2, dims)) in str(caught.value)
    assert (before == 7).all()


@pytest.mark.parametrize("shape, out", [((3,), (2, 3)), ((1, 3), (2, 3)), ((2, 1), (2, 3)), ((3,), (1, 3))],
                         ids=str)  # fmt: skip
def test_out_that_is_larger_is_refused_and_the_way_named(shape, out):
    """NumPy would fill it by repeating the result."""
    with pytest.raises(ValueError, match="^add: out.*broadcast_in_dim"):
        xbcast.add(np.ones(shape), np.ones(shape), out=np.zeros(out))
    with pytest.raises(ValueError, match="^add: out.*broadcast_in_dim"):
        xbcast.add(np.ones(shape, "O"), np.ones(shape, "O"), out=np.zeros(out, "O"))


def test_the_way_out_of_a_larger_out_works():
    x, out = np.arange(3.0), np.zeros((2, 3))
    xbcast.add(xbcast.broadcast_in_dim(x, (2, 3), (1,)), 1, out=out)
    assert out.tolist() == [[1, 2, 3]] * 2


@pytest.mark.parametrize("dtype", ["float64", "longdouble", "object"])
def test_out_that_is_read_only_is_refused(dtype):
    out = np.zeros(3, dtype)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="^add: out .*read-only"):
        xbcast.add(np.ones(3, dtype), 1, out=out)
    assert not out.any()


@pytest.mark.parametrize("shape, strides, said", [
    ((2, 3), (0, 8), "stride 0"),
    ((2, 3), (8, 0), "stride 0"),
    ((3, 3), (8, 8), "share"),
    ((3, 2), (8, -8), "share"),
    ((4,), (4,), "share"),
    ((4,), (-7,), "share"),
    ((2, 2, 2), (8, 16, 24), "share"),
], ids=str)  # fmt: skip
@pytest.mark.parametrize("dtype", ["f8", "m8[s]"])
def test_out_that_overlaps_itself_is_refused(shape, strides, said, dtype):
    memory = np.zeros(40, dtype)
    out = np.lib.stride_tricks.as_strided(memory[20:], shape, strides)
    with pytest.raises(ValueError, match=f"^add: out .*{said}"):
        xbcast.add(np.ones(shape, dtype), np.ones(shape, dtype), out=out)
    assert not memory.astype("i8").any()


@pytest.mark.parametrize("shape, strides", [
    ((2, 3), (8, 16)), ((3, 2), (8, 24)), ((2, 3), (-24, 8)), ((1, 3), (0, 8)), ((3, 1), (8, 3)),
    ((2, 2, 2), (8, 16, 32)), ((2, 3), (48, -16)), ((0, 3), (0, 0)), ((3,), (9,)), ((2, 4), (8, 24)),
], ids=str)  # fmt: skip
def test_out_with_strange_strides_that_does_not(shape, strides):
    memory = np.zeros(400, np.uint8)
    out = np.lib.stride_tricks.as_strided(memory[200:].view(np.float64), shape, strides)
    x = np.arange(np.prod(shape, dtype=float)).reshape(shape)
    assert xbcast.add(x, 1, out=out) is out
    assert np.array_equal(out, x + 1)


WRITEABLE = [
    name for name in LAYOUTS if name not in ("stride_0_first", "stride_0_last", "windows", "read_only")
]


@pytest.mark.parametrize("layout", WRITEABLE)
@pytest.mark.parametrize("name", OPS)
def test_out_of_every_layout(name, layout):
    """The values are right, and the memory between the elements of `out` is as before."""
    for dtype, (shape1, shape2, dims) in itertools.product(("float64", "uint8"), SHAPES.values()):
        if dtype == "uint8" and name in ("copysign", "logaddexp"):
            dtype = "float32"
        x1, x2 = grids.mixed(dtype, shape1, 1), grids.mixed(dtype, shape2, 2)
        with np.errstate(all="ignore"):
            want = np.asarray(oracle.call(name, x1, x2, dims))
            out = LAYOUTS[layout](want.shape, want.dtype, 3)
            getattr(xbcast, name)(x1, x2, out=out, broadcast_dimensions=dims)
        oracle.assert_same_values(name, out.astype(want.dtype), want, oracle.expanded(x1, x2, dims))
        out[...] = out.dtype.type(0)
        if layout in ("packed", "swapped_packed"):
            assert not out.base["pad"].any()
        elif layout in ("stepped", "stepped_backwards"):
            assert not out.base.astype(bool).any()  # the gaps were zero


@pytest.mark.parametrize("dtype", grids.NATIVE)
def test_out_of_every_dtype_and_byte_order(dtype):
    """Conversion on the way out, for results of each native dtype that may become `dtype`."""
    for source in grids.NATIVE:
        if not np.can_cast(source, dtype, "same_kind"):
            continue
        x1, x2 = grids.fractions(source, (37, 3), 1), grids.fractions(source, (37,), 2)
        name = "logical_or" if source == "bool" else "subtract"
        for layout in ("contiguous", "swapped", "packed", "reversed_all", "fortran"):
            out = LAYOUTS[layout]((37, 3), dtype)
            with np.errstate(all="ignore"):
                want = oracle.call(name, x1, x2, (0,)).astype(dtype)
                getattr(xbcast, name)(x1, x2, out=out, broadcast_dimensions=(0,))
            oracle.assert_same_values("out", out.astype(dtype), want)


# ---- overlap ----------------------------------------------------------------


def memory_of(dtype, n=120):
    return grids.ordinary(dtype, (n,), 4)


#: name -> (memory -> x1, x2, out)
OVERLAPS = {
    "in_place": lambda m: (m, m, m),
    "in_place_left": lambda m: (m[:40], m[40:80], m[:40]),
    "in_place_right": lambda m: (m[:40], m[40:80], m[40:80]),
    "out_1_later": lambda m: (m[:-1], m[:-1], m[1:]),
    "out_1_earlier": lambda m: (m[1:], m[1:], m[:-1]),
    "out_between": lambda m: (m[:-2], m[2:], m[1:-1]),
    "out_5_later": lambda m: (m[:-5], m[5:], m[5:]),
    "out_40_later": lambda m: (m[:-40], m[:-40], m[40:]),
    "reversed": lambda m: (m, m[::-1], m),
    "reversed_out": lambda m: (m, m, m[::-1]),
    "both_reversed": lambda m: (m[::-1], m[::-1], m[::-1]),
    "reversed_shifted": lambda m: (m[:-1][::-1], m[1:], m[1:]),
    "transposed": lambda m: (m[:100].reshape(10, 10), m[:100].reshape(10, 10).T,
                             m[:100].reshape(10, 10)),
    "transposed_out": lambda m: (m[:100].reshape(10, 10), m[:100].reshape(10, 10),
                                 m[:100].reshape(10, 10).T),
    "flipped_axis": lambda m: (m.reshape(10, 12)[::-1], m.reshape(10, 12)[:, ::-1], m.reshape(10, 12)),
    "interleaved": lambda m: (m[::2], m[1::2], m[::2]),
    "interleaved_disjoint": lambda m: (m[::3], m[1::3], m[2::3]),
    "steps_differ": lambda m: (m[:40], m[:80:2], m[:120:3]),
    "row_of_out": lambda m: (m.reshape(10, 12), m.reshape(10, 12)[4:5], m.reshape(10, 12)),
    "column_of_out": lambda m: (m.reshape(10, 12), m.reshape(10, 12)[:, 5:6], m.reshape(10, 12)),
    "element_of_out": lambda m: (m, m[3:4], m),
    "scalar_of_out": lambda m: (m, np.asarray(m[3:4].reshape(())), m),
    "scalar_of_out_left": lambda m: (m[7:8].reshape(()), m, m),
    "stride_0_operand": lambda m: (np.broadcast_to(m[:12], (10, 12)), m.reshape(10, 12),
                                   m.reshape(10, 12)),
    "windows_operand": lambda m: (np.lib.stride_tricks.sliding_window_view(m, 21), m[:21].reshape(1, 21),
                                  None),
    "rows_shifted": lambda m: (m.reshape(10, 12)[:-1], m.reshape(10, 12)[1:], m.reshape(10, 12)[1:]),
    "columns_shifted": lambda m: (m.reshape(10, 12)[:, :-1], m.reshape(10, 12)[:, 1:],
                                  m.reshape(10, 12)[:, 1:]),
    "adjacent": lambda m: (m[:40], m[80:], m[40:80]),
    "apart": lambda m: (m[:30], m[40:70], m[80:110]),
}  # fmt: skip


def overlapping(kind, memory):
    x1, x2, out = OVERLAPS[kind](memory)
    if out is None:  # windows need an out of their own size, over the same memory
        out = np.lib.stride_tricks.as_strided(memory, (5, 20), (20 * memory.itemsize, memory.itemsize))
        x1, x2 = x1[:5, :20], x2[:, :20]
    return x1, x2, out


@pytest.mark.parametrize("kind", OVERLAPS)
@pytest.mark.parametrize("name", OPS)
def test_overlap(name, kind):
    for dtype in ("float64", "float32", "uint8", "float16"):
        if name == "less" and dtype == "float64":
            continue  # a bool out cannot be float64 memory; see the views below
        memory = memory_of(dtype)
        if name in ("logaddexp", "copysign") and dtype == "uint8":
            continue
        x1, x2, out = overlapping(kind, memory)
        want = expected(name, x1, x2, out)
        with np.errstate(all="ignore"):
            try:
                getattr(xbcast, name)(x1, x2, out=out)
            except TypeError:
                assert not np.can_cast(oracle.call(name, x1, x2).dtype, out.dtype, "same_kind")
                continue
        oracle.assert_same_values(name, out, want)


@pytest.mark.parametrize("kind", OVERLAPS)
def test_overlap_under_a_mask(kind):
    for dtype, out_dtype in (("float64", "float64"), ("float32", "float32"), ("uint8", "uint8"),
                             ("float16", "float16")):  # fmt: skip
        for density in (0.0, 0.3, 0.9, 1.0):
            memory = memory_of(dtype)
            x1, x2, out = overlapping(kind, memory)
            mask = np.random.default_rng(11).random(out.shape) < density
            for name in ("multiply", "power", "logaddexp" if dtype[0] == "f" else "gcd"):
                want = expected(name, x1, x2, out, where=mask)
                with np.errstate(all="ignore"):
                    getattr(xbcast, name)(x1, x2, out=out, where=mask)
                oracle.assert_same_values(name, out, want)
            assert out.dtype == out_dtype


@pytest.mark.parametrize("x_dtype, out_dtype", [
    ("float64", "float32"), ("float32", "float64"), ("uint8", "int16"), ("int64", "float64"),
    ("int32", "int8"), ("float32", "complex64"), ("float64", "float16"), ("float16", "float64"),
    ("complex64", "complex128"), ("float64", "longdouble"), ("bool", "int32"),
], ids=str)  # fmt: skip
@pytest.mark.parametrize("where", [True, "mask"], ids=["whole", "masked"])
def test_overlap_of_views_with_different_dtypes(x_dtype, out_dtype, where):
    """The same bytes read as one dtype and written as another, from every relative position."""
    n = 20
    for start_x, start_out, step in itertools.product((0, 8, 16, 160), (0, 16, 32, 160), (1, -1, 2)):
        memory = (np.arange(1024) % 2).astype(np.uint8)
        x = memory[start_x:][: n * np.dtype(x_dtype).itemsize * 2].view(x_dtype)
        x[...] = grids.ordinary(x_dtype, x.shape)
        x = x[::step][:n]
        out = memory[start_out:][: n * np.dtype(out_dtype).itemsize].view(out_dtype)
        with np.errstate(all="ignore"):
            mask = np.arange(n) % 3 != 0 if where == "mask" else True
            want = expected("add", x, x[::-1], out, where=mask)
            xbcast.add(x, x[::-1], out=out, where=mask, casting="same_kind")
            oracle.assert_same_values("add", out, want)


def test_comparison_into_bytes_of_its_operands():
    x = np.arange(64.0)
    out = x.view(bool)[100:164]
    want = x.copy() < x[::-1].copy()
    xbcast.less(x, x[::-1], out=out)
    assert np.array_equal(out, want)


def test_in_place_with_a_lower_rank_operand_of_the_same_memory():
    for dims, lower in (((0,), lambda m: m[:, 2]), ((1,), lambda m: m[3]), ((0,), lambda m: m[3]),
                        ((1,), lambda m: m[:, 2]), ((1,), lambda m: m[::-1, 2])):  # fmt: skip
        for dtype in ("float64", "int8", "float16", "longdouble"):
            m = grids.ordinary("float32", (9, 9)).astype(dtype)
            want = expected("subtract", m, lower(m), m, dims)
            assert xbcast.subtract(m, lower(m), out=m, broadcast_dimensions=dims) is m
            assert np.array_equal(m, want)


def test_large_overlaps():
    """Larger than any block: a plan that went block by block would be caught."""
    for shift in (1, 7, 4096, 30000):
        m = np.arange(70001.0)
        want = expected("add", m[:-shift], m[shift:], m[shift:])
        xbcast.add(m[:-shift], m[shift:], out=m[shift:])
        assert np.array_equal(m[shift:], want)
    m = np.arange(300.0 * 300).reshape(300, 300)
    want = m + m.T
    xbcast.add(m, m.T, out=m)
    assert np.array_equal(m, want)
    m = np.arange(30000, dtype="f4").reshape(10000, 3)
    want = m + m[17].copy()
    xbcast.add(m, m[17], out=m, broadcast_dimensions=(1,))
    assert np.array_equal(m, want)


def test_overlap_that_stays_undecided_counts_as_overlap():
    """Strides so tangled that it takes too long to see that no byte is shared."""
    memory = np.arange(8000).astype("i1")
    as_strided = np.lib.stride_tricks.as_strided
    x = as_strided(memory, (2,) * 6, (558, 823, 879, 384, 637, 756))
    out = as_strided(memory[11:], (2,) * 6, (455, 463, 445, 425, 832, 431))
    assert not np.shares_memory(x, out)
    with pytest.raises(xbcast.UndecidedError):
        xbcast.Pattern.of(x).isdisjoint(xbcast.Pattern.of(out), max_work=1000)
    assert xbcast.explain("add", x, 1, out=out).copied == (("x1", x.size),)
    want = x + np.int8(1)
    assert np.array_equal(xbcast.add(x, 1, out=out), want)


def test_out_whose_uniqueness_stays_undecided_is_refused():
    memory = np.zeros(15000, "i1")
    strides = (1796, 951, 2334, 1693, 1701, 1884, 2235, 1197, 1081)
    out = np.lib.stride_tricks.as_strided(memory, (2,) * 9, strides)
    p = xbcast.Pattern.of(out, origin=memory)
    assert len(set(xbcast.memory_indices(p))) == out.size
    with pytest.raises(xbcast.UndecidedError):
        p.is_unique(max_work=1000)
    with pytest.raises(ValueError, match="^add: whether elements of out share memory takes too long"):
        xbcast.add(np.ones(out.shape, "i1"), 1, out=out)
    assert not memory.any()


@pytest.mark.parametrize("dtype", ["q", "Q", "l"])
def test_overlap_of_types_by_another_name(dtype):
    """long long is int64 by another name, which a copy has too."""
    for name in ("shift_right_logical", "add"):
        a = np.arange(40, dtype=dtype)
        x1, x2 = a[1:].copy(), a[:-1].copy()
        want = getattr(xbcast, name)(x1, x2)
        xbcast.explain(name, a[1:], a[:-1], out=a[1:])
        assert np.array_equal(getattr(xbcast, name)(a[1:], a[:-1], out=a[1:]), want)
        a = np.arange(40, dtype=dtype)
        assert np.array_equal(getattr(xbcast, name)(a[:-1], a[1:], out=a[1:]), getattr(xbcast, name)(x2, x1))


# ---- where ------------------------------------------------------------------


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("name", OPS)
def test_where_without_out_gives_zeros(name, shapes):
    shape1, shape2, dims = SHAPES[shapes]
    for dtype in ("float64", "uint8", "float16"):
        if dtype == "uint8" and name in ("copysign", "logaddexp"):
            continue
        x1, x2 = grids.mixed(dtype, shape1, 1), grids.mixed(dtype, shape2, 2)
        shape = oracle.result_shape(shape1, shape2, dims)
        mask = np.random.default_rng(12).random(shape) < 0.5
        with np.errstate(all="ignore"):
            for where in (mask, np.array(mask, order="F"), True, False, np.True_, np.array(False),
                          mask[(..., *[slice(0, 1)] * min(1, len(shape)))], mask.tolist()):  # fmt: skip
                if np.shape(where) not in ((), shape) and 0 in shape:
                    continue
                garbage(shape)
                got = getattr(xbcast, name)(x1, x2, where=where, broadcast_dimensions=dims)
                full = oracle.call(name, x1, x2, dims)
                want = np.where(np.array(where, bool), full, np.zeros_like(full))
                oracle.assert_same_values(name, got, want.astype(full.dtype), oracle.expanded(x1, x2, dims))


def garbage(shape):
    """Leave memory that is not zero for the next allocation of that size."""
    for itemsize in (1, 2, 4, 8):
        np.full(shape, -1, f"i{itemsize}")


@pytest.mark.parametrize("dtype", grids.NATIVE)
def test_cells_left_out_keep_their_values(dtype):
    name = "logical_xor" if dtype == "bool" else "multiply"
    rng = np.random.default_rng(13)
    for shape1, shape2, dims in SHAPES.values():
        x1, x2 = grids.ordinary(dtype, shape1, 1), grids.ordinary(dtype, shape2, 2)
        shape = oracle.result_shape(shape1, shape2, dims)
        densities, layouts = (0, 0.02, 0.5, 0.98, 1), ("contiguous", "packed", "fortran")
        for density, layout in itertools.product(densities, layouts):
            mask = rng.random(shape) < density
            out = LAYOUTS[layout](shape, dtype, 5)
            want = expected(name, x1, x2, out, dims, mask)
            getattr(xbcast, name)(x1, x2, out=out, where=mask, broadcast_dimensions=dims)
            oracle.assert_same_values(name, out, want)


@pytest.mark.parametrize("name", ["add", "less", "power", "remainder"])
def test_large_masks(name, cpu_level):
    rng = np.random.default_rng(14)
    x1 = rng.integers(1, 9, (5003, 7)).astype("f4")
    x2 = rng.integers(1, 4, 7).astype("f4")
    for density in (0, 0.001, 0.5, 0.999, 1):
        mask = rng.random(x1.shape) < density
        for where in (mask, np.asfortranarray(mask), mask[::-1], mask[:, :1], mask[:1]):
            out = np.full(x1.shape, 7, oracle.call(name, x1, x2, (1,)).dtype)
            want = expected(name, x1, x2, out, (1,), where)
            getattr(xbcast, name)(x1, x2, out=out, where=where, broadcast_dimensions=(1,))
            oracle.assert_same_values(name, out, want, oracle.expanded(x1, x2, (1,)))


@pytest.mark.parametrize("dtype", [*grids.NATIVE, ">i4", ">c8"])
def test_masks_that_keep_few(dtype):
    """Some elements of a block, and blocks of up to three levels in which they lie anywhere."""
    rng = np.random.default_rng(17)
    name = "logical_xor" if dtype == "bool" else "multiply"
    other = {"float64": "float32", "int32": "float64"}.get(dtype, dtype)
    layouts = ("contiguous", "packed", "fortran", "reversed_all", "stepped", "transposed")
    shapes = (700,), (63, 40), (9, 13, 40), (40, 9, 3, 5)
    for shape, kept in itertools.product(shapes, (1, 3, 4, 5, 30, 90)):
        for i in range(4):
            x1 = LAYOUTS[layouts[(i + kept) % 6]](shape, dtype, 1)
            x2 = LAYOUTS[layouts[i]](shape, other, 2) if i % 2 else grids.ordinary(other, shape[1:], 2)
            dims = None if i % 2 else tuple(range(1, len(shape)))
            mask = LAYOUTS[layouts[(i + 3) % 6]](shape, "bool", 3)
            mask[...] = False
            # some of them neighbours, across a multiple of 64
            places = rng.choice(mask.size, kept, replace=False)
            places[: kept // 2] = 62 + np.arange(kept // 2)
            mask[np.unravel_index(places, shape)] = True
            with np.errstate(all="ignore"):
                out = LAYOUTS[layouts[(i + kept + 1) % 6]](shape, oracle.call(name, x1, x2, dims).dtype, 5)
                want = expected(name, x1, x2, out, dims, mask)
                getattr(xbcast, name)(x1, x2, out=out, where=mask, broadcast_dimensions=dims)
            oracle.assert_same_values(name, out, want, oracle.expanded(x1, x2, dims))


@pytest.mark.parametrize("density", [0.03, 0.045, 0.05, 0.055, 0.06, 0.07])
def test_masks_that_keep_many_of_a_large_tile(density):
    """More than there is room for, though few for the block."""
    x = np.arange(700.0 * 700, dtype="f4").reshape(700, 700).T
    mask = np.random.default_rng(18).random(x.shape) < density
    for other in (np.float32(2), x.T):
        got = xbcast.add(x, other, out=np.zeros(x.shape, "f4"), where=mask)
        assert np.array_equal(got, np.where(mask, x + other, 0))


def test_mask_of_any_layout():
    rng = np.random.default_rng(15)
    x = np.arange(35.0).reshape(5, 7)
    mask = rng.random((5, 7)) < 0.5
    wide = np.zeros((15, 21), bool)
    wide[1::3, 1::3] = mask
    odd = np.where(mask, rng.integers(1, 256, mask.shape), 0).astype(np.uint8).view(bool)
    read_only = mask.copy()
    read_only.flags.writeable = False
    for where in (mask, np.asfortranarray(mask), mask[::-1].copy()[::-1], mask.T.copy().T, wide[1::3, 1::3],
                  odd, read_only, mask.tolist(), tuple(map(tuple, mask.tolist()))):  # fmt: skip
        assert np.array_equal(xbcast.add(x, 1, where=where), np.where(mask, x + 1, 0))
    for where in (mask[:1], mask[:, :1], mask[:1, :1], np.broadcast_to(mask[0], (5, 7))):
        assert np.array_equal(xbcast.add(x, 1, where=where), np.where(where, x + 1, 0))


@pytest.mark.parametrize("shape", [(7,), (5,), (1,), (1, 5, 7), (5, 1, 7), (7, 5), (5, 2), (0, 7), (2, 7)],
                         ids=str)  # fmt: skip
def test_mask_of_another_shape_is_refused(shape):
    """No rank is guessed, and a mask never makes the result larger."""
    with pytest.raises(ValueError, match=rf"^add: where .*{re.escape(str(shape))}.*\(5, 7\)"):
        xbcast.add(np.ones((5, 7)), 1, where=np.ones(shape, bool))
    with pytest.raises(ValueError, match="^add: where"):
        xbcast.add(np.ones((5, 7), "O"), 1, where=np.ones(shape, bool))


def test_mask_does_not_make_the_result_larger():
    for x in (np.ones((1, 7)), np.ones((5, 1))):
        with pytest.raises(ValueError, match="^add: where"):
            xbcast.add(x, 1, where=np.ones((5, 7), bool))
    with pytest.raises(ValueError, match="^add: where"):
        xbcast.add(1, 1, where=np.ones(2, bool))
    with pytest.raises(ValueError, match="^add: where"):
        xbcast.add([10.0], [1.0], where=[True, False])


def test_degenerate_dimensions_do_not_concern_the_mask():
    x = np.ones((5, 7))
    mask = np.arange(5).reshape(5, 1) > 2
    got = xbcast.add(x, 1, where=mask, degenerate_dimensions=())
    assert np.array_equal(got, np.where(mask, 2, 0) + np.zeros((5, 7)))


@pytest.mark.parametrize("where", [1, 0, 2, 1.0, "yes", "", None, [1, 0, 1], np.array([1, 0, 1]),
                                   np.array([1.0, 0.0, 1.0]), np.array(1), np.int8(1),
                                   np.array([True, False, True], object), np.array([b"a", b"", b"c"]),
                                   object()], ids=repr)  # fmt: skip
def test_mask_of_another_dtype(where):
    """Taken or refused as in NumPy."""
    results = []
    for op in (np.add, xbcast.add):
        out = np.full(3, 7.0)
        try:
            results.append(op(np.ones(3), 1, out=out, where=where).tolist())
        except (TypeError, ValueError) as error:
            results.append(next(c for c in type(error).__mro__ if c.__module__ == "builtins"))
    assert results[0] == results[1]


def test_mask_that_is_out():
    mask = np.arange(40) % 3 == 0
    x1, x2 = np.arange(40.0), np.arange(40.0)[::-1].copy()
    want = expected("less", x1, x2, mask, where=mask)
    xbcast.less(x1, x2, out=mask, where=mask)
    assert np.array_equal(mask, want)


def test_mask_that_overlaps_out():
    x1, x2 = np.arange(39.0), np.full(39, 20.0)
    for out_of, mask_of in ((lambda m: m[1:], lambda m: m[:-1]), (lambda m: m[:-1], lambda m: m[1:]),
                            (lambda m: m[1:], lambda m: m[:-1][::-1]),
                            (lambda m: m[1:], lambda m: m[3:4])):  # fmt: skip
        memory = np.random.default_rng(16).random(40) < 0.5
        want = expected("less", x1, x2, out_of(memory), where=mask_of(memory).copy())
        xbcast.less(x1, x2, out=out_of(memory), where=mask_of(memory))
        assert np.array_equal(out_of(memory), want)
    # a mask in the bytes of a float64 out
    out = np.arange(40.0)
    mask = out.view(bool)[:40]
    want = expected("add", out, 1.0, out, where=mask.copy())
    xbcast.add(out, 1.0, out=out, where=mask)
    assert out.tobytes() == want.tobytes()


def test_mask_that_is_an_operand():
    mask = np.arange(40) % 3 == 0
    got = xbcast.logical_xor(mask, np.ones(40, bool), where=mask)
    assert not got.any()
    got = xbcast.add(mask, np.arange(40), where=mask)
    assert np.array_equal(got, np.where(mask, np.arange(40) + 1, 0))


def test_where_with_rank_0():
    assert xbcast.add(1.0, 2.0, where=False) == 0
    assert type(xbcast.add(1.0, 2.0, where=False)) is np.float64
    assert xbcast.add(1.0, 2.0, where=np.array(True)) == 3
    out = np.array(7.0)
    assert xbcast.add(1.0, 2.0, where=False, out=out) is out and out == 7
    assert xbcast.add(1.0, 2.0, where=np.array(True), out=out) == 3


def test_where_and_out_of_another_dtype():
    """NumPy changes cells that it should leave alone when `out` overlaps an operand, too."""
    for n in (5, 300, 20000):
        x = np.arange(n, dtype="f4")
        memory = np.arange(2 * n, dtype="f4")
        mask = np.arange(n) % 2 == 0
        for out in (np.full(n, 7.5), np.full(n, 7.5, "f2"), np.full(n, 7 + 1j, "F"),
                    memory.view("f8"), np.full(n, 7.5, ">f4")):  # fmt: skip
            operand = memory[:n] if out.base is not None else x
            with np.errstate(all="ignore"):
                want = expected("add", operand, 1.0, out, where=mask)
                xbcast.add(operand, 1.0, out=out, where=mask)
            oracle.assert_same_values("add", out, want)


def test_errors_leave_out_alone():
    out = np.full((2, 3), 7.0)
    for call in (
        lambda: xbcast.add(np.ones((2, 3)), np.ones(2), out=out),
        lambda: xbcast.add(np.ones((2, 3)), np.ones(2), out=out, broadcast_dimensions=(1,)),
        lambda: xbcast.add(np.ones((2, 3)), 1, out=out, where=np.ones(3, bool)),
        lambda: xbcast.add(np.ones((2, 3)), 1j, out=out),
        lambda: xbcast.add(np.ones((2, 3)), 1, out=out, casting="no", dtype="f4"),
        lambda: xbcast.bitwise_and(np.ones((2, 3)), 1, out=out),
    ):
        with pytest.raises((TypeError, ValueError)):
            call()
        assert (out == 7).all()


@pytest.mark.parametrize("shift", [0, 1, 8, 3000])
def test_unsafe_casts_into_out(shift):
    """NumPy makes them; `out` may lie anywhere."""
    buffer = np.arange(8000, dtype=np.float64)
    x = buffer[:1000]
    want = np.empty(1000, np.uint8)
    np.multiply(x.copy(), 0.5, out=want, casting="unsafe")
    out = buffer.view(np.uint8)[shift : shift + 1000]
    assert xbcast.multiply(x, 0.5, out=out, casting="unsafe") is out
    assert np.array_equal(out, want)
    read_only = np.empty(1000, np.uint8)
    read_only.flags.writeable = False
    for wrong in (read_only, np.empty(999, np.uint8), np.empty((1, 1000), np.uint8)):
        with pytest.raises(ValueError, match="multiply: out"):
            xbcast.multiply(buffer[:1000], 0.5, out=wrong, casting="unsafe")
