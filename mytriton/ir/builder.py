"""Appends operations to a function under construction, giving each result its type and a fresh id."""

from __future__ import annotations

from typing import Any, TypeVar

from mytriton.ir.core import Block, Func, Op, ParamInfo, Value
from mytriton.ir.ops import Bitcast, Cast, Constant, Splat
from mytriton.source import Span
from mytriton.types import BlockType, ScalarType, Type, i1, i64, is_pointer, shape_of

O = TypeVar("O", bound=Op)  # noqa: E741


class Ids:
    """The two id spaces of a function: `%0, %1, ...` for listed operations, `%c0, ...` for inline ones."""

    def __init__(self, value: int = 0, inline: int = 0) -> None:
        self.value = value
        self.inline = inline

    def fresh(self, inline: bool) -> str:
        """An unused id."""
        if inline:
            self.inline += 1
            return f"%c{self.inline - 1}"
        self.value += 1
        return f"%{self.value - 1}"


def complete(op: O, ids: Ids, hint: str = "") -> O:
    """`op` with result values of the types its rule gives; raises `TypeRuleError`."""
    results = tuple([Value(ids.fresh(op.inline), type_, hint) for type_ in op.type_rule()])
    return op.evolve(results=results)


class Builder:
    """Collects the operations of one function, in order. `span` is given to every operation that has none."""

    def __init__(self, ids: Ids | None = None) -> None:
        self.ids = ids or Ids()
        self.ops: list[Op] = []
        self.span: Span | None = None
        self.hint = ""

    def add(self, cls: type[O], **fields: Any) -> Value:
        """Append an operation with one result, and return the result."""
        return self.append(cls(**{"span": self.span, **fields})).result

    def append(self, op: O) -> O:
        """Append an operation made without results; returns it completed."""
        done = complete(op if op.span else op.evolve(span=self.span), self.ids, self.hint)
        self.ops.append(done)
        return done

    def constant(self, value: bool | int | float, type_: ScalarType, shape: tuple[int, ...] = ()) -> Value:
        """A constant of the scalar type, splat to `shape` unless that is ()."""
        return self.splat(self.add(Constant, value=value, type=type_), shape)

    def splat(self, value: Value, shape: tuple[int, ...]) -> Value:
        """A scalar as a block of `shape`; the value itself if it already has the shape."""
        return value if shape_of(value.type) == shape else self.add(Splat, source=value, shape=shape)

    def cast(self, value: Value, to: ScalarType) -> Value:
        """The value with elements of type `to`; the value itself if they already are."""
        element = value.type.element if isinstance(value.type, BlockType) else value.type
        return value if element == to else self.add(Cast, source=value, to=to)

    def truth(self, value: Value) -> Value:
        """Whether each element is true: a number that is not 0, or a pointer whose address is not."""
        return self.cast(self.add(Bitcast, source=value, to=i64) if is_pointer(value.type) else value, i1)

    def finish(
        self, name: str, params: tuple[Value, ...], info: dict[str, ParamInfo] | None = None, span: Span | None = None
    ) -> Func:
        """The function made of everything appended."""
        body = Block(params, tuple(self.ops))
        return Func(name, body, dict(info or {}), span, self.ids.value, self.ids.inline)


def parameter(name: str, type_: Type) -> Value:
    """A function parameter: its id is its name."""
    return Value(name, type_, name)
