"""When blocks must be in scratch memory, and where. Values whose lives do not overlap share memory.

Positions: loop n runs at n, a step between the loops n - 1 and n at n - 0.5.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf

from mytriton.analysis.runs import size_of
from mytriton.backends.cpu.host import CACHE_LINE
from mytriton.backends.cpu.plan import OUTSIDE, Rows, Run, element_bytes
from mytriton.ir.core import Op, Value
from mytriton.records import dataclass
from mytriton.types import shape_of


@dataclass(slots=True)
class _Life:
    size: int
    first: float
    last: float


class Lives:
    """Collects what is made and read, where."""

    def __init__(self) -> None:
        self.made_in: dict[Value, int] = {}
        self.rows: dict[Value, Rows] = {}
        self.last_use: dict[Value, float] = {}
        self._reads: dict[Value, list[tuple[float, bool]]] = {}
        self._journal: list[tuple[Value, float]] = []
        self._born: dict[Value, float] = {}
        self._owner: dict[Value, Value] = {}
        self._kept: set[Value] = set()
        self._aliases: dict[Value, Value] = {}
        self._held: dict[Value | Op, _Life] = {}

    def make(self, value: Value, loop: int) -> None:
        """A loop computes the value."""
        self.made_in[value] = loop
        self._born[value] = loop

    def give(self, value: Value, position: float) -> None:
        """The value is in scratch memory from a position on, whatever puts it there."""
        self.made_in[value] = OUTSIDE
        self._born[value] = position
        self._kept.add(value)

    def hold(self, op: Op, size: int, position: float) -> None:
        """An operation needs some bytes for itself."""
        self._held[op] = _Life(size, position, position)

    def hold_always(self, op: Op, size: int) -> None:
        """An operation needs some bytes that nothing else is kept in."""
        self._held[op] = _Life(size, OUTSIDE, inf)

    def read(self, value: Value, position: float, in_place: bool = False) -> None:
        """The value is needed at a position; `in_place`: by a loop, the elements of a chunk in that chunk."""
        value = self._aliases.get(value, value)
        self._reads.setdefault(value, []).append((position, in_place))
        self._journal.append((value, position))
        if position != self.made_in[value]:
            self._kept.add(value)
            self.last_use[value] = max(position, self.last_use.get(value, OUTSIDE))

    def is_read_before(self, value: Value, loop: int, first: int) -> bool:
        """Whether all reads of a value, and of others kept in its place, are over when a loop, of a run that starts
        with `first`, writes there; the loop and those fused with it may still read the chunk that they are at."""
        others = [v for v in self._owner if v is not value and self.is_same_place(v, value)]
        reads = [read for v in (value, *others) for read in self._reads.get(v, ())]
        return all(position < first or (in_place and position <= loop) for position, in_place in reads)

    def keep_rows(self, value: Value, rows: Rows) -> None:
        """Keep the rows of a value in this way."""
        self.rows[value] = rows

    def share(self, value: Value, target: Value) -> None:
        """Keep the value where `target` is kept."""
        self._owner[value] = target
        self._kept.add(value)

    def alias(self, value: Value, kept: Value) -> None:
        """The value is another name of one that is in scratch memory, or is to be kept there for this."""
        self.give(value, self._born[kept])
        self.share(value, kept)
        self._aliases[value] = kept

    def is_shared(self, value: Value) -> bool:
        """Whether the value is kept where another one is."""
        return value in self._owner

    def is_same_place(self, value: Value, other: Value) -> bool:
        """Whether two values are one, or kept in one place."""
        return self._find(value) is self._find(other)

    def mark(self) -> int:
        """To be given to `prolong`."""
        return len(self._journal)

    def prolong(self, mark: int, first: float, last: float) -> None:
        """What has been read since `mark`, and is older than `first`, is needed until `last`: a loop reads it again."""
        for value in dict.fromkeys(v for v, _ in self._journal[mark:]):
            if self._born[value] < first:
                self.read(value, last)

    def allocate(self, runs: Mapping[int, Run]) -> tuple[dict[Value | Op, int], int]:
        """Byte offsets, and the bytes needed in all. Loops of a run may be one, so a value lives for whole runs."""
        lives: dict[Value | Op, _Life] = {}
        for value in sorted(self._kept, key=lambda v: self._born[v]):
            first, last = self._born[value], self.last_use.get(value, self._born[value])
            owner = self._find(value)
            life = lives.setdefault(owner, _Life(self._bytes(value), first, last))
            life.first, life.last = min(life.first, first), max(life.last, last)
        lives.update(self._held)
        for life in lives.values():
            life.first = runs[int(life.first)].first if life.first in runs else life.first
            life.last = runs[int(life.last)].last if life.last in runs else life.last
        offsets, size = _first_fit(lives)
        offsets.update((v, offsets[self._find(v)]) for v in self._kept)
        return offsets, size

    def _bytes(self, value: Value) -> int:
        rows = self.rows.get(value)
        return element_bytes(value) * (size_of(value) if rows is None else rows.elements(shape_of(value.type)))

    def _find(self, value: Value) -> Value:
        while value in self._owner:
            value = self._owner[value]
        return value


def _first_fit(lives: Mapping[Value | Op, _Life]) -> tuple[dict[Value | Op, int], int]:
    offsets: dict[Value | Op, int] = {}
    live: list[tuple[int, int, float]] = []  # start, end, last use, by start
    size = 0
    for key, life in sorted(lives.items(), key=lambda item: item[1].first):
        live = [place for place in live if place[2] >= life.first]
        needed = -(-life.size // CACHE_LINE) * CACHE_LINE
        offset = _gap(((start, end) for start, end, _ in live), needed)
        offsets[key] = offset
        live.append((offset, offset + needed, life.last))
        live.sort()
        size = max(size, offset + needed)
    return offsets, size


def _gap(places: Iterable[tuple[int, int]], needed: int) -> int:
    """The lowest offset with so many free bytes."""
    offset = 0
    for start, end in places:
        if start - offset >= needed:
            return offset
        offset = max(offset, end)
    return offset
