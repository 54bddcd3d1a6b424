"""Any memory layout of the operands gives the values of a plain copy; the result's own
memory order is NumPy's."""

import functools
import itertools
import mmap
import warnings

import numpy as np
import pytest

import grids
import oracle
import xbcast
from layouts import LAYOUTS, SHAPES
from test_values import supported

OPS = list(oracle.OP)


@functools.cache
def operand(layout, shape, dtype, seed):
    return LAYOUTS[layout](shape, dtype, seed)


def dtypes_of(name):
    """A few dtypes for each op, of each size, whose operands need no care."""
    if name == "power":
        return ["uint8", "float64", "complex64"]
    tried = ["float64", "float16", "complex64", "int16", "uint8", "bool"]
    return [dtype for dtype in tried if supported(name, dtype)][:3]


def check(name, x1, x2, dims, **keywords):
    with np.errstate(all="ignore"):
        got = getattr(xbcast, name)(x1, x2, broadcast_dimensions=dims, **keywords)
        want = oracle.call(name, x1, x2, dims, **keywords)
    oracle.assert_same_values(name, got, want, oracle.expanded(x1, x2, dims))
    return got


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", OPS)
def test_every_op_and_layout(name, layout):
    for dtype, (shape1, shape2, dims) in itertools.product(dtypes_of(name), SHAPES.values()):
        dtype2 = "int32" if name == "ldexp" else dtype
        odd1, odd2 = operand(layout, shape1, dtype, 1), operand(layout, shape2, dtype2, 2)
        check(name, odd1, odd2, dims)
        check(name, odd1, operand("contiguous", shape2, dtype2, 2), dims)
        check(name, operand("contiguous", shape1, dtype, 1), odd2, dims)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", OPS)
def test_python_number_beside_every_layout(name, layout):
    """A weak number on either side; as exponent it takes NumPy's shortcuts."""
    for dtype in dtypes_of(name):
        numbers = {"b": [True], "u": [3, 0], "i": [2, -1], "f": [2, 0.5, -1, 3.25], "c": [2, 1.5 - 1j]}
        for number in numbers[np.dtype(dtype).kind]:
            for shape in ((), (131,), (5, 33), (7, 3), (3, 4, 5), (0, 3)):
                x = operand(layout, shape, dtype, 1)
                if not (name == "ldexp" and type(number) is float):
                    check(name, x, number, None)
                if name == "ldexp":
                    check(name, number, operand(layout, shape, "int32", 1), None)
                else:
                    check(name, number, x, None)


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("dtype", grids.NATIVE)
def test_every_dtype_and_pair_of_shapes(dtype, shapes):
    """One op per kind of result, all pairs of layouts."""
    shape1, shape2, dims = SHAPES[shapes]
    for layout1, layout2 in itertools.product(LAYOUTS, repeat=2):
        x1, x2 = operand(layout1, shape1, dtype, 1), operand(layout2, shape2, dtype, 2)
        check("less", x1, x2, dims)
        check("multiply", x1, x2, dims)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["add", "floor_divide", "maximum", "power", "less", "float_power"])
def test_every_level(name, layout, cpu_level):
    for dtype, (shape1, shape2, dims) in itertools.product(dtypes_of(name), SHAPES.values()):
        check(name, operand(layout, shape1, dtype, 1), operand(layout, shape2, dtype, 2), dims)


PAIRS = [("float64", "int32"), ("uint8", "float32"), ("float16", "float32"), ("int8", "int8"),
         ("bool", "int16"), ("complex64", "float64"), ("float16", "float16"), ("uint64", "int64"),
         ("int64", "float32")]  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype1, dtype2", PAIRS, ids=["-".join(pair) for pair in PAIRS])
def test_converted_operands(dtype1, dtype2, layout):
    for shape1, shape2, dims in SHAPES.values():
        x1, x2 = operand(layout, shape1, dtype1, 1), operand(layout, shape2, dtype2, 2)
        for name in ("add", "less"):
            check(name, x1, x2, dims)
            check(name, x1, operand("contiguous", shape2, dtype2, 2), dims)
            check(name, operand("contiguous", shape1, dtype1, 1), x2, dims)


