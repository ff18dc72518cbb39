"""What a terminal shows, cell by cell, so that of a frame only the cells that change are written.

Textual writes whole rows, and every piece of text with all its colours and a reset behind it: of 20 kB that an edit
makes it write, 17 are colours. Here frames are drawn on a picture of the screen; `update` then tells the shortest way
from what the terminal shows to the newest picture. Frames that come faster than they can be written leave no trace but
the last.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from rich.cells import get_character_cell_size

#: What a frame consists of besides text: cursor addresses, colours, and the ends of rows.
_TOKEN = re.compile(r"\x1b\[(?:(\d+);(\d+)H|([\d;]*)m)|\n")
#: Attributes that are seen on a blank: underlines, reverse video, and lines through and over it.
_SEEN_ON_BLANKS = frozenset(["4", "21", "7", "9", "53"])
_OFF = {"1": "22", "2": "22", "3": "23", "4": "24", "21": "24", "5": "25", "6": "25", "7": "27", "8": "28", "9": "29"}
#: Unchanged cells between two changed ones that are written again, since a cursor movement is no shorter.
_BRIDGE = 4


class Look(NamedTuple):
    """Attributes and colours as the parameters that set them; a foreground of None may be any."""

    attributes: frozenset[str]
    foreground: str | None
    background: str

    @property
    def of_blanks(self) -> Look:
        """The same as far as it is seen on a blank."""
        return self if self.attributes & _SEEN_ON_BLANKS else Look(frozenset(), None, self.background)


PLAIN = Look(frozenset(), "39", "49")
#: Text, its look, and that of its blanks.
Run = tuple[str, tuple[Look, Look]]
#: Row and column; what is written there, and which of its cells: from the first number to the second.
Painted = tuple[int, int, Sequence[Run], int, int]


@lru_cache(4096)
def look(parameters: str) -> tuple[Look, Look]:
    """The look that a colour sequence sets after a reset, and that of blanks in it."""
    attributes, foreground, background = set(), PLAIN.foreground, PLAIN.background
    codes = iter(parameters.split(";"))
    for code in codes:
        number = int(code or 0)
        if number in (38, 48):
            kind = next(codes)
            colour = ";".join([code, kind, *(next(codes) for _ in range(3 if kind == "2" else 1))])
            foreground, background = (colour, background) if number == 38 else (foreground, colour)
        elif number in range(30, 40) or number in range(90, 98):
            foreground = code
        elif number in range(40, 50) or number in range(100, 108):
            background = code
        elif number:
            attributes.add(code)
    found = Look(frozenset(attributes), foreground, background)
    return found, found.of_blanks


@lru_cache(8192)
def change(now: Look, new: Look) -> tuple[str, Look]:
    """The sequence that takes a terminal from one look to another, and the look it has then."""
    seen = now.attributes if new.foreground is not None else now.attributes & _SEEN_ON_BLANKS
    removed = seen - new.attributes
    codes = sorted({_OFF.get(code, "0") for code in removed})
    if "0" in codes:  # one that cannot be ended by itself
        now, codes, removed, seen = PLAIN, ["0"], frozenset(), frozenset()
    dimmed = frozenset(["1", "2"]) if "22" in codes else frozenset()  # both end with that code
    codes += sorted(new.attributes - (seen - dimmed))
    if new.foreground not in (None, now.foreground):
        codes.append(str(new.foreground))
    if new.background != now.background:
        codes.append(new.background)
    attributes = (now.attributes - removed - dimmed) | new.attributes
    after = Look(attributes, now.foreground if new.foreground is None else new.foreground, new.background)
    return (f"\x1b[{';'.join(codes)}m" if codes else ""), after


class Row:
    """The cells of a row: a character and a look each, None where nobody knows. A wide character has "" behind it."""

    def __init__(self) -> None:
        self.characters: list[str | None] = []
        self.looks: list[Look] = []
        self.even = True  # whether each character takes one cell

    def put(self, x: int, runs: Sequence[Run], start: int = 0, end: int | None = None) -> int:
        """Write `runs`, or their cells from `start` to `end`, from cell `x` on; returns the cell behind them."""
        if missing := x - len(self.characters):
            self.characters += [None] * missing  # nothing, where it is negative
            self.looks += [PLAIN] * missing
        characters: list[str] = []
        looks: list[Look] = []
        for text, (whole, blank) in runs:
            cells: Sequence[str] = text
            if not text.isascii():
                cells = _cells(text)
                self.even = self.even and len(cells) == len(text) and "" not in cells
            characters += cells
            if " " in text:
                looks += [blank if character == " " else whole for character in cells]
            else:
                looks += [whole] * len(cells)
        if start or (end is not None and end < len(characters)):
            characters, looks = _cut(characters, start, end), looks[start:end]
        end = x + len(characters)
        self.characters[x:end] = characters
        self.looks[x:end] = looks
        return end

    def changes(self, shown: Row) -> Iterator[tuple[int, int]]:
        """The ranges of cells that are other than in `shown`."""
        if self.characters == shown.characters and self.looks == shown.looks:
            return
        if not self.even or not shown.even:
            yield 0, len(self.characters)  # half of a wide character cannot be written
            return
        known = len(shown.characters)
        cells = zip(self.characters, shown.characters, self.looks, shown.looks, strict=False)
        # Looks of equal sequences are one object, as a rule.
        changed = [x for x, (a, b, c, d) in enumerate(cells) if a != b or (c is not d and c != d)]
        changed += range(known, len(self.characters))
        start = end = changed[0] if changed else 0
        for x in changed:
            if x - end > _BRIDGE:
                yield start, end
                start = x
            end = x + 1
        if changed:
            yield start, end

    def copy(self) -> Row:
        """These cells once more."""
        row = Row()
        row.characters, row.looks, row.even = self.characters.copy(), self.looks.copy(), self.even
        return row


def _cut(characters: list[str], start: int, end: int | None) -> list[str]:
    """The cells from `start` to `end`; of a wide character that is cut through, a blank is left."""
    cut = characters[start:end]
    if cut and not cut[0]:
        cut[0] = " "
    if cut and end is not None and end < len(characters) and not characters[end]:
        cut[-1] = " "
    return cut


def _cells(text: str) -> list[str]:
    cells: list[str] = []
    for character in text:
        width = get_character_cell_size(character)
        if width == 0 and cells:
            cells[-1] += character
        else:
            cells += [character, *[""] * (width - 1)]
    return cells


class Canvas:
    """The picture, and what of it the terminal shows. One thread may draw while another writes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wanted: dict[int, Row] = {}
        self._shown: dict[int, Row] = {}
        self._drawn: set[int] = set()
        self._cursor = self._shown_cursor = (0, 0)

    def forget(self) -> None:
        """The terminal may show anything now: the next frames count alone."""
        with self._lock:
            for rows in (self._wanted, self._shown, self._drawn):
                rows.clear()

    def draw(self, data: str) -> bool:
        """Draw a frame; False if it is none, but something else that is said to a terminal."""
        pieces = _TOKEN.split(data)
        if pieces[0] or len(pieces) < 5 or pieces[1] is None or any("\x1b" in text for text in pieces[::4]):
            return False
        with self._lock:
            looks = PLAIN, PLAIN.of_blanks
            y = x = 0
            runs: list[Run] = []
            for i in range(0, len(pieces), 4):
                if text := pieces[i]:
                    runs.append((text, looks))
                line, column, colours = pieces[i + 1 : i + 4] or (None, None, None)
                if colours is not None:
                    looks = look(colours)
                    continue
                if runs:
                    x = self._row(y).put(x, runs)
                    runs = []
                if line is not None and column is not None:
                    y, x = int(line) - 1, int(column) - 1
            self._cursor = y, x
        return True

    def paint(self, pieces: Iterable[Painted], cursor: tuple[int, int]) -> None:
        """Draw a frame that is not text yet, with the cursor at a row and column."""
        with self._lock:
            for y, x, runs, start, end in pieces:
                self._row(y).put(x, runs, start, end)
            self._cursor = cursor

    def _row(self, y: int) -> Row:
        self._drawn.add(y)
        row = self._wanted.get(y)
        if row is None:
            row = self._wanted[y] = Row()
        return row

    def update(self) -> str:
        """What makes the terminal show the picture."""
        with self._lock:
            out: list[str] = []
            now = PLAIN
            for y in sorted(self._drawn):
                now = self._write_row(y, now, out)
            self._drawn.clear()
            if now != PLAIN:
                out.append("\x1b[0m")
            if out or self._cursor != self._shown_cursor:
                out.append(_address(*self._cursor))
                self._shown_cursor = self._cursor
            return "".join(out)

    def _write_row(self, y: int, now: Look, out: list[str]) -> Look:
        row, shown = self._wanted[y], self._shown.get(y, Row())
        at = -1  # where the cursor is known to be in this row
        changed = False
        for start, end in row.changes(shown):
            changed = True
            cells = zip(row.characters[start:end], row.looks[start:end], strict=True)
            for x, (character, wanted) in enumerate(cells, start):
                if not character:
                    continue
                if at != x:
                    out.append(f"\x1b[{x - at}C" if at >= 0 else _address(y, x))
                if wanted is not now and wanted != now:
                    colours, now = change(now, wanted)
                    out.append(colours)
                out.append(character)
                at = x + 1 if character.isascii() else -1  # terminals differ in how wide they draw some
        if changed:
            self._shown[y] = row.copy()
        return now


def _address(y: int, x: int) -> str:
    return f"\x1b[{y + 1};{x + 1}H"
