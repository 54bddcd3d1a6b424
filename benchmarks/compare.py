"""xbcast beside NumPy, numexpr, PyTorch and JAX, whichever are installed.

    python benchmarks/compare.py [--rows REGEX] [--seconds S] [--output FOLDER]

writes comparison.md and comparison.svg. Thread pools of several packages disturb
each other in one process, so each peer gets a process of its own, beside xbcast and
NumPy, which take turns with it. A further process copies as many bytes as a row
reads and writes: no package can be faster where memory is the limit.
"""

import argparse
import html
import json
import os
import platform
import re
import subprocess
import sys
import timeit
from concurrent.futures import ThreadPoolExecutor, wait
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from pathlib import Path

import numpy as np

import xbcast
from xbcast._bench import CASES, VIEWS, Array, Case, format_time, geometric_mean, interleave

MILLION = (10**6,)


def _same(op, dtype, shape=MILLION, **how):
    return Case(op, Array(shape, dtype, **how), Array(shape, dtype, **how))


ROWS = (
    *CASES,
    # Further sizes of the plainest call.
    _same("add", "float32", (1000,))._replace(new_output=True),
    _same("add", "float32", (10**4,)),
    _same("add", "float32", (2 * 10**7,))._replace(new_output=True),
    _same("add", "float64", (2 * 10**7,)),
    # Calls.
    Case("add", 1.5, Array((3,)), new_output=True),
    Case("multiply", Array((4, 4), "float32"), Array((4,), "float32"), (0,), new_output=True),
    Case("less", Array((10,)), Array((10,)), new_output=True),
    Case("add", Array((10,), "int64"), 3, new_output=True),
    Case("subtract", Array((100, 3)), Array((3,)), (1,), new_output=True),
    Case("multiply", Array((10,)), Array((10,)), ((0,), (1,)), new_output=True),
    # Short inner dimensions, on either side and in the middle.
    Case("add", Array((10**6, 2)), Array(MILLION), (0,)),
    Case("add", Array((10**5, 3, 8), "float32"), Array((10**5, 8), "float32"), (0, 2)),
    Case("subtract", Array((10**6, 3)), Array((3,)), (1,)),
    Case("multiply", Array((10**6, 4), "uint8"), Array((4,), "uint8"), (1,)),
    Case("divide", Array((10**5, 10)), Array((10**5,)), (0,)),
    Case("add", Array((3,), "float32"), Array((10**6, 3), "float32"), (1,)),
    Case("add", Array((10**5, 5), "int32"), Array((5,), "int32"), (1,)),
    Case("add", Array((10**5, 7)), Array((7,)), (1,)),
    Case("maximum", Array((10**5, 16), "float32"), Array((16,), "float32"), (1,)),
    # Channels of images, first and last.
    Case("multiply", Array((256, 256, 7, 7), "float32"), Array((256,), "float32"), (1,)),
    Case("add", Array((32, 28, 28, 64), "float32"), Array((64,), "float32"), (3,)),
    Case("multiply", Array((1080, 1920, 3), "uint8"), Array((3,), "float32"), (2,)),
    Case("multiply", Array((1080, 1920, 3), "float32"), Array((1080, 1920), "float32"), (0, 1)),
    Case("subtract", Array((8, 3, 224, 224), "float32"), Array((3,), "float32"), (1,)),
    # Outer products and differences.
    Case("multiply", Array((2000,)), Array((2000,)), ((0,), (1,))),
    Case("subtract", Array((500, 1, 3)), Array((1, 500, 3))),
    Case("add", Array((100, 100, 1)), Array((100, 100)), (1, 2)),
    # Other layouts.
    *(
        Case("add", Array((n, n), "float32"), Array((n, n), "float32", "transposed"))
        for n in (2048, 4096)
    ),
    Case("multiply", Array((1000, 1000), view="transposed"), Array((1000, 1000))),
    Case("add", Array((1000, 1000), "uint8"), Array((1000, 1000), "uint8", "transposed")),
    Case("add", Array(MILLION, "float32", "stepped"), Array(MILLION, "float32", "stepped")),
    Case("multiply", Array((1000, 1000), view="stepped"), Array((1000,)), (1,)),
    Case("subtract", Array(MILLION, "float32", "reversed"), Array(MILLION, "float32")),
    # Mixed dtypes.
    Case("add", Array(MILLION, "float32"), Array(MILLION)),
    Case("multiply", Array(MILLION, "int16"), Array(MILLION, "float32")),
    Case("add", Array(MILLION, "uint8"), Array(MILLION, "int32")),
    Case("divide", Array(MILLION, "int32"), Array(MILLION, "int32")),
    Case("less", Array(MILLION, "int32"), Array(MILLION)),
    Case("add", Array((1000, 1000), "float16"), Array((1000,), "float32"), (0,)),
    # Other ops.
    _same("maximum", "float32"),
    _same("add", "int8"),
    _same("logical_and", "bool"),
    Case("remainder", Array(MILLION, "int64", low=-(10**6), high=10**6), Array(MILLION, "int64")),
    Case("remainder", Array(MILLION), Array(MILLION)),
    Case("fmod", Array(MILLION, low=1, high=500), Array(MILLION, low=1, high=2)),
    _same("divide", "float64"),
    _same("multiply", "complex128"),
    _same("arctan2", "float32"),
    _same("multiply", "float32"),
    _same("multiply", "int64"),
    _same("equal", "uint8"),
    _same("greater_equal", "float64"),
    _same("minimum", "int32"),
    _same("fmax", "float64"),
    _same("bitwise_xor", "uint32"),
    Case("left_shift", Array(MILLION, "int32"), Array(MILLION, "int32", low=0, high=31)),
    _same("copysign", "float64"),
    _same("hypot", "float64"),
    _same("logaddexp", "float64"),
    _same("gcd", "int32"),
    _same("floor_divide", "float64"),
    _same("floor_divide", "uint8"),
    _same("add", "complex64"),
    _same("divide", "complex128"),
    _same("multiply", "float16"),
    _same("less", "float16"),
    Case("multiply", Array((1000, 1000), "float16"), Array((1000,), "float16"), (1,)),
    Case("power", Array(MILLION), 2.0),
    Case("power", Array(MILLION, "int64", low=1, high=5), Array(MILLION, "int64", low=0, high=8)),
)

