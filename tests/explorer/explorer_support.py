"""What the explorer's tests share: an engine that says what it is told, and a driver that counts bytes."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.segment import Segment
from textual.drivers.headless_driver import HeadlessDriver
from textual.pilot import Pilot

from explorer.app import ExplorerApp
from explorer.canvas import Canvas, Painted
from explorer.engine.messages import (
    CompileFinished,
    CompileRequest,
    CompileStarted,
    Event,
    ModuleRead,
    QueryRequest,
    ReproduceRequest,
    RunRequest,
    StageFinished,
)
from explorer.model.config import Config
from explorer.model.result import (
    DiagnosticView,
    ExampleInfo,
    KernelInfo,
    LineView,
    ModuleInfo,
    StageView,
)
from explorer.model.settings import Settings
from explorer.screens.main import MainScreen

SOURCE = """\
import mytriton
import mytriton.language as tl

@mytriton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    a = tl.load(x + offs, mask=mask, other=0.0)
    b = tl.load(y + offs, mask=mask, other=0.0)
    tl.store(out + offs, a + b, mask=mask)
"""

SSA = (
    LineView("%0 = program_id {axis=0} : i32", 6),
    LineView("%1 = mul %0, 256 : i32", 7),
    LineView("%2 = arange : vector<256 x i32>", 7),
    LineView("%3 = add %1, %2 : vector<256 x i32>", 7),
    LineView("%4 = cmp_lt %3, n : vector<256 x bool>", 8),
    LineView("%5 = load x, %3, %4, 0.0 : vector<256 x f32>", 9),
    LineView("%6 = load y, %3, %4, 0.0 : vector<256 x f32>", 10),
    LineView("%7 = add %5, %6 : vector<256 x f32>", 11),
    LineView("store out, %3, %7, %4", 11),
)
COMMON = (
    StageView("source", "source", "python"),
    StageView("tree", "tree", "tree", ms=0.2, lines=(LineView("Assign pid", 6), LineView("Store out + offs", 11))),
    StageView("ssa", "ir", "ssa", ms=0.3, lines=SSA, stats={"ops": 9}),
    StageView("opt/fold", "ir", "ssa", status="no change", lines=SSA, stats={"ops": 9}),
    StageView("opt/dce", "ir", "ssa", lines=SSA, stats={"ops": 9}),
)
STAGES: dict[str, tuple[StageView, ...]] = {
    "cuda": (
        *COMMON,
        StageView("layout", "ir", "ssa", lines=SSA),
        StageView("cuda", "text", "cuda", lines=(LineView("float4 a = x[i];", 9), LineView("out[i] = a + b;", 11))),
        StageView("ptx", "text", "ptx", ms=8.0, lines=(LineView("\tld.global.f32 %f1, [%rd1];", 9),)),
        StageView("cubin", "binary", "", status="skipped", reason="nvJitLink is not installed"),
    ),
    "mlir": (
        *COMMON,
        StageView("mlir/emit", "text", "mlir", lines=(LineView("%0 = gpu.block_id x", 6),)),
        StageView("mlir/convert-gpu-to-nvvm", "text", "mlir", lines=(LineView("%0 = nvvm.read.ptx.sreg.ctaid.x", 6),)),
        StageView("ptx", "text", "ptx", lines=(LineView("\tmov.u32 %r1, %ctaid.x;", 6),)),
    ),
    "cpu": (*COMMON, StageView("cpu/emit", "text", "mlir", lines=(LineView("scf.for %i = %c0 to %n", 6),))),
    "interp": COMMON,
}


class FakeEngine:
    """Records what it is asked; `answer` plays a compilation, `emit` any event."""

    def __init__(self, on_event: Callable[[Event], None]) -> None:
        self.emit = on_event
        self.generation = 0
        self.opened: list[str] = []
        self.compiled: list[CompileRequest] = []
        self.runs: list[RunRequest] = []
        self.beside: list[CompileRequest] = []
        self.beside_ended = 0
        self.reproduced: list[ReproduceRequest] = []
        self.queries: list[QueryRequest] = []
        self.cancelled = self.closed = 0
        self.under_way = True

    async def start(self) -> None:
        pass

    def open(self, path: str, text: str, execute: bool = True) -> int:
        self.opened.append(text)
        self.generation += 1
        return self.generation

    def compile(self, request: CompileRequest) -> int:
        self.compiled.append(request)
        self.generation += 1
        return self.generation

    def compile_beside(self, request: CompileRequest) -> int:
        self.beside.append(request)
        self.generation += 1
        return self.generation

    def end_beside(self) -> None:
        self.beside_ended += 1

    def run(self, request: RunRequest) -> int:
        self.runs.append(request)
        self.generation += 1
        return self.generation

    def reproduce(self, request: ReproduceRequest) -> int:
        self.reproduced.append(request)
        self.generation += 1
        return self.generation

    def query(self, request: QueryRequest) -> int:
        self.queries.append(request)
        self.generation += 1
        return self.generation

    def passes(self) -> int:
        self.generation += 1
        return self.generation

    def cancel(self) -> bool:
        self.cancelled += 1
        return self.under_way

    async def close(self) -> None:
        self.closed += 1

    def answer(
        self, fail: str = "", diagnostic: DiagnosticView | None = None, note: str = "", slow: bool = False
    ) -> None:
        """Play the newest compilation, also (`slow`) its slow stages; stage `fail` fails with `diagnostic`, `note` goes
        into listings."""
        for backend in self.compiled[-1].backends:
            stages = STAGES[backend]
            planned = tuple(s.name for s in stages)
            self.emit(CompileStarted(self.generation, backend, "add_kernel", planned, "*fp32:16, *fp32:16, i32"))
            ok = True
            for stage in stages:
                if stage.name == fail and diagnostic is not None:
                    bad = replace(stage, status="failed", lines=(), diagnostics=(diagnostic,))
                    self.emit(StageFinished(self.generation, backend, bad))
                    ok = False
                    break
                if note and stage.lines:
                    stage = replace(stage, lines=(*stage.lines, LineView(note)))
                self.emit(StageFinished(self.generation, backend, stage))
            self.emit(CompileFinished(self.generation, backend, ok, 12.0))
            if slow:
                self.emit(CompileFinished(self.generation, backend, ok, 12.0, slow=True))

    def read(self, *kernels: KernelInfo, diagnostics: tuple[DiagnosticView, ...] = ()) -> None:
        """Play the answer to `open`."""
        kernels = kernels or (KernelInfo("add_kernel", 5, examples=(ExampleInfo("n=1000"), ExampleInfo("n=4096"))),)
        executed = not diagnostics
        self.emit(ModuleRead(self.generation, ModuleInfo("add.py", kernels, diagnostics, executed)))


class CountingDriver(HeadlessDriver):
    """Renders as for a terminal, and only counts the bytes; the stock headless driver renders none."""

    written = 0

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self.canvas = Canvas()

    @property
    def is_headless(self) -> bool:
        """False: somebody looks."""
        return False

    def write(self, data: str) -> None:
        """Count what would go to the terminal."""
        self.count(self.canvas.update() if self.canvas.draw(data) else data)

    def paint(self, pieces: Iterable[Painted], cursor: tuple[int, int]) -> None:
        """Count what a frame would take there."""
        self.canvas.paint(pieces, cursor)
        self.count(self.canvas.update())

    def count(self, text: str) -> None:
        """Count it."""
        self.written += len(text.encode())


async def settled(pilot: Pilot[None]) -> int:
    """Wait until nothing more is painted; returns the bytes written so far."""
    driver = pilot.app._driver
    assert isinstance(driver, CountingDriver)
    written = -1
    # Frames are painted by a timer, which a busy machine may delay: ask the screen, too, whether it owes one.
    while written != driver.written or pilot.app.screen._dirty_widgets or pilot.app.screen._layout_required:
        written = driver.written
        await pilot.pause()
        await pilot.pause(1 / 30)
    return written


#: Block elements that bars are drawn with; the cursor's sign is not one of them.
BARS = {chr(code) for code in range(0x2580, 0x2596)} - {"\u258c"}


class Explorer:
    """A running explorer under test."""

    def __init__(self, app: ExplorerApp, pilot: Pilot[None]) -> None:
        self.app, self.pilot = app, pilot
        assert isinstance(app.main.engine, FakeEngine)
        self.engine = app.main.engine

    @property
    def main(self) -> MainScreen:
        """The screen of the file that is shown."""
        return self.app.main

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def answer(self, fail: str = "", diagnostic: DiagnosticView | None = None, note: str = "") -> None:
        self.engine.answer(fail, diagnostic, note)
        await self.pilot.pause()

    def heading(self, pane: str) -> str:
        return self.main.panes[pane].heading.text

    def lines(self, pane: str) -> list[str]:
        return [line.text for line in self.main.panes[pane].listing.lines]

    def line(self, selector: str) -> str:
        from explorer.widgets.text_line import TextLine

        return self.main.query_one(selector, TextLine).text

    @property
    def written(self) -> int:
        assert isinstance(self.app._driver, CountingDriver)
        return self.app._driver.written


def segments(running: Explorer) -> Iterator[list[Segment]]:
    """The rows of the screen; scroll bars, which Textual may draw as it likes, are left out."""
    for bar in running.app.screen.query("ScrollBar"):
        bar.visible = False
    for strip in running.app.screen._compositor.render_strips(running.app.size):
        yield list(strip)


def screen(running: Explorer) -> str:
    """The characters on the screen; the time of day is always the same."""
    rows = ("".join(segment.text for segment in row) for row in segments(running))
    text = "\n".join("".join(" " if c in BARS else c for c in row).rstrip() for row in rows)
    return re.sub(r"\b\d\d:\d\d:\d\d\b", "12:34:56", text)


@asynccontextmanager
async def explorer(
    path: Path,
    size: tuple[int, int] = (120, 40),
    answered: bool = True,
    config: Config | None = None,
    others: Sequence[str] = (),
    **settings: object,
) -> AsyncIterator[Explorer]:
    """An explorer of `path` (made if it is not there) that has compiled it once."""
    if not path.exists():
        path.write_text(SOURCE)
    started = Settings(str(path), **settings)  # type: ignore[arg-type]
    app = ExplorerApp(started, engine=FakeEngine, driver_class=CountingDriver, config=config, others=others)
    async with app.run_test(size=size, headless=False) as pilot:
        running = Explorer(app, pilot)
        await pilot.pause()
        if answered:
            running.engine.read()
            await pilot.pause()
            await running.answer()
        yield running
