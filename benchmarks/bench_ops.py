"""Every op on every dtype it has a loop for, with operands that stay in cache."""

from .side_by_side import DTYPES, OP_NAMES, SideBySide, make_case


class Binary(SideBySide):
    """Ten thousand elements; loops with a constant are other loops."""

    param_names = ["op", "dtype", "layout"]
    params = [OP_NAMES, DTYPES, ["contiguous", "scalar_right"]]

    def case(self, op, dtype, layout):
        return make_case(op, dtype, layout, 10**4)
