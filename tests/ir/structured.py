"""Structured operations built by hand: what each block does is a function that gets the block's builder."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mytriton.ir import ops
from mytriton.ir.builder import Builder
from mytriton.ir.core import Block, Value
from mytriton.types import ScalarType, i32

#: What a block does with its builder and parameters; what it yields.
Body = Callable[..., Sequence[Value]]


def block(b: Builder, params: Sequence[Value], body: Body) -> Block:
    """A nested block; its operations take their ids and span from `b`."""
    inner = Builder(b.ids)
    inner.span = b.span
    values = body(inner, *params)
    inner.append(ops.Yield(values=tuple(values)))
    return Block(tuple(params), tuple(inner.ops))


def fresh(b: Builder, like: Sequence[Value]) -> list[Value]:
    """Block parameters of the types of other values."""
    return [Value(b.ids.fresh(False), v.type) for v in like]


def number(b: Builder, value: Value | int, type_: ScalarType = i32) -> Value:
    """A value, or a constant of it."""
    return b.constant(value, type_) if isinstance(value, int) else value


def loop(
    b: Builder, lower: Value | int, upper: Value | int, step: Value | int, initial: Sequence[Value], body: Body
) -> tuple[Value, ...]:
    """A `For` over i32; `body(builder, i, *carried)` gives the next carried values."""
    bounds = {n: number(b, v) for n, v in (("lower", lower), ("upper", upper), ("step", step))}
    params = fresh(b, [bounds["lower"], *initial])
    return b.append(ops.For(**bounds, initial=tuple(initial), body=block(b, params, body))).results


def while_loop(b: Builder, initial: Sequence[Value], condition: Body, body: Body) -> tuple[Value, ...]:
    """A `While`; both functions get the carried values, `condition` gives `[i1]`."""
    first = block(b, fresh(b, initial), condition)
    return b.append(ops.While(initial=tuple(initial), condition=first, body=block(b, fresh(b, initial), body))).results


def branch(b: Builder, condition: Value, then: Body, orelse: Body = lambda b: ()) -> tuple[Value, ...]:
    """An `If`."""
    first = block(b, (), then)
    return b.append(ops.If(condition=condition, then=first, orelse=block(b, (), orelse))).results
