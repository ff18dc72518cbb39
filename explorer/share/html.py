"""A report as one HTML page: it loads nothing, and all text in it is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from explorer.highlight import Highlighted, tokenizer
from explorer.model import report
from explorer.model.compare import table
from explorer.model.failure import given
from explorer.model.result import LineView, StageView
from explorer.model.runs import run_lines
from explorer.model.session import Session
from explorer.model.story import Mark
from explorer.share import facts
from explorer.share.document import story
from explorer.share.page import POLICY, SCRIPT, STYLE
from explorer.share.record import Made

#: Lines of a listing that are coloured; a page with more of them opens slowly.
COLOURED = 5_000

_STATUS = {"failed": "bad", "crashed": "bad", "no change": "dim", "skipped": "dim"}


def page(session: Session, saved: bool, made: Made) -> str:
    """The report."""
    stages = [stage for stage in session.result.stages.values() if stage.name != "source"]
    title = escape(facts.title(session))
    return "".join(
        [
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            '<meta name="viewport" content="width=device-width">',
            f"<title>{title}</title><style>{STYLE}</style></head>\n<body>",
            f'<button id="theme" type="button">dark / light</button><h1>{title}</h1>',
            _table(facts.about(session, saved)),
            *_problems(session),
            '\n<div class="columns"><aside><h2>Source</h2>',
            '<p class="dim">Point at a line to light what came of it everywhere; click to keep it, esc lets go.</p>',
            _source(session),
            "</aside><main>",
            *_figures(session),
            "<h2>Stages</h2>",
            _stages(session, stages),
            "<h2>Listings</h2>",
            *(_listing(session, stages, number) for number in range(len(stages))),
            *_compared(session),
            *_made(session, made),
            "</main></div>",
            f"<script>{SCRIPT}</script></body></html>\n",
        ]
    )


def _table(rows: Iterable[Sequence[str]], head: Sequence[str] = ()) -> str:
    """A table of text."""
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table>{f'<tr>{top}</tr>' if top else ''}{body}</table>"


def _problems(session: Session) -> Iterator[str]:
    if session.problems:
        yield "<h2>Problems</h2>"
        yield _code(report.problem_lines(session.problems), "report")


def _source(session: Session) -> str:
    rows = session.text.split("\n")
    if len(rows) > 1 and not rows[-1]:
        rows.pop()
    return _code([LineView(row, number) for number, row in enumerate(rows, start=1)], "python", numbers=True)


def _figures(session: Session) -> Iterator[str]:
    figures = facts.figures(session)
    missing = report.no_figures(session)
    if figures or missing:
        yield "<h2>Resources</h2>"
        yield _table(figures) if figures else f"<p>{escape(missing)}</p>"
    if session.report is not None:
        yield f"<h2>Check</h2>{_code(run_lines(session, 100), 'report')}"


def _stages(session: Session, stages: Sequence[StageView]) -> str:
    rows = []
    for number, stage in enumerate(stages):
        name, status, time, told = map(escape, facts.stage_row(session, stage))
        kind = _STATUS.get(stage.status, "good")
        rows.append(
            f'<tr><td><a href="#s{number}">{name}</a></td><td class="{kind}">{status}</td><td>{time}</td>'
            f"<td>{told}</td></tr>"
        )
    return f"<table><tr><th>stage</th><th>status</th><th>time</th><th></th></tr>{''.join(rows)}</table>"


def _listing(session: Session, stages: Sequence[StageView], number: int) -> str:
    """A stage, folded unless it failed: its text (or what it was given), its log, and the diff to the one before. The
    text is not there again if it is that of the stage before."""
    stage, before = stages[number], stages[number - 1] if number else None
    name, status, time, told = map(escape, facts.stage_row(session, stage))
    failure = given(session.result, stage)
    parts = []
    if failure is not None:
        parts.append(_code(failure.lines, failure.language, failure.marks))
    elif before is not None and stage.lines and stage.lines == before.lines:
        parts.append(f"<p>the same text as that of {escape(before.name)}</p>")
    elif stage.lines:
        parts.append(_code(stage.lines, stage.language))
    elif stage.reason or stage.diagnostics:
        parts.append(f"<p>{escape(report.cause(stage))}</p>")
    log = story(session, stage, "log") if stage.changes else None
    if log is not None:
        parts.append(_folded(f"what it did: {len(stage.changes)} changes", _code(log.lines, "story")))
    for mode in ("diff", "pin") if session.pinned is not None else ("diff",):
        what = story(session, stage, "pin" if mode == "pin" else "diff")
        if what is not None and any(what.marks):
            parts.append(_folded(what.note, _code(what.lines, stage.language, what.marks)))
    kind = _STATUS.get(stage.status, "good")
    head = f'{name} <small><span class="{kind}">{status}</span> {time} {told}</small>'
    is_open = " open" if kind == "bad" else ""
    return f'<details id="s{number}"{is_open}><summary>{head}</summary>{"".join(parts)}</details>\n'


def _folded(summary: str, body: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>{body}</details>"


def _compared(session: Session) -> Iterator[str]:
    if session.pinned is not None:
        rows = table(session.pinned, session, "not run")
        yield f"<h2>Compared</h2>{_code([LineView(row) for row in rows], 'report')}"


def _made(session: Session, made: Made) -> Iterator[str]:
    yield f"<h2>Made by</h2><pre><code>{escape(facts.again(session, '--report report.html'))}</code></pre>"
    yield _folded("versions", _table(facts.made_with(made)))
    if session.log:
        yield _folded("what the child processes printed", _code([LineView(row) for row in session.log], ""))


def _code(lines: Sequence[LineView], language: str, marks: Sequence[Mark | None] = (), numbers: bool = False) -> str:
    """A listing; rows that came from a line of the source say which."""
    tokens = Highlighted(tokenizer(language), lambda row: lines[row].text) if len(lines) <= COLOURED else None
    rows = []
    for row, line in enumerate(lines):
        mark = marks[row] if row < len(marks) else None
        link = f' data-l="{line.line:d}"' if line.line is not None else ""
        kind = f' class="{mark.kind}"' if mark is not None else ""
        sign = f'<span class="n">{line.line}</span>' if numbers else ""
        if marks:
            sign = f"{escape(mark.sign if mark is not None else ' ')} "
        text = _coloured(line.text, tokens.tokens(row)) if tokens is not None else escape(line.text)
        rows.append(f"<code{kind}{link}>{sign}{text}</code>")
    return f"<pre>{''.join(rows)}</pre>"


def _coloured(text: str, runs: Iterable[tuple[int, str]]) -> str:
    parts, at = [], 0
    for length, style in runs:
        piece = escape(text[at : at + length])
        parts.append(f'<span class="t-{style}">{piece}</span>' if style and piece.strip() else piece)
        at += length
    return "".join([*parts, escape(text[at:])])
