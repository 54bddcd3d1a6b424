"""Every line of data/xla_shapes.jsonl: what XLA itself accepts, infers and refuses.

The data were printed by XLA (data/README.md); this file turns each into calls of
`broadcast_shapes` and of a real op, and compares acceptance, shape, fault and the
element that each operand gave to each cell of the result.
"""

import json
import pathlib

import numpy as np
import pytest

import oracle
import xbcast

LINES = [
    json.loads(line)
    for line in (pathlib.Path(__file__).parent / "data/xla_shapes.jsonl").read_text().splitlines()
]
ACCEPTED = [case for case in LINES if "result_shape" in case]
REFUSED = [case for case in LINES if "error" in case]

# XLA's fault -> the rule that says so here. A scalar with dimensions is a matter of
# length to XLA; here it has a rule of its own.
RULE = {
    "error_rank": "B3",
    "error_length": "B4",
    "error_negative": "B5",
    "error_too_large": "B5",
    "error_mismatch": "B7",
    "error_order": "B6",
    "error_equal_rank_dims": "B1",
    "error_incompatible": "B7",
}

XLA_OPS = {
    "add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "rem": "fmod",
    "pow": "power", "max": "maximum", "min": "minimum", "atan2": "arctan2",
    "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "shift_left": "left_shift", "shift_right_arithmetic": "right_shift",
    "shift_right_logical": "shift_right_logical", "complex": "complex",
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal",
    "gt": "greater", "ge": "greater_equal",
}  # fmt: skip
DTYPES = {
    "pred": "bool",
    "s8": "int8",
    "s32": "int32",
    "s64": "int64",
    "u8": "uint8",
    "u32": "uint32",
    "f32": "float32",
    "f64": "float64",
    "c64": "complex64",
}


def name_of(case):
    return f"{case['id']}-{case['kind']}"


def rule_of(case):
    scalar = not case["lhs_shape"] or not case["rhs_shape"]
    return "B2" if case["kind"] == "error_length" and scalar else RULE[case["kind"]]


def arguments(case):
    """Operands of the line's dtype, whose values are all 1, and its dimensions."""
    dtype = DTYPES[case["dtype"]]
    return (np.ones(case["lhs_shape"], dtype), np.ones(case["rhs_shape"], dtype)), {
        "broadcast_dimensions": case["broadcast_dimensions"]
    }


def test_data_are_whole():
    assert (len(LINES), len(ACCEPTED), len(REFUSED)) == (424, 228, 196)
    assert {case["op"] for case in LINES} == set(XLA_OPS)


@pytest.mark.parametrize("case", ACCEPTED, ids=name_of)
def test_accepted_shape(case):
    lhs, rhs, want = (tuple(case[k]) for k in ("lhs_shape", "rhs_shape", "result_shape"))
    dims = case["broadcast_dimensions"]
    assert oracle.result_shape(lhs, rhs, dims) == want
    assert xbcast.broadcast_shapes(lhs, rhs, dims) == want
    operands, keywords = arguments(case)
    result = getattr(xbcast, XLA_OPS[case["op"]])(*operands, **keywords)
    assert np.shape(result) == want


@pytest.mark.parametrize("case", ACCEPTED, ids=name_of)
def test_each_cell_gets_its_elements(case):
    lhs, rhs = (np.arange(np.prod(case[k], dtype=int)).reshape(case[k]) for k in ("lhs_shape", "rhs_shape"))
    # 60 is the most that a line lists, so both positions can be read off one sum
    result = np.asarray(xbcast.add(lhs * 100000, rhs, broadcast_dimensions=case["broadcast_dimensions"]))
    if "lhs_index" in case:
        assert (result.ravel() // 100000).tolist() == case["lhs_index"]
        assert (result.ravel() % 100000).tolist() == case["rhs_index"]
    else:
        want = oracle.call("add", lhs * 100000, rhs, case["broadcast_dimensions"])
        assert np.array_equal(result, want)
        assert result.size == 0 or result.size > 60
    pair = xbcast.complex(
        lhs.astype(float), rhs.astype(float), broadcast_dimensions=case["broadcast_dimensions"]
    )
    assert np.array_equal(np.real(pair), result // 100000)
    assert np.array_equal(np.imag(pair), result % 100000)


@pytest.mark.parametrize("case", REFUSED, ids=name_of)
def test_refused_for_the_same_fault(case):
    lhs, rhs = tuple(case["lhs_shape"]), tuple(case["rhs_shape"])
    dims = case["broadcast_dimensions"]
    with pytest.raises(oracle.Refused) as judged:
        oracle.result_shape(lhs, rhs, dims)
    assert judged.value.rule == rule_of(case)
    operands, keywords = arguments(case)
    op = getattr(xbcast, XLA_OPS[case["op"]])
    for call, name in (
        (lambda: xbcast.broadcast_shapes(lhs, rhs, dims), "broadcast_shapes"),
        (lambda: op(*operands, **keywords), op.__name__),
    ):
        with pytest.raises(xbcast.BroadcastError) as caught:
            call()
        error = caught.value
        assert error.rule == rule_of(case)
        assert error.entry == judged.value.entry
        assert error.op == name
        assert error.shapes == (lhs, rhs)
        given = error.broadcast_dimensions
        assert (None if given is None else list(given)) == dims
        assert str(error).startswith(f"{name}: ")
        assert "\n" not in str(error)


@pytest.mark.parametrize("case", [c for c in LINES if "result_values" in c], ids=name_of)
def test_worked_example(case):
    """The numbers of XLA's broadcasting document."""
    dtype = DTYPES[case["dtype"]]
    result = getattr(xbcast, XLA_OPS[case["op"]])(
        np.array(case["lhs_values"], dtype),
        np.array(case["rhs_values"], dtype),
        broadcast_dimensions=case["broadcast_dimensions"],
    )
    assert result.dtype == dtype
    assert result.tolist() == case["result_values"]
