"""Types: the result dtype, or the kind of refusal, is NumPy's for every pair of dtypes.

What is compared is an outcome: dtype and values, or the builtin exception behind
NumPy's, and the warnings on the way.  Python numbers are weak, `dtype=`,
`signature=` and `casting=` mean what they mean in NumPy.
"""

import itertools
import warnings

import numpy as np
import pytest

import grids
import oracle
import xbcast

OPS = list(oracle.OP)
COMPARISONS = "equal not_equal less less_equal greater greater_equal".split()

#: One dtype for each type number of NumPy's, and the two new-style kinds.
DTYPES = [np.dtype(c) for c in "?bBhHiIlLqQefdgFDGO"]
DTYPES += [np.dtype(s) for s in ("M8[s]", "m8[s]", "M8[D]", "m8[ms]", "S3", "U3", "V4", "i4,f8")]
DTYPES.append(np.dtypes.StringDType())


def sample(dtype, shape=(2,)):
    """An array of harmless values of any dtype."""
    size = int(np.prod(shape))
    if isinstance(dtype, np.dtypes.StringDType) or dtype.kind in "SU":
        return np.array(["a", "bc", "d"] * size)[:size].astype(dtype).reshape(shape)
    values = np.arange(1, size + 1)
    if dtype.kind == "V":
        return np.zeros(size, dtype).reshape(shape)
    return values.astype("m8[s]" if dtype.kind == "m" else values.dtype).astype(dtype).reshape(shape)


def builtin(error):
    """The exception that a user without access to NumPy's private ones can catch."""
    return next(base for base in type(error).__mro__ if base.__module__ == "builtins")


