"""A report in Markdown, to be pasted into an issue: the figures first, then as many listings as an issue holds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from explorer.model import report
from explorer.model.compare import table
from explorer.model.failure import failed
from explorer.model.result import StageView
from explorer.model.runs import run_lines
from explorer.model.session import Session
from explorer.share import facts
from explorer.share.document import story
from explorer.share.record import Made

#: Characters that GitHub takes in an issue or a comment.
LIMIT = 65_536
#: Kept for the last words, which say what was left out.
_RESERVE = 1_500
#: Characters of findings that stand before the listings.
_FINDINGS = 8_000

_LANGUAGES = {"python": "python", "cuda": "cuda", "mlir": "mlir", "llvm": "llvm"}


def markdown(session: Session, saved: bool, made: Made, limit: int = LIMIT) -> str:
    """The report, at most `limit` characters long."""
    parts = [f"## {_inline(facts.title(session))}", _table(("", ""), facts.about(session, saved))]
    if session.problems:
        rows = "\n".join(line.text for line in report.problem_lines(session.problems))
        cut = rows if len(rows) <= _FINDINGS else rows[:_FINDINGS] + "\n... (shortened)"
        parts += ["### Problems", _fenced(cut, "text")]
    if figures := facts.figures(session):
        parts += ["### Resources", _table(("", ""), figures)]
    if session.report is not None:
        parts += ["### Check", _fenced("\n".join(line.text for line in run_lines(session, 100)), "text")]
    if session.pinned is not None:
        parts += ["### Compared", _fenced("\n".join(table(session.pinned, session, "not run")), "text")]
    stages = [stage for stage in session.result.stages.values() if stage.name != "source"]
    rows_of = [facts.stage_row(session, stage) for stage in stages]
    parts += ["### Stages", _table(("stage", "status", "time", ""), rows_of), "### Listings"]
    last = [_details("Versions", _table(("", ""), facts.made_with(made)))]
    last.append(f"Made by `{_code(facts.again(session, '--report report.md'))}`")
    text = "\n\n".join(parts)
    room = limit - len(text) - sum(map(len, last)) - _RESERVE
    if room < 0:  # a report of nothing but findings
        text, room = text[: room - 40].rsplit("\n", 1)[0] + "\n```\n\n(shortened)", 0
    left_out = []
    for name, body, size in _listings(session, stages):
        if len(body) + 2 <= room:
            text += f"\n\n{body}"
            room -= len(body) + 2
        else:
            left_out.append(f"{name} ({size} lines)")
    if left_out:
        names = ", ".join(left_out[:20]) + (f" and {len(left_out) - 20} more" if len(left_out) > 20 else "")
        last.insert(
            0, f"Left out, as an issue takes {limit:,} characters: {names}. An HTML report or a bundle has all."
        )
    return "\n\n".join([text, *last]) + "\n"


def _listings(session: Session, stages: Sequence[StageView]) -> list[tuple[str, str, int]]:
    """Name, text and lines of each listing, what matters most first: the source, what failed, what comes out, then the
    passes by their changes."""
    made = [("source", _details("source", _fenced(session.text, "python")), session.text.count("\n") + 1)]
    broken = failed(session.result)
    ends = {stage.name.split("/")[0]: stage.name for stage in stages if stage.lines}.values()
    rest = (stage.name for stage in stages if stage.lines and stage.status != "no change")
    for name in dict.fromkeys([*([broken.name] if broken is not None else []), *ends, *rest]):
        made += _stage(session, session.result.stages[name], name in ends)
    return made


def _stage(session: Session, stage: StageView, whole: bool) -> list[tuple[str, str, int]]:
    shown = facts.lines_of(session, stage)
    rows = []
    if shown.lines and (whole or shown is not stage):
        words = f"{stage.name}: {report.status_word(stage)}" + (f", given {shown.name}" if shown is not stage else "")
        fenced = _fenced(shown.text, _LANGUAGES.get(shown.language, "text"))
        rows.append((stage.name, _details(words, fenced), len(shown.lines)))
    log = story(session, stage, "log") if stage.changes else None
    if log is not None:
        text = "\n".join(line.text for line in log.lines)
        rows.append(
            (f"log of {stage.name}", _details(f"{stage.name}: what it did", _fenced(text, "text")), len(log.lines))
        )
    diff = story(session, stage, "diff")
    if diff is not None and any(diff.marks):
        signs = [mark.sign if mark is not None else " " for mark in diff.marks]
        text = "\n".join(f"{sign} {line.text}" for sign, line in zip(signs, diff.lines, strict=True))
        name = f"{stage.name}: {diff.note}"
        rows.append((f"diff of {stage.name}", _details(name, _fenced(text, "diff")), len(diff.lines)))
    return rows


def _details(summary: str, body: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>\n\n{body}\n\n</details>"


def _fenced(text: str, language: str) -> str:
    """A fence that is longer than any in the text."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(map(_inline, row)) + " |" for row in rows])


def _inline(text: str) -> str:
    """Text that means nothing in Markdown, in one line."""
    return re.sub(r"([\\`*_\[\]|#~@])", r"\\\1", escape(" ".join(text.split()), quote=False))


def _code(text: str) -> str:
    return text.replace("`", "'").replace("\n", " ")