#: Larger than any block in which operands may be packed, and not multiples of one.
LARGE = {
    "line": ((70001,), (70001,), None),
    "scalar": ((70001,), (), None),
    "short_inner": ((20011, 3), (3,), (1,)),
    "short_inner_7": ((9001, 7), (7,), (1,)),
    "short_stretched": ((20011, 3), (20011,), (0,)),
    "long_rows": ((3, 20011), (20011,), (1,)),
    "long_columns": ((3, 20011), (3,), (0,)),
    "square": ((257, 263), (257, 263), None),
    "outer": ((257, 1), (1, 263), None),
    "middle": ((19, 61, 59), (61,), (1,)),
    "channels": ((3, 5, 61, 67), (5,), (1,)),
    "short_inner_of_two": ((1009, 3, 8), (1009, 8), (0, 2)),
    "many_dimensions": ((3, 4, 5, 6, 7, 3), (5, 7), (2, 4)),
    "per_operand": ((3, 41), (67, 5), ((0, 2), (1, 3))),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shapes", LARGE)
def test_large(shapes, layout):
    shape1, shape2, dims = LARGE[shapes]
    for dtype1, dtype2 in (("float64", "float64"), ("float16", "float16"), ("uint8", "float32"),
                           ("complex128", "complex128"), ("int8", "int8")):  # fmt: skip
        x1, x2 = LAYOUTS[layout](shape1, dtype1, 1), LAYOUTS[layout](shape2, dtype2, 2)
        check("subtract", x1, x2, dims)
        check("greater", x1, LAYOUTS["contiguous"](shape2, dtype2, 2), dims)


@pytest.mark.parametrize("shape", [(1, 200), (200, 1), (2, 100), (8, 65), (16, 64), (17, 129), (63, 64),
                                   (64, 64), (130, 128), (333, 77)], ids=str)  # fmt: skip
@pytest.mark.parametrize("dtype", ["bool", "uint16", "float32", "float64", "complex128", "float16"])
def test_transposed_partner(shape, dtype):
    """A + B.T, where the two disagree about which axis is fast."""
    name = "logical_xor" if dtype == "bool" else "subtract"
    x1 = LAYOUTS["contiguous"](shape, dtype, 1)
    for layout in ("fortran", "transposed", "stepped"):
        x2 = LAYOUTS[layout](shape[::-1], dtype, 2).T
        check(name, x1, x2, None)
        check(name, x2, x1, None)
        check(name, x1, x2[::-1], None)
        check(name, x1[:, ::-1], x2, None)


@pytest.mark.parametrize("dtype", ["int32", "float64", "complex128", ">f4"])
@pytest.mark.parametrize("offset", [0, 1, 3, 7, 15])
def test_large_transposed_partner(offset, dtype, cpu_level):
    """Blocks of whole cache lines, wherever in a line the operands begin."""
    shape = (523, 389)
    values = np.arange(shape[0] * shape[1] + offset).astype(dtype)
    x1 = values[offset:].reshape(shape)
    x2 = values[::-1].copy()[: x1.size].reshape(shape[::-1])
    room = np.zeros((shape[0] + 2, shape[1] + offset + 2), x1.dtype.newbyteorder("="))
    out = room[1:-1, offset + 1 : -1]
    for partner in (x2.T, x2[::-1].T, x2[:, ::-1].T):
        for where in (True, x1.real > 99):
            room[...] = 0
            np.testing.assert_array_equal(
                xbcast.add(x1, partner, out=out, where=where),
                np.where(where, x1 + partner, 0),
            )
            out[...] = 0
            assert not room.any()


@pytest.mark.parametrize("name", ["add", "power", "less"])
@pytest.mark.parametrize("offset", range(8))
def test_every_offset_and_tail(name, offset):
    """No element beyond the end is read or written, wherever the ends lie."""
    dtypes = ["uint8", "float32", "float64", "complex128"]
    for dtype in dtypes:
        line = grids.ordinary(dtype, (160,))
        for n in (*range(1, 40), 63, 64, 65, 127, 128, 129):
            x1, x2 = line[offset : offset + n], line[offset + 3 : offset + 3 + n]
            got = check(name, x1, x2, None)
            around = np.full(n + 20, got.dtype.type(1))
            getattr(xbcast, name)(x1, x2, out=around[offset : offset + n])
            oracle.assert_same_values(name, around[offset : offset + n], got)
            assert (around[:offset] == 1).all() and (around[offset + n :] == 1).all()


def test_no_read_beyond_a_page():
    """Operands that end where the address space does: a stray load would crash."""
    page = mmap.PAGESIZE
    with mmap.mmap(-1, 3 * page) as memory:
        try:
            import ctypes

            libc = ctypes.CDLL(None, use_errno=True)
            address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
            guarded = libc.mprotect(ctypes.c_void_p(address + 2 * page), page, 0) == 0
        except (OSError, AttributeError, TypeError):
            guarded = False
        if not guarded:
            pytest.skip("this platform has no mprotect")
        whole = np.frombuffer(memory, np.uint8, 2 * page)
        for dtype in ("uint8", "float16", "float32", "float64", "complex128"):
            itemsize = np.dtype(dtype).itemsize
            for n in (1, 2, 3, 5, 7, 9, 15, 17, 31, 33):
                x = whole[2 * page - n * itemsize :].view(dtype)
                x[...] = 1
                assert (xbcast.add(x, x) == 2).all()
                assert (xbcast.add(x, 1) == 2).all()
                columns = whole[2 * page - 2 * n * itemsize :].view(dtype).reshape(n, 2)
                columns[...] = 1
                for column in (columns[:, 0], columns[:, 1], columns[::-1, 1]):
                    assert (xbcast.add(column, column) == 2).all()
                    assert not xbcast.less(column, 1).any()
                assert (
                    xbcast.add(
                        columns,
                        x[: columns.shape[1]] if n > 1 else x.sum(),
                        **({"broadcast_dimensions": (1,)} if n > 1 else {}),
                    )
                    == 2
                ).all()
                xbcast.add(x, x, out=x)
                assert (x == 2).all()
        del whole, x, columns, column
        libc.mprotect(ctypes.c_void_p(address + 2 * page), page, 3)


# ---- strides that are large, or many ----------------------------------------


def test_strides_beyond_32_bits(tmp_path):
    """A sparse file, of which a few pages exist."""
    row = 2**31 + 4096 + 24
    with open(tmp_path / "sparse", "w+b") as file:
        file.truncate(3 * row)
        memory = np.memmap(file, np.uint8, "r+", shape=(3 * row,))
    x = np.lib.stride_tricks.as_strided(memory[:16].view(np.float64), (2, 2), (row, 8))
    x = np.asarray(x)
    x[...] = [[1, 2], [3, 4]]
    y = x[::-1]
    assert xbcast.add(x, y).tolist() == [[4, 6], [4, 6]]
    assert xbcast.add(x, np.array([10.0, 20.0]), broadcast_dimensions=(0,)).tolist() == [[11, 12], [23, 24]]
    assert xbcast.add(x.T, x).tolist() == [[2, 5], [5, 8]]
    assert xbcast.less(x, 2.5).tolist() == [[True, True], [False, False]]
    out = np.asarray(np.lib.stride_tricks.as_strided(memory[64:80].view(np.float64), (2, 2), (row, 8)))
    xbcast.multiply(x, 2, out=out)
    assert out.tolist() == [[2, 4], [6, 8]]
    assert xbcast.subtract(x, 1, out=x) is x and x.tolist() == [[0, 1], [2, 3]]
    with pytest.raises(xbcast.BroadcastError):
        xbcast.add(x, x[0])
    bytes_ = memory[:: row // 2]
    assert xbcast.add(bytes_, bytes_).shape == bytes_.shape


def test_wild_strides_on_axes_of_size_1():
    """A stride that is never taken may be anything; it decides nothing either."""
    base = np.arange(6.0)
    for wild in (2**62, -(2**62), 3, -1, 2**63 - 1, -(2**63)):
        x = np.lib.stride_tricks.as_strided(base, (1, 6, 1), (wild, 8, wild))
        assert np.array_equal(xbcast.add(x, x), x + x)
        assert np.array_equal(
            xbcast.add(x, base[:4], broadcast_dimensions=(2,)), base.reshape(1, 6, 1) + base[:4]
        )
        assert xbcast.add(x, base.reshape(1, 6, 1)).strides == (base.reshape(1, 6, 1) + 0).strides
        out = np.lib.stride_tricks.as_strided(np.zeros(6), (1, 6, 1), (wild, 8, wild))
        assert xbcast.add(x, 1, out=out) is out
        assert out.ravel().tolist() == [1, 2, 3, 4, 5, 6]
        empty = np.lib.stride_tricks.as_strided(base, (0, 6), (wild, 8))
        assert xbcast.add(empty, base, broadcast_dimensions=(1,)).shape == (0, 6)


def test_64_dimensions_in_any_order():
    rng = np.random.default_rng(9)
    for _ in range(30):
        shape = rng.permutation([2] * 7 + [3] + [1] * 56)
        x1 = np.arange(2.0**7 * 3).reshape(shape)
        x2 = x1.transpose(rng.permutation(64)).reshape(shape)
        x2 = x2[tuple(slice(None, None, rng.choice([1, -1])) for _ in range(64))]
        assert np.array_equal(xbcast.subtract(x1, x2), x1 - x2)
        kept = sorted(rng.choice(64, 40, replace=False))
        low = np.arange(np.prod(shape[kept]), dtype=float).reshape(shape[kept])
        dims = tuple(int(d) for d in kept)
        full = [1] * 64
        for d in kept:
            full[d] = shape[d]
        assert np.array_equal(xbcast.subtract(x1, low, broadcast_dimensions=dims), x1 - low.reshape(full))


def laid_out(rng, shape, dtype):
    """Values of that shape: axes in some order in memory, some with gaps or backwards, some of size 1."""
    order = rng.permutation(len(shape)) if rng.random() < 0.5 else np.arange(len(shape))
    steps = [int(rng.choice([1, 1, 1, 1, 2, -1])) for _ in shape]
    memory = grids.ordinary(dtype, [shape[d] * abs(steps[d]) for d in order])
    return memory[tuple([slice(None, None, steps[d]) for d in order])].transpose(np.argsort(order))


MANY = [
    ("add", "float64", "float64"), ("subtract", "int8", "int16"), ("less", "float32", "float32"),
    ("multiply", "complex128", "complex128"), ("add", "float16", "float16"), ("hypot", "float64", "float64"),
    ("ldexp", "float32", "int32"), ("power", "uint16", "uint16"), ("logical_and", "int8", "float64"),
    ("add", ">f8", "<f8"), ("maximum", "uint8", "uint8"), ("power", "float64", "float64"),
]  # fmt: skip


@pytest.mark.parametrize("name, dtype1, dtype2", MANY, ids=["-".join(case) for case in MANY])
def test_many_short_axes(name, dtype1, dtype2):
    """Nests of 4 to 13 axes of a few elements each, of which any number are one block."""
    rng = np.random.default_rng(12)
    for sizes in ([2], [2, 3], [3], [1, 2, 4, 5], [2, 7], [2, 15], [5, 6, 40]):
        for _ in range(12):
            shape = []
            while np.prod(shape, initial=1) < rng.choice([300, 1000, 10000]) and len(shape) < 13:
                shape.append(int(rng.choice(sizes)))
            x1 = laid_out(rng, [n if rng.random() < 0.8 else 1 for n in shape], dtype1)
            x2 = laid_out(rng, [n if rng.random() < 0.5 else 1 for n in shape], dtype2)
            pair = (x1, x2) if rng.random() < 0.5 or dtype1 != dtype2 else (x2, x1)
            got = check(name, *pair, None)
            out = laid_out(rng, got.shape, got.dtype)
            mask = laid_out(rng, got.shape, "bool")
            with np.errstate(all="ignore"):
                getattr(xbcast, name)(*pair, out=out)
                assert out.tobytes() == got.tobytes()
                out[...] = 0
                getattr(xbcast, name)(*pair, out=out, where=mask)
                oracle.assert_same_values(name, out, np.where(mask, got, out.dtype.type(0)))
                if got.shape == x1.shape and got.dtype == x1.dtype:
                    getattr(xbcast, name)(*pair, out=x1)
                    assert x1.tobytes() == got.tobytes()


@pytest.mark.parametrize("threads", [2, 3, 7])
@pytest.mark.parametrize("shape", [(2,) * 17, (3,) * 11, (2, 3) * 7, (*[2] * 14, 5, 5)], ids=str)
def test_many_short_axes_in_parts(shape, threads):
    x1 = np.arange(np.prod(shape), dtype=float).reshape(shape)
    x2 = np.arange(np.prod(shape[1::2]), dtype=float).reshape(shape[1::2])
    dims = tuple(range(1, len(shape), 2))
    x1 = x1[::-1]
    want = x1 + x2.reshape([n if d in dims else 1 for d, n in enumerate(shape)])
    xbcast._threads.use_machine_limit(threads)
    try:
        with xbcast.num_threads(threads):
            assert np.array_equal(xbcast.add(x1, x2, broadcast_dimensions=dims), want)
            assert np.array_equal(xbcast.add(x1, x2.astype("i4"), broadcast_dimensions=dims), want)
            assert np.array_equal(xbcast.hypot(x1, x2, broadcast_dimensions=dims),
                                  oracle.call("hypot", x1, x2, dims))  # fmt: skip
    finally:
        xbcast._threads.use_machine_limit(None)


#: One operand is packed in small pieces along an axis: the threads' cut goes along it, or across.
TURNS = {
    "along": ((30_000, 4), (30_000,), (0,)),
    "across": ((50, 60, 8), (50, 8), (0, 2)),
    "outside": ((40, 900, 7), (40, 900), (0, 1)),
    "channels": ((40, 128, 7, 7), (128,), (1,)),
    "pairs": ((9_000, 2, 2), (9_000, 2), (0, 2)),
}


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("lead", [0, 1, 24])
@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "float64", "complex128", "float16"])
@pytest.mark.parametrize("shapes", TURNS)
def test_turns(shapes, dtype, lead, threads):
    """Wherever in a line of the cache the arrays begin, in place or not."""
    name = {"float64": "remainder", "float16": "divide", "complex128": "multiply"}.get(dtype, "floor_divide")
    shape1, shape2, dims = TURNS[shapes]
    memory = np.empty(lead + np.prod(shape1) * np.dtype(dtype).itemsize, np.uint8)
    x1 = memory[lead:].view(dtype).reshape(shape1)
    x1[...] = grids.ordinary(dtype, shape1, 1)
    x2 = np.resize(np.arange(1, 120), shape2).astype(dtype)
    xbcast._threads.use_machine_limit(threads)
    try:
        with xbcast.num_threads(threads), np.errstate(all="ignore"):
            if shapes in ("along", "outside"):
                explained = xbcast.explain(name, x1, x2, broadcast_dimensions=dims)
                assert np.prod(explained.block) * x1.itemsize <= 4096
                assert explained.threads == threads
            want = oracle.call(name, x1, x2, dims)
            got = getattr(xbcast, name)(x1, x2, broadcast_dimensions=dims)
            oracle.assert_same_values(name, got, want, oracle.expanded(x1, x2, dims))
            backwards = x2[::-1].copy()[::-1]
            got = getattr(xbcast, name)(x1, backwards, broadcast_dimensions=dims)
            oracle.assert_same_values(name, got, want, oracle.expanded(x1, x2, dims))
            bits = xbcast.less(x1, x2, broadcast_dimensions=dims)
            oracle.assert_same_values("less", bits, oracle.call("less", x1, x2, dims))
            getattr(xbcast, name)(x1, x2, out=x1, broadcast_dimensions=dims)
            assert x1.tobytes() == got.tobytes()
    finally:
        xbcast._threads.use_machine_limit(None)


