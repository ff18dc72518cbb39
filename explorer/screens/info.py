"""The information screen: what to paste into a bug report, why stages are missing, and what the children printed."""

from __future__ import annotations

import os
import platform

from explorer.model import report, runs
from explorer.model.session import Session
from explorer.share.record import Shared
from mytriton.versions import versions


def info_lines(session: Session, colours: str) -> list[str]:
    """The lines of the screen; `colours` says how many the terminal is taken to have."""
    s = session.settings
    lines = [
        f"file      {s.path}",
        f"kernel    {session.result.kernel}  {session.result.signature}",
        f"target    backend {session.backend}  chip {s.chip}  {session.result.num_warps} warps",
        f"python    {platform.python_version()}  {platform.platform()}",
        f"terminal  TERM={os.environ.get('TERM', '')}  COLORTERM={os.environ.get('COLORTERM', '')}  {colours} colours",
        "",
        "Packages:",
        *(f"  {name:<26} {version}" for name, version in versions()),
        "",
        "Device:",
        f"  {_device(session)}",
        "",
        "Stages that are not there:",
    ]
    missing = [
        f"  {backend} {stage.name}: {report.status_word(stage)}: {report.cause(stage)}"
        for backend, result in session.results.items()
        for stage in result.stages.values()
        if not stage.ok
    ]
    lines += [*(missing or ["  none"]), "", "What the child processes printed:"]
    return [*lines, *(f"  {line}" for line in session.log or ["nothing"])]


def bundle_lines(session: Session, shared: Shared) -> list[str]:
    """The lines of the screen for a bundle: what made it, and what is in it."""
    b, made = shared.b, shared.made
    builds = [f"{build.backend} ({len(build.stages)} of {len(build.planned)} stages)" for build in b.builds]
    lines = [
        f"bundle    {session.bundle}",
        f"file      {b.path}{'' if b.saved else ' (edited, not saved)'}",
        f"kernel    {session.result.kernel}  {session.result.signature}",
        f"builds    {', '.join(builds) or 'none'}",
        f"made      {made.when}",
        f"python    {made.python}  {made.platform}",
        "",
        "Packages, where it was made:",
        *(f"  {name:<26} {version}" for name, version in made.versions.items()),
        "",
        "What the child processes printed:",
    ]
    return [*lines, *(f"  {line}" for line in session.log or ["nothing"])]


def _device(session: Session) -> str:
    run = session.report
    if run is None:
        return "not asked yet: it is when a kernel is run (r, F8)"
    return " ".join(part for part in (runs.where(run), run.note, run.message if run.unavailable else "") if part)
