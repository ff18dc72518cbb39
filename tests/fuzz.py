"""Compares backends with the interpreter on random kernels: `python -m tests.fuzz --seconds 600 --backend cpu`.

Prints each kernel on which they differ, cut down to the lines that matter, writes it to a file that the explorer opens,
and says how many were tried. Backend `stages` runs the SSA after each pass and the laid-out programs; `emulated-cuda`
and `emulated-mlir` run what is emitted for a GPU on the CPU, thread by thread.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib.util
import itertools
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mytriton import CompileError, JITFunction
from mytriton.comparison import ulp_distance
from mytriton.ir import interp
from mytriton.ir.core import Func
from mytriton.layout import simulate
from tests import emulated
from tests.random_kernels import Case, case
from tests.random_programs import program
from tests.running import GPU, Runner
from tests.stage_runs import stages_of

BACKENDS = ("cpu", "stages", "emulated-cuda", "emulated-mlir", *GPU)
#: How far results of exp, log and the like may be from the interpreter's, which is within half a unit (float64: one).
ULPS = {"float16": 1, "bfloat16": 1, "float32": 2, "float64": 5}


def fits(what: Case, backend: str) -> bool:
    """Whether a kernel means something on a backend: the host's order all lanes; and arrays are copied to a GPU one by
    one, even those that are parts of another one."""
    return backend == "cpu" or not (what.ordered or (backend in GPU and what.alias))


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
    if backend.startswith("emulated-"):
        emulated.compiled(backend.split("-")[1], [job(kernel, what, args)])[0]()
    else:
        Runner(backend)(kernel, what.grid, *args, **what.constants, enable_fp_fusion=not what.multiplies)
    return args


def job(kernel: JITFunction, what: Case, args: list[Any]) -> emulated.Job:
    """A launch for the emulated GPU, on some number of warps."""
    warps = random.Random(what.seed).choice((1, 2, 4))
    options = {"num_warps": warps, "enable_fp_fusion": not what.multiplies}
    return emulated.Job(kernel, what.grid, args, what.constants, options)


def together(cases: Sequence[Case], folder: Path, backend: str) -> list[str]:
    """What is wrong with each of several kernels on an emulated GPU: compiled together, they take far less time."""
    kernels = [kernel_of(what.source(), folder, f"together{what.seed}") for what in cases]
    actual = [what.arguments() for what in cases]
    jobs = [job(*one) for one in zip(kernels, cases, actual, strict=True)]
    try:
        for launch in emulated.compiled(backend.split("-")[1], jobs):
            launch()
    except Exception:  # noqa: BLE001 (one by one, it will be seen whose it is)
        return [trouble(what, folder, f"alone{what.seed}", backend) for what in cases]
    found = [differences(w, a, run(k, w, "interp")) for k, w, a in zip(kernels, cases, actual, strict=True)]
    return ["differs: " + "; ".join(texts) if texts else "" for texts in found]


def run_stages(kernel: JITFunction, what: Case) -> Iterator[tuple[str, list[Any]]]:
    """The arguments after running what each stage made of the kernel: the first SSA, what passes changed, both laid-out
    forms, with the warps in some order."""
    launch = kernel.prepare(what.grid, *what.arguments(), **what.constants, backend="interp")
    chance = random.Random(what.seed)
    for name, artifact in stages_of(launch.compilation, num_warps=chance.choice((1, 2, 4, 8))):
        args = what.arguments()
        if isinstance(artifact, Func):
            interp.run(artifact, args, launch.grid)
        elif fits(what, "stages"):
            order = chance.sample(range(artifact.num_warps), artifact.num_warps)
            simulate.run(artifact, args, launch.grid, order)
        else:
            continue
        yield name, args


def differences(what: Case, actual: list[Any], expected: list[Any]) -> list[str]:
    """The arrays that differ, each with the first element that does."""
    found = []
    for name, mine, wanted in zip(what.arrays, actual, expected, strict=False):
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
    found: list[str] = []
    try:
        expected = run(kernel, what, "interp")
        ran = run_stages(kernel, what) if backend == "stages" else [("", run(kernel, what, backend))]
        for stage, args in ran:
            found = found or [f"{stage} {text}".strip() for text in differences(what, args, expected)]
    except CompileError as error:
        first = next(d for d in error.diagnostics if d.severity == "error")
        return f"{'refused' if first.stage in ('tree', 'ssa') else 'broken'}: {first.message}"
    except Exception as error:  # noqa: BLE001 (every other exception is what we look for)
        return f"{type(error).__name__}: {error}"
    return "differs: " + "; ".join(found) if found else ""


def smallest(what: Case, kind: str, folder: Path, backend: str) -> Case:
    """The kernel with every line and helper removed that is not needed for the same kind of trouble."""
    tries = 0
    for field, count in (*(("lines", n) for n in (8, 4, 2, 1, 1)), ("helpers", 1)):
        at = len(getattr(what, field))
        while at > 0:
            at = max(0, at - count)
            kept = getattr(what, field)
            shorter = dataclasses.replace(what, **{field: kept[:at] + kept[at + count :]})
            tries += 1
            try:
                same = shorter.lines and trouble(shorter, folder, f"s{tries}", backend).startswith(kind)
            except SyntaxError:
                continue
            what = shorter if same else what
    return what


def saved(what: Case, problem: str, folder: Path) -> Path:
    """Write a kernel to a file with its launch as an example, which the explorer opens and `--check` runs."""
    named = dict(zip((*what.arrays, *what.scalars), what.arguments(), strict=True))
    arrays = [name for name, value in named.items() if isinstance(value, np.ndarray)]
    memories = {name: named[name].base if named[name].base is not None else named[name] for name in arrays}
    lines = [f'"""{problem}"""', "", "import ml_dtypes", "import numpy as np", "", what.source(), "", "@k.example()"]
    lines += ["def found():"]
    for number, memory in enumerate({id(m): m for m in memories.values()}.values()):
        lines.append(f"    memory{number} = np.frombuffer(bytearray.fromhex({memory.tobytes().hex()!r}), np.uint8)")
        for name in arrays:
            if memories[name] is memory:
                start = named[name].ctypes.data - memory.ctypes.data
                type_ = "ml_dtypes.bfloat16" if named[name].dtype.name == "bfloat16" else f'"{named[name].dtype.name}"'
                part = f"memory{number}[{start} : {start + named[name].nbytes}]"
                lines.append(f"    {name} = {part}.view({type_})")
    values = [f'"{name}": {name if name in arrays else value!r}' for name, value in named.items()]
    values += [f'"{name}": {value!r}' for name, value in what.constants.items()]
    fusion = f'options={{"enable_fp_fusion": {not what.multiplies}}}'
    lines.append(f"    return triton.Example(args={{{', '.join(values)}}}, grid={what.grid}, {fusion})")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"kernel{what.seed}.py"
    path.write_text("\n".join(lines).replace("float('inf')", 'float("inf")') + "\n")
    return path


def shrunk(what: Case, problem: str, backend: str, folder: Path) -> str:
    """A kernel that a backend gets wrong, made short: its trouble, its text, and the file it stands in."""
    with tempfile.TemporaryDirectory() as name:
        short = smallest(what, problem.split(":")[0], Path(name), backend)
        found = trouble(short, Path(name), "shortest", backend)
    inputs = f"{short.scalars} {short.constants} {short.arrays} grid={short.grid} alias={short.alias}"
    return f"{found}\n{short.source()}{inputs}\n{saved(short, f'{backend}: {found}', folder)}"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--backend", default="cpu", choices=BACKENDS)
    parser.add_argument("--straight", action="store_true", help="kernels without run-time control flow and shapes")
    parser.add_argument("--count", type=int, default=sys.maxsize)
    parser.add_argument("--save", type=Path, default=Path(tempfile.gettempdir(), "mytriton-fuzz"))
    options = parser.parse_args()
    until, seeds, counts = time.monotonic() + options.seconds, iter(range(options.seed, sys.maxsize)), [0, 0, 0]
    batch = 12 if options.backend.startswith("emulated-") else 1
    with tempfile.TemporaryDirectory() as name:
        while time.monotonic() < until and counts[0] < options.count:
            made = ((seed, case(seed) if options.straight else program(seed)) for seed in seeds)
            fitting = (one for one in made if options.backend == "stages" or fits(one[1], options.backend))
            chosen = list(itertools.islice(fitting, min(batch, options.count - counts[0])))
            counts[0] += len(chosen)
            if batch > 1:
                problems = together([what for _, what in chosen], Path(name), options.backend)
            else:
                problems = [trouble(what, Path(name), f"k{seed}", options.backend) for seed, what in chosen]
            for (seed, what), problem in zip(chosen, problems, strict=True):
                if problem.startswith("refused"):
                    counts[2] += 1
                    print(f"--- seed {seed}: {problem}")
                elif problem:
                    counts[1] += 1
                    print(f"--- seed {seed}: {shrunk(what, problem, options.backend, options.save)}", flush=True)
    print(f"{counts[0]} kernels: {counts[1]} differ, {counts[2]} refused")


if __name__ == "__main__":
    main()
