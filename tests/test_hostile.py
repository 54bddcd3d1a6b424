"""Arguments that run code of their own while a call reads them: nothing may crash, and no
message may grow without bound.

What could crash runs in a process of its own, which must live to its end; whether such a call
is refused or carried out is not laid down.
"""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import xbcast

PRELUDE = """
    import contextlib, sys, threading
    import numpy as np, xbcast

    N = 200000

    class Index:
        '''An entry of a sequence of dimensions that acts when it is read.'''
        def __init__(self, value, action):
            self.value, self.action = value, action
        def __index__(self):
            self.action()
            return self.value

    class Convertible:
        '''An operand or mask that acts when it becomes an array.'''
        def __init__(self, array, action):
            self.array, self.action = array, action
        def __array__(self, dtype=None, copy=None):
            self.action()
            return self.array if dtype is None else self.array.astype(dtype)

    class Word(str):
        '''A keyword's value that acts when it is compared.'''
        def __new__(cls, text, action):
            self = super().__new__(cls, text)
            self.action = action
            return self
        def __eq__(self, other):
            self.action()
            return str(self) == other
        __hash__ = str.__hash__

    def attempt(call):
        with contextlib.suppress(TypeError, ValueError, BufferError, OverflowError):
            return call()

    def shrink(array):
        def action():
            array.resize(1, refcheck=False)
        return action
"""


def survives(code):
    whole = textwrap.dedent(PRELUDE) + textwrap.dedent(code) + "\nprint('alive')\n"
    # the debugging allocator fills memory that is given back, so that stale reads show
    run = subprocess.run([sys.executable, "-P", "-W", "ignore", "-c", whole], capture_output=True,
                         text=True, env={"PYTHONMALLOC": "debug", "PATH": ""}, timeout=120)  # fmt: skip
    assert run.returncode == 0, (run.returncode, run.stderr[-3000:])
    assert run.stdout.splitlines()[-1] == "alive"


ACTORS = {
    "broadcast_dimensions": "broadcast_dimensions=(Index(0, act),)",
    "broadcast_dimensions_pair": "broadcast_dimensions=((Index(0, act),), (0,))",
    "degenerate_dimensions": "degenerate_dimensions=(Index(0, act),)",
    "casting": "casting=Word('same_kind', act)",
    "order": "order=Word('K', act)",
    "dtype": "dtype=Word('f8', act)",
    "signature": "signature=Word('dd->d', act)",
    "where": "where=Convertible(np.ones(N, bool), act)",
}
# a mask that acts is no mask that can be acted upon
MEETINGS = [(actor, victim) for actor in ACTORS for victim in ("x1", "x2", "out", "mask")
            if (actor, victim) != ("where", "mask")]  # fmt: skip


@pytest.mark.parametrize("actor, victim", MEETINGS, ids=["-".join(meeting) for meeting in MEETINGS])
def test_an_argument_that_shrinks_an_array(actor, victim):
    actor = ACTORS[actor]
    survives(f"""
        for _ in range(3):
            arrays = dict(x1=np.ones(N), x2=np.ones(N), out=np.ones(N), mask=np.ones(N, bool))
            act = shrink(arrays[{victim!r}])
            keywords = dict({actor})
            keywords.setdefault("where", arrays["mask"])
            attempt(lambda: xbcast.add(arrays["x1"], arrays["x2"], out=arrays["out"], **keywords))
            arrays = dict(x1=np.ones(N), x2=np.ones(N), out=np.ones(N), mask=np.ones(N, bool))
            act = shrink(arrays[{victim!r}])
            attempt(lambda: xbcast.add(arrays["x1"], arrays["x2"], **dict({actor})))
    """)


@pytest.mark.parametrize("victim", ["other", "out", "mask"])
@pytest.mark.parametrize("side", [0, 1], ids=["x1", "x2"])
def test_an_operand_that_shrinks_an_array(side, victim):
    survives(f"""
        for _ in range(3):
            arrays = dict(other=np.ones(N), out=np.ones(N), mask=np.ones(N, bool))
            operand = Convertible(np.ones(N), shrink(arrays[{victim!r}]))
            pair = (operand, arrays["other"]) if {side} == 0 else (arrays["other"], operand)
            attempt(lambda: xbcast.add(*pair, out=arrays["out"], where=arrays["mask"]))
    """)


def test_an_argument_that_changes_what_was_checked():
    survives("""
        out = np.zeros(N)
        def make_read_only(): out.flags.writeable = False
        attempt(lambda: xbcast.add(np.ones(N), np.ones(N), out=out,
                                   broadcast_dimensions=(Index(0, make_read_only),)))
        assert out.flags.writeable or not out.any(), "a read-only array was written"
        out = np.zeros(N)
        def narrow(): out.dtype = "f4"
        attempt(lambda: xbcast.add(np.ones(N), np.ones(N), out=out,
                                   broadcast_dimensions=(Index(0, narrow),)))
        out = np.zeros((N, 2))
        def reshape(): out.shape = (2, N)
        attempt(lambda: xbcast.add(np.ones((N, 2)), np.ones((N, 2)), out=out,
                                   broadcast_dimensions=(0, Index(1, reshape))))
    """)


