"""Draws the figures of the pages: runs a page, and writes what it calls `picture`.

`python docs/draw_figures.py` needs xbcast installed. A test compares the files with
what the page draws, so run it after changing an example or the drawing.
"""

import doctest
import re
from pathlib import Path

PAGES = [Path(__file__).parent / name for name in ("pattern.md", "explain.md")]


def figures(page=PAGES[0]):
    """Yield the file of each image of the page, and the last `picture` made before it."""
    parser = doctest.DocTestParser()
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    scope = {}
    for part in re.split(r"(!\[[^]]+\]\([^)]+\))", page.read_text(encoding="utf-8")):
        image = re.fullmatch(r"!\[[^]]+\]\(([^)]+)\)", part)
        if image:
            yield page.parent / image[1], scope["picture"] + "\n"
        else:
            example = parser.get_doctest(part, scope, page.name, str(page), 0)
            runner.run(example, clear_globs=False)
            scope = example.globs


if __name__ == "__main__":
    for page in PAGES:
        for path, drawing in figures(page):
            path.write_text(drawing, encoding="utf-8")
