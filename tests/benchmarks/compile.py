"""Compile times of add_kernel: stage by stage in a warm process, in a fresh process, and of Triton in the same run.

    python tests/benchmarks/compile.py [RUNS] [--triton-python PATH]

Warm, every run compiles from the source text. Triton is measured if the Python given (by default this one) has it: it
may live in an environment of its own. The targets are those of the project; the machine is whatever this runs on, so
compare figures of one run only. CPU time is that of the process: it hardly depends on what else the machine does.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import stats

from mytriton.compile import compile_kernel
from mytriton.frontend.module import read_module
from mytriton.specialize import parse_signature
from mytriton.target import Target

ROOT = Path(__file__).parents[2]
ADD = ROOT / "examples" / "kernels" / "add.py"
PEER = Path(__file__).parent / "peer.py"
SIGNATURE = "*fp32:16, *fp32:16, *fp32:16, i32"
ENDS = {"cuda": ("cuda", "ptx", "cubin"), "mlir": ("mlir/emit", "ptx", "cubin"), "cpu": ("llvm",)}
TARGETS = {
    "cuda cuda": "target <= 3 ms CPU for all text stages together",
    "mlir mlir/emit": "target <= 3 ms CPU for all text stages together",
    "mlir ptx": "target <= 25 ms",
    "cuda cubin": "target <= 80 ms",
}

COLD = f"""
from pathlib import Path
from mytriton.compile import compile_kernel
from mytriton.frontend.module import read_module
from mytriton.specialize import parse_signature
from mytriton.target import Target
path = {str(ADD)!r}
kernel = read_module(Path(path).read_text(), path).kernels[0]
specialization = parse_signature(kernel, {SIGNATURE!r}, {{"BLOCK": 256}})
compile_kernel(kernel, specialization, Target("BACKEND")).stage("END")
"""


def warm(runs: int) -> None:
    """Times of each stage and of whole compilations up to notable stages."""
    text = ADD.read_text()
    for backend, ends in ENDS.items():
        stages: dict[str, list[float]] = defaultdict(list)
        wall: dict[str, list[float]] = defaultdict(list)
        cpu: dict[str, list[float]] = defaultdict(list)
        for _ in range(runs):
            start, started = time.perf_counter(), time.process_time()
            kernel = read_module(text, str(ADD)).kernels[0]
            specialization = parse_signature(kernel, SIGNATURE, {"BLOCK": 256})
            compilation = compile_kernel(kernel, specialization, Target(backend))
            for end in ends:
                compilation.stage(end)
                wall[end].append(time.perf_counter() - start)
                cpu[end].append(time.process_time() - started)
            for stage in compilation.stages:
                stages[stage.name].append(stage.seconds)
        print(f"\n{backend}: from the file's text to ...")
        for end in ends:
            print(" ", stats.row(end, wall[end], TARGETS.get(f"{backend} {end}", "")))
            print(" ", stats.cpu_row(f"{end}, CPU", cpu[end]))
        print(f"{backend}: each stage")
        for name, seconds in stages.items():
            print(" ", stats.row(name, seconds))


def fresh(what: str, command: list[str], runs: int, bytecode: str, kept: str = "") -> None:
    """What a process costs from its start to its end. One run before writes the modules' bytecode to the folder
    `bytecode`, as an installation does, and what it compiled to the folder `kept`, if there is one: else each process
    has an empty cache of compiled kernels."""
    wall, cpu = [], []
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    path = os.pathsep.join(filter(None, (str(ROOT), inherited.get("PYTHONPATH"))))
    for _ in range(runs + 1):
        with tempfile.TemporaryDirectory() as cache:
            compiled = {"TRITON_CACHE_DIR": kept or cache, "MYTRITON_CACHE_DIR": kept or cache}
            env = {**compiled, "PYTHONPATH": path, "PYTHONPYCACHEPREFIX": bytecode}
            before, start = os.times(), time.perf_counter()
            subprocess.run(command, check=True, env={**inherited, **env})
            wall.append(time.perf_counter() - start)
            after = os.times()
            used = after.children_user + after.children_system - before.children_user - before.children_system
            cpu.append(used)
    print(" ", stats.row(what, wall[1:]))
    print(" ", stats.cpu_row(f"{what}, CPU", cpu[1:]))


def cold(runs: int, triton_python: str) -> None:
    """Fresh processes with empty caches of compiled kernels and with full ones, ours beside Triton's; MLIR's bindings
    import NumPy."""
    print("\nfresh process, from its start to ...")
    with tempfile.TemporaryDirectory() as bytecode:
        for code in ("import numpy", "import mytriton"):
            fresh(code, [sys.executable, "-c", code], runs, bytecode)
        for backend, end in (("cuda", "cuda"), ("cuda", "cubin"), ("mlir", "ptx"), ("mlir", "cubin")):
            code = COLD.replace("BACKEND", backend).replace("END", end)
            command = [sys.executable, "-c", code]
            fresh(f"{end} of backend {backend}", command, runs, bytecode)
            if end == "cuda":
                continue  # is made anew each time
            with tempfile.TemporaryDirectory() as kept:
                fresh(
                    f"{end} of backend {backend}, compiled before", [sys.executable, "-c", code], runs, bytecode, kept
                )
        if has_triton(triton_python):
            fresh("import triton", [triton_python, "-c", "import triton"], runs, bytecode)
            fresh("Triton: cubin", [triton_python, str(PEER), "0"], runs, bytecode)
            with tempfile.TemporaryDirectory() as kept:
                fresh("Triton: cubin, compiled before", [triton_python, str(PEER), "0"], runs, bytecode, kept)


def has_triton(python: str) -> bool:
    """Whether an interpreter can import Triton."""
    return subprocess.run([python, "-c", "import triton"], capture_output=True, check=False).returncode == 0


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="?", type=int, default=30)
    parser.add_argument("--triton-python", default=sys.executable, metavar="PATH", help="a Python that has Triton")
    options = parser.parse_args()
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, {options.runs} runs")
    cold(5, options.triton_python)
    warm(options.runs)
    if has_triton(options.triton_python):
        subprocess.run([options.triton_python, str(PEER), str(options.runs)], check=True)
    else:
        print(f"\ntriton is not installed in {options.triton_python}: no peer in this run (see --triton-python)")


if __name__ == "__main__":
    main()
