"""The table of the explorer's screens: what leads to each. `test_screens.py` takes their pictures at every size.

A screen is one row of `SCREENS`: its name, and the keys that lead to it from an explorer that has just compiled
`SOURCE` with its fake engine; between them may stand functions that say what the engine answers meanwhile.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from explorer.engine import messages as m
from explorer.model.result import (
    DiagnosticView,
    ExampleInfo,
    KernelInfo,
    OutputReport,
    ParamView,
    RunReport,
    StepView,
)
from mytriton.mismatches import pattern, picture
from tests.explorer.explorer_support import SOURCE, Explorer
from tests.explorer.test_benches import BENCH
from tests.explorer.test_failing import PASS, failing

Step = str | Callable[[Explorer], Awaitable[None]]


@dataclass(frozen=True)
class Shown:
    """`before` is done in the folder of `add.py` before the explorer starts; `settings` are of its command line."""

    name: str
    steps: tuple[Step, ...]
    before: Callable[[Path], None] = lambda folder: None
    settings: dict[str, Any] = field(default_factory=dict)

    async def go(self, e: Explorer) -> None:
        """Press the keys."""
        for step in self.steps:
            if isinstance(step, str):
                await e.press(*step.split())
            else:
                await step(e)


def shown(name: str, *steps: Step, before: Callable[[Path], None] = lambda folder: None, **settings: Any) -> Shown:
    """A row of the table."""
    return Shown(name, steps, before, settings)


RENDERED = """\
add.py:11:30: error[MT101]: expected an expression
11 |     tl.store(out + offs, a + , mask=mask)
   |                              ^
