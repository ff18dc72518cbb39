"""Two builds side by side: A, which is pinned, and B, the present one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher, unified_diff

from explorer.model.backend_result import Result
from explorer.model.past_runs import outcome
from explorer.model.resources import NUMBERS, WORDS, Figures, delta, figures
from explorer.model.result import StageView
from explorer.model.session import Session
from explorer.model.units import seconds_text
from mytriton.records import dataclass

_WIDTH = 26


def pinned_stage(pinned: Session, backend: str, stage: StageView) -> StageView | None:
    """The stage of A that a listing of B is compared with: that of the same name, in its own backend or the one that A
    was pinned for."""
    for result in (pinned.results.get(backend), pinned.result):
        found = result.listing(stage.name)[0] if result is not None else None
        if found is not None and found.lines and found.language == stage.language:
            return found
    return None


def table(a: Session, b: Session, run: str = "r runs, B benches both") -> list[str]:
    """What to read: who A and B are, resources, run time, and the operations and lines of each stage. `run` says how
    to have the times."""
    rows = [f"A  {_about(a)}", f"   {a.label}", f"B  {_about(b)}", ""]
    rows.append(_row("", "A", "B"))
    ours, theirs = measured(a.result), measured(b.result)
    for name in NUMBERS:
        rows.append(_row(WORDS[name], *_cells(getattr(ours, name), getattr(theirs, name))))
    if ours.limits or theirs.limits:
        rows.append(f"{'occupancy is limited by':<{_WIDTH}}  A: {ours.limits or '-'}   B: {theirs.limits or '-'}")
    rows += [_times(a, b, run), "", f"{'':<{_WIDTH}}{'operations':>24}{'lines':>24}"]
    rows.append(_row("stage", "A", "B") + _row("", "A", "B", width=0))
    for pair in pairs(a, b):
        cells = _cells(*pair.ops), _cells(*pair.lines)
        both = (("A", pair.old), ("B", pair.new))
        if any(cell != "-" for row in cells for cell in row[:2]):
            rows.append((_row(pair.name, *cells[0]) + _row("", *cells[1], width=0)).rstrip())
        elif failed := [f"{who}: {stage.status}" for who, stage in both if stage and not stage.ok]:
            rows.append(f"{pair.name:<{_WIDTH}}  {'  '.join(failed)}")
    if changed := source_diff(a.text, b.text):
        rows += ["", "source", *changed]
    return [row.rstrip() for row in rows]


@dataclass(frozen=True, slots=True)
class Pair:
    """A stage of A and of B, where they have it, with their operations and lines."""

    name: str
    old: StageView | None
    new: StageView | None

    @property
    def ops(self) -> tuple[int | None, int | None]:
        """Operations of each; None where there are none to count."""
        return _ops(self.old), _ops(self.new)

    @property
    def lines(self) -> tuple[int | None, int | None]:
        """Lines of each."""
        return _lines(self.old), _lines(self.new)


def pairs(a: Session, b: Session) -> list[Pair]:
    """The stages of both."""
    names = _both(a.result.planned, b.result.planned)
    return [Pair(name, a.result.listing(name)[0], b.result.listing(name)[0]) for name in names]


def source_diff(old: str, new: str) -> list[str]:
    """How the texts differ, if they do; there is no listing of A's."""
    return list(unified_diff(old.splitlines(), new.splitlines(), "A", "B", lineterm="", n=2))


def measured(result: Result) -> Figures:
    """The figures of a backend's result; those of the last good build while there is no newer one."""
    return figures(result.listing("cubin")[0], result.listing("sass")[0])


def _about(session: Session) -> str:
    result = session.result
    kernel = f"{result.kernel}({result.signature})" if result.kernel else "compiling ..."
    failed = result.failed
    trouble = f"  {failed.status.upper()} {failed.name}" if failed is not None else ""
    return f"{session.backend} {session.settings.chip} {result.num_warps} warps  {kernel}{trouble}"


def _times(a: Session, b: Session, run: str) -> str:
    old, new = (s.report if s.report is not None and s.report.outputs else None for s in (a, b))
    cells = ["..." if s.running else seconds_text(r.took) if r else "-" for s, r in ((a, old), (b, new))]
    change = f"{100 * (new.took / old.took - 1):+.0f}%" if old and new and old.took else ""
    row = _row("run time", cells[0], cells[1], change)
    if old is None and new is None:
        return f"{row}  {run}" if cells == ["-", "-"] else row
    ran = [(s.backend, r.backend) for s, r in ((a, old), (b, new)) if r is not None]
    places = _listed(place for _, place in ran)
    if others := _listed(wanted for wanted, place in ran if wanted != place):
        places += f", not {others}"
    notes = [f"{who}: {outcome(r)}" for who, r in (("A", old), ("B", new)) if r is not None and not r.ok]
    notes += [f"{who}: stale" for who, s in (("A", a), ("B", b)) if s.report_is_stale]
    return "  ".join([row, f"on {places}", *notes])


def _listed(names: Iterable[str]) -> str:
    return " and ".join(dict.fromkeys(names))


def _row(name: str, old: str, new: str, change: str = "", width: int = _WIDTH) -> str:
    row = name
    for cell, end in ((old, width + 8), (new, width + 17), (change, width + 24)):
        row += f" {cell}".rjust(end - len(row))  # a long name takes what its cells leave free
    return row


def _cells(old: int | None, new: int | None) -> tuple[str, str, str]:
    left, right = ("-" if value is None else str(value) for value in (old, new))
    return left, right, delta(new, old)


def _ops(stage: StageView | None) -> int | None:
    return stage.stats.get("ops", stage.stats.get("ops_after")) if stage is not None and stage.ok else None


def _lines(stage: StageView | None) -> int | None:
    return len(stage.lines) if stage is not None and stage.ok and stage.lines else None


def _both(ours: Sequence[str], theirs: Sequence[str]) -> list[str]:
    """The stages of both, each once, in an order that fits either."""
    names: dict[str, None] = {}
    for _, a, b, c, d in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        names.update(dict.fromkeys((*ours[a:b], *theirs[c:d])))
    return [name for name in names if name != "source"]
