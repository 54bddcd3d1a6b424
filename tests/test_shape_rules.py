"""Rules B1 to B11: each with calls that pass and calls that fail, named after it.

A failing case matches the parts of the message that a user needs (op, argument,
original shapes), not its exact words.
"""

import functools
import itertools
import pickle
import re

import numpy as np
import pytest

import oracle
import xbcast

OPS_TRIED = ["add", "less", "power"]


def ones(*shapes):
    return [np.ones(shape) for shape in shapes]


def accepts(shape1, shape2, dims, want, **keywords):
    """The shape function and a real op both accept and agree, whichever side is lower."""
    if dims is not None:
        keywords["broadcast_dimensions"] = dims
    assert xbcast.broadcast_shapes(shape1, shape2, **keywords) == want
    assert np.shape(xbcast.add(*ones(shape1, shape2), **keywords)) == want
    if not (dims is not None and oracle.is_per_operand(dims)):
        assert xbcast.broadcast_shapes(shape2, shape1, **keywords) == want
        assert np.shape(xbcast.add(*ones(shape2, shape1), **keywords)) == want


def refuses(shape1, shape2, dims, rule, *said, entry=None, **keywords):
    """Both refuse, by that rule; the message has the op, both shapes and every `said`."""
    if dims is not None:
        keywords["broadcast_dimensions"] = dims
    calls = [("broadcast_shapes", lambda: xbcast.broadcast_shapes(shape1, shape2, **keywords))]
    operands = ones(shape1, shape2)
    calls += [(name, functools.partial(getattr(xbcast, name), *operands, **keywords)) for name in OPS_TRIED]
    for name, call in calls:
        with pytest.raises(xbcast.BroadcastError) as caught:
            call()
        error = caught.value
        message = str(error)
        assert error.rule == rule, message
        assert error.op == name
        assert error.shapes == (shape1, shape2)
        assert error.entry == entry, message
        assert message.startswith(f"{name}: ")
        assert "\n" not in message
        for part in said:
            assert part in message, (part, message)
        # a rank-1 fault may name the one shape that matters
        assert str(shape1) in message or str(shape2) in message, message


def type_error(dims, *said, shapes=((2, 3), (3,)), argument="broadcast_dimensions"):
    keywords = {argument: dims}
    for name, call in (
        ("add", lambda: xbcast.add(*ones(*shapes), **keywords)),
        ("broadcast_shapes", lambda: xbcast.broadcast_shapes(*shapes, **keywords)),
    ):
        with pytest.raises(TypeError) as caught:
            call()
        message = str(caught.value)
        assert message.startswith(f"{name}: "), message
        assert argument in message
        for part in said:
            assert part in message, (part, message)


# ---- B1 to B9: XLA's rules --------------------------------------------------


@pytest.mark.parametrize("dims", [None, (), (0, 1)], ids=["absent", "empty", "identity"])
def test_b1_equal_ranks(dims):
    accepts((2, 3), (2, 3), dims, (2, 3))
    accepts((2, 1), (1, 3), dims, (2, 3))


@pytest.mark.parametrize(
    "dims, entry",
    [
        ((1, 0), 0),
        ((0,), None),
        ((0, 1, 2), None),
        ((0, 0), 1),
        ((-2, -1), 0),
        ((0, 2), 1),
    ],
    ids=str,
)
def test_b1_equal_ranks_take_only_the_identity(dims, entry):
    refuses((2, 2), (2, 2), dims, "B1", "broadcast_dimensions", "(2, 2)", entry=entry)


def test_b1_comes_before_sizes():
    refuses((2, 3), (5, 7), (1, 0), "B1", "(2, 3)", "(5, 7)", entry=0)


@pytest.mark.parametrize("dims", [None, ()], ids=["absent", "empty"])
def test_b2_scalars_need_none(dims):
    accepts((), (2, 3), dims, (2, 3))
    accepts((), (), dims, ())
    accepts((), (0, 2), dims, (0, 2))
    for scalar in (2, 2.5, 1j, True, np.float32(2), np.int8(3), np.array(2.0)):
        keywords = {} if dims is None else {"broadcast_dimensions": dims}
        assert xbcast.add(scalar, np.ones((2, 3)), **keywords).shape == (2, 3)
        assert xbcast.add(np.ones((2, 3)), scalar, **keywords).shape == (2, 3)


