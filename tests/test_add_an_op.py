"""An op is one line of the op table: the line that docs/adding_an_op.md gives as example is
put into a copy of the table, the loops are rendered and compiled, and the new op runs beside
the others, with no other file touched.

Needs the source checkout, Cython and a C compiler.
"""

import importlib.util
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import textwrap

import pytest

import xbcast

ROOT = pathlib.Path(__file__).parent.parent
LEVEL = xbcast._core.cpu_levels()[0]


def run(*command, **keywords):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **keywords)
    assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-4000:])
    return done.stdout


def example_line():
    """The first Python block of the page."""
    page = (ROOT / "docs/adding_an_op.md").read_text("utf-8")
    return re.search(r"```python\n(_op\(.*?)```", page, re.DOTALL)[1]


def table_with_the_line(path):
    lines = (ROOT / "xbcast/_optable.py").read_text("utf-8").splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if line.lstrip().startswith('_op("subtract"'))
    lines.insert(at, textwrap.indent(example_line(), "    "))
    path.write_text("".join(lines), "utf-8")


def compile_module(pyx, name, target):
    c_file = pyx.with_suffix(".c")
    run(sys.executable, "-P", "-m", "cython", "-3", "-I", ROOT / "src", "--module-name", name,
        pyx, "-o", c_file)  # fmt: skip
    linker, shared = (shlex.split(sysconfig.get_config_var(key)) for key in ("LDSHARED", "CCSHARED"))
    # no optimisation: the test is about the table, and waits for the compiler
    run(*linker, *shared, "-O0", "-ffp-contract=off", "-fwrapv", "-I", ROOT / "src/xbcast",
        "-I", sysconfig.get_path("include"), c_file, "-lm", "-o", target)  # fmt: skip


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A copy of the installed package with one more line in its table; the folder that holds it."""
    if not (ROOT / "src/render.py").exists():
        pytest.skip("the sources are not beside the tests")
    if importlib.util.find_spec("Cython") is None:
        pytest.skip("Cython is not installed")
    compiler = shlex.split(sysconfig.get_config_var("LDSHARED") or "")
    if os.name == "nt" or not compiler or shutil.which(compiler[0]) is None:
        pytest.skip("there is no C compiler")
    folder = tmp_path_factory.mktemp("with_one_more_op")
    copy = folder / "xbcast"
    shutil.copytree(
        pathlib.Path(xbcast._core.__file__).parent,
        copy,
        ignore=shutil.ignore_patterns("_loops_*", "__pycache__"),
    )
    for source in pathlib.Path(xbcast.__file__).parent.glob("*.py*"):
        shutil.copy(source, copy)
    table_with_the_line(copy / "_optable.py")
    render = (sys.executable, ROOT / "src/render.py")
    templates = ROOT / "src/xbcast"
    run(
        *render,
        "loops",
        "--table",
        copy / "_optable.py",
        "--template",
        templates / "_loops.pyx.in",
        "--output",
        folder / f"_loops_{LEVEL}.pyx",
    )
    run(
        *render,
        "stub",
        "--table",
        copy / "_optable.py",
        "--template",
        templates / "__init__.pyi.in",
        "--output",
        copy / "__init__.pyi",
    )
    compile_module(
        folder / f"_loops_{LEVEL}.pyx",
        f"xbcast._loops_{LEVEL}",
        copy / f"_loops_{LEVEL}{sysconfig.get_config_var('EXT_SUFFIX')}",
    )
    return folder


def python(package, code):
    """Run code in a process that imports the copy."""
    environment = {**os.environ, "PYTHONPATH": str(package), "XBCAST_CPU_LEVEL": LEVEL}
    return run(sys.executable, "-P", "-c", textwrap.dedent(code), env=environment, cwd=package)


def test_the_copy_is_used(package):
    where = python(package, "import xbcast; print(xbcast.__file__, xbcast._core.cpu_level())").split()
    assert pathlib.Path(where[0]).is_relative_to(package)
    assert where[1] == LEVEL


def test_the_new_op_computes(package):
    out = python(
        package,
        """
        import numpy as np, xbcast
        op = xbcast.absolute_difference
        for dtype in "bBhHiIlLefd":
            a = np.array([1, 5, 9, 3] * 33, dtype)
            b = np.array([4, 2, 9, 1] * 33, dtype)
            got = op(a, b)
            assert got.dtype == dtype and (got == [3, 3, 0, 2] * 33).all(), dtype
            assert (op(a[::-1], b[::-1]) == got[::-1]).all()
        assert op(np.uint8([250]), np.uint8([251])) == 1
        table = op(np.arange(6.0).reshape(2, 3), np.array([1.0, 5.0]), broadcast_dimensions=(0,))
        assert table.tolist() == [[1, 0, 1], [2, 1, 0]]
        assert op(np.int8([1]), np.float32([2.5])).dtype == np.float32
        assert op(3, 5) == 2
        for refused in (np.ones(2, bool), np.ones(2, "F"), np.ones(2, "O")):
            try:
                op(refused, refused)
            except TypeError:
                pass
            else:
                raise AssertionError(refused.dtype)
        try:
            op(np.ones((2, 3)), np.ones(3))
        except xbcast.BroadcastError as error:
            print(error)
    """,
    )
    assert out.startswith("absolute_difference: broadcast_dimensions")


def test_the_new_op_is_a_full_member(package):
    out = python(
        package,
        """
        import inspect, pickle, xbcast
        op = xbcast.absolute_difference
        assert "absolute_difference" in xbcast.__all__
        assert pickle.loads(pickle.dumps(op)) is op
        assert str(inspect.signature(op)) == str(inspect.signature(xbcast.add))
        assert op.types
        print(op.__name__, op.__doc__)
    """,
    )
    assert out.startswith("absolute_difference ")
    assert "Distance between the operands." in out
    assert "absolute_difference" in (package / "xbcast/__init__.pyi").read_text("utf-8")


def test_the_other_ops_are_as_before(package):
    """The new line stands in the middle: every op behind it must still find its own loops."""
    out = python(
        package,
        """
        import numpy as np, xbcast
        from xbcast._optable import OPS
        for op in OPS:
            if op.numpy is None:
                continue
            for dtype in "bHLefdF":
                a, b = np.array([6, 3, 1, 2] * 9, dtype), np.array([2, 3, 3, 1] * 9, dtype)
                if op.name == "ldexp":
                    b = b.real.astype("i")
                try:
                    want = getattr(np, op.numpy)(a, b)
                except TypeError:
                    continue
                got = getattr(xbcast, op.name)(a, b)
                assert got.dtype == want.dtype and np.allclose(got, want, rtol=1e-6), (op.name, dtype)
        print("done")
    """,
    )
    assert out == "done\n"


def test_a_table_that_contradicts_itself_is_refused(package, tmp_path):
    text = (package / "xbcast/_optable.py").read_text("utf-8")
    twice = text.replace('_op("subtract"', '_op("add"')
    assert twice != text
    (tmp_path / "table.py").write_text(twice, "utf-8")
    done = subprocess.run(
        [
            sys.executable,
            str(ROOT / "src/render.py"),
            "loops",
            "--table",
            str(tmp_path / "table.py"),
            "--template",
            str(ROOT / "src/xbcast/_loops.pyx.in"),
            "--output",
            str(tmp_path / "out.pyx"),
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert "'add'" in done.stderr.splitlines()[-1]
    assert not (tmp_path / "out.pyx").exists()
