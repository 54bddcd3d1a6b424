"""What users meet before any number: names, signatures, help, attributes, pickling, calling."""

import ast
import copy
import importlib.resources
import inspect
import pickle
import pydoc
import subprocess
import sys

import numpy as np
import pytest

import oracle
import xbcast
from xbcast._optable import OPS

KEYWORDS = ["out", "broadcast_dimensions", "degenerate_dimensions", "where", "casting", "order", "dtype",
            "subok", "signature"]  # fmt: skip


def every_spelling():
    return [(spelling, op) for op in OPS for spelling in (op.name, *op.aliases)]


# ---- names ------------------------------------------------------------------


def test_every_two_operand_ufunc_of_numpy_is_there():
    """But matmul and its kin, which are no elementwise functions."""
    have = {op.numpy for op in OPS}
    for name in dir(np):
        ufunc = getattr(np, name)
        if isinstance(ufunc, np.ufunc) and (ufunc.nin, ufunc.nout) == (2, 1) and ufunc.signature is None:
            assert ufunc.__name__ in have, name


def test_every_name_of_a_ufunc_in_numpy_is_there():
    """Aliases too: what NumPy calls by two names has both here, and they are one object."""
    for name in dir(np):
        ufunc = getattr(np, name)
        if isinstance(ufunc, np.ufunc) and (ufunc.nin, ufunc.nout) == (2, 1) and ufunc.signature is None:
            assert getattr(xbcast, name) is getattr(xbcast, ufunc.__name__)


@pytest.mark.parametrize("spelling, op", every_spelling(), ids=[s for s, _ in every_spelling()])
def test_op_is_there_under_its_name(spelling, op):
    found = getattr(xbcast, spelling)
    assert type(found) is xbcast.ufunc
    assert found is getattr(xbcast, op.name)
    assert found.__name__ == op.name


def test_all():
    assert len(set(xbcast.__all__)) == len(xbcast.__all__)
    for name in xbcast.__all__:
        assert hasattr(xbcast, name)
    exported = {s for s, op in every_spelling() if op.exported}
    hidden = {s for s, op in every_spelling() if not op.exported}
    functions = {"BroadcastError", "bench", "broadcast_in_dim", "broadcast_shapes", "ufunc"}
    assert set(xbcast.__all__) >= exported | functions
    assert not set(xbcast.__all__) & hidden
    for name in set(xbcast.__all__) - exported - {"__version__"}:
        assert inspect.getdoc(getattr(xbcast, name)), name


def test_star_import_shadows_no_builtin_that_matters():
    """`complex` is an op, and `from xbcast import *` must not take the type away; pow goes, as
    in `from numpy import *`."""
    import builtins

    assert "complex" not in xbcast.__all__
    assert set(xbcast.__all__) & set(dir(builtins)) <= {"pow"}


def test_no_stray_public_names():
    public = {name for name in vars(xbcast) if not name.startswith("_")}
    ops = {s for s, _ in every_spelling()}
    assert public == set(xbcast.__all__) - {"__version__"} | ops


def test_version():
    assert isinstance(xbcast.__version__, str) and xbcast.__version__[0].isdigit()


def test_methods_that_come_later_are_absent():
    for name in ("reduce", "accumulate", "reduceat", "outer", "at", "resolve_dtypes"):
        assert not hasattr(xbcast.add, name)


# ---- the callable -----------------------------------------------------------


@pytest.mark.parametrize("name", oracle.OP)
def test_attributes(name):
    op = getattr(xbcast, name)
    assert (op.nin, op.nout, op.nargs) == (2, 1, 3)
    assert op.signature is None
    assert repr(op) == f"<xbcast.ufunc '{name}'>"
    assert callable(op)
    assert op.__module__ == "xbcast"
    if oracle.OP[name].numpy:
        ufunc = getattr(np, oracle.OP[name].numpy)
        assert op.identity == ufunc.identity
        assert op.types == ufunc.types
        assert op.ntypes == ufunc.ntypes
    else:
        assert op.ntypes == len(op.types) > 0
        assert all(t[2:4] == "->" for t in op.types)


def test_attributes_cannot_be_changed():
    for name in ("nin", "types", "identity", "__name__", "__doc__", "invented"):
        with pytest.raises((AttributeError, TypeError)):
            setattr(xbcast.add, name, 1)


def test_type_is_final():
    with pytest.raises(TypeError):
        type("Mine", (xbcast.ufunc,), {})
    with pytest.raises(TypeError):
        xbcast.ufunc()


@pytest.mark.parametrize("name", oracle.OP)
def test_pickles_and_copies_by_name(name):
    op = getattr(xbcast, name)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(op, protocol)) is op
    assert copy.copy(op) is op
    assert copy.deepcopy(op) is op
    assert copy.deepcopy({"op": [op]})["op"][0] is op
    assert hash(op) == hash(getattr(xbcast, name)) and op == op and op != np.add