# ---- the result -------------------------------------------------------------


def test_result_is_a_new_plain_array():
    for layout, dtype in itertools.product(LAYOUTS, grids.NATIVE):
        x1, x2 = operand(layout, (5, 6), dtype, 1), operand(layout, (6,), dtype, 2)
        result = xbcast.equal(x1, x2, broadcast_dimensions=(1,))
        assert type(result) is np.ndarray
        assert result.flags.owndata and result.flags.writeable and result.flags.aligned
        assert result.base is None and result.dtype.isnative
        assert not np.shares_memory(result, x1) and not np.shares_memory(result, x2)


def random_array(rng, shape, dtype="float64"):
    """Random axis order, steps, directions and stretched axes."""
    rank = len(shape)
    order = rng.permutation(rank)
    steps = rng.choice([1, 1, 1, 2, -1, -2], rank)
    stretched = rng.random(rank) < 0.15
    base_shape = [1 if s else n * abs(k) for n, k, s in zip(shape, steps, stretched, strict=True)]
    if rng.random() < 0.1 and min(shape, default=0) > 0:
        # windows: two axes may have one stride, and equal strides say nothing about order
        line = np.arange(sum(shape) * 2).astype(dtype)
        step = line.itemsize * rng.integers(1, 3, rank)
        return np.lib.stride_tricks.as_strided(line, shape, step, writeable=False)
    base = np.arange(np.prod(base_shape, dtype=int)).astype(dtype)
    base = base.reshape([base_shape[i] for i in order]).transpose(np.argsort(order))
    base = base[(*(slice(None, None, 1 if s else k) for k, s in zip(steps, stretched, strict=True)), ...)]
    return np.broadcast_to(base, shape) if stretched.any() else base


