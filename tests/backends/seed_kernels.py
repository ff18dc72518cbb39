"""The kernels whose listings are goldens of both GPU backends."""

from __future__ import annotations

from collections.abc import Callable

from mytriton import language as tl
from mytriton.compile import compile_kernel
from mytriton.frontend.read import kernel_of
from mytriton.ir.core import ParamInfo
from mytriton.specialize import Specialization
from mytriton.stage import Compilation
from mytriton.target import Target
from mytriton.types import PointerType, f32, i32


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


def compiled(
    function: Callable[..., object], block: int, target: Target, *, arrays: bool = True, size: bool = False
) -> Compilation:
    """A compilation for f32 arrays and an i32 size; `arrays` and `size` say whether they are known to divide by 16."""
    kernel = kernel_of(function)
    *pointers, n, _ = (p.name for p in kernel.params)
    params = tuple((name, PointerType(f32), ParamInfo(arrays)) for name in pointers)
    return compile_kernel(kernel, Specialization((*params, (n, i32, ParamInfo(size))), (("BLOCK", block),)), target)
