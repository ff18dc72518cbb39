"""Kernels with tiles, reductions and loops, built by hand."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from mytriton.ir import interp, ops
from mytriton.ir.arithmetic import DTYPES
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.core import Block, Func, Value
from mytriton.ir.verify import verify
from mytriton.layout import simulate
from mytriton.layout.assign import lay_out
from mytriton.layout.ops import Convert
from mytriton.layout.program import Exchange, Item, LaidOut, Nested
from mytriton.target import Target
from mytriton.types import ScalarType, Type, f32, i32, shape_of
from tests.ir.kernels import pointer


class Tiles(Builder):
    """A builder with shapes and control flow."""

    def index(self, shape: tuple[int, ...]) -> Value:
        """The linear positions of a block of `shape`, put together from a range for each axis."""
        total = None
        for axis, extent in enumerate(shape):
            unit = prod(shape[axis + 1 :])
            ones = tuple(extent if i == axis else 1 for i in range(len(shape)))
            lanes = self.shaped(self.add(ops.Arange, start=0, end=extent), ones)
            scaled = self.add(ops.Mul, lhs=lanes, rhs=self.constant(unit, i32, ones))
            part = self.broadcast(scaled, shape)
            total = part if total is None else self.add(ops.Add, lhs=total, rhs=part)
        assert total is not None
        return total

    def shaped(self, value: Value, shape: tuple[int, ...]) -> Value:
        return value if shape_of(value.type) == shape else self.add(ops.Reshape, source=value, shape=shape)

    def broadcast(self, value: Value, shape: tuple[int, ...]) -> Value:
        return value if shape_of(value.type) == shape else self.add(ops.Broadcast, source=value, shape=shape)

    def at(self, base: Value, offset: Value) -> Value:
        return self.add(ops.AddPtr, pointer=self.splat(base, shape_of(offset.type)), offset=offset)

    def load(self, base: Value, offset: Value, mask: Value | None = None) -> Value:
        return self.add(ops.Load, pointer=self.at(base, offset), mask=mask)

    def store(self, base: Value, offset: Value, value: Value, mask: Value | None = None) -> None:
        self.append(ops.Store(pointer=self.at(base, offset), value=value, mask=mask))

    def reduce(self, value: Value, axis: int, combine: str = "add") -> Value:
        return self.add(ops.Reduce, source=value, axis=axis, combine=combine)

    def keep(self, reduced: Value, axis: int, shape: tuple[int, ...]) -> Value:
        """A reduction's result repeated along the axis again."""
        ones = tuple(1 if i == axis else n for i, n in enumerate(shape))
        return self.broadcast(self.shaped(reduced, ones) if ones != (1,) else self.splat(reduced, ones), shape)

    def binary(self, cls: type[ops.Binary], lhs: Value, rhs: Value) -> Value:
        return self.add(cls, lhs=lhs, rhs=rhs)

    def region(self, params: Sequence[Value], make: Callable[[Tiles], Sequence[Value]]) -> Block:
        inner = Tiles(self.ids)
        inner.span = self.span
        inner.append(ops.Yield(values=tuple(make(inner))))
        return Block(tuple(params), tuple(inner.ops))

    def params(self, types: Sequence[Type]) -> list[Value]:
        return [Value(self.ids.fresh(False), t) for t in types]

    def loop(
        self, trips: Value, initial: Sequence[Value], body: Callable[[Tiles, Value, list[Value]], Sequence[Value]]
    ) -> tuple[Value, ...]:
        """`for i in range(0, trips, 1)`, carrying values."""
        i, *carried = self.params([i32, *(v.type for v in initial)])
        block = self.region([i, *carried], lambda b: body(b, i, carried))
        zero, one = self.constant(0, i32), self.constant(1, i32)
        return self.append(ops.For(lower=zero, upper=trips, step=one, initial=tuple(initial), body=block)).results

    def repeat(
        self,
        initial: Sequence[Value],
        condition: Callable[[Tiles, list[Value]], Value],
        body: Callable[[Tiles, list[Value]], Sequence[Value]],
    ) -> tuple[Value, ...]:
        """`while`, carrying values."""
        types = [v.type for v in initial]
        tested, carried = self.params(types), self.params(types)
        test = self.region(tested, lambda b: [condition(b, tested)])
        block = self.region(carried, lambda b: body(b, carried))
        return self.append(ops.While(initial=tuple(initial), condition=test, body=block)).results

    def branch(
        self, condition: Value, then: Callable[[Tiles], Sequence[Value]], orelse: Callable[[Tiles], Sequence[Value]]
    ) -> tuple[Value, ...]:
        """`if`."""
        return self.append(
            ops.If(condition=condition, then=self.region((), then), orelse=self.region((), orelse))
        ).results


