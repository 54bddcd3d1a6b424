"""`xbcast.explain`: what a call would do, without doing it.

The compiled modules prepare the call as they always do and hand over facts about
the plan in place of running it; this module puts them in the words of users. It
decides nothing that the plan has not decided. _explanation.py, which holds the facts
and writes them as text and HTML, is imported when asked for.
"""

from collections.abc import Iterator

import numpy as np

from xbcast import _errors
from xbcast._pattern import Pattern, PatternTuple
from xbcast._shape import is_per_operand
from xbcast._ufunc import ops, report, ufunc

# A user's order of roles; the plan's begins with out.
_OPERANDS = ("x1", "x2", "where")


def explain(op, x1, x2, /, **keywords):
    """
    Tell what a call of an op would do, without running it.

    The call is prepared as it would be: shapes, dtypes, `out` and the mask are checked,
    and refused with the same exceptions; a loop is chosen and a plan is made. Only
    what depends on the elements is left open, like a negative integer exponent.
    Nothing is computed, and `out` is not written.

    Parameters
    ----------
    op : ufunc or str
        An op or its name.
    x1, x2 : array_like
        The operands.
    **keywords : object
        Any keyword of the op.

    Returns
    -------
    Explanation
        Facts by name (see Notes). ``str()`` writes them down, and a notebook shows
        them with a drawing.

    Raises
    ------
    BroadcastError
        If the shapes do not combine, as from the call itself.
    TypeError
        If the op, the dtypes or an argument are of the wrong kind.
    ValueError
        If `out`, the mask or a keyword has a value that the call would refuse.

    See Also
    --------
    broadcast_shapes : The shape of the result alone.
    PatternTuple : What the plan works on.

    Notes
    -----
    The fields. Those marked with a star are None if nothing is planned: NumPy's ufunc
    takes the call, or the result is empty.

    op : str
        The op's name.
    shapes, result_shape : tuple
        The operands' shapes, and the result's.
    rule : str
        The rule that placed the operands: ``"B1"`` equal ranks, ``"B2"`` an operand of
        rank 0, ``"B4"`` in-dim broadcast, ``"B11"`` each operand by itself.
    broadcast_dimensions : tuple of tuple of int
        The placement written out, one entry per operand; the call means the same with it.
    stretched : tuple of tuple of int
        For each operand the dimensions of the result in which its size of 1 takes the
        other size (rule B8).
    operand_dtypes : tuple
        The operands' dtypes; of a Python number its type, as it is weak.
    loop_op : str or None
        The op whose loop runs: `op`, or ``"multiply"`` for a power of two, with `x1` in the
        place of `x2`. None if NumPy's ufunc takes the call.
    loop_dtypes, computed_in : tuple of dtype, or None
        The dtypes (x1, x2, result) of the loop by promotion, and those that its kernel
        computes in, which differ for float16. None if NumPy's ufunc takes the call.
    result_dtype : dtype or None
        The dtype of the result. None if foreign operands decide on it.
    handed_to_numpy : bool
        Whether NumPy's ufunc takes the call, on operands expanded by the same rules.
    warnings : str or None
        How floating-point warnings are found: ``"hardware"``, ``"computed"`` or
        ``"never"``. None if NumPy's ufunc takes the call.
    roles : tuple of str
        The order of the patterns: out, x1, x2, and where, if there is a mask.
    patterns_before : PatternTuple or None
        Where each lies along the dimensions of the result; offsets count from the first
        element. In place of what is copied first there is the copy. None if NumPy's ufunc
        takes the call.
    patterns_after : PatternTuple or None
        The same as the loops walk it.*
    merged_axes : tuple of tuple of int or None
        For each axis of `patterns_after` the dimensions of the result that it is made of.*
    kernel_shape : str or None
        ``"contiguous"``, ``"left scalar"``, ``"right scalar"``, ``"every second"``
        (element of both operands), ``"general"``, or ``"NumPy's loop"``, where NumPy's
        inner loop runs under this plan.*
    packed : tuple of (str, tuple of str), or None
        Which roles go through scratch a block at a time, and why.*
    block : tuple of int or None
        Elements packed at a time along the innermost two axes, the inner one last. None
        if nothing is packed.*
    out_given : bool
        Whether the result goes to an array of the caller's.
    copied : tuple of (str, int)
        Which roles are copied first because they share memory with `out`, and the bytes.
    in_place : tuple of str
        Roles that `out` lies exactly on, so that no copy is needed.
    scratch_bytes : int
        Memory for packing, of all threads together; with `copied` all that the call
        needs beyond the result, but for a few KiB that each thread keeps.
    streams : bool
        Whether results may go past the cache; runs find out what is faster.
    threads : int
        How many threads share the work.

    Examples
    --------
    >>> import numpy as np
    >>> import xbcast
    >>> matrix, row = np.ones((200, 3), np.float32), np.ones(3, np.float32)
    >>> e = xbcast.explain("add", matrix, row, broadcast_dimensions=(1,))
    >>> e.rule, e.broadcast_dimensions, e.result_shape
    ('B4', ((0, 1), (1,)), (200, 3))
    >>> e.kernel_shape, e.packed
    ('contiguous', (('x2', ('short inner axis',)),))
    >>> print(str(e).partition("rule")[0].rstrip())
    add: (200, 3) and (3,) give (200, 3)
    <BLANKLINE>
    dimension     0   1
    x1          200   3   float32
                  :   =
    x2                3   float32
    result      200   3   float32
    = sizes are equal
    : one operand has it, the other is stretched along it
    """
    if isinstance(op, str):
        op = _op_of(op)
    elif not isinstance(op, ufunc):
        raise _errors.no_op(op)
    dims = keywords.get("broadcast_dimensions")
    if isinstance(dims, Iterator):
        # it is looked at twice
        dims = keywords["broadcast_dimensions"] = tuple(dims)
    facts = report(op, x1, x2, keywords)
    out = keywords.get("out")
    return _explain(op.__name__, facts, _dtype(x1), _dtype(x2), out, dims)


