"""Python threads that call at the same time get the results of one that calls alone."""

import concurrent.futures
import threading

import numpy as np
import pytest

import grids
import oracle
import xbcast
from layouts import LAYOUTS, SHAPES

N_THREADS = 8


def together(work, n=N_THREADS):
    """Run work(i) in n threads that start at one moment; their results, or the first error."""
    barrier = threading.Barrier(n)

    def start(i):
        barrier.wait()
        return work(i)

    with concurrent.futures.ThreadPoolExecutor(n) as pool:
        return list(pool.map(start, range(n)))


@pytest.mark.parametrize("name", ["add", "floor_divide", "power", "maximum", "less", "arctan2", "gcd"])
def test_same_results(name):
    dtypes = ["int32", "uint8"] if name == "gcd" else ["float64", "float32", "float16"]
    jobs = []
    with np.errstate(all="ignore"):
        for dtype in dtypes:
            for layout in ("contiguous", "transposed", "packed", "swapped"):
                for shape1, shape2, dims in SHAPES.values():
                    x1 = LAYOUTS[layout](shape1, dtype, 1)
                    x2 = LAYOUTS["contiguous"](shape2, dtype, 2)
                    x2 = np.abs(x2) if name == "power" else x2
                    op = getattr(xbcast, name)
                    jobs.append((x1, x2, dims, op(x1, x2, broadcast_dimensions=dims)))

    def work(i):
        order = np.random.default_rng(i).permutation(len(jobs))
        with np.errstate(all="ignore"):
            return [
                (k, getattr(xbcast, name)(jobs[k][0], jobs[k][1], broadcast_dimensions=jobs[k][2]))
                for k in order
            ]

    for results in together(work):
        for k, got in results:
            assert np.asarray(got).dtype == np.asarray(jobs[k][3]).dtype
            assert np.array_equal(oracle.bits(got), oracle.bits(jobs[k][3]))


def test_large_results():
    """Large enough that the lock is released for a while."""
    x = grids.ordinary("float64", (700, 701))
    row, column = grids.ordinary("float64", (701,)), grids.ordinary("float64", (700,))
    want = x + row, x * column[:, None]

    def work(i):
        for _ in range(5):
            got = (
                xbcast.add(x, row, broadcast_dimensions=(1,)),
                xbcast.multiply(x, column, broadcast_dimensions=(0,)),
            )
            assert all(np.array_equal(g, w) for g, w in zip(got, want, strict=True))
        return True

    assert all(together(work))


def test_warnings_go_to_the_thread_that_made_them():
    def work(i):
        kinds = ("divide", "invalid", "over", "under")
        mine = kinds[i % 4]
        operands = {
            "divide": (1.0, 0.0, xbcast.divide),
            "invalid": (0.0, 0.0, xbcast.divide),
            "over": (1e300, 1e300, xbcast.multiply),
            "under": (1e-300, 1e-300, xbcast.multiply),
        }
        x1, x2, op = operands[mine]
        x1, x2 = np.full(2000, x1), np.full(2000, x2)
        heard = []
        with np.errstate(all="call", call=lambda message, flag: heard.append(message)):
            for _ in range(200):
                op(x1, x2)
                xbcast.add(x1, 1.0)
        return mine, set(heard), len(heard)

    words = {"divide": "divide by zero", "invalid": "invalid value", "over": "overflow", "under": "underflow"}
    for kind, heard, times in together(work):
        assert heard == {words[kind]} and times == 200


def test_errstate_of_one_thread_is_not_that_of_another():
    def work(i):
        raised = 0
        with np.errstate(all="raise" if i % 2 else "ignore"):
            for _ in range(200):
                try:
                    xbcast.divide(np.ones(100), np.zeros(100))
                except FloatingPointError:
                    raised += 1
        return raised

    assert together(work) == [0, 200] * (N_THREADS // 2)


def test_errors_in_one_thread_do_not_reach_another():
    def work(i):
        for _ in range(300):
            if i % 2:
                with pytest.raises(xbcast.BroadcastError) as caught:
                    xbcast.add(np.ones((2, 3)), np.ones(3))
                assert caught.value.shapes == ((2, 3), (3,))
            else:
                assert xbcast.add(np.ones((2, 3)), np.ones(3), broadcast_dimensions=(1,)).shape == (2, 3)
        return True

    assert all(together(work))


def test_first_calls_at_the_same_moment():
    """Whatever is looked up on first use is looked up by all at once: in a new process."""
    import subprocess
    import sys
    import textwrap

    code = """
        import threading, numpy as np, xbcast
        chars = "?bBhHiIlLefdFD"
        barrier, bad = threading.Barrier(8), []
        def work():
            barrier.wait()
            for name in ("add", "multiply", "divide", "less", "power", "hypot", "maximum"):
                for c in chars:
                    for d in chars:
                        try:
                            want = getattr(np, name)(np.ones(2, c), np.ones(2, d)).dtype
                        except TypeError:
                            want = TypeError
                        try:
                            got = getattr(xbcast, name)(np.ones(2, c), np.ones(2, d)).dtype
                        except TypeError:
                            got = TypeError
                        if got != want:
                            bad.append((name, c, d))
        threads = [threading.Thread(target=work) for _ in range(8)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        print(bad[:5])
    """
    run = subprocess.run(
        [sys.executable, "-P", "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"


def test_shared_operands_and_separate_outs():
    x = grids.ordinary("float32", (300, 301))
    y = grids.ordinary("float32", (300,))
    want = x - y[:, None]
    outs = [np.zeros((300, 301), "f4") for _ in range(N_THREADS)]

    def work(i):
        for _ in range(20):
            xbcast.subtract(x, y, out=outs[i], broadcast_dimensions=(0,))
        return np.array_equal(outs[i], want)

    assert all(together(work))
