"""Runs kernels for a GPU without one: the CUDA C++ through g++, the MLIR through the CPU JIT (see tests/backends)."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mytriton import JITFunction
from mytriton.ir.arithmetic import DTYPES
from mytriton.target import Target
from mytriton.types import ScalarType
from tests.backends.emulate import build
from tests.stage_runs import optimized

#: The first chip that has all of the tensor cores' instructions; later ones convert and add by more that g++ lacks.
_CHIP = {"chip": "sm_80"}


@dataclass(frozen=True)
class Job:
    """A launch on NumPy arrays; `options` are those of the target."""

    kernel: JITFunction
    grid: Any
    args: list[Any]
    constants: dict[str, Any]
    options: dict[str, Any]


def unavailable(backend: str) -> str:
    """Why kernels of `cuda` or `mlir` cannot be emulated here, or ""."""
    if backend == "cuda":
        return "" if shutil.which("g++") else "g++ is not installed"
    try:
        from tests.backends import gpu_on_cpu  # noqa: F401
    except ImportError as error:
        return str(error)
    return ""


def compiled(backend: str, jobs: Sequence[Job]) -> list[Callable[[], None]]:
    """Compile kernels together; each result runs one, in place on its arrays, as the threads of a GPU would do it."""
    options = [{**_CHIP, **job.options} for job in jobs]
    targets = [Target(backend=backend, **chosen) for chosen in options]
    launches = [job.kernel.prepare(job.grid, *job.args, **job.constants, backend="interp") for job in jobs]
    funcs = [optimized(launch.compilation) for launch in launches]
    if backend == "mlir":
        from tests.backends.gpu_on_cpu import Kernels

        kernels = Kernels(list(zip(funcs, targets, strict=True)))
        return [lambda n=n, it=it: kernels.run(n, it.args, it.grid) for n, it in enumerate(launches)]
    texts = []
    for job, target, chosen in zip(jobs, targets, options, strict=True):
        listing = job.kernel.prepare(job.grid, *job.args, **job.constants, **chosen, backend="cuda").compilation
        texts.append((listing.stage("cuda").text, target.threads))
        listing.raise_if_failed()
    with tempfile.TemporaryDirectory() as folder:
        library = build(texts, Path(folder))
    types = [[DTYPES[p.type] if isinstance(p.type, ScalarType) else None for p in func.params] for func in funcs]
    return [lambda n=n, it=it: library.run(n, it.grid, it.args, types[n]) for n, it in enumerate(launches)]
