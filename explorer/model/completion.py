"""What can be written at a place of a kernel file, and what the call around it takes."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from dataclasses import replace

from explorer.model import language, scope
from explorer.model.editing import Place
from explorer.model.language import Entry
from explorer.model.scope import Code
from mytriton.records import dataclass

_WORD = string.ascii_letters + string.digits + "_"
#: Rows that are looked back at for the bracket that opens a call.
_FARTHEST = 60
#: Letters of a word that is looked for inside of names.
_TELLING = 3


@dataclass(frozen=True, slots=True)
class Completion:
    """What can stand from column `start` of a row on; `entries` are all, `narrowed` gives those a word is about."""

    row: int
    start: int
    entries: tuple[Entry, ...]

    def narrowed(self, word: str) -> tuple[Entry, ...]:
        """The entries that begin with `word`, whatever its case, and then those that contain it, if it is long enough
        to say something."""
        small = word.lower()

        def rank(entry: Entry) -> int | None:
            name = entry.name.lower()
            if name.startswith(small):
                return 1 if entry.not_yet else 0
            if small not in name or len(small) < _TELLING:
                return None
            return 3 if entry.not_yet else 2

        ranks = {entry: found for entry in self.entries if (found := rank(entry)) is not None}
        return tuple(sorted(ranks, key=lambda entry: ranks[entry]))


@dataclass(frozen=True, slots=True)
class Call:
    """The call that a place is in: what is called, its parameters, and which of them the place is at. `free` are the
    names of those that can be given here by name."""

    name: str
    parameters: tuple[str, ...]
    active: int | None
    doc: str = ""
    free: tuple[str, ...] = ()


def complete(lines: Sequence[str], code: Code, place: Place, asked: bool = True) -> Completion | None:
    """What can be written at a place. Without being `asked`, only what stands after a module of ours and a dot."""
    row, column = place
    if in_text(code, place):
        return None
    before = code(row)[:column]
    word = before[len(before.rstrip(_WORD)) :]
    match = re.search(r"(?:[A-Za-z_]\w*\s*\.\s*)+$", before[: column - len(word)])
    dotted = match[0] if match is not None and not re.search(r"[\w.]$", before[: match.start()]) else ""
    start = column - len(word)
    if word[:1].isdigit():
        return None
    if dotted:
        entries = _members(lines, code, dotted)
        return Completion(row, start, entries) if entries and (asked or _resolved(lines, code, dotted)[1]) else None
    if not asked:
        return None
    if before[:start].rstrip().endswith("."):
        return None if re.search(r"\d\.$", before[:start]) else Completion(row, start, language.value_members())
    return Completion(row, start, tuple(_names(lines, code, place)))


def in_text(code: Code, place: Place) -> bool:
    """Whether a place is in a string or a comment."""
    row, column = place
    return column > 0 and code(row)[column - 1 : column] == "\0"


def _resolved(lines: Sequence[str], code: Code, dotted: str) -> tuple[str, bool]:
    """What `tl.math.` names here, and whether that is a module of ours."""
    first, *rest = (part.strip() for part in dotted.rstrip(" .").split("."))
    known = scope.aliases(lines, code).get(first)
    path = language.canonical(".".join([known, *rest])) if known else ""
    return path, language.is_module(path)


def _members(lines: Sequence[str], code: Code, dotted: str) -> tuple[Entry, ...]:
    """What stands after a dotted name: of a module what is in it, of what is not imported what values have."""
    path, ours = _resolved(lines, code, dotted)
    return language.members(path) if ours else () if path else language.value_members()


def _names(lines: Sequence[str], code: Code, place: Place) -> list[Entry]:
    """What can stand by itself, by name; parameters of the call one is in come first."""
    found: dict[str, Entry] = {}
    call = call_at(lines, code, place)
    if call is not None:
        written = {_named(text): text for text in call.parameters}
        found = {f"{name}=": Entry(f"{name}=", "argument", written[name]) for name in call.free}
    named = [
        *scope.local_names(lines, code, *place),
        *scope.module_names(lines, code),
        *language.python_builtins(),
    ]
    for entry in sorted(named, key=lambda e: e.name.lower()):
        found.setdefault(entry.name, entry)
    return list(found.values())


def call_at(lines: Sequence[str], code: Code, place: Place) -> Call | None:
    """The innermost call around a place, if it is known what is called."""
    row, column = place
    if in_text(code, place):
        return None
    rows = range(max(0, row - _FARTHEST), row + 1)
    text = "\n".join(code(at)[: column if at == row else None] for at in rows)
    opened = _open_bracket(text)
    while opened is not None and text[opened] != "(":  # a list or a subscript in it
        opened = _open_bracket(text[:opened])
    if opened is None:
        return None
    match = re.search(r"((?:[A-Za-z_]\w*\s*\.\s*)*)([A-Za-z_]\w*)\s*$", text[:opened])
    if match is None or re.search(r"\b(def|class)\s+$", text[: match.start()]):
        return None
    entry = _called(lines, code, match[1], match[2], place)
    if entry is None or "(" not in entry.signature:
        return None
    written = _split(entry.signature.partition("(")[2][:-1])
    arguments = _split(text[opened + 1 :])
    name = f"{match[1]}{match[2]}".replace(" ", "")
    return Call(name, tuple(written), _active(written, arguments), entry.doc, _free(written, arguments))


def _called(lines: Sequence[str], code: Code, dotted: str, name: str, place: Place) -> Entry | None:
    if dotted:
        entries = _members(lines, code, dotted)
    else:
        entries = (*scope.module_names(lines, code), *language.python_builtins())
        path = scope.aliases(lines, code).get(name, "")
        parent, _, member = path.rpartition(".")
        if language.is_module(parent):  # from mytriton.language import load
            entries = tuple(replace(e, name=name) for e in language.members(parent) if e.name == member)
    return next((entry for entry in entries if entry.name == name), None)


def _open_bracket(text: str) -> int | None:
    """The innermost bracket that is open at the end of a text. A line of a block's start ends the search."""
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        if text[at] in ")]}":
            depth += 1
        elif text[at] in "([{":
            if not depth:
                return at
            depth -= 1
    return None


def _split(text: str) -> list[str]:
    """The parts between commas that are in no brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "([{") - (c in ")]}")
        if c == "," and not depth:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts]


def _named(text: str) -> str:
    return text.partition("=")[0].strip("* ")


def _free(written: Sequence[str], arguments: Sequence[str]) -> tuple[str, ...]:
    """The parameters with a default that no argument before the last was given to; none within a named argument."""
    if re.match(r"\w+\s*=", arguments[-1]):
        return ()
    given = {_named(text) for text in arguments[:-1] if re.match(r"\w+\s*=(?!=)", text)}
    positional = sum(not re.match(r"\w+\s*=(?!=)", text) for text in arguments[:-1])
    return tuple(
        _named(text) for i, text in enumerate(written) if "=" in text and i >= positional and _named(text) not in given
    )


def _active(written: Sequence[str], arguments: Sequence[str]) -> int | None:
    """The parameter that the last argument is given to."""
    names = [_named(text) for text in written]
    if match := re.match(r"([A-Za-z_]\w*)\s*=(?!=)", arguments[-1]):
        return names.index(match[1]) if match[1] in names else None
    at = len(arguments) - 1
    rest = next((i for i, text in enumerate(written) if text.startswith("*")), None)
    if rest is not None and at >= rest:
        return rest if written[rest] != "*" else None
    return at if at < len(written) and written[at] != "..." else len(written) - 1 if "..." in written else None