# Names that a peer gives to an op, where they are not NumPy's.
TORCH_NAMES = {
    "power": "pow", "equal": "eq", "less": "lt", "greater_equal": "ge", "left_shift":
    "bitwise_left_shift",
}  # fmt: skip
NUMEXPR = {
    "add": "a + b", "subtract": "a - b", "multiply": "a * b", "divide": "a / b",
    "power": "a ** b", "remainder": "a % b", "floor_divide": "a // b", "less": "a < b",
    "equal": "a == b", "greater_equal": "a >= b", "left_shift": "a << b",
    "bitwise_xor": "a ^ b", "logical_and": "a & b", "arctan2": "arctan2(a, b)",
    "fmod": "fmod(a, b)", "maximum": "maximum(a, b)", "minimum": "minimum(a, b)",
    "hypot": "hypot(a, b)", "copysign": "copysign(a, b)",
}  # fmt: skip


class NotOffered(Exception):
    """A peer has no such op, dtype or layout."""


# A peer is a function (case, operands, expanded) -> (statement, globals, value of the
# result). `operands` holds a, b and perhaps out as NumPy arrays, `expanded` their text
# in NumPy's words, such as "b[None, :]".


def numexpr_peer(case, operands, expanded):
    import numexpr

    if case.op not in NUMEXPR:
        raise NotOffered
    # re_evaluate looks the compiled expression up again, which is numexpr's fastest way.
    result = numexpr.evaluate(
        NUMEXPR[case.op],
        local_dict={k: eval(text, operands) for k, text in zip("ab", expanded, strict=True)},
        out=operands.get("out"),
    )
    words = ", ".join(f"'{k}': {text}" for k, text in zip("ab", expanded, strict=True))
    return f"run(local_dict={{{words}}})", operands | {"run": numexpr.re_evaluate}, result