@pytest.mark.parametrize("dims", [(0,), (1,), (0, 1), (-1,), (9,)], ids=str)
def test_b2_scalars_take_none(dims):
    refuses((), (2, 3), dims, "B2", "broadcast_dimensions", "(2, 3)")
    refuses((2, 3), (), dims, "B2", "broadcast_dimensions", "(2, 3)")


def test_b3_different_ranks_need_dimensions():
    accepts((2, 3), (3,), (1,), (2, 3))
    for dims in (None, ()):
        refuses((2, 3), (3,), dims, "B3", "broadcast_dimensions", "(2, 3)", "(3,)")
        refuses((3,), (2, 3), dims, "B3", "broadcast_dimensions", "(2, 3)", "(3,)")
        refuses((77,), (77, 1), dims, "B3", "(77,)", "(77, 1)")
        refuses((500000, 1, 1), (500000, 1), dims, "B3", "(500000, 1, 1)", "(500000, 1)")


def test_b3_lists_are_arrays():
    with pytest.raises(xbcast.BroadcastError, match=r"add: .*\(2, 2\).*\(2,\)"):
        xbcast.add([[1, 2], [3, 4]], [5, 6])
    assert xbcast.add([[1, 2], [3, 4]], [5, 6], broadcast_dimensions=[0]).tolist() == [[6, 7], [9, 10]]


def test_b4_one_entry_per_dimension_of_the_lower_rank():
    accepts((2, 3, 4), (2, 4), (0, 2), (2, 3, 4))
    refuses((2, 3, 4), (2, 4), (0,), "B4", "broadcast_dimensions", "(0,)", "(2, 4)")
    refuses((2, 3, 4), (2, 4), (0, 1, 2), "B4", "broadcast_dimensions", "(2, 3, 4)")
    refuses((3,), (2, 3), (0, 1), "B4", "broadcast_dimensions")
    # length is looked at before any entry
    refuses((2, 3, 4), (2, 4), (-1,), "B4")


def test_b5_entries_are_in_range():
    accepts((2, 3), (2,), (0,), (2, 3))
    refuses((2, 3, 4), (3, 4), (1, 3), "B5", "broadcast_dimensions[1] = 3", "rank 3", "(2, 3, 4)", entry=1)
    refuses((2, 3), (3,), (2,), "B5", "broadcast_dimensions[0] = 2", entry=0)


def test_b5_no_negative_entries():
    refuses((2, 3), (3,), (-1,), "B5", "broadcast_dimensions[0] = -1", "rank 2", entry=0)
    refuses((2, 3, 4), (2, 4), (0, -1), "B5", "broadcast_dimensions[1] = -1", entry=1)
    refuses((2, 3), (3,), (-(2**70),), "B5", entry=0)
    refuses((2, 3), (3,), (2**70,), "B5", entry=0)


@pytest.mark.parametrize(
    "entry", [True, False, np.True_, 1.0, np.float64(1), "1", 1j], ids=lambda e: f"{type(e).__name__}-{e}"
)
def test_b5_entries_are_integers(entry):
    type_error((entry,), "[0]", type(entry).__name__)
    type_error([entry], "[0]")
    type_error((0, entry), "[1]", shapes=((2, 3, 4), (2, 3)))


@pytest.mark.parametrize("argument", ["broadcast_dimensions", "degenerate_dimensions"])
def test_b5_a_bare_int_is_no_sequence(argument):
    type_error(1, "(1,)", argument=argument)
    type_error(np.int64(1), "(1,)", argument=argument)
    type_error(-1, "counted from 0", argument=argument)


@pytest.mark.parametrize(
    "value", [True, 1.0, "1", object(), {0: 1}], ids=["bool", "float", "str", "object", "dict"]
)
@pytest.mark.parametrize("argument", ["broadcast_dimensions", "degenerate_dimensions"])
def test_b5_dimensions_are_a_sequence_of_integers(argument, value):
    type_error(value, f"not {type(value).__name__}", argument=argument)


class Index:
    """An integer by `__index__` alone."""

    def __index__(self):
        return 1


@pytest.mark.parametrize(
    "dims",
    [[1], (np.int8(1),), (np.uint64(1),), [np.intp(1)], (Index(),)],
    ids=["list", "int8", "uint64", "list-intp", "index"],
)
def test_b5_whatever_is_an_integer(dims):
    accepts((2, 3), (3,), dims, (2, 3))