def outcome(function, *args, **kwargs):
    """What a call does, in a form that can be compared."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = function(*args, **kwargs)
        except Exception as error:
            return ("refused", builtin(error))
    said = sorted({(w.category.__name__, str(w.message)) for w in caught})
    dtype = result.dtype if isinstance(result, (np.ndarray, np.generic)) else type(result)
    values = np.asarray(result)
    return ("gave", dtype, type(result), values.shape, [repr(v) for v in values.ravel().tolist()], said)


def like_numpy(name, *args, **kwargs):
    """NumPy's outcome; for an op that NumPy lacks, the oracle's, on the types that it takes."""
    if oracle.OP[name].numpy is None:
        # the types of the NumPy ufunc that the op is like, but for those handed to NumPy
        try:
            getattr(np, oracle.OP[name].like).resolve_dtypes(oracle._kinds(*args))
        except TypeError:
            return ("refused", TypeError)
        if any(np.asarray(x).dtype.char in "gGO" for x in args):
            return ("refused", TypeError)
    return outcome(oracle.reference(name), *args, **kwargs)


def same_outcome(name, *args, **kwargs):
    got = outcome(getattr(xbcast, name), *args, **kwargs)
    want = like_numpy(name, *args, **kwargs)
    if oracle.OP[name].numpy is None and got[0] == want[0] == "gave":
        # the oracle does not know which of two equal types, long or long long, a scalar gets
        assert got[1] == want[1]
        got = want[:3] + got[3:]
    assert got == want, (name, args, kwargs)
    return want


@pytest.mark.parametrize("name", OPS)
def test_every_pair_of_dtypes(name):
    gave = 0
    for dtype1, dtype2 in itertools.product(DTYPES, repeat=2):
        gave += same_outcome(name, sample(dtype1), sample(dtype2))[0] == "gave"
    assert gave >= 9, "the op works for hardly any dtype: the walk is broken"


@pytest.mark.parametrize("name", OPS)
def test_every_pair_with_a_numpy_scalar(name):
    """A NumPy scalar has a dtype like an array, whatever its value."""
    for dtype1, dtype2 in itertools.product(DTYPES[:18], repeat=2):
        same_outcome(name, sample(dtype1), sample(dtype2)[0])
        same_outcome(name, sample(dtype1)[0], sample(dtype2))
        same_outcome(name, sample(dtype1)[0], sample(dtype2)[1])


def huge(*numbers):
    return any(type(x) is int and not -(2**63) <= x < 2**63 for x in numbers)


def own_op_with_a_huge_int(name, *numbers):
    """NumPy cannot tell what is right there, and both of its refusals would do."""
    return oracle.OP[name].numpy is None and huge(*numbers)


def compares_bool_with_a_huge_int(name, dtype, *numbers):
    """NumPy takes the int for an int64 and refuses; here every comparison is answered by sign."""
    return name in COMPARISONS and np.dtype(dtype).kind == "b" and huge(*numbers)


#: The last ints that fit each width, the first that do not, and other kinds of number.
PYTHON_NUMBERS = [True, False, 0, 2, -2, 300,
                  *(edge for bits in (8, 16, 32, 64) for edge in (
                      2 ** (bits - 1) - 1, 2 ** (bits - 1), 2**bits - 1, 2**bits, -(2 ** (bits - 1)),
                      -(2 ** (bits - 1)) - 1)),
                  2**40, -(2**40), 2**70, -(2**70),
                  0.0, 2.5, -2.5, 70000.0, 1e300, float("inf"), float("nan"), 1j, 2 + 1e300j]  # fmt: skip


@pytest.mark.parametrize("name", OPS)
def test_python_numbers_are_weak(name):
    for dtype, number in itertools.product(DTYPES[:21], PYTHON_NUMBERS):
        if name == "power" and number in (2**63, 2**64 - 1, 2**64, 2**70) and dtype.kind == "O":
            continue  # Python itself would work out a number of 2**63 digits
        if name in ("gcd", "lcm") and dtype.kind == "O" and number - number != 0:
            continue  # Euclid's algorithm on inf or NaN never ends in NumPy 2.0
        x = sample(dtype)
        if compares_bool_with_a_huge_int(name, dtype, number):
            continue
        if own_op_with_a_huge_int(name, number):
            for args in ((x, number), (number, x)):
                got = outcome(getattr(xbcast, name), *args)
                assert got[0] == "gave" or got[1] in (TypeError, OverflowError)
            continue
        if not (name in ("power", "left_shift") and dtype.kind == "O" and abs(number) > 1e4):
            same_outcome(name, x, number)
        same_outcome(name, number, x)


@pytest.mark.parametrize("name", OPS)
def test_two_python_numbers(name):
    numbers = [True, 0, 3, -3, 2.5, -0.5, 1j, 2**31, 2**63, 300]
    for x1, x2 in itertools.product(numbers, repeat=2):
        if x2 in (2**31, 2**63) and name in ("power", "left_shift"):
            continue
        if own_op_with_a_huge_int(name, x1, x2):
            continue
        if True in (x1, x2) and compares_bool_with_a_huge_int(name, bool, x1, x2):
            continue
        same_outcome(name, x1, x2)
    if name not in ("power", "left_shift") and oracle.OP[name].numpy:
        same_outcome(name, 2**70, 3)
        same_outcome(name, 3, 2**70)


class Int(int):
    pass


class Float(float):
    pass


@pytest.mark.parametrize("number", [Int(3), Float(2.5), np.float64(2.5), np.bool_(True)], ids=repr)
def test_subclasses_of_python_numbers(number):
    """They are no weak numbers but what np.asarray makes of them, as in NumPy 2.4."""
    for dtype in "bBefdFD":
        x = sample(np.dtype(dtype))
        for name in ("add", "less"):
            op, want = getattr(xbcast, name), getattr(np, name)(x, np.asarray(number)[None])
            for got in (op(x, number), op(number, x) if name == "add" else want):
                assert got.dtype == want.dtype
                assert np.array_equal(got, want)


def test_float16_with_a_python_int_that_is_too_large():
    with pytest.warns(RuntimeWarning, match="overflow encountered in cast"):
        result = xbcast.add(np.ones(3, np.float16), 100000)
    assert result.dtype == np.float16 and np.isinf(result).all()
    with pytest.raises(OverflowError):
        xbcast.add(np.ones(3, np.uint8), 300)
    with pytest.raises(OverflowError):
        xbcast.add(-1, np.ones(3, np.uint64))


@pytest.mark.parametrize("make", [
    lambda: [1, 2], lambda: (1.5, 2.5), lambda: [True, False], lambda: [1, 2.5], lambda: [1j, 2],
    lambda: [2**70, 1], lambda: [2**63, 1], lambda: ["a", "b"], lambda: [b"a", b"b"], lambda: [None, 1],
    lambda: range(2), lambda: [np.float32(1), np.float32(2)], lambda: [np.array(1), 2],
    lambda: memoryview(b"ab"), lambda: bytearray(b"ab"),
], ids=["ints", "floats", "bools", "int-float", "complex", "huge", "uint64", "str", "bytes", "none",
        "range", "scalars", "arrays", "memoryview", "bytearray"])  # fmt: skip
def test_whatever_asarray_takes(make):
    for name in ("add", "multiply", "equal", "floor_divide", "logical_and"):
        same_outcome(name, make(), np.array([3, 4]))
        same_outcome(name, np.array([3, 4], "f4"), make())
        same_outcome(name, make(), make())


@pytest.mark.parametrize(
    "bad", [None, "a", b"a", object(), {}, {1, 2}, lambda: 0, [[1, 2], [3]]], ids=lambda b: type(b).__name__
)
def test_what_asarray_makes_nothing_of(bad):
    for name in ("add", "less", "logical_and", "bitwise_or"):
        same_outcome(name, bad, np.float32(1))
        same_outcome(name, 1.0, bad)


# ---- comparisons with Python ints that do not fit ---------------------------


@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize("dtype", [*grids.INTEGERS, "bool"])
def test_comparison_with_any_python_int(name, dtype):
    """Answered by sign where the int does not fit, under every kind of mask and out.

    The judge compares Python ints: NumPy must not see these calls, it crashes on some.
    """
    x = grids.special(dtype)
    x = np.concatenate([x, x, x])[:40]
    compare = getattr(np, name)
    masks = [True, False, np.arange(x.size) % 3 == 0, np.zeros(1, bool), np.array(True)]
    for number in (-(2**70), -(2**63) - 1, -129, -1, 0, 1, 127, 256, 2**31, 2**63, 2**64, 2**70):
        exact = compare(x.astype(object), number).astype(bool)
        turned = compare(number, x.astype(object)).astype(bool)
        for operands, want in (((x, number), exact), ((number, x), turned)):
            got = getattr(xbcast, name)(*operands)
            assert got.dtype == bool
            assert np.array_equal(got, want), (operands, got)
            for mask in masks:
                want_masked = want & mask
                got = getattr(xbcast, name)(*operands, where=mask)
                assert np.array_equal(got, want_masked), (number, mask)
                out = np.ones(x.shape, bool)
                assert getattr(xbcast, name)(*operands, out=out, where=mask) is out
                assert np.array_equal(out, want | ~np.broadcast_to(mask, x.shape))
                wide = np.full(x.shape, 7.0)
                getattr(xbcast, name)(*operands, out=wide, where=mask, casting="unsafe")
                assert np.array_equal(wide, np.where(mask, want, 7.0))


def test_comparison_of_a_scalar_with_a_python_int_that_does_not_fit():
    for x in (np.uint8(3), np.array(3, np.uint8)):
        assert xbcast.less(x, 300) is np.True_
        assert xbcast.less(300, x) is np.False_
        assert xbcast.equal(x, -1) is np.False_
        assert xbcast.greater(x, -1) is np.True_
        out = np.array(False)
        assert xbcast.less(x, 300, out=out) is out and out
    assert xbcast.less(np.empty((0, 3), np.uint8), 300).shape == (0, 3)
    assert xbcast.less(np.ones((2, 3), np.uint8), 300, broadcast_dimensions=()).all()
    with pytest.raises(xbcast.BroadcastError):
        xbcast.less(np.ones((2, 3), np.uint8), 300, broadcast_dimensions=(0,))
    with pytest.raises(TypeError):
        xbcast.less(np.ones(3, np.uint8), 300, out=np.ones(3, "M8[s]"))


# ---- dtype=, signature=, casting= -------------------------------------------

ASKED = ["?", "i1", "u2", "i4", "i8", "u8", "f2", "f4", "f8", "g", "F", "D", "O", "M8[s]", "S3",
         ">f8", ">i4", float, np.float32, np.dtype("c8"), None, "nonsense", 3]  # fmt: skip
ASKED_OF = [("f4", "f4"), ("i4", "i4"), ("i8", "f4"), ("?", "?"), ("F", "F"), ("u1", 2), ("f4", 2.5),
            (3, "f2"), ("m8[s]", "m8[s]"), ("f8", "f4"), ("g", "f4"), ("O", "O")]  # fmt: skip


def operand(what):
    return sample(np.dtype(what)) if isinstance(what, str) else what


@pytest.mark.parametrize("name", [n for n in OPS if oracle.OP[n].numpy])
def test_dtype_keyword(name):
    for asked, (x1, x2) in itertools.product(ASKED, ASKED_OF):
        same_outcome(name, operand(x1), operand(x2), dtype=asked)
        same_outcome(name, operand(x1), operand(x2), dtype=asked, casting="unsafe")


@pytest.mark.parametrize("name", [n for n in OPS if oracle.OP[n].numpy])
def test_dtype_keyword_of_every_pair(name):
    """Every native dtype asked for beside every pair, and Python numbers, as often as NumPy is asked
    for the answer and as it is remembered."""
    numbers = 2, 2.5, 1j, True
    pairs = [*itertools.product(grids.NATIVE, repeat=2)]
    pairs += [*itertools.product(grids.NATIVE, numbers), *itertools.product(numbers, grids.NATIVE)]
    for x1, x2 in pairs:
        x1, x2 = operand(x1), operand(x2)
        for asked in grids.NATIVE:
            same_outcome(name, x1, x2, dtype=asked)


@pytest.mark.parametrize("casting", ["no", "equiv", "safe", "same_kind", "unsafe"])
@pytest.mark.parametrize("name", ["add", "less", "ldexp", "logical_and", "power"])
def test_casting_beside_dtype(name, casting):
    for dtype1, dtype2, asked in itertools.product(grids.NATIVE, repeat=3):
        same_outcome(name, operand(dtype1), operand(dtype2), dtype=asked, casting=casting)
    for dtype, number, asked in itertools.product(grids.NATIVE, (2, 2.5, True), grids.NATIVE):
        if casting not in ("no", "equiv"):  # NumPy may crash, or ask its type resolvers in vain
            same_outcome(name, operand(dtype), number, dtype=asked, casting=casting)
            same_outcome(name, number, operand(dtype), casting=casting)


SIGNATURES = [
    "dd->d", "ff->f", "ii->i", "dd->?", "ee->e", "FF->F", "OO->O", "di->d", "dl->d", "dd", "dd->", "d",
    "dd->f", "xx->x", "ddd->d", "", (None, None, "d"), ("d", None, None), ("d", "d", "d"),
    (float, float, float), (np.dtype("f4"),) * 3, (np.float32, None, None), ("f", "f"), ("f",),
    (None, None, None), (None, None, bool), ("f4", "f4", "f4"), np.float32, 3, (int, int, int),
    [None, None, "d"], ">f8",
]  # fmt: skip


@pytest.mark.parametrize("signature", SIGNATURES, ids=str)
def test_signature_keyword(signature):
    for name in ("add", "divide", "less", "ldexp", "power", "logical_and", "bitwise_and", "copysign"):
        for x1, x2 in [("f4", "f4"), ("i4", "i4"), ("f4", "i4"), ("f4", 2), ("F", "F"), ("?", "?")]:
            same_outcome(name, operand(x1), operand(x2), signature=signature)
            same_outcome(name, operand(x1), operand(x2), signature=signature, casting="unsafe")


def test_long_long_that_is_asked_for():
    """It is another type number than that of int64, though an equal dtype."""
    for asked in ("q", "Q", np.longlong, np.dtype("q")):
        for x in (np.ones(3, "i1"), np.ones(3, "u8"), 3):
            got = xbcast.add(x, np.ones(3, "i2"), dtype=asked, casting="unsafe")
            assert got.dtype.char == np.add(x, np.ones(3, "i2"), dtype=asked, casting="unsafe").dtype.char


@pytest.mark.filterwarnings("ignore:Setting the dtype:DeprecationWarning")
def test_casting_is_judged_by_what_a_dtype_leaves():
    """To ask an object for its dtype may change an operand's; what it is then counts."""

    class Changing:
        @property
        def dtype(self):
            x.dtype = after
            return np.dtype("f8")

    for before, after in (("f8", "i8"), ("i8", "f8")):
        for op in (np.add, xbcast.add):
            for casting in ("no", "safe", "unsafe"):
                x = np.ones(4, before)
                if after == "i8" and casting == "no":
                    with pytest.raises(TypeError):
                        op(x, x, dtype=Changing(), casting=casting)
                else:
                    assert np.array_equal(op(x, x, dtype=Changing(), casting=casting), x + x)
    failing = type("Failing", (), {"dtype": property(lambda self: 1 / 0)})
    for op in (np.add, xbcast.add):
        with pytest.raises(ZeroDivisionError):
            op(1.0, np.ones(3), dtype=failing())