def torch_peer(case, operands, expanded):
    import torch

    op = getattr(torch, TORCH_NAMES.get(case.op, case.op), None)
    if op is None:
        raise NotOffered
    names = {"op": op}
    for name, x in operands.items():
        names[name] = torch.from_numpy(x) if isinstance(x, np.ndarray) else x
    a, b = expanded
    statement = f"op({a}, {b}{', out=out' if 'out' in operands else ''})"
    return statement, names, eval(statement, names).numpy()


def jax_peer(case, operands, expanded):
    import jax

    jax.config.update("jax_enable_x64", True)
    op = getattr(jax.numpy, case.op, None)
    if op is None:
        raise NotOffered
    names = {"op": op} | {f"{k}_view": VIEWS[getattr(x, "view", "")] for k, x in zip(
        "ab", (case.x1, case.x2), strict=True)}  # fmt: skip
    # Views belong to the compiled function: JAX has no strided arrays.
    a, b = (text.replace(k, f"{k}_view({k})", 1) for k, text in zip("ab", expanded, strict=True))
    run = jax.jit(eval(f"lambda a, b: op({a}, {b})", names))
    bases = {k: operands[f"{k}_base"] for k in "ab"}
    names = {"run": run} | {
        k: jax.numpy.asarray(x) if isinstance(x, np.ndarray) else x for k, x in bases.items()
    }
    statement = "run(a, b).block_until_ready()"
    return statement, names, np.asarray(eval(statement, names))


