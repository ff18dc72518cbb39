"""The whole screen at the sizes that matter, as text. `pytest --update-golden` rewrites the pictures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from explorer.engine.messages import RunFinished
from explorer.model.result import DiagnosticView, OutputReport, RunReport
from tests.explorer.explorer_support import Explorer, explorer, settled

#: Block elements that bars are drawn with; the cursor's sign is not one of them.
BARS = {chr(code) for code in range(0x2580, 0x2596)} - {"\u258c"}

Golden = Callable[[str, str], None]

RENDERED = """\
add.py:11:30: error[MT101]: expected an expression
11 |     tl.store(out + offs, a + , mask=mask)
   |                              ^
help: give + an operand"""
WRONG = DiagnosticView("MT101", "error", "expected an expression", "add.py", 11, 30, 11, 31, "", "tree", RENDERED)


def screen(running: Explorer) -> str:
    """The characters on the screen; scroll bars, which Textual may draw as it likes, are left out."""
    for bar in running.app.screen.query("ScrollBar"):
        bar.visible = False
    strips = running.app.screen._compositor.render_strips(running.app.size)
    rows = ("".join(segment.text for segment in strip) for strip in strips)
    return "\n".join("".join(" " if c in BARS else c for c in row).rstrip() for row in rows)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=lambda s: f"{s[0]}x{s[1]}")
async def test_the_screen_after_opening_and_running(tmp_path: Path, golden: Golden, size: tuple[int, int]) -> None:
    async with explorer(tmp_path / "add.py", size) as e:
        await e.press(*["down"] * 8, "f8")
        output = OutputReport("out", True, size=1000)
        report = RunReport(True, "cpu", "CPU", "add_kernel", "n=1000", (output,), 1.25e-3, "NumPy", "no GPU here")
        e.engine.emit(RunFinished(e.engine.generation, report))
        await settled(e.pilot)
        golden(f"explorer-{size[0]}x{size[1]}.txt", screen(e))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=lambda s: f"{s[0]}x{s[1]}")
async def test_the_screen_after_an_error(tmp_path: Path, golden: Golden, size: tuple[int, int]) -> None:
    async with explorer(tmp_path / "add.py", size) as e:
        await e.press(*["down"] * 10, "end", *["left"] * 13, "backspace")
        await e.answer(fail="tree", diagnostic=WRONG)
        await settled(e.pilot)
        golden(f"explorer-error-{size[0]}x{size[1]}.txt", screen(e))


async def test_a_long_header_is_cut_with_dots(tmp_path: Path) -> None:
    async with explorer(tmp_path / "a_long_name_of_a_file_with_one_kernel.py", (80, 24)) as e:
        await e.press("x")
        await settled(e.pilot)
        left, right = " a_long_name_of_a_file_with_one_kernel.py [edite.. ", "backend cuda  sm_90  4 warps"
        assert screen(e).splitlines()[0] == left + right


async def test_what_is_searched_for_can_be_read(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        await e.press("escape", "slash", "l", "o", "a", "d")
        await settled(e.pilot)
        (row,) = (row for row in screen(e).splitlines() if row.startswith("/"))
        assert row.split() == ["/", "load", "2", "lines"]
