"""A Triton-style kernel compiler whose every stage can be looked at."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mytriton import language, testing
    from mytriton.bench import Bench, bench_example, tune_example
    from mytriton.check import Report, check_example
    from mytriton.compile import compile_kernel
    from mytriton.configs import Config
    from mytriton.diagnostics import (
        BackendUnavailable,
        CompileError,
        Diagnostic,
        InternalError,
        LaunchError,
        MytritonError,
    )
    from mytriton.examples import Example, ExampleCase
    from mytriton.frontend.module import read_module
    from mytriton.frontend.read import kernel_of
    from mytriton.language import cdiv, constexpr_function, next_power_of_2
    from mytriton.launch import JITFunction, cuda_available, jit
    from mytriton.launched import LaunchResult
    from mytriton.specialize import Specialization, parse_signature
    from mytriton.stage import Compilation, Stage
    from mytriton.target import Target
    from mytriton.tuning import autotune, heuristics

# No public name may be that of a submodule, or importing the submodule would put the module in its place: hence
# `launch.py` for `jit`.
#: Public names by the module that defines them. They are imported on first use, so that `import mytriton` costs
#: nothing that a kernel file does not need: no backend, no CuPy, no MLIR.
_PUBLIC = {
    name: module
    for module, names in {
        "mytriton.bench": "Bench bench_example tune_example",
        "mytriton.check": "Report check_example",
        "mytriton.compile": "compile_kernel",
        "mytriton.configs": "Config",
        "mytriton.diagnostics": "BackendUnavailable CompileError Diagnostic InternalError LaunchError MytritonError",
        "mytriton.examples": "Example ExampleCase",
        "mytriton.frontend.module": "read_module",
        "mytriton.frontend.read": "kernel_of",
        "mytriton.launch": "JITFunction cuda_available jit",
        "mytriton.launched": "LaunchResult",
        "mytriton.language": "cdiv constexpr_function next_power_of_2",
        "mytriton.specialize": "Specialization parse_signature",
        "mytriton.stage": "Compilation Stage",
        "mytriton.target": "Target",
        "mytriton.tuning": "autotune heuristics",
    }.items()
    for name in names.split()
}

__all__ = [
    "BackendUnavailable",
    "Bench",
    "Compilation",
    "CompileError",
    "Config",
    "Diagnostic",
    "Example",
    "ExampleCase",
    "InternalError",
    "JITFunction",
    "LaunchError",
    "LaunchResult",
    "MytritonError",
    "Report",
    "Specialization",
    "Stage",
    "Target",
    "autotune",
    "bench_example",
    "cdiv",
    "check_example",
    "compile_kernel",
    "constexpr_function",
    "cuda_available",
    "heuristics",
    "jit",
    "kernel_of",
    "language",
    "next_power_of_2",
    "parse_signature",
    "read_module",
    "testing",
    "tune_example",
]


def __getattr__(name: str) -> Any:
    if name in ("language", "testing"):
        return import_module(f"mytriton.{name}")
    module = _PUBLIC.get(name)
    if module is None:
        raise AttributeError(f"module 'mytriton' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(module), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
