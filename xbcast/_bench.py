"""Times of xbcast beside NumPy, on the machine it runs on.

A `Case` says what is computed; its statements are text, so that a call is timed
without a Python function around it. `interleave` takes the times. `bench` prints
the short table; `benchmarks/` measures longer tables with the same parts.
"""

import timeit
from time import perf_counter
from typing import NamedTuple

import numpy as np

import xbcast

# Layouts of an operand, as views of a contiguous array.
VIEWS = {
    "": lambda x: x,
    "transposed": lambda x: x.T,
    "reversed": lambda x: x[..., ::-1],
    "stepped": lambda x: x[..., ::2],
    "third": lambda x: x[..., ::3],
}


class Array(NamedTuple):
    """An operand to be made: shape and dtype after `view`, values in [low, high)."""

    shape: tuple
    dtype: str = "float64"
    view: str = ""
    low: float = 1
    high: float = 100

    def __str__(self):
        return f"{self.shape} {self.view}".rstrip()

    def base(self, seed):
        """The contiguous array that `make` is a view of; its values depend on `seed`."""
        rng = np.random.default_rng(seed)
        shape = self.shape
        if self.view == "transposed":
            shape = shape[::-1]
        elif self.view in ("stepped", "third"):
            shape = (*shape[:-1], {"stepped": 2, "third": 3}[self.view] * shape[-1])
        dtype = np.dtype(self.dtype)
        if dtype.kind == "b":
            return rng.integers(0, 2, shape).astype(dtype)
        if dtype.kind in "iu":
            return rng.integers(self.low, self.high, shape).astype(dtype)
        array = rng.uniform(self.low, self.high, shape).astype(dtype)
        if dtype.kind == "c":
            array += (1j * rng.uniform(self.low, self.high, shape)).astype(dtype)
        return array

    def make(self, seed):
        return VIEWS[self.view](self.base(seed))


class Case(NamedTuple):
    """One call to be timed: `op(x1, x2)`, an operand being an Array or a number."""

    op: str
    x1: object
    x2: object
    broadcast_dimensions: tuple | None = None
    # A call takes the output from the allocator, larger work writes into the same
    # output again and again: then it is the loop that is timed, not page faults.
    new_output: bool = False

    def __str__(self):
        dtypes = [x.dtype for x in (self.x1, self.x2) if isinstance(x, Array)]
        text = f"{self.op} {self.x1}, {self.x2} {' and '.join(dict.fromkeys(dtypes))}"
        if self.broadcast_dimensions is not None:
            text += " along " + ", ".join(map(str, self.broadcast_dimensions))
        if self.new_output and np.prod(self.result_shape()) > 1000:
            text += ", new output"
        return text

    def placement(self):
        """For each operand the dimensions of the result that it has."""
        ranks = [len(getattr(x, "shape", ())) for x in (self.x1, self.x2)]
        dims = self.broadcast_dimensions
        if dims is None:
            return [range(rank) for rank in ranks]
        if not isinstance(dims[0], int):
            return list(dims)
        return [dims if rank < max(ranks) else range(rank) for rank in ranks]

    def result_shape(self):
        placement = self.placement()
        rank = 1 + max((d for dims in placement for d in dims), default=-1)
        shape = [1] * rank
        for x, dims in zip((self.x1, self.x2), placement, strict=True):
            for size, d in zip(getattr(x, "shape", ()), dims, strict=True):
                shape[d] = size if shape[d] == 1 else shape[d]
        return tuple(shape)

    def operands(self):
        """Name -> value for the statements."""
        made = {}
        for seed, (name, x) in enumerate((("a", self.x1), ("b", self.x2))):
            made[name] = x.make(seed) if isinstance(x, Array) else x
        if not self.new_output:
            dtypes = [getattr(x, "dtype", type(x)) for x in made.values()]
            dtype = getattr(np, self.op).resolve_dtypes((*dtypes, None))[-1]
            made["out"] = np.zeros(self.result_shape(), dtype)
        return made

    def timers(self):
        """What `interleave` takes: the call in NumPy and in xbcast, on the same operands."""
        operands = self.operands()
        calls = ("numpy", np, self.numpy_statement()), ("xbcast", xbcast, self.statement())
        return {
            name: timeit.Timer(text, globals=operands | {"op": getattr(package, self.op)})
            for name, package, text in calls
        }

    def statement(self):
        """The call in xbcast's words."""
        dims = self.broadcast_dimensions
        return self._call("a", "b", "" if dims is None else f", broadcast_dimensions={dims}")

    def numpy_words(self):
        """Each operand in NumPy's words: indexed with None where the result has more."""
        rank = len(self.result_shape())
        words = []
        for word, dims in zip("ab", self.placement(), strict=True):
            index = [":" if d in dims else "None" for d in range(rank)]
            words.append(f"{word}[{', '.join(index)}]" if 0 < len(dims) < rank else word)
        return tuple(words)

    def numpy_statement(self):
        """The same call in NumPy's words."""
        return self._call(*self.numpy_words(), "")

    def _call(self, a, b, keywords):
        return f"op({a}, {b}{keywords}{'' if self.new_output else ', out=out'})"


