"""Floating-point warnings: NumPy's, under np.errstate, and a matter of element values alone.

`flags(call)` collects them by np.errstate(all="call").  What to expect of a pair of
values is what NumPy says of one-element arrays.  For power and complex multiply
NumPy contradicts itself; there any of its answers is right, and ours must still be
one answer at every length, stride and CPU level.
"""

import collections
import contextlib
import itertools
import operator
import warnings

import numpy as np
import pytest

import grids
import oracle
import xbcast
from test_values import CASES, OPS, over, safe_exponents, second_dtype

heard = []


@pytest.fixture(autouse=True)
def listening():
    with np.errstate(all="call", call=lambda message, flag: heard.append(message)):
        yield


def flags(function, *args, **kwargs):
    """The messages of a call, in order."""
    heard.clear()
    function(*args, **kwargs)
    return tuple(heard)


def some_pairs(name, dtype, most=2500):
    x1, x2 = safe_exponents(name, *grids.pairs(dtype, second_dtype(name, dtype)))
    if x1.size > most:
        some = np.random.default_rng(6).permutation(x1.size)[:most]
        x1, x2 = x1[some], x2[some]
    return x1, x2


ORDERINGS = ("less", "less_equal", "greater", "greater_equal")
with np.errstate(all="call", call=lambda message, flag: heard.append(message)):
    #: Whether this NumPy says nothing when complex numbers that are NaN are put in order.
    SILENT_ORDER = flags(np.less, np.array([1j]), np.array([complex(np.nan, np.nan)])) == ()


def numpys_flags(name, a, b):
    """Every answer that NumPy has for two values; the first is that for arrays of one element."""
    reference = oracle.reference(name)
    yield flags(reference, a, b)
    if name in ORDERINGS and a.dtype.kind == "c" and SILENT_ORDER and (np.isnan(a) | np.isnan(b)).any():
        yield ("invalid value",)
    if oracle.any_of_numpys(name, a.dtype):
        yield flags(reference, a[0], b[0])
        yield flags(reference, np.repeat(a, 16), np.repeat(b, 16))
        yield flags(reference, np.repeat(a, 16), b[0])
        yield flags(reference, a[0], np.repeat(b, 16))
        if name == "multiply":  # NumPy's scalars do not fuse, its arrays do
            yield flags(operator.mul, a[0], b[0])


@over(CASES)
def test_each_pair_of_values(name, dtype):
    x1, x2 = some_pairs(name, dtype)
    op = getattr(xbcast, name)
    for i in range(x1.size):
        a, b = x1[i : i + 1], x2[i : i + 1]
        got = flags(op, a, b)
        right = list(numpys_flags(name, a, b)) if oracle.OP[name].numpy else [()]
        assert got in right, (a, b, got, right)
        assert flags(op, a[0], b[0]) in right, (a, b)


def groups(name, dtype):
    """Pairs of values by what they warn about: flags -> (x1, x2)."""
    x1, x2 = some_pairs(name, dtype, 600)
    op = getattr(xbcast, name)
    indices = collections.defaultdict(list)
    for i in range(x1.size):
        indices[flags(op, x1[i : i + 1], x2[i : i + 1])].append(i)
    return {key: (x1[at], x2[at]) for key, at in indices.items()}


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64"])
@pytest.mark.parametrize("exponent", [2, 2.0, np.array(2)], ids=repr)
def test_squares(dtype, exponent):
    """They are products, and power warns."""
    x = grids.special(dtype)
    want = [flags(np.power, x[i : i + 1], exponent) for i in range(x.size)]
    assert [flags(xbcast.power, x[i : i + 1], exponent) for i in range(x.size)] == want
    if dtype == "float64":
        message = "overflow encountered in power"
        with np.errstate(over="raise"), pytest.raises(FloatingPointError, match=message):
            xbcast.power(np.array([1.0, 1e200]), exponent)


WARNING_CASES = [case for case in CASES if case[1] != "bool"]