def test_b6_entries_must_increase():
    accepts((3, 3, 3), (3, 3), (0, 2), (3, 3, 3))
    refuses((3, 3, 3), (3, 3), (2, 0), "B6", "broadcast_dimensions", "(2, 0)", entry=1)
    refuses((3, 3, 3), (3, 3), (1, 1), "B6", "broadcast_dimensions", "(1, 1)", entry=1)
    refuses((2, 2, 2, 2), (2, 2, 2), (0, 3, 1), "B6", "broadcast_dimensions", entry=2)


def test_b7_matched_sizes_are_equal_or_one_is_1():
    accepts((4, 3), (4,), (0,), (4, 3))
    accepts((4, 3), (1,), (0,), (4, 3))
    accepts((1, 3), (5,), (0,), (5, 3))
    refuses((4, 3), (4,), (1,), "B7", "broadcast_dimensions[0] = 1", "4", "3", "(4, 3)", "(4,)", entry=0)
    refuses((2, 3, 4), (2, 5), (0, 2), "B7", "broadcast_dimensions[1] = 2", entry=1)
    refuses((2, 3), (2, 4), None, "B7", "3", "4", "(2, 3)", "(2, 4)")
    refuses((2, 3), (2, 0), None, "B7", "(2, 3)", "(2, 0)")


def test_b8_size_1_takes_the_other_size():
    accepts((2, 1), (1, 3), None, (2, 3))
    accepts((1,), (1,), None, (1,))
    accepts((2, 1, 4), (2, 3), (0, 1), (2, 3, 4))


def test_b8_1_with_0_gives_0():
    accepts((1, 3), (0, 3), None, (0, 3))
    accepts((1, 3), (0,), (0,), (0, 3))
    accepts((0, 3), (1,), (0,), (0, 3))
    refuses((2, 3), (0,), (0,), "B7", entry=0)


@pytest.mark.parametrize("dims, rule, entry", [
    ((2, 1), "B7", 0),    # sizes of the first entry before the order of the second
    ((2, -1), "B7", 0),   # ... and before the range of the second
    ((1, -1), "B5", 1),   # range before sizes and order
    ((1, 1), "B7", 1),    # sizes before order
    ((1, 0), "B6", 1),
], ids=str)  # fmt: skip
def test_b9_the_fault_that_xla_reports(dims, rule, entry):
    refuses((2, 3, 4), (3, 2), dims, rule, entry=entry)


def test_b9_every_small_case():
    """Pairs of shapes of rank up to 3, with all dimensions within and just around the range."""
    shapes = [s for rank in range(3) for s in itertools.product((1, 2, 3), repeat=rank)]
    shapes += [(1, 2, 3), (2, 3, 1), (3, 2, 2), (2, 2, 2)]
    dims_tried = [None] + [d for n in range(4) for d in itertools.product(range(-1, 4), repeat=n)]
    seen = set()
    for shape1, shape2 in itertools.product(shapes, repeat=2):
        for dims in dims_tried:
            try:
                want = oracle.result_shape(shape1, shape2, dims)
            except oracle.Refused as refused:
                want = (refused.rule, refused.entry)
            try:
                got = xbcast.broadcast_shapes(shape1, shape2, dims)
            except xbcast.BroadcastError as error:
                got = (error.rule, error.entry)
            assert got == want, (shape1, shape2, dims)
            seen.add(want[0] if want and isinstance(want[0], str) else "accepted")
    assert seen == {"accepted", "B1", "B2", "B3", "B4", "B5", "B6", "B7"}


def test_size_1_placing_comes_before_stretching():
    """XLA's document: the lower-rank operand is placed first, then sizes of 1 stretch."""
    accepts((4,), (1, 2), (0,), (4, 2))
    accepts((1, 2), (4, 3, 1), (1, 2), (4, 3, 2))


# ---- B10: degenerate dimensions ---------------------------------------------


def test_b10_absent_lets_any_size_1_stretch():
    accepts((8, 18), (1, 18), None, (8, 18))
    accepts((8, 18), (1, 18), None, (8, 18), degenerate_dimensions=None)


