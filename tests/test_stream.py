"""Results so large that they are written past the cache: every byte, and no other."""

import numpy as np
import pytest

import xbcast

MEBIBYTE = 1 << 20


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


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("case", CASES)
def test_every_byte(case, threads):
    dtype1, dtype2, to, lead, gap = CASES[case]
    columns = 4099
    rows = 60 * MEBIBYTE // np.dtype(to).itemsize // columns
    rng = np.random.default_rng(0)
    x1 = rng.integers(0, 100, (rows, columns)).astype(dtype1)
    x2 = rng.integers(0, 100, columns).astype(dtype2)
    buffer, out = inside((rows, columns), to, lead, gap)
    expected_buffer, expected = inside((rows, columns), to, lead, gap)
    np.add(x1, x2, out=expected)
    with xbcast.num_threads(threads):
        xbcast.add(x1, x2, out=out, broadcast_dimensions=(1,))
    assert np.array_equal(buffer, expected_buffer)


def test_three_levels():
    """Blocks of short rows in two nested groups, with gaps after each."""
    whole = np.zeros((41_000, 4, 140), np.float32)
    out = whole[:, :3, :130]
    rng = np.random.default_rng(0)
    x = rng.integers(0, 9, out.shape).astype(np.int8)
    y = rng.integers(0, 9, out.shape).astype(np.float32)
    assert "past the cache" in dict(xbcast.explain("add", y, y, out=out).packed)["out"]
    for x1 in (x, y):
        expected = np.zeros_like(whole)
        np.add(x1, y, out=expected[:, :3, :130])
        xbcast.add(x1, y, out=out)
        assert np.array_equal(whole, expected)


def test_masked():
    n = 60 * MEBIBYTE // 4
    x = np.arange(n, dtype=np.int32)
    mask = x % 3 != 1
    out, expected = np.full((2, n), -1, np.int32)
    np.add(x, 5, out=expected, where=mask)
    xbcast.add(x, 5, out=out, where=mask)
    assert np.array_equal(out, expected)


@pytest.mark.parametrize("op", ["power", "floor_divide"])
def test_in_place(op):
    n = 60 * MEBIBYTE // 8
    x = np.arange(n) % 1000 + 1.0
    expected = getattr(np, op)(x, 1.5)
    getattr(xbcast, op)(x, 1.5, out=x)
    assert np.array_equal(x, expected)


def test_transposed():
    x = np.arange(3970 * 3970, dtype=np.float32).reshape(3970, 3970)
    out = np.zeros_like(x)
    xbcast.subtract(x, x.T, out=out)
    assert np.array_equal(out, x - x.T)
