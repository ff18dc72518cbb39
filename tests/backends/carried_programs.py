"""Random programs that carry blocks of several elements and shapes through loops, made of each other in every order.

Blocks have more elements than a vector has lanes, and what a trip hands on is often made from what others take the
place of: which is where values might be overwritten too early.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from mytriton.ir import ops
from mytriton.ir.arithmetic import DTYPES
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.core import Func, Value
from mytriton.types import ScalarType, element_of, f32, f64, i16, i32, i64, shape_of, u8
from tests.backends.cpu_support import at
from tests.ir.kernels import pointer
from tests.ir.structured import branch, loop, while_loop

_TYPES = (u8, i16, i32, i64, f32, f64)
_ARITHMETIC = (ops.Add, ops.Sub, ops.Mul)


class CarriedProgram:
    """One program, written from a seed, with its arguments."""

    def __init__(self, seed: int, size: int = 64) -> None:
        self.random = random.Random(seed)
        self.seed, self.size = seed, size
        pick = self.random
        rows = [(size // 4, 4), (4, size // 4), (1, size)]
        self.shapes: list[tuple[int, ...]] = [(size,), *(rows if pick.random() < 0.5 else ())]
        self.types = pick.sample(_TYPES, pick.choice((1, 1, 2)))
        b = Builder()
        self.inputs = {t: pointer(f"x_{t.name}", t) for t in self.types}
        self.outputs = {t: pointer(f"out_{t.name}", t) for t in self.types}
        self.trips = parameter("trips", i32)
        pool = [b.add(ops.Load, pointer=self.place(b, t, (size,))) for t in self.types]
        for _ in range(pick.randrange(1, 5)):
            self.step(b, pool, 0)
        pool += self.nest(b, pool, 0)
        self.stored = pool[-6:]
        for number, value in enumerate(self.stored):
            offsets = b.add(ops.Arange, start=number * size, end=(number + 1) * size)
            flat = b.add(ops.Reshape, source=value, shape=(size,))
            b.append(ops.Store(pointer=at(b, self.outputs[_element(value)], offsets), value=flat))
        self.func: Func = b.finish("carried", (*self.inputs.values(), *self.outputs.values(), self.trips))

    def arguments(self) -> list[Any]:
        """Fresh runtime arguments; equal each time."""
        rng = np.random.default_rng(self.seed)
        arrays = [rng.integers(0, 5, self.size + 4).astype(DTYPES[t]) for t in self.types]
        outputs = [np.zeros(len(self.stored) * self.size, DTYPES[t]) for t in self.types]
        return [*arrays, *outputs, self.seed % 4]

    # --- values -------------------------------------------------------------------------------------------------------

    def kind(self) -> tuple[ScalarType, tuple[int, ...]]:
        """A type and a shape."""
        return self.random.choice(self.types), self.random.choice(self.shapes)

    def place(self, b: Builder, element: ScalarType, shape: tuple[int, ...]) -> Value:
        """Pointers to consecutive elements of an input."""
        start = self.random.randrange(4)
        offsets = b.add(ops.Arange, start=start, end=start + self.size)
        return at(b, self.inputs[element], b.add(ops.Reshape, source=offsets, shape=shape))

    def value(self, b: Builder, pool: Sequence[Value], element: ScalarType, shape: tuple[int, ...]) -> Value:
        """A value of the pool in some shape."""
        fits = [v for v in pool if _element(v) == element]
        if not fits:
            return b.constant(1.0 if element.kind == "float" else 1, element, shape)
        value = self.random.choice(fits)
        old = shape_of(value.type)
        if old[::-1] == shape and self.random.random() < 0.5:
            return b.add(ops.Transpose, source=value, order=tuple(range(len(old)))[::-1])
        return value if old == shape else b.add(ops.Reshape, source=value, shape=shape)

    def step(self, b: Builder, pool: list[Value], depth: int) -> None:
        """One more value, or several, or a store."""
        element, shape = self.kind()
        kind = self.random.randrange(10)
        if kind < 4:
            x, y = (self.value(b, pool, element, shape) for _ in range(2))
            pool.append(b.add(self.random.choice(_ARITHMETIC), lhs=x, rhs=y))
        elif kind == 4:
            pool.append(self.sums(b, self.value(b, pool, element, shape), self.random.randrange(len(shape))))
        elif kind == 5:
            pool.append(b.add(ops.Load, pointer=self.place(b, element, shape)))
        elif kind == 6:
            value = self.value(b, pool, element, shape)
            b.append(ops.Store(pointer=self.place(b, element, shape), value=value))
        elif kind == 7 and depth < 2:
            pool += self.nest(b, pool, depth + 1)
        elif kind == 8 and depth < 2:
            pool += self.choose(b, pool, depth + 1)
        else:
            number = self.random.randrange(4)
            pool.append(b.constant(float(number) if element.kind == "float" else number, element, shape))

    def sums(self, b: Builder, value: Value, axis: int) -> Value:
        """Sums along an axis, broadcast back."""
        shape = shape_of(value.type)
        total = b.add(ops.Reduce, source=value, axis=axis, combine="add")
        if not shape_of(total.type):
            return b.splat(total, shape)
        column = b.add(ops.Reshape, source=total, shape=(*shape[:axis], 1, *shape[axis + 1 :]))
        return b.add(ops.Broadcast, source=column, shape=shape)

    # --- control flow -------------------------------------------------------------------------------------------------

    def choose(self, b: Builder, pool: list[Value], depth: int) -> tuple[Value, ...]:
        kinds = [self.kind() for _ in range(self.random.randrange(1, 4))]

        def body(b: Builder) -> list[Value]:
            inside = list(pool)
            for _ in range(self.random.randrange(4)):
                self.step(b, inside, depth)
            return [self.value(b, inside[-4:], *kind) for kind in kinds]

        return branch(b, b.add(ops.CmpGt, lhs=self.trips, rhs=b.constant(1, i32)), body, body)

    def nest(self, b: Builder, pool: list[Value], depth: int) -> tuple[Value, ...]:
        """A loop that carries some blocks."""
        initial = [self.value(b, pool, *self.kind()) for _ in range(self.random.randrange(1, 5))]

        def body(b: Builder, i: Value, *carried: Value) -> list[Value]:
            inside = [*pool, *carried]
            for _ in range(self.random.randrange(6)):
                self.step(b, inside, depth)
            ours = inside[len(pool) :]
            if self.random.random() < 0.5:
                return [self.from_carried(b, v, carried, ours) for v in carried]
            return [self.value(b, ours, _element(v), shape_of(v.type)) for v in carried]

        if self.random.random() < 0.7:
            return loop(b, 0, self.trips, 1, initial, body)

        def test(b: Builder, i: Value, *carried: Value) -> list[Value]:
            inside = [*pool, *carried]
            for _ in range(self.random.randrange(3)):
                self.step(b, inside, 2)
            return [b.add(ops.CmpLt, lhs=i, rhs=self.trips)]

        def counted(b: Builder, i: Value, *carried: Value) -> list[Value]:
            return [b.add(ops.Add, lhs=i, rhs=b.constant(1, i32)), *body(b, i, *carried)]

        return while_loop(b, [b.constant(0, i32), *initial], test, counted)[1:]

    def from_carried(self, b: Builder, value: Value, carried: Sequence[Value], ours: Sequence[Value]) -> Value:
        """What takes the place of a carried value, made of carried values."""
        x, y = (self.random.choice([v for v in values if v.type == value.type]) for values in (carried, ours))
        return b.add(self.random.choice(_ARITHMETIC), lhs=x, rhs=y) if self.random.random() < 0.9 else y


def _element(value: Value) -> ScalarType:
    element = element_of(value.type)
    assert isinstance(element, ScalarType)
    return element