@over(WARNING_CASES)
def test_no_warning_depends_on_length_or_level(name, dtype, cpu_level):
    """1 to 130 elements of one kind, at every level: the warnings of one element.

    `groups` goes by the level in use, which test_same_at_every_level compares.
    """
    op = getattr(xbcast, name)
    for want, (x1, x2) in groups(name, dtype).items():
        x1, x2 = np.resize(x1, 300), np.resize(x2, 300)
        for n in range(1, 131):
            start = 7 * n % 150
            assert flags(op, x1[start : start + n], x2[start : start + n]) == want, n


@over(WARNING_CASES)
def test_one_value_among_harmless_ones(name, dtype):
    """The warning of one element is heard wherever it stands, and nothing beside it."""
    op = getattr(xbcast, name)
    harmless = np.ones(133, dtype), np.ones(133, second_dtype(name, dtype))
    quiet = flags(op, *harmless)
    assert quiet == () or name in ("logaddexp", "logaddexp2", "nextafter")
    for want, (x1, x2) in groups(name, dtype).items():
        if quiet and not set(want) >= set(quiet):
            continue
        for i, position in enumerate((0, 1, 3, 7, 8, 15, 16, 31, 64, 127, 128, 131, 132)):
            y1, y2 = (x.copy() for x in harmless)
            y1[position], y2[position] = x1[i % x1.size], x2[i % x1.size]
            assert flags(op, y1, y2) == want, position


@over(WARNING_CASES)
def test_same_at_every_level(name, dtype, use_level):
    x1, x2 = some_pairs(name, dtype, 300)
    op = getattr(xbcast, name)
    answers = []
    for level in xbcast._core.cpu_levels():
        use_level(level)
        answers.append([flags(op, x1[i : i + 1], x2[i : i + 1]) for i in range(x1.size)])
    assert all(answer == answers[0] for answer in answers)


@over(WARNING_CASES)
def test_no_warning_depends_on_layout(name, dtype):
    """Stepped, reversed, swapped, unaligned, transposed; and the operand repeated by stride 0."""
    op = getattr(xbcast, name)
    for want, (x1, x2) in groups(name, dtype).items():
        x1, x2 = np.resize(x1, 60), np.resize(x2, 60)

        def stepped(x):
            return np.stack([np.ones_like(x), x, np.ones_like(x)], 1)[:, 1]

        def unaligned(x):
            memory = np.ones(x.nbytes + 1, np.uint8)
            memory[1:] = np.frombuffer(x.tobytes(), np.uint8)
            return memory[1:].view(x.dtype)

        def swapped(x):
            # a conversion would quieten a signalling NaN; there is none in the grids
            return x.astype(x.dtype.newbyteorder("S"))

        for move in (stepped, unaligned, swapped, lambda x: x[::-1].copy()[::-1]):
            assert flags(op, move(x1), move(x2)) == want
            assert flags(op, move(x1), x2) == want
        for shape in ((20, 3), (3, 20), (4, 5, 3)):
            y1, y2 = x1.reshape(shape), x2.reshape(shape)
            assert flags(op, y1, y2.copy(order="F")) == want
            assert flags(op, y1.T, y2.T) == want
        assert flags(op, np.stack([x1] * 3, 1), x2, broadcast_dimensions=(0,)) == want
        assert flags(op, np.stack([x1] * 3, 0), x2, broadcast_dimensions=(1,)) == want
        if not (name == "power" and np.dtype(dtype).kind in "fc"):
            assert flags(op, x1[:1], x2[:1]) == flags(op, np.repeat(x1[:1], 40), x2[0])