def test_dtype_and_signature_exclude_each_other():
    for signature in ("dd->d", (None, None, "d")):
        with pytest.raises(TypeError):
            xbcast.add([1.0], [2.0], dtype="f8", signature=signature)
    # None is the default here, in the signature that help() shows, and counts as left out
    assert xbcast.add([1.0], [2.0], dtype="f4", signature=None).dtype == np.float32
    assert xbcast.add([1], [2], dtype=None, signature="dd->d").dtype == np.float64


def test_dtype_and_signature_of_ops_that_numpy_lacks():
    x = np.arange(3.0, dtype="f4")
    assert xbcast.complex(x, x, dtype="c16").dtype == np.complex128
    assert xbcast.complex(x, x, signature="dd->D").dtype == np.complex128
    assert xbcast.shift_right_logical(np.int8([-8]), np.int8([1]), dtype="i2").tolist() == [32764]
    for refused in ({"dtype": "f8"}, {"signature": "ff->f"}, {"dtype": "O"}):
        with pytest.raises(TypeError):
            xbcast.complex(x, x, **refused)
        with pytest.raises(TypeError):
            xbcast.shift_right_logical(np.int8([-8]), np.int8([1]), **refused)


@pytest.mark.parametrize("name", ["add", "less", "divide", "ldexp"])
@pytest.mark.parametrize("casting", ["no", "equiv", "safe", "same_kind", "unsafe"])
def test_casting_of_operands_and_out(name, casting):
    """Every native dtype for each operand and for out."""
    for dtype1, dtype2 in itertools.product(grids.NATIVE, repeat=2):
        x1, x2 = sample(np.dtype(dtype1)), sample(np.dtype(dtype2))
        for dtype in (*grids.NATIVE, "longdouble"):
            outs = [np.zeros(2, dtype), np.zeros(2, dtype)]
            got, want = (
                outcome(f, x1, x2, out=out, casting=casting)
                for f, out in zip((getattr(xbcast, name), getattr(np, name)), outs, strict=True)
            )
            assert got == want, (dtype1, dtype2, dtype)
            assert outs[0].tobytes() == outs[1].tobytes() or dtype == "longdouble"