def test_a_list_of_dimensions_that_empties_itself():
    survives("""
        for form in (lambda dims: dims, lambda dims: (dims, dims)):
            dims = []
            dims += [Index(0, dims.clear), Index(1, dims.clear), 2]
            x = np.ones((2, 3, 4))
            attempt(lambda: xbcast.add(x, x, broadcast_dimensions=form(dims)))
            dims += [Index(0, dims.clear), Index(1, dims.clear), 2]
            attempt(lambda: xbcast.add(x, x, degenerate_dimensions=dims))
            attempt(lambda: xbcast.broadcast_shapes((2, 3), (3,), form(dims)))
    """)


def test_a_callback_that_calls_again():
    """Warnings, indices and conversions may use the package themselves."""
    survives("""
        def again():
            assert xbcast.add(np.ones(50, "f2"), np.ones(50, "f2")).sum() == 100
        x = np.ones((2, 3), "f2")
        assert xbcast.add(x, np.ones(3, "f2"), broadcast_dimensions=(Index(1, again),)).sum() == 12
        assert xbcast.add(x, Convertible(x, again)).sum() == 12
        with np.errstate(all="call", call=lambda message, flag: again()):
            assert np.isinf(xbcast.divide(x, np.zeros((2, 3), "f2"))).all()
    """)


@pytest.mark.parametrize("size", [32768, 65536, 262144])
def test_small_thread_stacks(size):
    """Threads with little stack, as some programs make them: NumPy works in these."""
    survives(f"""
        threading.stack_size({size})
        done = []
        def work():
            x = np.ones((40, 60), "f2")
            for operands, keywords in (
                ((x, x), {{}}), ((x, x[0]), dict(broadcast_dimensions=(1,))), ((x, x), dict(where=x > 0)),
                ((np.ones((40, 60), ">f8"), x.T.copy().T), {{}}),
                ((np.ones((64, 64)), np.ones((64, 64)).T), {{}}),
                ((np.ones((1,) * 64), np.ones((1,) * 64)), {{}}),
            ):
                assert (xbcast.add(*operands, **keywords) == 2).all()
                xbcast.power(*operands, **keywords)
            done.append(True)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert done
    """)


@pytest.mark.parametrize("size", [65536, 131072, 262144, 524288])
def test_patterns_on_small_thread_stacks(size):
    """Questions about patterns that go deep are answered or stay undecided."""
    survives(f"""
        import random
        threading.stack_size({size})
        strides = (591, 153839476, 300, 325670464894, 92293216447, 318047890)
        pairs = [tuple(xbcast.Pattern((4, 5, 5, 4, 4, 2), strides, offset, 8) for offset in (6, 306))]
        rng = random.Random(0)
        def some(n):
            sizes, strides = [rng.randint(1, 5) for _ in range(n)], [
                rng.randint(-1000, 1000) * rng.choice((1, 1, 7, 1000)) for _ in range(n)]
            return xbcast.Pattern(sizes, strides, rng.randint(0, 500), rng.choice((1, 4, 8)))
        pairs += [(some(rng.randint(1, 30)), some(rng.randint(1, 30))) for _ in range(60)]
        done = []
        def work():
            for x, y in pairs:
                for name in ("intersection", "difference", "union", "issubset", "is_adjacent"):
                    with contextlib.suppress(xbcast.UndecidedError, ValueError):
                        getattr(x, name)(y, max_work=20000)
            done.append(True)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert done
    """)


# ---- sequences that are none, and messages ----------------------------------


def test_dimensions_that_can_be_read_once():
    """An iterator is taken for what it gives, or refused; never half read."""
    for entries in ([1], [7], [0], []):
        for keyword in ("broadcast_dimensions", "degenerate_dimensions"):
            once = iter(entries)
            try:
                result = xbcast.add(np.ones((2, 3)), np.ones((2, 3))[:1], **{keyword: once})
            except (TypeError, xbcast.BroadcastError) as error:
                result = str(error)
            assert isinstance(result, np.ndarray) or result.startswith("add: ")


@pytest.mark.parametrize("keyword", ["broadcast_dimensions", "degenerate_dimensions"])
@pytest.mark.parametrize("value", [
    range(10**6), (10**400,), (0,) * 10**5, ((0,) * 10**5, (0,)), ("x" * 10**6,), "x" * 10**6,
], ids=["range", "huge-int", "long", "long-pair", "long-entry", "str"])  # fmt: skip
def test_messages_have_bounds(keyword, value):
    for call in (lambda: xbcast.add(np.ones((2, 3)), np.ones(3), **{keyword: value}),
                 lambda: xbcast.broadcast_shapes((2, 3), (3,), **{keyword: value})):  # fmt: skip
        with pytest.raises((TypeError, ValueError)) as caught:
            call()
        assert len(str(caught.value)) < 2000


@pytest.mark.parametrize("keyword", ["broadcast_dimensions", "degenerate_dimensions"])
def test_a_sequence_without_end_is_not_read_to_its_end(keyword):
    """No operand has more than 64 dimensions, so a few entries more are enough to refuse."""

    class Endless(tuple):
        __slots__ = ()

        def __iter__(self):
            yield from range(1000)
            raise AssertionError("1000 entries were read")

        def __len__(self):
            return 2**40

    for value in (Endless(), range(2**40)):
        with pytest.raises((TypeError, ValueError), match="^add: "):
            xbcast.add(np.ones((2, 3)), np.ones(3), **{keyword: value})


def test_an_op_cannot_be_made_around_the_package():
    with pytest.raises(TypeError):
        xbcast.ufunc.__new__(xbcast.ufunc)
    with pytest.raises(TypeError):
        object.__new__(xbcast.ufunc)
