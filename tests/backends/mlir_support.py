"""Kernels and helpers of the mlir backend's tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mytriton.backends.mlir.backend import BACKEND
from mytriton.backends.mlir.emit import emit
from mytriton.ir.core import Func
from mytriton.layout.assign import lay_out
from mytriton.stage import Stage
from mytriton.target import Target

#: The configuration of the introductory listings.
SEED = Target("mlir", num_warps=8, form="plain", abi="memref")


def emitted(func: Func, target: Target) -> str:
    """The text of `mlir/emit`."""
    return "\n".join(line.text for line in emit(lay_out(func, target), target))


def ptx_of(func: Func, target: Target) -> str:
    """The PTX, through the stages everybody sees."""
    stages = list(take(BACKEND.lower(func, target), "ptx"))
    assert stages[-1].name == "ptx", [(s.name, s.status, s.diagnostics) for s in stages]
    return str(stages[-1].artifact)


def take(stages: Iterable[Stage], last: str) -> Iterator[Stage]:
    """The stages up to the one called `last`."""
    for stage in stages:
        yield stage
        if stage.name == last:
            return
