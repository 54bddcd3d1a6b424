"""What it costs to plan: calls of few elements along one axis or several, into `out`.

The elements take less time than what comes before them: shape rules, the overlap of
`out` with the operands, and the plan. bench_pattern.py times the reduction of a plan's
axes by itself. `asv continuous -b bench_plan COMMIT COMMIT` compares any two commits;
on a machine that is not quiet, by the ratio to NumPy.
"""

from timeit import Timer
from typing import NamedTuple

import numpy as np

import xbcast

from .side_by_side import SideBySide, choose

SIZES = (2, 3, 2, 3, 2, 2)


class Call(NamedTuple):
    """`add` on arrays as they are."""

    x1: np.ndarray
    x2: np.ndarray
    out: np.ndarray
    broadcast_dimensions: tuple | None = None

    def timers(self):
        names = self._asdict()
        dims = "" if self.broadcast_dimensions is None else ", broadcast_dimensions=broadcast_dimensions"
        return {
            "xbcast": Timer(f"add(x1, x2, out=out{dims})", globals={**names, "add": xbcast.add}),
            "numpy": Timer("add(x1, x2, out=out)", globals={**names, "add": np.add}),
        }


def _padded(shape):
    """Zeros with a gap along every axis, so that no two of them merge."""
    return np.zeros([n + 1 for n in shape])[tuple([slice(n) for n in shape])]


def _in_place(shape):
    x = _padded(shape)
    return Call(x, np.ones(shape), x)


def _columns(shape):
    both = np.ones((*shape, 2))
    return Call(both[..., 0], both[..., 0], both[..., 1])


# name -> function (shape) -> Call
FORMS = {
    "merges": lambda shape: Call(np.ones(shape), np.ones(shape), np.ones(shape)),
    "sorts": lambda shape: Call(_padded(shape).T, _padded(shape).T[::-1], _padded(shape).T),
    "stretches": lambda shape: Call(_padded(shape), np.ones(shape[-1:]), np.ones(shape), (len(shape) - 1,)),
    "in_place": _in_place,
    "columns": _columns,
}


class Plan(SideBySide):
    """A thousand calls in one measurement."""

    param_names = ["axes", "form"]
    params = [choose([1, 2, 3, 4, 6], [2, 6]), list(FORMS)]
    repetitions = 1000

    def case(self, axes, form):
        return FORMS[form](SIZES[:axes])