@pytest.mark.parametrize("dtype", grids.NATIVE)
def test_values_of_converted_operands_and_results(dtype):
    """What `dtype=` and `out=` convert is rounded once at each step, as in NumPy."""
    names = ["logical_or"] if dtype == "bool" else ["add", "maximum", "subtract"]
    for source, target in itertools.product(grids.NATIVE, repeat=2):
        if not np.can_cast(source, dtype, "same_kind") or not np.can_cast(dtype, target, "same_kind"):
            continue
        x1, x2 = grids.fractions(source, (300,), 1), grids.fractions(dtype, (300,), 2)
        for name in names:
            got, want = np.zeros(300, target), np.zeros(300, target)
            with np.errstate(all="ignore"):
                getattr(xbcast, name)(x1, x2, dtype=dtype, out=got)
                getattr(np, name)(x1, x2, dtype=dtype, out=want)
                oracle.assert_same_values(name, got, want)
                got = getattr(xbcast, name)(x1, x2[0], dtype=dtype)
                oracle.assert_same_values(name, got, getattr(np, name)(x1, x2[0], dtype=dtype))
                got = getattr(xbcast, name)(x1[::-2], x2[::2], dtype=dtype)
                oracle.assert_same_values(name, got, getattr(np, name)(x1[::-2], x2[::2], dtype=dtype))


