"""Kernels of about a given number of operations, for what should take a time proportional to it."""

from __future__ import annotations

from collections.abc import Callable

from mytriton.ir import ops
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.core import Func, Value
from mytriton.types import f32, i32
from tests.ir.kernels import at, at_offsets, below, offsets, pointer
from tests.ir.structured import branch, loop


class _Kernel:
    def __init__(self) -> None:
        self.b = Builder()
        self.x, self.out = pointer("x", f32), pointer("out", f32)
        self.n, self.line = parameter("n", i32), 0
        self.offs = offsets(self.b, 128)
        self.mask = below(self.b, self.offs, self.n)
        self.value = self.b.add(ops.Load, pointer=at_offsets(self.b, self.x, self.offs), mask=self.mask)

    def chunk(self, b: Builder, value: Value) -> Value:
        """Ten operations with something to do for every pass; the next value."""
        self.line += 1
        b.span = at(self.line)
        two = b.constant(2.0, f32, (128,))
        again = b.add(ops.Mul, lhs=value, rhs=b.constant(1.0, f32, (128,)))  # folds
        first, second = (b.add(ops.Add, lhs=again, rhs=two) for _ in range(2))  # merged
        scaled = b.add(ops.Div, lhs=b.add(ops.Mul, lhs=first, rhs=second), rhs=two)  # cheaper as a multiplication
        b.add(ops.Exp, source=scaled)  # unused
        moved = b.add(ops.Add, lhs=self.offs, rhs=b.splat(b.constant(self.line % 7, i32), (128,)))  # leaves loops
        place = at_offsets(b, self.out, moved)
        b.append(ops.Store(pointer=place, value=scaled, mask=self.mask))
        return b.add(ops.Load, pointer=place, mask=self.mask)  # forwarded

    def finish(self, last: Value) -> Func:
        self.b.append(ops.Store(pointer=at_offsets(self.b, self.out, self.offs), value=last, mask=self.mask))
        return self.b.finish("long", (self.x, self.out, self.n))


def straight(size: int) -> Func:
    """No control flow."""
    k = _Kernel()
    value = k.value
    for _ in range(size // 10):
        value = k.chunk(k.b, value)
    return k.finish(value)


def sequence(size: int) -> Func:
    """Loops of ten operations, one after the other, that carry a value each."""
    k = _Kernel()
    value = k.value
    for _ in range(size // 12):
        (value,) = loop(k.b, 0, k.n, 1, [value], lambda b, i, v: [k.chunk(b, v)])
    return k.finish(value)


def nested(size: int) -> Func:
    """Loops and branches in each other, 20 deep, again and again."""
    k = _Kernel()
    value = k.value

    def body(b: Builder, v: Value, depth: int) -> list[Value]:
        v = k.chunk(b, v)
        if depth == 20:
            return [v]
        if depth % 3:
            return list(loop(b, 0, k.n, 1, [v], lambda b, i, w: body(b, w, depth + 1)))
        condition = b.add(ops.CmpLt, lhs=k.n, rhs=b.constant(depth, i32))
        return list(branch(b, condition, lambda b: body(b, v, depth + 1), lambda b: [v]))

    for _ in range(max(1, size // 250)):
        (value,) = body(k.b, value, 0)
    return k.finish(value)


def carried(size: int) -> Func:
    """One loop that carries many values, most of which nothing uses in the end."""
    k = _Kernel()
    count = size // 10

    def body(b: Builder, i: Value, *values: Value) -> list[Value]:
        return [k.chunk(b, v) for v in values]

    last = loop(k.b, 0, k.n, 1, [k.value] * count, body)
    return k.finish(last[0])


LONG: dict[str, Callable[[int], Func]] = {
    "straight line": straight,
    "loops in sequence": sequence,
    "nested loops and branches": nested,
    "many carried values": carried,
}
