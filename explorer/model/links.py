"""Which rows of a listing came from a place in the source. The printers say so line by line; nothing is guessed."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence

from explorer.model.result import Frame, LineView
from mytriton.records import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the file; `frames` is the way in which its code was inlined, if one of several is meant: then they lead
    from the helper (which may be in another file) out to the kernel."""

    line: int
    frames: tuple[Frame, ...] = ()


class Links:
    """The rows of one listing by file line; built when first asked."""

    def __init__(self, lines: Sequence[LineView]) -> None:
        self._lines = lines
        self._starts: dict[int, list[int]] | None = None
        self._inlined: dict[int, list[int]] = {}
        self._spanning: list[tuple[int, int, int]] = []
        self._places: dict[Place, list[int]] = {}
        self._counts: dict[int, int] | None = None

    def _build(self) -> dict[int, list[int]]:
        starts: dict[int, list[int]] = {}
        for row, view in enumerate(self._lines):
            line = view.line
            if line is None:
                continue
            rows = starts.get(line)
            if rows is None:
                starts[line] = [row]
            else:
                rows.append(row)
            if view.end_line is not None and view.end_line > line:
                self._spanning.append((line, view.end_line, row))
            for outer in {f.line for f in view.frames if not f.path} - {line} if view.frames else ():
                self._inlined.setdefault(outer, []).append(row)
        return starts

    @property
    def linked(self) -> dict[int, list[int]]:
        """The rows that start in each file line that any came from."""
        if self._starts is None:
            self._starts = self._build()
        return self._starts

    def rows(self, place: Place | int | None) -> list[int]:
        """The rows that came from a place, in order.

        Of a line: those that start in it, and what is inlined at it; if there are none, those of the narrowest range
        around it. Of one way of inlining: what was inlined that way; if there is nothing, what came from the line, or
        from the lines it is called at, the nearest first.
        """
        if place is None:
            return []
        if isinstance(place, int):
            place = Place(place)
        found = self._places.get(place)
        if found is None:
            found = self._places[place] = self._find(place)
        return found

    def _find(self, place: Place) -> list[int]:
        if place.frames:
            exact = [r for r in self.linked.get(place.line, ()) if self._lines[r].frames == place.frames]
            outward = (f.line for f in place.frames if not f.path)
            ways = (self._of(line) for line in (place.line, *outward))
            return exact or next((rows for rows in ways if rows), [])
        found = self._of(place.line)
        if found:
            return found
        around = [(end - start, row) for start, end, row in self._spanning if start <= place.line <= end]
        narrowest = min((extent for extent, _ in around), default=0)
        return [row for extent, row in around if extent == narrowest]

    def _of(self, line: int) -> list[int]:
        own = self.linked.get(line, [])
        inlined = self._inlined.get(line)
        return sorted({*own, *inlined}) if inlined else own

    @property
    def counts(self) -> dict[int, int]:
        """How many rows came from each file line, with what is inlined at it, if any did. What no line asked for is
        near the first line that needs it, but others may need it as well, so it is counted nowhere."""
        if self._counts is None:
            rows = {line: self._of(line) for line in {**self.linked, **self._inlined}}
            counts = {line: sum(not self._lines[row].made_by for row in own) for line, own in rows.items()}
            self._counts = {line: count for line, count in counts.items() if count}
        return self._counts

    def place(self, row: int) -> Place | None:
        """The place that `row` came from."""
        view = self._lines[row] if 0 <= row < len(self._lines) else None
        return Place(view.line, view.frames) if view is not None and view.line is not None else None

    def ways(self, place: Place) -> tuple[tuple[Frame, ...], ...]:
        """How the code of a place was inlined, each way once, in the order of the listing."""
        rows = self.rows(place)
        return tuple(dict.fromkeys(self._lines[r].frames for r in rows if self._lines[r].frames)) if rows else ()


_kept: OrderedDict[int, tuple[object, Links]] = OrderedDict()
_KEPT = 48


def links_of(lines: Sequence[LineView]) -> Links:
    """The links of a listing, made once."""
    key = id(lines)
    found = _kept.pop(key, None)
    if found is None or found[0] is not lines:
        found = lines, Links(lines)
    _kept[key] = found
    while len(_kept) > _KEPT:
        _kept.popitem(last=False)
    return found[1]


def linked(links: Links, place: Place | None, ways: Iterable[tuple[Frame, ...]] = ()) -> list[int]:
    """The rows of a listing that belong to a place; if there are none, those of where its code is called from, which
    `ways` tell."""
    rows = links.rows(place)
    if rows or place is None or place.frames:
        return rows
    starts = links.linked
    callers = {next((f.line for f in frames if not f.path and f.line in starts), None) for frames in ways}
    return sorted({row for line in callers if line is not None for row in starts[line]})


def source_lines(ways: Iterable[Sequence[Frame]], place: Place) -> list[int]:
    """The lines of the edited file that belong to a place: its own, and those through which its code was inlined."""
    return sorted({place.line, *(f.line for frames in ways for f in frames if not f.path)})


def reveal(rows: Sequence[int], top: int, height: int) -> int | None:
    """The first row to show so that linked `rows` come into view; None to stay at `top`.

    Rows that follow each other are read together: a view that shows only a part of such a run moves on, unless the run
    fills the view or another run is in it as a whole.
    """
    first: tuple[int, int] | None = None
    ordered = sorted(rows)
    start = 0
    for index, row in enumerate(ordered):
        if index + 1 < len(ordered) and ordered[index + 1] == row + 1:
            continue
        begin, end = ordered[start], min(row, ordered[start] + max(1, height) - 1)
        if top <= begin and end < top + height:
            return None
        first = first or (begin, end)
        start = index + 1
    if first is None:
        return None
    begin, end = first
    return max(0, min(begin, max(begin - height // 3, end - height + 1)))
