"""Findings where one edits: words behind their line, a sentence for the one at the cursor, the next one."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.model.editing import Place
from explorer.model.failure import sentence
from explorer.model.result import DiagnosticView


def first(findings: Sequence[DiagnosticView]) -> DiagnosticView:
    """The one of a line's findings that is told of: an error if there is one."""
    return min(findings, key=lambda d: d.severity != "error")


def words(findings: Sequence[DiagnosticView]) -> str:
    """What stands behind a line with these findings."""
    more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
    return f"<- {sentence(first(findings))}{more}"


def told(findings: Sequence[DiagnosticView]) -> str:
    """The first finding of a line, with what to do about it."""
    finding = first(findings)
    hint = f"; {finding.hint}" if finding.hint else ""
    return f"{finding.severity}: {sentence(finding)}{hint}"


def next_place(problems: Sequence[DiagnosticView], place: Place, step: int) -> Place | None:
    """Where the next (`step` 1) or previous (-1) finding of the file is, around the end. Lines and columns from 1."""
    places = sorted({(d.line, d.column or 1) for d in problems if d.line is not None})
    if not places:
        return None
    if step > 0:
        return next((p for p in places if p > place), places[0])
    return next((p for p in reversed(places) if p < place), places[-1])
