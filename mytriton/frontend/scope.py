"""Names of a kernel or helper while it is lowered, and how control leaves a list of statements."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from mytriton.diagnostics import Label
from mytriton.frontend.values import Item, Known
from mytriton.ir.core import Op, Value
from mytriton.records import dataclass
from mytriton.source import Span


@dataclass(slots=True)
class Scope:
    """What names stand for at one point. A branch or loop gets a copy, so what it binds cannot leak."""

    items: dict[str, Item] = field(default_factory=dict)
    #: Where each name was bound last.
    places: dict[str, Span] = field(default_factory=dict)
    #: Names that were bound where they do not reach the code after it: where, and why.
    unreachable: dict[str, Label] = field(default_factory=dict)
    #: Names declared as constexprs, which no run-time branch or loop may change.
    constexprs: set[str] = field(default_factory=set)

    def copy(self) -> Scope:
        """A scope that starts with the same names."""
        return Scope(dict(self.items), dict(self.places), dict(self.unreachable), set(self.constexprs))

    def bind(self, name: str, item: Item, span: Span) -> None:
        """`name` stands for `item` from here on."""
        self.items[name] = item
        self.places[name] = span
        self.unreachable.pop(name, None)
        self.constexprs.discard(name)

    def hide(self, names: Iterable[str], span: Span | None, text: str) -> None:
        """The names are not defined from here on; a use of one is told where it was bound, and `text`."""
        for name in names:
            place = span or self.places.get(name)
            self.items.pop(name, None)
            self.constexprs.discard(name)
            if place is not None:
                self.unreachable.setdefault(name, Label(place, text))


NOTHING = Known(None)


@dataclass(frozen=True, slots=True)
class Flow:
    """How statements end: `returned` is False if control goes on after them, True if they always return, and a run-time
    bool if they may. `value` is what they return, and `span` the `return`."""

    returned: bool | Value = False
    value: Item = NOTHING
    span: Span | None = None


#: Control goes on.
ON = Flow()


@dataclass(slots=True)
class Side:
    """One of two ways that a run-time condition may take: its operations, the names at its end, and how it ends."""

    ops: list[Op]
    scope: Scope
    flow: Flow = ON

    @property
    def ended(self) -> bool:
        """Whether nothing after the branches is reached from here."""
        return self.flow.returned is True
