"""What the middle end costs: layer-norm backward and attention from their text to optimized SSA, all logged, beside
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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
TTIR = Path(__file__).parent / "ttir.py"
SIZES = (1250, 2500, 5000)


@dataclass(frozen=True)
class Subject:
    """A kernel of the examples, the types of its run-time parameters, and its constexprs."""

    file: str
    name: str
    types: dict[str, str]
    constexprs: dict[str, Any]

    def read(self) -> Kernel:
        """The kernel, freshly read from its file."""
        path = ROOT / "examples" / "kernels" / self.file
        return next(k for k in read_module(path.read_text(), str(path)).kernels if k.name == self.name)

    @property
    def signature(self) -> str:
        """In Triton's notation, arrays aligned."""
        return ", ".join(t + ":16" * t.startswith("*") for t in self.types.values())


def _types(names: str, type_: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), type_)


SUBJECTS = (
    Subject(
        "layer_norm.py",
        "layer_norm_backward_kernel",
        _types("dx dy dw_partial db_partial x weight mean rstd", "*fp32") | _types("row_stride rows columns", "i32"),
        {"BLOCK": 1024},
    ),
    Subject(
        "attention.py",
        "attention_kernel",
        {**_types("q k v out", "*fp16"), "lse": "*fp32", "scale": "fp32", "L": "i32"},
        {"CAUSAL": True, "D": 64, "BLOCK_M": 128, "BLOCK_N": 64},
    ),
)


def compile_subject(subject: Subject, runs: int) -> None:
    """Times of each stage, and of all of them from the kernel's text on."""
    stages: dict[str, list[float]] = defaultdict(list)
    wall, cpu = [], []
    for _ in range(runs + 1):
        kernel = subject.read()
        names = [p.name for p in kernel.params if not p.is_constexpr]
        assert names == list(subject.types), f"{subject.name} takes {names}"
        start, started = time.perf_counter(), time.process_time()
        specialization = parse_signature(kernel, subject.signature, subject.constexprs)
        compilation = compile_kernel(kernel, specialization, Target("interp"))
        compilation.stage(SHARED[-1])
        wall.append(time.perf_counter() - start)
        cpu.append(time.process_time() - started)
        for stage in compilation.stages:
            stages[stage.name].append(stage.seconds)
    changes = sum(len(s.changes) for s in compilation.stages)
    print(f"\nmytriton: {subject.name}, {changes} changes logged")
    for name in SHARED[1:]:
        print(" ", stats.row(name, stages[name][1:]))
    passes = [sum(seconds) for seconds in zip(*(stages[f"opt/{p.name}"] for p in PASSES), strict=True)]
    print(" ", stats.row("passes, verified after each", passes[1:]))
    print(" ", stats.row("source to optimized SSA", wall[1:]))
    print(" ", stats.cpu_row("source to optimized SSA, CPU", cpu[1:]))


def peer(subject: Subject, runs: int, python: str) -> None:
    """Triton on the same kernel."""
    if subprocess.run([python, "-c", "import triton"], capture_output=True, check=False).returncode:
        print(f"\ntriton is not installed in {python}: no peer in this run (see --triton-python)")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / subject.file
        path.write_text("import triton\nimport triton.language as tl\n\n\n" + subject.read().unit.text)
        given = {**subject.types, **{name: int(value) for name, value in subject.constexprs.items()}}
        words = [f"{name}={value}" for name, value in given.items()]
        command = [python, str(TTIR), str(path), subject.name, str(runs), *words]
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
    for subject in SUBJECTS:
        compile_subject(subject, options.runs)
        peer(subject, options.runs, options.triton_python)
    scaling(3)


if __name__ == "__main__":
    main()
