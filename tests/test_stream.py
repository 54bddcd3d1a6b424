"""Results so large that they may be written past the cache: every byte, and no other, whichever
way they go."""

import numpy as np
import pytest

import xbcast
from xbcast import _ways

MEBIBYTE = 1 << 20


@pytest.fixture(params=[True, False, None], ids=["past", "through", "found out"])
def way(request):
    _ways.use_way(request.param)
    yield
    _ways.use_way(None)


def inside(shape, dtype, lead, gap=0):
    """An array `lead` bytes into a buffer of 0xa5, `gap` elements between its rows."""
    dtype = np.dtype(dtype)
    steps = (shape[1] + gap) * dtype.itemsize
    buffer = np.full(lead + shape[0] * steps + 100, 0xA5, np.uint8)
    array = np.ndarray(shape, dtype, buffer, lead, (steps, dtype.itemsize))
    return buffer, array


# dtype of x1, x2 and out; lead (bytes), gap (elements)
CASES = {
    "aligned": ("f4", "f4", "f4", 0, 0),
    "odd": ("f4", "f4", "f4", 3, 0),
    "element": ("f8", "f8", "f8", 8, 0),
    "rows": ("f4", "f4", "f4", 4, 7),
    "odd rows": ("i2", "i2", "i2", 1, 1),
    "converted": ("i1", "f4", "f8", 16, 0),
    "converted rows": ("i1", "f4", "f8", 16, 3),
    "swapped": ("f4", "f4", ">f4", 60, 0),
    "half": ("f2", "f2", "f2", 2, 0),
    "complex": ("c16", "c16", "c16", 8, 1),
}


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("case", CASES)
def test_every_byte(case, threads, way):
    dtype1, dtype2, to, lead, gap = CASES[case]
    columns = 4099
    rows = 4 * MEBIBYTE // np.dtype(to).itemsize // columns
    rng = np.random.default_rng(0)
    x1 = rng.integers(0, 100, (rows, columns)).astype(dtype1)
    x2 = rng.integers(0, 100, columns).astype(dtype2)
    buffer, out = inside((rows, columns), to, lead, gap)
    expected_buffer, expected = inside((rows, columns), to, lead, gap)
    np.add(x1, x2, out=expected)
    xbcast._threads.use_machine_limit(threads)
    try:
        with xbcast.num_threads(threads):
            explained = xbcast.explain("add", x1, x2, out=out, broadcast_dimensions=(1,))
            assert explained.streams == _ways.can_stream and explained.threads == threads
            xbcast.add(x1, x2, out=out, broadcast_dimensions=(1,))
    finally:
        xbcast._threads.use_machine_limit(None)
    assert np.array_equal(buffer, expected_buffer)


def test_three_levels(way):
    """Blocks of short rows in two nested groups, with gaps after each."""
    whole = np.zeros((3_000, 4, 140), np.float32)
    out = whole[:, :3, :130]
    rng = np.random.default_rng(0)
    x = rng.integers(0, 9, out.shape).astype(np.int8)
    y = rng.integers(0, 9, out.shape).astype(np.float32)
    assert xbcast.explain("add", y, y, out=out).streams == _ways.can_stream
    for x1 in (x, y):
        expected = np.zeros_like(whole)
        np.add(x1, y, out=expected[:, :3, :130])
        xbcast.add(x1, y, out=out)
        assert np.array_equal(whole, expected)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dtypes", ["f4 f4 f4", "f8 f8 f8", "i1 f4 f4", "i2 i2 i2", "c8 c8 c8", "f2 f2 f2"])
@pytest.mark.parametrize("lead", [0, 1, 16])
@pytest.mark.parametrize("k", [1, 2, 3, 4, 7, 40])
def test_short_rows(k, lead, dtypes, threads, way):
    """Blocks that end within a line of the cache: its rest comes with the next block."""
    dtype1, dtype2, to = dtypes.split()
    n = 4 * MEBIBYTE // np.dtype(to).itemsize // k + 5
    rng = np.random.default_rng(0)
    x1 = rng.integers(0, 9, (n, k)).astype(dtype1)
    buffer, out = inside((n, k), to, lead)
    expected_buffer, expected = inside((n, k), to, lead)
    xbcast._threads.use_machine_limit(threads)
    try:
        with xbcast.num_threads(threads):
            for shape, dims in (((k,), (1,)), ((n,), (0,))):
                x2 = rng.integers(0, 9, shape).astype(dtype2)
                np.add(x1, x2 if dims == (1,) else x2[:, None], out=expected)
                explained = xbcast.explain("add", x1, x2, out=out, broadcast_dimensions=dims)
                assert explained.streams == _ways.can_stream
                xbcast.add(x1, x2, out=out, broadcast_dimensions=dims)
                assert np.array_equal(buffer, expected_buffer)
                # what waits for its line is written after later elements are read
                out[...] = x1
                np.add(out, x2 if dims == (1,) else x2[:, None], out=expected)
                xbcast.add(out, x2, out=out, broadcast_dimensions=dims)
                assert np.array_equal(buffer, expected_buffer)
    finally:
        xbcast._threads.use_machine_limit(None)


