"""Elementwise NumPy functions with explicit broadcasting.

``xbcast.add(a, b, broadcast_dimensions=(1,))`` adds a lower-rank operand along
dimension 1 of a higher-rank one; nothing is broadcast that the call does not name.
This module only gathers the public names; the ops come from the op table.
"""

try:
    import xbcast._ufunc
except ModuleNotFoundError as error:
    if error.name is None or not error.name.startswith("xbcast."):
        raise
    raise ImportError(
        f"xbcast: the compiled module {error.name} is not in {__path__[0]}. If this is the "
        "source checkout, Python found its folder xbcast/ before the installed package: run "
        "`python -m pip install .` there, then start Python elsewhere or with -P."
    ) from error

from xbcast import _core, _ufunc
from xbcast._bench import bench
from xbcast._errors import BroadcastError, UndecidedError
from xbcast._explain import explain
from xbcast._optable import OPS as _OPS
from xbcast._pattern import (
    Pattern,
    PatternTuple,
    broadcastable,
    memory_index_tuples,
    memory_indices,
)
from xbcast._shape import broadcast_shapes
from xbcast._threads import get_num_threads, num_threads, set_num_threads
from xbcast._ufunc import ufunc
from xbcast._version import version as __version__

broadcast_in_dim = _core.broadcast_in_dim

globals().update(_ufunc.ops)

__all__ = [
    "BroadcastError",
    "Pattern",
    "PatternTuple",
    "UndecidedError",
    "bench",
    "broadcast_in_dim",
    "broadcast_shapes",
    "broadcastable",
    "explain",
    "get_num_threads",
    "memory_index_tuples",
    "memory_indices",
    "num_threads",
    "set_num_threads",
    "ufunc",
    "__version__",
    *(name for op in _OPS if op.exported for name in (op.name, *op.aliases)),
]

for _function in (
    BroadcastError,
    UndecidedError,
    bench,
    broadcast_in_dim,
    broadcast_shapes,
    broadcastable,
    explain,
    get_num_threads,
    memory_index_tuples,
    memory_indices,
    num_threads,
    set_num_threads,
):
    _function.__module__ = "xbcast"
del _function, _OPS, xbcast
