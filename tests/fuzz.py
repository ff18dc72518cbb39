"""Compares a backend with the interpreter on random kernels: `python -m tests.fuzz --seconds 600 --backend cpu`.

Prints each kernel on which they differ, cut down to the lines that matter, and how many were tried.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib.util
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mytriton import CompileError, JITFunction
from mytriton.check import ulp_distance
from mytriton.ir import interp
from mytriton.ir.core import Func
from mytriton.layout import simulate
from tests.random_kernels import Case, case
from tests.random_programs import program
from tests.running import GPU, Runner
from tests.stage_runs import stages_of

#: How far results of exp, log and the like may be from the interpreter's, which is within half a unit (float64: one).
ULPS = {"float16": 1, "bfloat16": 1, "float32": 2, "float64": 5}


def kernel_of(text: str, folder: Path, name: str) -> JITFunction:
    """The kernel `k` of a module's text, imported from a file as an author's would be."""
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.k


def run(kernel: JITFunction, what: Case, backend: str) -> list[Any]:
    """The arguments after a launch."""
    args = what.arguments()
    Runner(backend)(kernel, what.grid, *args, **what.constants, enable_fp_fusion=not what.multiplies)
    return args


def run_stages(kernel: JITFunction, what: Case) -> Iterator[tuple[str, list[Any]]]:
    """The arguments after running what each stage made of the kernel: the first SSA, what passes changed, both laid-out
    forms, with the warps in some order."""
    launch = kernel.prepare(what.grid, *what.arguments(), **what.constants, backend="interp")
    chance = random.Random(what.seed)
    for name, artifact in stages_of(launch.compilation, num_warps=chance.choice((1, 2, 4, 8))):
        args = what.arguments()
        if isinstance(artifact, Func):
            interp.run(artifact, args, launch.grid)
        elif not what.ordered:
            order = chance.sample(range(artifact.num_warps), artifact.num_warps)
            simulate.run(artifact, args, launch.grid, order)
        else:
            continue
        yield name, args


def differences(what: Case, actual: list[Any], expected: list[Any]) -> list[str]:
    """The arrays that differ, each with the first element that does."""
    found = []
    for name, mine, wanted in zip(what.arrays, actual, expected, strict=False):
        if not mine.size:
            continue
        if mine.dtype.kind in "biu":
            wrong = mine.view(f"u{mine.itemsize}") != wanted.view(f"u{mine.itemsize}")
        else:
            with np.errstate(all="ignore"):
                nan = np.isnan(mine.astype(np.float64)) & np.isnan(wanted.astype(np.float64))
            allowed = ULPS[mine.dtype.name] if name in what.approximate else 0
            signs = np.signbit(mine.astype(np.float64)) != np.signbit(wanted.astype(np.float64))
            wrong = ((ulp_distance(mine, wanted) > allowed) | (signs & (not allowed))) & ~nan
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            found.append(f"{name}[{at}] = {mine[at]!r}, the interpreter has {wanted[at]!r} ({wrong.sum()} differ)")
    return found


def trouble(what: Case, folder: Path, name: str, backend: str = "cpu") -> str:
    """What is wrong with a kernel: '' if nothing is, the kind first."""
    kernel = kernel_of(what.source(), folder, name)
    try:
        expected = run(kernel, what, "interp")
        if backend == "stages":
            for stage, args in run_stages(kernel, what):
                found = [f"{stage}: {difference}" for difference in differences(what, args, expected)]
                if found:
                    break
        else:
            found = differences(what, run(kernel, what, backend), expected)
    except CompileError as error:
        first = next(d for d in error.diagnostics if d.severity == "error")
        return f"{'refused' if first.stage in ('tree', 'ssa') else 'broken'}: {first.message}"
    except Exception as error:  # noqa: BLE001 (every other exception is what we look for)
        return f"{type(error).__name__}: {error}"
    return "differs: " + "; ".join(found) if found else ""


def smallest(what: Case, kind: str, folder: Path, backend: str) -> Case:
    """The kernel with every line removed that is not needed for the same kind of trouble."""
    tries = 0
    for count in (8, 4, 2, 1, 1):
        at = len(what.lines)
        while at > 0:
            at = max(0, at - count)
            shorter = dataclasses.replace(what, lines=what.lines[:at] + what.lines[at + count :])
            tries += 1
            try:
                same = shorter.lines and trouble(shorter, folder, f"s{tries}", backend).startswith(kind)
            except SyntaxError:
                continue
            what = shorter if same else what
    return what


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--backend", default="cpu", choices=("cpu", "stages", *GPU))
    parser.add_argument("--straight", action="store_true", help="kernels without run-time control flow and shapes")
    parser.add_argument("--count", type=int, default=sys.maxsize)
    options = parser.parse_args()
    until, tried = time.monotonic() + options.seconds, 0
    compared, refused, bad = 0, 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        while time.monotonic() < until and tried < options.count:
            seed, tried = options.seed + tried, tried + 1
            what = case(seed) if options.straight else program(seed)
            if options.backend in GPU and (what.ordered or what.alias):
                continue  # what one lane does to another's elements is not ordered, and arrays are copied one by one
            compared += 1
            problem = trouble(what, folder, f"k{seed}", options.backend)
            if not problem:
                continue
            kind = problem.split(":")[0]
            if kind == "refused":
                refused += 1
                print(f"--- seed {seed}: {problem}")
                continue
            bad += 1
            short = smallest(what, kind, folder, options.backend)
            found = trouble(short, folder, f"r{seed}", options.backend)
            inputs = f"{short.scalars} {short.constants} {short.arrays} grid={short.grid} alias={short.alias}"
            print(f"--- seed {seed}: {found}\n{short.source()}{inputs}", flush=True)
    print(f"{compared} kernels: {bad} differ, {refused} refused")


if __name__ == "__main__":
    main()
