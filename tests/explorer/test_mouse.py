"""The mouse does what the keys do."""

from __future__ import annotations

from pathlib import Path

from tests.explorer.explorer_support import explorer


async def test_clicks_focus_panes_and_put_the_cursor(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (120, 40)) as e:
        await e.pilot.click("#view-ssa", offset=(5, 4))
        await e.pilot.pause()
        assert e.main.focused_pane.name == "ssa"
        assert e.main.panes["ssa"].body.cursor == 4  # type: ignore[union-attr]
        assert e.main.line == 8


async def test_the_key_bar_and_the_header_can_be_clicked(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (120, 40)) as e:
        at = e.line("#keys").index("F8")
        await e.pilot.click("#keys", offset=(at, 0))
        await e.pilot.pause()
        assert len(e.engine.runs) == 1
        at = e.line("#header").index("add_kernel")
        await e.pilot.click("#header", offset=(at, 0))
        await e.pilot.pause()
        assert e.app.screen is not e.main, "the list of kernels and examples"


async def test_headings_zoom_nothing_but_focus(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (120, 40)) as e:
        await e.pilot.click("#pane-cuda Heading", offset=(3, 0))
        await e.pilot.pause()
        assert e.main.focused_pane.name == "cuda"


async def test_dragging_selects_and_y_copies_it(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (120, 40)) as e:
        await e.pilot.mouse_down("#view-ssa", offset=(7, 1))
        await e.pilot.hover("#view-ssa", offset=(12, 1))
        await e.pilot.mouse_up("#view-ssa", offset=(12, 1))
        await e.pilot.pause()
        e.main.panes["ssa"].body.focus()
        await e.press("y")
        assert "%1 = mul %0".find(e.app.clipboard) == 5, e.app.clipboard
