"""Values worth trying, per dtype, and grids of all pairs of them."""

import functools

import numpy as np

INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
FLOATS = "float16 float32 float64".split()
COMPLEX = ["complex64", "complex128"]
#: The dtypes that have loops of their own.
NATIVE = ["bool", *INTEGERS, *FLOATS, *COMPLEX]


def _integers(info):
    near_one = {-3, -2, -1, 0, 1, 2, 3, 5, 7, 8, 10, 12}
    width = info.bits
    powers = {1 << k for k in (1, 3, width // 2 - 1, width // 2, width - 2, width - 1)}
    shifts = {width - 1, width, width + 1, 2 * width}
    edges = {info.min, info.min + 1, info.max - 1, info.max, info.max // 2, info.min // 2}
    return sorted(v for v in near_one | powers | shifts | edges if info.min <= v <= info.max)


def _floats(dtype):
    info = np.finfo(dtype)
    one = info.dtype.type(1)
    positive = [
        0.0, info.smallest_subnormal, info.smallest_subnormal * 3,
        np.nextafter(info.smallest_normal, one * 0), info.smallest_normal,
        info.eps, 1e-3, 0.3, 0.5, one - info.epsneg, 1.0, one + info.eps,
        1.5, 2.0, 2.5, 3.0, 7.0, 100.0, 300.7, info.dtype.type(2) ** info.nmant,
        np.sqrt(info.max), info.max / 2, info.max, np.inf, np.nan,
    ]  # fmt: skip
    positive = np.array(positive, dtype)
    return np.concatenate([positive, -positive])


_COMPLEX_PARTS = [0.0, -0.0, 1.0, -1.0, 0.5, 3.0, -2.5, 1e-40, 1e20, -1e30, 3e38, np.inf, -np.inf,
                  np.nan]  # fmt: skip


@functools.cache
def special(dtype):
    """One-dimensional array of the values of `dtype` at which things go wrong."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        return np.array(_integers(np.iinfo(dtype)), dtype)
    if dtype.kind == "f":
        return _floats(dtype)
    if dtype.kind == "c":
        part = np.array(_COMPLEX_PARTS, f"f{dtype.itemsize // 2}")
        result = np.empty((part.size, part.size), dtype)
        result.real, result.imag = part[:, None], part
        return result.ravel()
    raise TypeError(dtype)


@functools.cache
def pairs(dtype1, dtype2=None):
    """All pairs of special values, as two flat arrays."""
    x1, x2 = special(dtype1), special(dtype2 or dtype1)
    return np.repeat(x1, x2.size), np.tile(x2, x1.size)


def ordinary(dtype, shape, seed=0):
    """Values that no op warns about: 1 to 5, both signs where there are two, no zero."""
    dtype = np.dtype(dtype)
    rng = np.random.default_rng([seed, *shape, dtype.num])
    values = rng.integers(1, 6, shape)
    if dtype.kind == "b":
        return values > 3
    if dtype.kind in "fc":
        values = values * rng.choice([1.0, 0.5, 1.25], shape)
    if dtype.kind == "c":
        values = values + 1j * rng.integers(-3, 4, shape)
    return values.astype(dtype)


def fractions(dtype, shape, seed=0):
    """Values of many digits and magnitudes, so that each rounding on the way shows."""
    dtype = np.dtype(dtype)
    if dtype.kind not in "fc":
        return mixed(dtype, shape, seed)
    rng = np.random.default_rng([seed, 2, *shape])
    values = rng.standard_normal(shape) * 10.0 ** rng.integers(-4, 4, shape)
    if dtype.kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return values.astype(dtype)


def mixed(dtype, shape, seed=0):
    """Ordinary values with special ones strewn in."""
    values = ordinary(dtype, shape, seed)
    rng = np.random.default_rng([seed, 1, *shape])
    strewn = rng.choice(special(dtype), shape)
    return np.where(rng.random(shape) < 0.4, strewn, values).astype(dtype)
