"""Kernels and helpers of the mlir backend's tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from mytriton import language as tl
from mytriton.backends.mlir.backend import BACKEND
from mytriton.backends.mlir.emit import emit
from mytriton.compile import compile_kernel
from mytriton.frontend.read import kernel_of
from mytriton.ir.core import Func, ParamInfo
from mytriton.layout.assign import lay_out
from mytriton.specialize import Specialization
from mytriton.stage import Compilation, Stage
from mytriton.target import Target
from mytriton.types import PointerType, f32, i32

#: The configuration of the introductory listings.
SEED = Target("mlir", num_warps=8, form="plain", abi="memref")


def add_kernel(x, y, out, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)

    mask = offs < n

    a = tl.load(x + offs, mask=mask, other=0.0)
    b = tl.load(y + offs, mask=mask, other=0.0)

    tl.store(out + offs, a + b, mask=mask)


def copy_kernel(x, out, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(out + offs, tl.load(x + offs, mask=mask, other=0.0), mask=mask)


def compiled(function: Callable[..., object], block: int, target: Target) -> Compilation:
    """A compilation for 16-byte aligned f32 arrays and an i32 size."""
    kernel = kernel_of(function)
    *pointers, n, _ = (p.name for p in kernel.params)
    params = tuple((name, PointerType(f32), ParamInfo(True)) for name in pointers)
    return compile_kernel(kernel, Specialization((*params, (n, i32, ParamInfo())), (("BLOCK", block),)), target)


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
