"""What a run-time loop may change: the names that have a value before it and are assigned in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from mytriton.frontend import tree as t
from mytriton.frontend.regions import Differ, Parts, Plan, realized, same, takes
from mytriton.frontend.values import Aggregate, Item, Known, Poison, is_number, number_type
from mytriton.ir.core import Value
from mytriton.records import dataclass
from mytriton.source import Span
from mytriton.types import Type


@dataclass(slots=True)
class Carry:
    """What a loop may change: a slot for each number of each name that has a value before the loop and is assigned in
    it. `plans` has the names' values in terms of slots; `last` is what a trip leaves in each slot."""

    before: dict[str, Item]
    places: Mapping[str, Span]
    constexprs: set[str]
    plans: dict[str, Plan] = field(default_factory=dict)
    slots: list[tuple[Item, Type, str]] = field(default_factory=list)
    last: list[Item | None] = field(default_factory=list)

    def plan(self, name: str, item: Item) -> Plan:
        """A slot for each number in the item; what is no number must stay as it is."""
        if isinstance(item, Aggregate):
            return Parts(item, tuple(self.plan(name, i) for i in item.items))
        if isinstance(item, Value):
            type_: Type = item.type
        elif isinstance(item, Known) and is_number(item.value):
            type_ = number_type(item)
        else:
            return item
        self.slots.append((item, type_, name))
        self.last.append(None)
        return len(self.slots) - 1

    def leave(self, plan: Plan, item: Item) -> None:
        """Take the value that a trip leaves for the next one; raises `Differ` if it does not fit."""
        if isinstance(plan, int):
            if not takes(self.slots[plan][1], item):
                raise Differ(self.slots[plan][0], item)
            self.last[plan] = item
        elif isinstance(plan, Parts):
            if not isinstance(item, Aggregate) or not plan.whole.is_like(item):
                raise Differ(realized(plan, [before for before, _, _ in self.slots]), item)
            for part, one in zip(plan.plans, item.items, strict=True):
                self.leave(part, one)
        elif not same(plan, item):
            raise Differ(plan, item)


def holds_poison(item: Item) -> bool:
    """Whether an item, or a part of it, carries an error that was reported already."""
    return any(holds_poison(i) for i in item.items) if isinstance(item, Aggregate) else isinstance(item, Poison)


def loop_variables(body: Sequence[t.Stmt]) -> Iterator[t.Name]:
    """The variables of the `for` loops among the statements, nested ones included."""
    stack = list(body)
    while stack:
        node = stack.pop()
        if isinstance(node, t.For):
            yield node.target
        if isinstance(node, (t.For, t.While, t.If)):
            stack += node.body
        if isinstance(node, t.If):
            stack += node.orelse
