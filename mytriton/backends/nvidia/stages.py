"""The last stages of both GPU backends: PTX text with links, the cubin linked from that very text, and its SASS."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from mytriton.backends.nvidia.disasm import kept_disassembly, sass_lines
from mytriton.backends.nvidia.line_table import with_kernel_lines
from mytriton.backends.nvidia.lines import ptx_lines
from mytriton.backends.nvidia.nvjitlink import Linked, kept_link
from mytriton.backends.nvidia.resources import Resources, taken
from mytriton.backends.nvidia.shared import shared_bytes
from mytriton.backends.nvidia.tools import ToolFailed, ToolMissing
from mytriton.diagnostics import Diagnostic
from mytriton.ir.core import Func
from mytriton.layout.assign import lay_out
from mytriton.layout.printer import layout_lines
from mytriton.layout.program import Exchange
from mytriton.source import SourceUnit, Span
from mytriton.stage import Clock, Line, Stage, Status
from mytriton.target import Target

#: Names of the stages `finish` yields.
NAMES = ("ptx", "cubin", "sass")

Emitted = Callable[[], Sequence[Line]]


def layout_stage(func: Func, target: Target) -> Stage:
    """The stage `layout`; its artifact is the `LaidOut` that the emitters print."""
    stage = Stage("layout", "ir", "layout")
    with Clock() as clock:
        laid_out = stage.artifact = lay_out(func, target)
        items = list(laid_out.walk())
        stage.stats = {
            "segments": len(laid_out.segments),
            "exchanges": sum(isinstance(item, Exchange) for item in items),
            "barriers": sum(item.barrier for item in items),
            "shared bytes": shared_bytes(laid_out),
        }
        stage.changes = laid_out.changes
        stage.make_lines = lambda: layout_lines(laid_out)
    stage.seconds = clock.seconds
    return stage


def skipped(names: Sequence[str], reason: str) -> Iterator[Stage]:
    """Stages that cannot be made here, each with the reason (a sentence, with what to install)."""
    for name in names:
        yield Stage(name, "binary" if name == "cubin" else "text", name, "skipped", reason=reason)


def finish(
    ptx: str,
    emitted: Emitted,
    target: Target,
    shared: int = 0,
    seconds: float = 0.0,
    cached: bool = False,
    units: Sequence[SourceUnit] = (),
) -> Iterator[Stage]:
    """The stages `ptx`, `cubin` and `sass`. `emitted` gives the lines that the PTX's `.loc` directives count (asked
    for only when links are wanted); `shared` is what a launch asks for of shared memory, `seconds` what making the PTX
    took, or finding it on the disk (`cached`). `units` are what the profiler's build names the files of."""
    text = ptx.rstrip("\n")  # as the lines join to: what is shown is what is linked
    status: Status = "cached" if cached else "ok"
    ptx_stage = Stage("ptx", "text", "ptx", status, seconds, artifact=text)
    ptx_stage.make_lines = lambda: ptx_lines(text, emitted())
    if target.line_info and units:
        ptx_stage.make_lines = lambda: with_kernel_lines(ptx_lines(text, emitted()), units)
        ptx_stage.artifact = ptx_stage.text
    yield ptx_stage
    cubin_stage = _cubin(ptx_stage, target, shared)
    yield cubin_stage
    if cubin_stage.ok:
        yield _sass(cubin_stage, ptx_stage)
    elif cubin_stage.status == "skipped":
        yield from skipped(("sass",), cubin_stage.reason)


def _cubin(ptx: Stage, target: Target, shared: int) -> Stage:
    stage = Stage("cubin", "binary", "text")
    with Clock() as clock:
        try:
            linked, cached = kept_link(ptx.artifact, target.chip)
            stage.status = "cached" if cached else "ok"
            used = taken(linked.resources, linked.cubin, shared, target)
            stage.artifact = linked.cubin
            stage.stats = {**used.stats, "bytes": len(linked.cubin)}
            stage.make_lines = lambda: _summary(linked, used)
        except ToolMissing as missing:
            stage.status, stage.reason = "skipped", str(missing)
        except ToolFailed as failed:
            stage.status = "failed"
            _blame(stage, failed, ptx)
    stage.seconds = clock.seconds
    return stage


def _blame(stage: Stage, failed: ToolFailed, ptx: Stage) -> None:
    """Record why there is no cubin, and the row of the PTX that the assembler names."""
    span: Span | None = None
    place = re.search(r"line (\d+); ?error", failed.log)
    if place and 1 <= int(place[1]) <= len(ptx.lines):
        stage.culprit = int(place[1]) - 1
        span = ptx.lines[stage.culprit].span
    hint = "the PTX that was refused is the stage before"
    stage.diagnostics = (Diagnostic("MT502", str(failed), span, stage="cubin", hint=hint),)


def _summary(linked: Linked, used: Resources) -> list[Line]:
    return [Line(f"cubin: {len(linked.cubin)} bytes, linked by {linked.tool}"), *map(Line, used.lines())]


def _sass(cubin: Stage, ptx: Stage) -> Stage:
    stage = Stage("sass", "text", "sass")
    with Clock() as clock:
        try:
            listing, cached = kept_disassembly(cubin.artifact)
            stage.artifact, stage.status = listing, "cached" if cached else "ok"
            stage.make_lines = lambda: sass_lines(listing, ptx.lines)
        except ToolMissing as missing:
            stage.status, stage.reason = "skipped", str(missing)
        except ToolFailed as failed:
            stage.status = "failed"
            stage.diagnostics = (Diagnostic("MT503", str(failed), stage="sass"),)
    stage.seconds = clock.seconds
    return stage