def random_call(rng, dtype="float64"):
    """Two operands of random layout that combine, with their dimensions."""
    rank = int(rng.integers(0, 6))
    shape = rng.choice([0, 1, 1, 2, 3, 4], rank, p=[0.02, 0.15, 0.15, 0.28, 0.2, 0.2])
    low = int(rng.integers(0, rank + 1))
    dims = tuple(sorted(int(d) for d in rng.choice(rank, low, replace=False)))
    shapes = [
        tuple(int(1 if rng.random() < 0.15 else n) for n in part) for part in (shape, shape[list(dims)])
    ]
    operands = [random_array(rng, s, dtype) for s in shapes]
    if rng.random() < 0.5:
        operands.reverse()
    return (*operands, None if low in (0, rank) else dims)


@pytest.mark.parametrize("dtype", ["float64", "longdouble"], ids=["native", "numpy"])
@pytest.mark.parametrize("seed", range(12))
def test_memory_order_of_the_result(seed, dtype):
    """Strides and values for every `order`, over random layouts of both operands."""
    rng = np.random.default_rng([10, seed])
    for _ in range(200):
        x1, x2, dims = random_call(rng, dtype)
        y1, y2 = oracle.expanded(x1, x2, dims)
        for order in ("K", "C", "F", "A"):
            got = np.asarray(xbcast.subtract(x1, x2, broadcast_dimensions=dims, order=order))
            want = np.asarray(np.subtract(y1, y2, order=order))
            assert np.array_equal(got, want)
            assert got.strides == want.strides, (order, x1.shape, x1.strides, x2.shape, x2.strides, dims)
        got = np.asarray(xbcast.less(x1, x2, broadcast_dimensions=dims))
        assert got.strides == np.asarray(np.less(y1, y2)).strides


