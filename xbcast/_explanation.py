"""The result of `xbcast.explain`: facts about one call, and their text and HTML.

Decides nothing and reads nothing but its own fields. HTML is one self-contained
element without scripts or links; it takes the colours of its surroundings, so it can
be read on light and dark pages.
"""

from dataclasses import dataclass
from html import escape
from typing import Any

from xbcast._pattern import PatternTuple
from xbcast._svg import COLOURS

_WHY = {
    "B1": "equal ranks, dimension by dimension",
    "B2": "an operand of rank 0 goes with everything",
    "B4": "the lower-rank operand lies where broadcast_dimensions says",
    "B11": "each operand lies where its own entry says",
}
_WARNINGS = {
    "hardware": "from the processor's flags",
    "computed": "found by the loop",
    "never": "none can occur",
}
# How a dimension of the result comes about, between the operands.
_EQUAL, _STRETCHED, _ALONE, _NOBODY = "=", "*", ":", " "
_LEGEND = {
    _EQUAL: "sizes are equal",
    _STRETCHED: "a size of 1 takes the other",
    _ALONE: "one operand has it, the other is stretched along it",
    _NOBODY: "",
}


@dataclass(frozen=True, slots=True)
class Explanation:
    """
    What a call would do, as `explain` found it; its docstring lists the fields.

    ``str()`` gives a text, and notebooks show a drawing. Two explanations are equal if
    all fields are.

    Examples
    --------
    >>> import xbcast
    >>> e = xbcast.explain("multiply", [[1.0, 2.0]], 3.0)
    >>> e.rule, e.kernel_shape, e.threads
    ('B2', 'right scalar', 1)
    """

    op: str
    shapes: tuple[tuple[int, ...], tuple[int, ...]]
    result_shape: tuple[int, ...]
    rule: str
    broadcast_dimensions: tuple[tuple[int, ...], tuple[int, ...]]
    stretched: tuple[tuple[int, ...], tuple[int, ...]]
    operand_dtypes: tuple[Any, Any]
    loop_op: str | None
    loop_dtypes: tuple[Any, Any, Any] | None
    computed_in: tuple[Any, Any, Any] | None
    result_dtype: Any
    handed_to_numpy: bool
    warnings: str | None
    roles: tuple[str, ...]
    patterns_before: PatternTuple | None
    patterns_after: PatternTuple | None
    merged_axes: tuple[tuple[int, ...], ...] | None
    kernel_shape: str | None
    packed: tuple[tuple[str, tuple[str, ...]], ...] | None
    block: tuple[int, ...] | None
    out_given: bool
    copied: tuple[tuple[str, int], ...]
    in_place: tuple[str, ...]
    scratch_bytes: int
    streams: bool
    threads: int

    def __str__(self):
        lines = [_title(self), "", *_drawing(self), ""]
        lines += _aligned(_facts(self), gap=2)
        layout = _layout(self)
        if layout:
            lines += ["", *_aligned(layout, gap=3)]
        return "\n".join(lines)

    def to_svg(self):
        """
        Draw the shapes: boxes in rows, those that go together joined by lines.

        A column is a dimension of the result. A dashed box is a dimension that the
        operand does not have, or in which its size of 1 is stretched.

        Returns
        -------
        str
            A self-contained <svg> element.

        Examples
        --------
        >>> import xbcast
        >>> xbcast.explain("add", [[1, 2]], [[3], [4]]).to_svg()[:4]
        '<svg'
        """
        return _svg(self)

    def _repr_html_(self):
        facts = "".join(
            f'<tr><th style="{_CELL}">{escape(name)}</th><td style="{_CELL}">{escape(text)}</td></tr>'
            for name, text in _facts(self)
        )
        layout = "".join(
            "<tr>"
            + "".join(
                f'<{tag} style="{_CELL}">{escape(text)}</{tag}>'
                for tag, text in zip(("th", *["td"] * (len(row) - 1)), row, strict=True)
            )
            + "</tr>"
            for row in _layout(self)
        )
        return (
            '<div style="font-family: monospace; color: inherit">'
            f"<div>{escape(_title(self))}</div>{_svg(self)}"
            f'<table style="{_TABLE}"><tbody>{facts}</tbody></table>'
            + (f'<table style="{_TABLE}"><tbody>{layout}</tbody></table>' if layout else "")
            + "</div>"
        )


