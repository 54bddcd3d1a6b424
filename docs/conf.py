"""Sphinx: the Markdown pages of this folder, and a reference page made from the op table.

`sphinx-build -W docs docs/_build` needs xbcast installed.
"""

from pathlib import Path

import xbcast
from xbcast._optable import OPS

project = "xbcast"
author = "xbcast developers"
release = xbcast.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
source_suffix = {".md": "markdown"}
autosummary_generate = False
exclude_patterns = ["_build"]
myst_heading_anchors = 3
html_theme = "alabaster"
numpydoc_show_class_members = False
# Every check but those of layout (GL) and of sections that not every docstring needs.
numpydoc_validation_checks = {"all", "GL01", "GL02", "ES01", "EX01", "SA01", "SA02", "SA03"}
html_title = f"xbcast {release}"


def directive(kind, name, *options):
    """An autodoc directive, which is reStructuredText, inside Markdown."""
    lines = [f".. auto{kind}:: xbcast.{name}", *(f"   :{option}:" for option in options)]
    return ["```{eval-rst}", *lines, "```", ""]


def write_reference(app):
    """Make reference.md: all public names, the ops in the order of their table."""
    ops = {op.name for op in OPS} | {alias for op in OPS for alias in op.aliases}
    lines = ["# Reference", "", "## Ops", "", "| op | also called | |", "|---|---|---|"]
    for op in OPS:
        also = ", ".join(f"`{alias}`" for alias in op.aliases)
        lines.append(f"| [`{op.name}`](#xbcast.{op.name}) | {also} | {op.summary} |")
    lines.append("")
    for op in OPS:
        lines += directive("function", op.name)
    lines += ["## Other names", ""]
    for name in sorted(set(xbcast.__all__) - ops):
        value = getattr(xbcast, name)
        if isinstance(value, type):
            # The brackets say that there is no constructor signature to look for.
            if issubclass(value, Exception):
                lines += directive("exception", name)
            else:
                lines += directive("class", f"{name}()", "members")
        elif callable(value):
            lines += directive("function", name)
    Path(app.srcdir, "reference.md").write_text("\n".join(lines))


def setup(app):
    app.connect("builder-inited", write_reference)
