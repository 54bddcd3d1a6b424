"""Patterns: reducing a tuple as the planner does, and disjointness beside NumPy's range test."""

from timeit import Timer

import numpy as np

from xbcast import Pattern, PatternTuple
from xbcast._bench import interleave
from xbcast._pattern import _reduce_repeatedly

SHAPE = (4, 5, 6, 3, 2, 7)


def _tuple(axes, form):
    """Output and two operands of some axes."""
    out = Pattern(SHAPE[:axes], itemsize=8)
    if form == "merges":
        return PatternTuple(out, out, out)
    padded = Pattern([n + 1 for n in SHAPE[:axes]], itemsize=8).slice(*[slice(0, n) for n in SHAPE[:axes]])
    if form == "sorts":
        return PatternTuple(padded.transpose(), padded.transpose(), padded.flip().transpose())
    row = Pattern(SHAPE[axes - 1 : axes], itemsize=8)
    return PatternTuple(out, padded, row)


class Reduce:
    """A thousand reductions, in C. The bound for 6 axes is 1 microsecond each."""

    param_names = ["axes", "form"]
    params = [[1, 2, 3, 6], ["merges", "sorts", "stretches"]]
    repetitions = 1000
    warmup_time = 0.01
    sample_time = 0.005

    def setup(self, axes, form):
        self.patterns = _tuple(axes, form)

    def time_reduce(self, axes, form):
        _reduce_repeatedly(self.patterns, self.repetitions)


# name -> function (array) -> two views
VIEWS = {
    "slices": lambda a: (a[:, :3], a[:, 5:]),
    "apart": lambda a: (a[:50], a[50:]),
    "interleaved": lambda a: (a[:, ::2], a[:, 1::2]),
    "reversed": lambda a: (a, a[::-1]),
    "transposed": lambda a: (a, a.T),
    "blocks": lambda a: (a[::3, 2:4], a[1::3, 3:5]),
}


class Disjoint:
    """A thousand questions, asked of patterns and of the arrays themselves."""

    param_names = ["views"]
    params = [list(VIEWS)]
    repetitions = range(1000)
    warmup_time = 0.01
    sample_time = 0.005

    def setup(self, views):
        self.x, self.y = VIEWS[views](np.zeros((100, 10)))
        self.p, self.q = Pattern.of(self.x), Pattern.of(self.y)

    def time_xbcast(self, views):
        p, q = self.p, self.q
        for _ in self.repetitions:
            p.isdisjoint(q)

    def time_xbcast_of_arrays(self, views):
        x, y, of = self.x, self.y, Pattern.of
        for _ in self.repetitions:
            of(x).isdisjoint(of(y))

    def time_numpy_ranges(self, views):
        x, y, may_share = self.x, self.y, np.may_share_memory
        for _ in self.repetitions:
            may_share(x, y)

    def time_numpy_exact(self, views):
        x, y, share = self.x, self.y, np.shares_memory
        for _ in self.repetitions:
            share(x, y)

    def track_ratio(self, views):
        """Of arrays; the bound is 1."""
        names = {"x": self.x, "y": self.y, "of": Pattern.of, "may_share": np.may_share_memory}
        times = interleave(
            {
                "xbcast": Timer("of(x).isdisjoint(of(y))", globals=names),
                "numpy": Timer("may_share(x, y)", globals=names),
            },
            0.05,
        )
        return round(times["xbcast"] / times["numpy"], 3)

    track_ratio.unit = "of may_share_memory's time"


class Algebra:
    """Questions whose answers are patterns, on parts of one large array."""

    param_names = ["question"]
    params = [["intersection", "difference", "issubset", "same_set", "is_adjacent", "is_linear_in"]]
    warmup_time = 0.01
    sample_time = 0.005

    def setup(self, question):
        rows = Pattern((10**6, 10**4), itemsize=8)
        self.question = getattr(rows.slice(..., slice(0, None, 2)), question)
        self.other = rows.slice(slice(10, None), slice(0, 5000))

    def time_question(self, question):
        self.question(self.other)
