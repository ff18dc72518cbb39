"""What both kinds of report say before the listings, in words."""

from __future__ import annotations

import shlex
from pathlib import Path

from explorer.model import report
from explorer.model.compare import measured
from explorer.model.failure import given
from explorer.model.resources import WORDS
from explorer.model.result import StageView
from explorer.model.runs import run_summary
from explorer.model.session import Session
from explorer.model.stages import delta
from explorer.share.record import Made, command


def title(session: Session) -> str:
    """The kernel and its file."""
    return f"{session.result.kernel or 'no kernel'} ({Path(session.settings.path).name})"


def about(session: Session, saved: bool) -> list[tuple[str, str]]:
    """What was compiled, for what."""
    result, info = session.result, session.kernel_info
    rows = [("file", session.settings.path + ("" if saved else " (edited, not saved)"))]
    rows.append(("backend", f"{session.backend}, {session.settings.chip}, {result.num_warps} warps"))
    rows.append(("signature", result.signature))
    if info is not None and session.example < len(info.examples):
        rows.append(("example", info.examples[session.example].label))
    failed = result.failed
    rows.append(("compiles", f"no: {failed.name} {failed.status}: {report.cause(failed)}" if failed else "yes"))
    rows.append(("check", check(session)))
    return [(name, value) for name, value in rows if value]


def check(session: Session) -> str:
    """How the run went, in a line."""
    return run_summary(session) if session.report is not None else "not run"


def figures(session: Session) -> list[tuple[str, str]]:
    """What the build takes of the GPU."""
    found = measured(session.result)
    rows = [(words, str(value)) for name, words in WORDS.items() if (value := getattr(found, name)) is not None]
    return [*rows, ("occupancy is limited by", found.limits)] if found.limits else rows


def stage_row(session: Session, stage: StageView) -> tuple[str, str, str, str]:
    """Name, status, time, and what it did or why it is not there."""
    if stage.ok:
        changes = f"{len(stage.changes)} changes" if stage.changes else ""
        ops = delta(session.result, stage)
        told = "  ".join(part for part in (ops, changes) if part) or (
            f"{len(stage.lines)} lines" if stage.lines else ""
        )
    else:
        told = report.cause(stage)
    return stage.name, report.status_word(stage), f"{stage.ms:.2f} ms" if stage.ms else "", told


def lines_of(session: Session, stage: StageView) -> StageView:
    """The stage with the listing to show: of one that failed, what it was given."""
    failure = given(session.result, stage)
    return failure.stage if failure is not None and not stage.lines else stage


def made_with(made: Made) -> list[tuple[str, str]]:
    """Versions, when and where."""
    installed = [(name, version) for name, version in made.versions.items() if version != "not installed"]
    return [("made", made.when), ("python", made.python), ("platform", made.platform), *installed]


def again(session: Session, how: str) -> str:
    """The command that makes the report again."""
    return shlex.join([*command(session), *shlex.split(how)])
