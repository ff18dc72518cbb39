"""The cuda backend: CUDA C++ through NVRTC to PTX, and that very PTX assembled to the cubin that runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mytriton.backends.base import Launcher
from mytriton.backends.cuda.emit import SUPPORTED, emit, kernel_symbol
from mytriton.backends.nvidia import nvrtc, stages
from mytriton.backends.nvidia.device import probe
from mytriton.backends.nvidia.nvjitlink import assembler_path
from mytriton.backends.nvidia.shared import dynamic_bytes, too_large
from mytriton.backends.nvidia.tools import ToolFailed, ToolMissing, library_path, load_library
from mytriton.cache import Entry
from mytriton.diagnostics import BackendUnavailable, Diagnostic
from mytriton.ir.core import Func
from mytriton.layout.program import LaidOut
from mytriton.source import SourceUnit
from mytriton.stage import Clock, Compilation, Line, Stage
from mytriton.target import Target


class CudaBackend:
    """Stages `layout`, `cuda`, `ptx`, `cubin`, `sass`; runs on CuPy and torch CUDA arrays."""

    name = "cuda"

    def planned(self, target: Target) -> Sequence[str]:
        """The stages, in order."""
        return ("layout", "cuda", *stages.NAMES)

    def passes(self, target: Target) -> Sequence[tuple[str, str]]:
        """None."""
        return ()

    def available(self) -> str | None:
        """Needs a driver with a device, NVRTC, and nvJitLink or ptxas."""
        found = probe()
        if found.state != "ready":
            return found.reason
        try:
            load_library("nvrtc")
            assembler_path()
        except ToolMissing as missing:
            return str(missing)
        return None

    def check(self, func: Func, target: Target) -> Sequence[Diagnostic]:
        """Operations there is no CUDA text for, or no room."""
        unknown = [
            Diagnostic("MT510", f"the cuda backend cannot compile `{op.opcode}`", op.span, stage="cuda")
            for op in func.walk()
            if type(op) not in SUPPORTED
        ]
        return [*unknown, *too_large(func, target, "cuda")]

    def lower(self, func: Func, target: Target, units: Sequence[SourceUnit] = ()) -> Iterator[Stage]:
        """See `planned`."""
        layout = stages.layout_stage(func, target)
        yield layout
        text = _text(layout.artifact, target)
        yield text
        with Clock() as clock:
            try:
                ptx, cached = _compile(text, target)
            except ToolMissing as missing:
                yield from stages.skipped(stages.NAMES, str(missing))
                return
            except ToolFailed as failed:
                yield _refused(failed, text.lines)
                return
        shared = dynamic_bytes(layout.artifact)
        yield from stages.finish(ptx, lambda: text.lines, target, shared, clock.seconds, cached, units)

    def load(self, compilation: Compilation) -> Launcher:
        """A launcher of the compilation's cubin; the device is not touched before the first launch."""
        from mytriton.backends.nvidia.launch import CubinLauncher  # see `numbers`

        cubin, layout = compilation.find("cubin"), compilation.find("layout")
        compilation.raise_if_failed()
        if cubin is None or layout is None or not cubin.ok:
            raise BackendUnavailable(cubin.reason if cubin else "the compilation made no cubin")
        func = layout.artifact.func
        params = [(p.id, p.type) for p in func.params]
        shared = dynamic_bytes(layout.artifact)
        return CubinLauncher(cubin.artifact, kernel_symbol(func), params, compilation.target, shared=shared)


def _text(laid_out: LaidOut, target: Target) -> Stage:
    stage = Stage("cuda", "text", "cuda")
    with Clock() as clock:
        lines = emit(laid_out, target)
        stage.make_lines = lambda: lines
        stage.artifact = stage.text
    stage.seconds = clock.seconds
    return stage


def options(target: Target) -> list[str]:
    """NVRTC's options. Its other defaults are ours: correctly rounded division and square root, denormals kept."""
    # Without declarations of textures and of the runtime's functions, for which NVRTC takes a sixth of its time.
    minimal = ["-minimal"] if nvrtc.version() >= (13, 0) else []
    return [
        *minimal,
        f"-arch={target.chip.replace('sm_', 'compute_')}",
        "-lineinfo",
        "--std=c++17",
        f"-fmad={'true' if target.enable_fp_fusion else 'false'}",
    ]


def _compile(text: Stage, target: Target) -> tuple[str, bool]:
    """The PTX, and whether it was found on the disk. All that `options` says follows from what is in the entry."""
    fusion = str(target.enable_fp_fusion)
    tools, sources = (library_path("nvrtc"),), (__file__, nvrtc.__file__)
    entry = Entry("ptx", (text.artifact, target.chip, fusion), tools, sources)
    parts = entry.read()
    if parts is not None:
        return parts["ptx"].decode(), True
    if not nvrtc.supports(target.chip):
        version = ".".join(map(str, nvrtc.version()))
        raise ToolMissing(f"NVRTC {version} does not know {target.chip}; choose another chip or install a newer NVRTC")
    ptx = nvrtc.compile_ptx(text.artifact, options(target)).ptx
    entry.write({"ptx": ptx.encode()})
    return ptx, False


def _refused(failed: ToolFailed, emitted: Sequence[Line]) -> Stage:
    place = re.search(rf"^{re.escape(nvrtc.PROGRAM_NAME)}\((\d+)\): .*error", failed.log, re.MULTILINE)
    row = int(place.group(1)) - 1 if place else -1
    culprit = row if 0 <= row < len(emitted) else None
    span = emitted[culprit].span if culprit is not None else None
    hint = "the CUDA C++ that was refused is the stage before; it is mytriton's, so please report it"
    finding = Diagnostic("MT501", str(failed), span, stage="ptx", hint=hint)
    return Stage("ptx", "text", "ptx", "failed", diagnostics=(finding,), culprit=culprit)


BACKEND = CudaBackend()
