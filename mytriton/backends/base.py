"""What a backend is. One is asked what it can do before it is used, and lowers in visible stages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from mytriton.diagnostics import Diagnostic
from mytriton.ir.core import Func
from mytriton.ir.ops import InlineAsm
from mytriton.source import SourceUnit
from mytriton.stage import Compilation, Stage
from mytriton.target import Target

#: Runs a loaded kernel: grid extents (3), then the runtime arguments in parameter order.
Launcher = Callable[[tuple[int, int, int], Sequence[Any]], None]


def no_assembly(func: Func, name: str) -> list[Diagnostic]:
    """A finding for every operation of inline assembly, for a backend that is not for NVIDIA's GPUs."""
    message = f"the {name} backend runs no inline assembly, whose instructions are those of NVIDIA's GPUs"
    hint = "compile for cuda or mlir, or write it with operators and functions of tl"
    return [Diagnostic("MT504", message, op.span, hint=hint) for op in func.walk() if isinstance(op, InlineAsm)]


class Backend(Protocol):
    """A registered object; stateless, safe to call from any thread."""

    name: str

    def planned(self, target: Target) -> Sequence[str]:
        """The stage names `lower` yields, in order."""

    def passes(self, target: Target) -> Sequence[tuple[str, str]]:
        """The MLIR passes among the stages: stage name, and the pipeline inside `builtin.module(...)`."""

    def available(self) -> str | None:
        """None if kernels can run on this machine; else the reason, and what to install. Text stages need less."""

    def check(self, func: Func, target: Target) -> Sequence[Diagnostic]:
        """Every construct of the function that this backend does not take, each with its span."""

    def lower(self, func: Func, target: Target, units: Sequence[SourceUnit] = ()) -> Iterator[Stage]:
        """The stages, made one by one as they are asked for; ends after a failed one. A tool that is not installed
        gives a skipped stage with the reason. `layout` comes first for the GPU backends. `units` are the sources that
        spans point into, for a build that names their files."""

    def load(self, compilation: Compilation) -> Launcher:
        """A launcher for the compiled kernel; raises `BackendUnavailable` if it cannot run here."""
