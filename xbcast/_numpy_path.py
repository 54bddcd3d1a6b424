"""Calls that NumPy's own ufuncs carry out, after our shape rules.

Dtypes without inner loops here (longdouble, object, times, strings, user dtypes),
casts that only ``casting="unsafe"`` allows, calls that NumPy refuses (so that the
refusal is NumPy's), and foreign operands, which are never turned into plain arrays.
Operands are expanded by their own indexing, which copies nothing. The modules that
compute by themselves are below this one; `_core` calls it.
"""

import numpy as np

from xbcast import _errors
from xbcast._shape import place_shapes

_FULL = slice(None)


def _expand(x, source):
    """Index `x` so that its dimensions lie where the result has them."""
    if not _shape(x) or all(own == d for d, own in enumerate(source)):
        return x
    if not hasattr(x, "__getitem__"):
        raise _errors.not_indexable(x)
    return x[tuple([None if own < 0 else _FULL for own in source])]


def _shape(x):
    shape = getattr(x, "shape", None)
    return tuple(shape) if shape is not None else np.shape(x)


def _owns_memory_of(x, out):
    """Whether writing `out` may change `x`."""
    return isinstance(x, np.ndarray) and np.may_share_memory(x, out)


def _suits(out, shape):
    """Whether `out` is an array as it has to be."""
    return type(out) is np.ndarray and out.shape == shape and out.flags.writeable


def _check_out(name, out, shape, shapes):
    if getattr(out, "shape", None) is None:
        raise _errors.out_kind(name, out)
    if tuple(out.shape) != shape:
        raise _errors.out_shape(name, tuple(out.shape), shape, shapes)
    if not isinstance(out, np.ndarray):
        return
    if not out.flags.writeable:
        raise _errors.out_read_only(name)


def _check_where(name, where, shape):
    mask = np.shape(where)
    fits = not mask or (
        len(mask) == len(shape) and all(m in (1, n) for m, n in zip(mask, shape, strict=True))
    )
    if not fits:
        raise _errors.where_shape(name, mask, shape)


def _blank(dtype):
    """What a cell that the mask leaves out holds: NaT for times, else what zeros has."""
    if dtype.kind in "mM":
        return np.array("NaT", dtype)
    return np.zeros((), dtype)


def _blank_left_out(result, where):
    """Replace what NumPy left uninitialised."""
    if isinstance(result, np.ndarray):
        plain = result.view(np.ndarray)
        np.copyto(plain, _blank(plain.dtype), where=~np.asarray(where))
    return result


def _place(name, ufunc, x1, x2, out, dims, degenerate, where, keywords):
    """Apply our rules to a call; returns the operands' shapes, the result's, and two sources."""
    if ufunc is None:
        raise _errors.no_numpy_ufunc(name, _describe(x1, x2, keywords))
    shapes = _shape(x1), _shape(x2)
    placement = place_shapes(name, *shapes, dims, degenerate)
    _check_where(name, where, placement[0])
    if out is not None and out is not Ellipsis:
        _check_out(name, out, placement[0], shapes)
    return shapes, *placement


