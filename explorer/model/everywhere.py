"""Finding text in all panes and all stages of what is there now, a slice at a time: nobody is kept waiting for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field
from time import perf_counter

from explorer.model import panes
from explorer.model.replacing import Lines, Search
from explorer.model.session import Session
from mytriton.records import dataclass

#: Lines that are looked through at once, seconds that an expression may take for them, and lines that are listed.
CHUNK, LONGEST, MOST = 400, 0.04, 2000


@dataclass(frozen=True, slots=True)
class Place:
    """A row of a stage's listing, of the source, or of a pane that shows no stage (`backend` and `stage` are "")."""

    pane: str
    backend: str
    stage: str
    row: int
    column: int = 0


@dataclass(frozen=True, slots=True)
class Text:
    """Lines that can be looked through, and where they are shown."""

    title: str
    place: Place
    lines: Sequence[str]


def texts(session: Session, width: int = 1000) -> list[Text]:
    """All there is to be looked through: the source, every stage's listing (what several backends share once), findings
    and the run."""
    found = [Text("source", Place("source", "", "", 0), session.text.split("\n"))]
    seen: dict[str, Sequence[object]] = {}
    order = sorted(session.results.items(), key=lambda item: item[0] != session.backend)
    for backend, result in order:
        for name in result.planned:
            pane, (stage, stale) = panes.pane_of(name), result.listing(name)
            if pane in (None, "source") or stage is None or not stage.lines or seen.get(name) == stage.lines:
                continue
            seen[name] = stage.lines
            title = f"{name} ({backend}{', stale' if stale else ''})"
            found.append(Text(title, Place(pane or "", backend, name, 0), [line.text for line in stage.lines]))
    for pane in ("problems", "run"):
        listing = panes.listing(session, pane, {}, width)
        found.append(Text(listing.title, Place(pane, "", "", 0), [line.text for line in listing.lines]))
    return found


def query(text: str, regex: bool) -> Search:
    """What to look for; letter case counts only if there is a capital (that of `\\S` is none)."""
    letters = re.sub(r"\\.", "", text) if regex else text
    return Search(text, case=letters != letters.lower(), regex=regex)


@dataclass()
class Finding:
    """A search under way. `rows` is what to show: headings of texts, with no place, above the lines that match."""

    texts: Sequence[Text]
    search: Search
    rows: list[tuple[str, Place | None]] = field(default_factory=list)
    count: int = 0
    done: bool = False
    _text: int = 0
    _row: int = 0
    _heading: int = -1
    _here: int = 0

    def step(self, seconds: float) -> bool:
        """Go on for that long; returns whether it is done. Raises `BadPattern`."""
        end = perf_counter() + seconds
        while not self.done and perf_counter() < end:
            self._chunk()
        return self.done

    def _chunk(self) -> None:
        if not self.search.text or self._text == len(self.texts):
            self.done = True
            return
        text = self.texts[self._text]
        chunk = text.lines[self._row : self._row + CHUNK]
        matches = self.search.find("\n".join(chunk), LONGEST) if chunk else []
        lines, last = Lines(chunk), -1
        for match in matches:
            row, column = lines.place(match.start())
            if row != last:
                last = row
                self._add(text, self._row + row, column)
        self._row += CHUNK
        if self._row >= len(text.lines):
            self._text, self._row, self._heading, self._here = self._text + 1, 0, -1, 0

    def _add(self, text: Text, row: int, column: int) -> None:
        self.count += 1
        if len(self.rows) >= MOST:
            return
        place = text.place
        if self._heading < 0:
            self._heading = len(self.rows)
            self.rows.append(("", None))
        self._here += 1
        self.rows[self._heading] = (f"{text.title}  {self._here} line{'s' if self._here > 1 else ''}", None)
        shown = text.lines[row].strip()
        there = Place(place.pane, place.backend, place.stage, row, column)
        self.rows.append((f"{row + 1:>7}  {shown}", there))