def copy_peer(case, operands, expanded):
    """Copies as many bytes as the operands and the output have, in as many threads."""
    arrays = [operands[k] for k in ("a_base", "b_base") if hasattr(operands[k], "nbytes")]
    total = sum(x.nbytes for x in arrays) + operands["result"].nbytes
    if total < 10**5:
        raise NotOffered
    # What is written once and read never: the pages are touched here.
    source, target = np.ones(total // 2, np.uint8), np.ones(total // 2, np.uint8)
    cuts = np.linspace(0, total // 2, operands["threads"] + 1).astype(int)
    parts = [(target[i:j], source[i:j]) for i, j in pairwise(cuts)]
    pool = ThreadPoolExecutor(max(1, len(parts) - 1))

    def copy():
        others = [pool.submit(np.copyto, *part) for part in parts[1:]]
        np.copyto(*parts[0])
        wait(others)

    return "copy()", {"copy": copy}, None


PEERS = {"copy": copy_peer, "numexpr": numexpr_peer, "torch": torch_peer, "jax": jax_peer}


def measure_row(case, peer, threads, seconds):
    """Seconds per call of NumPy, xbcast and, where it offers this, the peer."""
    timers = case.timers()
    operands = case.operands()
    expected = eval(case.numpy_statement(), operands | {"op": getattr(np, case.op)})
    if peer in ("copy", "jax"):
        for i, (k, x) in enumerate((("a", case.x1), ("b", case.x2))):
            operands[f"{k}_base"] = x.base(i) if isinstance(x, Array) else x
    if peer == "copy":
        operands |= {"result": expected, "threads": threads}
    try:
        statement, names, result = PEERS[peer](case, operands, case.numpy_words())
        if result is not None:
            # A peer that computes in another dtype, or something else, does other work.
            if result.dtype != expected.dtype:
                raise NotOffered
            tolerance = 1e-2 if expected.dtype == np.float16 else 1e-4
            if not np.allclose(result, expected, tolerance, tolerance, equal_nan=True):
                raise NotOffered
        timers[peer] = timeit.Timer(statement, globals=names)
    except (NotOffered, TypeError, ValueError, RuntimeError, NotImplementedError):
        pass  # packages refuse a dtype or a layout in many ways
    return interleave(timers, seconds)


def work(peer, threads, rows, seconds):
    """The process of one peer: prints the times of each row as a line of JSON."""
    if threads == 1:
        # Holds for every package, whatever setting it goes by.
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    if threads > 1:
        xbcast.set_num_threads(threads)
    np.seterr(all="ignore")
    for index in rows:
        times = measure_row(ROWS[index], peer, threads, seconds)
        print(json.dumps({"row": index, "times": times}), flush=True)


def collect(peers, threads, rows, seconds):
    """
    row -> peer -> seconds.

    Medians of what the processes found: of NumPy's time, of xbcast's as a fraction of it, and
    of a peer's as a multiple of xbcast's in the same process. From one process to the next the
    machine may have become another, and the arrays lie elsewhere.
    """
    found = {row: {} for row in rows}
    for peer in peers:
        command = [sys.executable, __file__, "--peer", peer, "--threads", str(threads)]
        command += ["--seconds", str(seconds), "--indices", ",".join(map(str, rows))]
        environment = dict(os.environ)
        for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"):
            environment[name] = str(threads)
        pipe = {"stdout": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, env=environment, **pipe) as process:
            for line in process.stdout:
                answer = json.loads(line)
                times = answer["times"]
                units = {"numpy": 1.0, "xbcast": times["numpy"]}
                for name, value in times.items():
                    fraction = value / units.get(name, times["xbcast"])
                    found[answer["row"]].setdefault(name, []).append(fraction)
                print(f"{peer}, {threads}: {ROWS[answer['row']]}", file=sys.stderr)
        if process.returncode:
            raise SystemExit(f"compare: the process of {peer} failed")
    results = {}
    for row, times in found.items():
        medians = {name: float(np.median(values)) for name, values in times.items()}
        numpy = medians.pop("numpy")
        ours = numpy * medians.pop("xbcast")
        results[row] = {"numpy": numpy, "xbcast": ours}
        results[row] |= {name: ours * multiple for name, multiple in medians.items()}
    return results


def best_peer(times):
    """Name and seconds of the fastest package that is not xbcast."""
    others = times.keys() - {"xbcast", "copy"}
    return min(((name, times[name]) for name in others), key=lambda pair: pair[1])


def to_markdown(results, peers):
    """The tables, one for each number of threads, after the machine and the versions."""
    packages = [f"xbcast {xbcast.__version__}"]
    packages += [f"{name} {version(name)}" for name in ("numpy", *peers)]
    lines = [
        f"{cpu_name()}, CPU level {xbcast._core.cpu_level()}; "
        f"Python {platform.python_version()}, {', '.join(packages)}.",
        "Times of xbcast and of its peers are given as fractions of NumPy's. `copy` is a copy",
        "of as many bytes as the row reads and writes: the limit where memory is one.",
    ]
    for threads, table in results.items():
        columns = [*peers, "copy"]
        lines += ["", f"## {threads} thread{'s' * (threads > 1)}", ""]
        lines += ["| work | NumPy | xbcast | " + " | ".join(columns) + " |"]
        lines += ["|---|" + "---:|" * (2 + len(columns))]
        for row, times in table.items():
            unit = times["numpy"]
            cells = [f"{times[k] / unit:.3f}" if k in times else "" for k in columns]
            cells = [ROWS[row], format_time(unit), f"**{times['xbcast'] / unit:.3f}**", *cells]
            lines.append(f"| {' | '.join(map(str, cells))} |")
        ratios = [t["xbcast"] / t["numpy"] for t in table.values()]
        text = f"Geometric mean of xbcast: {geometric_mean(ratios):.3f} of NumPy's time"
        # as fast is not behind: the two are told apart by no less than the noise
        ahead = sum(t["xbcast"] <= 1.05 * best_peer(t)[1] for t in table.values())
        others = "NumPy, " + ", ".join(peers) if peers else "NumPy"
        text += f"; within 5 % of the best of {others}, or ahead, in {ahead} of {len(table)} rows."
        lines += ["", text]
    return "\n".join(lines) + "\n"


def cpu_name():
    try:
        text = Path("/proc/cpuinfo").read_text()
        return re.search(r"model name\s*: (.*)", text)[1]
    except (OSError, TypeError):
        return platform.processor() or platform.machine()


BLUE, GREY = "#2563a8", "#aaaaaa"


def to_svg(results):
    """Bars on a logarithmic scale: time of xbcast and of the best peer over NumPy's."""
    label, width, line, top = 430, 360, 22, 56
    low, high = 0.01, 2.0

    def place(ratio):
        return width * np.log(min(max(ratio, low), high) / low) / np.log(high / low)

    n = max(len(table) for table in results.values())
    size = (label + len(results) * (width + 40), top + n * line + 10)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]}" '
        f'font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
        '<text x="8" y="18" font-size="13">Time as a fraction of NumPy\'s (logarithmic): '
        f'<tspan fill="{BLUE}">xbcast</tspan>, '
        f'<tspan fill="{GREY}">best other package</tspan></text>',
    ]
    for column, (threads, table) in enumerate(results.items()):
        x = label + column * (width + 40)
        parts.append(f'<text x="{x}" y="34">{threads} thread{"s" * (threads > 1)}</text>')
        for mark in (0.01, 0.03, 0.1, 0.3, 1):
            at = f"{x + place(mark):.1f}"
            parts.append(f'<path d="M {at} {top - 4} V {size[1]}" stroke="#ddd"/>')
            parts.append(f'<text x="{at}" y="{top - 8}" text-anchor="middle">{mark}</text>')
        for i, (row, times) in enumerate(table.items()):
            y = top + i * line
            if column == 0:
                text = html.escape(str(ROWS[row]))
                parts.append(f'<text x="{label - 8}" y="{y + 13}" text-anchor="end">{text}</text>')
            bars = (y + 2, times["xbcast"], BLUE), (y + 11, best_peer(times)[1], GREY)
            for at, seconds, colour in bars:
                length = f"{place(seconds / times['numpy']):.1f}"
                bar = f'<rect x="{x}" y="{at}" width="{length}" height="8" fill="{colour}"/>'
                parts.append(bar)
    return "\n".join([*parts, "</svg>"]) + "\n"


