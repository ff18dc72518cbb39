"""A stage that failed: its cause in a sentence, the whole of it, and the row of its input that it is about."""

from __future__ import annotations

import re
from collections.abc import Sequence

from explorer.model.backend_result import Result
from explorer.model.result import DiagnosticView, LineView, StageView
from explorer.model.story import Mark
from mytriton.records import dataclass

#: First lines that only say who failed; what follows says why.
_WHO = re.compile(r"^(MLIR stage '.*' failed:|NVRTC: .*|(nvJitLink|ptxas|nvdisasm) failed .*)$")
#: Findings up to so many rows are shown whole.
_SHORT = 8


@dataclass(frozen=True, slots=True)
class Given:
    """What a failed stage was given: the listing, its language, and a mark for the row that it failed at."""

    stage: StageView
    lines: tuple[LineView, ...]
    language: str
    marks: tuple[Mark | None, ...] = ()

    @property
    def row(self) -> int | None:
        """The first row at fault."""
        return next((i for i, mark in enumerate(self.marks) if mark is not None), None)


def failed(result: Result) -> StageView | None:
    """The stage that failed, if it had a listing to work on: what is wrong with the source stands in the editor."""
    found = result.failed
    return found if found is not None and result.given(found.name) is not None else None


def given(result: Result, stage: StageView) -> Given | None:
    """What a failed stage was given, its culprit marked; None for a stage that is good or has no listing before it."""
    before = result.given(stage.name) if stage.status in ("failed", "crashed") else None
    if before is None:
        return None
    lines, language = (stage.lines, stage.language) if stage.lines else (before.lines, before.language)
    rows = _culprits(stage, lines)
    marks = tuple(_mark(line) if row in rows else None for row, line in enumerate(lines)) if rows else ()
    return Given(before, lines, language, marks)


def _culprits(stage: StageView, lines: Sequence[LineView]) -> set[int]:
    """The row that the stage names; else those made of the very place that its error is about, else of that line."""
    if stage.culprit is not None:
        return {stage.culprit}
    error = next((d for d in stage.diagnostics if d.severity == "error" and d.line is not None), None)
    if error is None:
        return set()
    on_line = {row for row, line in enumerate(lines) if line.line == error.line}
    return {row for row in on_line if lines[row].column == error.column} or on_line


def _mark(line: LineView) -> Mark:
    text = line.text
    return Mark("!", "failed", ((len(text) - len(text.lstrip()), len(text)),))


def brief(stage: StageView) -> str:
    """Why a stage is not there, in a sentence: what compilers print around it is left to the full text."""
    if stage.reason:
        return _sentence(stage.reason.replace(f" while running stage {stage.name!r}", ""))  # which is said beside it
    error = next((d for d in stage.diagnostics if d.severity == "error"), None)
    return sentence(error) if error is not None else ""


def sentence(finding: DiagnosticView) -> str:
    """A finding in a sentence."""
    return _sentence(finding.message)


def _sentence(text: str) -> str:
    rows = [row.strip() for row in text.splitlines() if row.strip()] or [""]
    if rows[0].startswith("MLIR stage") and rows[1:]:
        # What MLIR reports first is the cause of the rest; of a tool it only says that it failed.
        return rows[2] if rows[1].endswith("Log:") and rows[2:] else rows[1]
    if _WHO.match(rows[0]) and rows[1:]:
        rows = [row for row in rows[1:] if "error" in row.lower()] or rows[1:]
    return rows[0]


def full_text(stage: StageView) -> str:
    """All that is known of why a stage failed."""
    return "\n\n".join(d.rendered or d.message for d in stage.diagnostics) or stage.reason


def shortened(finding: DiagnosticView, rows: list[str]) -> list[str]:
    """The rows of a finding, if they are many only: what and where, the cause, the source line, what to do."""
    if len(rows) <= _SHORT:
        return rows
    cause = sentence(finding)
    kept = rows[:1] if cause in rows[0] else [rows[0], cause]
    kept += [row for row in rows[1:] if " | " in row[:12] or row.startswith("help: ")]
    return [*kept, f"... {len(rows) - len(kept)} more lines: o shows them"]
