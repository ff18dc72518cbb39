"""A value on its way: through the passes by its id, and from there into every other listing by the line tables."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import TypeVar

from explorer.model.backend_result import Result
from explorer.model.result import ChangeView, LineView, StageView
from explorer.model.values import Occurrence, Values
from mytriton.records import dataclass

Lines = Sequence[LineView]
Kept = TypeVar("Kept")


@dataclass(frozen=True, slots=True)
class Followed:
    """A value that is followed: what it is called in row `row` of the stage that a pane showed, and which value of the
    SSA of `kernel` it is ("" if none is known)."""

    pane: str
    stage: str
    name: str
    row: int
    id: str = ""
    kernel: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """What a pass did to a value: `why` in its words, and the value that took its place ("" if none did)."""

    stage: str
    why: str
    becomes: str = ""


@dataclass(frozen=True, slots=True)
class Life:
    """A value of the SSA through the passes: the stage it is first in, what it is called in each stage that has it, and
    what became of it. `origin` is the line that first defines it."""

    id: str
    first: str = ""
    names: Mapping[str, str] | None = None
    turns: tuple[Turn, ...] = ()
    origin: LineView | None = None

    @property
    def last(self) -> str:
        """What it is called at the end; "" if it is gone."""
        if self.turns and not self.turns[-1].becomes:
            return ""
        return next((turn.becomes for turn in reversed(self.turns)), self.id)

    def told(self) -> str:
        """What became of it, in a few words."""
        parts = [f"from {self.first}"] if self.first and self.first != "ssa" else []
        for turn in self.turns:
            parts.append(f"{turn.stage}: {turn.why}")
        return "; ".join(parts)


def is_ssa(language: str) -> bool:
    """Whether a listing is one of ours, in which a value has one id through all stages."""
    return language in ("ssa", "layout")


def life(result: Result, id: str) -> Life:
    """What became of a value of the SSA, pass by pass: from the listings, and the log of changes for why."""
    names: dict[str, str] = {}
    turns: list[Turn] = []
    first, origin, now = "", None, id
    for stage in _ssa_stages(result):
        made = _made(stage.lines)
        moved = _change(stage, now)
        while first and now.startswith("%") and made.row(now) is None:
            why = _reason(moved) if moved is not None else "dropped with what was around it"
            before, now = now, _successor(moved, now) if moved is not None else ""
            turns.append(Turn(stage.name, why, now))
            if not now or not now.startswith("%"):
                return Life(id, first, names, tuple(turns), origin)
            moved = _change(stage, now) if made.row(now) is None and now != before else None
        row = made.row(now)
        if moved is not None and first and row is not None and _successor(moved, now) == now:
            turns.append(Turn(stage.name, moved.why, now))
        if row is not None:
            if not first:
                first, origin = stage.name, stage.lines[row]
            names[stage.name] = now
        elif now in made.mentioned:  # a parameter of the kernel
            first = first or stage.name
            names[stage.name] = now
    return Life(id, first, names, tuple(turns), origin)


def _ssa_stages(result: Result) -> list[StageView]:
    found = []
    for name in result.planned:
        if name.split("/")[0] in ("ssa", "opt", "layout"):
            stage = result.listing(name)[0]
            if stage is not None and stage.lines and is_ssa(stage.language):
                found.append(stage)
    return found


def _results(text: str) -> list[str]:
    """The values that a line of the SSA's listing defines, by its text alone."""
    head, equals, _ = text.partition(" = ")
    names = head.split(", ")
    return names if equals and all(re.fullmatch(r"%\w+", name) for name in names) else []


def _change(stage: StageView, id: str) -> ChangeView | None:
    return next((c for c in stage.changes if id in _results(c.before.strip())), None)


def _successor(change: ChangeView, id: str) -> str:
    """The value that stands for `id` after a change; "" if none does, or a number."""
    after = _results(change.after.strip()) or change.after.split(", ")
    at = _results(change.before.strip()).index(id)
    if id in after:
        return id
    successor = after[at] if at < len(after) else ""
    return successor if re.fullmatch(r"%\w+|(?!(?:true|false|inf|nan)$)[A-Za-z_]\w*", successor) else ""


def _reason(change: ChangeView) -> str:
    if not change.after:
        return change.why
    said = re.search(rf"(?<![\w%]){re.escape(change.after)}(?!\w)", change.why)
    return change.why if said else f"{change.why}, here {change.after}"