def test_casting_concerns_byte_order():
    x = np.arange(3.0)
    swapped = x.astype(x.dtype.newbyteorder("S"))
    for casting in ("no", "equiv", "safe"):
        same_outcome("add", x, swapped, casting=casting)
        same_outcome("add", swapped, swapped, casting=casting)
    assert xbcast.add(swapped, swapped).dtype.isnative


@pytest.mark.parametrize("casting", ["nonsense", 3, None, "SAFE", b"safe"], ids=str)
def test_casting_that_does_not_exist(casting):
    same_outcome("add", np.ones(2), np.ones(2), casting=casting)
    same_outcome("add", np.ones(2, "O"), np.ones(2, "O"), casting=casting)


# ---- dtypes that are handed to NumPy ----------------------------------------

EXOTIC = {
    "longdouble": lambda s: sample(np.dtype("g"), s) / 3,
    "clongdouble": lambda s: sample(np.dtype("G"), s) * (1 + 2j),
    "object": lambda s: sample(np.dtype("O"), s) * 2**70,
    "datetime": lambda s: sample(np.dtype("M8[s]"), s),
    "timedelta": lambda s: sample(np.dtype("m8[s]"), s),
    "string": lambda s: sample(np.dtypes.StringDType(), s),
    "unicode": lambda s: sample(np.dtype("U3"), s),
    "bytes": lambda s: sample(np.dtype("S3"), s),
    "structured": lambda s: sample(np.dtype("i4,f8"), s),
    "void": lambda s: sample(np.dtype("V4"), s),
    "swapped_longdouble": lambda s: sample(np.dtype("g").newbyteorder("S"), s),
}
PLACED = [((4, 3), (3,), (1,)), ((4, 3), (4,), (0,)), ((3,), (4, 3), (1,)), ((4, 3), (), None),
          ((4, 1), (1, 3), None), ((3,), (4,), ((1,), (0,))), ((), (), None), ((2, 0), (0,), (1,)),
          ((1, 3), (4,), (0,))]  # fmt: skip


