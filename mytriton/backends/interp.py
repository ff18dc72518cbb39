"""The backend that runs the optimized SSA itself, on NumPy and torch CPU arrays: the oracle, with no stages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mytriton.arrays import host_array
from mytriton.backends.base import Launcher, no_assembly
from mytriton.diagnostics import Diagnostic, InternalError
from mytriton.ir import interp
from mytriton.ir.core import Func
from mytriton.source import SourceUnit
from mytriton.stage import Compilation, Stage
from mytriton.target import Target


class InterpLauncher:
    """Interprets a function on host arrays; `progress` is told of each program that is done."""

    def __init__(self, func: Func, units: Sequence[SourceUnit]) -> None:
        self._func, self._units = func, units

    def __call__(
        self, grid: tuple[int, int, int], args: Sequence[Any], progress: interp.Progress | None = None
    ) -> None:
        """Run the grid, in place."""
        interp.run(self._func, [host_array(a) for a in args], grid, units=self._units, progress=progress)


class InterpBackend:
    """Runs anywhere, adds no stage, takes the whole language but inline assembly."""

    name = "interp"

    def planned(self, target: Target) -> Sequence[str]:
        """No stages."""
        return ()

    def passes(self, target: Target) -> Sequence[tuple[str, str]]:
        """None."""
        return ()

    def available(self) -> str | None:
        """Always."""
        return None

    def check(self, func: Func, target: Target) -> Sequence[Diagnostic]:
        """Everything but instructions of a GPU."""
        return no_assembly(func, self.name)

    def lower(self, func: Func, target: Target, units: Sequence[SourceUnit] = ()) -> Iterator[Stage]:
        """No stages."""
        return iter(())

    def load(self, compilation: Compilation) -> Launcher:
        """A launcher that interprets the function of the last SSA stage."""
        compilation.run()
        compilation.raise_if_failed()
        funcs = [s.artifact for s in compilation.stages if s.kind == "ir" and isinstance(s.artifact, Func)]
        if not funcs:
            raise InternalError(f"the compilation of `{compilation.kernel}` has no SSA stage to interpret")
        return InterpLauncher(funcs[-1], compilation.units)


BACKEND = InterpBackend()
