"""The op table: every op of the package, one line each.

Kernels, loop choice, callables, docstrings, stub, reference page, tests and
benchmarks are made from it. It imports nothing of the package, so that the build
can read it before anything is compiled. `check()` tells whether a table is sound.

A kernel is an expression in Cython of the two elements `a` and `b`; `{result}`
stands for the element type of the result. The functions that it may call are in
`src/xbcast/_kernels.pxd`. There is one kernel per category of element types:

=============  =====================================================================
`BOOL`         bool; `a` and `b` are 0 or 1
`BITS`         the integers, where signed and unsigned have the same bits in and out
`SIGNED`       int8 to int64
`UNSIGNED`     uint8 to uint64
`MIXED`        one operand int64, the other uint64
`HALF`         float16: computed in float32 by the kernel of `FLOAT`, rounded once
`FLOAT`        float32 and float64
`COMPLEX`      complex64 and complex128
=============  =====================================================================

`BLOCKS` in place of a kernel: a function of `src/xbcast/blocks.h`, named after op and
element type, that takes a block of elements at a time.
`NUMPY` in place of a kernel: NumPy's own inner loop runs under our plan. A category
that is not named has no loop, as in NumPy.
"""

from typing import NamedTuple

BOOL = "bool"
BITS = "bits"
SIGNED = "signed"
UNSIGNED = "unsigned"
MIXED = "mixed"
HALF = "half"
FLOAT = "float"
COMPLEX = "complex"
CATEGORIES = (BOOL, BITS, SIGNED, UNSIGNED, MIXED, HALF, FLOAT, COMPLEX)

NUMPY = "numpy"
BLOCKS = "blocks"

# How the warnings of a kernel are found; anything else is an expression whose
# value holds bits of NumPy's FPE numbers (1 divide by zero, 2 overflow, 4
# underflow, 8 invalid).
NEVER = "never"
HARDWARE = "hardware"


class Op(NamedTuple):
    """One op."""

    name: str
    summary: str  # the first line of the docstring
    kernels: dict[str, str]  # category -> expression, BLOCKS or NUMPY
    warnings: dict[str, str]  # category -> NEVER, HARDWARE or expression
    result: str  # element type of the result: "same", BOOL or COMPLEX
    numpy: str | None  # NumPy's ufunc of the same meaning
    like: str | None  # without one: the NumPy ufunc whose type rules hold
    aliases: tuple[str, ...]
    exported: bool  # in `xbcast.__all__`
    rows: tuple[str, ...]  # element types for which `rows.h` or `half_rows.h` in `src/xbcast/` is faster
    contiguous: tuple[str, ...]  # element types whose NumPy loop makes vectors of contiguous elements only
    square: str | None  # the op that a power of two of rank 0 is, as in NumPy's loops
    exponent: bool  # `x2` is one: below zero it is an error for integers; of rank 0 it
    # takes the path of NumPy's loops for a single exponent


def _op(
    name,
    summary,
    *,
    result="same",
    like=None,
    aliases=(),
    exported=True,
    rows=(),
    contiguous=(),
    square=None,
    exponent=False,
    warns=None,
    **kernels,
):
    """Fill in what most lines have in common.

    `integer=` stands for SIGNED and UNSIGNED, `real=` for BOOL, these two and FLOAT.
    Without `warns`, what a floating-point kernel raises in the hardware counts and
    nothing else; `warns` is one answer for all categories or one for each of some.
    """
    for short, categories in (("real", (BOOL, "integer", FLOAT)), ("integer", (SIGNED, UNSIGNED))):
        if short in kernels:
            kernel = kernels.pop(short)
            kernels = {**dict.fromkeys(categories, kernel), **kernels}
    if FLOAT in kernels:
        # NumPy computes float16 in float32 too.
        kernels.setdefault(HALF, kernels[FLOAT])
    warnings = {c: HARDWARE if c in (HALF, FLOAT, COMPLEX) else NEVER for c in kernels}
    if isinstance(warns, str):
        warnings = dict.fromkeys(kernels, warns)
    elif warns:
        for short, categories in (("integer", (SIGNED, UNSIGNED)),):
            if short in warns:
                warns = {**dict.fromkeys(categories, warns[short]), **warns}
                del warns[short]
        warnings.update(warns)
        if FLOAT in warns:
            warnings[HALF] = warnings[FLOAT]
    return Op(
        name, summary, kernels, warnings, result, None if like else name, like,
        aliases, exported, rows, contiguous, square, exponent,
    )


# An order comparison warns where a NaN decides; of complex numbers only, as in NumPy.
ORDER = {FLOAT: NEVER, COMPLEX: "complex_order_warnings(a, b)"}

INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
FLOATS = ("float32", "float64")
COMPLEXES = ("complex64", "complex128")
DTYPES = ("bool", *INTEGERS, "float16", *FLOATS, *COMPLEXES)

# fmt: off
OPS = (
    _op("add", "Sum of the operands.", rows=("float16", "complex64"), bool="a | b", bits="a + b", float="a + b", complex="complex_add(a, b)"),
    _op("subtract", "Difference of the operands.", rows=("float16", "complex64"), bits="a - b", float="a - b", complex="complex_subtract(a, b)"),
    _op("multiply", "Product of the operands.", rows=("uint8", "float16", *COMPLEXES), bool="a & b", bits="a * b", float="a * b", complex="complex_multiply(a, b)"),
    _op("divide", "Quotient of the operands; integers give a floating-point number.", aliases=("true_divide",), rows=("float16", *COMPLEXES), float="a / b", complex="complex_divide(a, b)"),
    _op("floor_divide", "Largest integer that does not exceed the quotient.", rows=INTEGERS, integer="floor_divide(a, b)", float=BLOCKS, warns={"integer": "floor_divide_warnings(a, b)"}),
    _op("remainder", "Remainder of `floor_divide`; it has the sign of `x2`.", aliases=("mod",), integer="remainder(a, b)", float=BLOCKS, warns={"integer": "remainder_warnings(a, b)"}),
    _op("fmod", "Remainder of the quotient rounded towards zero; it has the sign of `x1`.", integer="fmod(a, b)", float=BLOCKS, warns={"integer": "remainder_warnings(a, b)"}),
    _op("power", "`x1` to the power of `x2`; a negative power of an integer is an error.", aliases=("pow",), contiguous=FLOATS, exponent=True, square="multiply", bits=BLOCKS, float=NUMPY, complex=NUMPY),
    _op("float_power", "`x1` to the power of `x2`, in float64 at least.", exponent=True, float=NUMPY, half=NUMPY, complex=NUMPY),
    _op("maximum", "The larger operand; a NaN wins.", bool="a | b", integer="maximum(a, b)", float="float_maximum(a, b)", complex="complex_maximum(a, b)", warns=NEVER),
    _op("minimum", "The smaller operand; a NaN wins.", bool="a & b", integer="minimum(a, b)", float="float_minimum(a, b)", complex="complex_minimum(a, b)", warns=NEVER),
    _op("fmax", "The larger operand; a NaN loses.", rows=FLOATS, bool="a | b", integer="maximum(a, b)", float="float_fmax(a, b)", complex="complex_fmax(a, b)", warns=NEVER),
    _op("fmin", "The smaller operand; a NaN loses.", rows=FLOATS, bool="a & b", integer="minimum(a, b)", float="float_fmin(a, b)", complex="complex_fmin(a, b)", warns=NEVER),
    _op("arctan2", "Angle of the point (`x2`, `x1`), in radians.", aliases=("atan2",), contiguous=FLOATS, float=NUMPY),
    _op("hypot", "Length of the hypotenuse of a right triangle with these legs.", float=NUMPY),
    _op("logaddexp", "Logarithm of the sum of the exponentials.", float=NUMPY),
    _op("logaddexp2", "Logarithm to base 2 of the sum of the powers of 2.", float=NUMPY),
    _op("nextafter", "The next number after `x1` towards `x2`.", float=NUMPY),
    _op("copysign", "The magnitude of `x1` with the sign of `x2`.", float="float_copysign(a, b)", warns=NEVER),
    _op("ldexp", "`x1` times 2 to the power of the integer `x2`.", float=NUMPY),
    _op("heaviside", "0 where `x1` is negative, `x2` where it is zero, 1 where it is positive.", float="float_heaviside(a, b)", warns=NEVER),
    _op("gcd", "Greatest common divisor of the magnitudes.", integer=BLOCKS),
    _op("lcm", "Least common multiple of the magnitudes.", integer=BLOCKS),
    _op("bitwise_and", "AND of the bits.", bool="a & b", bits="a & b"),
    _op("bitwise_or", "OR of the bits.", bool="a | b", bits="a | b"),
    _op("bitwise_xor", "Exclusive OR of the bits.", bool="a ^ b", bits="a ^ b"),
    _op("left_shift", "The bits of `x1` moved left by `x2`.", aliases=("bitwise_left_shift",), bits="left_shift(a, b)"),
    _op("right_shift", "The bits of `x1` moved right by `x2`; the sign is kept.", aliases=("bitwise_right_shift",), rows=("uint8", "uint16"), integer="right_shift(a, b)"),
    _op("shift_right_logical", "The bits of `x1` moved right by `x2`; zeros come in from the left.", like="right_shift", bits="right_shift(a, b)"),
    _op("logical_and", "Truth of `x1` and `x2`.", result=BOOL, bool="a & b", bits="(a != 0) & (b != 0)", float="(a != 0) & (b != 0)", complex="complex_truth(a) & complex_truth(b)", warns=NEVER),
    _op("logical_or", "Truth of `x1` or `x2`.", result=BOOL, bool="a | b", bits="(a != 0) | (b != 0)", float="(a != 0) | (b != 0)", complex="complex_truth(a) | complex_truth(b)", warns=NEVER),
    _op("logical_xor", "Truth of either `x1` or `x2`, not both.", result=BOOL, bool="a ^ b", bits="(a != 0) ^ (b != 0)", float="(a != 0) ^ (b != 0)", complex="complex_truth(a) ^ complex_truth(b)", warns=NEVER),
    _op("equal", "Whether the operands are equal.", result=BOOL, rows=FLOATS, bool="a ^ b ^ 1", bits="a == b", mixed="mixed_equal(a, b)", float="a == b", complex="complex_equal(a, b)", warns=NEVER),
    _op("not_equal", "Whether the operands differ.", result=BOOL, rows=FLOATS, bool="a ^ b", bits="a != b", mixed="mixed_equal(a, b) ^ 1", float="a != b", complex="complex_equal(a, b) ^ 1", warns=NEVER),
    _op("less", "Whether `x1` is less than `x2`.", result=BOOL, rows=FLOATS, bool="(a ^ 1) & b", real="a < b", mixed="mixed_less(a, b)", complex="complex_less(a, b)", warns=ORDER),
    _op("less_equal", "Whether `x1` is at most `x2`.", result=BOOL, rows=FLOATS, bool="(a ^ 1) | b", real="a <= b", mixed="mixed_less(b, a) ^ 1", complex="complex_less_equal(a, b)", warns=ORDER),
    _op("greater", "Whether `x1` is greater than `x2`.", result=BOOL, rows=FLOATS, bool="a & (b ^ 1)", real="a > b", mixed="mixed_less(b, a)", complex="complex_less(b, a)", warns=ORDER),
    _op("greater_equal", "Whether `x1` is at least `x2`.", result=BOOL, rows=FLOATS, bool="a | (b ^ 1)", real="a >= b", mixed="mixed_less(a, b) ^ 1", complex="complex_less_equal(b, a)", warns=ORDER),
    _op("complex", "The complex number with real part `x1` and imaginary part `x2`.", like="arctan2", exported=False, result=COMPLEX, float="{result}_of(a, b)", warns=NEVER),
)
# fmt: on


