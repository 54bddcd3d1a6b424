"""The package as installed: what it brings, what it costs to import, how it says what is wrong."""

import importlib.metadata
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import zlib

import pytest

import xbcast

PACKAGE = pathlib.Path(xbcast.__file__).parent
MODULES = ["_core", "_dtypes", "_memory_sets", "_pattern", "_plan", "_run", "_search", "_shape", "_short"]
MODULES += ["_threads", "_ufunc", "_ways"]


def python(*arguments, **keywords):
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, **keywords)


def installed_files():
    """Files of the distribution, as its record lists them."""
    files = importlib.metadata.files("xbcast")
    assert files
    if not any(file.name == "_core" + sysconfig.get_config_var("EXT_SUFFIX") for file in files):
        pytest.skip("an editable installation has no files of its own")
    return [file for file in files if "__pycache__" not in file.parts]


def test_only_numpy_is_required():
    required = importlib.metadata.requires("xbcast")
    without_extras = [r for r in required if "extra ==" not in r]
    assert [re.match(r"[\w-]+", r)[0].lower() for r in without_extras] == ["numpy"]


def test_versions_agree():
    assert importlib.metadata.version("xbcast") == xbcast.__version__


def test_nothing_but_the_package_is_installed():
    for file in installed_files():
        top = file.parts[0]
        assert top == "xbcast" or top.endswith(".dist-info") or file.stem == "xbcast", file
        if top == "xbcast":
            assert file.suffix in (".py", ".pyi", ".so", ".pyd", ".typed"), file


def test_compiled_modules_are_of_this_python_only():
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    compiled = {f.name for f in installed_files() if f.suffix in (".so", ".pyd")}
    assert all(name.endswith(suffix) for name in compiled)
    loops = [f"_loops_{level}" for level in xbcast._core.cpu_levels()]
    assert {name + suffix for name in MODULES + loops} <= compiled


def test_size():
    """At most what a wheel may be; stripped, so no debug sections."""
    total = 0
    for file in installed_files():
        content = file.locate().read_bytes()
        total += len(zlib.compress(content, 6))
        if file.suffix == ".so":
            assert b".debug_info" not in content, file
    assert total <= 5 << 20


def test_license_comes_along():
    assert any("LICENSE" in file.name for file in installed_files())
    assert importlib.metadata.metadata("xbcast")["License-Expression"] == "BSD-3-Clause"


def test_modules_declare_free_threading():
    """Where the interpreter has no lock, importing the package must not bring it back."""
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("this interpreter always has its lock")
    run = python("-P", "-W", "error", "-c", "import xbcast, sys; print(sys._is_gil_enabled())")
    assert run.stdout.strip() == "False", run.stderr


def test_import_is_cheap():
    """At most 20 ms more than `import numpy`; the best of a few, as machines are shared."""
    code = (
        "import time, numpy; start = time.perf_counter(); import xbcast; print(time.perf_counter() - start)"
    )
    python("-P", "-c", code)
    times = [float(python("-P", "-c", code, check=True).stdout) for _ in range(7)]
    assert min(times) <= 0.020, times


def test_source_folder_without_compiled_modules_says_so(tmp_path):
    """What `import xbcast` meets in a checkout: the Python files alone."""
    folder = tmp_path / "xbcast"
    folder.mkdir()
    for file in PACKAGE.glob("*.py"):
        shutil.copy(file, folder)
    for arguments in (("-c", "import xbcast"), ("-c", "from xbcast import add"), ("-m", "xbcast")):
        run = python(*arguments, cwd=tmp_path, env={})
        assert run.returncode != 0
        last = run.stderr.strip().splitlines()[-1]
        assert "pip install ." in last and str(folder) in last, run.stderr
    assert python("-P", "-c", "import xbcast; print(xbcast.add(1, 2))", cwd=tmp_path).stdout == "3\n"


def test_an_error_inside_the_package_is_not_hidden_by_that_message(tmp_path):
    """Only a missing compiled module gets it; a missing NumPy is reported as that."""
    (tmp_path / "numpy.py").write_text("raise ModuleNotFoundError(\"No module named 'numpy'\", name='numpy')")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import xbcast"
    run = python("-P", "-c", code)
    assert run.returncode != 0
    assert run.stderr.strip().splitlines()[-1] == "ModuleNotFoundError: No module named 'numpy'"


def test_main_job_runs(tmp_path):
    """`python -m xbcast` and the console script: version, machine, a worked broadcast, times."""
    script = shutil.which("xbcast", path=sysconfig.get_path("scripts"))
    assert script
    for command in ([sys.executable, "-P", "-m", "xbcast"], [script]):
        run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60)
        assert run.returncode == 0, run.stderr
        assert run.stderr == ""
        assert xbcast.__version__ in run.stdout
        assert xbcast._core.cpu_level() in run.stdout
        assert "broadcast_dimensions" in run.stdout
        assert "numpy" in run.stdout.lower()
    assert not list(tmp_path.iterdir())
