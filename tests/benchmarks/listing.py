"""Listings of 20,000 lines in the explorer: open one, scroll a page, search, and jump to the linked line.

    python -m tests.benchmarks.listing [LINES] [RUNS]

At 200 x 60, through the real session, links and widgets: the SSA has that many lines, and then CUDA C++ and PTX beside
it as well. The frames are rendered as for a terminal, and counted instead of written. A time is from the event or the
key to the last byte of the frames that follow; CPU is what this process took for it.
"""

from __future__ import annotations

import asyncio
import os
import platform
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from textual import events

from explorer.app import ExplorerApp
from explorer.engine.messages import CompileFinished, CompileStarted, StageFinished
from explorer.model.result import Frame, KernelInfo, LineView, StageView
from explorer.model.session import Settings
from tests.benchmarks import stats
from tests.explorer.explorer_support import CountingDriver, Explorer, FakeEngine, settled

#: Lines of the kernel and of the helper that it calls in every other line.
KERNEL, HELPER = 400, 40


class TimedDriver(CountingDriver):
    """Knows when it was last written to."""

    last = last_cpu = 0.0

    def count(self, text: str) -> None:
        """Count, and look at the clock."""
        super().count(text)
        self.last, self.last_cpu = time.perf_counter(), time.process_time()


def source() -> str:
    """A kernel of `KERNEL` lines, and its helper."""
    helper = ["@mytriton.jit", "def step(v):", *("    v = v * 2.0 + 1.0" for _ in range(HELPER - 3)), "    return v"]
    body = ("    a = step(a)" if n % 2 else "    a = a + tl.load(x + i)" for n in range(KERNEL - 1))
    return "\n".join([*helper, "@mytriton.jit", "def long_kernel(x, i, a):", *body, ""])


def lines(number: int, text: Callable[[int], str]) -> tuple[LineView, ...]:
    """A listing whose lines come from all over the kernel, half of them through the helper."""
    made = []
    for row in range(number):
        call = HELPER + 3 + row * (KERNEL - 1) // number
        values = (f"%{row}", f"%{max(0, row - 1)}", f"%{max(0, row - 7)}")
        if call % 2:
            inner = 3 + row % (HELPER - 2)
            frames = (Frame("step", inner), Frame("long_kernel", call))
            made.append(LineView(text(row), inner, 5, inner, 20, values, frames))
        else:
            made.append(LineView(text(row), call, 5, call, 20, values))
    return tuple(made)


def stages(number: int, others: int, operation: str = "add") -> tuple[StageView, ...]:
    """What a compilation of the kernel would send: SSA of `number` lines, CUDA C++ and PTX of `others`."""
    ssa = lines(number, lambda r: f"%{r} = {operation} %{max(0, r - 1)}, %{max(0, r - 7)} : vector<256 x f32>")
    cuda = lines(others, lambda r: f"    float v{r} = v{max(0, r - 1)} + v{max(0, r - 7)};")
    ptx = lines(others, lambda r: f"\tadd.rn.f32 \t%f{r}, %f{max(0, r - 1)}, %f{max(0, r - 7)};")
    return (
        StageView("source", "source", "python"),
        StageView("tree", "tree", "tree", lines=ssa[:1]),
        StageView("ssa", "ir", "ssa", lines=ssa),
        StageView("cuda", "text", "cuda", lines=cuda),
        StageView("ptx", "text", "ptx", lines=ptx),
    )


