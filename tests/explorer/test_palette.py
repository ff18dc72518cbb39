"""The palette: everything by name, with its keys."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from textual.command import CommandList

from explorer.actions import ACTIONS, shown_keys
from explorer.model.kernels import about
from explorer.model.operations import of
from explorer.model.result import ExampleInfo, KernelInfo
from tests.explorer.explorer_support import SOURCE, Explorer, explorer
from tests.explorer.screens import WRONG


async def listed(e: Explorer, typed: str = "") -> list[str]:
    """What the palette offers, once it has been typed into."""
    await e.press("ctrl+p", *(("space" if c == " " else c) for c in typed))
    await e.app.workers.wait_for_complete()
    await e.pilot.pause(0.1)
    return [str(option.prompt) for option in e.app.screen.query_one(CommandList).options]


async def test_everything_is_in_it_with_its_keys(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text(SOURCE)
    async with explorer(tmp_path / "add.py", (120, 40)) as e:
        await e.press("1", "x")
        await e.answer(fail="ssa", diagnostic=WRONG)
        e.engine.read(KernelInfo("add_kernel", 5, lines=8), KernelInfo("two", 20, helper=True, lines=1))
        await e.pilot.pause()
        rows = await listed(e)
        for action in ACTIONS:
            keys = shown_keys(action)
            assert (f"{action.help}   {keys}" if keys else action.help) in rows
        for row in (
            "Problem: 11:30 expected an expression   error", "Stage: tree (cuda)   ok", "Stage: ssa (cuda)   FAILED",
            "Stage: cuda (cuda)", "Operation: load   line 9, 2 in all", "Operation: store   line 11",
            "Kernel: two   1 line, helper, not compiled yet", "Backend: interp",
            "Chip: sm_80", "Warps: 8", "Layout: learn", "Hide the tree pane", "Theme: light",
            "File: add.py   shown  [edited]", "File: other.py   1 kernel",
        ):  # fmt: skip
            assert row in rows, (row, rows)
        assert any(row.startswith("Kernel: add_kernel   8 lines, cuda: fails at ssa") for row in rows)


async def test_what_is_chosen_is_done(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text(SOURCE)
    async with explorer(tmp_path / "add.py", (120, 40)) as e:
        rows = await listed(e, "chip 80")
        assert rows[0] == "Chip: sm_80"
        await e.press("enter")
        assert e.engine.compiled[-1].chip == "sm_80"
        await listed(e, "warps: 8")
        await e.press("enter")
        assert e.engine.compiled[-1].num_warps == 8
        await listed(e, "hide the tree")
        await e.press("enter")
        assert "tree" in e.main.workspace.arrangement.hidden
        await listed(e, "operation store")
        await e.press("enter")
        assert (e.main.focused_pane.name, e.main.editor.cursor_location[0]) == ("source", 10)
        await listed(e, "file other")
        await e.press("enter")
        await e.pilot.pause()
        assert e.main.file.path.name == "other.py"


async def test_kernels_are_listed_with_their_length_and_what_came_of_them(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (120, 40)) as e:
        first = KernelInfo("add_kernel", 5, examples=(ExampleInfo("n=1"), ExampleInfo("n=2")), lines=8)
        e.engine.read(first, KernelInfo("two", 20, lines=3))
        await e.answer()
        assert " > add_kernel 1/2" in e.line("#header")
        assert about(e.main.session, first) == "8 lines, cuda: ok in 12 ms"
        await e.press("f4")
        labels = [str(option.prompt) for option in e.app.screen.query_one("OptionList").options]  # type: ignore[attr-defined]
        assert [label.split("ms")[0] for label in labels[:2]] == [
            "1 add_kernel  n=1  (8 lines, cuda: ok in 12 ",
            "2 add_kernel  n=2  (8 lines, cuda: ok in 12 ",
        ]
        assert labels[2] == "3 two  (no example)  (3 lines, not compiled yet)"


async def test_operations_are_those_of_the_kernel(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        found = [(o.name, o.line, o.count) for o in of(e.main.session.result)]
        assert found == [
            ("program_id", 6, 1), ("mul", 7, 1), ("arange", 7, 1), ("add", 7, 2), ("cmp_lt", 8, 1), ("load", 9, 2),
            ("store", 11, 1),
        ]  # fmt: skip


def test_starting_does_not_load_it() -> None:
    code = "import sys, explorer.app; print('explorer.palette' in sys.modules, 'explorer.screens.help' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False False\n"