class Row(NamedTuple):
    """A line of the table: what was computed, and seconds per call."""

    case: Case
    numpy: float
    xbcast: float

    @property
    def ratio(self):
        return self.xbcast / self.numpy


def interleave(timers, seconds):
    """Time several statements in turns and give the median of each.

    Taking turns makes what disturbs the machine meet all of them alike; every
    other round goes backwards, so that none always finds the caches of the same
    neighbour. A turn takes a twentieth of the time, but at most 20 ms: memory may be
    slow for milliseconds after something else was done.

    Parameters
    ----------
    timers : dict of str to timeit.Timer
        What to time.
    seconds : float
        How long to go on, all timers together; five rounds at the least.

    Returns
    -------
    dict of str to float
        Median of the seconds that one execution took.
    """
    turns = []
    turn = min(max(seconds / 20, 5e-4), 2e-2)
    for name, timer in timers.items():
        timer.timeit(1)  # touches the memory, fills the tables
        number, once = 1, timer.timeit(1)
        while number * once < 0.8 * turn and number < 10**6:
            number = max(number + 1, min(10 * number, int(turn / max(once, 1e-9))))
            once = timer.timeit(number) / number
        turns.append((name, timer, number))
    times = {name: [] for name in timers}
    end = perf_counter() + seconds
    while perf_counter() < end or len(times[name]) < 5:
        for name, timer, number in turns:
            times[name].append(timer.timeit(number) / number)
        turns.reverse()
    return {name: float(np.median(values)) for name, values in times.items()}


def measure(case, seconds):
    """Time one case with NumPy and with xbcast, interleaved, and give a Row."""
    return Row(case, **interleave(case.timers(), seconds))


def geometric_mean(values):
    """The mean for ratios."""
    return float(np.exp(np.mean(np.log(list(values)))))


def format_time(seconds):
    """Seconds as text with three digits and a unit."""
    for factor, unit in ((1e9, "ns"), (1e6, "us")):
        if seconds * factor < 999.5:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e3:.3g} ms"


# One case for each kind of work: calls, plain loops, broadcasting, layouts, mixed
# dtypes, and ops that cost more than their memory.
CASES = (
    Case("add", Array((3,)), Array((3,)), new_output=True),
    Case("add", Array((2, 3)), Array((3,)), (1,), new_output=True),
    Case("multiply", Array((2, 3)), 2.0, new_output=True),
    Case("add", Array((10**5,)), Array((10**5,))),
    Case("add", Array((10**6,)), Array((10**6,))),
    Case("add", Array((1000, 1000)), Array((1000,)), (1,)),
    Case("add", Array((1000, 1000)), Array((1000,)), (0,)),
    Case("add", Array((10**6, 3), "float32"), Array((3,), "float32"), (1,)),
    Case("multiply", Array((10**6, 4), "float32"), Array((10**6,), "float32"), (0,)),
    Case("add", Array((32, 64, 28, 28), "float32"), Array((64,), "float32"), (1,)),
    Case("add", Array((2000, 1), "float32"), Array((1, 2000), "float32")),
    Case("add", Array((2000, 2000), "float32"), Array((2000, 2000), "float32", "transposed")),
    Case("add", Array((1000, 1000), view="reversed"), Array((1000, 1000))),
    Case("add", Array((10**6,), "int32"), Array((10**6,))),
    Case("multiply", Array((1000, 1000), "uint8"), Array((1000,), "float32"), (1,)),
    Case("less", Array((10**6,), "float32"), Array((10**6,), "float32")),
    Case("floor_divide", Array((10**6,), "int32", low=-(10**6), high=10**6),
         Array((10**6,), "int32")),
    Case("add", Array((10**6,), "float16"), Array((10**6,), "float16")),
    Case("power", Array((10**6,)), Array((10**6,), low=-3, high=3)),
)  # fmt: skip


def bench(seconds=0.2):
    """Print how long some calls take with NumPy and with xbcast on this machine.

    Small and large operands, broadcasting along different dimensions, transposed
    and mixed ones. The two take turns and the median counts. xbcast uses as many
    threads as it has been given.

    Parameters
    ----------
    seconds : float, optional
        How long to measure each row. The whole table takes about 25 times as long.

    Returns
    -------
    list of Row
        One for each line: ``case`` (its text names the work), ``numpy`` and
        ``xbcast`` (seconds per call), and ``ratio`` (below 1: xbcast is faster).

    Examples
    --------
    >>> rows = xbcast.bench(seconds=0.01)  # doctest: +ELLIPSIS
    work ...
    >>> all(row.ratio > 0 for row in rows)
    True
    """
    width = max(len(str(case)) for case in CASES)
    print(f"{'work':{width}}  {'NumPy':>8}  {'xbcast':>8}  ratio")
    rows = []
    for case in CASES:
        row = measure(case, seconds)
        times = f"{format_time(row.numpy):>8}  {format_time(row.xbcast):>8}"
        print(f"{case!s:{width}}  {times}  {row.ratio:5.2f}", flush=True)
        rows.append(row)
    print(f"{'geometric mean of the ratios':{width}}  {'':18}  "
          f"{geometric_mean(row.ratio for row in rows):5.2f}")  # fmt: skip
    return rows
