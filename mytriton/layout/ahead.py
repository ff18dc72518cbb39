"""What makes the addresses of a loop, so that it can be done for later trips, too."""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping, Sequence
from collections.abc import Set as AbstractSet

from mytriton.ir import ops
from mytriton.ir.builder import Ids, complete
from mytriton.ir.core import Effect, Op, Value
from mytriton.ir.ops.control import yielded
from mytriton.ir.printer import Printer
from mytriton.layout.layout import Layout
from mytriton.layout.order import uses_shared_memory
from mytriton.source import Span
from mytriton.types import ScalarType


class Maker:
    """Makes operations of a laid-out function: `out` is where they go, `scalar` the layout of their scalars, `span` the
    place of what those are for that have none."""

    def __init__(self, ids: Ids, layouts: MutableMapping[Value, Layout], printer: Printer, scalar: Layout) -> None:
        self.ids, self.layouts, self.scalar = ids, layouts, scalar
        self.out: list[Op] = []
        self.span: Span | None = None
        self._printer = printer

    def add(self, op: Op, hint: str = "") -> Op:
        """A new operation, whose result, if any, is a scalar."""
        done = complete(op if op.span is not None else op.evolve(span=self.span), self.ids, hint)
        self.layouts.update((v, self.scalar) for v in done.results)
        self._printer.define(done)
        self.out.append(done)
        return done

    def constant(self, number: int, type_: ScalarType) -> Value:
        """A number."""
        return self.add(ops.Constant(value=number, type=type_)).result

    def binary(self, cls: type[ops.Binary] | type[ops.Compare], lhs: Value, rhs: Value, hint: str = "") -> Value:
        """An operation on two scalars."""
        return self.add(cls(lhs=lhs, rhs=rhs), hint).result

    def value(self, like: Value) -> Value:
        """A new value like another: a parameter, or a result."""
        made = Value(self.ids.fresh(False), like.type, like.hint)
        self.layouts[made] = self.layouts[like]
        return made

    def copy(self, op: Op, now: MutableMapping[Value, Value]) -> None:
        """The operation once more, of what its operands are `now`; so are its results."""
        results = tuple(Value(self.ids.fresh(op.inline), v.type, v.hint) for v in op.results)
        done = op.with_operands(now, results=results)
        for old, new in zip(op.results, results, strict=True):
            self.layouts[new], now[old] = self.layouts[old], new
        self._printer.define(done)
        self.out.append(done)


class Ahead:
    """The part of one loop's body that makes given values, through carried values and all."""

    def __init__(self, op: ops.For) -> None:
        self._op = op
        self._made_by = {v: o for o in op.body.ops for v in o.results}
        self._position = {o: n for n, o in enumerate(op.body.ops)}
        self._params = {param: slot for slot, param in enumerate(op.carried)}

    def obstacle(self, values: Iterable[Value]) -> str:
        """Why the values cannot be made ahead; "" if they can."""
        for op in self._reached(values)[0]:
            if isinstance(op, ops.Load):
                return "its address or mask depends on what the loop loads"
            if op.effect is not Effect.NONE or op.regions or uses_shared_memory(op):
                return f"its address or mask depends on `{op.opcode}` in the loop"
        return ""

    def slots(self, values: Iterable[Value]) -> list[int]:
        """The carried values on which they depend."""
        return sorted(self._reached(values)[1])

    def steps(self, values: Iterable[Value]) -> list[Op]:
        """The operations of one trip that make them, in order."""
        return sorted(self._reached(values, through=False)[0], key=self._position.__getitem__)

    def _reached(self, values: Iterable[Value], through: bool = True) -> tuple[AbstractSet[Op], AbstractSet[int]]:
        """The operations and the carried values that `values` come from, in one trip or `through` all of them."""
        found, slots, stack = set[Op](), set[int](), list(values)
        while stack:
            value = stack.pop()
            if value in self._params:
                slot = self._params[value]
                if slot not in slots and through:
                    stack.append(yielded(self._op.body)[slot])
                slots.add(slot)
            elif (op := self._made_by.get(value)) is not None and op not in found:
                found.add(op)
                stack += op.operands
        return found, slots


def without_use(body: Sequence[Op], removable: AbstractSet[Op], yields: Sequence[Value | None]) -> list[Op]:
    """The operations of a body without those of `removable` that nothing uses; `yields` is what it hands over."""
    needed = {v for v in yields if v is not None}
    kept: list[Op] = []
    for op in reversed(body):
        if op not in removable or any(v in needed for v in op.results):
            kept.append(op)
            needed.update(used(op))
    return kept[::-1]


def used(op: Op) -> Iterable[Value]:
    """What an operation uses, inside of its blocks, too."""
    stack = [op]
    while stack:
        inner = stack.pop()
        yield from inner.operands
        for block in inner.regions:
            stack += block.ops
