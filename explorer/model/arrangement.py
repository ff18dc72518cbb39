"""Where the panes stand: which columns and slots there are, who is in them, and how large each is.

Plain values: the screen only follows them. An arrangement is written, and kept, as a line of text:

    10* source:3 / tree:2 | 9* ssa | 9* cuda asm _ 11* stages | problems | run - mlir

is a column of two slots, the first taller; one of `ssa`; one where `cuda` and `asm` share a slot, which the one takes
that was in focus last; a row at the bottom, 11 lines high; and a pane that is hidden, until it is gone to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from mytriton.records import dataclass

PANES = ("source", "tree", "ssa", "cuda", "mlir", "asm", "stages", "problems", "run")

#: The least that is left of a pane when another grows: columns, and rows with its heading.
LEAST_WIDTH, LEAST_HEIGHT = 16, 3


@dataclass(frozen=True, slots=True)
class Slot:
    """A place that one of several panes takes; `weight` is its share of the height (or, in a row, of the width)."""

    panes: tuple[str, ...]
    weight: int = 1


@dataclass(frozen=True, slots=True)
class Column:
    """Slots above each other; `weight` is the column's share of the width."""

    slots: tuple[Slot, ...]
    weight: int = 1


@dataclass(frozen=True, slots=True)
class Box:
    """A pane that is shown, and where: columns and rows from the top left of the area."""

    pane: str
    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Columns, then a row of slots at the bottom that is `bottom_height` high."""

    columns: tuple[Column, ...]
    bottom: tuple[Slot, ...] = ()
    bottom_height: int = 0
    hidden: frozenset[str] = frozenset()

    @classmethod
    def read(cls, text: str) -> Arrangement:
        """The arrangement a line of text tells of; raises ValueError if that is none of all panes."""
        match = re.fullmatch(r"([^_-]*)(?:_([^-]*))?(?:-(.*))?", text)
        if match is None:
            raise ValueError(f"{text!r} is no arrangement")
        columns = tuple(
            Column(tuple(map(_slot, slots.split("/"))), weight) for weight, slots in map(_weighted, match[1].split("|"))
        )
        height, row = _weighted(match[2] or "")
        bottom = tuple(map(_slot, row.split("|"))) if match[2] else ()
        found = cls(columns, bottom, height if bottom else 0, frozenset((match[3] or "").split()))
        if sorted(found.panes) != sorted(PANES) or not found.hidden < set(PANES):
            raise ValueError(f"{text!r} does not have each pane once")
        return found

    def __str__(self) -> str:
        def slot(s: Slot) -> str:
            return " ".join(s.panes) + (f":{s.weight}" if s.weight != 1 else "")

        def weight(number: int) -> str:
            return f"{number}* " if number != 1 else ""

        text = " | ".join(weight(c.weight) + " / ".join(map(slot, c.slots)) for c in self.columns)
        if self.bottom:
            text += f" _ {weight(self.bottom_height)}{' | '.join(map(slot, self.bottom))}"
        return text + (f" - {' '.join(sorted(self.hidden))}" if self.hidden else "")

    @property
    def slots(self) -> tuple[Slot, ...]:
        """All slots, in reading order."""
        return (*(slot for column in self.columns for slot in column.slots), *self.bottom)

    @property
    def panes(self) -> tuple[str, ...]:
        """All panes, in reading order."""
        return tuple(pane for slot in self.slots for pane in slot.panes)

    # Who is where

    def with_slots(self, change: Callable[[Slot], Slot]) -> Arrangement:
        """Every slot changed; slots and columns that are left empty go."""
        columns = (replace(c, slots=tuple(s for s in map(change, c.slots) if s.panes)) for c in self.columns)
        bottom = tuple(s for s in map(change, self.bottom) if s.panes)
        return replace(self, columns=tuple(c for c in columns if c.slots), bottom=bottom)

    def swapped(self, one: str, other: str) -> Arrangement:
        """Two panes in each other's place."""
        names = {one: other, other: one}
        return self.with_slots(lambda slot: replace(slot, panes=tuple(names.get(p, p) for p in slot.panes)))

    def stacked(self, pane: str, onto: str) -> Arrangement:
        """`pane` in the slot of another, which shows one of them at a time."""

        def change(slot: Slot) -> Slot:
            others = tuple(p for p in slot.panes if p != pane)
            return replace(slot, panes=(*others, pane) if onto in others else others)

        return self if pane == onto else self.with_slots(change)

    def placed(self, pane: str, column: int) -> Arrangement:
        """`pane` in a slot of its own, below the others of a column; past the last one: in a column of its own."""
        slots = [Column(c.slots, c.weight) for c in self.columns]
        weight = max(1, sum(c.weight for c in slots) // len(slots))
        if column >= len(slots):
            slots.append(Column((), weight))
        there = slots[column]
        share = max(1, sum(s.weight for s in there.slots) // max(1, len(there.slots)))
        marked = replace(there, slots=(*there.slots, Slot((f"+{pane}",), share)))
        whole = replace(self, columns=tuple(marked if i == column else c for i, c in enumerate(slots)))
        gone = whole.with_slots(lambda slot: replace(slot, panes=tuple(p for p in slot.panes if p != pane)))
        return gone.with_slots(lambda slot: replace(slot, panes=tuple(p.removeprefix("+") for p in slot.panes)))

    def showing(self, panes: Collection[str]) -> Arrangement:
        """With these panes not hidden."""
        return replace(self, hidden=self.hidden - set(panes)) if self.hidden.intersection(panes) else self

    def hiding(self, pane: str) -> Arrangement:
        """Without a pane, whose room the others take."""
        return replace(self, hidden=self.hidden | {pane})

    # How large

    def resized(self, pane: str, columns: int, rows: int, width: int, height: int) -> Arrangement:
        """`pane` wider and higher by so much in an area of this size, as far as its neighbours have room to give."""
        lower = next((slot for slot in self.bottom if pane in slot.panes), None)
        if lower is not None:
            high = max(LEAST_HEIGHT, min(self.bottom_height + rows, height - 2 * LEAST_HEIGHT))
            weights = _grown([s.weight for s in self.bottom], self.bottom.index(lower), columns, width, LEAST_WIDTH)
            bottom = tuple(replace(s, weight=w) for s, w in zip(self.bottom, weights, strict=True))
            return replace(self, bottom=bottom, bottom_height=high)
        at = next(i for i, c in enumerate(self.columns) if any(pane in s.panes for s in c.slots))
        wide = _grown([c.weight for c in self.columns], at, columns, width, LEAST_WIDTH)
        slots = self.columns[at].slots
        here = next(i for i, s in enumerate(slots) if pane in s.panes)
        upper = height - (self.bottom_height if self.bottom else 0)
        tall = _grown([s.weight for s in slots], here, rows, upper, LEAST_HEIGHT)
        changed = tuple(replace(s, weight=w) for s, w in zip(slots, tall, strict=True))
        return replace(
            self,
            columns=tuple(
                replace(c, weight=w, slots=changed if i == at else c.slots)
                for i, (c, w) in enumerate(zip(self.columns, wide, strict=True))
            ),
        )

    def even(self) -> Arrangement:
        """All of one size."""
        alike = self.with_slots(lambda slot: replace(slot, weight=1))
        return replace(alike, columns=tuple(replace(c, weight=1) for c in alike.columns))


def _weighted(text: str) -> tuple[int, str]:
    match = re.fullmatch(r"\s*(?:([1-9]\d{0,3})\*)?(.*)", text)
    return (int(match[1] or 1), match[2]) if match is not None else (1, "")


def _slot(text: str) -> Slot:
    match = re.fullmatch(r"\s*([a-z][a-z ]*?)(?::([1-9]\d{0,3}))?\s*", text)
    if match is None:
        raise ValueError(f"{text!r} is no place of panes")
    return Slot(tuple(match[1].split()), int(match[2] or 1))


def _grown(weights: Sequence[int], index: int, step: int, total: int, least: int) -> list[int]:
    """Weights, as cells, after one part grew by `step` at the cost of the next (of the last: the one before)."""
    if step == 0 or len(weights) == 1:
        return list(weights)
    sizes = [length for _, length in split(total, weights, 0)]
    other = index + 1 if index + 1 < len(sizes) else index - 1
    step = max(least - sizes[index], min(step, sizes[other] - least))
    if sizes[other] < least or sizes[index] < least:
        return list(weights)
    sizes[index] += step
    sizes[other] -= step
    return sizes


def split(total: int, weights: Sequence[int], gap: int) -> list[tuple[int, int]]:
    """`(offset, length)` of parts of `total` in proportion to `weights`, with `gap` between neighbours."""
    room = total - gap * (len(weights) - 1)
    parts, used, at = [], 0, 0
    for index, _ in enumerate(weights):
        used = room * sum(weights[: index + 1]) // sum(weights)
        parts.append((at + gap * index, used - at))
        at = used
    return parts


def arrange(
    width: int, height: int, recent: Sequence[str], zoomed: str | None, arrangement: Arrangement
) -> tuple[Box, ...]:
    """The panes to show in an area of this size. A slot shows that one of its panes that is first in `recent`."""
    if zoomed is not None:
        return (Box(zoomed, 0, 0, width, height),)
    hidden = arrangement.hidden
    order = [*recent, *PANES]
    shown = arrangement.with_slots(lambda s: replace(s, panes=tuple(p for p in s.panes if p not in hidden)))
    boxes = []

    def front(slot: Slot) -> str:
        if not set(slot.panes) & set(recent):
            return slot.panes[0]
        return min(slot.panes, key=order.index)

    lower = (min(shown.bottom_height, height) if shown.columns else height) if shown.bottom else 0
    upper = height - lower
    columns = split(width, [column.weight for column in shown.columns], 1) if shown.columns else []
    for (x, w), column in zip(columns, shown.columns, strict=True):
        for (y, h), slot in zip(split(upper, [s.weight for s in column.slots], 0), column.slots, strict=True):
            boxes.append(Box(front(slot), x, y, w, h))
    row = split(width, [s.weight for s in shown.bottom], 1) if shown.bottom else []
    for (x, w), slot in zip(row, shown.bottom, strict=True):
        boxes.append(Box(front(slot), x, upper, w, lower))
    return tuple(boxes)
