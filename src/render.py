"""Render a template with the op table, for the build. Standard library only.

    render.py loops --table xbcast/_optable.py --template _loops.pyx.in --output _loops_v3.pyx
    render.py stub --table xbcast/_optable.py --template __init__.pyi.in --output __init__.pyi

Any file with the form of `xbcast/_optable.py` will do as table.

In a template, `{{expression}}` is replaced by its value; a line that holds only
`%% for NAMES in EXPRESSION:`, `%% if EXPRESSION:`, `%% else:` or `%% end` repeats or
leaves out the lines up to its end. Expressions are Python; what they may name is
listed in `loop_names` and `stub_names`.
"""

import argparse
import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

# ---- templates ----

_DIRECTIVE = re.compile(r"\s*%%\s*(for|if|else|end)\b\s*(.*?):?\s*$")
_VALUE = re.compile(r"\{\{(.*?)\}\}")


def render(template: str, names: dict[str, Any]) -> str:
    """Fill in a template."""
    lines = template.splitlines()
    output: list[str] = []
    end = _render_block(lines, 0, names, output)
    if end != len(lines):
        raise ValueError(f"template line {end + 1}: nothing is open here")
    return "\n".join(output) + "\n"


def _render_block(lines: list[str], start: int, names: dict[str, Any], output: list[str] | None) -> int:
    """Render from line `start` to the directive that closes the block; return its
    number. Without `output` only the end is looked for."""
    i = start
    while i < len(lines):
        directive = _DIRECTIVE.match(lines[i])
        if directive is None:
            if output is not None:
                output.append(_VALUE.sub(lambda m: str(eval(m[1], names)), lines[i]))
            i += 1
            continue
        kind, rest = directive.groups()
        if kind in ("else", "end"):
            return i
        if kind == "for":
            variables, _, expression = rest.partition(" in ")
            rounds = list(eval(expression, names)) if output is not None else []
            end = _render_block(lines, i + 1, names, None)
            for value in rounds:
                bound = dict(names)
                exec(f"{variables} = value", {"value": value}, bound)
                _render_block(lines, i + 1, bound, output)
        else:
            holds = output is not None and bool(eval(rest, names))
            end = _render_block(lines, i + 1, names, output if holds else None)
            if _keyword(lines, end) == "else":
                end = _render_block(lines, end + 1, names, None if holds else output)
        if _keyword(lines, end) != "end":
            raise ValueError(f"template line {i + 1}: {kind} is never closed")
        i = end + 1
    return i


def _keyword(lines: list[str], i: int) -> str | None:
    directive = _DIRECTIVE.match(lines[i]) if i < len(lines) else None
    return directive[1] if directive else None


# ---- element types ----


class Element(NamedTuple):
    """An element type, as `_inner_loop.pxd` numbers them."""

    name: str
    category: str  # a category of the op table
    size: int  # bytes
    c: str  # C type of a value

    @property
    def enum(self) -> str:
        return self.name.upper()

    @property
    def stored(self) -> str:
        """C type of an element in memory."""
        return "any_" + self.name

    @property
    def flags(self) -> str:
        """C type that gathers warnings next to elements in vectors of the same length."""
        return "unsigned int" if self.category == "complex" else f"uint{8 * self.size}_t"

    @property
    def read(self) -> str:
        """What is applied to an element read from memory: a bool there is any byte."""
        return "truth" if self.category == "bool" else ""

    @property
    def read_all(self) -> str:
        """The same for one that stands for all of a row."""
        return "truth_of_all" if self.category == "bool" else ""


ELEMENTS = (
    Element("bool", "bool", 1, "uint8_t"),
    Element("int8", "signed", 1, "int8_t"),
    Element("uint8", "unsigned", 1, "uint8_t"),
    Element("int16", "signed", 2, "int16_t"),
    Element("uint16", "unsigned", 2, "uint16_t"),
    Element("int32", "signed", 4, "int32_t"),
    Element("uint32", "unsigned", 4, "uint32_t"),
    Element("int64", "signed", 8, "int64_t"),
    Element("uint64", "unsigned", 8, "uint64_t"),
    Element("float16", "half", 2, "uint16_t"),
    Element("float32", "float", 4, "float"),
    Element("float64", "float", 8, "double"),
    Element("complex64", "complex", 8, "complex64"),
    Element("complex128", "complex", 16, "complex128"),
)
BY_NAME = {element.name: element for element in ELEMENTS}

# casting="same_kind": to the same kind of number or one further down, any size.
_KIND = {"bool": 0, "unsigned": 1, "signed": 2, "half": 3, "float": 3, "complex": 4}


def converts(source: Element, to: Element) -> bool:
    """Whether NumPy casts `source` to `to` under casting="same_kind"."""
    return _KIND[source.category] <= _KIND[to.category]


# ---- loops ----


