"""Compiling and running hand-built functions on the cpu backend, beside the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mytriton.backends.base import Launcher
from mytriton.backends.cpu.backend import BACKEND
from mytriton.ir import interp, ops
from mytriton.ir.arithmetic import DTYPES
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.core import Func, Value
from mytriton.stage import Compilation
from mytriton.target import Target
from mytriton.types import BlockType, PointerType, ScalarType, i32

TARGET = Target("cpu")


def compilation(func: Func, target: Target = TARGET) -> Compilation:
    """The cpu stages of a function."""
    return Compilation(func.name, [], None, target, BACKEND.planned(target), BACKEND.lower(func, target))


def launcher(func: Func, target: Target = TARGET) -> Launcher:
    """Compile once, to launch several times."""
    return BACKEND.load(compilation(func, target))


def run(
    func: Func,
    args: Sequence[Any],
    grid: tuple[int, ...] = (1,),
    target: Target = TARGET,
    launch: Launcher | None = None,
) -> None:
    """Compile, unless `launch` is given, and launch, in place on the arrays among `args`."""
    x, y, z = (*grid, 1, 1)[:3]
    (launch or launcher(func, target))((x, y, z), args)


def agree(
    func: Func,
    args: Sequence[Any],
    grid: tuple[int, ...] = (1,),
    target: Target = TARGET,
    launch: Launcher | None = None,
) -> list[Any]:
    """Run on copies of the arguments here and in the interpreter, assert the same bytes, and return the results."""
    ours, theirs = (_copies(args) for _ in range(2))
    run(func, ours, grid, target, launch)
    interp.run(func, theirs, grid)
    for param, mine, expected in zip(func.params, ours, theirs, strict=True):
        if isinstance(mine, np.ndarray):
            same(mine, expected, param.id)
    return ours


def _copies(args: Sequence[Any]) -> list[Any]:
    """The arguments on memory of their own; what was one array twice still is."""
    made: dict[int, Any] = {}
    return [made.setdefault(id(a), np.array(a)) if isinstance(a, np.ndarray) else a for a in args]


def same(mine: Any, expected: Any, what: str = "") -> None:
    """Equal to the last bit, but for the sign and payload of NaNs."""
    assert mine.dtype == expected.dtype
    if mine.dtype.kind in "fV":
        wide = np.float32 if mine.dtype.itemsize == 2 else mine.dtype
        nan = np.isnan(mine.astype(wide)) & np.isnan(expected.astype(wide))
        mine, expected = np.where(nan, 0, mine.astype(wide)), np.where(nan, 0, expected.astype(wide))
        np.testing.assert_array_equal(np.signbit(mine), np.signbit(expected), err_msg=f"sign of {what}")
    np.testing.assert_array_equal(mine, expected, err_msg=what)


def elementwise(inputs: Sequence[ScalarType], output: ScalarType, block: int, compute: Callable[..., Value]) -> Func:
    """`out[i] = compute(b, x0[i], x1[i], ...)` for i < n, one parameter an input."""
    b = Builder()
    params = [parameter(f"x{i}_ptr", PointerType(t)) for i, t in enumerate(inputs)]
    out, n = parameter("out_ptr", PointerType(output)), parameter("n", i32)
    offs, mask = masked_offsets(b, block, n)
    loaded = [b.add(ops.Load, pointer=at(b, p, offs), mask=mask) for p in params]
    b.append(ops.Store(pointer=at(b, out, offs), value=compute(b, *loaded), mask=mask))
    return b.finish("elementwise", (*params, out, n))


def masked_offsets(b: Builder, block: int, n: Value) -> tuple[Value, Value]:
    """`pid * block + arange(0, block)`, and whether that is below n."""
    start = b.add(ops.Mul, lhs=b.add(ops.ProgramId, axis=0), rhs=b.constant(block, i32))
    offs = b.add(ops.Add, lhs=b.splat(start, (block,)), rhs=b.add(ops.Arange, start=0, end=block))
    return offs, b.add(ops.CmpLt, lhs=offs, rhs=b.splat(n, (block,)))


def at(b: Builder, base: Value, offs: Value) -> Value:
    """`base + offs` for a scalar pointer."""
    assert isinstance(offs.type, BlockType)
    return b.add(ops.AddPtr, pointer=b.splat(base, offs.type.shape), offset=offs)


def edge_values(element: ScalarType) -> Any:
    """Zeros, ones, extremes, NaN, infinities, denormals and some ordinary numbers of a type."""
    dtype = DTYPES[element]
    if element.kind == "bool":
        return np.array([False, True, True, False])
    if element.kind == "int":
        info = np.iinfo(dtype)
        numbers = [0, 1, -1, 2, -2, 3, -7, 16, 100, 2**15, 2**24 + 1, info.min, info.max, info.min + 1, info.max - 1]
        if element.bits == 64:
            numbers += [2**53 + 1, -(2**53) - 1, 2**33, 2**62 + 3]
        return np.array([(n - element.low) % 2**element.bits + element.low for n in numbers], dtype)
    bits = {8: [1, 3, 7], 16: [1, 0x3FF, 0x7F], 32: [1, 0x7FFFFF], 64: [1, 0xFFFFFFFFFFFFF]}[element.bits]
    small = np.array(bits, f"u{element.bits // 8}").view(dtype)
    numbers = [0.0, -0.0, 1.0, -1.0, 0.5, -1.5, 2.0, 3.0, 7.25, -100.0, 1e-5, 300.0, 65504.0, 65520.0, 1e30, -1e30]
    numbers += [2.0**31, -(2.0**31), 2.0**31 - 128, 2.0**63, -(2.0**63), np.nan, np.inf, -np.inf, 1 / 3, 88.0, 709.0]
    with np.errstate(all="ignore"):
        return np.concatenate([np.array(numbers).astype(dtype), small, -small])


def pairs(values: Any) -> tuple[Any, Any]:
    """Every ordered pair of values."""
    return np.repeat(values, len(values)), np.tile(values, len(values))