@over(WARNING_CASES)
def test_masked_out_elements_do_not_warn(name, dtype):
    op = getattr(xbcast, name)
    harmless = np.ones(133, dtype), np.ones(133, second_dtype(name, dtype))
    if flags(op, *harmless):
        return
    rng = np.random.default_rng(8)
    out = np.empty(133, op(*harmless).dtype)
    # the last one keeps few
    for density in (0.1, 0.6, 0.02):
        mask = rng.random(133) < density
        mask[100:102] = True
        for want, (x1, x2) in groups(name, dtype).items():
            y1 = np.where(mask, harmless[0], np.resize(x1, 133))
            y2 = np.where(mask, harmless[1], np.resize(x2, 133))
            assert flags(op, y1, y2, where=mask) == ()
            assert flags(op, y1[0], y2, where=mask & False) == ()
            # one of those that are kept
            y1[100], y2[100] = x1[0], x2[0]
            assert flags(op, y1, y2, where=mask, out=out) == flags(op, x1[:1], x2[:1])
            y1, y2 = np.resize(x1, 133), np.resize(x2, 133)
            if density > 0.5:
                assert flags(op, y1, y2, where=mask, out=out) == want


def test_integer_division_by_zero_under_a_mask():
    x = np.arange(-3, 4)
    assert flags(xbcast.floor_divide, 6, x, where=x != 0) == ()
    assert flags(xbcast.floor_divide, 6, x) == ("divide by zero",)


# ---- messages, categories, modes --------------------------------------------

LOUD = {
    "divide": lambda dt: (np.ones(3, dt), np.zeros(3, dt)),
    "multiply": lambda dt: (np.full(3, np.finfo(dt).max, dt), np.full(3, 2, dt)),
    "subtract": lambda dt: (np.full(3, np.inf, dt), np.full(3, np.inf, dt)),
    "add": lambda dt: (np.full(3, np.finfo(dt).max, dt), np.full(3, np.finfo(dt).max, dt)),
    "floor_divide": lambda dt: (np.ones(3, dt), np.zeros(3, dt)),
    "remainder": lambda dt: (np.ones(3, dt), np.zeros(3, dt)),
    "fmod": lambda dt: (np.full(3, np.inf, dt), np.ones(3, dt)),
    "power": lambda dt: (np.full(3, np.finfo(dt).max, dt), np.full(3, 2, dt)),
    "float_power": lambda dt: (np.full(3, -1.5, dt), np.full(3, 0.5, dt)),
    "ldexp": lambda dt: (np.ones(3, dt), np.full(3, 5000, np.int32)),
    "logaddexp": lambda dt: (np.full(3, np.nan, dt), np.full(3, 2, dt)),
    "hypot": lambda dt: (np.full(3, np.finfo(dt).max, dt), np.full(3, np.finfo(dt).max, dt)),
    "nextafter": lambda dt: (np.full(3, np.finfo(dt).max, dt), np.full(3, np.inf, dt)),
}
LOUD_CASES = [(name, dtype) for name in LOUD for dtype in ("float16", "float32", "float64")]


def both(name, function):
    """The same done with the op and with NumPy's ufunc."""
    return function(getattr(xbcast, name)), function(getattr(np, name))


def loud_over_integers():
    return [("floor_divide", np.int32([1, 2]), np.int32([0, 1])),
            ("remainder", np.uint8([1, 2]), np.uint8([0, 1])),
            ("floor_divide", np.int16([-32768, 2]), np.int16([-1, 1])),
            ("fmod", np.int64([-3, 2]), np.int64([0, 0]))]  # fmt: skip


def record(op, *operands, **keywords):
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="warn"):
        warnings.simplefilter("always")
        op(*operands, **keywords)
    return caught


@over(LOUD_CASES)
def test_warn(name, dtype):
    x1, x2 = LOUD[name](dtype)
    got, want = both(name, lambda op: record(op, x1, x2))
    assert [(w.category, str(w.message)) for w in got] == [(w.category, str(w.message)) for w in want]
    # a warning points at the line that made the call, as NumPy's does
    assert [(w.filename, w.lineno) for w in got] == [(w.filename, w.lineno) for w in want]


@pytest.mark.parametrize("name, x1, x2", loud_over_integers(), ids=[case[0] for case in loud_over_integers()])
def test_warn_about_integers(name, x1, x2):
    got, want = both(name, lambda op: record(op, x1, x2))
    assert [(w.category, str(w.message)) for w in got] == [(w.category, str(w.message)) for w in want]
    assert want


