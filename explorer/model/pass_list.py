"""The passes that a module goes through as a list that is edited: switched off, moved, added, with undo."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from explorer.model.result import OptionView, PassView

#: The pass in whose place a schedule's steps are.
INTERPRETER = "transform-interpreter"
#: Suggestions that are shown at most.
MOST = 200

_WORD = re.compile(r"[\w.-]*$")


@dataclass(frozen=True)
class Entry:
    """A pass as a text for `builtin.module(...)`, and whether it is run."""

    text: str
    on: bool = True


@dataclass
class PassList:
    """The entries, the row that is selected, and what they were before each change."""

    entries: tuple[Entry, ...] = ()
    row: int = 0
    #: What they are where nobody changes them; None if that is not known.
    own: tuple[str, ...] | None = None
    _past: list[tuple[tuple[Entry, ...], int]] = field(default_factory=list)
    _future: list[tuple[tuple[Entry, ...], int]] = field(default_factory=list)

    @classmethod
    def of(cls, passes: Sequence[str], own: Sequence[str] | None) -> PassList:
        """A list of these passes, all of them on."""
        return cls(tuple(map(Entry, passes)), own=tuple(own) if own is not None else None)

    @property
    def active(self) -> tuple[str, ...]:
        """The passes that are run."""
        return tuple(entry.text for entry in self.entries if entry.on)

    def toggle(self) -> None:
        """Switch the pass off, or on again."""
        if self.entries:
            here = self.entries[self.row]
            self._change(self._with(replace(here, on=not here.on)), self.row)

    def move(self, by: int) -> None:
        """Have the pass run earlier (-1) or later (1)."""
        to = self.row + by
        if self.entries and 0 <= to < len(self.entries):
            made = list(self.entries)
            made.insert(to, made.pop(self.row))
            self._change(tuple(made), to)

    def insert(self, texts: Sequence[str]) -> None:
        """Add passes behind the one that is selected, and select the last of them."""
        at = self.row + 1 if self.entries else 0
        made = (*self.entries[:at], *map(Entry, texts), *self.entries[at:])
        self._change(made, at + len(texts) - 1)

    def write(self, texts: Sequence[str]) -> None:
        """Have other passes in the place of the one that is selected."""
        at = self.row
        made = (*self.entries[:at], *(Entry(t, self.entries[at].on) for t in texts), *self.entries[at + 1 :])
        self._change(made, min(at, max(0, len(made) - 1)))

    def remove(self) -> None:
        """Take the pass away."""
        if self.entries:
            self.write(())

    def schedule_first(self) -> None:
        """Have a schedule applied before all passes, if there is no place for it yet."""
        if not any(entry.text.startswith(INTERPRETER) for entry in self.entries):
            self._change((Entry(INTERPRETER), *self.entries), 0)

    def undo(self) -> bool:
        """Take the last change back; False if there is none."""
        return self._back(self._past, self._future)

    def redo(self) -> bool:
        """Make the last change again that was taken back; False if there is none."""
        return self._back(self._future, self._past)

    def _back(self, source: list[tuple[tuple[Entry, ...], int]], target: list[tuple[tuple[Entry, ...], int]]) -> bool:
        if not source:
            return False
        target.append((self.entries, self.row))
        self.entries, self.row = source.pop()
        return True

    def _with(self, entry: Entry) -> tuple[Entry, ...]:
        return (*self.entries[: self.row], entry, *self.entries[self.row + 1 :])

    def _change(self, entries: tuple[Entry, ...], row: int) -> None:
        if entries != self.entries:
            self._past.append((self.entries, self.row))
            self._future.clear()
            self.entries = entries
        self.row = max(0, row)


def stages_of(entries: Sequence[Entry], planned: Sequence[str]) -> list[tuple[str, ...]]:
    """The stages of each entry, of the `planned` ones that are passes: one each, those of a schedule in its place."""
    rest = list(planned)
    found: list[tuple[str, ...]] = []
    for entry in entries:
        count = 1 if entry.on else 0
        if entry.on and entry.text.startswith(INTERPRETER):
            count = next((i for i, name in enumerate(rest) if not name.startswith("mlir/transform.")), len(rest)) or 1
        found.append(tuple(rest[:count]))
        del rest[:count]
    return found


#: An operation at the beginning of a line, and its indentation.
_OPERATION = re.compile(r'( *)(?:%[^=]*= )?"?((?:[a-z_]\w*\.)+\w+|module)\b')


def place_of(on: str, listing: Sequence[str]) -> tuple[str, ...]:
    """The operations that a pass which runs `on` one of them is nested in, below the outermost module: where the first
    of them is in a listing. () if there is none."""
    around: list[tuple[int, str]] = []
    for line in listing:
        found = _OPERATION.match(line)
        if found is None:
            continue
        indent, name = len(found[1]), found[2]
        around = [*(each for each in around if each[0] < indent), (indent, name)]
        if name == on or (on == "function" and name.endswith(".func")):
            path = ["builtin.module" if n in ("module", "builtin.module") else n for _, n in around]
            return tuple(path[1:] if path[0] == "builtin.module" else path)
    return ()


# Looking for passes


@dataclass(frozen=True)
class Suggestion:
    """A pass, or one of its options: what it is called, what to write for it, and what it does."""

    name: str
    written: str
    about: str


def suggestions(typed: str, passes: Sequence[PassView]) -> list[Suggestion]:
    """What may be meant by the end of what was typed: passes by a few letters of name or help; within braces the
    options of the pass before them."""
    word = _WORD.search(typed)
    assert word is not None
    before, start = typed[: word.start()], word[0]
    if (about := _within(before)) is not None:
        found = next((p for p in passes if p.name == about), None)
        options = found.options if found is not None else ()
        matching = [o for o in options if start in o.name]
        return [Suggestion(f"{o.name}={o.takes}", f"{before}{o.name}=", o.help) for o in matching]
    scored = [(score, p) for p in passes if (score := _score(start.lower(), p)) is not None]
    scored.sort(key=lambda each: (each[0], each[1].name))
    return [Suggestion(p.name, before + p.name, p.help) for _, p in scored[:MOST]]


def options_of(typed: str, passes: Sequence[PassView]) -> tuple[OptionView, ...]:
    """The options of the pass that what was typed ends with."""
    name = _within(typed) or (found[0] if (found := _WORD.search(typed)) else "")
    return next((p.options for p in passes if p.name == name), ())


def _within(text: str) -> str | None:
    """The pass whose braces are open at the end of a text; None outside of any."""
    opening = text.rfind("{")
    if opening < 0 or text.rfind("}") > opening:
        return None
    found = _WORD.search(text[:opening])
    return found[0] if found else ""


def _score(letters: str, found: PassView) -> tuple[int, int] | None:
    """How well a pass fits, less is better: it begins with the letters, has them in a piece, in its help, in order.
    Hyphens in names count only where they are typed."""
    name = found.name if "-" in letters else found.name.replace("-", "")
    if not letters:
        return 0, 0
    if name.startswith(letters):
        return 0, len(name)
    if letters in name:
        return 1, name.index(letters)
    if letters in found.help.lower():
        return 2, len(name)
    at = -1
    for letter in letters:
        at = name.find(letter, at + 1)
        if at < 0:
            return None
    return 3, at


def closed(text: str) -> str:
    """A text with the brackets closed that are open at its end."""
    pairs = {"(": ")", "{": "}", "[": "]"}
    expected: list[str] = []
    for c in text:
        if c in pairs:
            expected.append(pairs[c])
        elif expected and c == expected[-1]:
            expected.pop()
    return text.strip() + "".join(reversed(expected))
