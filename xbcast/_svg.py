"""Drawings of memory: the elements of patterns, where they lie, as SVG text.

Reads patterns by their public attributes only and decides nothing. A drawing is
one self-contained <svg> element without scripts or links; text takes the colour of
its surroundings, so it can be read on light and dark pages.
"""

from html import escape
from itertools import accumulate
from math import gcd

CELL = 22  # width of the smallest unit that is drawn
LANE = 20  # height of one pattern's strip
GAP = 8  # between rows of memory
MARGIN = 10
CHARACTER = 6  # width of a character of 10 px
LONGEST_ROW = 32  # cells
MOST_ROWS = 16
MOST_ELEMENTS = 4096
COLOURS = ("#4c8dd6", "#e0903c", "#4fae62", "#b565c4", "#c9564f", "#8a8a35", "#3ba7a7", "#7d7d7d")


def _unit(patterns, base):
    """Bytes of one cell: no element and no step begins or ends inside a cell."""
    unit = 0
    for p in patterns:
        unit = gcd(unit, p.itemsize, p.offset - base)
        unit = gcd(unit, *(s for n, s in zip(p.shape, p.strides, strict=True) if n > 1))
    return unit


def _row_length(patterns, unit, cells):
    """Cells in a row: as many as a stride spans, so that an array's rows stand in line."""
    if cells <= LONGEST_ROW:
        return cells
    spans = {abs(s) // unit for p in patterns for n, s in zip(p.shape, p.strides, strict=True) if n > 1}
    return max((s for s in spans if 4 <= s <= LONGEST_ROW), default=LONGEST_ROW)


def _elements(p, below):
    """Index tuples and memory indices of the elements that start below a memory index."""
    order = sorted(range(p.ndim), key=lambda axis: -abs(p.strides[axis]))
    lowest = [min(0, (p.shape[axis] - 1) * p.strides[axis]) for axis in order]
    # What the axes from the k-th on can take off at most.
    rest = [*accumulate(reversed(lowest), initial=0)][::-1]
    found = []

    def walk(k, at, index):
        if at + rest[k] >= below or len(found) == MOST_ELEMENTS:
            return
        if k == p.ndim:
            found.append((tuple(index), at))
            return
        axis = order[k]
        # A unit axis has the index 0, whatever its stride.
        stride = p.strides[axis] if p.shape[axis] > 1 else 0
        for i in range(p.shape[axis]):
            if len(found) == MOST_ELEMENTS or (stride >= 0 and at + i * stride + rest[k + 1] >= below):
                break
            index[axis] = i
            walk(k + 1, at + i * stride, index)
        index[axis] = 0

    walk(0, p.offset, [0] * p.ndim)
    return found


def _labels(p, below):
    """Where elements start -> what to write there."""
    labels = {}
    for index, at in _elements(p, below):
        labels.setdefault(at, []).append(index)
    return {
        at: ",".join(map(str, indices[0])) if len(indices) == 1 else f"{len(indices)}x"
        for at, indices in labels.items()
    }


def _text(x, y, text, anchor="start"):
    return (
        f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="currentColor" stroke="none">'
        f"{escape(text)}</text>"
    )


def _box(x, y, width, height, style):
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" {style}/>'


def _grid(x, y, count):
    width, height = count * CELL, LANE - 4
    lines = "".join(f"M{x + cell * CELL} {y}v{height}" for cell in range(1, count))
    return f'<path d="M{x} {y}h{width}v{height}h-{width}z{lines}" fill="none" stroke-opacity="0.25"/>'


def draw_patterns(patterns):
    """
    Return a drawing of the memory that some patterns cover.

    Memory runs from left to right and goes on in the next row; the number before a
    row is the memory index of its first byte. Each pattern has a strip of its own
    in each row; a box is an element, with its index tuple in it, or 3x where 3
    elements start. What lies beyond 16 rows is left out and said to be.

    Parameters
    ----------
    patterns : sequence of Pattern
        What to draw, in this order.

    Returns
    -------
    str
        An <svg> element.
    """
    visible = [k for k, p in enumerate(patterns) if p.size and p.itemsize]
    drawn = [patterns[k] for k in visible]
    base = min((p.lowest for p in drawn), default=0)
    end = max((p.highest + p.itemsize for p in drawn), default=0)
    unit = _unit(drawn, base) or 1
    cells = (end - base) // unit
    length = _row_length(drawn, unit, cells)
    rows = -(-cells // length) if cells else 0
    shown = min(rows, MOST_ROWS)
    below = min(end, base + shown * length * unit)

    left = MARGIN + CHARACTER * max(len(str(base)), len(str(below))) + 6
    height = LANE * len(drawn)
    y = MARGIN
    body = []
    legend = [
        f"{p} itemsize={p.itemsize}" + ("" if p.size and p.itemsize else " (no bytes)") for p in patterns
    ]
    for k, line in enumerate(legend):
        colour = COLOURS[k % len(COLOURS)]
        body.append(_box(MARGIN, y + 2, 10, 10, f'fill="{colour}" stroke="none"'))
        body.append(_text(MARGIN + 16, y + 11, line))
        y += 16
    y += GAP
    top = y
    for row in range(shown):
        first = base + row * length * unit
        count = min(length, cells - row * length)
        body.append(_text(left - 6, y + height / 2 + 4, str(first), "end"))
        for k in range(len(drawn)):
            body.append(_grid(left, y + k * LANE, count))
        y += height + GAP
    for k, p in enumerate(drawn):
        colour = COLOURS[visible[k] % len(COLOURS)]
        style = f'fill="{colour}" fill-opacity="0.45" stroke="{colour}"'
        for at, label in _labels(p, below).items():
            cell = (at - base) // unit
            left_over = p.itemsize // unit
            while left_over and cell < shown * length:
                row, column = divmod(cell, length)
                part = min(left_over, length - column)
                x, strip = left + column * CELL, top + row * (height + GAP) + k * LANE
                body.append(_box(x, strip, part * CELL, LANE - 4, style))
                if label and len(label) * CHARACTER <= part * CELL:
                    body.append(_text(x + part * CELL / 2, strip + 12, label, "middle"))
                label = ""
                cell += part
                left_over -= part
    width = max(left + length * CELL, MARGIN + 16 + CHARACTER * max(map(len, legend), default=0))
    if below < end:
        body.append(_text(left, y + 8, f"… {end - below} more bytes"))
        y += 16
    if unit > 1:
        body.append(_text(left, y + 8, f"one cell is {unit} bytes"))
        y += 16
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width + MARGIN}" height="{y + MARGIN}" '
        f'viewBox="0 0 {width + MARGIN} {y + MARGIN}" role="img" font-family="monospace" font-size="10" '
        f'stroke="currentColor"><title>{escape("; ".join(legend))}</title>{"".join(body)}</svg>'
    )
