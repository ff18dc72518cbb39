"""Kernels of `gpu_cases` about memory: chains and choices of pointers, scalars among blocks, grids, arguments."""

from __future__ import annotations

import numpy as np

from mytriton.ir import ops
from mytriton.ir.arithmetic import DTYPES
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.core import Value
from mytriton.types import INTEGERS, f32, i1, i32, i64
from tests.backends.gpu_case import NUMBERS, Case, pointer


def pointer_chain() -> Case:
    """`out[i] = *((x + 3) + i + (1 << 33) - (1 << 33))`, where i is an i64 block."""
    b, block = Builder(), 64
    x, out = pointer("x", f32), pointer("out", f32)
    base = b.add(ops.AddPtr, pointer=x, offset=b.constant(3, i32))
    lanes = b.add(ops.Arange, start=0, end=block)
    far = b.add(ops.Add, lhs=b.cast(lanes, i64), rhs=b.constant(1 << 33, i64, (block,)))
    first = b.add(ops.AddPtr, pointer=b.splat(base, (block,)), offset=far)
    second = b.add(ops.AddPtr, pointer=first, offset=b.constant(-(1 << 33), i64, (block,)))
    to = b.add(ops.AddPtr, pointer=b.splat(out, (block,)), offset=lanes)
    b.append(ops.Store(pointer=to, value=b.add(ops.Load, pointer=second)))
    func = b.finish("pointer_chain", (x, out))
    return Case(func, (np.arange(67, dtype=np.float32), np.zeros(64, np.float32)))


def pointer_choice(block: int = 256) -> Case:
    """Pointers to two arrays chosen by element, compared, and kept across a store."""
    b = Builder()
    x, y, out, same = pointer("x", f32), pointer("y", f32), pointer("out", f32), pointer("same", i1)
    lanes = b.add(ops.Arange, start=0, end=block)
    odd = b.cast(b.add(ops.And, lhs=lanes, rhs=b.constant(1, i32, (block,))), i1)
    from_x = b.add(ops.AddPtr, pointer=b.splat(x, (block,)), offset=lanes)
    from_y = b.add(ops.AddPtr, pointer=b.splat(y, (block,)), offset=lanes)
    chosen = b.add(ops.Select, condition=odd, if_true=from_x, if_false=from_y)
    value = b.add(ops.Load, pointer=chosen)
    is_x = b.add(ops.CmpEq, lhs=chosen, rhs=from_x)
    for base, stored in ((out, value), (same, is_x)):
        to = b.add(ops.AddPtr, pointer=b.splat(base, (block,)), offset=lanes)
        b.append(ops.Store(pointer=to, value=stored))
    b.append(ops.Store(pointer=chosen, value=b.add(ops.Neg, source=value)))
    func = b.finish("pointer_choice", (x, y, out, same))
    arrays = np.arange(block, dtype=np.float32), np.arange(block, dtype=np.float32) + 1000
    return Case(func, (*arrays, np.zeros(block, np.float32), np.zeros(block, np.bool_)))


def scalar_update() -> Case:
    """Once a program: `c[pid] = c[pid] + 1`, then every lane reads the new value; the old one was read before."""
    b, block = Builder(), 128
    c, out = pointer("c", i32), pointer("out", i32)
    pid = b.add(ops.ProgramId, axis=0)
    at = b.add(ops.AddPtr, pointer=c, offset=pid)
    old = b.add(ops.Load, pointer=at)
    b.append(ops.Store(pointer=at, value=b.add(ops.Add, lhs=old, rhs=b.constant(1, i32))))
    new = b.add(ops.Load, pointer=at)
    both = b.add(ops.Add, lhs=b.add(ops.Mul, lhs=old, rhs=b.constant(1000, i32)), rhs=new)
    lanes = b.add(ops.Arange, start=0, end=block)
    base = b.add(ops.AddPtr, pointer=out, offset=b.add(ops.Mul, lhs=pid, rhs=b.constant(block, i32)))
    to = b.add(ops.AddPtr, pointer=b.splat(base, (block,)), offset=lanes)
    b.append(ops.Store(pointer=to, value=b.splat(both, (block,))))
    func = b.finish("scalar_update", (c, out))
    return Case(func, (np.array([7, -3, 2**31 - 1], np.int32), np.zeros(3 * block, np.int32)), (3, 1, 1))