# ---------------------------------------------------------------------------- words


def _bracketed(numbers):
    return "[" + " ".join(map(str, numbers)) + "]"


def _title(e):
    return f"{e.op}: {e.shapes[0]} and {e.shapes[1]} give {e.result_shape}"


def _name(dtype):
    """A dtype or the type of a weak number or foreign operand, as one word or two."""
    if dtype is None:
        return "left to the operands"
    if isinstance(dtype, type):
        return f"Python {dtype.__name__}" if dtype in (int, float, complex) else dtype.__name__
    return str(dtype)


def _bytes(n):
    return f"{n} bytes" if n < 1 << 13 else f"{n / 1024:.0f} KiB" if n < 1 << 23 else f"{n / 2**20:.0f} MiB"


def _loop(dtypes):
    return f"({', '.join(map(_name, dtypes[:2]))}) to {_name(dtypes[2])}"


def _facts(e):
    """Everything but the drawing and the layout, as (name, text)."""
    rule = f"{e.rule}: {_WHY[e.rule]}"
    if any(e.stretched):
        rule += "; B8: a size of 1 takes the other size"
    yield "rule", rule
    yield "dimensions", f"broadcast_dimensions={e.broadcast_dimensions}"
    if e.handed_to_numpy:
        yield "loop", "NumPy's ufunc takes the call, on operands expanded by these rules"
    else:
        loop = _loop(e.loop_dtypes)
        if e.computed_in != e.loop_dtypes:
            loop += f", computed as {_loop(e.computed_in)}"
        if e.loop_op != e.op:
            loop += f", that of {e.loop_op} on x1 and x1"
        yield "loop", loop
        yield "warnings", _WARNINGS[e.warnings]
    if e.merged_axes is not None:
        yield "axes", _axes(e)
        yield "kernel", e.kernel_shape
        for role, reasons in e.packed:
            yield "packed", f"{role}: {', '.join(reasons)}"
        if e.packed:
            yield "block", f"{' x '.join(map(str, e.block))} elements at a time"
        else:
            yield "packed", "nothing"
    elif not e.handed_to_numpy:
        yield "plan", "none, as the result is empty"
    yield "out", _out(e)
    extra = sum(n for _, n in e.copied) + e.scratch_bytes
    memory = f"{_bytes(extra) if extra else 'none'} beyond the result"
    yield "memory", memory + ("; what NumPy's ufunc takes is not known" if e.handed_to_numpy else "")
    yield "threads", str(e.threads)


def _axes(e):
    """The loop nest: how long each axis is, and which dimensions are in it."""
    axes = [
        f"{size} (dimension{'s' if len(dims) > 1 else ''} {', '.join(map(str, dims))})"
        for size, dims in zip(e.patterns_after.shape, e.merged_axes, strict=True)
    ]
    return " of ".join(axes) if axes else "one element"


def _out(e):
    if not e.out_given:
        return "a new array" if e.result_shape else "a scalar"
    text = "given"
    if e.in_place:
        text += f"; {' and '.join(e.in_place)} {'is' if len(e.in_place) == 1 else 'are'} overwritten in place"
    if e.streams:
        text += "; written past the cache if that turns out faster"
    for role, n in e.copied:
        text += f"; {role} shares memory with it and is copied first ({_bytes(n)})"
    return text


def _layout(e):
    """A table of strides: one row per role, before and after the plan."""
    if e.patterns_before is None:
        return []
    rows = [["strides in bytes", f"placed {_bracketed(e.result_shape)}"]]
    if e.patterns_after is not None:
        rows[0].append(f"walked {_bracketed(e.patterns_after.shape)}")
    for k, role in enumerate(e.roles):
        row = [role, _bracketed(e.patterns_before[k].strides)]
        if e.patterns_after is not None:
            p = e.patterns_after[k]
            row.append(_bracketed(p.strides) + (f" from {p.offset}" if p.offset else ""))
        rows.append(row)
    return rows