def check(ops: tuple[Op, ...] = OPS) -> None:
    """Raise ValueError at the first line that contradicts itself or another."""
    names: set[str] = set()
    for op in ops:
        for name in (op.name, *op.aliases):
            if not name.isidentifier() or name in names:
                raise ValueError(f"op table: {name!r} is not a name or appears twice")
            names.add(name)
        if (op.numpy is None) != (op.like is not None):
            raise ValueError(f"op table: {op.name} needs either a NumPy ufunc or one that it is like")
        if op.like is not None and NUMPY in op.kernels.values():
            raise ValueError(f"op table: {op.name} has no NumPy ufunc to run")
        if not op.summary.endswith(".") or "\n" in op.summary:
            raise ValueError(f"op table: the summary of {op.name} is not one sentence on one line")
        if op.result not in ("same", BOOL, COMPLEX):
            raise ValueError(f"op table: {op.name} has a result of unknown type {op.result!r}")
        if not op.kernels or op.kernels.keys() != op.warnings.keys():
            raise ValueError(f"op table: {op.name} needs as many warnings as kernels")
        if op.square is not None and op.square not in [other.name for other in ops]:
            raise ValueError(f"op table: {op.name} has squares by {op.square!r}, which is no op")
        for dtype in (*op.rows, *op.contiguous):
            if dtype not in DTYPES:
                raise ValueError(f"op table: {op.name} has an unknown element type {dtype!r}")
        for category in op.kernels:
            if category not in CATEGORIES:
                raise ValueError(f"op table: {op.name} has an unknown category {category!r}")
        if BITS in op.kernels and (SIGNED in op.kernels or UNSIGNED in op.kernels):
            raise ValueError(f"op table: {op.name} has two kernels for the integers")
        half = op.kernels.get(HALF, NUMPY)
        if half not in (NUMPY, op.kernels.get(FLOAT)):
            raise ValueError(f"op table: {op.name} computes float16 otherwise than float32")
