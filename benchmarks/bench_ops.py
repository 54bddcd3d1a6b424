"""Every op on every dtype it has a loop for, with operands that stay in cache."""

from xbcast._bench import Array, Case

from .side_by_side import DTYPES, OP_NAMES, VALUES, SideBySide, choose, make_case


class Binary(SideBySide):
    """Ten thousand elements; loops with a constant are other loops."""

    param_names = ["op", "dtype", "layout"]
    params = [OP_NAMES, DTYPES, ["contiguous", "scalar_right"]]

    def case(self, op, dtype, layout):
        return make_case(op, dtype, layout, 10**4)


class Squares(SideBySide):
    """Powers of two, of ten thousand elements."""

    param_names = ["dtype"]
    params = [choose(["int8", "int64", "float32", "float64"], ["float64"])]

    def case(self, dtype):
        return Case("power", Array((10**4,), dtype, **VALUES), 2)