help: give + an operand"""
WRONG = DiagnosticView("MT101", "error", "expected an expression", "add.py", 11, 30, 11, 31, "", "tree", RENDERED)
OUTPUT = OutputReport("out", True, size=1000)
PASSED = RunReport(True, "cpu", "CPU", "add_kernel", "n=1000", (OUTPUT,), 1.25e-3, "NumPy", "no GPU here")
DIFFERS = OutputReport("out", False, 2.0, 0.5, 1e6, 3, 1000, (7,), "1.0", "3.0")
FAILED = replace(PASSED, ok=False, outputs=(DIFFERS,))
STEPS = (StepView("ssa", True), StepView("opt/fold", False, "out[7] is 1.0, expected 3.0; lane 7", 11))


WRONG_END = np.arange(1000) >= 768
MAPPED = replace(
    DIFFERS,
    mismatches=232,
    pattern=pattern(WRONG_END, 256),
    picture=picture(WRONG_END, np.zeros_like(WRONG_END), 256),
)
ORIGIN = "program (3, 0, 0), lane 0 of its block: thread 0 (warp 0, lane 0), register 0"
MISMATCHES = replace(FAILED, outputs=(MAPPED,), origin=ORIGIN, origin_line=11)
BENCHED = replace(PASSED, bench=BENCH, constexprs={"BLOCK": 256})
FAR = "7 of 64 runs"
FASTER = replace(BENCHED, bench=replace(BENCH, median=9e-6, runs=1300))


def told(event: Callable[[int], m.Event]) -> Callable[[Explorer], Awaitable[None]]:
    """The engine tells something about what it was asked last."""

    async def step(e: Explorer) -> None:
        e.engine.emit(event(e.engine.generation))
        await e.pilot.pause()

    return step


def ran(report: RunReport) -> Callable[[Explorer], Awaitable[None]]:
    """A run is over."""
    return told(lambda generation: m.RunFinished(generation, report))


async def mistaken(e: Explorer) -> None:
    """The text does not compile."""
    await e.answer(fail="tree", diagnostic=WRONG)


async def fails(e: Explorer) -> None:
    """An MLIR pass fails."""
    await failing(e, row=60)


async def changes(e: Explorer) -> None:
    """The kernel compiles to something else."""
    e.main.compile()
    await e.answer(note="// new")


async def changed_on_disk(e: Explorer) -> None:
    """Another program writes the file."""
    Path(e.main.session.settings.path).write_text("# theirs\n")


REPRODUCED = told(
    lambda generation: m.Reproduced(generation, PASS, "repro", "python repro/rerun.py", ("rerun.py", "input.mlir"))
)


def lost(folder: Path) -> None:
    """An explorer of the file was killed before it saved."""
    from explorer.model.files import Swap

    swap = Swap(str(folder / "add.py"))
    swap.write("# lost\n")
    swap.close()


async def described(e: Explorer) -> None:
    """The file is executed, and what its example is called with is known."""
    types = {"x": "*fp32:16", "y": "*fp32:16", "out": "*fp32:16", "n": "i32"}
    example = ExampleInfo("add(n=1000)", types, {"BLOCK": 256}, (4,), values={"n": 1000})
    params = (*map(ParamView, types), ParamView("BLOCK", True))
    e.engine.read(KernelInfo("add_kernel", 5, params, (example,)))
    await e.pilot.pause()
    await e.answer()


def does(action: str) -> Callable[[Explorer], Awaitable[None]]:
    """What the palette does by this name."""

    async def step(e: Explorer) -> None:
        await e.main.run_action(action)
        await e.pilot.pause()

    return step


def there(folder: Path) -> None:
    """A file of the name that is offered for the listing."""
    (folder / "add_kernel.opt-dce.txt").write_text("precious")


async def found(e: Explorer) -> None:
    """What looks around in the background is done."""
    await e.app.workers.wait_for_complete()
    await e.pilot.pause()


async def compiled(e: Explorer) -> None:
    """What was asked for last is there."""
    await e.answer()


def kernels(folder: Path) -> None:
    """There are other files with kernels."""
    (folder / "other.py").write_text(SOURCE)
    (folder / "third.py").write_text(SOURCE + SOURCE)


SCREENS = (
    shown("main", "down " * 8 + "f8", ran(PASSED)),
    shown("error", "down " * 10 + "end" + " left" * 13 + " backspace", mistaken),
    *(
        shown(f"zoom-{name}", "f8", ran(FAILED), f"escape {number} f9")
        for number, name in enumerate(("source", "tree", "ssa", "cuda", "mlir", "asm", "stages", "problems", "run"), 1)
    ),
    shown("problems", "down " * 10 + "end" + " left" * 13 + " backspace", mistaken, "escape 8 z"),
    shown("stages-failed", fails, "escape 7 z", backend="mlir"),
    shown("every-stage", "escape v", ran(replace(FAILED, steps=STEPS)), "z"),
    shown("mismatches", "escape r", ran(MISMATCHES), "9 z"),
    shown("bench", "escape B", ran(BENCHED), "B", ran(FASTER), "z"),
    shown(
        "benching",
        "escape B",
        told(lambda generation: m.StillRunning(generation, "runner", "run", 3.0, "7 of 64 runs")),
    ),
    shown("past-runs", "escape r", ran(FAILED), "B", ran(BENCHED), "B", ran(FASTER), "H"),
    shown("busy", "x", told(lambda generation: m.StillRunning(generation, "compiler", "ptx", 1.5))),
    shown("failing", fails, backend="mlir"),
    shown("following", "escape 3 j j j f L"),
    shown("diff", "escape 3 z d"),
    shown("log", "escape 3 z d d"),
    shown("against-a", "escape p", changes, "4 z d d d"),
    shown("comparison", "escape p", changes, "m"),
    shown("share", "escape O"),
    shown("choose-a", "escape m"),
    shown("choose-kernel", "f4"),
    shown("choose-pane", "f3"),
    shown("types", described, "ctrl+t"),
    shown("types-wrong", described, "ctrl+t end x"),
    shown("replace", "ctrl+f l o a d tab s t o r e"),
    shown("completion", "down " * 8 + "end enter t l . x o"),
    shown("call", "down " * 8 + "end enter t l . w h e r e ( m a s k ,"),
    shown("goto", "alt+g"),
    shown("find-everywhere", "escape F l o a d", found),
    shown("arrange", "escape W"),
    shown("layout-learn", "escape W 2"),
    shown("layout-lower", "escape W 3"),
    shown("layout-check", "escape W 4"),
    shown("open-file", "escape E", found, before=kernels),
    shown("two-files", "x escape E", found, "o t h e r enter", compiled, before=kernels),
    shown("value", "escape 3 g j j j f"),
    shown("value-story", "escape 3 g j j j f", does("value_story")),
    shown("choose-value", "escape 3 g j j j", does("choose_value")),
    shown("arrange-swap", "escape W 5"),
    shown("save-as", "escape S"),
    shown("write", "escape w"),
    shown("overwrite", "escape w enter", before=there),
    shown("find", "escape 3 slash l o a d"),
    shown("palette", "ctrl+p"),
    shown("palette-search", "ctrl+p t h e m e"),
    shown("themes", "ctrl+p c h o o s e space t h e space c o l enter"),
    shown("help", "f1"),
    shown("info", "f12"),
    shown("reproducer", "escape R", REPRODUCED),
    shown("save-changed", "x", changed_on_disk, "ctrl+s"),
    shown("quit", "x ctrl+q"),
    shown("recovery", before=lost),
)
