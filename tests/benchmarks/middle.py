"""What the middle end costs: layer-norm backward from its text to optimized SSA with the log of changes, beside
Triton's way to TTIR in the same run, and the passes on kernels of 1,250, 2,500 and 5,000 operations.

    python tests/benchmarks/middle.py [RUNS] [--triton-python PATH]

Triton is measured if the Python given (by default this one) has it. Compare figures of one run only. CPU time is that
of the process: it hardly depends on what else the machine does.
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import stats

from mytriton.compile import SHARED, compile_kernel
from mytriton.frontend.kernel import Kernel
from mytriton.frontend.module import read_module
from mytriton.ir.core import Func
from mytriton.ir.verify import verify
from mytriton.passes import PASSES
from mytriton.specialize import parse_signature
from mytriton.target import Target

ROOT = Path(__file__).parents[2]
FILE = ROOT / "examples" / "kernels" / "layer_norm.py"
KERNEL = "layer_norm_backward_kernel"
BLOCK = 1024
TTIR = Path(__file__).parent / "ttir.py"
SIZES = (1250, 2500, 5000)


def layer_norm() -> Kernel:
    """The kernel, freshly read from its file."""
    return next(k for k in read_module(FILE.read_text(), str(FILE)).kernels if k.name == KERNEL)


def types(kernel: Kernel) -> dict[str, str]:
    """The runtime parameters' types: those of integers are named for what they count."""
    integers = ("row_stride", "rows", "columns")
    names = [p.name for p in kernel.params if not p.is_constexpr]
    return {p: "i32" if p in integers else "*fp32" for p in names}


def compile_layer_norm(runs: int) -> None:
    """Times of each stage, and of all of them from the kernel's text on."""
    kernel = layer_norm()
    signature = ", ".join(t + ":16" * t.startswith("*") for t in types(kernel).values())
    stages: dict[str, list[float]] = defaultdict(list)
    wall, cpu = [], []
    for _ in range(runs + 1):
        kernel = layer_norm()
        start, started = time.perf_counter(), time.process_time()
        specialization = parse_signature(kernel, signature, {"BLOCK": BLOCK})
        compilation = compile_kernel(kernel, specialization, Target("interp"))
        compilation.stage(SHARED[-1])
        wall.append(time.perf_counter() - start)
        cpu.append(time.process_time() - started)
        for stage in compilation.stages:
            stages[stage.name].append(stage.seconds)
    changes = sum(len(s.changes) for s in compilation.stages)
    print(f"\nmytriton: {KERNEL}, {changes} changes logged")
    for name in SHARED[1:]:
        print(" ", stats.row(name, stages[name][1:]))
    passes = [sum(seconds) for seconds in zip(*(stages[f"opt/{p.name}"] for p in PASSES), strict=True)]
    print(" ", stats.row("passes, verified after each", passes[1:]))
    print(" ", stats.row("source to optimized SSA", wall[1:]))
    print(" ", stats.cpu_row("source to optimized SSA, CPU", cpu[1:]))


def peer(runs: int, python: str) -> None:
    """Triton on the same kernel."""
    if subprocess.run([python, "-c", "import triton"], capture_output=True, check=False).returncode:
        print(f"\ntriton is not installed in {python}: no peer in this run (see --triton-python)")
        return
    kernel = layer_norm()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "layer_norm.py"
        path.write_text("import triton\nimport triton.language as tl\n\n\n" + kernel.unit.text)
        words = [f"{name}={type_}" for name, type_ in types(kernel).items()]
        command = [python, str(TTIR), str(path), KERNEL, str(runs), *words, f"BLOCK={BLOCK}"]
        subprocess.run(command, check=True, env={"PYTHONPATH": str(TTIR.parent)})


def scaling(runs: int) -> None:
    """CPU times of each pass, and of the verifier, on ever longer kernels: they should grow as the kernel does."""
    sys.path.insert(0, str(ROOT))
    from tests.ir.long_kernels import LONG

    for name, make in LONG.items():
        print(f"\n{name}: CPU ms for kernels of {', '.join(map(str, SIZES))} operations")
        rows: dict[str, list[float]] = defaultdict(list)
        for size in SIZES:
            best = measure(make(size), runs)
            for what, seconds in best.items():
                rows[what].append(seconds)
        for what, row in rows.items():
            cells = "".join(f"{seconds * 1e3:10.1f}" for seconds in row)
            print(f"  {what:10}{cells}   x{row[-1] / row[0]:.1f} for x{SIZES[-1] / SIZES[0]:.0f}")


def measure(func: Func, runs: int) -> dict[str, float]:
    """The least CPU time of each pass."""
    best: dict[str, float] = {}
    for _ in range(runs):
        current = func
        for pass_ in PASSES:
            start = time.process_time()
            current, _ = pass_.run(current)
            middle = time.process_time()
            verify(current)
            end = time.process_time()
            best[pass_.name] = min(middle - start, best.get(pass_.name, 1e9))
            best["verifier"] = min(end - middle, best.get("verifier", 1e9))
    return {**best, "all": sum(best.values())}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="?", type=int, default=50)
    parser.add_argument("--triton-python", default=sys.executable, metavar="PATH", help="a Python that has Triton")
    options = parser.parse_args()
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, {options.runs} runs")
    compile_layer_norm(options.runs)
    peer(options.runs, options.triton_python)
    scaling(3)


if __name__ == "__main__":
    main()