def test_b10_empty_lets_none_stretch():
    accepts((8, 18), (8, 18), None, (8, 18), degenerate_dimensions=())
    accepts((1, 18), (1, 18), None, (1, 18), degenerate_dimensions=())
    refuses(
        (8, 18), (1, 18), None, "B10", "degenerate_dimensions", "(8, 18)", "(1, 18)", degenerate_dimensions=()
    )
    refuses((1, 18), (8, 18), None, "B10", "degenerate_dimensions", degenerate_dimensions=())
    refuses((10, 1), (1, 1), None, "B10", "degenerate_dimensions", degenerate_dimensions=())
    refuses((0, 3), (1, 3), None, "B10", "degenerate_dimensions", degenerate_dimensions=())


def test_b10_only_those_listed_stretch():
    accepts((8, 18), (1, 18), None, (8, 18), degenerate_dimensions=(0,))
    accepts((2, 1, 4), (1, 3, 4), None, (2, 3, 4), degenerate_dimensions=[0, np.int8(1)])
    refuses((8, 18), (1, 18), None, "B10", "degenerate_dimensions", degenerate_dimensions=(1,))
    refuses((2, 1, 4), (1, 3, 4), None, "B10", "degenerate_dimensions", degenerate_dimensions=(0,))


def test_b10_counts_dimensions_of_the_result():
    accepts((4, 3), (1,), (1,), (4, 3), degenerate_dimensions=(1,))
    refuses((4, 3), (1,), (1,), "B10", "degenerate_dimensions", degenerate_dimensions=(0,))
    accepts((1, 3), (5,), (0,), (5, 3), degenerate_dimensions=(0,))
    refuses((1, 3), (5,), (0,), "B10", "degenerate_dimensions", degenerate_dimensions=(1,))


def test_b10_is_not_about_missing_dimensions_or_scalars():
    accepts((4, 3), (3,), (1,), (4, 3), degenerate_dimensions=())
    accepts((4, 3), (), None, (4, 3), degenerate_dimensions=())
    accepts((3,), (4,), ((1,), (0,)), (4, 3), degenerate_dimensions=())


def test_b10_entries_are_dimensions_of_the_result():
    refuses(
        (8, 18), (8, 18), None, "B10", "degenerate_dimensions[0] = 2", degenerate_dimensions=(2,), entry=0
    )
    refuses(
        (8, 18), (1, 18), None, "B10", "degenerate_dimensions[1] = -1", degenerate_dimensions=(0, -1), entry=1
    )
    for entry in (True, 0.0, "0"):
        type_error((entry,), "[0]", shapes=((2, 3), (1, 3)), argument="degenerate_dimensions")


def test_b10_comes_after_the_other_rules():
    refuses((8, 18), (1, 17), None, "B7", degenerate_dimensions=())


# ---- B11: one entry per operand ---------------------------------------------


def test_b11_outer_product():
    u, v = np.arange(3.0), np.arange(4.0) + 1
    result = xbcast.multiply(u, v, broadcast_dimensions=((0,), (1,)))
    assert np.array_equal(result, np.outer(u, v))
    result = xbcast.multiply(u, v, broadcast_dimensions=((1,), (0,)))
    assert np.array_equal(result, np.outer(v, u))


@pytest.mark.parametrize("shape1, shape2, dims, want", [
    ((3,), (4,), ((0,), (1,)), (3, 4)),
    ((3,), (4,), [[0], [1]], (3, 4)),
    ((3,), (4,), ([0], (np.int64(1),)), (3, 4)),
    ((2, 3), (3,), (None, (1,)), (2, 3)),
    ((2, 3), (2,), (None, (0,)), (2, 3)),
    ((3,), (2, 3), ((1,), None), (2, 3)),
    ((2, 3), (2, 3), (None, None), (2, 3)),
    ((2, 3), (2, 3), ((0, 1), (0, 1)), (2, 3)),
    ((2, 3), (3, 4), ((0, 1), (1, 2)), (2, 3, 4)),
    ((2, 3), (), (None, None), (2, 3)),
    ((2, 3), (), (None, ()), (2, 3)),
    ((), (), ((), ()), ()),
    ((), (), (None, None), ()),
    ((2,), (), ((3,), None), (1, 1, 1, 2)),
    ((3,), (4,), ((1,), (3,)), (1, 3, 1, 4)),
    ((2, 1), (1, 5), ((0, 2), (0, 2)), (2, 1, 5)),
    ((1,), (4,), ((0,), (0,)), (4,)),
    ((3,), (3,), ((0,), (0,)), (3,)),
    ((0,), (4,), ((0,), (1,)), (0, 4)),
], ids=str)  # fmt: skip
def test_b11_places_each_operand(shape1, shape2, dims, want):
    assert oracle.result_shape(shape1, shape2, dims) == want
    accepts(shape1, shape2, dims, want)
    x1 = np.arange(np.prod(shape1, dtype=int)).reshape(shape1) * 1000
    x2 = np.arange(np.prod(shape2, dtype=int)).reshape(shape2)
    assert np.array_equal(
        xbcast.add(x1, x2, broadcast_dimensions=dims), np.broadcast_to(oracle.call("add", x1, x2, dims), want)
    )


