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
            assert explained.streams and explained.threads == threads
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
    assert xbcast.explain("add", y, y, out=out).streams
    for x1 in (x, y):
        expected = np.zeros_like(whole)
        np.add(x1, y, out=expected[:, :3, :130])
        xbcast.add(x1, y, out=out)
        assert np.array_equal(whole, expected)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dtypes", ["f4 f4 f4", "f8 f8 f8", "i1 f4 f4", "i2 i2 i2", "c8 c8 c8"])
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
                assert xbcast.explain("add", x1, x2, out=out, broadcast_dimensions=dims).streams
                xbcast.add(x1, x2, out=out, broadcast_dimensions=dims)
                assert np.array_equal(buffer, expected_buffer)
    finally:
        xbcast._threads.use_machine_limit(None)


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
    assert xbcast.explain(op, x, 1.5, out=x).streams
    getattr(xbcast, op)(x, 1.5, out=x)
    assert np.array_equal(x, expected)


def test_transposed(way):
    x = np.arange(1100 * 1100, dtype=np.float32).reshape(1100, 1100)
    out = np.zeros_like(x)
    assert xbcast.explain("subtract", x, x.T, out=out).streams
    xbcast.subtract(x, x.T, out=out)
    assert np.array_equal(out, x - x.T)


@pytest.mark.parametrize("level", xbcast._core.cpu_levels())
def test_every_level(level, use_level, way):
    """Stores are as wide as the level has them."""
    use_level(level)
    rng = np.random.default_rng(0)
    x = rng.integers(0, 9, (1030, 1021)).astype(np.float32)
    for lead in (0, 4, 17, 32, 63):
        buffer, out = inside(x.shape, "f4", lead)
        expected_buffer, expected = inside(x.shape, "f4", lead)
        np.add(x, x, out=expected)
        assert xbcast.explain("add", x, x, out=out).streams
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
    """After about a second; in between a run however slow changes nothing."""
    first = [(10, 9, 1)] * (2 * RUNS) + [(10, 1000, 1)] * 9
    ways = _ways.ways_of([*first, (10, 9, SECOND), *[(8, 9, 1)] * 20], False)
    assert all(ways[2 * RUNS : len(first) + 1])
    again = ways[len(first) + 1 :]
    assert again == [True] * RUNS + [False] * (20 - RUNS)


def test_ways_of_real_calls_change():
    """Large calls in a row go both ways, and all give the same."""
    x = np.arange(4 * MEBIBYTE // 8, dtype=np.float64)
    out = np.empty_like(x)
    for _ in range(3 * RUNS):
        out.fill(-1)
        xbcast.multiply(x, 3, out=out)
        assert np.array_equal(out, x * 3)
