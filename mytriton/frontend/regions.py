"""Nested blocks of operations, and values that two of them hand on to one place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeAlias

from mytriton.frontend import constants, limits
from mytriton.frontend.scope import Scope
from mytriton.frontend.semantics import Semantics
from mytriton.frontend.values import (
    NO_TUPLE,
    POISON,
    Aggregate,
    Item,
    Known,
    Mistake,
    Operand,
    Poison,
    Tuple,
    Window,
    is_number,
    is_poison,
    number_type,
)
from mytriton.ir import ops
from mytriton.ir.core import Block, Op, Value
from mytriton.keys import spelled
from mytriton.records import dataclass
from mytriton.source import Span
from mytriton.types import PointerType, ScalarType, Type, element_of, i64, promote, shape_of


class Differ(Exception):
    """Two values that should become one have different types, described by `first` and `second`."""

    def __init__(self, first: Item, second: Item) -> None:
        self.first, self.second = type_text(first), type_text(second)


def type_text(item: Item) -> str:
    """The type of a value in messages, or what else it is."""
    match item:
        case Value(type=type_):
            return str(type_)
        case Known(value=value) if is_number(value):
            return str(number_type(item))
        case Known(value=value) if value is None or isinstance(value, (str, ScalarType, PointerType)):
            return f"the constexpr {value!r}" if isinstance(value, str) else f"the constexpr {value}"
        case Tuple(items=items):
            return "(" + ", ".join(type_text(i) for i in items) + ")"
        case Window():
            return str(item)
        case Known(value=value) if name := getattr(value, "__name__", ""):
            return f"the function `{name}`" if callable(value) else f"the module `{name}`"
    return "no run-time value"


def same(first: Item, second: Item) -> bool:
    """Whether two items are one value, or known to be equal."""
    if isinstance(first, Aggregate) and isinstance(second, Aggregate) and first.is_like(second):
        return all(same(a, b) for a, b in zip(first.items, second.items, strict=True))
    if isinstance(first, Known) and isinstance(second, Known):
        return spelled(first.value) == spelled(second.value) and first.type == second.type
    return first is second


def takes(type_: Type, item: Item) -> bool:
    """Whether a value of the type may be given by `item`: a known number takes any type of its kind."""
    if not isinstance(item, Known) or not is_number(item.value):
        return isinstance(item, Value) and item.type == type_
    if not isinstance(type_, ScalarType) or number_type(item).kind != type_.kind:
        return False
    return type_.kind != "int" or constants.fits(item.value, type_)


def joint_type(first: Item, second: Item) -> Type:
    """The type of a value that is either of two; raises `Differ`."""
    for one, other in ((first, second), (second, first)):
        if isinstance(one, Value) and takes(one.type, other):
            return one.type
    if isinstance(first, Known) and isinstance(second, Known) and is_number(first.value) and is_number(second.value):
        types = number_type(first), number_type(second)
        if types[0].kind == types[1].kind:
            return promote(*types)
    raise Differ(first, second)


#: What becomes of two values: an item that stands for both, or the position of a result that will.
Plan: TypeAlias = "Item | int | Parts"


@dataclass(frozen=True, slots=True)
class Parts:
    """What becomes of the items of two aggregates that are like `whole`."""

    whole: Aggregate
    plans: tuple[Plan, ...]


class Join:
    """Values that either of two blocks gives. `pairs` are those that must be handed on; None stands for a value that
    nobody will look at, as its side does not go on."""

    def __init__(self) -> None:
        self.pairs: list[tuple[Item | None, Item | None, Type]] = []

    def plan(self, first: Item, second: Item) -> Plan:
        """One value of two; raises `Differ` if their types differ."""
        if isinstance(first, Poison) or isinstance(second, Poison):
            return POISON
        if isinstance(first, Aggregate) and isinstance(second, Aggregate) and first.is_like(second):
            return Parts(first, tuple(self.plan(a, b) for a, b in zip(first.items, second.items, strict=True)))
        return first if same(first, second) else self._pair(first, second, joint_type(first, second))

    def plan_one(self, item: Item, before: Item | None, position: int) -> Plan:
        """The value of the only side that goes on, the first (0) or second (1); `before` is what it was before."""
        if isinstance(item, Aggregate):
            olds = before.items if isinstance(before, Aggregate) and item.is_like(before) else item.items
            keep = olds is not item.items
            pairs = zip(item.items, olds, strict=True)
            return Parts(item, tuple(self.plan_one(i, old if keep else None, position) for i, old in pairs))
        if not isinstance(item, Value) or item is before:
            return item
        return self._pair(None, item, item.type) if position else self._pair(item, None, item.type)

    def _pair(self, first: Item | None, second: Item | None, type_: Type) -> int:
        self.pairs.append((first, second, type_))
        return len(self.pairs) - 1


def realized(plan: Plan, results: Sequence[Item]) -> Item:
    """The item that was planned, now that there are results."""
    if isinstance(plan, int):
        return results[plan]
    if isinstance(plan, Parts):
        return replace(plan.whole, items=tuple(realized(p, results) for p in plan.plans))
    return plan


class Regions:
    """The block under construction and the names in it."""

    def __init__(self, semantics: Semantics) -> None:
        self.semantics = semantics
        self.scope = Scope()
        #: Some pointer of the kernel, to make up pointers that nobody will use.
        self.pointer: Value | None = None
        self._depth = 0

    @contextmanager
    def region(self, span: Span, into: list[Op] | None = None) -> Iterator[list[Op]]:
        """Operations made in a `with` go into a block of their own (or `into`), and names bound there end with it."""
        if self._depth >= limits.MAX_DEPTH:
            hint = "put a part of it into a kernel of its own, or use masks and tl.where instead of branches"
            raise Mistake("MT147", f"branches and loops nest more than {limits.MAX_DEPTH} deep", span, hint)
        builder, scope = self.semantics.builder, self.scope
        outer, builder.ops = builder.ops, [] if into is None else into
        self.scope = scope.copy()
        self._depth += 1
        try:
            yield builder.ops
        finally:
            builder.ops, self.scope = outer, scope
            self._depth -= 1

    def bind(self, name: str, item: Item, span: Span) -> None:
        """`name` stands for `item` from here on."""
        self.scope.bind(name, item, span)
        if isinstance(item, Value):
            self.semantics.names.setdefault(item, name)

    def unpacked(self, operand: Operand) -> list[Operand]:
        """The items of a tuple, as operands; an error that was reported already counts as one."""
        if isinstance(operand.item, Tuple):
            return [Operand(item, operand.expr) for item in operand.item.items]
        if is_poison(operand):
            return [operand]
        raise Mistake("MT214", f"{self.semantics.describe(operand)} cannot be unpacked", operand.span, NO_TUPLE)

    def as_value(self, item: Item | None, type_: Type) -> Value:
        """The item as a run-time value of a type that takes it; for None, some value of the type."""
        builder = self.semantics.builder
        if isinstance(item, Value):
            return item
        element = element_of(type_)
        if isinstance(element, ScalarType):
            number = item.value if isinstance(item, Known) else 0
            return builder.constant(constants.convert(number, element), element, shape_of(type_))
        pointer = builder.constant(0, i64) if self.pointer is None else self.pointer
        if pointer.type != element:
            pointer = builder.add(ops.Bitcast, source=pointer, to=element)
        return builder.splat(pointer, shape_of(type_))

    def as_bool(self, operand: Operand, what: str) -> Value:
        """The truth of each element of a run-time value."""
        assert isinstance(operand.item, Value)
        self.semantics.builder.span = operand.span
        return self.semantics.builder.truth(operand.item)

    def condition(self, test: Operand, what: str) -> bool | Value:
        """The truth of a number: known, or a run-time scalar bool. A block has no single truth."""
        if not isinstance(test.item, Value):
            return bool(self.semantics.known(test, what))
        value = self.as_bool(test, what)
        shape = shape_of(value.type)
        if any(extent != 1 for extent in shape):
            message = f"{what} must be one number, but {self.semantics.describe(test)} has many"
            hint = "choose elementwise with tl.where(condition, x, y), mask loads and stores with the condition, or "
            hint += "give single elements to a function that branches: tl.map_elementwise(function, x)"
            raise Mistake("MT148", message, test.span, hint)
        return self.semantics.builder.add(ops.Reshape, source=value, shape=()) if shape else value


def block(params: Sequence[Value], body: list[Op]) -> Block:
    """A block of finished operations."""
    return Block(tuple(params), tuple(body))


def substitute(body: Sequence[Op], values: Mapping[Value, Value]) -> list[Op]:
    """The operations with values replaced, nested blocks included."""
    done = []
    for op in body:
        op = op.with_operands(values)
        if op.regions:
            op = op.with_regions(tuple(block(b.params, substitute(b.ops, values)) for b in op.regions))
        done.append(op)
    return done