def call(
    name,
    ufunc,
    x1,
    x2,
    *,
    out=None,
    broadcast_dimensions=None,
    degenerate_dimensions=None,
    where=True,
    **keywords,
):
    """
    Call `ufunc` on operands placed by our shape rules.

    Parameters
    ----------
    name : str
        Name of the op, for messages.
    ufunc : numpy.ufunc or None
        NumPy's ufunc of that name.
    x1, x2 : object
        Arrays, NumPy scalars, Python numbers or foreign objects.
    out : object, optional
        An array or foreign object; Ellipsis asks for an array even of rank 0.
    broadcast_dimensions, degenerate_dimensions : object, optional
        As the op takes them.
    where : bool or ndarray of bool, optional
        The mask.
    **keywords : object
        What NumPy's ufunc is given besides.

    Returns
    -------
    object
        What the ufunc returns.
    """
    if broadcast_dimensions is None and degenerate_dimensions is None and where is True and ufunc is not None:
        shape1, shape2 = _shape(x1), _shape(x2)
        if shape1 == shape2 or not shape1 or not shape2:
            # B1 and B2 leave such operands as they are (benchmarks/bench_calls.py, Handed)
            if out is None:
                return ufunc(x1, x2, **keywords)
            # of operands that share memory with it the ufunc takes copies
            if _suits(out, shape1 or shape2):
                return ufunc(x1, x2, out=out, **keywords)
    _, shape, *sources = _place(
        name, ufunc, x1, x2, out, broadcast_dimensions, degenerate_dimensions, where, keywords
    )
    operands = [_expand(x, source) for x, source in zip((x1, x2), sources, strict=True)]
    as_array = out is Ellipsis
    if out is not None and not as_array:
        if isinstance(out, np.ndarray):
            operands = [x.copy() if _owns_memory_of(x, out) else x for x in operands]
            if _owns_memory_of(where, out):
                where = where.copy()
        return ufunc(*operands, out=out, where=where, **keywords)
    if where is True and not as_array:
        return ufunc(*operands, **keywords)
    # NumPy 2.0 does not know out=..., and of a masked scalar it returns what it likes;
    # with one dimension more there is always an array to mend
    grown = [x[None] if _shape(x) or isinstance(x, np.ndarray) else x for x in operands]
    if shape or not all(_is_plain(x) for x in operands):
        result = ufunc(*operands, out=None, where=where, **keywords)
        return _blank_left_out(result, where)
    if all(x is y for x, y in zip(grown, operands, strict=True)):
        # a NumPy scalar rather than a Python number, which is weak as long as it is one
        k = next((k for k, x in enumerate(operands) if isinstance(x, np.generic)), 0)
        grown[k] = np.asarray(grown[k])[None]
    result = _blank_left_out(ufunc(*grown, out=None, where=where, **keywords), where)
    return result.reshape(()) if as_array else result[0]


def describe(
    report,
    name,
    ufunc,
    x1,
    x2,
    *,
    out=None,
    broadcast_dimensions=None,
    degenerate_dimensions=None,
    where=True,
    **keywords,
):
    """
    Write down for explain what `call` would do; the other parameters are those of `call`.

    NumPy is asked for the dtypes on empty arrays, so that its refusals are the same.
    Foreign operands are not asked: what they do is up to them.
    """
    shapes, shape, *sources = _place(
        name, ufunc, x1, x2, out, broadcast_dimensions, degenerate_dimensions, where, keywords
    )
    given = out is not None and out is not Ellipsis
    plain = all(map(_is_plain, (x1, x2))) and (not given or type(out) is np.ndarray)
    dtype = None
    if plain:
        # an array with nothing in it stands for each array; numbers stay, as they are weak
        stand_ins = [np.empty(0, x.dtype) if isinstance(x, np.ndarray) else x for x in (x1, x2)]
        if not any(isinstance(x, np.ndarray) for x in stand_ins):
            stand_ins[0] = np.empty(0, np.asarray(x1).dtype)
        stand_in = np.empty(0, out.dtype) if given else None
        dtype = ufunc(*stand_ins, out=stand_in, **keywords).dtype
    report.update(
        shapes=shapes,
        result_shape=shape,
        sources=tuple(sources),
        out_given=given,
        masked=where is not True,
        result_dtype=dtype,
        copied={
            role: x.nbytes
            for role, x in (("x1", x1), ("x2", x2), ("where", where))
            if given and isinstance(out, np.ndarray) and _owns_memory_of(x, out)
        },
    )


def _is_plain(x):
    return type(x) is np.ndarray or isinstance(x, (np.generic, int, float, complex))


def _kind(x):
    plain = type(x) is np.ndarray or isinstance(x, np.generic)
    return f"dtype {x.dtype}" if plain else f"type {type(x).__name__}"


def _describe(x1, x2, keywords):
    text = f"operands of {_kind(x1)} and {_kind(x2)}"
    given = ", ".join(f"{key}={value!r}" for key, value in keywords.items())
    return f"{text} with {given}" if given else text


def like_subclass(view, array):
    """Return a plain view of `array` as an object of its class, read-only."""
    result = view.view(type(array))
    if hasattr(array, "__array_finalize__"):
        result.__array_finalize__(array)
    result.flags.writeable = False
    return result
