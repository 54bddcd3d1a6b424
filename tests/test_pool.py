"""Several threads for one call: the same results and warnings, forks, and limits."""

import ctypes
import os
import subprocess
import sys
import textwrap
import threading
import warnings

import numpy as np
import pytest

import oracle
import xbcast

OPS = ["add", "divide", "maximum", "less", "floor_divide", "remainder", "power", "arctan2", "hypot"]


@pytest.fixture(params=[2, 3, 7])
def threads(request):
    """So many threads, whatever the machine has."""
    xbcast._threads.use_machine_limit(request.param)
    with xbcast.num_threads(request.param):
        assert xbcast.get_num_threads() == request.param
        yield request.param
    xbcast._threads.use_machine_limit(None)


def outcome(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
    return oracle.bits(result), result.dtype, result.strides, sorted({str(w.message) for w in caught})


def same_alone(call):
    got = outcome(call)
    with xbcast.num_threads(1):
        want = outcome(call)
    assert np.array_equal(got[0], want[0])
    assert got[1:] == want[1:]
    return want


def special(dtype, n):
    """Ordinary values with special ones spread thinly, so that some chunks have none."""
    x = np.random.default_rng(5).integers(1, 100, n).astype(dtype)
    odd = [0, 1]
    if x.dtype.kind == "f":
        odd = [0.0, -0.0, np.inf, -np.inf, np.nan, np.finfo(dtype).max, np.finfo(dtype).tiny]
    x[n // 3 :: n // 5][: len(odd)] = odd[: len(x[n // 3 :: n // 5])]
    return x


@pytest.mark.parametrize("dtype", ["int32", "float16", "float32", "float64"])
@pytest.mark.parametrize("name", OPS)
def test_same_bits_and_warnings(name, dtype, threads):
    x = special(dtype, 120_001)
    op = getattr(xbcast, name)
    said = same_alone(lambda: op(x, x[::-1]))[3]
    if name == "floor_divide":
        assert said, "the operands are meant to give a warning"


@pytest.mark.parametrize(
    "shape1, shape2, dims",
    [
        ((40_000, 3), (3,), (1,)),
        ((40_000, 4), (40_000,), (0,)),
        ((300, 400), (400, 300), ((0, 1), (1, 0))),
        ((2, 3, 20_000), (2, 20_000), (0, 2)),
        ((5000, 3, 8), (5000, 8), (0, 2)),
        ((7, 1), (1, 90_000), None),
    ],
    ids=str,
)
def test_same_bits_in_every_nest(shape1, shape2, dims, threads):
    rng = np.random.default_rng(6)
    x1, x2 = rng.random(shape1), rng.random(shape2).astype("f4")
    if shape2 == (400, 300):
        x2, dims = x2.T, None
    mask = rng.random(xbcast.broadcast_shapes(x1.shape, x2.shape, dims)) < 0.5
    same_alone(lambda: xbcast.multiply(x1, x2, broadcast_dimensions=dims))
    same_alone(lambda: xbcast.multiply(x1, x2, broadcast_dimensions=dims, where=mask))


def test_rounding_mode_is_the_callers(threads):
    """A worker computes as the thread that asked for it."""
    libm = ctypes.CDLL(None)
    upward = {"x86_64": 0x800, "aarch64": 0x400000}.get(os.uname().machine)
    if upward is None:
        pytest.skip("the number of FE_UPWARD is not known here")
    x, y, out = np.full(500_000, 1.0), np.full(500_000, 2.0**-60), np.empty(500_000)
    assert libm.fesetround(upward) == 0
    try:
        xbcast.add(x, y, out=out)
    finally:
        libm.fesetround(0)
    assert (out == np.nextafter(1.0, 2.0)).all()


def test_negative_exponents_are_refused_before_anything_is_written(threads):
    exponents = np.ones(200_000, "i8")
    exponents[-1] = -1
    out = np.full(200_000, 7)
    with pytest.raises(ValueError, match="negative integer powers"):
        xbcast.power(np.full(200_000, 2), exponents, out=out)
    assert (out == 7).all()


def run_python(code):
    """Run a program that must neither hang nor fail; its output."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("fork", ["os.fork", "ctypes.CDLL(None).fork"], ids=["python", "c"])
def test_child_of_a_fork_is_single_threaded(fork):
    """The child has no workers; it must neither wait for them nor make any."""
    out = run_python(f"""
        import ctypes, os, warnings
        import numpy as np, xbcast
        warnings.simplefilter("ignore")
        xbcast._threads.use_machine_limit(2)
        xbcast.set_num_threads(2)
        x = np.ones(1_000_000)
        xbcast.add(x, x)
        child = {fork}()
        if child == 0:
            assert xbcast.get_num_threads() == 1
            assert (xbcast.add(x, x) == 2).all()
            xbcast.set_num_threads(2)
            assert xbcast.get_num_threads() == 1
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert (xbcast.add(x, x) == 2).all()
        print("ok", xbcast.get_num_threads())
    """)
    assert out.split() == ["ok", "2"]


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="needs the list of threads of Linux")
def test_user_threads_leave_no_threads_behind():
    """Only the main thread shares its work."""
    out = run_python("""
        import os, threading, time
        import numpy as np, xbcast
        xbcast._threads.use_machine_limit(2)
        xbcast.set_num_threads(2)
        x = np.ones(1_000_000)
        before = len(os.listdir("/proc/self/task"))
        def more(n):
            # a joined thread may take a moment to go
            end = time.monotonic() + 10
            while len(os.listdir("/proc/self/task")) > before + n and time.monotonic() < end:
                time.sleep(0.01)
            return len(os.listdir("/proc/self/task")) - before
        def work():
            for _ in range(5):
                xbcast.add(x, x)
        users = [threading.Thread(target=work) for _ in range(8)]
        [user.start() for user in users]
        [user.join() for user in users]
        print(more(0))
        xbcast.add(x, x)
        print(more(1))
    """)
    assert out.split() == ["0", "1"]


def test_other_threads_compute_alone(threads):
    x = np.ones(1_000_000)
    results = []
    user = threading.Thread(target=lambda: results.append(xbcast.add(x, x)))
    user.start()
    xbcast.add(x, x)
    user.join()
    assert (results[0] == 2).all()


def test_environment():
    out = run_python("""
        import os, subprocess, sys
        def ask(**env):
            code = "import xbcast; xbcast._threads.use_machine_limit(5); print(xbcast.get_num_threads())"
            return subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True,
                                  env={**os.environ, **env})
        print(ask().stdout, ask(XBCAST_NUM_THREADS="1").stdout)
        for wrong in ("0", "-1", "two", "1.5"):
            done = ask(XBCAST_NUM_THREADS=wrong)
            assert done.returncode and "XBCAST_NUM_THREADS" in done.stderr
    """)
    assert out.split() == ["1", "1"]


@pytest.mark.parametrize("n, error", [(0, ValueError), (-1, ValueError), (True, TypeError), (1.5, TypeError),
                                      ("2", TypeError), (None, TypeError)], ids=repr)  # fmt: skip
def test_number_of_threads_is_checked(n, error):
    for ask in (xbcast.set_num_threads, xbcast.num_threads):
        with pytest.raises(error, match=f"^{ask.__name__}: n must be"):
            ask(n)


def test_context_manager_nests_and_restores():
    xbcast._threads.use_machine_limit(5)
    try:
        with xbcast.num_threads(3) as outer:
            assert xbcast.get_num_threads() == 3
            with xbcast.num_threads(2), outer:
                assert xbcast.get_num_threads() == 3
            assert xbcast.get_num_threads() == 3
        assert xbcast.get_num_threads() == 1
    finally:
        xbcast._threads.use_machine_limit(None)


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="needs the times of threads of Linux")
def test_fewer_threads_after_more():
    """Workers of an earlier, wider call keep out of a narrower one."""
    out = run_python("""
        import os, time
        import numpy as np, xbcast
        def times():
            # nanoseconds on a processor, by thread
            found = {}
            for task in os.listdir("/proc/self/task"):
                with open(f"/proc/self/task/{task}/schedstat") as file:
                    found[task] = int(file.read().split()[0])
            return found
        xbcast._threads.use_machine_limit(7)
        x = np.full(2_000_000, 1.5)
        with xbcast.num_threads(7):
            xbcast.power(x, x)
        time.sleep(0.2)
        with xbcast.num_threads(2):
            before = times()
            for _ in range(10):
                xbcast.power(x, x)
            after = times()
        ran = [after[task] - before[task] for task in before]
        print(sum(time > max(ran) / 20 for time in ran))
    """)
    assert int(out) <= 2
