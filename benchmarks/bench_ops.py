"""Every op on every dtype it has a loop for, with operands that stay in cache."""

from xbcast._bench import Array, Case

from .side_by_side import DTYPES, OP_NAMES, VALUES, SideBySide, choose, make_case, second_dtype


class Binary(SideBySide):
    """Ten thousand elements; loops with a constant are other loops."""

    param_names = ["op and dtype", "layout"]
    params = [
        [f"{op} {dtype}" for op in OP_NAMES for dtype in DTYPES if second_dtype(op, dtype, dtype)],
        ["contiguous", "scalar_right"],
    ]

    def case(self, op_and_dtype, layout):
        op, dtype = op_and_dtype.split()
        return make_case(op, dtype, layout, 10**4)


class Squares(SideBySide):
    """Powers of two, of ten thousand elements."""

    param_names = ["dtype"]
    params = [choose(["int8", "int64", "float32", "float64"], ["float64"])]

    def case(self, dtype):
        return Case("power", Array((10**4,), dtype, **VALUES), 2)


class Mixed(SideBySide):
    """Truth of operands of two dtypes, ten thousand of each."""

    param_names = ["op", "dtype", "other"]
    params = [
        ["logical_and", "logical_xor"],
        choose(["bool", "int8", "float32", "complex128"], ["int8"]),
        choose(["int8", "uint32", "int64", "float16", "float64"], ["uint32", "float64"]),
    ]

    def case(self, op, dtype, other):
        return Case(op, Array((10**4,), dtype, **VALUES), Array((10**4,), other, **VALUES))