def is_installed(name):
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", default="", help="only rows whose text matches this expression")
    parser.add_argument("--seconds", type=float, default=0.5, help="for each row and peer")
    parser.add_argument(
        "--output",
        type=Path,
        default=Path(),
        help="folder for comparison.md and comparison.svg; the working directory by default",
    )
    parser.add_argument("--threads", type=int, help="only with this many threads")
    parser.add_argument("--peer", help=argparse.SUPPRESS)
    parser.add_argument("--indices", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        work(options.peer, options.threads, map(int, options.indices.split(",")), options.seconds)
        return
    try:
        rows = [i for i, case in enumerate(ROWS) if re.search(options.rows, str(case))]
    except re.error as error:
        parser.error(f"--rows: {options.rows!r} is no regular expression: {error}")
    if not rows:
        parser.error(f"--rows: no row matches {options.rows!r}; one of them is {str(ROWS[0])!r}")
    peers = [name for name in PEERS if name != "copy" and is_installed(name)]
    counts = [1]
    if hasattr(xbcast, "set_num_threads"):
        counts.append(len(os.sched_getaffinity(0)))
    if options.threads:
        counts = [options.threads]
    results = {
        threads: collect(["copy", *peers], threads, rows, options.seconds)
        for threads in dict.fromkeys(counts)
    }
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "comparison.md").write_text(to_markdown(results, peers))
    (options.output / "comparison.svg").write_text(to_svg(results))
    print(to_markdown(results, peers))
    print(f"Written to {options.output.resolve()}: comparison.md, comparison.svg")


if __name__ == "__main__":
    main()
