"""Every plan visits each element of the result exactly once.

Shown from outside: `out` is an operand of its own call, so an element that is visited
twice counts up twice, and one that is left out does not count at all.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xbcast

DTYPES = ["int8", "int32", "float32", "float64", "complex128", ">i4", "float16"]


@st.composite
def views(draw):
    """An array of zeros of rank 0 to 5: axes shuffled, stepped, reversed, or none of that."""
    shape = draw(st.lists(st.sampled_from([1, 2, 3, 4, 7, 8, 16, 33, 70]), max_size=5))
    while np.prod(shape, dtype=int) > 60_000:
        shape.pop()
    steps = [draw(st.sampled_from([1, 1, 1, 2, 3, -1, -2])) for _ in shape]
    order = draw(st.permutations(range(len(shape))))
    memory = np.zeros([shape[a] * abs(steps[a]) for a in order], draw(st.sampled_from(DTYPES)))
    view = memory[(*[slice(None, None, steps[a]) for a in order], ...)]
    return view.transpose(np.argsort(order).astype(int))


def placed(draw, shape):
    """Ones that stretch along some dimensions of the shape, in a memory order of their own."""
    kept = [n if draw(st.booleans()) else 1 for n in shape]
    order = draw(st.permutations(range(len(shape))))
    return np.ones([kept[a] for a in order], "i1").transpose(np.argsort(order).astype(int))


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_each_element_exactly_once(data):
    out = data.draw(views())
    x2 = placed(data.draw, out.shape)
    threads = data.draw(st.sampled_from([1, 1, 3]))
    xbcast._threads.use_machine_limit(threads)
    try:
        with xbcast.num_threads(threads):
            xbcast.add(out, x2, out=out)
            assert (out == 1).all()
            mask = np.random.default_rng(0).random(out.shape) < 0.5
            xbcast.add(out, x2, out=out, where=mask)
            assert (out == 1 + mask).all()
    finally:
        xbcast._threads.use_machine_limit(None)


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize(
    "shape, kept",
    [
        ((100_003,), (1,)),
        ((70_001, 3), (1, 3)),
        ((50_001, 4), (50_001, 1)),
        ((9001, 3, 8), (9001, 1, 8)),
        ((513, 517), (1, 517)),
        ((513, 517), (513, 1)),
        ((16, 32, 14, 14), (1, 32, 1, 1)),
    ],
    ids=str,
)
@pytest.mark.parametrize("turned", [False, True], ids=["as_is", "transposed"])
def test_large_results_exactly_once(shape, kept, turned, threads):
    xbcast._threads.use_machine_limit(threads)
    try:
        with xbcast.num_threads(threads):
            for dtype in ("int32", "float16", "float64"):
                out = np.zeros(shape[::-1], dtype).T if turned else np.zeros(shape, dtype)
                xbcast.add(out, np.ones(kept, "i1"), out=out)
                assert (out == 1).all()
                xbcast.add(out, np.ones(shape[::-1], "i1").T, out=out)
                assert (out == 2).all()
    finally:
        xbcast._threads.use_machine_limit(None)


@pytest.mark.parametrize("shape", [(3, 4, 5), (3, 4, 5, 6), (2, 3, 4, 3, 5), (2, 2, 3, 2, 3, 2)], ids=str)
@pytest.mark.parametrize("step", [2, -3])
def test_nests_that_do_not_merge_exactly_once(shape, step):
    """A step along every axis keeps all of them in the plan."""
    every = tuple([slice(None, None, step)] * len(shape))
    for dtype in DTYPES:
        for stretched in range(len(shape)):
            out = np.zeros([n * abs(step) for n in shape], dtype)[every]
            kept = [1 if d == stretched else n for d, n in enumerate(shape)]
            xbcast.add(out, np.ones(kept, "i1"), out=out)
            assert (out == 1).all()