@pytest.mark.parametrize("dtypes", ["f2 c8", "f4 c8", "f8 c16"])
@pytest.mark.parametrize("k", [2, 3, 5, 12, 40])
def test_results_wider_than_operands(k, dtypes, way):
    """There is room for as many bytes of them as a block has, wherever they wait."""
    dtype, to = dtypes.split()
    n = 4 * MEBIBYTE // np.dtype(to).itemsize // k + 5
    x1 = (np.arange(n * k) % 1009).reshape(n, k).astype(dtype)
    x2 = (np.arange(n) % 997).astype(dtype)
    out = np.zeros((n, k), to)
    explained = xbcast.explain("complex", x1, x2, out=out, broadcast_dimensions=(0,))
    assert explained.streams == _ways.can_stream
    assert np.prod(explained.block) * out.itemsize <= 4096
    xbcast.complex(x1, x2, out=out, broadcast_dimensions=(0,))
    assert np.array_equal(out.real, x1) and np.array_equal(out.imag, np.repeat(x2, k).reshape(n, k))


@pytest.mark.parametrize("lead", [0, 1, 63])
@pytest.mark.parametrize("k", [7, 70, 300, 700])
def test_rows_of_bools(k, lead, way):
    """Results of one byte, of operands of many; rows that continue one another, short or long."""
    n = 4 * MEBIBYTE // k
    x1 = np.random.default_rng(0).integers(0, 9, (n, k)).astype(np.float16)
    x2 = x1[0].copy()
    buffer, out = inside((n, k), bool, lead)
    expected_buffer, expected = inside((n, k), bool, lead)
    np.less(x1, x2, out=expected)
    assert xbcast.explain("less", x1, x2, out=out, broadcast_dimensions=(1,)).streams == _ways.can_stream
    xbcast.less(x1, x2, out=out, broadcast_dimensions=(1,))
    assert np.array_equal(buffer, expected_buffer)


def test_masked():
    """A mask chooses what is written: nothing goes past the cache."""
    n = 4 * MEBIBYTE // 4
    x = np.arange(n, dtype=np.int32)
    mask = x % 3 != 1
    out, expected = np.full((2, n), -1, np.int32)
    np.add(x, 5, out=expected, where=mask)
    assert not xbcast.explain("add", x, 5, out=out, where=mask).streams
    xbcast.add(x, 5, out=out, where=mask)
    assert np.array_equal(out, expected)


@pytest.mark.parametrize("op", ["multiply", "floor_divide"])
def test_in_place(op, way):
    n = 4 * MEBIBYTE // 8
    x = np.arange(n) % 1000 + 1.0
    expected = getattr(np, op)(x, 1.5)
    assert xbcast.explain(op, x, 1.5, out=x).streams == _ways.can_stream
    getattr(xbcast, op)(x, 1.5, out=x)
    assert np.array_equal(x, expected)


def test_transposed(way):
    x = np.arange(1100 * 1100, dtype=np.float32).reshape(1100, 1100)
    out = np.zeros_like(x)
    assert xbcast.explain("subtract", x, x.T, out=out).streams == _ways.can_stream
    xbcast.subtract(x, x.T, out=out)
    assert np.array_equal(out, x - x.T)


@pytest.mark.parametrize("dtype", ["f4", "f2", "i1", "c16"])
def test_every_level(dtype, cpu_level, way):
    """Stores are as wide as the level has them."""
    rng = np.random.default_rng(0)
    rows = 4 * MEBIBYTE // np.dtype(dtype).itemsize // 1021
    x = rng.integers(0, 9, (rows, 1021)).astype(dtype)
    for lead in (0, 4, 17, 32, 63):
        buffer, out = inside(x.shape, dtype, lead)
        expected_buffer, expected = inside(x.shape, dtype, lead)
        np.add(x, x, out=expected)
        assert xbcast.explain("add", x, x, out=out).streams == _ways.can_stream
        xbcast.add(x, x, out=out)
        assert np.array_equal(buffer, expected_buffer)


