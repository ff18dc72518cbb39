"""A pass as a story: its listing as a diff against what it got, or the log of what it did and why."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Literal

from explorer.model.backend_result import Result
from explorer.model.diff import Range, Row, diff
from explorer.model.result import LineView, StageView
from mytriton.records import dataclass

Mode = Literal["text", "diff", "log", "pin"]

#: In the order in which they are shown in turn; `pin` is there while a build A is pinned.
MODES: tuple[Mode, ...] = ("text", "diff", "log", "pin")

#: Unchanged lines kept around a change, and how many in a row are worth folding.
CONTEXT, FOLD = 3, 4

_SIGNS = {"added": "+", "removed": "-", "moved to": ">", "moved from": "<"}


@dataclass(frozen=True, slots=True)
class Mark:
    """How a line of a diff is shown: a sign beside it, the kind of change, and the columns that differ."""

    sign: str
    kind: Literal["added", "removed", "moved", "failed"]
    ranges: tuple[Range, ...] = ()


@dataclass(frozen=True, slots=True)
class Told:
    """The lines of a story, with a mark for each (None: unchanged), and a few words about it."""

    lines: tuple[LineView, ...]
    marks: tuple[Mark | None, ...] = ()
    note: str = ""


def told(
    result: Result, names: Sequence[str], stage: StageView, mode: Mode, pinned: StageView | None = None
) -> Told | None:
    """The story of `stage`, one of the stages `names` that a pane shows; None in mode `text`. In
    mode `pin` it is compared with the stage `pinned` of build A."""
    if mode == "log":
        return Told(_log(stage), note="log")
    if mode == "text" or not stage.lines:
        return None
    if mode == "pin":
        if pinned is None:
            return Told(stage.lines, note="A has no such listing (yet)")
        lines, marks = _compared(pinned.lines, stage.lines)
        return Told(lines, marks, "A against B" if any(marks) else "A and B are the same")
    before = _before(result, names, stage)
    if before is None:
        return Told(stage.lines, note="diff: the first of its kind")
    lines, marks = _compared(before.lines, stage.lines)
    return Told(lines, marks, f"diff against {before.name}")


def changed_stage(result: Result, names: Sequence[str], name: str, step: int) -> str:
    """The next (or previous) stage that changed something or failed; `name` if there is none."""
    at = names.index(name)
    ahead = names[at + 1 :] if step > 0 else names[:at][::-1]
    stages = ((n, result.stage(n)) for n in ahead)
    return next((n for n, stage in stages if stage is not None and stage.status not in ("no change", "skipped")), name)


def _before(result: Result, names: Sequence[str], stage: StageView) -> StageView | None:
    """The stage before `stage` that is in the same language."""
    earlier = (result.listing(name)[0] for name in reversed(names[: names.index(stage.name)]))
    return next((s for s in earlier if s is not None and s.lines and s.language == stage.language), None)


def _log(stage: StageView) -> tuple[LineView, ...]:
    """What a pass did: two rows a change, which lead to its source line."""
    if not stage.changes:
        return (LineView("nothing changed" if stage.status == "no change" else "this stage keeps no log of changes"),)
    rows: list[LineView] = []
    for change in stage.changes:
        where = f"line {change.line}: " if change.line is not None else ""
        after = f"-> {change.after}" if change.after else "dropped"
        rows += [
            LineView(f"{where}{change.before}", change.line),
            LineView(f"    {after}    {change.why}  ({change.pass_name}/{change.rule})", change.line),
        ]
    return tuple(rows)


#: Diffs by the identity of what was compared, which they keep alive: a screen asks again at every event.
_kept: OrderedDict[tuple[int, int], tuple[object, tuple[tuple[LineView, ...], tuple[Mark | None, ...]]]] = OrderedDict()
_KEPT = 16


def _compared(
    old: tuple[LineView, ...], new: tuple[LineView, ...]
) -> tuple[tuple[LineView, ...], tuple[Mark | None, ...]]:
    key = id(old), id(new)
    found = _kept.pop(key, None)
    if found is None:
        rows = diff([line.text for line in old], [line.text for line in new])
        lines: list[LineView] = []
        marks: list[Mark | None] = []
        for line, mark in _folded(rows, old, new):
            lines.append(line)
            marks.append(mark)
        found = (old, new), (tuple(lines), tuple(marks))
    _kept[key] = found
    while len(_kept) > _KEPT:
        _kept.popitem(last=False)
    return found[1]


def _folded(
    rows: Sequence[Row], old: Sequence[LineView], new: Sequence[LineView]
) -> Sequence[tuple[LineView, Mark | None]]:
    """The lines of a diff; around changes, long stretches without one are one line."""
    if all(row.kind == "same" for row in rows):
        return [(line, None) for line in new]
    out: list[tuple[LineView, Mark | None]] = []
    same: list[LineView] = []

    def close(last: bool) -> None:
        head, tail = (CONTEXT if out else 0), (0 if last else CONTEXT)
        hidden = len(same) - head - tail
        if hidden < FOLD:
            out.extend((line, None) for line in same)
        else:
            out.extend((line, None) for line in same[:head])
            out.append((LineView(f"... {hidden} lines the same ..."), None))
            out.extend((line, None) for line in same[len(same) - tail :])
        same.clear()

    for row in rows:
        if row.kind == "same":
            assert row.new is not None
            same.append(new[row.new])
            continue
        close(last=False)
        out.extend(_marked(row, old, new))
    close(last=True)
    return out


def _marked(row: Row, old: Sequence[LineView], new: Sequence[LineView]) -> list[tuple[LineView, Mark | None]]:
    if row.kind == "changed":
        assert row.old is not None and row.new is not None
        return [
            (old[row.old], Mark("-", "removed", row.old_ranges)),
            (new[row.new], Mark("+", "added", row.new_ranges)),
        ]
    gone = row.kind in ("removed", "moved from")
    number = row.old if gone else row.new
    assert number is not None
    kind: Literal["added", "removed", "moved"] = "moved" if "moved" in row.kind else "removed" if gone else "added"
    return [((old if gone else new)[number], Mark(_SIGNS[row.kind], kind))]