@pytest.mark.parametrize("shape1, shape2, dims, operand", [
    ((2, 3), (3,), (None, None), 1),       # None for an operand of a lower rank
    ((3,), (2, 3), (None, (0, 1)), 0),
    ((3,), (4,), ((0,), ()), 1),           # () places scalars only
    ((3,), (4,), ((0, 1), (1,)), 0),       # length
    ((), (4,), ((0,), (0,)), 0),
    ((2, 3), (3,), ((1, 0), (1,)), 0),     # order
    ((2, 3), (3,), ((1, 1), (1,)), 0),
    ((3,), (4,), ((0,), (-1,)), 1),        # range
    ((3,), (4,), ((0,), (64,)), 1),
], ids=str)  # fmt: skip
def test_b11_an_operand_that_cannot_be_placed(shape1, shape2, dims, operand):
    refuses(shape1, shape2, dims, "B11", "broadcast_dimensions", str(shape1), str(shape2), entry=operand)


@pytest.mark.parametrize("dims", [((0,),), ((0,), (1,), (2,)), (None,)], ids=str)
def test_b11_takes_one_entry_per_operand(dims):
    with pytest.raises(xbcast.BroadcastError, match="^add: .*broadcast_dimensions") as caught:
        xbcast.add(*ones((3,), (4,)), broadcast_dimensions=dims)
    assert caught.value.rule == "B11"
    with pytest.raises(xbcast.BroadcastError, match="^broadcast_shapes: "):
        xbcast.broadcast_shapes((3,), (4,), dims)


def test_b11_placed_sizes_still_match():
    refuses((3,), (4,), ((0,), (0,)), "B7", "3", "4", "(3,)", "(4,)")


def test_b11_degenerate_dimensions_count_in_the_result():
    accepts((2, 1), (3,), ((0, 2), (2,)), (2, 1, 3), degenerate_dimensions=(2,))
    refuses((2, 1), (3,), ((0, 2), (2,)), "B10", "degenerate_dimensions", degenerate_dimensions=(1,))


@pytest.mark.parametrize("dims", [(0, (1,)), ((0,), 1), (None, 0), (0, None)], ids=str)
def test_b11_the_forms_do_not_mix(dims):
    type_error(dims, shapes=((3,), (4,)))


@pytest.mark.parametrize(
    "dims",
    [((0.0,), (1,)), ((0,), (True,)), ((0,), "1"), (((0,),), (1,))],
    ids=["float", "bool", "str", "nested"],
)
def test_b11_entries_are_integers(dims):
    type_error(dims, shapes=((3,), (4,)))


# ---- Suggestions ------------------------------------------------------------


def suggested(message):
    """The `broadcast_dimensions` that a message offers, or None."""
    offer = re.search(r"broadcast_dimensions=(\([\d, ]*\))", message)
    return tuple(int(d) for d in re.findall(r"\d+", offer[1])) if offer else None


def test_a_suggestion_is_the_only_call_that_works():
    """Every refusal over small shapes: an offer is made if and only if exactly one call works."""
    shapes = [s for rank in range(1, 4) for s in itertools.product((1, 2, 3), repeat=rank)]
    offers = set()
    for shape1, shape2 in itertools.product(shapes, repeat=2):
        if len(shape1) == len(shape2):
            continue
        with pytest.raises(xbcast.BroadcastError) as caught:
            xbcast.broadcast_shapes(shape1, shape2)
        working = oracle.working_dims(shape1, shape2)
        offer = suggested(str(caught.value))
        assert offer == (working[0] if len(working) == 1 else None), (shape1, shape2)
        offers.add(len(working))
    assert {0, 1, 2, 3} <= offers