def test_warn_names_the_ufunc_under_every_alias():
    for spelling in ("divide", "true_divide"):
        (warning,) = record(getattr(xbcast, spelling), 1.0, 0.0)
        assert str(warning.message) == "divide by zero encountered in divide"
    (warning,) = record(xbcast.mod, np.float32([1]), np.float32([0]))
    assert str(warning.message) == "invalid value encountered in remainder"


@over(LOUD_CASES)
def test_raise(name, dtype):
    x1, x2 = LOUD[name](dtype)
    out = np.full(3, 7, dtype if name != "float_power" else "float64")

    def attempt(op):
        out[...] = 7
        with np.errstate(all="raise"):
            try:
                op(x1, x2, out=out)
            except FloatingPointError as error:
                return str(error), out.tobytes()
        return None, out.tobytes()

    got, want = both(name, attempt)
    assert got == want  # the message, and that the result was written before


def test_raise_one_kind_only():
    with np.errstate(divide="raise", invalid="ignore", over="warn", under="ignore"):
        with pytest.raises(FloatingPointError, match="^divide by zero encountered in divide$"):
            xbcast.divide(np.ones(3), np.array([1.0, 0.0, 2.0]))
        assert np.isnan(xbcast.divide(0.0, 0.0))
        with pytest.warns(RuntimeWarning, match="^overflow encountered in multiply$"):
            xbcast.multiply(np.full(3, 1e300), 1e300)


def test_a_warning_that_the_filter_makes_an_error():
    out = np.zeros(3)
    with warnings.catch_warnings(), np.errstate(all="warn"):
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="divide by zero"):
            xbcast.divide(np.ones(3), 0.0, out=out)
    assert np.isinf(out).all()


