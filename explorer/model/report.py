"""Stages and findings as lines of text: the same words in panes and in one-line summaries."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from itertools import groupby
from textwrap import wrap

from explorer.model.backend_result import Result
from explorer.model.failure import brief, shortened
from explorer.model.result import DiagnosticView, LineView, StageView
from explorer.model.session import Session

Lines = tuple[LineView, ...]


def status_word(stage: StageView | None) -> str:
    """The status as a word; what went wrong stands out without colour."""
    if stage is None:
        return "-"
    return stage.status.upper() if stage.status in ("failed", "crashed") else stage.status


def cause(stage: StageView) -> str:
    """Why a stage is not there, in one line."""
    error = next((d for d in stage.diagnostics if d.severity == "error"), None)
    return f"{place(error)}{brief(stage)}" if error is not None else brief(stage)


def place(diagnostic: DiagnosticView) -> str:
    """`14:9 ` of a finding in the file, or nothing."""
    return f"{diagnostic.line}:{diagnostic.column} " if diagnostic.line is not None else ""


def stage_words(stage: StageView) -> list[str]:
    """A few words about a listing: its status if that is not simply ok, and what changed."""
    words = [] if stage.status in ("ok", "cached") else [status_word(stage)]
    before, after = stage.stats.get("ops before"), stage.stats.get("ops")
    if before is not None and after is not None and before != after:
        words.append(f"{after - before:+d} ops")
    return words


def why_empty(stage: StageView) -> list[str]:
    """What to show in place of a listing."""
    if stage.ok:
        return [", ".join(f"{key} {value}" for key, value in stage.stats.items()) or "(nothing to show)"]
    return [status_word(stage), *(stage.reason.splitlines() or [cause(stage)])]


def stage_strip(result: Result) -> str:
    """All stages in one line: runs of equal status share one word; a failure comes first."""
    failed = result.failed
    parts = [f"{status_word(failed)} {failed.name}: {cause(failed)}"] if failed is not None else []

    def word(name: str) -> str:
        stage = result.stage(name)
        if stage is None and result.awaited(name):
            return "..."
        return "ok" if stage is not None and stage.status == "cached" else status_word(stage)

    for status, names in groupby((n for n in result.planned if n != "source"), key=word):
        if status not in ("FAILED", "CRASHED"):
            short = " ".join(n.split("/")[-1] for n in names)
            parts.append(f"{'=' if status == 'no change' else status} {short}")
    return "  ".join(parts)


def no_figures(session: Session) -> str:
    """Why the selected backend's build has no registers and the like; nothing if it has, or may still have."""
    if session.is_module:
        return "passes: P   the line for mlir-opt: M   run a function with and without the passes: r"
    if session.backend not in ("cuda", "mlir"):
        return {"cpu": "cpu: host code", "interp": "interp: no code is made"}[session.backend] + ", no GPU resources"
    stage, _ = session.result.listing("cubin")
    if stage is None:
        failed = session.result.failed
        return f"resources: not known, {failed.name} failed" if failed is not None else ""
    return "" if stage.ok else f"resources: cubin {status_word(stage)}: {cause(stage)}"


def folded(text: str, width: int) -> list[str]:
    """A sentence in rows of at most `width` columns; continued rows are indented."""
    return wrap(text, max(20, width), subsequent_indent="  ", break_long_words=False) or [""]


def shell_rows(command: str, width: int) -> list[str]:
    """A command in rows of at most `width` columns, which a shell takes as one when they are pasted. What is quoted is
    not taken apart."""
    rows = [""]
    for word in map(shlex.quote, shlex.split(command)):
        if rows[-1] and len(rows[-1]) + len(word) + 1 > width - 2:
            rows[-1] += " \\"
            rows.append("")
        rows[-1] += f" {word}" if rows[-1] else word
        while len(rows[-1]) > width - 2 and not word.startswith("'"):
            rows[-1:] = [f"{rows[-1][: width - 2]}\\", rows[-1][width - 2 :]]
    return rows


#: What the explorer can do about a finding, by its code.
_REMEDIES = {
    "MT970": "help: a (ctrl+t) asks for the types; an example that is new counts once it is saved",
    "MT973": "help: a (ctrl+t) sets the types",
}


def problem_lines(problems: Iterable[DiagnosticView], width: int = 1000, whole: bool = True) -> Lines:
    """The findings; each line leads to its place. Long ones are shortened unless `whole`."""
    lines: list[LineView] = []
    for d in problems:
        if lines:
            lines.append(LineView(""))
        text = d.rendered or "\n".join(
            [f"{place(d)}{d.severity}: {d.message}", *([f"help: {d.hint}"] if d.hint else [])]
        )
        parts = text.splitlines() if whole else shortened(d, text.splitlines())
        for part in [*parts, *([_REMEDIES[d.code]] if d.code in _REMEDIES else [])]:
            # Source lines and the carets below them must stay as they are.
            rows = [part] if " | " in part[:12] else folded(part, width)
            lines += [LineView(row, d.line, d.column, d.end_line, d.end_column) for row in rows]
    return tuple(lines) or (LineView("No problems."),)


def counts(problems: Sequence[DiagnosticView]) -> str:
    """`2 errors, 1 warning`."""
    words = []
    for severity in ("error", "warning"):
        number = sum(d.severity == severity for d in problems)
        if number:
            words.append(f"{number} {severity}{'s' if number > 1 else ''}")
    return ", ".join(words)