@pytest.mark.parametrize("kind", EXOTIC)
def test_other_dtypes_broadcast_alike(kind):
    worked = set()
    for shape1, shape2, dims in PLACED:
        x1, x2 = EXOTIC[kind](shape1), EXOTIC[kind](shape2)
        for name in ("add", "subtract", "floor_divide", "maximum", "equal", "less", "logical_or",
                     "arctan2", "bitwise_and", "gcd"):  # fmt: skip
            y2 = x2.astype("m8[s]") if kind == "datetime" and name == "add" else x2
            got = outcome(getattr(xbcast, name), x1, y2, broadcast_dimensions=dims)
            want = outcome(oracle.call, name, x1, y2, dims)
            assert got == want, (name, shape1, shape2, dims)
            worked |= {name} if got[0] == "gave" else set()
    # NumPy compares records by `==` only, not by the ufunc
    assert ("equal" in worked) == (kind not in ("structured", "void"))


@pytest.mark.parametrize("kind", EXOTIC)
def test_other_dtypes_refuse_ranks_alike(kind):
    with pytest.raises(xbcast.BroadcastError, match=r"^equal: .*\(4, 3\).*\(3,\)"):
        xbcast.equal(EXOTIC[kind]((4, 3)), EXOTIC[kind]((3,)))
    with pytest.raises(xbcast.BroadcastError) as caught:
        xbcast.equal(EXOTIC[kind]((4, 3)), EXOTIC[kind]((3,)), broadcast_dimensions=(0,))
    assert caught.value.rule == "B7"
    with pytest.raises(xbcast.BroadcastError) as caught:
        xbcast.equal(EXOTIC[kind]((4, 3)), EXOTIC[kind]((1, 3)), degenerate_dimensions=())
    assert caught.value.rule == "B10"


