"""Draws the README's picture: the explorer on add.py, compiled and run for real, as examples/screen.svg.

python -m tests.benchmarks.picture
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from textual.pilot import Pilot

from explorer.app import ExplorerApp
from explorer.model.settings import Settings

EXAMPLES = Path(__file__).parents[2] / "examples"
PATIENCE = 60.0


async def until(pilot: Pilot[None], true: Callable[[], bool]) -> None:
    """Wait for the children."""
    for _ in range(int(PATIENCE / 0.1)):
        if true():
            return
        await pilot.pause(0.1)
    raise TimeoutError("the explorer did not get there")


async def draw() -> None:
    """Open, compile, go to the mask, run, and save what is on the screen."""
    path = EXAMPLES / "kernels" / "add.py"
    app = ExplorerApp(Settings(str(path)))
    async with app.run_test(size=(170, 50)) as pilot:
        session = app.main.session
        await until(pilot, lambda: all(b in session.results and session.results[b].finished for b in ("cuda", "mlir")))
        line = next(i for i, text in enumerate(path.read_text().splitlines()) if "a = tl.load" in text)
        app.main.editor.move_cursor((line, 4))
        await pilot.press("f8")
        await until(pilot, lambda: session.report is not None)
        await pilot.pause(6.0)  # until the note that the run was on the cpu has gone
        app.save_screenshot("screen.svg", str(EXAMPLES))


if __name__ == "__main__":
    asyncio.run(draw())
