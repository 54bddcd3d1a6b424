"""Every layout, with operands that stay in cache and with operands that do not."""

import numpy as np

import xbcast
from xbcast._bench import Array, Case

from .side_by_side import DTYPES, LAYOUTS, VALUES, SideBySide, choose, make_case

# Their loops are those of other dtypes, but for complex64, which Gaps has.
ALIKE = ("uint16", "uint32", "uint64", "complex64")


class Cache(SideBySide):
    """A hundred thousand elements."""

    param_names = ["op", "dtype", "layout"]
    params = [
        choose(["add", "less"], ["add"]),
        choose([dtype for dtype in DTYPES if dtype not in ALIKE], ["float32"]),
        list(LAYOUTS),
    ]

    def case(self, op, dtype, layout):
        return make_case(op, dtype, layout, 10**5)


class Memory(SideBySide):
    """Ten million elements, written into the same output again and again."""

    param_names = ["op", "dtype", "layout"]
    params = [
        choose(["add"], ["add"]),
        choose(["uint8", "int32", "float16", "float32", "float64"], ["float32"]),
        choose(LAYOUTS, ["contiguous", "row", "short_inner", "transposed"]),
    ]
    repeat = (3, 5, 0.3)

    def case(self, op, dtype, layout):
        return make_case(op, dtype, layout, choose([10**7], [10**6])[0])


class Gaps(SideBySide):
    """Both operands with gaps: NumPy's loops take them so, and so do ours of 8 bytes beyond every
    second."""

    param_names = ["op", "dtype", "layout", "n"]
    params = [
        choose(["add", "divide", "maximum", "ldexp", "hypot", "nextafter"], ["ldexp", "maximum"]),
        choose(["int64", "float32", "float64", "complex64", "complex128"], ["float64"]),
        ["stepped", "third"],
        choose([10**4, 10**5], [10**4]),
    ]

    def case(self, op, dtype, layout, n):
        return make_case(op, dtype, layout, n)


class Transposed(SideBySide):
    """A transposed operand: rows in the L2 cache, in memory, and multiples of a page apart."""

    param_names = ["dtype", "size"]
    params = [
        choose(["int8", "int16", "float32", "float64", "complex128"], ["float32"]),
        choose([100, 300, 1000, 1001, 2000, 2048, 4096], [100, 2048]),
    ]
    repeat = (3, 5, 0.3)

    def case(self, dtype, size):
        shape = (size, size)
        return Case("add", Array(shape, dtype, **VALUES), Array(shape, dtype, "transposed", **VALUES))


class ShortRows(SideBySide):
    """Rows of a few vectors, beside a number for each of them."""

    param_names = ["op", "dtype", "size"]
    params = [
        choose(["multiply", "less"], ["less"]),
        choose(["int8", "int16", "float32", "float64"], ["int8", "float32"]),
        choose([33, 49, 63, 70, 81, 100, 115, 128], [49, 81]),
    ]

    def case(self, op, dtype, size):
        shape = (max(1, 10**5 // 64 // size), 64, size)
        return Case(op, Array(shape, dtype, **VALUES), Array((64,), dtype, **VALUES), (1,))


class NewOutput(SideBySide):
    """The same with a new output each time, so that page faults count."""

    param_names = ["dtype", "layout"]
    params = [["float32", "float64"], ["contiguous", "row"]]

    def case(self, dtype, layout):
        return make_case("add", dtype, layout, choose([10**7], [10**6])[0], new_output=True)


class Masked:
    """A million elements of which `where` lets a share through."""

    param_names = ["dtype", "density"]
    params = [choose(["int8", "float32", "float64"], ["float32"]), [0.0, 0.001, 0.01, 0.1, 0.5, 1.0]]

    def setup(self, dtype, density):
        rng = np.random.default_rng(0)
        self.a, self.b = rng.uniform(1, 5, (2, 10**6)).astype(dtype)
        self.mask = rng.random(10**6) < density
        self.out = np.zeros(10**6, dtype)

    def time_xbcast(self, dtype, density):
        xbcast.add(self.a, self.b, out=self.out, where=self.mask)

    def time_numpy(self, dtype, density):
        np.add(self.a, self.b, out=self.out, where=self.mask)

    def time_numpy_then_select(self, dtype, density):
        np.copyto(self.out, np.add(self.a, self.b), where=self.mask)


class MaskedRows:
    """Short rows and a row of numbers, of which `where` lets half through, into rows with gaps or
    without."""

    param_names = ["columns", "gap"]
    params = [[3, 8], [0, 5]]

    def setup(self, columns, gap):
        rng = np.random.default_rng(0)
        self.a = np.ones((10**6 // columns, columns), np.float32)
        self.b = self.a[0].copy()
        self.mask = rng.random(self.a.shape) < 0.5
        self.out = np.zeros((len(self.a), columns + gap), np.float32)[:, :columns]

    def time_xbcast(self, columns, gap):
        xbcast.add(self.a, self.b, out=self.out, where=self.mask, broadcast_dimensions=(1,))

    def time_numpy(self, columns, gap):
        np.add(self.a, self.b, out=self.out, where=self.mask)


class ManyAxes(SideBySide):
    """Every second one of many short axes matches: nothing merges."""

    param_names = ["size", "axes"]
    params = [choose([2, 3], [2]), choose([4, 8, 12], [4, 8])]

    def case(self, size, axes):
        x1, x2 = Array((size,) * axes, **VALUES), Array((size,) * (axes // 2), **VALUES)
        return Case("add", x1, x2, tuple(range(1, axes, 2)), new_output=True)


class PeakMemory:
    """A result of 64 or 128 MiB is all that a call may take."""

    param_names = ["layout", "dtype"]
    params = [["row", "column", "transposed", "converted"], ["float32", "float64"]]

    def setup(self, layout, dtype):
        self.a = np.ones((4096, 4096), "int8" if layout == "converted" else dtype)
        self.b = {
            "row": np.ones(4096, dtype),
            "column": np.ones(4096, dtype),
            "transposed": np.ones((4096, 4096), dtype).T,
            "converted": np.ones((4096, 4096), dtype),
        }[layout]
        self.dims = {"row": (1,), "column": (0,)}.get(layout)

    def peakmem_xbcast(self, layout, dtype):
        xbcast.add(self.a, self.b, broadcast_dimensions=self.dims)

    def peakmem_numpy(self, layout, dtype):
        np.add(self.a, self.b[:, None] if layout == "column" else self.b)
