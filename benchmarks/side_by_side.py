"""What all timing benchmarks share: xbcast and NumPy on the same operands, three ways.

`XBCAST_BENCH=quick` in the environment asks for a choice of parameters that is done
in two or three minutes; `choose` takes it.
"""

import os
from abc import ABC, abstractmethod

import numpy as np

from xbcast._bench import Array, Case, interleave
from xbcast._optable import OPS

# Powers of these fit every dtype, and no op warns.
VALUES = {"low": 1, "high": 5}


def choose(full, quick):
    """One of two lists of parameters."""
    return list(quick if os.environ.get("XBCAST_BENCH") == "quick" else full)


# Ops that have a counterpart to stand beside.
OP_NAMES = choose([op.name for op in OPS if op.numpy], ["add", "floor_divide", "less"])
DTYPES = choose(
    ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
     "float16", "float32", "float64", "complex64", "complex128"],
    ["int32", "float16", "float32"],
)  # fmt: skip


def _line(n, dtype, **how):
    return Array((n,), dtype, **VALUES, **how)


def _square(n, dtype, **how):
    side = int(n**0.5)
    return Array((side, side), dtype, **VALUES, **how)


def _number(dtype):
    return Array((), dtype, **VALUES)


def _edge(n, dtype):
    return _line(int(n**0.5), dtype)


# name -> function (elements of the result, dtype) -> x1, x2, broadcast_dimensions
LAYOUTS = {
    "contiguous": lambda n, t: (_line(n, t), _line(n, t), None),
    "scalar_left": lambda n, t: (_number(t), _line(n, t), None),
    "scalar_right": lambda n, t: (_line(n, t), _number(t), None),
    "row": lambda n, t: (_square(n, t), _edge(n, t), (1,)),
    "column": lambda n, t: (_square(n, t), _edge(n, t), (0,)),
    "short_inner": lambda n, t: (Array((n // 3, 3), t, **VALUES), _line(3, t), (1,)),
    "short_stretched": lambda n, t: (Array((n // 4, 4), t, **VALUES), _line(n // 4, t), (0,)),
    "middle": lambda n, t: (
        Array((n // 24, 3, 8), t, **VALUES),
        Array((n // 24, 8), t, **VALUES),
        (0, 2),
    ),
    "channels": lambda n, t: (Array((n // 784, 16, 49), t, **VALUES), _line(16, t), (1,)),
    "outer": lambda n, t: (_edge(n, t), _edge(n, t), ((0,), (1,))),
    "transposed": lambda n, t: (_square(n, t), _square(n, t, view="transposed"), None),
    "reversed": lambda n, t: (_square(n, t, view="reversed"), _square(n, t), None),
    "stepped": lambda n, t: (_line(n, t, view="stepped"), _line(n, t, view="stepped"), None),
    "third": lambda n, t: (_line(n, t, view="third"), _line(n, t, view="third"), None),
    "swapped": lambda n, t: (
        _line(n, np.dtype(t).newbyteorder("S").str),
        _line(n, t),
        None,
    ),
    "converted": lambda n, t: (_line(n, "int8"), _line(n, t), None),
}


def second_dtype(op, dtype1, dtype2):
    """`dtype2`, or what the op takes there beside `dtype1` (ldexp an integer); None if it takes neither."""
    for second in (dtype2, "int32"):
        try:
            getattr(np, op).resolve_dtypes((np.dtype(dtype1), np.dtype(second), None))
        except TypeError:
            continue
        return second
    return None


def make_case(op, dtype, layout, n, **how):
    """The Case of these parameters; NotImplementedError, which asv skips, if the op has none."""
    x1, x2, dims = LAYOUTS[layout](n, dtype)
    second = second_dtype(op, x1.dtype, x2.dtype)
    if second is None:
        raise NotImplementedError
    return Case(op, x1, x2._replace(dtype=second), dims, **how)


class SideBySide(ABC):  # asv leaves abstract classes alone
    """A subclass gives `params`, `param_names` and `case`."""

    # Executions in one measurement: work of nanoseconds is repeated.
    repetitions = 1

    rounds = 1
    repeat = (3, 10, 0.1)
    warmup_time = 0.01
    sample_time = 0.005

    @abstractmethod
    def case(self, *params):
        """The Case for these parameters."""

    def setup(self, *params):
        self.timers = self.case(*params).timers()
        for timer in self.timers.values():
            timer.timeit(1)

    def time_xbcast(self, *params):
        self.timers["xbcast"].timeit(self.repetitions)

    def time_numpy(self, *params):
        self.timers["numpy"].timeit(self.repetitions)

    def track_ratio(self, *params):
        times = interleave(self.timers, 0.05)
        return round(times["xbcast"] / times["numpy"], 3)

    track_ratio.unit = "of NumPy's time"