@pytest.mark.parametrize("seed", range(6))
def test_memory_order_under_a_mask(seed):
    """The mask is an operand like any other where `order` asks how they lie."""
    rng = np.random.default_rng([17, seed])
    for _ in range(200):
        x1, x2, dims = random_call(rng)
        y1, y2 = oracle.expanded(x1, x2, dims)
        shape = oracle.result_shape(x1.shape, x2.shape, dims)
        mask = random_array(rng, tuple(int(1 if rng.random() < 0.15 else n) for n in shape), "bool")
        for order in ("K", "C", "F", "A"):
            got = np.asarray(xbcast.subtract(x1, x2, broadcast_dimensions=dims, order=order, where=mask))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # NumPy says that its cells hold garbage
                want = np.asarray(np.subtract(y1, y2, order=order, where=mask))
            assert np.array_equal(got, np.where(mask, oracle.call("subtract", x1, x2, dims), 0))
            assert got.strides == want.strides, (order, x1.strides, x2.strides, mask.strides, shape, dims)


def test_order_k_is_the_default():
    x = np.zeros((3, 4, 5)).transpose(1, 2, 0)
    assert xbcast.add(x, x).strides == xbcast.add(x, x, order="K").strides == (x + x).strides
    assert xbcast.add(x, x).strides != xbcast.add(x, x, order="C").strides


