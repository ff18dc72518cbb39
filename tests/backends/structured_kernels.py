"""Kernels with loops, tiles and reductions, through the frontend and all passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mytriton import language as tl
from mytriton.compile import compile_kernel
from mytriton.frontend.read import kernel_of
from mytriton.ir.core import ParamInfo
from mytriton.specialize import Specialization
from mytriton.stage import Compilation
from mytriton.target import Target
from mytriton.types import PointerType, f32, i32


def row_sum(x, out, stride, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    row = tl.program_id(0)
    start = x + row * stride
    acc = tl.zeros((BLOCK,), tl.float32)
    for k in range(0, n, BLOCK):
        offs = k + tl.arange(0, BLOCK)
        acc += tl.load(start + offs, mask=offs < n, other=0.0)
    tl.store(out + row, tl.sum(acc, axis=0))


def add_tiles(x, y, out, m, n, stride, BM: tl.constexpr, BN: tl.constexpr):  # type: ignore[no-untyped-def]
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    offs = rows[:, None] * stride + cols[None, :]
    mask = (rows < m)[:, None] & (cols < n)[None, :]
    a = tl.load(x + offs, mask=mask, other=0.0)
    b = tl.load(y + offs, mask=mask, other=0.0)
    tl.store(out + offs, a + b, mask=mask)


def gcd(x, out):  # type: ignore[no-untyped-def]
    pid = tl.program_id(0)
    a = tl.load(x + 2 * pid)
    b = tl.load(x + 2 * pid + 1)
    while b != 0:
        a, b = b, a % b
    if a < 0:
        a = -a
    tl.store(out + pid, a)


def softmax(x, out, stride, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < n
    values = tl.load(x + row * stride + offs, mask=mask, other=-float("inf"))
    values -= tl.max(values, axis=0)
    e = tl.exp(values)
    tl.store(out + row * stride + offs, e / tl.sum(e, axis=0), mask=mask)


def compiled(function: Callable[..., Any], target: Target, **constants: int) -> Compilation:
    """A compilation for arrays (x, y and out) and sizes that are known to divide by 16; those of `gcd` are integers."""
    kernel = kernel_of(function)
    names = [p.name for p in kernel.params if p.name not in constants]
    element = i32 if function is gcd else f32
    types = {"x": PointerType(element), "y": PointerType(element), "out": PointerType(element)}
    params = tuple((name, types.get(name, i32), ParamInfo(True)) for name in names)
    return compile_kernel(kernel, Specialization(params, tuple(constants.items())), target)
