"""Named memory layouts and named pairs of shapes, shared by the tests.

A layout is a function (shape, dtype, seed) -> array: it decides where the elements
lie, and `grids.mixed` what they are.  What to expect is always worked out from a
plain copy of what it returns.
"""

import numpy as np

import grids


def _fill(array, seed):
    array[...] = grids.mixed(array.dtype.newbyteorder("="), array.shape, seed)
    return array


def contiguous(shape, dtype, seed=0):
    return grids.mixed(dtype, shape, seed)


def fortran(shape, dtype, seed=0):
    return contiguous(shape, dtype, seed).copy(order="F")


def transposed(shape, dtype, seed=0):
    """Axes turned round by one place: in three dimensions neither C nor F order."""
    turned = (*shape[1:], *shape[:1])
    axes = (len(shape) - 1, *range(len(shape) - 1)) if shape else ()
    return contiguous(turned, dtype, seed).transpose(axes)


def reversed_all(shape, dtype, seed=0):
    return contiguous(shape, dtype, seed)[(..., *[slice(None, None, -1)] * len(shape))]


def reversed_last(shape, dtype, seed=0):
    return contiguous(shape, dtype, seed)[(..., *[slice(None, None, -1)] * bool(shape))]


def stepped(shape, dtype, seed=0):
    wide = np.zeros([2 * n for n in shape], dtype)
    return _fill(wide[(..., *[slice(1, None, 2)] * len(shape))], seed)


def stepped_backwards(shape, dtype, seed=0):
    wide = np.zeros([3 * n for n in shape], dtype)
    return _fill(wide[(..., *[slice(None, None, -3)] * len(shape))], seed)


def stride_0_first(shape, dtype, seed=0):
    return np.broadcast_to(contiguous((1,) * bool(shape) + shape[1:], dtype, seed), shape)


def stride_0_last(shape, dtype, seed=0):
    return np.broadcast_to(contiguous(shape[:-1] + (1,) * bool(shape), dtype, seed), shape)


def windows(shape, dtype, seed=0):
    """Sliding windows: distinct index tuples share memory, as x[i, j] = line[i + j]."""
    line = contiguous((1 + sum(n - 1 for n in shape) if min(shape, default=1) else 0,), dtype, seed)
    return np.lib.stride_tricks.as_strided(line, shape, (line.itemsize,) * len(shape), writeable=False)


def packed(shape, dtype, seed=0):
    """A field of packed records: the stride is one byte more than the item size."""
    return _fill(np.zeros(shape, [("pad", "u1"), ("x", dtype)])["x"], seed)


def unaligned(shape, dtype, seed=0):
    """Contiguous, but one byte off."""
    dtype = np.dtype(dtype)
    memory = np.zeros(int(np.prod(shape)) * dtype.itemsize + 1, np.uint8)
    return _fill(memory[1:].view(dtype).reshape(shape), seed)


def swapped(shape, dtype, seed=0):
    """The byte order that this machine does not have."""
    return contiguous(shape, dtype, seed).astype(np.dtype(dtype).newbyteorder("S"))


def swapped_packed(shape, dtype, seed=0):
    return packed(shape, np.dtype(dtype).newbyteorder("S"), seed)


def read_only(shape, dtype, seed=0):
    array = contiguous(shape, dtype, seed)
    array.flags.writeable = False
    return array


def wild_strides(shape, dtype, seed=0):
    """Axes of size 1 get strides that would leave the address space."""
    array = contiguous(shape, dtype, seed)
    strides = [
        s if n != 1 else 2**62 + 1 - 2**61 * (i % 2)
        for i, (n, s) in enumerate(zip(array.shape, array.strides, strict=True))
    ]
    return np.lib.stride_tricks.as_strided(array, array.shape, strides)


LAYOUTS = {f.__name__: f for f in (
    contiguous, fortran, transposed, reversed_all, reversed_last, stepped, stepped_backwards,
    stride_0_first, stride_0_last, windows, packed, unaligned, swapped, swapped_packed, read_only,
    wild_strides,
)}  # fmt: skip

#: name -> (shape of x1, shape of x2, broadcast_dimensions)
SHAPES = {
    "scalars": ((), (), None),
    "scalar_left": ((), (4, 7), None),
    "scalar_right": ((4, 7), (), None),
    "line": ((131,), (131,), None),
    "same": ((5, 33), (5, 33), None),
    "row": ((5, 33), (33,), (1,)),
    "column": ((33, 5), (33,), (0,)),
    "row_left": ((33,), (5, 33), (1,)),
    "column_left": ((33,), (33, 5), (0,)),
    "short_inner": ((47, 3), (3,), (1,)),
    "short_stretched": ((47, 4), (47,), (0,)),
    "inner_1": ((47, 1), (47,), (0,)),
    "outer": ((9, 1), (1, 13), None),
    "outer_in_dim": ((9, 1), (13,), (1,)),
    "per_operand": ((9,), (13,), ((0,), (1,))),
    "per_operand_gap": ((3, 4), (5,), ((0, 3), (2,))),
    "middle": ((3, 17, 4), (17,), (1,)),
    "channels": ((2, 3, 7, 7), (3,), (1,)),
    "two_of_three": ((13, 3, 8), (13, 8), (0, 2)),
    "three_dimensions": ((3, 4, 5), (3, 4, 5), None),
    "higher_grows": ((1, 6, 1), (7, 9), (0, 2)),
    "ones": ((1, 1, 1), (1,), (1,)),
    "empty": ((0, 3), (3,), (1,)),
    "empty_stretched": ((2, 1), (2, 0), None),
    "empty_lower": ((4, 1), (0,), (1,)),
}