@over(LOUD_CASES)
def test_ignore(name, dtype):
    x1, x2 = LOUD[name](dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with np.errstate(all="ignore"):
            getattr(xbcast, name)(x1, x2)


@over(LOUD_CASES)
def test_call(name, dtype):
    x1, x2 = LOUD[name](dtype)

    def attempt(op):
        calls = []
        with np.errstate(all="call", call=lambda *args: calls.append(args)):
            op(x1, x2)
        return calls

    got, want = both(name, attempt)
    assert got == want


def test_call_that_raises():
    class Mine(Exception):
        pass

    def refuse(message, flag):
        raise Mine(message)

    out = np.zeros(3)
    with np.errstate(all="call", call=refuse), pytest.raises(Mine, match="divide by zero"):
        xbcast.divide(np.ones(3), np.zeros(3), out=out)
    assert np.isinf(out).all()


@over(LOUD_CASES)
def test_log(name, dtype):
    x1, x2 = LOUD[name](dtype)

    class Log:
        def __init__(self):
            self.text = ""

        def write(self, text):
            self.text += text

    def attempt(op):
        log = Log()
        with np.errstate(all="log", call=log):
            op(x1, x2)
        return log.text

    got, want = both(name, attempt)
    assert got == want


def test_print(capfd):
    def attempt(op):
        with np.errstate(all="print"):
            op(np.ones(3), np.zeros(3))
        return capfd.readouterr()

    got, want = both("divide", attempt)
    assert got == want
    assert "divide by zero encountered in divide" in "".join(want)


def test_several_kinds_in_one_call():
    x1 = np.array([1.0, 0.0, 1e300, 1e-300])
    x2 = np.array([0.0, 0.0, 1e-300, 1e300])
    got, want = both("divide", lambda op: flags(op, x1, x2))
    assert got == want == ("divide by zero", "overflow", "underflow", "invalid value")


def test_flags_of_before_are_no_concern():
    """What Python's own arithmetic left in the status register belongs to nobody."""
    huge, tiny = float("1e308"), float("1e-308")
    inf = huge * 10
    for leftover in (lambda: huge * 10, lambda: tiny * 1e-10, lambda: inf - inf):
        leftover()
        for name in ("add", "maximum", "less", "remainder", "multiply"):
            assert flags(getattr(xbcast, name), np.ones(40), np.ones(40)) == ()
            leftover()


def test_flags_are_not_left_behind():
    """A call that stays silent leaves nothing for NumPy to find."""
    nan = np.full(37, np.nan)
    for name in ("less", "maximum", "fmin", "heaviside"):
        assert flags(getattr(xbcast, name), nan, np.ones(37)) == ()
        assert flags(np.add, np.ones(37), np.ones(37)) == ()
    with np.errstate(all="ignore"):
        xbcast.divide(np.ones(37), np.zeros(37))
    assert flags(np.add, np.ones(37), np.ones(37)) == ()


def test_empty_results_do_not_warn():
    for name in OPS:
        dtype = (
            "int32"
            if np.dtype("float64").char
            not in "".join(getattr(np, oracle.OP[name].numpy or oracle.OP[name].like).types)
            else "float64"
        )
        x = np.empty((0, 3), dtype)
        y = np.zeros(3, second_dtype(name, dtype))
        assert flags(getattr(xbcast, name), x, y, broadcast_dimensions=(1,)) == ()


# ---- conversions ------------------------------------------------------------

CONVERSIONS = [
    # (x1, x2, out dtype, keywords): what overflows or is invalid is the conversion
    ("float64", [1e300, 1.0], "float32", {}),
    ("float64", [1e-300, 1.0], "float32", {}),
    ("float64", [1e-42, 1.0], "float32", {}),
    ("float64", [70000.0, 1.0], "float16", {}),
    ("float64", [1e-6, 1.0], "float16", {}),
    ("float64", [1e-9, 1.0], "float16", {}),
    ("float32", [70000.0, 1.0], "float16", {}),
    ("float32", [65519.0, 65520.0], "float16", {}),
    ("float32", [6.1e-5, 1e-7], "float16", {}),
    ("float64", [np.nan, np.inf], "float32", {}),
    ("complex128", [1e300 + 1j, 1.0], "complex64", {}),
    ("complex128", [1.0, complex(0, 1e300)], "complex64", {}),
    ("float64", [1e300, 1.0], "complex64", {}),
    ("int64", [70000, 1], "float16", {}),
    ("uint16", [65535, 1], "float16", {}),
    ("float64", [np.nan, 1.0], "int32", {"casting": "unsafe"}),
    ("float64", [1e300, 1.0], "int64", {"casting": "unsafe"}),
    ("float32", [np.inf, 1.0], "uint8", {"casting": "unsafe"}),
    ("float16", [np.inf, 1.0], "int16", {"casting": "unsafe"}),
    ("float64", [np.nan, 0.0], "bool", {"casting": "unsafe"}),
]
CONVERSION_IDS = [f"{x1}-{out}-{values[0]}" for x1, values, out, _ in CONVERSIONS]


@contextlib.contextmanager
def messages():
    """Whole messages, each once: call mode drops the name of the ufunc, warn mode does not.

    NumPy says "in cast" of a converted operand and names the op for a converted result.
    """
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="warn"):
        warnings.simplefilter("always")
        said = []
        yield said
    said += sorted({str(w.message) for w in caught})


@pytest.mark.parametrize("dtype, values, out, keywords", CONVERSIONS, ids=CONVERSION_IDS)
@pytest.mark.parametrize("n", [1, 2, 9, 64, 5000])
def test_conversion_of_the_result(dtype, values, out, keywords, n):
    x = np.ones(n, dtype)
    x[: len(values)] = values[: min(n, len(values))]
    said, results = [], []
    for op in (xbcast.maximum, np.maximum):
        result = np.zeros(n, out)
        with messages() as heard_now:
            op(x, x, out=result, **keywords)
        said.append(heard_now)
        results.append(result)
    assert said[0] == said[1]
    if np.dtype(out).kind in "fc":
        oracle.assert_same_values("maximum", *results)


