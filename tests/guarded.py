"""Arrays that end where memory ends, and the sweep of calls on them.

`Guarded` is memory between two inaccessible pages; `Guarded.place` puts an array of any
strides against one of them.  Run as a program this file makes the calls of one section at
one CPU level: what reads or writes beside an array kills the process, and the note that it
leaves in a file tells which call it was.  test_guard_pages.py runs it.
"""

import ctypes
import itertools
import mmap
import sys

import numpy as np

import grids
import oracle
import xbcast

PAGE = mmap.PAGESIZE
PROT_NONE = 0
SIDES = "start", "end"
NEAR = 64  # bytes beside an array that must stay as they are


class Guarded:
    """`room` bytes of memory with an inaccessible page on either side."""

    def __init__(self, room):
        self.room = -(-room // PAGE) * PAGE
        self.memory = mmap.mmap(-1, self.room + 2 * PAGE)
        self.first = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        self.bytes = np.frombuffer(self.memory, np.uint8)
        self.bytes[PAGE : PAGE + self.room] = 0xA5
        mprotect = ctypes.CDLL(None, use_errno=True).mprotect
        mprotect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
        for address in self.first, self.first + PAGE + self.room:
            if mprotect(address, PAGE, PROT_NONE) != 0:
                raise OSError(ctypes.get_errno(), "mprotect")

    def place(self, shape, strides, dtype, side, shift=0):
        """An array whose first ("start") or last ("end") byte is `shift` bytes from the edge."""
        low, high = extent(shape, strides, dtype.itemsize)
        if high - low + shift > self.room:
            raise ValueError(f"no room for {high - low + shift} bytes")
        edge = shift - low if side == "start" else self.room - shift - high
        return np.ndarray(shape, dtype, self.memory, PAGE + edge, strides)

    def around(self, array):
        """The bytes of an array and its neighbours, and where the array starts in them."""
        low, high = extent(array.shape, array.strides, array.itemsize)
        origin = array.__array_interface__["data"][0] - self.first
        begin = max(origin + low - NEAR, PAGE)
        return self.bytes[begin : min(origin + high + NEAR, PAGE + self.room)], origin - begin


def extent(shape, strides, itemsize):
    """Bytes before and after the address of the first element."""
    if 0 in shape:
        return 0, 0
    steps = [(n - 1) * s for n, s in zip(shape, strides, strict=True) if n > 1]
    return sum(s for s in steps if s < 0), sum(s for s in steps if s > 0) + itemsize


# ---- layouts ----------------------------------------------------------------
#
# name -> function (shape, itemsize) -> strides


def _packed(shape, unit):
    strides = []
    for n in reversed(shape):
        strides.insert(0, unit)
        unit *= max(n, 1)
    return strides


def c_order(shape, itemsize):
    return _packed(shape, itemsize)


def fortran(shape, itemsize):
    return _packed(shape[::-1], itemsize)[::-1]


def turned(shape, itemsize):
    """The first dimension is the fastest, the others keep their order."""
    return [itemsize, *(s * max(shape[0], 1) for s in _packed(shape[1:], itemsize))] if shape else []


def reversed_last(shape, itemsize):
    strides = _packed(shape, itemsize)
    return [*strides[:-1], -strides[-1]] if shape else []


def reversed_all(shape, itemsize):
    return [-s for s in _packed(shape, itemsize)]


def fortran_reversed(shape, itemsize):
    return [-s for s in fortran(shape, itemsize)]


def every_second(shape, itemsize):
    return _packed(shape, 2 * itemsize)


def every_third_backwards(shape, itemsize):
    return [-s for s in _packed(shape, 3 * itemsize)]


def record(shape, itemsize):
    """A field of packed records, one byte longer than the field."""
    return _packed(shape, itemsize + 1)


def gap_after_rows(shape, itemsize):
    strides = _packed((*shape[:-1], shape[-1] + 1), itemsize) if shape else []
    return strides


def constant_last(shape, itemsize):
    return [*_packed(shape[:-1], itemsize), 0] if shape else []


def constant_first(shape, itemsize):
    return [0, *_packed(shape[1:], itemsize)] if shape else []


def constant(shape, itemsize):
    return [0] * len(shape)


def page_rows(shape, itemsize):
    """Rows a page apart: they fall into the same sets of the cache."""
    row = max(-(-shape[-1] * itemsize // PAGE), 1) * PAGE if shape else 0
    return [*_packed(shape[:-1], row), itemsize] if shape else []


def page_columns(shape, itemsize):
    """The same for a transposed operand."""
    return page_rows(shape[::-1], itemsize)[::-1]


UNIQUE = [
    c_order,
    fortran,
    turned,
    reversed_last,
    reversed_all,
    fortran_reversed,
    every_second,
    every_third_backwards,
    record,
    gap_after_rows,
]
STRETCHED = [constant_last, constant_first, constant]
PAGES = [page_rows, page_columns]


# ---- one call ---------------------------------------------------------------

#: Ops whose NumPy loops round as layout and length would have it.
ROUNDED = {"power", "float_power", "hypot", "arctan2", "logaddexp", "logaddexp2"}


class Sweep:
    """Makes calls and counts them; a note of each goes to `note` before it is made."""

    def __init__(self, note, level, room=1 << 23):
        self.note = note
        self.level = level
        self.memory = {role: Guarded(room) for role in ("x1", "x2", "where", "out")}
        self.values = {}
        self.count = 0

    def operand(self, role, shape, dtype, layout, side, shift):
        dtype = np.dtype(dtype)
        x = self.memory[role].place(shape, layout(shape, dtype.itemsize), dtype, side, shift)
        key = role, dtype, shape
        if key not in self.values:
            if len(self.values) > 10_000:
                self.values.clear()
            native = dtype.newbyteorder("=")
            # no element is the same wherever it is read from
            values = grids.ordinary(native, shape, seed=len(role) + (role == "x2"))
            self.values[key] = np.array(values, native)
        x[...] = self.values[key]
        return x

    def call(
        self,
        name,
        dtypes,
        shapes,
        dims=None,
        layouts=(c_order, c_order, c_order),
        out_dtype=None,
        mask=None,
        density=0.5,
        side="end",
        shifts=(0, 0, 0, 0),
    ):
        """One call of an op with all arrays against a guard page."""
        self.count += 1
        shown = (
            name,
            *map(str, dtypes),
            shapes,
            dims,
            *(f.__name__ for f in layouts),
            str(out_dtype),
            mask.__name__ if mask else None,
            density,
            side,
            shifts,
        )
        self.note[:400] = f"{self.level}: {shown}".encode().ljust(400)[:400]
        x1 = self.operand("x1", shapes[0], dtypes[0], layouts[0], side, shifts[0])
        x2 = self.operand("x2", shapes[1], dtypes[1], layouts[1], side, shifts[1])
        y1, y2 = (np.array(x, x.dtype.newbyteorder("=")) for x in oracle.expanded(x1, x2, dims))
        want = oracle.call(name, y1, y2)
        shape = np.shape(want)
        out_dtype = np.dtype(out_dtype or want.dtype)
        out = self.memory["out"].place(
            shape, layouts[2](shape, out_dtype.itemsize), out_dtype, side, shifts[3]
        )
        keywords = {}
        if mask is not None:
            rng = np.random.default_rng(self.count)
            strides = mask(shape, 1)
            keywords["where"] = self.memory["where"].place(shape, strides, np.dtype(bool), side, shifts[2])
            keywords["where"][...] = rng.random(shape) < density
        around, origin = self.memory["out"].around(out)
        expected = around.copy()
        image = np.ndarray(shape, out_dtype, expected.data, origin, out.strides)
        if mask is None:
            np.copyto(image, want, casting="unsafe")
        else:
            np.copyto(image, want, casting="unsafe", where=np.array(keywords["where"]))
        getattr(xbcast, name)(x1, x2, out=out, broadcast_dimensions=dims, **keywords)
        if np.array_equal(around, expected):
            return
        if name in ROUNDED and want.dtype.kind in "fc":
            epsilon = 4 * np.finfo(want.dtype).eps
            close = np.allclose(out.astype(want.dtype), image.astype(want.dtype), rtol=epsilon, atol=0)
            image[...] = out  # then only the bytes beside the array are left to differ
            if close and np.array_equal(around, expected):
                return
        raise AssertionError(f"{self.level}: {shown}: wrong value, or a byte written beside out")


# ---- sections ---------------------------------------------------------------

#: An op for each kind of kernel that the op table has.
OPS = """
    add multiply divide floor_divide remainder fmod power maximum fmax less copysign heaviside gcd
    left_shift right_shift logical_and equal hypot ldexp complex shift_right_logical
""".split()


def supported(name, dtype):
    """Whether the op has a loop for two operands of that dtype, or NumPy has."""
    like = oracle.OP[name].numpy or oracle.OP[name].like
    second = np.dtype("int32" if name == "ldexp" else dtype)
    try:
        getattr(np, like).resolve_dtypes((np.dtype(dtype), second, None))
    except TypeError:
        return False
    return True


def cases():
    """Each op with each dtype that it takes: (name, dtypes)."""
    for name, dtype in itertools.product(OPS, grids.NATIVE):
        if supported(name, dtype):
            yield name, (dtype, "int32" if name == "ldexp" else dtype)


def shifts_of(k):
    """Distances from the edge: mostly none, now and then each alignment from 0 to 63."""
    if k % 3:
        return (0, 0, 0, 0)
    return tuple((k // 3 * step) % 64 for step in (1, 5, 11, 23))


LINES = [
    (c_order, c_order, c_order),
    (constant, c_order, c_order),
    (c_order, constant, c_order),
    (every_second, c_order, c_order),
    (every_second, every_second, c_order),
    (every_second, every_third_backwards, c_order),
    (c_order, every_third_backwards, every_second),
    (reversed_all, c_order, c_order),
    (record, record, record),
    (constant, constant, c_order),
    (reversed_all, reversed_all, reversed_all),
    (every_second, constant, every_third_backwards),
]


def kernels(sweep):
    """Each kernel along a line: every length from 0 to 130, each layout at every tenth."""
    for k, (name, dtypes) in enumerate(cases()):
        for n in range(131):
            # consecutive lengths meet different layouts, and another op others again
            for turn, side in enumerate(SIDES):
                layouts = LINES[(n + k + 3 * turn) % len(LINES)]
                sweep.call(name, dtypes, ((n,), (n,)), layouts=layouts, side=side, shifts=shifts_of(n + k))


def lengths(sweep):
    """Some kernels at every length with every layout, also two short rows with a gap between."""
    for name, dtype in [
        ("add", "float32"),
        ("add", "int8"),
        ("add", "float16"),
        ("remainder", "float64"),
        ("multiply", "complex64"),
        ("less", "int64"),
        ("floor_divide", "int16"),
        ("power", "float32"),
    ]:
        for n, layouts, side in itertools.product(range(131), LINES, SIDES):
            sweep.call(name, (dtype, dtype), ((n,), (n,)), layouts=layouts, side=side, shifts=shifts_of(n))
        for n, side in itertools.product(range(1, 131), SIDES):
            both = (2, n), (2, n)
            sweep.call(name, (dtype, dtype), both, layouts=(gap_after_rows,) * 3, side=side)
            gap = gap_after_rows, c_order, c_order
            sweep.call(name, (dtype, dtype), ((2, n), (n,)), (1,), gap, side=side)
            sweep.call(name, (dtype, dtype), ((n, 2), (n,)), (0,), gap, side=side)


#: (shape of x1, shape of x2, broadcast_dimensions); long enough for the plan to pack.
SHAPES = [
    ((23, 41), (23, 41), None),
    ((131, 67), (131, 67), None),
    ((1, 700), (3, 1), None),
    ((700,), (700,), None),
    ((40, 1), (31,), (1,)),
    ((31,), (31, 40), (0,)),
    ((19, 5, 13), (19, 13), (0, 2)),
    ((67, 3, 8), (67, 8), (0, 2)),
    ((3, 33, 7), (33,), (1,)),
    ((257, 3), (3,), (1,)),
    ((8, 9, 10), (8, 9, 10), None),
    ((150, 4), (150,), (0,)),
    ((2, 3, 4, 5, 6), (3, 5), (1, 3)),
    ((4, 129), (), None),
]

PAIRS = [
    ("float32", "float32"),
    ("float64", "float64"),
    ("int8", "int8"),
    ("int16", "int16"),
    ("complex128", "complex128"),
    ("complex64", "complex64"),
    ("float16", "float16"),
    ("int32", "float64"),
    ("uint8", "float32"),
    ("float16", "float32"),
    ("bool", "int64"),
    ("float64", "complex64"),
    (">f8", "<f8"),
    (">c8", "<i2"),
    (">i4", ">f2"),
    ("uint16", ">u8"),
]


def packing(sweep):
    """Transposes, short inner axes, conversions and byte order, each operand in each layout."""
    layouts = [*UNIQUE, *STRETCHED]
    k = 0
    for shape1, shape2, dims in SHAPES:
        for i, dtypes in enumerate(PAIRS):
            for j, layout in enumerate(layouts):
                other = layouts[(i + 3 * j) % len(layouts)]
                out = UNIQUE[(i + j) % len(UNIQUE)]
                for side in SIDES:
                    k += 1
                    at = {"side": side, "shifts": shifts_of(k)}
                    sweep.call("add", dtypes, (shape1, shape2), dims, (layout, other, out), **at)
                    sweep.call("less", dtypes, (shape1, shape2), dims, (other, layout, c_order), **at)


def short_axes(sweep):
    """Short periodic and short stretched operands of every width from 1 to 17."""
    k = 0
    for width, dtype in itertools.product(range(1, 18), grids.NATIVE):
        rows = 1100 // width + width % 3
        for side in SIDES:
            for shape1, shape2, dims in (
                ((rows, width), (width,), (1,)),
                ((width,), (rows, width), (1,)),
                ((rows, width), (rows,), (0,)),
                ((rows,), (rows, width), (0,)),
                ((rows // 8, width, 8), (rows // 8, 8), (0, 2)),
            ):
                k += 1
                name = "multiply" if k % 2 else "add"
                sweep.call(name, (dtype, dtype), (shape1, shape2), dims, side=side, shifts=shifts_of(k))
    # axes of a few elements each, many of them one block
    layouts = [*UNIQUE, *STRETCHED]
    for dtype, side in itertools.product((*grids.NATIVE, ">i4", ">c8"), SIDES):
        for i, layout in enumerate(layouts):
            for sizes in ((2,) * 9, (3,) * 6, (2, 3) * 4, (5, 2, 2, 2, 2, 2, 3, 3)):
                k += 1
                dims = tuple(range(k % 2, len(sizes), 2))
                shapes = sizes, tuple([sizes[d] for d in dims])
                out = UNIQUE[k % len(UNIQUE)] if k % 3 == 0 else c_order
                sweep.call("add", (dtype, dtype), shapes, dims, (layout, layouts[-i], out),
                           side=side, shifts=shifts_of(k))  # fmt: skip


def transposes(sweep):
    """Tiles: every size of element and every remainder of rows and columns."""
    k = 0
    for dtype in ("int8", "float16", "float32", "float64", "complex128"):
        for n, m in itertools.chain(
            zip(range(16, 82), range(90, 24, -1), strict=True), [(129, 260), (260, 129), (300, 301)]
        ):
            for side in SIDES:
                k += 1
                layouts = [
                    (fortran, c_order, c_order),
                    (c_order, fortran_reversed, c_order),
                    (fortran, fortran, c_order),
                    (c_order, c_order, fortran),
                    (fortran, every_second, gap_after_rows),
                ][k % 5]
                sweep.call(
                    "add", (dtype, dtype), ((n, m), (n, m)), layouts=layouts, side=side, shifts=shifts_of(k)
                )
        for n, side in itertools.product((17, 64, 65, 100), SIDES):
            sweep.call(
                "add", (dtype, dtype), ((n, n), (n, n)), layouts=(page_columns, c_order, c_order), side=side
            )
            sweep.call(
                "add", (dtype, dtype), ((n, n), (n, n)), layouts=(c_order, page_columns, page_rows), side=side
            )
            sweep.call(
                "add", (dtype, dtype), ((8, n, n), (n, n)), (1, 2), (c_order, fortran, c_order), side=side
            )


def masks(sweep):
    """`where=` of every density and layout, at every length and over packed blocks."""
    k = 0
    densities = (0, 0.02, 0.5, 0.98, 1)
    for dtype in grids.NATIVE:
        for n, side in itertools.product(range(131), SIDES):
            k += 1
            layouts = LINES[k % len(LINES)]
            mask = (c_order, every_second, reversed_all, constant)[k // 3 % 4]
            sweep.call(
                "add",
                (dtype, dtype),
                ((n,), (n,)),
                layouts=layouts,
                mask=mask,
                density=densities[k % 5],
                side=side,
                shifts=shifts_of(k),
            )
    for (shape1, shape2, dims), dtypes in itertools.product(SHAPES, PAIRS):
        for side in SIDES:
            k += 1
            layouts = (UNIQUE[k % 10], UNIQUE[k // 2 % 10], UNIQUE[k // 3 % 10])
            mask = [*UNIQUE, *STRETCHED][k % 13]
            sweep.call(
                "multiply",
                dtypes,
                (shape1, shape2),
                dims,
                layouts,
                mask=mask,
                density=densities[k % 5],
                side=side,
                shifts=shifts_of(k),
            )
    for dtypes, side in itertools.product((("float64", "float64"), ("float16", "float16")), SIDES):
        for shape1, shape2, dims in SHAPES:
            # NumPy's own loop, and an exponent of rank 0
            sweep.call("power", dtypes, (shape1, shape2), dims, mask=c_order, side=side)


def conversions(sweep):
    """Each dtype beside each, and into each `out` that casting allows, at short and long lengths."""
    k = 0
    for dtype1, dtype2 in itertools.product(grids.NATIVE, repeat=2):
        kinds = oracle.call("add", np.ones(1, dtype1), np.ones(1, dtype2)).dtype
        for out in grids.NATIVE:
            if not np.can_cast(kinds, out, "same_kind"):
                continue
            for n in (1, 7, 16, 33, 130, 700):
                k += 1
                order = ">" if k % 4 == 0 else "="
                types = [
                    np.dtype(d).newbyteorder(order if i != k % 2 else "=")
                    for i, d in enumerate((dtype1, dtype2, out))
                ]
                sweep.call(
                    "add",
                    types[:2],
                    ((n,), (n,)),
                    layouts=LINES[k % len(LINES)],
                    out_dtype=types[2],
                    mask=c_order if k % 5 == 0 else None,
                    side=SIDES[k // 2 % 2],
                    shifts=shifts_of(k),
                )


def large(sweep):
    """Results beyond the caches, and calls that are shared among threads."""
    sizes = [((600_011,), (600_011,), None), ((1500, 301), (301,), (1,)), ((301, 1500), (301,), (0,))]
    sizes += [((70_001, 5), (5,), (1,)), ((70_001, 5), (70_001,), (0,)), ((30, 121, 99), (30, 99), (0, 2))]
    sizes += [((601, 701), (601, 701), None)]
    pairs = [("float32", "float32"), ("int8", "int8"), ("float16", "float32"), ("int32", "float64")]
    calls = itertools.product((1, 2), sizes, pairs, SIDES)
    for k, (threads, (shape1, shape2, dims), dtypes, side) in enumerate(calls):
        layouts = [(c_order,) * 3, (fortran, c_order, c_order), (c_order, c_order, reversed_last)][k // 2 % 3]
        mask = c_order if k % 7 == 0 else None
        with xbcast.num_threads(threads):
            shapes = shape1, shape2
            sweep.call("add", dtypes, shapes, dims, layouts, mask=mask, side=side, shifts=shifts_of(k))


SECTIONS = {
    f.__name__: f for f in (kernels, lengths, packing, short_axes, transposes, masks, conversions, large)
}


def main(path, level, *sections):
    """Run sections at a CPU level; the note of the last call is in the file."""
    xbcast._core.use_level(level)
    with open(path, "r+b") as file, np.errstate(all="ignore"):
        sweep = Sweep(mmap.mmap(file.fileno(), PAGE), level)
        for section in sections:
            SECTIONS[section](sweep)
    print(sweep.count)


if __name__ == "__main__":
    main(*sys.argv[1:])
