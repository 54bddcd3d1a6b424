"""Values: NumPy's bit for bit, for every op and every dtype with loops of its own.

Grids of special values, whole 8-bit ranges and every float16; then the other half
of the promise: the bits depend on the elements alone, not on length, layout or
CPU level.
"""

import functools

import numpy as np
import pytest

import grids
import oracle
import xbcast

OPS = list(oracle.OP)


def second_dtype(name, dtype):
    return "int32" if name == "ldexp" else dtype


def supported(name, dtype):
    """Whether NumPy has the op for two operands of that dtype."""
    like = oracle.OP[name].numpy or oracle.OP[name].like
    dtypes = (np.dtype(dtype), np.dtype(second_dtype(name, dtype)), None)
    try:
        getattr(np, like).resolve_dtypes(dtypes)
    except TypeError:
        return False
    return True


CASES = [(name, dtype) for name in OPS for dtype in grids.NATIVE if supported(name, dtype)]


def over(cases):
    return pytest.mark.parametrize("name, dtype", cases, ids=["-".join(case) for case in cases])


def safe_exponents(name, x1, x2):
    """Integer power refuses negative exponents; they have tests of their own."""
    if name == "power" and x2.dtype.kind == "i":
        keep = x2 >= 0
        return x1[keep], x2[keep]
    return x1, x2


def grid(name, dtype):
    return safe_exponents(name, *grids.pairs(dtype, second_dtype(name, dtype)))


def check(name, x1, x2):
    with np.errstate(all="ignore"):
        got = getattr(xbcast, name)(x1, x2)
        want = oracle.reference(name)(x1, x2)
    oracle.assert_same_values(name, got, want, (x1, x2))
    return got


@over(CASES)
def test_special_values(name, dtype):
    check(name, *grid(name, dtype))


@over(CASES)
def test_scalars(name, dtype):
    """Rank 0: each pair by itself, as 0-d arrays and as NumPy scalars."""
    x1, x2 = grid(name, dtype)
    rng = np.random.default_rng(0)
    some = rng.choice(x1.size, min(x1.size, 200), replace=False)
    x1, x2 = x1[some], x2[some]
    op, reference = getattr(xbcast, name), oracle.reference(name)
    with np.errstate(all="ignore"):
        want = np.array([reference(a, b) for a, b in zip(x1, x2, strict=True)])
        for make in (np.array, lambda x: x):
            results = [op(make(a), make(b)) for a, b in zip(x1, x2, strict=True)]
            assert all(type(r) is want.dtype.type for r in results)
            oracle.assert_same_values(name, np.array(results), want, (x1, x2))