@pytest.mark.parametrize("dtype, values, out, keywords", CONVERSIONS, ids=CONVERSION_IDS)
@pytest.mark.parametrize("n", [1, 2, 9, 64, 5000])
def test_conversion_of_an_operand(dtype, values, out, keywords, n):
    x = np.ones(n, dtype)
    x[: len(values)] = values[: min(n, len(values))]
    said, results = [], []
    for op in (xbcast.maximum, np.maximum):
        with messages() as heard_now:
            results.append(op(x, np.ones(n, out), dtype=out, **keywords))
        said.append(heard_now)
    assert said[0] == said[1]
    if np.dtype(out).kind in "fc":
        oracle.assert_same_values("maximum", *results)


@pytest.mark.parametrize("dtype, values, out, keywords", CONVERSIONS[:15], ids=CONVERSION_IDS[:15])
def test_conversion_at_any_length(dtype, values, out, keywords):
    """NumPy forgets what it met before the last 8192 elements; here length does not matter."""
    for position in (0, 4999, 19999):
        said = []
        for n in (5000, 20000):
            x = np.ones(n, dtype)
            x[min(position, n - 1)] = values[0]
            with messages() as of_result:
                xbcast.maximum(x, x, out=np.zeros(n, out), **keywords)
            with messages() as of_operand:
                xbcast.maximum(x, np.ones(n, out), dtype=out, **keywords)
            said.append((of_result, of_operand))
        assert said[0] == said[1]


