"""What an editor's commands make of lines of Python. Each gives the lines that take the place of others, all at once,
so that one undo takes them back; and where the cursor and the other end of the selection then are."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mytriton.records import dataclass

#: Columns of one level, if nobody says otherwise.
INDENT = 4

#: A row and a column, both from 0.
Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Selected:
    """A selection: `anchor` is where it was begun, `cursor` where the cursor is; the same place if nothing is."""

    anchor: Place
    cursor: Place

    @property
    def empty(self) -> bool:
        """Whether it is a cursor alone."""
        return self.anchor == self.cursor

    @property
    def rows(self) -> range:
        """The rows that a command on whole lines is about: not one that the selection only touches the start of."""
        (top, _), (bottom, column) = sorted((self.anchor, self.cursor))
        return range(top, bottom + 1 if column or top == bottom else bottom)


@dataclass(frozen=True, slots=True)
class Change:
    """`lines` in place of `rows`, and what is selected afterwards."""

    rows: range
    lines: tuple[str, ...]
    selected: Selected


def indentation(line: str) -> str:
    """The blanks that a line begins with."""
    return line[: len(line) - len(line.lstrip(" \t"))]


def indent(lines: Sequence[str], selected: Selected, step: int, level: int = INDENT) -> Change:
    """The selected lines one level deeper (`step` 1) or less deep (-1), at multiples of a level; blank ones stay."""

    def moved(line: str) -> str:
        blanks = indentation(line)
        if not line.strip():
            return line
        width = len(blanks.expandtabs(level))
        levels = width // level + 1 if step > 0 else max(0, -(-width // level) - 1)
        return " " * (levels * level) + line[len(blanks) :]

    return _by_line(lines, selected, [moved(lines[row]) for row in selected.rows])


def toggle_comment(lines: Sequence[str], selected: Selected, sign: str = "#") -> Change:
    """The selected lines as comments behind a sign; if all of them are, no longer so. The signs stand in one column."""
    chosen = [lines[row] for row in selected.rows]
    written = [line for line in chosen if line.strip()]
    if not written:
        return Change(selected.rows, tuple(chosen), selected)
    if all(line.lstrip().startswith(sign) for line in written):
        bare = [re.sub(rf"^(\s*){sign} ?", r"\1", line) for line in chosen]
        return _by_line(lines, selected, bare)
    column = min(len(indentation(line)) for line in written)
    marked = [f"{line[:column]}{sign} {line[column:]}" if line.strip() else line for line in chosen]
    return _by_line(lines, selected, marked)


def _by_line(lines: Sequence[str], selected: Selected, new: list[str]) -> Change:
    """New lines for the selected ones; the selection's ends stay at the characters that they were at."""

    def follow(place: Place) -> Place:
        row, column = place
        if row not in selected.rows:
            return place
        old, now = lines[row], new[row - selected.rows.start]
        if column == 0 and not selected.empty:
            return place  # whole lines were selected, and are
        shorter = min(len(old), len(now))
        kept = next((i for i in range(shorter) if old[-1 - i] != now[-1 - i]), shorter)
        from_end = len(old) - column
        return row, len(now) - from_end if from_end <= kept else min(column, len(now) - kept)

    return Change(selected.rows, tuple(new), Selected(follow(selected.anchor), follow(selected.cursor)))


def duplicate(lines: Sequence[str], selected: Selected) -> Change:
    """The selected lines once more below; the copy is selected then."""
    rows = selected.rows
    chosen = [lines[row] for row in rows]
    return Change(rows, (*chosen, *chosen), _shifted(selected, len(rows)))


def move(lines: Sequence[str], selected: Selected, step: int) -> Change | None:
    """The selected lines one up (`step` -1) or down (1), in place of the one there; None at the ends of the text."""
    rows = selected.rows
    other = rows.start - 1 if step < 0 else rows.stop
    if not 0 <= other < len(lines):
        return None
    chosen = [lines[row] for row in rows]
    if step < 0:
        return Change(range(other, rows.stop), (*chosen, lines[other]), _shifted(selected, -1))
    return Change(range(rows.start, other + 1), (lines[other], *chosen), _shifted(selected, 1))


def _shifted(selected: Selected, by: int) -> Selected:
    (a, anchor), (b, cursor) = selected.anchor, selected.cursor
    return Selected((a + by, anchor), (b + by, cursor))


def new_line(before: str, level: int = INDENT) -> str:
    """What the enter key inserts after `before`, the text of the line up to the cursor: the indentation, deeper after a
    colon, and less deep after a statement that nothing in its block can follow."""
    blanks = indentation(before)
    text = _without_comment(before).strip()
    if text.endswith(":") and not _open_bracket(text):
        return f"\n{blanks}{' ' * level}"
    if re.match(r"(return|pass|raise)\b", text) and not _open_bracket(text):
        return f"\n{blanks[: max(0, len(blanks) - level)]}"
    return f"\n{blanks}"


def _without_comment(text: str) -> str:
    """`text` up to the `#` of a comment, as far as one line tells."""
    quote = ""
    for at, c in enumerate(text):
        if quote:
            quote = "" if c == quote and text[at - 1] != "\\" else quote
        elif c in "\"'":
            quote = c
        elif c == "#":
            return text[:at]
    return text


def _open_bracket(text: str) -> bool:
    return sum(text.count(c) for c in "([{") > sum(text.count(c) for c in ")]}")


def place_named(text: str, line: int, lines: int) -> Place | str:
    """The place that `12`, `12:5`, `+3`, `-3` or `$` (the last line) names, from the line the cursor is in; lines and
    columns count from 1, in what is read and in what is given back. A sentence if it names none."""
    found = re.fullmatch(r":?\s*(?:([+-]?)(\d+)|(\$))(?::(\d+))?", text.strip())
    if found is None:
        return f"{text.strip()!r} is not a line: write 12, 12:5, +3, -3 or $"
    sign, digits, _, column = found.groups()
    wanted = lines if digits is None else line + int(sign + digits) if sign else int(digits)
    return max(1, min(lines, wanted)), max(1, int(column or 1))