@pytest.mark.parametrize("kind", ["longdouble", "clongdouble", "object", "timedelta", "string"])
def test_other_dtypes_with_out_where_and_order(kind):
    x1, x2 = EXOTIC[kind]((4, 3)), EXOTIC[kind]((4,))
    mask = np.arange(12).reshape(4, 3) % 2 == 0
    dims = (0,)
    full = oracle.call("add", x1, x2, dims)
    out = EXOTIC[kind]((4, 3))
    assert xbcast.add(x1, x2, out=out, broadcast_dimensions=dims) is out
    oracle.assert_same_values("add", out, full)
    out = EXOTIC[kind]((4, 3))
    xbcast.add(x1, x2, out=out, where=mask, broadcast_dimensions=dims)
    oracle.assert_same_values("add", out, np.where(mask, full, EXOTIC[kind]((4, 3))))
    for where in (mask, mask[:1], False, np.array(True)):
        got = xbcast.add(x1, x2, where=where, broadcast_dimensions=dims)
        zero = np.zeros((4, 3), full.dtype)
        if kind == "timedelta":
            zero[...] = "NaT"
        oracle.assert_same_values("add", got, np.where(where, full, zero).astype(full.dtype))
    for order in "CFAK":
        got = xbcast.add(x1, x2, order=order, broadcast_dimensions=dims)
        assert got.strides == oracle.call("add", x1, x2, dims, order=order).strides
    shifted = EXOTIC[kind]((9,))
    want = oracle.call("add", shifted[:-1], shifted[1:])
    xbcast.add(shifted[:-1], shifted[1:], out=shifted[1:])
    oracle.assert_same_values("add", shifted[1:], want)


def test_masked_out_datetimes_are_nat():
    x = sample(np.dtype("M8[s]"), (4,))
    one = np.timedelta64(1, "s")
    got = xbcast.add(x, one, where=[True, False, True, False])
    assert got.dtype == "M8[s]"
    assert np.isnat(got).tolist() == [False, True, False, True]
    assert got[0] == x[0] + one


def test_nat_compares_as_in_numpy():
    x = np.array(["2020-01-01", "NaT"], "M8[D]")
    for name in (*COMPARISONS, "maximum", "minimum", "fmax", "fmin"):
        got = getattr(xbcast, name)(x[:, None], x[None, :])
        want = getattr(np, name)(x[:, None], x[None, :])
        assert np.array_equal(got, want, equal_nan=want.dtype.kind == "M")


def test_object_errors_pass_through():
    class Bad:
        def __add__(self, other):
            raise KeyError("from the object")

    x = np.empty(3, object)
    x[...] = [Bad()] * 3
    with pytest.raises(KeyError, match="from the object"):
        xbcast.add(x, 1)
    x[...] = ["a", 1, 2]
    with pytest.raises(TypeError):
        xbcast.add(x, 1)
    with pytest.raises(ZeroDivisionError):
        xbcast.floor_divide(np.array([1, 2], object), np.array([1, 0], object))


# ---- dtypes of ml_dtypes ----------------------------------------------------

ML_NAMES = ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz", "int4", "uint4"]


@pytest.mark.parametrize("dtype", ML_NAMES)
def test_ml_dtypes(dtype):
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="these dtypes come from ml_dtypes")
    dtype = np.dtype(getattr(ml_dtypes, dtype))
    x1 = np.arange(6).reshape(2, 3).astype(dtype)
    for dims, x2 in (((1,), np.arange(1, 4).astype(dtype)), ((0,), np.arange(1, 3).astype(dtype)),
                     (None, np.array(2).astype(dtype)), (None, 2), (None, 2.0),
                     ((1,), np.arange(1, 4)), ((1,), np.arange(1.0, 4.0, dtype="f4"))):  # fmt: skip
        for name in OPS:
            if oracle.OP[name].numpy is None:
                with pytest.raises(TypeError):
                    getattr(xbcast, name)(x1, x2, broadcast_dimensions=dims)
                continue
            got = outcome(getattr(xbcast, name), x1, x2, broadcast_dimensions=dims)
            want = outcome(oracle.call, name, x1, x2, dims)
            assert got == want, (name, x2)
    with pytest.raises(xbcast.BroadcastError):
        xbcast.add(x1, x1[0])
    out = np.zeros((2, 3), dtype)
    xbcast.add(x1, x1[:, 0].copy(), broadcast_dimensions=(0,), out=out, where=x1 > x1[0, 1])
    want = np.where(x1 > x1[0, 1], oracle.call("add", x1, x1[:, 0].copy(), (0,)), out * 0)
    assert np.array_equal(out.astype("f4"), want.astype("f4"))
