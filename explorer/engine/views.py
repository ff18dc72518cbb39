"""The compiler's records as plain views: what is relative to a function becomes a place in the edited file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from explorer.model.result import ChangeView, DiagnosticView, Frame, LineView, OperationView, StageView, UnitView
from mytriton.diagnostics import Diagnostic, render
from mytriton.source import SourceUnit, Span
from mytriton.stage import Line, Stage

if TYPE_CHECKING:
    from mytriton.mlir.operations import Operation

_NOWHERE = (None, None, None, None)
Place = tuple[int | None, int | None, int | None, int | None]


def place(span: Span | None, units: Sequence[SourceUnit], path: str) -> Place:
    """Line, column, end line and end column of a span in the file `path`: of the innermost call site in that file, for
    a span inside a helper of another one; all None if there is none."""
    while span is not None:
        unit = units[span.unit] if span.unit < len(units) else None
        if unit is not None and unit.path == path:
            first = unit.first_line - 1
            return first + span.line, span.column, first + span.end_line, span.end_column
        span = span.call_site
    return _NOWHERE


def frames(span: Span | None, units: Sequence[SourceUnit], path: str) -> tuple[Frame, ...]:
    """The places on the way to inlined code, from the helper's out to the kernel's; none for the kernel's own code."""
    found: list[Frame] = []
    while span is not None and span.unit < len(units) and (found or span.call_site is not None):
        unit = units[span.unit]
        found.append(Frame(unit.name, unit.file_line(span), "" if unit.path == path else unit.path))
        span = span.call_site
    return tuple(found)


def operation_view(operation: Operation, path: str) -> OperationView:
    """One operation of MLIR; its line is that of the file `path`, or it names the file."""
    o, elsewhere = operation, operation.path not in ("", path)
    where = (o.row or None, o.column or None, o.within, o.operands, o.results, o.maps)
    return OperationView(o.name, *where, stage=o.stage, path=o.path if elsewhere else "")


def line_view(line: Line, units: Sequence[SourceUnit], path: str) -> LineView:
    """One line of a listing."""
    inlined = frames(line.span, units, path)
    return LineView(line.text, *place(line.span, units, path), line.values, inlined, line.made_by)


def diagnostic_view(finding: Diagnostic, units: Sequence[SourceUnit], path: str) -> DiagnosticView:
    """One finding, rendered too."""
    span = finding.span
    where = place(span, units, path)
    in_file = path if where != _NOWHERE or span is None or span.unit >= len(units) else units[span.unit].path
    return DiagnosticView(
        finding.code,
        finding.severity,
        finding.message,
        in_file,
        *where,
        hint=finding.hint,
        stage=finding.stage,
        rendered=render(finding, units),
    )


def stage_view(
    stage: Stage, units: Sequence[SourceUnit], path: str, cached: bool = False, pending: bool = False
) -> StageView:
    """A stage with its whole listing, or without it (`pending`). `cached` marks a good one as taken over from an
    earlier compilation."""
    changes = tuple(
        ChangeView(c.pass_name, c.rule, c.before, c.after, c.why, place(c.span, units, path)[0]) for c in stage.changes
    )
    return StageView(
        stage.name,
        stage.kind,
        stage.language,
        "cached" if cached and stage.status == "ok" else stage.status,
        round(stage.seconds * 1e3, 3),
        () if pending else tuple(line_view(line, units, path) for line in stage.lines),
        changes,
        dict(stage.stats),
        tuple(diagnostic_view(d, units, path) for d in stage.diagnostics),
        stage.reason,
        pending,
        stage.culprit,
        _elsewhere(units, path) if stage.name == "ssa" else (),
    )


def _elsewhere(units: Sequence[SourceUnit], path: str) -> tuple[UnitView, ...]:
    return tuple(UnitView(u.path, u.name, u.first_line, u.text) for u in units if u.path != path)
