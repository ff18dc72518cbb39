"""Random programs that do little else than store to and load from a few addresses, over and over.

Every store writes another number, and what is loaded goes into a running total (or is printed, too), so a load that is
moved or replaced wrongly shows.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from mytriton.ir import ops
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.core import Func, Value
from mytriton.types import i1, i32, shape_of
from tests.ir.kernels import at_offsets, pointer
from tests.ir.structured import branch, loop

LANES = 4


class MemoryWriter:
    """Writes one program from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.number = 100
        self.b = b = Builder()
        self.n, self.c = parameter("n", i32), parameter("c", i1)
        p, q = pointer("p", i32), pointer("q", i32)
        self.lanes = b.add(ops.Arange, start=0, end=LANES)
        small = b.add(ops.And, lhs=self.n, rhs=b.constant(3, i32))
        scaled = {k: b.add(ops.Mul, lhs=self.lanes, rhs=b.splat(v, (LANES,))) for k, v in self._scales(small).items()}
        low = b.add(ops.And, lhs=self.lanes, rhs=b.constant(1, i32, (LANES,)))
        self.pointers = [p, q]
        for offset in (b.constant(1, i32), b.constant(4, i32), small):
            self.pointers.append(b.add(ops.AddPtr, pointer=p, offset=offset))
        blocks = [at_offsets(b, base, offs) for base in (p, q) for offs in (self.lanes, low)]
        blocks += [at_offsets(b, p, offs) for offs in scaled.values()]
        blocks.append(b.add(ops.AddPtr, pointer=blocks[0], offset=b.constant(LANES, i32, (LANES,))))
        self.pointers = [*self.pointers, *self.random.sample(blocks, 4)]
        less = b.add(ops.CmpLt, lhs=self.lanes, rhs=b.splat(small, (LANES,)))
        self.masks = {(): self.c, (LANES,): less}
        total = self.steps(b, 0, 14, b.constant(0, i32))
        b.append(ops.Store(pointer=b.add(ops.AddPtr, pointer=q, offset=b.constant(31, i32)), value=total))
        self.func: Func = b.finish("memory", (p, q, self.n, self.c))

    def _scales(self, small: Value) -> dict[str, Value]:
        return {"zero": self.b.constant(0, i32), "two": self.b.constant(2, i32), "some": small}

    def args(self, seed: int) -> list[Any]:
        """Fresh arguments; `p` and `q` are one array for every other seed."""
        p = np.arange(32, dtype=np.int32)
        return [p, p if seed % 2 else np.arange(50, 82, dtype=np.int32), seed % 5, seed % 3 > 0]

    def steps(self, b: Builder, depth: int, count: int, total: Value) -> Value:
        """Some accesses, and blocks with more of them; the new total."""
        for _ in range(count):
            kind = self.random.random()
            if depth < 2 and kind < 0.08:
                (total,) = branch(
                    b, self.c, lambda b, t=total: self.inside(b, depth, t), lambda b, t=total: self.inside(b, depth, t)
                )
            elif depth < 2 and kind < 0.2:
                upper = self.random.choice((self.n, 0, 1, 2, 2))
                (total,) = loop(b, 0, upper, 1, [total], lambda b, i, t: self.inside(b, depth, t))
            elif kind < 0.45:
                self.store(b)
            else:
                total = self.load(b, total)
        return total

    def inside(self, b: Builder, depth: int, total: Value) -> list[Value]:
        """A nested block."""
        return [self.steps(b, depth + 1, self.random.randint(1, 5), total)]

    def place(self) -> tuple[Value, Value | None]:
        """A pointer and perhaps a mask."""
        p = self.random.choice(self.pointers)
        return p, self.masks[shape_of(p.type)] if self.random.random() < 0.3 else None

    def fresh(self, b: Builder, shape: tuple[int, ...]) -> Value:
        """A number that is stored nowhere else; a block has another in each element, mostly."""
        self.number += 10
        value = b.constant(self.number, i32, shape)
        return b.add(ops.Add, lhs=value, rhs=self.lanes) if shape and self.random.random() < 0.8 else value

    def store(self, b: Builder) -> None:
        """Something new at one of the places."""
        p, mask = self.place()
        b.append(ops.Store(pointer=p, value=self.fresh(b, shape_of(p.type)), mask=mask))

    def load(self, b: Builder, total: Value) -> Value:
        """What is at one of the places; the new total."""
        p, mask = self.place()
        other = self.fresh(b, shape_of(p.type)) if mask is not None and self.random.random() < 0.5 else None
        value = b.add(ops.Load, pointer=p, mask=mask, other=other, volatile=self.random.random() < 0.05)
        if self.random.random() < 0.2:
            b.append(ops.Print(values=(value,), prefix="v"))
        if shape_of(value.type):  # each element counts differently
            weighed = b.add(ops.Mul, lhs=value, rhs=b.add(ops.Add, lhs=self.lanes, rhs=b.constant(3, i32, (LANES,))))
            value = b.add(ops.Reduce, source=weighed, axis=0, combine="add")
        return b.add(ops.Add, lhs=b.add(ops.Mul, lhs=total, rhs=b.constant(31, i32)), rhs=value)