def scalar_and_block() -> Case:
    """Scalar and block accesses of one array, in turn: `f = x[200]; x[i] = x[i] * f; x[200] = 5; y[i] = x[i]`."""
    b, block = Builder(), 256
    x, y = pointer("x", f32), pointer("y", f32)
    at = b.add(ops.AddPtr, pointer=x, offset=b.constant(200, i32))
    factor = b.add(ops.Load, pointer=at)
    lanes = b.add(ops.Arange, start=0, end=block)
    own = b.add(ops.AddPtr, pointer=b.splat(x, (block,)), offset=lanes)
    scaled = b.add(ops.Mul, lhs=b.add(ops.Load, pointer=own), rhs=b.splat(factor, (block,)))
    b.append(ops.Store(pointer=own, value=scaled))
    b.append(ops.Store(pointer=at, value=b.constant(5.0, f32)))
    to = b.add(ops.AddPtr, pointer=b.splat(y, (block,)), offset=lanes)
    b.append(ops.Store(pointer=to, value=b.add(ops.Load, pointer=own)))
    func = b.finish("scalar_and_block", (x, y))
    return Case(func, (np.arange(256, dtype=np.float32), np.zeros(256, np.float32)))


def block_update() -> Case:
    """`x[i] += 1` in a block smaller than a warp: the copies that other threads hold must not add to it again."""
    b, block = Builder(), 8
    x = pointer("x", i32)
    lanes = b.add(ops.Arange, start=0, end=block)
    own = b.add(ops.AddPtr, pointer=b.splat(x, (block,)), offset=lanes)
    more = b.add(ops.Add, lhs=b.add(ops.Load, pointer=own), rhs=b.constant(1, i32, (block,)))
    b.append(ops.Store(pointer=own, value=more))
    return Case(b.finish("block_update", (x,)), (np.arange(8, dtype=np.int32),))


def grid_axes() -> Case:
    """`out[pid] = the six grid numbers, mixed`, over a 3-D grid."""
    b = Builder()
    out = pointer("out", i32)
    axes = [b.add(ops.ProgramId, axis=a) for a in range(3)]
    extents = [b.add(ops.NumPrograms, axis=a) for a in range(3)]

    def madd(x: Value, y: Value, z: Value) -> Value:
        return b.add(ops.Add, lhs=b.add(ops.Mul, lhs=x, rhs=y), rhs=z)

    index = madd(madd(axes[2], extents[1], axes[1]), extents[0], axes[0])
    b.append(ops.Store(pointer=b.add(ops.AddPtr, pointer=out, offset=index), value=madd(index, extents[2], axes[2])))
    return Case(b.finish("grid_axes", (out,)), (np.zeros(24, np.int32),), (4, 3, 2))


def scalar_arguments() -> Case:
    """Scalars of every type, each stored into its own array."""
    b = Builder()
    types = (i1, *NUMBERS)
    scalars = [parameter(f"s{t.name}", t) for t in types]
    outs = [pointer(f"o{t.name}", t) for t in types]
    for scalar, out in zip(scalars, outs, strict=True):
        b.append(ops.Store(pointer=out, value=scalar))
    values = (True, *(t.low + 5 if t.signed else t.high - 5 for t in INTEGERS), 0.1, 0.1, 0.1, 0.1)
    arrays = [np.zeros(1, DTYPES[t]) for t in types]
    return Case(b.finish("scalar_arguments", (*scalars, *outs)), (*values, *arrays))