@pytest.mark.parametrize("dims, rule", [((0,), "B7"), ((2,), "B5"), ((0, 1), "B4")], ids=str)
def test_a_suggestion_wherever_dimensions_are_wrong(dims, rule):
    with pytest.raises(xbcast.BroadcastError) as caught:
        xbcast.add(*ones((2, 3), (3,)), broadcast_dimensions=dims)
    assert caught.value.rule == rule
    assert suggested(str(caught.value)) == (1,)
    xbcast.add(*ones((2, 3), (3,)), broadcast_dimensions=suggested(str(caught.value)))


def test_no_suggestion_that_fails():
    for shape1, shape2 in [((2, 3), (4,)), ((3, 3), (3,)), ((2, 3), (2, 4))]:
        with pytest.raises(xbcast.BroadcastError) as caught:
            xbcast.add(*ones(shape1, shape2))
        assert suggested(str(caught.value)) is None


# ---- The error itself -------------------------------------------------------


def test_error_is_a_value_error_that_pickles():
    with pytest.raises(ValueError) as caught:
        xbcast.add(*ones((2, 3, 4), (3, 4)), broadcast_dimensions=(1, 3))
    error = caught.value
    assert type(error) is xbcast.BroadcastError
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    for name in ("rule", "op", "shapes", "broadcast_dimensions", "entry"):
        assert getattr(again, name) == getattr(error, name)
    assert (error.rule, error.op, error.shapes, error.broadcast_dimensions, error.entry) == (
        "B5",
        "add",
        ((2, 3, 4), (3, 4)),
        (1, 3),
        1,
    )


def test_error_names_the_op_called():
    for name, op in oracle.OP.items():
        for spelling in (name, *op.aliases):
            with pytest.raises(xbcast.BroadcastError, match=f"^{name}: "):
                getattr(xbcast, spelling)(np.ones((2, 3), int), np.ones(3, int))


# ---- Sizes and ranks --------------------------------------------------------


def spread(shape):
    """A huge array of one element."""
    return np.lib.stride_tricks.as_strided(np.ones(1), shape, (0,) * len(shape))


@pytest.mark.parametrize("shape1, shape2, dims", [
    ((2**40, 1), (1, 2**40), None),
    ((2**40,), (2**40,), ((0,), (1,))),
    ((2**31, 1), (2**30,), (1,)),               # 2**61 elements: only the bytes overflow
    ((2**40, 1, 0), (1, 2**40, 1), None),       # empty, but no array can have this shape
], ids=["elements", "per_operand", "bytes", "empty"])  # fmt: skip
def test_size_overflow_is_refused(shape1, shape2, dims):
    with pytest.raises(ValueError, match="^add: ") as caught:
        xbcast.add(spread(shape1), spread(shape2), broadcast_dimensions=dims)
    assert str(shape1) in str(caught.value) and str(shape2) in str(caught.value)


def test_sizes_beyond_memory_are_a_memory_error():
    with pytest.raises(MemoryError):
        xbcast.add(spread((2**28, 1)), spread((1, 2**29)))


def test_64_dimensions_are_accepted():
    shape = (2, 3) + (1,) * 62
    x = np.arange(6.0).reshape(shape)
    assert np.array_equal(xbcast.add(x, x), x + x)
    assert xbcast.add(x, 1.0).shape == shape
    y = np.arange(3.0)
    result = xbcast.subtract(x, y, broadcast_dimensions=(1,))
    assert np.array_equal(result, x - y.reshape((1, 3) + (1,) * 62))
    u = np.arange(2.0)
    assert xbcast.add(u, u, broadcast_dimensions=((0,), (63,))).shape == (2, *(1,) * 62, 2)
    full = np.zeros((1,) * 64)
    low = np.zeros((1,) * 63)
    for gap in (0, 31, 63):
        dims = tuple(d for d in range(64) if d != gap)
        assert xbcast.add(full, low, broadcast_dimensions=dims).shape == full.shape


def test_65_dimensions_are_refused():
    u = np.ones((1,) * 64)
    dims = (tuple(range(64)), (64,))
    with pytest.raises(ValueError, match="add: .*64"):
        xbcast.add(u, np.ones(2), broadcast_dimensions=dims)
    with pytest.raises(ValueError, match="broadcast_shapes: .*64"):
        xbcast.broadcast_shapes((1,) * 65, ())