@pytest.mark.parametrize("order", ["c", "f", "k", "a", "X", "x", "", "CF", None, 0, "Corder", b"F", b"c",
                                   b"\xff", np.str_("f"), "\u212a", "\u0131", b"", ["C"]],
                         ids=repr)  # fmt: skip
def test_spellings_of_order(order):
    """Accepted or refused as in NumPy."""
    x = np.asfortranarray(np.ones((3, 4)))

    def attempt(op, **keywords):
        try:
            return op(x, x, order=order, **keywords).strides
        except (TypeError, ValueError) as error:
            return type(error)

    assert attempt(xbcast.add) == attempt(np.add)
    assert attempt(xbcast.add, dtype="O") == attempt(np.add, dtype="O")


def test_order_whose_methods_change_the_operands():
    """Not asked: the letter is read once, before the arrays are."""

    class Changing(bytes):
        def decode(self, *args):
            x.resize((1,), refcheck=False)
            return "K"

        def __getitem__(self, i):
            x.resize((1,), refcheck=False)
            return 75

    x = np.ones(100_000)
    assert xbcast.add(x, x, order=Changing(b"K")).shape == (100_000,)


def test_order_with_scalars_and_python_numbers():
    x = np.zeros((3, 4, 5)).transpose(2, 0, 1)[::-1]
    for other in (2.0, np.float32(2), np.array(2), np.zeros((1, 1, 1))):
        for order in "KCFA":
            for pair in ((x, other), (other, x)):
                assert xbcast.add(*pair, order=order).strides == np.add(*pair, order=order).strides
