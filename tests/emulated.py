"""Runs kernels for a GPU without one: the CUDA C++ through g++, the MLIR through the CPU JIT (see tests/backends)."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from mytriton import JITFunction
from mytriton.ir.arithmetic import DTYPES
from mytriton.target import Target
from mytriton.types import ScalarType
from tests.backends.emulate import build
from tests.stage_runs import optimized


def unavailable(backend: str) -> str:
    """Why kernels of `cuda` or `mlir` cannot be emulated here, or ""."""
    if backend == "cuda":
        return "" if shutil.which("g++") else "g++ is not installed"
    try:
        from tests.backends import gpu_on_cpu  # noqa: F401
    except ImportError as error:
        return str(error)
    return ""


def run(
    backend: str, kernel: JITFunction, grid: Any, args: list[Any], constants: dict[str, Any], **options: Any
) -> None:
    """Launch a kernel in place on NumPy arrays, as the threads of a GPU would do it."""
    launch = kernel.prepare(grid, *args, **constants, backend="interp")
    func = optimized(launch.compilation)
    options["chip"] = "sm_75"  # where bfloat16 is made of integer operations, which g++ knows
    target = Target(backend=backend, **options)
    if backend == "mlir":
        from tests.backends import gpu_on_cpu

        gpu_on_cpu.run(func, target, launch.args, launch.grid)
        return
    listing = kernel.prepare(grid, *args, **constants, backend="cuda", **options).compilation
    text = listing.stage("cuda").text
    listing.raise_if_failed()
    types = [DTYPES[p.type] if isinstance(p.type, ScalarType) else None for p in func.params]
    with tempfile.TemporaryDirectory() as folder:
        build([(text, target.threads)], Path(folder)).run(0, launch.grid, launch.args, types)