def _op_of(name):
    try:
        return ops[name]
    except KeyError:
        raise _errors.no_op(name) from None


def _dtype(x):
    """What an operand brings to promotion: a dtype, or the type of a Python number."""
    dtype = getattr(x, "dtype", None)
    if isinstance(dtype, np.dtype):
        return dtype
    if type(x) in (int, float, complex):
        return type(x)
    return type(x) if dtype is not None or hasattr(x, "__array_ufunc__") else np.asarray(x).dtype


def _explain(name, facts, dtype1, dtype2, out, dims):
    from xbcast._explanation import Explanation

    sources = facts["sources"]
    shapes = facts["shapes"]
    planned = "nest_shape" in facts
    placed = "placed_strides" in facts
    roles = ("out", "x1", "x2", "where")[: 4 if facts["masked"] else 3]
    before = _patterns_before(facts, roles) if placed else None
    after = _patterns_after(facts, roles) if planned else None
    return Explanation(
        op=name,
        shapes=shapes,
        result_shape=facts["result_shape"],
        rule=_rule(name, shapes, dims),
        broadcast_dimensions=tuple(map(_placement, sources)),
        stretched=tuple(
            _stretched(shape, source, facts["result_shape"])
            for shape, source in zip(shapes, sources, strict=True)
        ),
        operand_dtypes=(dtype1, dtype2),
        loop_op=facts.get("loop_op"),
        loop_dtypes=_users_order(facts.get("loop_dtypes")),
        computed_in=_users_order(_computed_in(facts)) if "own_loop" in facts else None,
        result_dtype=facts["result_dtype"],
        handed_to_numpy=not placed,
        warnings=facts.get("warnings"),
        roles=roles,
        patterns_before=before,
        patterns_after=after,
        merged_axes=_merged_axes(before, after) if planned else None,
        kernel_shape=_kernel_shape(facts) if planned else None,
        packed=tuple((role, _reasons(facts, role)) for role in facts["packed"]) if planned else None,
        block=facts["block"][-len(facts["nest_shape"]) :] if planned and facts["block"] else None,
        out_given=facts["out_given"],
        copied=tuple(facts["copied"].items()),
        in_place=_in_place(facts) if placed and facts["out_given"] else (),
        scratch_bytes=facts["scratch_bytes"] * facts["threads"] if planned else 0,
        streams=planned and facts["streams"],
        threads=facts["threads"] if planned else 1,
    )


# ------------------------------------------------------------------------ the shapes


def _rule(name, shapes, dims):
    """The rule that placed the operands."""
    if is_per_operand(name, dims):
        return "B11"
    if not all(shapes):
        return "B2"
    return "B1" if len(shapes[0]) == len(shapes[1]) else "B4"


def _placement(source):
    """The dimensions of the result in which an operand's own dimensions land."""
    return tuple(d for d, own in enumerate(source) if own >= 0)


def _stretched(shape, source, result):
    return tuple(d for d, own in enumerate(source) if own >= 0 and shape[own] == 1 != result[d])


def _users_order(of_roles):
    """From the plan's order (out, x1, x2) to NumPy's (x1, x2, out)."""
    return None if of_roles is None else (*of_roles[1:], of_roles[0])


# ---------------------------------------------------------------------- the patterns


def _patterns_before(facts, roles):
    return PatternTuple(
        *(
            Pattern(facts["result_shape"], facts["placed_strides"][role], 0, facts["itemsizes"][role])
            for role in roles
        )
    )