def test_pickle_is_read_by_another_process():
    code = f"import pickle; print(pickle.loads({pickle.dumps(xbcast.mod)!r})(7, 4))"
    assert (
        subprocess.run(
            [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
        == "3"
    )


@pytest.mark.parametrize("name", oracle.OP)
def test_signature(name):
    signature = inspect.signature(getattr(xbcast, name))
    parameters = signature.parameters
    assert list(parameters) == ["x1", "x2", *KEYWORDS]
    assert parameters["x1"].kind == parameters["x2"].kind == inspect.Parameter.POSITIONAL_ONLY
    assert all(parameters[k].kind == inspect.Parameter.KEYWORD_ONLY for k in KEYWORDS)
    defaults = {k: parameters[k].default for k in KEYWORDS}
    assert defaults == {"out": None, "broadcast_dimensions": None, "degenerate_dimensions": None,
                        "where": True, "casting": "same_kind", "order": "K", "dtype": None,
                        "subok": True, "signature": None}  # fmt: skip


def test_every_default_may_be_given():
    signature = inspect.signature(xbcast.add)
    defaults = {k: p.default for k, p in signature.parameters.items() if k in KEYWORDS}
    assert xbcast.add(1.0, 2.0, **defaults) == 3
    assert xbcast.add(np.ones(2, "O"), 2.0, **defaults).tolist() == [3, 3]


@pytest.mark.parametrize("name", oracle.OP)
def test_help(name):
    op = getattr(xbcast, name)
    lines = inspect.cleandoc(op.__doc__).splitlines()
    assert lines[0].startswith(f"{name}(x1, x2, /")  # as NumPy's ufuncs do
    assert lines[2] == oracle.OP[name].summary
    for section in ("Parameters", "Returns", "Examples"):
        assert f"\n{section}\n{'-' * len(section)}\n" in inspect.cleandoc(op.__doc__)
    for parameter in ("x1", "x2", *KEYWORDS):
        assert parameter in op.__doc__
    text = pydoc.render_doc(op, renderer=pydoc.plaintext)
    assert oracle.OP[name].summary in text
    for alias in oracle.OP[name].aliases:
        assert alias in op.__doc__


@pytest.mark.parametrize("name", [*oracle.OP, "broadcast_shapes", "broadcast_in_dim", "BroadcastError",
                                  "bench", "explain"])  # fmt: skip
def test_examples_in_docstrings_run(name):
    import doctest

    function = getattr(xbcast, name)
    parser = doctest.DocTestParser()
    test = parser.get_doctest(inspect.cleandoc(function.__doc__), {"np": np, "xbcast": xbcast}, name, None, 0)
    if name != "bench":  # prints times, so it has nothing to compare
        assert test.examples
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(test)
    assert runner.summarize(verbose=False).failed == 0


@pytest.mark.parametrize("name", ["broadcast_shapes", "broadcast_in_dim", "bench", "explain"])
def test_functions_introspect(name):
    function = getattr(xbcast, name)
    assert inspect.signature(function) is not None
    assert function.__name__ == name
    assert function.__module__ == "xbcast"
    assert pickle.loads(pickle.dumps(function)) is function
    assert name in pydoc.render_doc(function, renderer=pydoc.plaintext)


def test_signature_of_functions():
    assert list(inspect.signature(xbcast.broadcast_shapes).parameters) == [
        "lhs",
        "rhs",
        "broadcast_dimensions",
        "degenerate_dimensions",
    ]
    assert list(inspect.signature(xbcast.broadcast_in_dim).parameters) == [
        "x",
        "shape",
        "broadcast_dimensions",
    ]
    view = xbcast.broadcast_in_dim(x=np.ones(3), shape=(2, 3), broadcast_dimensions=(1,))
    assert view.shape == (2, 3)


# ---- calling ----------------------------------------------------------------


def test_a_third_positional_argument_is_no_output():
    """In NumPy `maximum(a, b, c)` writes into c."""
    a, b, c = np.ones(3), np.zeros(3), np.full(3, 7.0)
    with pytest.raises(TypeError, match="^maximum: .*out="):
        xbcast.maximum(a, b, c)
    assert (c == 7).all()


@pytest.mark.parametrize("args", [(), (1,), (1, 2, 3), (1, 2, None), (1, 2, 3, 4)], ids=str)
def test_number_of_operands(args):
    with pytest.raises(TypeError, match=f"^add: .*2.*{len(args)}"):
        xbcast.add(*args)


def test_operands_are_positional_only():
    for keywords in ({"x1": 1, "x2": 2}, {"x2": 2}):
        args = (1,) if len(keywords) == 1 else ()
        with pytest.raises(TypeError, match="^add: "):
            xbcast.add(*args, **keywords)


@pytest.mark.parametrize("keyword", ["axis", "keepdims", "extobj", "sig", "broadcast_dims", "Out", ""])
def test_unknown_keywords(keyword):
    with pytest.raises(TypeError, match=f"^add: .*{keyword!r}"):
        xbcast.add(1, 2, **{keyword: None})


def test_a_keyword_that_is_not_interned():
    """Keywords are recognised by value, not by identity."""
    for name in KEYWORDS:
        spelled = "".join(list(name))
        default = inspect.signature(xbcast.add).parameters[name].default
        assert xbcast.add(1, 2, **{spelled: default}) == 3


@pytest.mark.parametrize("subok", [1, 0, None, "yes", np.True_], ids=repr)
def test_subok_is_a_truth_value(subok):
    results = []
    for op in (np.add, xbcast.add):
        try:
            results.append(op(np.ones(2), 1, subok=subok).tolist())
        except (TypeError, ValueError) as error:
            results.append(type(error))
    assert results[0] == results[1]


def test_calls_through_the_other_protocols():
    """map, partial, unpacking, operator.call and __call__ all end in the same place."""
    import functools

    assert list(map(xbcast.add, [1, 2], [3, 4])) == [4, 6]
    place = functools.partial(xbcast.add, broadcast_dimensions=(1,))
    assert place(np.ones((2, 3)), np.ones(3)).shape == (2, 3)
    assert xbcast.add.__call__(1, 2) == 3
    assert xbcast.add.__call__(np.ones((2, 3)), np.ones(3), broadcast_dimensions=(1,)).shape == (2, 3)
    assert type(xbcast.ufunc.__call__(xbcast.add, 1, 2)) is np.int64
    assert functools.reduce(xbcast.add, [1, 2, 3]) == 6


def test_is_not_a_method():
    """As a class attribute it does not bind, like NumPy's ufuncs."""

    class Holder:
        add = xbcast.add

    assert Holder().add(1, 2) == 3


def test_results_of_rank_0_are_scalars():
    for x1, x2 in ((1, 2), (1.0, 2), (np.float32(1), np.float32(2)), (np.array(1), np.array(2)),
                   (np.array(1, "f2"), 2.0), (1j, 2), (True, True)):  # fmt: skip
        got, want = xbcast.add(x1, x2), np.add(x1, x2)
        assert type(got) is type(want) and got == want
        assert type(xbcast.less(abs(x1), abs(x2))) is np.bool_
    assert type(xbcast.add(np.ones(1), 1)) is np.ndarray


# ---- stubs ------------------------------------------------------------------


def stub():
    return ast.parse(importlib.resources.files("xbcast").joinpath("__init__.pyi").read_text("utf-8"))


def test_package_is_typed():
    assert importlib.resources.files("xbcast").joinpath("py.typed").is_file()


def test_stub_has_every_public_name():
    names = set()
    for node in stub().body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            names.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            names.add(node.target.id)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets}
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {alias.asname for alias in node.names if alias.asname == alias.name}
    assert set(xbcast.__all__) <= names
    assert {s for s, _ in every_spelling()} <= names


def test_stub_has_the_members_of_ufunc():
    (class_,) = [n for n in stub().body if isinstance(n, ast.ClassDef) and n.name == "ufunc"]
    members = {n.name for n in class_.body if isinstance(n, ast.FunctionDef)}
    members |= {n.target.id for n in class_.body if isinstance(n, ast.AnnAssign)}
    real = {n for n in dir(xbcast.ufunc) if not n.startswith("_")}
    assert {m for m in members if not m.startswith("_")} == real
    calls = [n for n in class_.body if isinstance(n, ast.FunctionDef) and n.name == "__call__"]
    assert calls
    for call in calls:
        assert [a.arg for a in call.args.posonlyargs] == ["self", "x1", "x2"]
        assert [a.arg for a in call.args.kwonlyargs] == KEYWORDS


# ---- settings of the tests themselves ---------------------------------------


def test_cpu_levels(use_level):
    levels = xbcast._core.cpu_levels()
    assert levels and len(set(levels)) == len(levels)
    assert xbcast._core.cpu_level() in levels
    for level in levels:
        use_level(level)
        assert xbcast._core.cpu_level() == level
    with pytest.raises(ValueError):
        use_level("v99")


@pytest.mark.parametrize("level", xbcast._core.cpu_levels())
def test_cpu_level_from_the_environment(level):
    code = "import xbcast; print(xbcast._core.cpu_level(), xbcast.add(1, 2))"
    run = subprocess.run(
        [sys.executable, "-P", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"XBCAST_CPU_LEVEL": level, "PATH": ""},
    )
    assert run.stdout.split() == [level, "3"]


def test_cpu_level_that_does_not_exist():
    run = subprocess.run(
        [sys.executable, "-P", "-c", "import xbcast"],
        capture_output=True,
        text=True,
        env={"XBCAST_CPU_LEVEL": "v99", "PATH": ""},
    )
    assert run.returncode != 0
    assert "XBCAST_CPU_LEVEL" in run.stderr.splitlines()[-1]
    assert "v99" in run.stderr.splitlines()[-1]
