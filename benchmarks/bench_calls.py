"""What a call costs: results of 0 to 5000 elements, allocated each time."""

import numpy as np

import xbcast
from xbcast._bench import Array, Case

from .side_by_side import VALUES, SideBySide, choose

# name -> function (size, dtype) -> x1, x2, broadcast_dimensions
FORMS = {
    "same": lambda n, t: (Array((n,), t, **VALUES), Array((n,), t, **VALUES), None),
    "number": lambda n, t: (Array((n,), t, **VALUES), 2, None),
    "row": lambda n, t: (Array((2, n), t, **VALUES), Array((n,), t, **VALUES), (1,)),
    "column": lambda n, t: (Array((n, 2), t, **VALUES), Array((n,), t, **VALUES), (0,)),
    "outer": lambda n, t: (Array((n,), t, **VALUES), Array((3,), t, **VALUES), ((0,), (1,))),
}


class Calls(SideBySide):
    """A thousand calls in one measurement."""

    param_names = ["op", "dtype", "form", "size"]
    params = [
        choose(["add", "floor_divide", "power"], ["add"]),
        choose(["int32", "float16", "float64"], ["float64"]),
        list(FORMS),
        choose([0, 1, 3, 10, 100, 1000, 5000], [0, 3, 100]),
    ]
    repetitions = 1000

    def case(self, op, dtype, form, size):
        return Case(op, *FORMS[form](size, dtype), new_output=True)


class Rows(SideBySide):
    """A hundred calls on a few rows, each with the same second operand."""

    param_names = ["dtype", "rows", "length"]
    params = [
        choose(["int8", "float32", "float64"], ["float64"]),
        choose([16, 60, 120], [60]),
        choose([3, 16, 64], [3, 64]),
    ]
    repetitions = 100

    def case(self, dtype, rows, length):
        return Case("add", Array((rows, length), dtype, **VALUES), Array((length,), dtype, **VALUES), (1,))


class Handed(SideBySide):
    """A thousand calls that NumPy's ufunc takes, whose operands are of one shape."""

    param_names = ["dtype"]
    params = [["longdouble", "object"]]
    repetitions = 1000

    def case(self, dtype):
        x = Array((3,), dtype, **VALUES)
        return Case("add", x, x, new_output=True)


class Lists:
    """Operands that have to be made arrays of."""

    param_names = ["length"]
    params = [[2, 100]]

    def setup(self, length):
        self.x = [1.0] * length

    def time_xbcast(self, length):
        xbcast.add(self.x, self.x)

    def time_numpy(self, length):
        np.add(self.x, self.x)


class Scalars(SideBySide):
    """A thousand calls on operands of rank 0."""

    param_names = ["op", "dtype"]
    params = [choose(["add", "less", "power"], ["add"]), ["int64", "float32", "float64"]]
    repetitions = 1000

    def case(self, op, dtype):
        x = Array((), dtype, **VALUES)
        return Case(op, x, x, new_output=True)


class OutOfRange(SideBySide):
    """A comparison with an int that the other operand's dtype cannot hold."""

    param_names = ["size"]
    params = [choose([3, 1000, 10**6], [3, 10**6])]

    def case(self, size):
        return Case("less", Array((size,), "uint8", **VALUES), 300, None)


class Asked:
    """Calls that ask for a dtype or for a casting."""

    param_names = ["asked"]
    params = [["dtype", "casting"]]
    ASKED = {"dtype": {"dtype": np.float64}, "casting": {"casting": "safe"}}

    def setup(self, asked):
        self.x = np.ones(3, np.float32)
        self.keywords = self.ASKED[asked]

    def time_xbcast(self, asked):
        xbcast.add(self.x, self.x, **self.keywords)

    def time_numpy(self, asked):
        np.add(self.x, self.x, **self.keywords)
