"""The header and the key bar as parts of a line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.cells import cell_len

from explorer.actions import key_bar
from explorer.model.kernel_files import OpenedFile
from explorer.model.kernels import position
from explorer.model.report import no_figures
from explorer.model.resources import strip
from explorer.model.session import Session
from explorer.widgets.text_line import Part, fitted

Parts = list[Part]


def header(session: Session, dirty: bool, files: Sequence[OpenedFile]) -> tuple[Parts, Parts]:
    """File (and which of them), kernel and example on the left; backend, target and what is going on on the right."""
    settings, info = session.settings, session.kernel_info
    left = [Part(f" {Path(settings.path).name}", "keyword")]
    if session.bundle:
        left.append(Part(f" {Path(session.bundle).name}, read-only", "doubtful"))
    if len(files) > 1:
        at = next((n for n, file in enumerate(files, start=1) if file.shown), 1)
        left.append(Part(f" {at}/{len(files)}", "number", "open"))
    if dirty:
        left.append(Part(" [edited]", "doubtful"))
    if others := sum(file.edited and not file.shown for file in files):
        left.append(Part(f" +{others} [edited]", "doubtful", "open"))
    if session.module_changed:
        left.append(Part(" module changed, save to reload", "doubtful"))
    kernel = session.result.kernel or (info.name if info is not None else "")
    if kernel:
        left.append(Part(f" > {kernel}", "", "choose"))
    if which := position(session):
        left.append(Part(f" {which}", "number", "choose"))
    if info is not None and info.examples:
        left.append(Part(f"  {session.example_label}", "number", "choose"))
    right = []
    if session.busy is not None:
        busy = session.busy
        text = f"{busy.child}: {busy.stage or 'starting'} {busy.seconds:.0f} s, ctrl+g ends it  "
        right.append(Part(text, "doubtful", "cancel"))
    elif session.module is not None and not session.module.executed and settings.execute:
        right.append(Part("file not executed  ", "doubtful", "pane(8)"))
    if session.pinned is not None:
        right.append(Part(f"A: {session.pinned.label}  ", "number", "compare"))
    if session.is_module:
        passes, schedule = settings.pipelines.get("mlir", ()), settings.schedule
        count = f"{len(passes)} pass{'es' if len(passes) != 1 else ''}"
        return left, [*right, Part(f"{f'{Path(schedule).name}, ' if schedule else ''}{count} ", "keyword", "passes")]
    right.append(Part(f"backend {session.backend}", "keyword", "backend"))
    num_warps = session.result.num_warps
    right.append(Part(f"  {settings.chip}  {num_warps} warp{'s' if num_warps > 1 else ''} "))
    return left, right


def resource_parts(session: Session, width: int) -> Parts:
    """What the newest build takes, with arrows since the one before; or why that is not known."""
    meter, missing = session.meters.get(session.backend), no_figures(session)
    if meter is None or meter.kernel != session.result.kernel or missing:
        return [Part(f" {fitted(missing or 'resources: ...', width)}", "comment")]
    stale = session.result.listing("cubin")[1]
    parts = [Part(" stale", "doubtful"), Part("  ")] if stale else [Part(" ")]
    for reading in strip(meter, width - (7 if stale else 0)):
        parts.append(Part(reading.text))
        if reading.arrow:
            parts += [Part(" "), Part(reading.arrow, "bad" if reading.bad else "good")]
        parts.append(Part("  "))
    return parts


def place_parts(place: str, numbers: Sequence[str], locked: bool, width: int) -> tuple[Parts, Parts]:
    """Where the cursor is, on the left; on the right how many lines of each listing belong there, as far as they
    fit, the last ones first."""
    left = [Part(" LOCKED ", "doubtful"), Part(place)] if locked else [Part(f" {place}")]
    room = width - sum(cell_len(part.text) for part in left) - 3
    shown: list[str] = []
    for number in reversed(numbers):
        room -= len(number) + 2
        if room < 0 and shown:
            break
        shown.insert(0, number)
    return left, [Part(f"{', '.join(shown)} ")] if shown else []


def key_parts(typing: bool, width: int) -> Parts:
    """The keys that work where the focus is, as far as they fit; each can be clicked."""
    parts = []
    for action, key, label in key_bar(typing, width):
        parts += [Part(f" {key}", "keyword", action), Part(f" {label} ", "", action)]
    return parts
