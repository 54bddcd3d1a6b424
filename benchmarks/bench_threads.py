"""Large calls on one thread and on two: where sharing begins to gain."""

import xbcast
from xbcast._bench import Array, Case

from .side_by_side import VALUES, SideBySide, choose


class Threads(SideBySide):
    """float64 results from cache to memory; `power` costs more for each element."""

    param_names = ["op", "size", "threads"]
    params = [
        choose(["add", "floor_divide", "power"], ["add"]),
        choose([3_000, 10_000, 30_000, 100_000, 1_000_000, 10_000_000], [10_000, 1_000_000]),
        [1, 2],
    ]

    def case(self, op, size, threads):
        return Case(op, Array((size,), "float64", **VALUES), Array((size,), "float64", **VALUES), None)

    def setup(self, op, size, threads):
        super().setup(op, size, threads)
        xbcast.set_num_threads(threads)

    def teardown(self, op, size, threads):
        xbcast.set_num_threads(1)
