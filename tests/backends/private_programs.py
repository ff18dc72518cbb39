"""Random programs with loops, branches, shapes and reductions in which no two elements share memory that is written, so
that their results do not depend on the order of threads; and the same bits come out of any order of reduction."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from mytriton.ir import ops
from mytriton.ir.arithmetic import DTYPES
from mytriton.ir.builder import Builder
from mytriton.ir.core import Func, Value
from mytriton.types import ScalarType, element_of, f32, i32, is_pointer, shape_of
from tests.backends.gpu_case import Case
from tests.ir import structured_programs
from tests.ir.kernels import pointer

#: At most so many stores go to one array.
STORES = 128


class Writer(structured_programs.Writer):
    """Every store has some elements of an output array to itself, in each program. There are blocks of 8 elements and
    of `elements`."""

    def __init__(self, seed: int, size: int = 40, elements: int = 8) -> None:
        self.shares: dict[ScalarType, tuple[Value, int]] = {}
        self.elements = elements
        super().__init__(seed, size)
        params = (*self.func.params, *(p for p, _ in self.shares.values()))
        block = self.func.body
        self.func = Func("private", type(block)(params, block.ops), self.func.info, None, *self.ids_of(self.func))

    @staticmethod
    def ids_of(func: Func) -> tuple[int, int]:
        return func.next_value, func.next_inline

    def steps(self, b: Builder, pool: list[Value], depth: int) -> None:
        if depth == 0 and self.elements > 8:
            lanes = b.add(ops.Arange, start=0, end=self.elements)
            pool += [lanes, b.cast(lanes, f32), b.add(ops.Load, pointer=self.at_lanes(b, self.pointers[4], lanes))]
        super().steps(b, pool, depth)

    def at_lanes(self, b: Builder, base: Value, lanes: Value) -> Value:
        return b.add(ops.AddPtr, pointer=b.splat(base, shape_of(lanes.type)), offset=lanes)

    def shape(self, b: Builder, pool: list[Value]) -> Value:
        """The same elements in another shape, or a row or column repeated."""
        n = self.elements
        if n == 8:
            return super().shape(b, pool)
        blocks = [v for v in pool if prod(shape_of(v.type)) > 8]
        x = self.random.choice(blocks[-4:] if blocks and self.random.random() < 0.7 else pool)
        shape = shape_of(x.type)
        if prod(shape) <= 8:
            return self.wide(b, x)
        if len(shape) > 1 and self.random.random() < 0.6:
            order = list(range(len(shape)))
            self.random.shuffle(order)
            return b.add(ops.Transpose, source=x, order=tuple(order))
        return b.add(ops.Reshape, source=x, shape=self.random.choice(self.shapes(prod(shape))))

    def shapes(self, n: int) -> list[tuple[int, ...]]:
        return [(n,), (n // 8, 8), (4, n // 4), (n // 16, 2, 8), (n, 1), (1, n)]

    def wide(self, b: Builder, x: Value) -> Value:
        """A small block, or a scalar, as a wide one."""
        shape, n = shape_of(x.type), self.elements
        if not shape or prod(shape) == 1:
            one = b.add(ops.Reshape, source=x, shape=()) if shape else x
            return b.splat(one, self.random.choice(self.shapes(n)))
        k = prod(shape)
        ones, full = self.random.choice(
            [((k, 1), (k, n // k)), ((1, k), (n // k, k)), ((1, k, 1), (n // k // 2, k, 2))]
        )
        return b.add(ops.Broadcast, source=b.add(ops.Reshape, source=x, shape=ones), shape=full)

    def binary(self, b: Builder, pool: list[Value]) -> Value:
        value = super().binary(b, pool)
        op = b.ops[-1]
        if isinstance(op, ops.FloorDiv):  # by 0 it may give any value
            b.ops[-1] = ops.Maximum(lhs=op.lhs, rhs=op.rhs, results=op.results, span=op.span)
        return value

    def store(self, b: Builder, pool: list[Value], value: Value) -> None:
        element, shape = element_of(value.type), shape_of(value.type)
        if is_pointer(value.type):
            return
        assert isinstance(element, ScalarType)
        out, used = self.shares.get(element, (pointer(f"out_{element}", element), 0))
        if used == STORES:
            return
        self.shares[element] = out, used + 1
        pid = b.add(ops.ProgramId, axis=0)
        base = b.add(ops.Mul, lhs=pid, rhs=b.constant(STORES * self.elements, i32))
        first = b.add(ops.Add, lhs=base, rhs=b.constant(self.elements * used, i32))
        at = b.add(ops.AddPtr, pointer=out, offset=first)
        if shape:
            lanes = b.add(ops.Arange, start=0, end=prod(shape))
            if len(shape) > 1:
                lanes = b.add(ops.Reshape, source=lanes, shape=shape)
            at = b.add(ops.AddPtr, pointer=b.splat(at, shape), offset=lanes)
        mask = self.condition(b, pool, shape) if pool and self.random.random() < 0.3 else None
        b.append(ops.Store(pointer=at, value=value, mask=mask))

    def store_any(self, b: Builder, pool: list[Value]) -> None:
        self.store(b, pool, self.random.choice(pool))

    def keep(self, b: Builder, value: Value) -> None:
        self.store(b, [], value)

    def store_load(self, b: Builder, pool: list[Value]) -> Value:
        """A load alone: what one program stores, another of the grid may be loading."""
        return self.load(b, pool)

    def reduce(self, b: Builder, pool: list[Value]) -> Value | None:
        x = self.pick(pool, lambda v: bool(shape_of(v.type)) and not is_pointer(v.type))
        if x is None:
            return None
        names = {
            "bool": ("and", "or", "xor"),
            "int": ("add", "mul", "maximum", "minimum", "xor", "and", "or"),
            "float": ("maximum", "minimum_nan", "maximum_nan"),  # a sum depends on its order
        }
        element = element_of(x.type)
        assert isinstance(element, ScalarType)
        axis = self.random.randrange(len(shape_of(x.type)))
        return b.add(ops.Reduce, source=x, axis=axis, combine=self.random.choice(names[element.kind]))


def private_case(seed: int, size: int = 40, elements: int = 8) -> Case:
    """The case of a seed."""
    writer = Writer(seed, size, elements)
    count = len(writer.shares)
    given = writer.func.params[: len(writer.func.params) - count]
    inputs: list[Any] = structured_programs.arguments(Func("", type(writer.func.body)(given, ()), {}), seed)
    outputs = [np.zeros(STORES * elements * structured_programs.GRID, DTYPES[element]) for element in writer.shares]
    return Case(writer.func, (*inputs, *outputs), (structured_programs.GRID, 1, 1))