def _aligned(rows, gap):
    rows = [list(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        (" " * gap).join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


# -------------------------------------------------------------------------- pictures


def _sizes(e, k):
    """An operand's size in each dimension of the result, None where it has none."""
    sizes = [None] * len(e.result_shape)
    for d, n in zip(e.broadcast_dimensions[k], e.shapes[k], strict=True):
        sizes[d] = n
    return sizes


def _marks(e):
    """How each dimension of the result comes about."""
    marks = []
    for pair in zip(_sizes(e, 0), _sizes(e, 1), strict=True):
        there = [n for n in pair if n is not None]
        if len(there) < 2:
            marks.append(_ALONE if there else _NOBODY)
        else:
            marks.append(_EQUAL if there[0] == there[1] else _STRETCHED)
    return marks


def _drawing(e):
    """The shapes under each other, the dimensions that match between them."""
    marks = _marks(e)
    dtypes = [*map(_name, e.operand_dtypes), _name(e.result_dtype)]
    rows = [
        ["dimension", *map(str, range(len(marks))), ""],
        ["x1", *_cells(_sizes(e, 0)), dtypes[0]],
        ["", *marks, ""],
        ["x2", *_cells(_sizes(e, 1)), dtypes[1]],
        ["result", *map(str, e.result_shape), dtypes[2]],
    ]
    if not marks:
        del rows[2], rows[0]
    columns = [*zip(*rows, strict=True)]
    widths = [max(map(len, column)) for column in columns]
    lines = [
        "   ".join(
            [
                row[0].ljust(widths[0]),
                *(cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:-1], strict=True)),
                row[-1],
            ]
        ).rstrip()
        for row in rows
    ]
    return lines + [f"{mark} {_LEGEND[mark]}" for mark in _LEGEND if mark in marks and _LEGEND[mark]]


def _cells(sizes):
    return ["" if n is None else str(n) for n in sizes]


_CELL = "text-align: left; vertical-align: top; padding: 1px 12px 1px 0; background: none; color: inherit"
_TABLE = "border-collapse: collapse; margin: 4px 0; color: inherit"
_CHARACTER = 7.3  # width of a character of 12 px
_LINE = 36  # from one row of boxes to the next
_BOX = 22  # height of a box


def _text(x, y, text, anchor="start"):
    return f'<text x="{x:.0f}" y="{y}" text-anchor="{anchor}" fill="currentColor">{escape(text)}</text>'


def _box(x, y, width, colour, present):
    style = f'fill="{colour}" fill-opacity="0.3"' if present else 'fill="none" stroke-dasharray="3 3"'
    return f'<rect x="{x:.0f}" y="{y}" width="{width:.0f}" height="{_BOX}" stroke="{colour}" {style}/>'


def _svg(e):
    rows = [
        ("x1", _sizes(e, 0), e.stretched[0], _name(e.operand_dtypes[0])),
        ("x2", _sizes(e, 1), e.stretched[1], _name(e.operand_dtypes[1])),
        ("result", e.result_shape, (), _name(e.result_dtype)),
    ]
    widths = [
        max(28, 12 + _CHARACTER * max(len(str(n)) for n in (*column, "") if n is not None))
        for column in zip(*(row[1] for row in rows), strict=True)
    ]
    left = 8 + _CHARACTER * len("result") + 12
    starts = [left]
    for width in widths:
        starts.append(starts[-1] + width + 10)
    body = []
    carried = set()
    for k, (label, sizes, stretched, dtype) in enumerate(rows):
        y = 8 + k * _LINE
        body.append(_text(8, y + 15, label))
        for d, n in enumerate(sizes):
            present = n is not None and d not in stretched
            body.append(_box(starts[d], y, widths[d], COLOURS[d % len(COLOURS)], present))
            if n is not None:
                body.append(_text(starts[d] + widths[d] / 2, y + 15, str(n), "middle"))
            # downwards what is present in this row, and x1's own past a dashed box of x2
            if k < 2 and (present or (k == 1 and d in carried)):
                carried.add(d)
                colour = COLOURS[d % len(COLOURS)]
                x = starts[d] + widths[d] / 2
                body.append(f'<path d="M{x:.0f} {y + _BOX}v{_LINE - _BOX}" stroke="{colour}" fill="none"/>')
        body.append(_text(starts[-1] + 4, y + 15, dtype))
    width = starts[-1] + 16 + _CHARACTER * max(len(row[3]) for row in rows)
    height = 2 * _LINE + _BOX + 16
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
        f'viewBox="0 0 {width:.0f} {height}" role="img" style="display: block" '
        f'font-family="monospace" font-size="12"><title>{escape(_title(e))}</title>{"".join(body)}</svg>'
    )
