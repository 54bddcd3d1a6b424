"""Foreign arrays: subclasses, masked arrays, objects that speak `__array_ufunc__` or
`__array_wrap__`.  They obey our shape rules and are then the NumPy ufunc's business: nothing
of theirs (type, unit, mask) is stripped."""

import warnings

import numpy as np
import pytest

import oracle
import xbcast

X = np.arange(1.0, 7.0).reshape(2, 3)
ROW = np.array([10.0, 20.0, 30.0])
COLUMN = np.array([10.0, 20.0])


class Length(np.ndarray):
    """A subclass that carries a unit through views and results."""

    def __new__(cls, values, unit="m"):
        array = np.asarray(values, float).view(cls)
        array.unit = unit
        return array

    def __array_finalize__(self, source):
        self.unit = getattr(source, "unit", None)


@pytest.mark.parametrize("name", ["add", "multiply", "power", "less", "divide", "fmax", "hypot"])
def test_subclass(name):
    op = getattr(xbcast, name)
    for x1, x2, dims in (
        (Length(X), ROW, (1,)), (X, Length(ROW), (1,)), (Length(COLUMN), X, (0,)), (Length(X), 2.0, None),
        (Length(X), Length(X), None), (Length(ROW), Length(COLUMN), ((1,), (0,))),
    ):  # fmt: skip
        got = op(x1, x2, broadcast_dimensions=dims)
        y1, y2 = oracle.expanded(x1, x2, dims)
        want = getattr(np, name)(y1, y2)
        assert type(got) is type(want) is Length
        assert got.unit == want.unit == "m"
        assert np.array_equal(np.asarray(got), np.asarray(want))


def test_subclass_obeys_the_shape_rules():
    for x1, x2 in ((Length(X), ROW), (X, Length(ROW)), (Length(X), Length(ROW))):
        with pytest.raises(xbcast.BroadcastError, match=r"^add: .*\(2, 3\).*\(3,\)") as caught:
            xbcast.add(x1, x2)
        assert caught.value.rule == "B3"
        with pytest.raises(xbcast.BroadcastError) as caught:
            xbcast.add(x1, x2, broadcast_dimensions=(0,))
        assert caught.value.rule == "B7"
        with pytest.raises(xbcast.BroadcastError) as caught:
            xbcast.add(x1, x2[:1], broadcast_dimensions=(1,), degenerate_dimensions=())
        assert caught.value.rule == "B10"


def test_subok():
    assert type(xbcast.add(Length(X), 1.0, subok=False)) is np.ndarray
    assert type(xbcast.add(Length(X), 1.0, subok=True)) is Length
    assert type(xbcast.add(X, 1.0, subok=False)) is np.ndarray


def test_out_that_is_a_subclass():
    out = Length(np.zeros((2, 3)), "km")
    assert xbcast.add(X, ROW, out=out, broadcast_dimensions=(1,)) is out
    assert out.unit == "km"
    assert np.array_equal(np.asarray(out), X + ROW)
    with pytest.raises(ValueError, match="^add: out"):
        xbcast.add(ROW, ROW, out=out)


def test_where_without_out_is_zero_for_a_subclass_too():
    mask = np.array([[True, False, True], [False, True, False]])
    got = xbcast.add(Length(X), 1.0, where=mask)
    assert type(got) is Length
    assert np.array_equal(np.asarray(got), np.where(mask, X + 1, 0))


def test_memmap(tmp_path):
    memory = np.memmap(tmp_path / "data", np.float64, "w+", shape=(2, 3))
    memory[...] = X
    got, want = xbcast.add(memory, ROW, broadcast_dimensions=(1,)), np.add(memory, ROW)
    assert type(got) is type(want)
    assert np.array_equal(got, want)
    assert xbcast.add(memory, 1, out=memory) is memory
    assert np.array_equal(memory, X + 1)


def test_matrix():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        matrix = np.matrix(X)
        got = xbcast.multiply(matrix, COLUMN, broadcast_dimensions=(0,))
        assert type(got) is np.matrix
        assert np.array_equal(np.asarray(got), X * COLUMN[:, None])
        assert type(xbcast.multiply(matrix, matrix)) is np.matrix
        with pytest.raises(xbcast.BroadcastError):
            xbcast.multiply(matrix, COLUMN)


# ---- masked arrays ----------------------------------------------------------


def masked():
    return np.ma.array(X, mask=[[0, 1, 0], [0, 0, 1]])


@pytest.mark.parametrize("name", ["add", "divide", "less", "maximum", "power"])
def test_masked_array(name):
    low = np.ma.array(ROW, mask=[1, 0, 0])
    for x1, x2, dims in (
        (masked(), ROW, (1,)), (X, low, (1,)), (masked(), low, (1,)), (masked(), COLUMN, (0,)),
        (low, masked(), (1,)), (masked(), 2.0, None), (low, COLUMN, ((1,), (0,))),
    ):  # fmt: skip
        got = getattr(xbcast, name)(x1, x2, broadcast_dimensions=dims)
        want = getattr(np, name)(*oracle.expanded(x1, x2, dims))
        assert type(got) is np.ma.MaskedArray
        assert np.array_equal(np.ma.getmaskarray(got), np.ma.getmaskarray(want))
        assert np.array_equal(got.filled(-1), want.filled(-1))


