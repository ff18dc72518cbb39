"""The list of stages: status, time, what each did to the number of operations, and why one failed."""

from __future__ import annotations

from explorer.engine.messages import SLOW_STAGES
from explorer.model.backend_result import Result
from explorer.model.failure import brief
from explorer.model.report import place, status_word
from explorer.model.result import LineView, StageView
from explorer.model.session import Session

Lines = tuple[LineView, ...]
Targets = tuple[tuple[str, str] | None, ...]
#: Operations of listings, by identity: the list of stages is made anew for every event, and listings may be long.
_counted: dict[int, tuple[Lines, int]] = {}
_COUNTED = 128


def stage_list(session: Session, folded: bool = False) -> tuple[Lines, str, bool, Targets]:
    """Every stage of the selected backend, then what the others have beside it. Where `folded`, those that changed
    nothing share a row, which leads to the first of them."""
    rows: list[str] = []
    targets: list[tuple[str, str] | None] = []
    seen: set[str] = set()
    for backend, result in session.current:
        # All of it may be cached: then it took no time.
        told = result.ms or (result.finished and result.failed is None)
        total = f"{result.ms:.1f} ms" if told else "failed" if result.finished else "compiling"
        rows.append(f"{backend}: {total}  {result.kernel}({result.signature})")
        targets.append(None)
        idle: list[str] = []
        for name in result.planned:
            if backend != session.backend and name in seen and name != "layout":
                continue
            stage = result.stage(name)
            if folded and stage is not None and stage.status == "no change":
                idle.append(name)
                continue
            _close(idle, backend, rows, targets)
            rows.append("  " + _row(result, name, stage))
            targets.append((backend, name))
        _close(idle, backend, rows, targets)
        seen.update(n for n in result.planned if n.split("/")[0] in ("source", "tree", "ssa", "opt"))
    return tuple(LineView(row) for row in rows), "report", False, tuple(targets)


def _close(idle: list[str], backend: str, rows: list[str], targets: list[tuple[str, str] | None]) -> None:
    """One row for stages in a row that changed nothing."""
    if idle:
        short = " ".join(name.split("/")[-1] for name in idle)
        rows.append(f"  {'no change':<11}{'':>11}  {short}")
        targets.append((backend, idle[0]))
        idle.clear()


def _row(result: Result, name: str, stage: StageView | None) -> str:
    if stage is None:
        word = waiting_word(result, name)
        return f"{word:<11}{'':>11}  {name}{'  made when its pane shows it' if word == '-' else ''}"
    if stage.ok:
        text = delta(result, stage) or _count(stage)
    else:
        error = next((d for d in stage.diagnostics if d.severity == "error"), None)
        text = (place(error) if error is not None else "") + brief(stage)
    return f"{status_word(stage):<11}{stage.ms:8.1f} ms  {name}  {text}".rstrip()


def waiting_word(result: Result, name: str) -> str:
    """What a stage that is not there is waiting for: the first one on the way is running."""
    if not result.awaited(name):
        asked = name not in SLOW_STAGES or name in result.wanted or result.failed is not None
        return "not reached" if asked else "-"
    first = next((n for n in result.planned if result.awaited(n) and n not in result.stages), name)
    return "running" if name == first else "waiting"


def delta(result: Result, stage: StageView) -> str:
    """What a stage did to the number of operations: `9 -> 7 ops`; '' if that is as it was, or not known."""
    if stage.status == "no change":  # rows of a text that was emitted may be other ones than MLIR prints
        return ""
    before, after = stage.stats.get("ops before"), stage.stats.get("ops")
    if before is None or after is None:
        earlier = result.given(stage.name)
        if earlier is None or earlier.language != stage.language or stage.language != "mlir":
            return ""
        before, after = operations(earlier.lines), operations(stage.lines)
    return f"{before} -> {after} ops ({after - before:+d})" if before != after and before and after else ""


def operations(lines: Lines) -> int:
    """The operations in a listing of MLIR: one a row, but for ends of regions, labels and aliases."""
    known = _counted.get(id(lines))
    if known is None or known[0] is not lines:
        rows = (line.text.lstrip() for line in lines)
        known = lines, sum(1 for row in rows if row and row[0] not in "}^#")
        if len(_counted) >= _COUNTED:
            _counted.clear()
        _counted[id(lines)] = known
    return known[1]


def _count(stage: StageView) -> str:
    ops = stage.stats.get("ops")
    return f"{ops} ops" if ops is not None else f"{len(stage.lines)} lines" if stage.lines else ""