@over(CASES)
@pytest.mark.parametrize("side", ["left", "right"])
def test_scalar_with_array(name, dtype, side):
    """A rank-0 operand on either side; for power that is where NumPy takes shortcuts."""
    x1, x2 = grids.special(dtype), grids.special(second_dtype(name, dtype))
    scalars, line = (x1, x2) if side == "left" else (x2, x1)
    for scalar in scalars[:: max(1, scalars.size // 40)]:
        pair = (scalar, line) if side == "left" else (line, scalar)
        if name == "power" and np.dtype(dtype).kind == "i":
            if side == "right" and scalar < 0:
                continue
            if side == "left":
                pair = (scalar, line[line >= 0])
        with np.errstate(all="ignore"):
            got = getattr(xbcast, name)(*pair)
            want = oracle.reference(name)(*pair)
        # an exponent of rank 0 follows NumPy's path for it and no other
        strict = name == "power" and side == "right"
        oracle.assert_same_values(name, got, want, None if strict else pair)


@over([case for case in CASES if case[1] in ("int8", "uint8") and case[0] != "ldexp"])
def test_all_8_bit_pairs(name, dtype):
    every = np.arange(256, dtype=np.uint8).view(dtype)
    x1, x2 = np.repeat(every, 256), np.tile(every, 256)
    check(name, *safe_exponents(name, x1, x2))


@pytest.mark.parametrize("name", [n for n in OPS if supported(n, "float16")])
def test_every_float16(name):
    """Each float16 with a sample of others, on both sides."""
    every = np.arange(65536, dtype=np.uint16).view(np.float16)
    if name == "ldexp":
        for exponent in (-30, -24, -15, -1, 0, 1, 10, 15, 40):
            check(name, every, np.full(every.shape, exponent, "int32"))
        return
    if name == "float_power":
        # whether a NaN signals is part of its payload, and pow(NaN, 0) looks at it
        signals = np.isnan(every) & (every.view(np.uint16) & 0x0200 == 0)
        every = every[~signals]
    sample = np.concatenate([grids.special("float16")[::5], np.float16([0.1, -33.3, 2047, 6e-5])])
    for other in sample:
        constant = np.full(every.shape, other)
        check(name, every, constant)
        check(name, constant, every)


@over(CASES)
def test_random_bits(name, dtype):
    """Elements of random bits: all exponents, all magnitudes, NaN and infinities among them."""
    rng = np.random.default_rng(1)
    dtype, dtype2 = np.dtype(dtype), np.dtype(second_dtype(name, dtype))
    n = 4999

    def draw(dtype):
        raw = rng.integers(0, 256, (n, dtype.itemsize), np.uint8)
        return raw[:, 0] > 127 if dtype.kind == "b" else raw.view(dtype).ravel()

    check(name, *safe_exponents(name, draw(dtype), draw(dtype2)))


@over(CASES)
def test_random_magnitudes(name, dtype):
    """Ordinary numbers, of which more survive the op than of random bits."""
    rng = np.random.default_rng(2)
    n = 4999
    kind = np.dtype(dtype).kind
    if kind == "b":
        x1, x2 = rng.random((2, n)) > 0.5
    elif kind in "iu":
        low = 0 if kind == "u" else -100
        x1, x2 = rng.integers(low, 101, (2, n)).astype(dtype)
        x2 = np.where(rng.random(n) < 0.3, x2 % 5, x2).astype(dtype)
    else:
        scale = 10.0 ** rng.integers(-3, 4, (2, n))
        x1, x2 = (rng.standard_normal((2, n)) * scale).astype(dtype)
        if kind == "c":
            x1 = (x1 + 1j * rng.standard_normal(n)).astype(dtype)
            x2 = (x2 + 1j * rng.standard_normal(n)).astype(dtype)
    if name == "ldexp":
        x2 = rng.integers(-20, 20, n).astype(np.int32)
    check(name, *safe_exponents(name, x1, x2))


MIXED = [("int8", "float32"), ("float64", "int32"), ("uint8", "int8"), ("int64", "uint64"),
         ("uint64", "int64"), ("float16", "float32"), ("bool", "uint16"), ("int16", "complex64"),
         ("float32", "float64"), ("complex64", "float64"), ("float16", "int16"), ("bool", "float16"),
         ("uint32", "int64")]  # fmt: skip


@pytest.mark.parametrize("name", OPS)
@pytest.mark.parametrize("dtype1, dtype2", MIXED, ids=["-".join(pair) for pair in MIXED])
def test_mixed_dtypes(name, dtype1, dtype2):
    x1, x2 = grids.pairs(dtype1, dtype2)
    try:
        with np.errstate(all="ignore"):
            want = oracle.reference(name)(x1[:1], np.zeros_like(x2[:1]))
    except TypeError:
        with pytest.raises(TypeError):
            getattr(xbcast, name)(x1, x2)
        return
    if name == "power" and want.dtype.kind in "iu":
        keep = ~(x2 < 0)
        x1, x2 = x1[keep], x2[keep]
    with np.errstate(all="ignore"):
        got = getattr(xbcast, name)(x1, x2)
        want = oracle.reference(name)(x1, x2)
    oracle.assert_same_values(name, got, want, [x.astype(np.result_type(x1, x2)) for x in (x1, x2)])


# ---- integer corners, by their numbers --------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_least_integer_over_minus_1(dtype):
    least = np.iinfo(dtype).min
    x = np.full(70, least, dtype)
    with np.errstate(all="ignore"):
        for divisor in (np.full(70, -1, dtype), np.array(-1, dtype)):
            assert (xbcast.floor_divide(x, divisor) == least).all()
            assert (xbcast.remainder(x, divisor) == 0).all()
            assert (xbcast.fmod(x, divisor) == 0).all()


@pytest.mark.parametrize("dtype", grids.INTEGERS)
def test_integer_division_by_zero(dtype):
    x = grids.special(dtype)
    with np.errstate(all="ignore"):
        for zero in (np.zeros_like(x), np.array(0, dtype)):
            for name in ("floor_divide", "remainder", "fmod"):
                assert not getattr(xbcast, name)(x, zero).any()


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_negative_exponents_of_integers(dtype):
    """Scanned first: nothing is written when one is found, and none is looked at under a mask."""
    x = np.full(100, 2, dtype)
    exponent = np.full(100, 2, dtype)
    exponent[93] = -1
    out = np.full(100, 7, dtype)
    for call in (
        lambda: xbcast.power(x, exponent, out=out),
        lambda: xbcast.power(x, np.array(-1, dtype), out=out),
        lambda: xbcast.power(x, exponent, out=out, where=np.arange(100) > 50),
        lambda: xbcast.power(np.array(2, dtype), exponent, out=out),
        lambda: xbcast.power(x.reshape(50, 2), exponent[92:94], broadcast_dimensions=(1,)),
        lambda: xbcast.power(x, -1, out=out),
    ):
        with pytest.raises(ValueError, match="negative integer powers"):
            call()
        assert (out == 7).all()
    xbcast.power(x, exponent, out=out, where=np.arange(100) != 93)
    assert out[93] == 7 and (np.delete(out, 93) == 4).all()
    assert xbcast.power(x[:0], exponent[:0]).size == 0
    assert xbcast.power(x[:0], np.array(-1, dtype)).size == 0
    assert xbcast.power(x.reshape(4, 25)[:, :0], exponent[93:94], broadcast_dimensions=(0,)).size == 0


@functools.cache
def random_values(dtype):
    """So many that a power differs from a product in some."""
    return np.random.default_rng(0).uniform(0.1, 10.1, 20_000).astype(dtype)


@pytest.mark.parametrize("name", ["power", "float_power"])
@pytest.mark.parametrize("dtype", [*grids.INTEGERS, "float16", "float32", "float64", "complex64"])
def test_squares(name, dtype):
    """An exponent of 2 in every form, and its neighbours; where NumPy takes a product, so do we."""
    op, numpy_op = getattr(xbcast, name), getattr(np, name)
    x = np.concatenate([grids.special(dtype), grids.ordinary(dtype, (150,))])
    exponents = [
        2, 2.0, np.int8(2), np.uint64(2), np.float32(2), np.array(2), np.array(2, ">i8"), np.array(2.0),
        np.array(2, dtype), np.array([2], dtype), 2 + 0j, 1, 3, 2.5, np.nextafter(2, 3),
    ]  # fmt: skip
    for exponent in exponents:
        got, want = x.copy(), x.copy()
        with np.errstate(all="ignore"):
            try:
                want = numpy_op(x, exponent)
            except TypeError:
                continue
            got = op(x, exponent)
            loose = np.ndim(exponent) != 0
            oracle.assert_same_values(name, got, want, (x, exponent) if loose else None)
            many = random_values(dtype)
            oracle.assert_same_values(name, op(many, exponent), numpy_op(many, exponent),
                                      (many, exponent) if loose else None)  # fmt: skip
            # as it lies, masked, and upon itself
            y = x[::-2]
            oracle.assert_same_values(name, op(y, exponent), want[::-2], (y, exponent) if loose else None)
            if want.dtype != x.dtype:
                continue
            out, where = x.copy(), np.arange(x.size) % 3 > 0
            op(out, exponent, out=out, where=where)
            oracle.assert_same_values(name, out, np.where(where, got, x))
            out[:] = x
            op(out[1:], exponent, out=out[:-1])
            oracle.assert_same_values(name, out, np.append(got[1:], x[-1]))


def test_negative_exponents_when_warnings_are_errors():
    """NumPy can raise SystemError here."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="negative integer powers"):
            xbcast.power(np.full(10, 2), np.full(10, -1))


def test_shift_counts():
    """Counts outside the width: zeros from the left, or copies of the sign."""
    x = np.array([-8, 8, -128, 127], np.int8)
    for count in (7, 8, 9, 127, -1, -128):
        full = np.full(4, count, np.int8)
        outside = not 0 <= count < 8
        assert xbcast.left_shift(x, full).tolist() == (
            [0] * 4 if outside else np.left_shift(x, full).tolist()
        )
        assert xbcast.right_shift(x, full).tolist() == (
            [-1, 0, -1, 0] if outside else np.right_shift(x, full).tolist()
        )
        assert xbcast.shift_right_logical(x, full).tolist() == (
            [0] * 4 if outside else (x.view(np.uint8) >> count).view(np.int8).tolist()
        )
    assert xbcast.shift_right_logical(np.int8(-8), np.int8(1)) == 124


def test_complex_of_two_reals():
    for dtype, result in (
        ("float32", "complex64"),
        ("float64", "complex128"),
        ("float16", "complex64"),
        ("int64", "complex128"),
    ):
        real, imag = grids.pairs(dtype)
        pair = xbcast.complex(real, imag)
        assert pair.dtype == result
        part = np.dtype(result).type(0).real.dtype
        oracle.assert_same_values("complex", pair.real, real.astype(part))
        oracle.assert_same_values("complex", pair.imag, imag.astype(part))
        assert np.array_equal(np.signbit(pair.imag), np.signbit(imag))
    for refused in (np.ones(3, "complex64"), np.ones(3, "O"), np.ones(3, "M8[s]")):
        with pytest.raises(TypeError):
            xbcast.complex(refused, refused)


# ---- the bits depend on the elements alone ----------------------------------


def raw(x):
    """All bits, NaN payloads too where the op only moves elements: within xbcast nothing varies."""
    return oracle.bits(np.asarray(x))


def placed(x, kind):
    """`x` in another layout, with the same elements."""
    if kind == "stepped":
        wide = np.ones((x.size, 3), x.dtype)
        wide[:, 1] = x
        return wide[:, 1]
    if kind == "reversed":
        return x[::-1].copy()[::-1]
    if kind == "unaligned":
        memory = np.zeros(x.nbytes + 1, np.uint8)
        view = memory[1:].view(x.dtype)
        view[...] = x
        return view
    if kind == "swapped":
        return x.astype(x.dtype.newbyteorder("S"))
    raise ValueError(kind)


@over(CASES)
def test_same_bits_in_every_layout(name, dtype):
    x1, x2 = grid(name, dtype)
    rng = np.random.default_rng(3)
    some = rng.choice(x1.size, min(x1.size, 700), replace=False)
    x1, x2 = x1[some], x2[some]
    op = getattr(xbcast, name)
    with np.errstate(all="ignore"):
        want = raw(op(x1, x2))
        for kind in ("stepped", "reversed", "unaligned", "swapped"):
            y1, y2 = placed(x1, kind), placed(x2, kind)
            for operands in ((y1, y2), (x1, y2), (y1, x2)):
                assert np.array_equal(raw(op(*operands)), want), kind
        columns = op(x1[:, None], x2[:, None])
        assert np.array_equal(raw(columns), want.reshape(columns.shape[0], -1))
        pairs = np.stack([x1, x1]).T
        assert np.array_equal(raw(op(pairs, x2, broadcast_dimensions=(0,))[:, 1].copy()), want)


@over(CASES)
def test_same_bits_at_every_length(name, dtype):
    """A prefix of a result is the result of the prefixes."""
    x1, x2 = grid(name, dtype)
    rng = np.random.default_rng(4)
    some = rng.permutation(x1.size)[:130]
    x1, x2 = np.resize(x1[some], 130), np.resize(x2[some], 130)
    op = getattr(xbcast, name)
    with np.errstate(all="ignore"):
        want = op(x1, x2)
        for n in range(1, 131):
            assert np.array_equal(raw(op(x1[:n], x2[:n])), raw(want[:n])), n
            start = n % 17
            assert np.array_equal(raw(op(x1[start:n], x2[start:n])), raw(want[start:n])), n


@over([case for case in CASES if case[0] != "power"])
def test_same_bits_with_a_constant_operand(name, dtype):
    """Rank 0, stride 0 and spelled out are one and the same (power's exponent apart)."""
    x1, x2 = grids.special(dtype), grids.special(second_dtype(name, dtype))
    op = getattr(xbcast, name)
    with np.errstate(all="ignore"):
        for value in x2[:: max(1, x2.size // 12)]:
            want = raw(op(x1, np.full(x1.shape, value)))
            assert np.array_equal(raw(op(x1, value)), want)
            assert np.array_equal(raw(op(x1, np.broadcast_to(value, x1.shape))), want)
        for value in x1[:: max(1, x1.size // 12)]:
            want = raw(op(np.full(x2.shape, value), x2))
            assert np.array_equal(raw(op(value, x2)), want)
            assert np.array_equal(raw(op(np.broadcast_to(value, x2.shape), x2)), want)


@over(CASES)
def test_same_bits_at_every_cpu_level(name, dtype, use_level):
    x1, x2 = grid(name, dtype)
    x2_strided = placed(x2, "stepped")
    op = getattr(xbcast, name)
    results = []
    with np.errstate(all="ignore"):
        for level in xbcast._core.cpu_levels():
            use_level(level)
            assert xbcast._core.cpu_level() == level
            results.append((raw(op(x1, x2)), raw(op(x1, x2_strided)), raw(op(x1[:3], x2[:3]))))
    for result in results[1:]:
        for got, want in zip(result, results[0], strict=True):
            assert np.array_equal(got, want)


@over(CASES)
def test_values_at_every_cpu_level(name, dtype, cpu_level):
    """Against NumPy too, on numbers that the default level was not chosen for."""
    x1, x2 = grid(name, dtype)
    rng = np.random.default_rng(5)
    some = rng.choice(x1.size, min(x1.size, 500), replace=False)
    check(name, x1[some], x2[some])