def test_masked_array_obeys_the_shape_rules():
    with pytest.raises(xbcast.BroadcastError):
        xbcast.add(masked(), ROW)
    with pytest.raises(xbcast.BroadcastError):
        xbcast.add(X, np.ma.array(ROW), broadcast_dimensions=(0,))


def test_masked_operands_are_not_changed():
    x = masked()
    before = x.copy()
    xbcast.add(x, ROW, broadcast_dimensions=(1,))
    assert np.array_equal(x.mask, before.mask) and np.array_equal(x.data, before.data)


# ---- __array_ufunc__ --------------------------------------------------------


class Quantity:
    """Holds an array and a unit; computes through `__array_ufunc__` and notes how it was asked."""

    def __init__(self, values, unit):
        self.values = np.asarray(values)
        self.unit = unit

    shape = property(lambda self: self.values.shape)
    ndim = property(lambda self: self.values.ndim)
    dtype = property(lambda self: self.values.dtype)

    def __getitem__(self, index):
        return Quantity(self.values[index], self.unit)

    def __array__(self, dtype=None, copy=None):
        raise AssertionError("a unit must never be stripped")

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        units = {x.unit for x in (*inputs, *(out or ())) if isinstance(x, Quantity)}
        values = [x.values if isinstance(x, Quantity) else x for x in inputs]
        if out is not None:
            kwargs["out"] = tuple(x.values if isinstance(x, Quantity) else x for x in out)
        result = Quantity(getattr(ufunc, method)(*values, **kwargs), "/".join(sorted(units)))
        result.asked = (ufunc, method, sorted(kwargs))
        return result


def test_array_ufunc():
    for x1, x2, dims in (
        (Quantity(X, "m"), ROW, (1,)), (X, Quantity(ROW, "m"), (1,)), (Quantity(COLUMN, "m"), X, (0,)),
        (Quantity(X, "m"), 2.0, None), (Quantity(2.0, "m"), X, None),
        (Quantity(ROW, "m"), COLUMN, ((1,), (0,))), (Quantity(X, "m"), [1.0, 2.0], (0,)),
    ):  # fmt: skip
        got = xbcast.subtract(x1, x2, broadcast_dimensions=dims)
        assert type(got) is Quantity and got.unit == "m"
        assert got.asked == (np.subtract, "__call__", [])
        plain = [x.values if isinstance(x, Quantity) else np.asarray(x) for x in (x1, x2)]
        assert np.array_equal(got.values, oracle.call("subtract", *plain, dims))


def test_array_ufunc_of_both_operands():
    got = xbcast.multiply(Quantity(X, "m"), Quantity(ROW, "s"), broadcast_dimensions=(1,))
    assert got.unit == "m/s"
    assert np.array_equal(got.values, X * ROW)


def test_array_ufunc_obeys_the_shape_rules():
    for x1, x2 in ((Quantity(X, "m"), ROW), (X, Quantity(ROW, "m"))):
        with pytest.raises(xbcast.BroadcastError, match=r"^subtract: .*\(2, 3\).*\(3,\)"):
            xbcast.subtract(x1, x2)
        with pytest.raises(xbcast.BroadcastError) as caught:
            xbcast.subtract(x1, x2, broadcast_dimensions=(0,))
        assert caught.value.rule == "B7"


def test_array_ufunc_gets_the_keywords_that_were_given():
    q = Quantity(X, "m")
    assert xbcast.add(q, 1.0).asked[2] == []
    got = xbcast.add(q, 1.0, dtype="f4", casting="same_kind", order="F")
    assert got.asked[2] == ["casting", "dtype", "order"]
    assert got.values.dtype == np.float32 and got.values.flags.f_contiguous
    out = np.zeros((2, 3))
    got = xbcast.add(q, ROW, out=out, where=X > 2, broadcast_dimensions=(1,))
    assert got.asked[2] == ["out", "where"]
    assert np.array_equal(out, np.where(X > 2, X + ROW, 0))


def test_array_ufunc_of_out():
    out = Quantity(np.zeros((2, 3)), "m")
    got = xbcast.add(X, ROW, out=out, broadcast_dimensions=(1,))
    assert got.asked[:2] == (np.add, "__call__")
    assert np.array_equal(out.values, X + ROW)
    with pytest.raises(ValueError, match="^add: out"):
        xbcast.add(ROW, ROW, out=out)