def _patterns_after(facts, roles):
    return PatternTuple(
        *(
            Pattern(
                facts["nest_shape"],
                facts["nest_strides"][role],
                facts["nest_offsets"][role],
                facts["nest_itemsizes"][role],
            )
            for role in roles
        )
    )


def _merged_axes(before, after):
    """
    For each axis of the plan the dimensions of the result that it is made of.

    `out` is unique, so no two of its dimensions have strides of one magnitude: the
    fastest dimension of an axis is the one with its stride, and the next is where the
    axis would go on.
    """
    out = before[0]
    dims = {abs(s): d for d, (n, s) in enumerate(zip(out.shape, out.strides, strict=True)) if n != 1}
    axes = []
    for size, stride in zip(after[0].shape, after[0].strides, strict=True):
        axis = []
        reached = 1
        while reached < size:
            axis.insert(0, dims[abs(stride) * reached])
            reached *= out.shape[axis[0]]
        axes.append(tuple(axis))
    return tuple(axes)


# --------------------------------------------------------------------------- the run


def _inner_stride(facts, role):
    """Bytes from one element to the next along the innermost axis, in the operand's memory."""
    strides = facts["nest_strides"][role]
    return strides[-1] if strides else 0


def _kernel_shape(facts):
    """Which of its five layouts the inner loop meets; what is packed is contiguous."""
    if not facts["own_loop"]:
        return "NumPy's loop"
    steps = []
    for role in ("out", "x1", "x2"):
        stride = _inner_stride(facts, role)
        contiguous = role in facts["packed"] or stride == facts["nest_itemsizes"][role]
        second = facts["takes_every_second"] and stride == 2 * facts["nest_itemsizes"][role]
        apart = "second" if second else "apart"
        steps.append("contiguous" if contiguous else "scalar" if stride == 0 else apart)
    return {
        ("contiguous", "contiguous", "contiguous"): "contiguous",
        ("contiguous", "scalar", "contiguous"): "left scalar",
        ("contiguous", "contiguous", "scalar"): "right scalar",
        ("contiguous", "second", "second"): "every second",
    }.get(tuple(steps), "general")


def _loop_dtype(facts, role):
    return facts["loop_dtypes"][("out", "x1", "x2").index(role)]


def _computed_in(facts):
    """What the kernel computes in: loops of our own widen float16 on the way."""
    if not facts["own_loop"]:
        return facts["loop_dtypes"]
    return tuple(np.dtype(np.float32) if t == np.float16 else t for t in facts["loop_dtypes"])


def _reasons(facts, role):
    """Why something goes through scratch: what stands between its memory and the loop."""
    reasons = []
    if facts["masked"]:
        reasons.append("mask")
    if role in facts["swapped"]:
        reasons.append("byte order")
    if role != "where":
        memory = facts["memory_dtypes"][role]
        taken = _loop_dtype(facts, role)
        if memory != taken:
            pair = (taken, memory) if role == "out" else (memory, taken)
            reasons.append("conversion from {} to {}".format(*pair))
    return tuple(reasons) or _reasons_of_layout(facts, role)


def _reasons_of_layout(facts, role):
    stride = _inner_stride(facts, role)
    itemsize = facts["nest_itemsizes"][role]
    if not facts["own_loop"]:
        places = (facts["addresses"][role] + facts["nest_offsets"][role], *facts["nest_strides"][role])
        if stride != itemsize and not (facts["takes_gaps"] and stride > itemsize):
            return ("NumPy's loop takes it contiguous",)
        if any(place % _loop_dtype(facts, role).alignment for place in places):
            return ("NumPy's loop takes it aligned",)
    alone = role == "x1" and "x2" not in facts["packed"]
    if alone and _inner_stride(facts, "x1") == _inner_stride(facts, "x2") == 0:
        return ("constant, like the other operand",)
    if stride in (0, itemsize) or role == "out":
        return ("short inner axis",)
    others = facts["nest_strides"][role][:-1]
    if any(0 < abs(s) < abs(stride) for s in others):
        return ("transposed",)
    return ("reversed",) if stride == -itemsize else ("elements apart",)


def _in_place(facts):
    """What `out` lies exactly on: same address, same strides, same size of elements."""
    strides = facts["placed_strides"]
    moving = [d for d, n in enumerate(facts["result_shape"]) if n != 1]
    return tuple(
        role
        for role in _OPERANDS
        if role in strides
        and not (role == "x2" and facts["squares"])
        and facts["addresses"][role] == facts["addresses"]["out"]
        and facts["itemsizes"][role] == facts["itemsizes"]["out"]
        and all(strides[role][d] == strides["out"][d] for d in moving)
    )