class Loop(NamedTuple):
    """One compiled inner loop."""

    name: str
    kernel: str  # empty if by blocks
    warning: str  # an expression; empty if the kernel does not compute its warnings
    out: Element
    x1: Element
    x2: Element
    row: str  # the C function that begins a row, if any

    @property
    def takes_every_second(self) -> bool:
        """Whether there is a layout for every second element of both operands: the compiler
        has no vectors of complex numbers."""
        return not self.blocks and self.x1.category != "complex"

    @property
    def takes_gaps(self) -> bool:
        """Whether there is nothing to gain by packing operands with gaps: rows of complex
        numbers make their vectors of any."""
        return bool(self.row) and self.x1.category == "complex"

    @property
    def gathers(self) -> bool:
        """Whether vectors are worth making of operands with gaps, one element after the
        other: where the kernel is more than one operation, and the plan leaves operands as
        they lie (`has_wide_gaps` of _plan.pyx)."""
        return "(" in self.kernel and self.x1.size == 8 and self.x1.category != "complex"

    @property
    def blocks(self) -> str:
        """The C function that does the work in place of a loop, if any."""
        return "" if self.kernel else f"{self.name}_blocks"


class HalfLoop(NamedTuple):
    """One compiled loop over float16, which leaves the work to one over float32."""

    name: str
    out: Element
    wide: Loop
    wide_source: str  # a WarningSource
    row: str  # the C function for a row whose results cannot warn, if any

    takes_every_second = False
    takes_gaps = False

    @property
    def source(self) -> str:
        """Rounding may warn."""
        return "COMPUTED" if self.out.category == "half" else self.wide_source


class Entry(NamedTuple):
    """One entry of the exported table."""

    op: int
    types: tuple[Element, Element, Element]  # out, x1, x2
    source: str  # a WarningSource
    loop: Loop | HalfLoop


def _result(op: Any, table: ModuleType, x1: Element) -> Element:
    if op.result == table.BOOL:
        return BY_NAME["bool"]
    if op.result == table.COMPLEX:
        return BY_NAME["complex128" if x1.name == "float64" else "complex64"]
    return x1


def _signatures(category: str) -> list[tuple[Element, Element]]:
    """The operand types of a category; for "bits" the unsigned ones."""
    if category == "mixed":
        pair = BY_NAME["int64"], BY_NAME["uint64"]
        return [pair, pair[::-1]]
    if category == "bits":
        category = "unsigned"
    return [(element, element) for element in ELEMENTS if element.category == category]


def loops_and_entries(table: ModuleType) -> tuple[list[Loop], list[HalfLoop], list[Entry]]:
    """What the table asks for, in its order."""
    loops: list[Loop] = []
    half_loops: list[HalfLoop] = []
    entries: list[Entry] = []
    for number, op in enumerate(table.OPS):
        for category, kernel in op.kernels.items():
            if kernel == table.NUMPY or category == table.HALF:
                continue
            warning = op.warnings[category]
            source = {table.NEVER: "NEVER", table.HARDWARE: "HARDWARE"}.get(warning, "COMPUTED")
            for x1, x2 in _signatures(category):
                out = _result(op, table, x1)
                name = f"{op.name}_{x1.name}" if x1 == x2 else f"{op.name}_{x1.name}_{x2.name}"
                text = "" if kernel == table.BLOCKS else kernel.format(result=out.name)
                row = f"{name}_row" if x1 == x2 and x1.name in op.rows else ""
                loop = Loop(name, text, warning if source == "COMPUTED" else "", out, x1, x2, row)
                loops.append(loop)
                entries.append(Entry(number, (out, x1, x2), source, loop))
                if category == table.BITS:
                    # The signed type of the same size, x1's predecessor, has the same loop.
                    signed = ELEMENTS[ELEMENTS.index(x1) - 1]
                    types = (_result(op, table, signed), signed, signed)
                    entries.append(Entry(number, types, source, loop))
                if x1.name == "float32" and op.kernels.get(table.HALF) == kernel:
                    half = BY_NAME["float16"]
                    half_loop = HalfLoop(
                        f"{op.name}_float16", _result(op, table, half), loop, source,
                        f"{op.name}_float16_row" if "float16" in op.rows else "",
                    )
                    half_loops.append(half_loop)
                    entries.append(Entry(number, (half_loop.out, half, half), half_loop.source, half_loop))
    return loops, half_loops, entries


# ---- converts ----


