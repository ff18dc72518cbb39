"""Small kernels built by hand, for tests that need SSA without a frontend."""

from __future__ import annotations

from mytriton.ir import ops
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.core import Func, ParamInfo, Value
from mytriton.source import Span
from mytriton.types import BlockType, PointerType, ScalarType, bf16, f16, f32, i1, i32, i64


def at(line: int) -> Span:
    """A span on one line."""
    return Span(line, 5, line, 20)


def pointer(name: str, element: ScalarType) -> Value:
    """A pointer parameter."""
    return parameter(name, PointerType(element))


def offsets(b: Builder, block: int) -> Value:
    """`pid * block + arange(0, block)`."""
    pid = b.add(ops.ProgramId, axis=0)
    start = b.add(ops.Mul, lhs=pid, rhs=b.constant(block, i32))
    lanes = b.add(ops.Arange, start=0, end=block)
    return b.add(ops.Add, lhs=b.splat(start, (block,)), rhs=lanes)


def below(b: Builder, offs: Value, n: Value) -> Value:
    """`offs < n`."""
    assert isinstance(offs.type, BlockType)
    return b.add(ops.CmpLt, lhs=offs, rhs=b.splat(n, offs.type.shape))


def at_offsets(b: Builder, base: Value, offs: Value) -> Value:
    """`base + offs` for a scalar pointer."""
    assert isinstance(offs.type, BlockType)
    return b.add(ops.AddPtr, pointer=b.splat(base, offs.type.shape), offset=offs)


def binary_kernel(block: int = 256, op: type[ops.Binary] = ops.Add, element: ScalarType = f32) -> Func:
    """`out[i] = op(x[i], y[i])` for i < n."""
    b = Builder()
    x, y, out = pointer("x_ptr", element), pointer("y_ptr", element), pointer("out_ptr", element)
    n = parameter("n", i32)
    b.span = at(3)
    offs = offsets(b, block)
    b.span = at(4)
    mask = below(b, offs, n)
    b.span = at(5)
    left = b.add(ops.Load, pointer=at_offsets(b, x, offs), mask=mask)
    b.span = at(6)
    right = b.add(ops.Load, pointer=at_offsets(b, y, offs), mask=mask)
    b.span = at(7)
    total = b.add(op, lhs=left, rhs=right)
    b.append(ops.Store(pointer=at_offsets(b, out, offs), value=total, mask=mask))
    return b.finish("binary_kernel", (x, y, out, n), {p: ParamInfo(True) for p in ("x_ptr", "y_ptr", "out_ptr")})


def copy_kernel(block: int = 256, source: ScalarType = f32, to: ScalarType | None = None) -> Func:
    """`out[i] = x[i]` converted to `to`, for i < n."""
    b = Builder()
    x, out, n = pointer("x_ptr", source), pointer("out_ptr", to or source), parameter("n", i32)
    offs = offsets(b, block)
    mask = below(b, offs, n)
    value = b.cast(b.add(ops.Load, pointer=at_offsets(b, x, offs), mask=mask), to or source)
    b.append(ops.Store(pointer=at_offsets(b, out, offs), value=value, mask=mask))
    return b.finish("copy_kernel", (x, out, n))


def counter_kernel(block: int = 128) -> Func:
    """A scalar read-modify-write whose old value a block then uses: `c = *p; *p = c + 1; out[i] = c`."""
    b = Builder()
    p, out = pointer("p", i32), pointer("out_ptr", i32)
    b.span = at(2)
    old = b.add(ops.Load, pointer=p)
    b.span = at(3)
    b.append(ops.Store(pointer=p, value=b.add(ops.Add, lhs=old, rhs=b.constant(1, i32))))
    b.span = at(4)
    offs = offsets(b, block)
    b.append(ops.Store(pointer=at_offsets(b, out, offs), value=b.splat(old, (block,))))
    return b.finish("counter_kernel", (p, out))


def mixed_kernel(block: int = 256) -> Func:
    """f16, bf16, i1 and i64 in one kernel: `out[i] = where(flag[i], f32(x[i]) * f32(y[i]), f32(k[i]))`."""
    b = Builder()
    x, y, flag = pointer("x_ptr", f16), pointer("y_ptr", bf16), pointer("flag_ptr", i1)
    k, out, n = pointer("k_ptr", i64), pointer("out_ptr", f32), parameter("n", i32)
    offs = offsets(b, block)
    mask = below(b, offs, n)
    loaded = [b.add(ops.Load, pointer=at_offsets(b, p, offs), mask=mask) for p in (x, y, flag, k)]
    product = b.add(ops.Mul, lhs=b.cast(loaded[0], f32), rhs=b.cast(loaded[1], f32))
    chosen = b.add(ops.Select, condition=loaded[2], if_true=product, if_false=b.cast(loaded[3], f32))
    b.append(ops.Store(pointer=at_offsets(b, out, offs), value=chosen, mask=mask))
    return b.finish("mixed_kernel", (x, y, flag, k, out, n))
