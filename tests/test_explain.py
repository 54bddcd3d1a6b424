"""`xbcast.explain`: its fields against calls worked out by hand, its text, its pictures,
and that it tells what the call then does."""

import copy
import dataclasses
import importlib.util
import itertools
import pickle
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import xbcast
from layouts import LAYOUTS, SHAPES
from xbcast import Pattern, explain, memory_index_tuples

ROWS = np.ones((1000, 1000))
F32 = np.float32


# ---- ten calls of the table of speeds, worked out by hand --------------------


def call(op, x1, x2, dims=None):
    return op, x1, x2, {} if dims is None else {"broadcast_dimensions": dims}


def ones(shape, dtype=np.float64):
    return np.ones(shape, dtype)


# call, then: rule, result shape, merged axes, kernel shape, what is packed and why
TABLE = {
    "(3,)+(3,)": (
        call("add", ones(3), ones(3)),
        ("B1", (3,), ((0,),), "contiguous", {}),
    ),
    "(2,3)*2.0": (
        call("multiply", ones((2, 3)), 2.0),
        ("B2", (2, 3), ((0,), (1,)), "right scalar", {}),  # too small to merge
    ),
    "1e5 add": (
        call("add", ones((100, 1000)), ones((100, 1000))),
        ("B1", (100, 1000), ((0, 1),), "contiguous", {}),
    ),
    "(1000,1000)+(1000,) along 1": (
        call("add", ROWS, ones(1000), (1,)),
        ("B4", (1000, 1000), ((0,), (1,)), "contiguous", {}),
    ),
    "(1000,1000)+(1000,) along 0": (
        call("add", ROWS, ones(1000), (0,)),
        ("B4", (1000, 1000), ((0,), (1,)), "right scalar", {}),
    ),
    "(1e4,3)+(3,) along 1": (
        call("add", ones((10000, 3), F32), ones(3, F32), (1,)),
        ("B4", (10000, 3), ((0,), (1,)), "contiguous", {"x2": ("short inner axis",)}),
    ),
    "(1e4,4)*(1e4,) along 0": (
        call("multiply", ones((10000, 4), F32), ones(10000, F32), (0,)),
        ("B4", (10000, 4), ((0,), (1,)), "contiguous", {"x2": ("short inner axis",)}),
    ),
    "(32,64,28,28)+(64,) along 1": (
        call("add", ones((32, 64, 28, 28), F32), ones(64, F32), (1,)),
        ("B4", (32, 64, 28, 28), ((0,), (1,), (2, 3)), "right scalar", {}),
    ),
    "(2000,1)+(1,2000)": (
        call("add", ones((2000, 1), F32), ones((1, 2000), F32)),
        ("B1", (2000, 2000), ((0,), (1,)), "left scalar", {}),
    ),
    "(512,512) + transposed": (
        call("add", ones((512, 512), F32), ones((512, 512), F32).T),
        ("B1", (512, 512), ((0,), (1,)), "contiguous", {"x2": ("transposed",)}),
    ),
    "(1000,1000)[:, ::-1] +": (
        call("add", ROWS[:, ::-1], ROWS),
        ("B1", (1000, 1000), ((0,), (1,)), "contiguous", {"x1": ("reversed",)}),
    ),
    "int32 + float64": (
        call("add", ones(100000, np.int32), ones(100000)),
        ("B1", (100000,), ((0,),), "contiguous", {"x1": ("conversion from int32 to float64",)}),
    ),
    "uint8 < 300": (
        call("less", ones(10000, np.uint8), 300),
        ("B2", (10000,), ((0,),), "right scalar", {"x1": ("constant, like the other operand",)}),
    ),
    "float16 add": (
        call("add", ones(100000, np.float16), ones(100000, np.float16)),
        ("B1", (100000,), ((0,),), "contiguous", {}),
    ),
    "float16 + int8": (
        call("add", ones(100000, np.float16), ones(100000, np.int8)),
        ("B1", (100000,), ((0,),), "contiguous", {"x2": ("conversion from int8 to float16",)}),
    ),
    "float32 arctan2": (
        call("arctan2", ones(100000, F32), ones(100000, F32)),
        ("B1", (100000,), ((0,),), "NumPy's loop", {}),
    ),
    "float32 arctan2 with gaps": (
        call("arctan2", ones(100000, F32)[::2], ones(50000, F32)),
        ("B1", (50000,), ((0,),), "NumPy's loop", {"x1": ("NumPy's loop takes it contiguous",)}),
    ),
    "float32 hypot with gaps": (
        call("hypot", ones(100000, F32)[::2], ones(50000, F32)),
        ("B1", (50000,), ((0,),), "NumPy's loop", {}),
    ),
    "float32 hypot with gaps, short rows": (
        call("hypot", ones((1000, 41), F32)[:, 1::2], ones((1000, 20), F32)),
        ("B1", (1000, 20), ((0,), (1,)), "NumPy's loop", {"x1": ("elements apart",)}),
    ),
    "float64 many axes": (
        call("add", ones((2,) * 12), ones((2,) * 6), (0, 2, 4, 6, 8, 10)),
        ("B4", (2,) * 12, tuple([(d,) for d in range(12)]), "contiguous", {"x2": ("short inner axis",)}),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_calls_of_the_table(name):
    (op, x1, x2, keywords), (rule, shape, axes, kernel, packed) = TABLE[name]
    e = explain(op, x1, x2, **keywords)
    assert e == explain(getattr(xbcast, op), x1, x2, **keywords)
    assert (e.op, e.shapes) == (op, (np.shape(x1), np.shape(x2)))
    assert (e.rule, e.result_shape, e.merged_axes, e.kernel_shape) == (rule, shape, axes, kernel)
    assert dict(e.packed) == packed
    # all of scratch for a large transposed operand
    transposed = ("transposed",) in packed.values()
    # and the offsets of one that is gathered
    offsets = 4096 if name == "float64 many axes" else 0
    assert e.scratch_bytes == (65536 if transposed else 16384 * len(packed) + offsets)
    assert (e.block is None) == (not packed)
    result = getattr(xbcast, op)(x1, x2, **keywords)
    assert (e.result_dtype, e.result_shape) == (result.dtype, result.shape)
    assert e.patterns_before[0].strides == result.strides
    assert not (e.handed_to_numpy or e.out_given or e.copied or e.in_place)


def test_fields_of_one_call():
    """Every field, against numbers worked out by hand."""
    x1, x2 = ones((4, 1, 30), np.int32), ones((30, 5), F32).T[:, ::-1]
    e = explain("power", x1, x2, broadcast_dimensions=(1, 2), where=ones((4, 5, 1), bool))
    i4, f4, f8 = map(np.dtype, ("int32", "float32", "float64"))
    names = {field.name for field in dataclasses.fields(e)}
    before = (
        Pattern((4, 5, 30), (1200, 8, 40), 0, 8),  # as x2 lies
        Pattern((4, 5, 30), (120, 0, 4), 0, 4),
        Pattern((4, 5, 30), (0, 4, -20), 0, 4),
        Pattern((4, 5, 30), (5, 1, 0), 0, 1),
    )
    expected = {
        "op": "power",
        "shapes": ((4, 1, 30), (5, 30)),
        "result_shape": (4, 5, 30),
        "rule": "B4",
        "broadcast_dimensions": ((0, 1, 2), (1, 2)),
        "stretched": ((1,), ()),
        "operand_dtypes": (i4, f4),
        "loop_op": e.op,
        "loop_dtypes": (f8, f8, f8),
        "computed_in": (f8, f8, f8),
        "result_dtype": f8,
        "handed_to_numpy": False,
        "warnings": e.warnings,
        "roles": ("out", "x1", "x2", "where"),
        "patterns_before": xbcast.PatternTuple(*before),
        "merged_axes": ((0,), (2,), (1,)),
        "kernel_shape": "NumPy's loop",
        "packed": (
            ("out", ("mask",)),
            ("x1", ("mask", "conversion from int32 to float64")),
            ("x2", ("mask", "conversion from float32 to float64")),
            ("where", ("mask",)),
        ),
        "out_given": False,
        "copied": (),
        "in_place": (),
        "scratch_bytes": 4 * 16384,
        "streams": False,
        "threads": 1,
    }
    assert {name: getattr(e, name) for name in expected} == expected
    assert names - set(expected) == {"patterns_after", "block"}
    assert sorted(memory_index_tuples(*e.patterns_after)) == sorted(memory_index_tuples(*before))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", SHAPES)
def test_every_call_has_every_field(name, layout):
    """And the plan covers the same memory as the placed operands, in the dimensions it names."""
    shape1, shape2, dims = SHAPES[name]
    x1, x2 = LAYOUTS[layout](shape1, "i4"), LAYOUTS["contiguous"](shape2, "f8", 1)
    e = explain("subtract", x1, x2, broadcast_dimensions=dims)
    result = xbcast.subtract(x1, x2, broadcast_dimensions=dims)
    absent = {field.name for field in dataclasses.fields(e) if getattr(e, field.name) is None}
    if 0 in result.shape:
        assert absent == {"patterns_after", "merged_axes", "kernel_shape", "packed", "block"}
    else:
        assert absent <= {"block"}
        assert (e.block is None) == (not e.packed)
        if result.size < 500:
            pairs = [memory_index_tuples(*p) for p in (e.patterns_before, e.patterns_after)]
            if "x1" not in dict(e.packed) and x1.ndim == 0:
                # a single element is converted before the run
                pairs = [[(t[0], t[2]) for t in tuples] for tuples in pairs]
            assert sorted(pairs[0]) == sorted(pairs[1])
        sizes = [int(np.prod([result.shape[d] for d in axis])) for axis in e.merged_axes]
        assert tuple(sizes) == e.patterns_after.shape
        merged = [d for axis in e.merged_axes for d in axis]
        assert sorted(merged) == [d for d, n in enumerate(result.shape) if n != 1]
    assert (e.result_shape, e.result_dtype) == (result.shape, result.dtype)
    assert e.patterns_before[0].strides == np.asarray(result).strides
    for k, own in enumerate(e.broadcast_dimensions):
        assert tuple(e.shapes[k][i] for i in range(len(own))) == np.shape((x1, x2)[k])
        assert all(result.shape[d] == n or d in e.stretched[k] for d, n in zip(own, e.shapes[k], strict=True))
    again = explain("subtract", x1, x2, broadcast_dimensions=e.broadcast_dimensions)
    assert dataclasses.replace(again, rule=e.rule) == e and again.rule == "B11"
    assert well_formed(e._repr_html_()) and str(e)


@pytest.mark.parametrize(
    "dims, shapes, rule",
    [
        (None, ((2, 3), (2, 3)), "B1"),
        ((0, 1), ((2, 3), (2, 3)), "B1"),
        (None, ((2, 3), ()), "B2"),
        ((), ((), (2, 3)), "B2"),
        ((0,), ((2,), (2, 3)), "B4"),
        (iter([0]), ((2,), (2, 3)), "B4"),
        (((0,), (1,)), ((2,), (3,)), "B11"),
        ([None, [1]], ((2, 3), (3,)), "B11"),
    ],
    ids=str,
)
def test_rule(dims, shapes, rule):
    e = explain("add", *map(np.ones, shapes), broadcast_dimensions=dims)
    assert e.rule == rule and e.result_shape == (2, 3)


def test_threads():
    x = np.ones(3_000_000)
    assert explain("add", x, x).threads == 1
    with xbcast.num_threads(2):
        assert explain("add", x, x).threads == min(2, xbcast.get_num_threads())
        assert explain("add", x[:10], x[:10]).threads == 1


# ---- what the call then does -------------------------------------------------


@pytest.mark.parametrize("order", ["K", "C", "F", "A"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_result_lies_where_it_says(layout, order):
    x1, x2 = LAYOUTS[layout]((5, 1, 7), "f4"), LAYOUTS["fortran"]((5, 6, 7), "f4")
    e = explain("add", x1, x2, order=order)
    assert e.patterns_before[0].strides == xbcast.add(x1, x2, order=order).strides


def views():
    line = np.arange(24.0)
    square = line[:16].reshape(4, 4)
    return {
        "same": (line, line),
        "shifted": (line[1:], line[:-1]),
        "reversed": (line, line[::-1]),
        "interleaved": (line[::2], line[1::2]),
        "transposed": (square, square.T),
        "disjoint": (line[:12], line[12:]),
        "other": (line, np.arange(24.0)),
    }


def test_square():
    """Of a power of two, which is a product, x1 is all that there is to tell."""
    x = np.arange(1000.0)
    e = explain("power", x[1:], 2, out=x[:-1])
    assert (e.op, e.loop_op, e.shapes, e.kernel_shape) == ("power", "multiply", ((999,), ()), "contiguous")
    assert e.copied == (("x1", 7992),) and e.in_place == ()
    assert explain("power", x, 2, out=x).in_place == ("x1",)
    assert explain("power", x.astype("i4"), np.float64(2)).packed == (
        ("x1", ("conversion from int32 to float64",)),
    )
    assert explain("power", x, 3).loop_op == explain("float_power", x, 2).loop_op[6:] == "power"


@pytest.mark.parametrize("name", views())
def test_copies_for_overlap(name):
    """What it says is copied is what NumPy finds shared, but for what is exactly `out`."""
    out, x1 = views()[name]
    x2 = np.ones(out.shape)
    before = out.copy()
    e = explain("add", x1, x2, out=out)
    assert (out == before).all() and e.out_given
    assert e.in_place == (("x1",) if name == "same" else ())
    shared = np.shares_memory(out, x1) and name != "same"
    assert e.copied == ((("x1", x1.nbytes),) if shared else ())
    expected = x1 + x2
    xbcast.add(x1, x2, out=out)
    assert (out == expected).all()


def test_nothing_is_written_nor_computed():
    out = np.full(10, 7.0)
    with np.errstate(all="raise"):
        e = explain("divide", np.ones(10), np.zeros(10), out=out, where=np.ones(10, bool))
    assert (out == 7).all()
    assert e.roles == ("out", "x1", "x2", "where")
    assert explain("power", np.ones(3, int), -np.ones(3, int)).result_dtype == np.dtype(int)


@pytest.mark.parametrize(
    "x",
    [
        np.ones(3, np.longdouble),
        np.ones(3, object),
        np.array(["a", "b", "c"]),
        np.ma.ones(3),
        np.array(["2020"], "M8[D]"),
    ],
    ids=lambda x: str(x.dtype),
)
def test_handed_to_numpy(x):
    other = {"U": "xy", "M": np.timedelta64(1, "D")}.get(x.dtype.kind, 1)
    e = explain("add", x, other)
    assert e.handed_to_numpy and e.rule == "B2" and e.result_shape == x.shape
    result = xbcast.add(x, other)
    assert e.result_dtype == (None if type(x) is np.ma.MaskedArray else result.dtype)
    absent = {field.name for field in dataclasses.fields(e) if getattr(e, field.name) is None}
    assert absent - {"result_dtype"} == {
        "loop_op", "loop_dtypes", "computed_in", "warnings", "patterns_before", "patterns_after",
        "merged_axes", "kernel_shape", "packed", "block",
    }  # fmt: skip
    assert "NumPy's ufunc takes the call" in str(e)
    assert well_formed(e._repr_html_())


# ---- refusals ----------------------------------------------------------------

REFUSED = {
    "ranks": ((np.ones((2, 3)), np.ones(3)), {}),
    "sizes": ((np.ones(2), np.ones(3)), {}),
    "dims": ((np.ones((2, 3)), np.ones(3)), {"broadcast_dimensions": 1}),
    "mixed dims": ((np.ones((2, 3)), np.ones(3)), {"broadcast_dimensions": (1, None)}),
    "degenerate": ((np.ones((2, 1)), np.ones((2, 3))), {"degenerate_dimensions": ()}),
    "out shape": ((np.ones(2), 1), {"out": np.ones(3)}),
    "out dtype": ((np.ones(2), 1), {"out": np.ones(2, int)}),
    "out read-only": ((np.ones(2), 1), {"out": LAYOUTS["read_only"]((2,), "f8")}),
    "out overlap": ((np.ones(2), 1), {"out": np.lib.stride_tricks.as_strided(np.ones(1), (2,), (0,))}),
    "where": ((np.ones(2), 1), {"where": np.ones(3, bool)}),
    "order": ((1, 2), {"order": "X"}),
    "keyword": ((1, 2), {"axis": 0}),
    "subok": ((1, 2), {"subok": 1}),
    "dtype": ((np.ones(2), 1), {"dtype": "U3"}),
    "casting": ((np.ones(2), 1), {"dtype": int, "casting": "safe"}),
    "int": ((np.ones(2, np.int8), 300), {}),
    "object out": ((np.ones(2, object), 1), {"out": np.ones(3, object)}),
    "object where": ((np.ones(2, object), 1), {"where": np.ones(3, bool)}),
    "times": ((np.ones(2, "M8[s]"), np.ones(2, "M8[s]")), {}),
    "too large": ((np.broadcast_to(1.0, (2**32, 1)), np.broadcast_to(1.0, (1, 2**32))), {}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refuses_what_the_call_refuses(name):
    args, keywords = REFUSED[name]
    errors = []
    for function in (xbcast.add, lambda *args, **keywords: explain("add", *args, **keywords)):
        with pytest.raises((ValueError, TypeError, OverflowError)) as caught:
            function(*args, **keywords)
        errors.append((caught.type, str(caught.value), getattr(caught.value, "rule", None)))
    assert errors[0] == errors[1]


def test_op_is_an_op_or_its_name():
    assert explain("mod", 5, 3) == explain(xbcast.remainder, 5, 3)
    with pytest.raises(ValueError, match="^explain: there is no op 'plus'$"):
        explain("plus", 1, 2)
    with pytest.raises(TypeError, match="^explain: op must be .* not numpy.ufunc$"):
        explain(np.add, 1, 2)


def test_an_op_that_numpy_has_not():
    with pytest.raises(TypeError) as caught:
        xbcast.shift_right_logical(np.ones(2, object), 1)
    with pytest.raises(TypeError) as explained:
        explain("shift_right_logical", np.ones(2, object), 1)
    assert str(caught.value) == str(explained.value)


# ---- the object --------------------------------------------------------------


def test_is_a_value():
    e = explain("add", np.ones((2, 3)), 1.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        e.op = "subtract"
    assert not hasattr(e, "__dict__")
    assert hash(e) == hash(explain("add", np.ones((2, 3)), 1.0))
    assert pickle.loads(pickle.dumps(e)) == e == copy.deepcopy(e)
    assert {field.name for field in dataclasses.fields(e)} == set(documented_fields())


def documented_fields():
    """The names that the docstring of explain lists under Notes."""
    notes = explain.__doc__.partition("Notes\n")[2].partition("Examples\n")[0]
    for line in notes.splitlines():
        name, colon, _ = line.strip().partition(" : ")
        if colon:
            yield from name.split(", ")


def test_is_imported_when_asked_for():
    """dataclasses takes longer to import than the rest of the package."""
    code = "import sys, xbcast; print('xbcast._explanation' in sys.modules)"
    run = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


# ---- text and pictures -------------------------------------------------------


def test_text():
    x1, out = np.ones((40, 1, 3)), np.zeros((50, 40, 3))[::2]
    e = explain("less", x1, np.ones((40, 3), np.int16), broadcast_dimensions=((1, 3, 4), (1, 4)))
    assert str(e).splitlines() == """\
less: (40, 1, 3) and (40, 3) give (1, 40, 1, 1, 3)

dimension   0    1   2   3   4
x1              40       1   3   float64
                 =       :   =
x2              40           3   int16
result      1   40   1   1   3   bool
= sizes are equal
: one operand has it, the other is stretched along it

rule        B11: each operand lies where its own entry says
dimensions  broadcast_dimensions=((1, 3, 4), (1, 4))
loop        (float64, float64) to bool
warnings    none can occur
axes        120 (dimensions 1, 4)
kernel      contiguous
packed      x2: conversion from int16 to float64
block       120 elements at a time
out         a new array
memory      16 KiB beyond the result
threads     1

strides in bytes   placed [1 40 1 1 3]   walked [120]
out                [120 3 3 3 1]         [1]
x1                 [0 24 0 0 8]          [8]
x2                 [0 6 0 0 2]           [2]""".splitlines()  # fmt: skip
    e = explain("add", out, out[::-1], out=out)
    assert str(e).splitlines()[9:] == """\
rule        B1: equal ranks, dimension by dimension
dimensions  broadcast_dimensions=((0, 1, 2), (0, 1, 2))
loop        (float64, float64) to float64
warnings    from the processor's flags
axes        25 (dimension 0) of 120 (dimensions 1, 2)
kernel      contiguous
packed      nothing
out         given; x1 is overwritten in place; x2 shares memory with it and is copied first (23 KiB)
memory      23 KiB beyond the result
threads     1

strides in bytes   placed [25 40 3]   walked [25 120]
out                [1920 24 8]        [1920 8]
x1                 [1920 24 8]        [1920 8]
x2                 [960 24 8]         [960 8]""".splitlines()  # fmt: skip


@pytest.mark.parametrize("rank1, rank2", list(itertools.product(range(4), repeat=2)))
def test_marks_say_how_dimensions_match(rank1, rank2):
    """= equal, * stretched from 1, : in one operand only; columns stand under each other."""
    shape1, shape2 = (2, 1, 3)[:rank1], (2, 4, 1)[:rank2]
    dims = None if rank1 == rank2 or not shape1 or not shape2 else tuple(range(min(rank1, rank2)))
    text = str(explain("add", np.ones(shape1), np.ones(shape2), broadcast_dimensions=dims)).splitlines()
    rank = max(rank1, rank2)
    at = next(i for i, line in enumerate(text) if line.startswith("x1"))
    if rank == 0:
        assert text[at + 1].startswith("x2")
        return
    columns = [text[at - 1].index(str(d)) for d in range(rank)]
    both = min(rank1, rank2)
    assert [text[at + 1][c : c + 1] for c in columns] == ["=", "*", "*"][:both] + [":"] * (rank - both)
    assert [text[at][c] for c in columns[:rank1]] == [str(n) for n in shape1]
    assert [text[at + 2][c] for c in columns[:rank2]] == [str(n) for n in shape2]


class Checker(HTMLParser):
    """Tags opened are closed, in order; nothing comes from elsewhere and nothing runs."""

    def __init__(self):
        super().__init__()
        self.open = []
        self.text = []

    def handle_starttag(self, tag, attributes):
        self.handle_startendtag(tag, attributes)
        self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        assert tag in {"div", "table", "tbody", "tr", "th", "td", "svg", "title", "rect", "path", "text"}
        for name, value in attributes:
            assert not name.startswith("on") and name not in ("href", "src"), name
            assert "url(" not in value and (name == "xmlns" or "http" not in value)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def well_formed(html):
    checker = Checker()
    checker.feed(html)
    checker.close()
    assert not checker.open
    ElementTree.fromstring(html)  # XML too
    return "".join(checker.text)


def test_html_says_what_the_text_says():
    e = explain("add", np.ones((40, 1)), np.ones(5, np.float16), broadcast_dimensions=(1,))
    text = well_formed(e._repr_html_())
    for line in str(e).partition("rule")[2].splitlines():
        for words in re.split(" {2,}", line):
            assert words in text
    assert ElementTree.fromstring(e.to_svg()).tag == "{http://www.w3.org/2000/svg}svg"


def test_html_is_escaped():
    record = type("<b>&'\"", (np.ndarray,), {})
    x = np.ones(3).view(record)
    x2 = type("<i>", (), {"__array_ufunc__": lambda *args, **keywords: None, "shape": (3,)})()
    text = well_formed(explain("add", x, x2)._repr_html_())
    assert "<i>" in text


def test_shapes_of_many_dimensions_are_drawn():
    x = np.ones((1,) * 40)
    e = explain("add", x, x)
    assert well_formed(e._repr_html_()) and e.result_shape == x.shape


def test_figures_are_what_the_page_draws():
    docs = Path(__file__).parent.parent / "docs"
    spec = importlib.util.spec_from_file_location("draw_figures", docs / "draw_figures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    drawn = dict(module.figures(docs / "explain.md"))
    assert set(drawn) == set((docs / "figures").glob("explain-*.svg")) != set()
    for path, drawing in drawn.items():
        assert path.read_text(encoding="utf-8") == drawing


def test_takes_no_memory_for_the_result():
    x = np.broadcast_to(np.float32(1), (1 << 26, 1 << 20))
    e = explain("add", x, x[0], broadcast_dimensions=(1,))
    assert e.result_shape == x.shape and e.patterns_before[0].strides == (4 << 20, 4)
    numbers = np.broadcast_to(np.uint8(3), (10**6, 10**6))
    assert explain("less", numbers, 300, dtype=object).handed_to_numpy
