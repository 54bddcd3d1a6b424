"""No byte outside an array is read or written: arrays lie against inaccessible pages, at
every alignment, length and kind of stride, for each kernel and each way of packing.

An access outside kills the process, so each sweep (guarded.py) runs in one of its own.
"""

import mmap
import os
import pathlib
import subprocess
import sys

import pytest

import guarded
import xbcast

PROGRAM = pathlib.Path(guarded.__file__)

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs mprotect")


def sweep(tmp_path, level, *sections):
    """Run sections of guarded.py; the number of calls made, or a failure that names the last."""
    note = tmp_path / "note"
    note.write_bytes(bytes(mmap.PAGESIZE))
    command = [sys.executable, PROGRAM, note, level, *sections]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = note.read_bytes().rstrip(b" \0").decode()
        pytest.fail(f"exit status {done.returncode} in {last}\n{done.stderr[-3000:]}", pytrace=False)
    return int(done.stdout)


@pytest.mark.parametrize("section", guarded.SECTIONS)
@pytest.mark.parametrize("level", xbcast._core.cpu_levels())
def test_nothing_outside(tmp_path, level, section):
    assert sweep(tmp_path, level, section) > 100


@pytest.mark.parametrize("side", guarded.SIDES)
def test_the_pages_are_inaccessible(side):
    """One byte beside an array ends the process, so that the sweep above can fail."""
    code = f"""
import ctypes, numpy, guarded
x = guarded.Guarded(1).place((8,), [1], numpy.dtype("u1"), {side!r})
print(x.sum(), flush=True)
ctypes.string_at(x.ctypes.data + {-1 if side == "start" else 8}, 1)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=PROGRAM.parent,
                          check=False)  # fmt: skip
    assert done.stdout == f"{8 * 0xA5}\n"
    assert done.returncode != 0