@pytest.mark.parametrize("place", [0, 5000, 300_000, MEBIBYTE - 1])
def test_warnings(place, way):
    """Found by the hardware and by the kernel, wherever the element stands; and no others."""
    x, y = np.ones((2, MEBIBYTE), np.float32)
    i, j = np.ones((2, MEBIBYTE), np.int32)
    with np.errstate(all="raise"):
        xbcast.divide(x, y, out=x)
        xbcast.floor_divide(i, j, out=i)
        y[place] = j[place] = 0
        with pytest.raises(FloatingPointError, match="divide by zero encountered in divide"):
            xbcast.divide(x, y, out=x)
        with pytest.raises(FloatingPointError, match="divide by zero encountered in floor_divide"):
            xbcast.floor_divide(i, j, out=i)
    assert np.isinf(x[place]) and np.delete(x, place).max() == 1


RUNS = 4
RUNS_TO_TRIAL = 128
SECOND = 2_000_000_000


@pytest.mark.parametrize("before", [False, True])
def test_the_faster_way_is_taken(before):
    """Some runs by either way, the one of before first, then the faster one; the first runs by
    either way do not count."""
    for through, past in ((10, 9), (9, 10)):
        ticks = [(through, past, 1)] * 20
        ticks[0] = ticks[RUNS] = (1, 1, 1)
        ways = _ways.ways_of(ticks, before)
        assert ways[: 2 * RUNS] == [before] * RUNS + [not before] * RUNS
        assert ways[2 * RUNS :] == [past < through] * (20 - 2 * RUNS)


def test_one_slow_run_decides_nothing():
    ticks = [(10, 9, 1)] * 20
    ticks[RUNS + 1] = (10, 1000, 1)
    assert _ways.ways_of(ticks, False)[2 * RUNS :] == [True] * (20 - 2 * RUNS)


def test_ways_are_tried_again():
    """After many runs and about a second; in between a run however slow changes nothing."""
    first = [(10, 9, 1)] * (2 * RUNS) + [(10, 1000, 1)] * (RUNS_TO_TRIAL + 9)
    ways = _ways.ways_of([*first, (10, 9, SECOND), *[(8, 9, 1)] * 20], False)
    assert all(ways[2 * RUNS : len(first) + 1])
    again = ways[len(first) + 1 :]
    assert again == [True] * RUNS + [False] * (20 - RUNS)


@pytest.mark.parametrize("pause", [1, SECOND])
@pytest.mark.parametrize("through", [SECOND // 2, 3 * SECOND])
def test_slow_or_rare_runs_are_seldom_tried(through, pause):
    """However much of the clock's time they take."""
    ways = _ways.ways_of([(through, through // 2, pause)] * 1000, False)
    assert ways.count(False) <= 1000 * RUNS // RUNS_TO_TRIAL + RUNS


@pytest.mark.skipif(not _ways.can_stream, reason="there are no stores past the cache")
def test_kinds_of_real_calls():
    """Calls alike are one kind, others another, and each has its own trial."""
    x = np.arange(4 * MEBIBYTE // 8, dtype=np.float64)
    calls = [
        (xbcast.multiply, x, 3.0),
        (xbcast.divide, x, 3.0),
        (xbcast.multiply, x, x),
        (xbcast.multiply, x[: x.size // 2].astype(np.complex128), 3.0),
        (xbcast.multiply, x, np.ones(x.size, np.float32)),
        (xbcast.multiply, x, np.ones(x.size, np.int64)),
    ]
    for op, x1, x2 in calls:
        before = _ways.known()
        out = np.empty_like(x1)
        for _ in range(3 * RUNS):
            out.fill(-1)
            op(x1, x2, out=out)
            assert np.array_equal(out, getattr(np, op.__name__)(x1, x2))
        after = _ways.known()
        new = [runs - before.get(kind, (False, 0))[1] for kind, (_, runs) in after.items()]
        assert [runs for runs in new if runs] == [3 * RUNS], op


def test_many_kinds():
    """More than there is room for: some are forgotten, and nothing else happens."""
    for columns in range(1, 400):
        whole = np.zeros((4 * MEBIBYTE // 4 // 512, 512 + columns), np.float32)
        out = whole[:, :512]
        xbcast.add(out, 1, out=out)
        assert (out == 1).all() and not whole[:, 512:].any()
