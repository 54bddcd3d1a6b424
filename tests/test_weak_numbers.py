"""Python numbers with every casting, dtype and signature: NumPy's answer, and no crash.

In a process of its own, so that a crash is a failure with a name.
"""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import grids
import xbcast

SWEEP = """
    import itertools, sys, warnings
    import numpy as np, xbcast
    warnings.simplefilter("ignore")
    ops = sys.argv[1].split()
    dtypes = "? b B h H i I l L e f d F D".split()

    def outcome(f, *args, **kwargs):
        try:
            r = f(*args, **kwargs)
        except Exception as e:
            return next(c for c in type(e).__mro__ if c.__module__ == "builtins").__name__
        return str(r.dtype), repr(r.tolist())

    for name, casting, dtype, asked in itertools.product(
        ops, ["no", "equiv", "safe", "same_kind", "unsafe"], dtypes, [None, *dtypes]
    ):
        for number in (3, 256, -1, 3.7, 1j, True):
            x = np.array([1, 0, 2], dtype)
            kwargs = dict(casting=casting) | ({} if asked is None else dict(dtype=asked))
            print(name, dtype, number, kwargs, flush=True)
            for args in ((x, number), (number, x)):
                got = outcome(getattr(xbcast, name), *args, **kwargs)
                want = outcome(getattr(np, name), *args, **kwargs)
                assert got == want, (args, got, want)
"""


@pytest.mark.parametrize("name", ["add", "floor_divide", "logical_or", "bitwise_and", "arctan2"])
def test_every_casting_and_dtype(name):
    done = subprocess.run(
        [sys.executable, "-P", "-c", textwrap.dedent(SWEEP), name],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    last = done.stdout.splitlines()[-1:]
    assert done.returncode == 0, (last, done.stderr[-2000:])


def test_ops_that_numpy_lacks_refuse_what_has_no_conversion():
    for call in (
        lambda: xbcast.complex(np.float64([1]), 1j, casting="unsafe"),
        lambda: xbcast.shift_right_logical(np.int64([1000]), 3.5, dtype="i8", casting="unsafe"),
        lambda: xbcast.shift_right_logical(
            np.int64([1000]), np.int64([1]), out=np.zeros(1, "i1"), casting="safe"
        ),
    ):
        with pytest.raises(TypeError):
            call()


def test_weakness_survives_the_way_to_numpy():
    x = np.longdouble(1)
    assert xbcast.add(10**30, x, out=...).dtype == np.longdouble
    assert xbcast.add(10**30, x, where=True).dtype == np.longdouble


@pytest.mark.parametrize("order", ["K", "C", "F", "A"])
def test_layout_of_comparisons_answered_by_sign(order):
    for x in (np.zeros((2, 3), "u1", "F"), np.zeros((4, 3, 2), "i2").transpose(1, 2, 0)):
        for number in (70000, -70000):
            got, want = xbcast.less(x, number, order=order), np.less(x, number, order=order)
            assert got.strides == want.strides
            assert (got == want).all()


def test_scalars_are_converted_whatever_is_computed():
    for call in (
        lambda: xbcast.add(np.float16([]), 1e6),
        lambda: xbcast.add(np.float16([1]), 1e6),
        lambda: xbcast.add(np.float16([1]), 1e6, where=np.array([False])),
    ):
        with pytest.warns(RuntimeWarning, match="overflow encountered in cast"):
            call()


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
@pytest.mark.parametrize("dtype", grids.NATIVE)
def test_truth_of_numbers(name, dtype):
    """On either side, of any kind, in our own loop; what NumPy cannot make an element of is refused."""
    op, numpy_op = getattr(xbcast, name), getattr(np, name)
    x = grids.special(dtype)
    numbers = (0, 1, -1, 2**63 - 1, -(2**63), 0.0, -0.0, 0.1, float("nan"), 5e-324, 0j, 1j, complex("nan"))
    for number in numbers:
        for pair in ((x, number), (number, x)):
            with np.errstate(all="ignore"):
                want = numpy_op(*pair)
                assert not xbcast.explain(name, *pair).handed_to_numpy
            got = op(*pair)
            assert got.dtype == np.bool and np.array_equal(got, want), (pair, got, want)
    for number in (2**63, 2**64, -(2**63) - 1, 10**400):
        with pytest.raises(OverflowError):
            numpy_op(x, number)
        with pytest.raises(OverflowError):
            op(x, number)
