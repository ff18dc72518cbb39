"""Compile times of add_kernel, stage by stage, and of Triton in the same run where it is installed.

    python tests/benchmarks/compile.py [runs]

In one warm process, with caches cleared: every run compiles from the source text. The targets are those of the
project; the machine is whatever this runs on, so compare figures of one run only.
"""

from __future__ import annotations

import platform
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import peer
import stats

from mytriton.compile import compile_kernel
from mytriton.frontend.module import read_module
from mytriton.specialize import parse_signature
from mytriton.target import Target

ADD = Path(__file__).parents[2] / "examples" / "kernels" / "add.py"
ENDS = {"cuda": ("cuda", "ptx", "cubin"), "mlir": ("mlir/emit", "ptx", "cubin"), "cpu": ("llvm",)}
TARGETS = {
    "cuda": "target <= 3 ms for all text stages together",
    "mlir/emit": "target <= 3 ms for all text stages together",
    "mlir ptx": "target <= 25 ms",
    "cuda cubin": "target <= 80 ms",
}


def ours(runs: int) -> None:
    """Times of each stage and of whole compilations up to notable stages."""
    text = ADD.read_text()
    for backend, ends in (
        ("cuda", ("cuda", "ptx", "cubin")),
        ("mlir", ("mlir/emit", "ptx", "cubin")),
        ("cpu", ("llvm",)),
    ):
        stages: dict[str, list[float]] = defaultdict(list)
        totals: dict[str, list[float]] = defaultdict(list)
        for _ in range(runs):
            start = time.perf_counter()
            kernel = read_module(text, str(ADD)).kernels[0]
            specialization = parse_signature(kernel, "*fp32:16, *fp32:16, *fp32:16, i32", {"BLOCK": 256})
            compilation = compile_kernel(kernel, specialization, Target(backend))
            for end in ends:
                compilation.stage(end)
                totals[end].append(time.perf_counter() - start)
            for stage in compilation.stages:
                stages[stage.name].append(stage.seconds)
        print(f"\n{backend}: from the file's text to ...")
        for end in ends:
            print(" ", stats.row(end, totals[end], TARGETS.get(end, TARGETS.get(f"{backend} {end}", ""))))
        print(f"{backend}: each stage")
        for name, seconds in stages.items():
            print(" ", stats.row(name, seconds))


def imports(runs: int) -> None:
    """What `import mytriton` costs over a bare interpreter with NumPy."""
    for what, code in (("python, numpy", "import numpy"), ("python, numpy, mytriton", "import numpy, mytriton")):
        seconds = []
        for _ in range(runs):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            seconds.append(time.perf_counter() - start)
        print(" ", stats.row(what, seconds))


def main() -> None:
    """Print the tables."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, {runs} runs")
    print("\nprocess start")
    imports(5)
    ours(runs)
    peer.run(runs)


if __name__ == "__main__":
    main()