@pytest.mark.parametrize("dtype, values, out, keywords", CONVERSIONS[:15], ids=CONVERSION_IDS[:15])
def test_masked_out_conversions_do_not_warn(dtype, values, out, keywords):
    """Only the elements that the mask keeps count, in operands and in the result."""
    for n in (4, 50, 5000):
        x = np.ones(n, dtype)
        x[n // 2] = values[0]
        mask = np.arange(n) != n // 2
        with messages() as quiet:
            xbcast.maximum(x, np.ones(n, out), dtype=out, out=np.zeros(n, out), where=mask)
            xbcast.maximum(x, x, out=np.zeros(n, out), where=mask)
        assert quiet == []
        with messages() as said:
            xbcast.maximum(x, x, out=np.zeros(n, out), where=~mask)
        with messages() as want:
            np.maximum(x, x, out=np.zeros(n, out))
        assert said == want


def test_conversion_and_arithmetic_in_one_call():
    x1, x2 = np.array([1e300, 1.0, 1.0]), np.array([1.0, 0.0, 1.0])
    said = []
    for op in (xbcast.divide, np.divide):
        with messages() as heard_now:
            op(x1, x2, dtype="float32")
        said.append(heard_now)
    assert said[0] == said[1] == ["divide by zero encountered in divide", "overflow encountered in cast"]


def test_conversion_of_a_python_number():
    for x1, x2 in ((np.ones(3, "f4"), 1e300), (np.ones(3, "f2"), 70000.0), (np.ones(3, "F"), 1e300),
                   (np.float32(1), 1e300), (1e300, np.ones((2, 2), "f4"))):  # fmt: skip
        said = []
        for op in (xbcast.add, np.add):
            with messages() as heard_now:
                op(x1, x2)
            said.append(heard_now)
        assert said[0] == said[1]
        assert said[0] == ["overflow encountered in cast"]


def test_status_that_others_left_is_not_reported():
    """Every way to run a loop looks only at what the loop itself raised."""
    one, zero = np.ones(3), np.zeros(3)
    axes = (2,) * 8
    calls = {
        "short": (np.ones(5), np.ones(5), None),
        "one walk": (np.ones(5000), np.ones(5000), None),
        "many walks": (np.ones(axes), np.ones(axes[:4]), (1, 3, 5, 7)),
        "packed": (np.ones((2000, 3)), np.ones(3), (1,)),
        "converted": (np.ones(2000, "i4"), np.ones(2000), None),
        "half": (np.ones(2000, "f2"), np.ones(2000, "f2"), None),
    }
    for name, (x1, x2, dims) in calls.items():
        with np.errstate(all="ignore"):
            xbcast.divide(one, zero)  # leaves the status of the processor behind
        with np.errstate(all="raise"):
            result = xbcast.add(x1, x2, broadcast_dimensions=dims)
        assert (result == 2).all(), name


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_truth_of_a_signalling_nan_beside_another_dtype(name, dtype):
    """NumPy converts each operand to bool, and warns of that or not."""
    nan = {2: 0x7D01, 4: 0x7FA00001, 8: 0x7FF4000000000001}
    quiet = {2: 1 << 9, 4: 1 << 22, 8: 1 << 51}
    part = np.dtype(dtype).itemsize // (2 if np.dtype(dtype).kind == "c" else 1)
    for n in (1, 7, 64, 1000):
        for value in (0, nan[part], nan[part] | quiet[part]):
            x = np.ones(n, dtype)
            x.view(f"u{part}")[-1] = value
            for other in ("bool", "int8", "float16", "float64"):
                if other == dtype:
                    continue
                for pair in ((x, np.ones(n, other)), (np.zeros(n, other), x)):
                    got, want = (flags(getattr(package, name), *pair) for package in (xbcast, np))
                    assert got == want, (n, hex(value), other)
                    assert (getattr(xbcast, name)(*pair) == getattr(np, name)(*pair)).all()


@pytest.mark.parametrize("value", [1e6, 1e-7], ids=["overflow", "underflow"])
@pytest.mark.parametrize("place", [0, 17, 95])
def test_half_warnings_beside_any_nan(value, place):
    """A NaN, quiet or signalling, hides no warning of the elements around it."""
    for bits in (0x7FC00000, 0x7FA00000, 0xFFA00001):
        for nan in range(0, 96, 7):
            x = np.ones(96, np.float32)
            x.view(np.uint32)[nan] = bits
            x[place] = value
            outcomes = []
            for op in (np.maximum, xbcast.maximum):
                with warnings.catch_warnings(record=True) as caught, np.errstate(all="warn"):
                    warnings.simplefilter("always")
                    op(x, x, out=np.zeros(96, np.float16), casting="same_kind")
                outcomes.append(sorted(str(w.message) for w in caught if "invalid" not in str(w.message)))
            assert outcomes[0] == outcomes[1] and len(outcomes[0]) == 1, (bits, nan)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "F", "D"])
@pytest.mark.parametrize("number", [1e-46, 1e-40, 6e-8, 1e39, 1e5, -1e-46, 1e-320, 1e-46j, 10**5])
def test_python_numbers_warn_as_numpy_has_it(dtype, number):
    for x in (np.ones(3, dtype), np.ones((600, 3), dtype)):
        for name in ("add", "not_equal"):
            for operands in ((x, number), (number, x)):
                outcomes = []
                for package in (np, xbcast):
                    with warnings.catch_warnings(record=True) as caught, np.errstate(all="warn"):
                        warnings.simplefilter("always")
                        getattr(package, name)(*operands)
                    outcomes.append(sorted(str(w.message) for w in caught))
                assert outcomes[0] == outcomes[1], (name, operands)


