"""The list that completion shows: what is in it, which entry is chosen, and how its rows read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from explorer.model.completion import Call, Completion
from explorer.model.language import Entry

#: Rows of the list at most, and columns.
LONGEST, WIDEST = 8, 64
#: What a row is: an entry, the chosen one, or what is said about that.
Kind = Literal["entry", "chosen", "about"]


@dataclass
class Popup:
    """The entries of a completion that the word at its place narrows it to."""

    completion: Completion
    entries: tuple[Entry, ...]
    index: int = 0
    top: int = 0

    @property
    def chosen(self) -> Entry:
        """The entry that is chosen."""
        return self.entries[self.index]

    def narrow(self, word: str) -> bool:
        """Show what a word leaves; False if that is nothing."""
        entries = self.completion.narrowed(word)
        if entries != self.entries:
            self.entries, self.index, self.top = entries, 0, 0
        return bool(entries)

    def move(self, step: int) -> None:
        """Choose another entry; around the ends by single steps."""
        last = len(self.entries) - 1
        at = self.index + step
        self.index = at % (last + 1) if abs(step) == 1 else max(0, min(last, at))

    def rows(self, room: int, width: int) -> list[tuple[str, Kind]]:
        """The rows, as many as there is room for: the list, and what the chosen entry is."""
        width -= 2  # a sign at both ends: it is to be seen without colours, too
        about = self._about(width)[: 2 if room >= 4 else max(0, room - 2)]
        height = max(1, min(len(self.entries), LONGEST, room - len(about)))
        self.top = max(self.index - height + 1, min(self.top, self.index))
        rows: list[tuple[str, Kind]] = []
        for at in range(self.top, min(self.top + height, len(self.entries))):
            entry, here = self.entries[at], at == self.index
            name = f"{'>' if here else ' '} {entry.name}"
            rows.append((_cut(f"{name:<{max(24, width - 14)}} {entry.kind}", width), "chosen" if here else "entry"))
        return [(f"|{text}|", kind) for text, kind in (*rows, *about)]

    def _about(self, width: int) -> list[tuple[str, Kind]]:
        entry = self.chosen
        number = f" {self.index + 1}/{len(self.entries)} "
        said = f"not yet: {entry.not_yet}" if entry.not_yet else entry.doc
        room = width - len(number)
        return [(f"{_cut('  ' + entry.signature, room)}{number}", "about"), (_cut(f"  {said}", width), "about")]


def _cut(text: str, width: int) -> str:
    return f"{text:<{width}}" if len(text) <= width else f"{text[: max(0, width - 3)]}.. "


def call_parts(call: Call, width: int) -> tuple[str, str, str]:
    """A call as text before, of and after the parameter that one is at; if it is too long, that one is seen."""
    at = call.active if call.active is not None else len(call.parameters)
    before = [f"{text}, " for text in call.parameters[:at]]
    active = call.parameters[at] if at < len(call.parameters) else ""
    after = "".join(f", {text}" for text in call.parameters[at + 1 :]) + ")"
    head = f"{call.name}("
    while before and len(head) + sum(map(len, before)) + len(active) + min(len(after), width // 4) > width:
        head = f"{call.name}(.. "
        del before[0]
    said = f"  {call.doc}" if call.doc else ""
    return head + "".join(before), active, after + said