# What is kept: a screen asks at every event

_kept: OrderedDict[tuple[int, str], tuple[object, object]] = OrderedDict()
_KEPT = 96


def _once(lines: Lines, what: str, make: Callable[[], Kept]) -> Kept:
    key = id(lines), what
    found = _kept.pop(key, None)
    if found is None or found[0] is not lines:
        found = lines, make()
    _kept[key] = found
    while len(_kept) > _KEPT:
        _kept.popitem(last=False)
    return found[1]  # type: ignore[return-value]


def values_of(lines: Lines, language: str) -> Values:
    """The values of a listing."""
    return _once(lines, language, lambda: Values(lines, language))


class _Made:
    """What the lines of a listing of ours define. Lines are scanned as they are asked about: all of a long listing
    would take hundreds of milliseconds, in which no key is served."""

    def __init__(self, lines: Lines) -> None:
        self._values = values_of(lines, "ssa")
        self._by_values = {line.values: row for row, line in enumerate(lines) if line.values}
        self.mentioned = frozenset(chain.from_iterable(self._by_values))

    def row(self, name: str) -> int | None:
        """The row that defines a value, if one does."""
        defines = (o.row for o in reversed(self._values.occurrences(name)) if o.defines)
        return next(defines, None)

    def of(self, values: tuple[str, ...]) -> frozenset[str] | None:
        """What the line defines that mentions these values, if there is one."""
        row = self._by_values.get(values)
        return None if row is None else frozenset(self._values.defined(row))


def _made(lines: Lines) -> _Made:
    return _once(lines, "made", lambda: _Made(lines))


def _defined_by(result: Result, values: tuple[str, ...]) -> frozenset[str]:
    """The values of the SSA that a line made of `values` defines: those of the operation it was printed from; of
    several in one line, the first."""
    for stage in reversed(_ssa_stages(result)):
        known = _made(stage.lines).of(values)
        if known is not None:
            return known
    return frozenset(values[:1])


# Following


def start(result: Result, pane: str, stage: str, lines: Lines, language: str, row: int, name: str) -> Followed:
    """Follow the value called `name` in a row."""
    kernel = result.kernel
    if is_ssa(language):
        return Followed(pane, stage, name, row, name, kernel)
    occurrences = values_of(lines, language).occurrences(name, row)
    made = next((o.row for o in occurrences if o.defines and lines[o.row].values), row)
    values = lines[made].values
    if name.lstrip("%") in values and not name[1:2].isdigit():
        return Followed(pane, stage, name, row, name.lstrip("%"), kernel)  # a parameter
    defined = _defined_by(result, values) if any(o.row == made and o.defines for o in occurrences) else frozenset()
    return Followed(pane, stage, name, row, next((v for v in values if v in defined), ""), kernel)


def occurrences(
    result: Result, followed: Followed, pane: str, stage: str, lines: Lines, language: str
) -> tuple[Occurrence, ...]:
    """Where the value stands in a listing: by its name there, by its id in listings of ours, else the lines that were
    made for it."""
    if is_ssa(language):
        names = life(result, followed.id).names or {}
        name = names.get(stage, followed.id if followed.stage == stage else "")
        return values_of(lines, language).occurrences(name) if name else ()
    if (pane, stage) == (followed.pane, followed.stage):
        return values_of(lines, language).occurrences(followed.name, followed.row)
    id = life(result, followed.id).last if followed.id else ""
    if not id:
        return ()
    found = []
    for row, line in enumerate(lines):
        if id in line.values:
            found.append(Occurrence(row, (), id in _defined_by(result, line.values)))
    return tuple(found)


def expression(origin: LineView | None, source: Sequence[str]) -> str:
    """The source of a value: the text it was written as, after the name that it was given there, if it was."""
    if origin is None or origin.line is None or origin.column is None or origin.line > len(source):
        return ""
    line, end = source[origin.line - 1], origin.end_column
    if origin.end_line not in (None, origin.line) or end is None:
        return f"{line[origin.column - 1 :].strip()} ..."
    text = line[origin.column - 1 : end - 1]
    head = re.fullmatch(r"\s*(\w+)\s*=\s*", line[: origin.column - 1])
    whole = head is not None and not re.sub(r"#.*", "", line[end - 1 :]).strip()
    return f"{head[1]} = {text}" if head is not None and whole else text