LOUD_HALVES = {
    "add": [
        (65504, 65504), (65504, 15.5), (65504, 16), (np.inf, -np.inf), (np.inf, 1), (np.nan, 1),
        (6e-8, 6e-8), (1, -1), (-0.0, -0.0), (6.1e-5, -6.104e-5),
    ],
    "subtract": [
        (65504, -65504), (65504, -15.5), (np.inf, np.inf), (-np.inf, 1), (np.nan, 1),
        (6.1e-5, 6e-5), (1, 1),
    ],
    "multiply": [
        (256, 256), (255.9, 256), (6e-8, 0.5), (6e-8, 1), (6.104e-5, 0.9995), (6.104e-5, 1),
        (0, np.inf), (0, 5), (-0.0, 5), (np.nan, 0), (np.inf, 2), (0.0078125, 0.0078125), (0.00782, 0.00778),
        # a product next below 2**-14, of more digits than float16 has
        (2**-7 + 2**-17, 2**-7 - 2**-17),
    ],
    "divide": [
        (1, 0), (0, 0), (-1, 0.0), (65504, 0.5), (6e-8, 3), (6e-8, 1), (0, 7), (np.inf, np.inf),
        (np.nan, 0), (6.1e-5, 1.001),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", LOUD_HALVES)
def test_halves_that_warn_among_others(name, cpu_level):
    """Wherever in a row of quiet ones, in every layout of the loop, and in place."""
    n = 1100
    rng = np.random.default_rng(0)
    quiet = rng.integers(64, 128, (2, n)).astype(np.float16) / 64
    op, reference = getattr(xbcast, name), getattr(np, name)
    for pair, size in itertools.product(LOUD_HALVES[name], (1, 2, 15, 16, 17, 33, 100, 512, 530, n)):
        for place in {0, size // 2, size - 1}:
            x1, x2 = quiet[:, :size].copy()
            x1[place], x2[place] = pair
            a, b = np.float16(pair)
            for one, two in ((x1, x2), (x1[::-1], x2[::-1]), (x1, b), (a, x2)):
                want_flags = flags(reference, one, two)
                want = reference(one, two)
                outs = [None, np.empty(size, np.float16), np.empty(2 * size, np.float16)[::2]]
                for out in outs:
                    assert flags(op, one, two, out=out) == want_flags, (pair, size, place)
                    assert (oracle.bits(op(one, two, out=out)) == oracle.bits(want)).all()
                for k, operand in enumerate((one, two)):
                    if np.ndim(operand):
                        operands = [one, two]
                        operands[k] = out = operand.copy()
                        assert flags(op, *operands, out=out) == want_flags
                        assert (oracle.bits(out) == oracle.bits(want)).all()


@pytest.mark.parametrize("name", LOUD_HALVES)
def test_halves_that_warn_in_some_rows(name, cpu_level):
    """What one row does has no effect on the next ones, and every row is looked at."""
    rng = np.random.default_rng(0)
    op, reference = getattr(xbcast, name), getattr(np, name)
    for columns, pair in itertools.product((20, 300, 1100), LOUD_HALVES[name]):
        for row in (0, 7, 19):
            x1, x2 = rng.integers(64, 128, (2, 20, columns)).astype(np.float16) / 64
            x1[row, 3], x2[row, 3] = pair
            column = x2[:, 3].copy()
            for one, two, dims in ((x1, x2, None), (x1, column, (0,)), (x1[:, ::-1], x2, None)):
                expanded = two if dims is None else two[:, None]
                assert flags(op, one, two, broadcast_dimensions=dims) == flags(reference, one, expanded)
                got = op(one, two, broadcast_dimensions=dims)
                assert (oracle.bits(got) == oracle.bits(reference(one, expanded))).all()


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide"])
def test_halves_that_signal(name, cpu_level):
    """A signalling NaN is an invalid value at every length and level, as an array and as a scalar."""
    op = getattr(xbcast, name)
    for bits in (0x7D00, 0xFC01):
        signal = np.uint16(bits).view(np.float16)
        for n in (1, 3, 7, 8, 15, 16, 17, 33, 600):
            quiet = np.ones(n, np.float16)
            for k in {0, n // 2, n - 1}:
                x = quiet.copy()
                x.view(np.uint16)[k] = bits
                for other in ("f2", "f4", "f8", "i2", "F", "D"):
                    assert flags(op, x, quiet.astype(other)) == ("invalid value",), (n, k, other)
                    assert flags(op, quiet.astype(other), x) == ("invalid value",), (n, k, other)
            assert flags(op, quiet, signal) == flags(op, signal, quiet) == ("invalid value",), n