def softmax(shape: tuple[int, ...], axis: int = -1, element: ScalarType = f32) -> Func:
    """Softmax along an axis of one tile."""
    axis %= len(shape)
    b, x, out = Tiles(), pointer("x", element), pointer("out", element)
    place = b.index(shape)
    tile = b.load(x, place)
    top = b.keep(b.reduce(tile, axis, "maximum"), axis, shape)
    e = b.add(ops.Exp, source=b.binary(ops.Sub, tile, top))
    b.store(out, place, b.binary(ops.Div, e, b.keep(b.reduce(e, axis), axis, shape)))
    return b.finish("softmax", (x, out))


def reduction(shape: tuple[int, ...], axis: int, combine: str = "add", element: ScalarType = i32) -> Func:
    """One axis of a tile reduced, stored as a block of lower rank or a scalar."""
    b, x, out = Tiles(), pointer("x", element), pointer("out", element)
    result = b.reduce(b.load(x, b.index(shape)), axis, combine)
    if shape_of(result.type):
        b.store(out, b.index(shape_of(result.type)), result)
    else:
        b.append(ops.Store(pointer=out, value=result))
    return b.finish("reduction", (x, out))


def matmul(m: int, n: int, k: int) -> Func:
    """`out[m, n] = a[m, :] @ b[:, n]`, column by column in a run-time loop."""
    b, x, y, out, trips = Tiles(), pointer("a", f32), pointer("b", f32), pointer("out", f32), parameter("k", i32)
    rows, columns = b.add(ops.Arange, start=0, end=m), b.add(ops.Arange, start=0, end=n)

    def body(b: Tiles, i: Value, carried: list[Value]) -> list[Value]:
        at_a = b.binary(ops.Add, b.binary(ops.Mul, rows, b.constant(k, i32, (m,))), b.splat(i, (m,)))
        at_b = b.binary(ops.Add, columns, b.splat(b.binary(ops.Mul, i, b.constant(n, i32)), (n,)))
        left = b.broadcast(b.shaped(b.load(x, at_a), (m, 1)), (m, n))
        right = b.broadcast(b.shaped(b.load(y, at_b), (1, n)), (m, n))
        return [b.binary(ops.Add, carried[0], b.binary(ops.Mul, left, right))]

    (total,) = b.loop(trips, [b.constant(0.0, f32, (m, n))], body)
    b.store(out, b.index((m, n)), total)
    return b.finish("matmul", (x, y, out, trips))


def check(
    func: Func,
    args: Sequence[Any],
    target: Target | None = None,
    order: Sequence[int] | None = None,
    exact: bool = True,
) -> LaidOut:
    """The laid-out program does what the function does; the rewritten function is well formed and does so too."""
    target = target or Target()
    verify(func)
    laid_out = lay_out(func, target)
    verify(laid_out.func)
    expected, rewritten, actual = ([a.copy() if isinstance(a, np.ndarray) else a for a in args] for _ in range(3))
    interp.run(func, expected, (1,))
    interp.run(laid_out.func, rewritten, (1,))
    simulate.run(laid_out, actual, (1,), order)
    for a, r, e in zip(actual, rewritten, expected, strict=True):
        if exact:
            np.testing.assert_array_equal(r, e)
            np.testing.assert_array_equal(a, e)
        else:
            np.testing.assert_allclose(np.float64(r), np.float64(e), rtol=1e-4)
            np.testing.assert_allclose(np.float64(a), np.float64(e), rtol=1e-4)
    return laid_out


def numbers(shape: tuple[int, ...], element: ScalarType = i32, seed: int = 0) -> np.ndarray[Any, np.dtype[Any]]:
    """Distinct-looking numbers of a type."""
    rng = np.random.default_rng(seed)
    if element.kind == "float":
        return rng.standard_normal(shape).astype(DTYPES[element])
    return rng.integers(-1000, 1000, shape).astype(DTYPES[element])


def exchanges(laid_out: LaidOut) -> list[str]:
    """How each exchange goes, in order; `!` if the threads wait before it."""
    found = [item for item in laid_out.walk() if isinstance(item, Exchange)]
    return [(i.op.through if isinstance(i.op, Convert) else i.op.across) + "!" * i.barrier for i in found]


def barriers(laid_out: LaidOut) -> list[list[str]]:
    """What stands behind each barrier that stands by itself: the operations with an effect."""
    return [
        [op.opcode for op in item.ops if op.opcode in ("load", "store")] for item in laid_out.segments if item.barrier
    ]


def without_barriers(laid_out: LaidOut) -> LaidOut:
    def strip(items: tuple[Item, ...]) -> tuple[Item, ...]:
        return tuple(
            dataclasses.replace(i, barrier=False, blocks=tuple(map(strip, i.blocks)))
            if isinstance(i, Nested)
            else dataclasses.replace(i, barrier=False)
            for i in items
        )

    return dataclasses.replace(laid_out, items=strip(laid_out.items))