class Convert(NamedTuple):
    """One compiled conversion between different representations, of an element `x`."""

    name: str
    to: Element
    source: Element

    @property
    def through(self) -> str:
        """The real number, in the C type in which `to` is made from it."""
        if self.source.category == "half":
            part = _PART.get(self.to.name, self.to.c)
            return "float64_of_half(x)" if part == "double" else "float32_of_half(x)"
        if self.to.category == "half":
            return "x" if self.source.name == "float64" else "<float> x"
        if self.to.category == "complex":
            return f"<{_PART[self.to.name]}> x"
        return f"<{self.to.c}> x"

    @property
    def kernel(self) -> str:
        """An expression of `x`."""
        if self.to.category == "bool":
            truth = {"complex": "complex_truth(x)", "half": "(x & 0x7fff) != 0"}
            return truth.get(self.source.category, "x != 0")
        if self.source.category == "complex":
            part = _PART[self.to.name]
            return f"{self.to.name}_of(<{part}> x.re, <{part}> x.im)"
        if self.to.category == "complex":
            return f"{self.to.name}_of({self.through}, 0)"
        if self.to.category == "half":
            return f"half_of_{self.rounded_from}({self.through})"
        return self.through

    @property
    def rounded_from(self) -> str:
        return "float64" if self.source.name == "float64" else "float32"

    @property
    def warning(self) -> str:
        """An expression of `x`, "hardware" or nothing: how warnings are found."""
        if self.to.category == "half" and self.source.size > 1:
            return f"half_warnings_of_{self.rounded_from}({self.through})"
        if self.source.category in ("float", "complex"):
            return "hardware"
        return ""

    @property
    def quiets(self) -> bool:
        """Whether a block may make quiet NaNs of signalling ones, and NumPy does not."""
        return self.source.category == "half" and bool(self.block)

    @property
    def computed(self) -> bool:
        return self.warning not in ("", "hardware")

    @property
    def block(self) -> str:
        """A function for contiguous elements that is faster than a loop, if any."""
        if {self.to.name, self.source.name} == {"float16", "float32"}:
            return "half_of_float32_block" if self.to.name == "float16" else "float32_of_half_block"
        if self.to.name == "float64" and self.source.name == "float16":
            return "float64_of_half_block"
        if self.to.category == "float" and self.source.name == "bool":
            return f"{self.to.name}_of_bool_block"
        return ""


# Element types of the parts of complex numbers.
_PART = {"complex64": "float", "complex128": "double"}


def _copies(source: Element, to: Element) -> bool:
    """Whether the conversion changes no bit."""
    integers = ("signed", "unsigned")
    return source == to or (
        source.size == to.size and source.category in integers and to.category in integers
    )


def converts_and_table() -> tuple[list[Convert], list[tuple[Element, Element, str]]]:
    """The conversions to compile, and for each pair (to, source) its function."""
    compiled: list[Convert] = []
    pairs: list[tuple[Element, Element, str]] = []
    for to in ELEMENTS:
        for source in ELEMENTS:
            if not converts(source, to):
                continue
            if _copies(source, to):
                pairs.append((to, source, f"copy_{to.size}"))
            elif to.category == "signed" and source.category in ("bool", "unsigned"):
                # The same bits as to the unsigned type of that size.
                unsigned = ELEMENTS[ELEMENTS.index(to) + 1]
                pairs.append((to, source, f"{unsigned.name}_of_{source.name}"))
            else:
                name = f"{to.name}_of_{source.name}"
                compiled.append(Convert(name, to, source))
                pairs.append((to, source, name))
    return compiled, pairs


def truths() -> list[tuple[Element, Convert]]:
    """Each element type but bool, and the conversion that takes its truth."""
    found = []
    for source in ELEMENTS[1:]:
        # the same bits as those of the unsigned type of that size
        read = ELEMENTS[ELEMENTS.index(source) + 1] if source.category == "signed" else source
        found.append((source, Convert(f"truth_of_{read.name}", BY_NAME["bool"], read)))
    return found


# Sizes of a copied element, and an unsigned type of that size, in table order.
_COPY_SIZES = ((1, "any_uint8"), (2, "any_uint16"), (4, "any_uint32"), (8, "any_uint64"), (16, "any_bytes16"))

# (bytes of a swapped number, how many make up an element)
_SWAPS = ((2, 1), (4, 1), (8, 1), (4, 2), (8, 2))


def swap_of(element: Element) -> str:
    """The function that swaps the bytes of an element."""
    parts = 2 if element.category == "complex" else 1
    return f"swap_{element.size // parts}x{parts}" if element.size > 1 else "NULL"


def loop_names(table: ModuleType) -> dict[str, Any]:
    """What the template of the loops may name."""
    loops, half_loops, entries = loops_and_entries(table)
    compiled, pairs = converts_and_table()
    return {
        "loops": loops,
        "half_loops": half_loops,
        "entries": entries,
        "converts": compiled + [convert for source, convert in truths() if convert.source == source],
        "truths": truths(),
        "convert_pairs": pairs,
        "elements": ELEMENTS,
        "swaps": _SWAPS,
        "swap_of": swap_of,
        "element_copies": _COPY_SIZES,
    }


def stub_names(table: ModuleType) -> dict[str, Any]:
    """What the template of the stub may name."""
    return {"ops": table.OPS, "exported": [op for op in table.OPS if op.exported]}


# ---- command line ----


def load_table(path: Path) -> ModuleType:
    """The op table in a file, checked."""
    spec = importlib.util.spec_from_file_location("op_table", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} is not a Python file")
    table = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(table)
    table.check(table.OPS)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=("loops", "stub"))
    parser.add_argument("--table", type=Path, required=True, help="the op table")
    parser.add_argument("--template", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    names = {"loops": loop_names, "stub": stub_names}[options.what](load_table(options.table))
    options.output.write_text(render(options.template.read_text("utf-8"), names), "utf-8")


if __name__ == "__main__":
    main()