class Measured:
    """Times and CPU times by what was done."""

    def __init__(self, e: Explorer) -> None:
        self._e = e
        assert isinstance(e.app._driver, TimedDriver)
        self._driver = e.app._driver
        self.wall: dict[str, list[float]] = defaultdict(list)
        self.cpu: dict[str, list[float]] = defaultdict(list)
        self.bytes: dict[str, list[int]] = defaultdict(list)

    async def __call__(self, what: str, do: Callable[[], object]) -> None:
        """Do it, and wait for what it paints."""
        written = await settled(self._e.pilot)
        start, cpu = time.perf_counter(), time.process_time()
        do()
        painted = written
        deadline = start + 20  # of a machine that is busy with other things
        while time.perf_counter() < deadline and (painted == written or painted != self._driver.written):
            painted = self._driver.written
            await asyncio.sleep(0.02)
        painted = self._driver.written  # also where all the time went by while it was done
        assert painted > written, f"nothing was painted: {what}"
        self.wall[what].append(self._driver.last - start)
        self.cpu[what].append(self._driver.last_cpu - cpu)
        self.bytes[what].append(painted - written)


async def measured(number: int, others: int, runs: int, folder: Path) -> Measured:
    """Everything, `runs` times."""
    path = folder / "long.py"
    path.write_text(source())
    made = stages(number, others)
    planned = tuple(stage.name for stage in made)
    app = ExplorerApp(Settings(str(path)), engine=FakeEngine, driver_class=TimedDriver)
    async with app.run_test(size=(200, 60), headless=False) as pilot:
        e = Explorer(app, pilot)
        await pilot.pause()
        e.engine.read(KernelInfo("long_kernel", HELPER + 2))
        await settled(e.pilot)
        measure = Measured(e)

        def press(key: str) -> None:
            # `pilot.press` waits for a message of its own to each of a hundred widgets: 4 ms that nobody else waits.
            app.post_message(events.Key(key, key if len(key) == 1 else None))

        def arrive() -> None:
            generation = e.engine.generation
            e.engine.emit(CompileStarted(generation, "cuda", "long_kernel", planned))
            for stage in made:
                e.engine.emit(StageFinished(generation, "cuda", stage))
            e.engine.emit(CompileFinished(generation, "cuda", True, 1.0))

        for operation in ("sub", "mul") * max(2, runs // 8):
            await measure("open", arrive)
            made = stages(number, others, operation)  # each row is another one the next time
        for run in range(runs):
            e.main.editor.go_to(HELPER + 3 + (run * 97) % (KERNEL - 8))
            e.main.editor.focus()
            await settled(e.pilot)
            # Each line of the kernel is fifty lines further down in the listing.
            await measure("jump to the linked lines (down in the editor)", lambda: press("down"))
            e.main.go_to_pane("ssa")
            await settled(e.pilot)
            await measure("cursor move in the listing", lambda: press("j"))
            await measure("page down", lambda: press("pagedown"))
            await measure("next linked line", lambda: press("asterisk"))
            await measure("follow a value", lambda: press("f"))
            await measure("its next use", lambda: press("f"))
            await measure("follow no more", lambda: press("escape"))
            e.main.find_bar.query_text = f"%{(run * 7919) % number} ="
            await measure("search: next occurrence", lambda: press("n"))
            await measure("last line", lambda: press("G"))
            await measure("back", lambda: press("u"))
        return measure


TARGETS = {"open": 150, "page down": 16, "jump to the linked lines (down in the editor)": 16}


def main() -> None:
    """Print the tables."""
    number, runs = (int(a) for a in (sys.argv[1:] + ["20000", "20"][len(sys.argv) - 1 :]))
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    os.environ["COLORTERM"], os.environ["TERM"] = "truecolor", "xterm-256color"
    for what, others in ((f"one listing of {number:,} lines", 40), ("three of them at once", number)):
        with tempfile.TemporaryDirectory() as folder:
            os.environ["XDG_STATE_HOME"] = os.environ["XDG_CONFIG_HOME"] = folder
            measure = asyncio.run(measured(number, others, runs, Path(folder)))
        print(f"\n{what}")
        for name in measure.wall:
            target = f"target <= {TARGETS[name]} ms" if name in TARGETS else ""
            print(stats.row(name, measure.wall[name], target))
            print(stats.cpu_row("  CPU", measure.cpu[name]), f"  bytes {stats.percentile(measure.bytes[name], 0.5)}")


if __name__ == "__main__":
    main()
