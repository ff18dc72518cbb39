"""The backend that runs the optimized SSA itself, on NumPy and torch CPU arrays: the oracle, with no stages."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import ml_dtypes

from mytriton.backends.base import Launcher
from mytriton.diagnostics import Diagnostic, InternalError
from mytriton.ir import interp
from mytriton.ir.core import Func
from mytriton.stage import Compilation, Stage
from mytriton.target import Target


def host_array(value: Any) -> Any:
    """A torch CPU tensor as a NumPy array on the same memory; anything else unchanged. Does not import torch."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(value, torch.Tensor) or value.device.type != "cpu":
        return value
    value = value.detach()
    if value.dtype == torch.bfloat16:  # Tensor.numpy() refuses it
        return value.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return value.numpy()


class InterpBackend:
    """Runs anywhere, adds no stage, takes the whole language."""

    name = "interp"

    def planned(self, target: Target) -> Sequence[str]:
        """No stages."""
        return ()

    def available(self) -> str | None:
        """Always."""
        return None

    def check(self, func: Func, target: Target) -> Sequence[Diagnostic]:
        """Nothing is unsupported."""
        return ()

    def lower(self, func: Func, target: Target) -> Iterator[Stage]:
        """No stages."""
        return iter(())

    def load(self, compilation: Compilation) -> Launcher:
        """A launcher that interprets the function of the last SSA stage."""
        compilation.run()
        compilation.raise_if_failed()
        funcs = [s.artifact for s in compilation.stages if s.kind == "ir" and isinstance(s.artifact, Func)]
        if not funcs:
            raise InternalError(f"the compilation of `{compilation.kernel}` has no SSA stage to interpret")
        func = funcs[-1]

        def launch(grid: tuple[int, int, int], args: Sequence[Any]) -> None:
            interp.run(func, [host_array(a) for a in args], grid, units=compilation.units)

        return launch


BACKEND = InterpBackend()