@pytest.mark.parametrize("spelling, numpy_name", [
    ("mod", "remainder"), ("true_divide", "divide"), ("atan2", "arctan2"), ("pow", "power"),
    ("bitwise_left_shift", "left_shift"),
])  # fmt: skip
def test_array_ufunc_gets_numpys_ufunc_under_every_alias(spelling, numpy_name):
    dtype = int if "shift" in spelling else float
    got = getattr(xbcast, spelling)(Quantity(np.ones((2, 3), dtype), "m"), np.ones((2, 3), dtype))
    assert got.asked[0] is getattr(np, numpy_name)


def test_every_op_hands_over():
    for name, op in oracle.OP.items():
        q = Quantity(np.ones((2, 3), int), "m")
        if op.numpy is None:
            with pytest.raises(TypeError, match=f"^{name}: "):
                getattr(xbcast, name)(q, np.ones((2, 3), int))
            continue
        got = getattr(xbcast, name)(q, np.ones(3, int), broadcast_dimensions=(1,))
        assert got.asked[0] is getattr(np, op.numpy)


def test_ops_that_numpy_lacks_refuse_subclasses_too():
    for name in ("complex", "shift_right_logical"):
        with pytest.raises(TypeError, match=f"^{name}: "):
            getattr(xbcast, name)(np.ma.array([1, 2]), np.array([1, 2]))


def test_array_ufunc_none():
    """An object that wants nothing to do with ufuncs."""

    class Aloof:
        __array_ufunc__ = None
        shape = (2, 3)
        ndim = 2

        def __getitem__(self, index):
            return self

    for x1, x2 in ((Aloof(), X), (X, Aloof()), (Aloof(), 2.0)):
        with pytest.raises(TypeError):
            np.add(x1, x2)
        with pytest.raises(TypeError):
            xbcast.add(x1, x2)


def test_array_ufunc_that_declines():
    class Declines:
        shape = (2, 3)
        ndim = 2

        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            return NotImplemented

    with pytest.raises(TypeError):
        xbcast.add(Declines(), X)
    with pytest.raises(TypeError):
        xbcast.add(X, 1.0, out=Declines())


def test_array_ufunc_errors_pass_through():
    class Fails:
        shape = (2, 3)
        ndim = 2

        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            raise KeyError("from the object")

    with pytest.raises(KeyError, match="from the object"):
        xbcast.add(Fails(), X)


# ---- __array__, __array_wrap__, __array_priority__ --------------------------


class Wrapped:
    """The older protocol: converted to an array, and wrapped again."""

    __array_priority__ = 20.0

    def __init__(self, values):
        self.values = np.asarray(values)

    shape = property(lambda self: self.values.shape)
    ndim = property(lambda self: self.values.ndim)

    def __getitem__(self, index):
        return Wrapped(self.values[index])

    def __array__(self, dtype=None, copy=None):
        return self.values if dtype is None else self.values.astype(dtype)

    def __array_wrap__(self, array, context=None, return_scalar=False):
        return Wrapped(array)


def test_array_wrap():
    for x1, x2, dims in ((Wrapped(X), ROW, (1,)), (X, Wrapped(ROW), (1,)), (Wrapped(COLUMN), X, (0,)),
                         (Wrapped(X), 2.0, None)):  # fmt: skip
        got = xbcast.add(x1, x2, broadcast_dimensions=dims)
        assert type(got) is Wrapped
        plain = [x.values if isinstance(x, Wrapped) else x for x in (x1, x2)]
        assert np.array_equal(got.values, oracle.call("add", *plain, dims))
    with pytest.raises(xbcast.BroadcastError):
        xbcast.add(Wrapped(X), ROW)


def test_array_priority_decides():
    class Low(Length):
        __array_priority__ = 1.0

    class High(Length):
        __array_priority__ = 2.0

    for x1, x2 in ((Low(X), High(X)), (High(X), Low(X))):
        assert type(xbcast.add(x1, x2)) is type(np.add(x1, x2)) is High


def test_object_with_array_only_is_converted():
    """No `__array_ufunc__`, no `__array_wrap__`: whatever np.asarray makes of it."""

    class Plain:
        def __array__(self, dtype=None, copy=None):
            return ROW if dtype is None else ROW.astype(dtype)

    got = xbcast.add(X, Plain(), broadcast_dimensions=(1,))
    assert type(got) is np.ndarray and np.array_equal(got, X + ROW)
    with pytest.raises(xbcast.BroadcastError):
        xbcast.add(X, Plain())


def test_buffers_are_converted():
    import array

    assert xbcast.add(array.array("d", [1, 2]), 1).tolist() == [2, 3]
    assert xbcast.add(memoryview(ROW), ROW).tolist() == (ROW + ROW).tolist()


def test_foreign_scalar_in_a_list_is_an_operand_like_any_other():
    got = xbcast.add([np.float32(1), np.float32(2)], np.float32([1, 2]))
    assert got.dtype == np.float32
