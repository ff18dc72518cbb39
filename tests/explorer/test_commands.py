"""What the keys do, with an engine that says what it is told."""

from __future__ import annotations

from pathlib import Path

from textual import events

from explorer.engine.messages import (
    Log,
    RunFinished,
)
from explorer.model.result import KernelInfo, OutputReport, RunReport
from tests.explorer.explorer_support import SOURCE, explorer, settled
from tests.explorer.test_explorer import WRONG


async def test_panes_by_number_tab_and_zoom(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (80, 24)) as e:
        await e.press("escape", "5")
        assert e.main.workspace.visible_panes == ("source", "mlir")
        assert "mlir" in e.engine.compiled[-1].backends
        await e.press("tab")
        assert e.main.focused_pane.name == "source"
        await e.press("tab", "z")
        assert list(e.main.workspace.visible_panes) == ["mlir"]
        await e.press("escape")
        assert e.main.workspace.visible_panes == ("source", "mlir")
        await e.press("7")
        assert e.main.focused_pane.name == "stages"
        await e.press("f3")
        await e.press("4")
        assert e.main.focused_pane.name == "cuda"


async def test_a_pane_that_is_brought_is_on_the_screen(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (120, 40)) as e:
        await e.press("escape")
        for key in "4623625":
            await e.press(key)
            await settled(e.pilot)
            pane = e.main.focused_pane
            assert pane.number == int(key)
            assert pane.is_on_screen, f"{pane.name} has the focus"
            await e.press("z")
            await settled(e.pilot)
            assert [p.name for p in e.main.panes.values() if p.is_on_screen] == [pane.name]
            await e.press("z")
            await settled(e.pilot)


async def test_choosing_stages_and_opening_one_from_the_list(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (200, 60)) as e:
        await e.press("escape", "5", "]")
        assert "mlir/convert-gpu-to-nvvm" in e.heading("mlir")
        await e.press("]")
        assert "mlir/convert-gpu-to-nvvm" in e.heading("mlir"), "not past the end"
        await e.press("[")
        assert "mlir/emit" in e.heading("mlir")
        await e.press("7", "g", "j", "j", "j", "enter")
        assert e.main.focused_pane.name == "ssa"
        assert "SSA > ssa" in e.heading("ssa")
        await e.press("1", "f7")
        assert "SSA > opt/fold" in e.heading("ssa"), "the function keys mean the listing that was last"


async def test_slow_stages_are_asked_for_when_looked_at(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (200, 60)) as e:
        assert not e.engine.compiled[-1].wanted
        await e.press("escape", "6", "]")
        assert e.engine.compiled[-1].wanted == ("cubin",)
        await e.answer()
        assert e.lines("asm") == ["skipped", "nvJitLink is not installed"]


async def test_running_says_where_and_how_it_went(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (80, 24)) as e:
        await e.press("escape", "r")
        assert e.engine.runs[-1].backend == "cuda"
        assert e.line("#run") == " run: running ..."
        good = OutputReport("out", True, 0.0, 0.0, 0.0, 0, 1000)
        report = RunReport(
            True, "cpu", "x86-64", "add_kernel", "n=1000", (good,), 1.25e-3, "numpy", "no GPU here: ran on cpu"
        )
        e.engine.emit(RunFinished(e.engine.generation, report))
        await e.pilot.pause()
        assert e.line("#run") == " run: PASS on cpu, not cuda  1.25 ms  0 of 1000 differ  max abs 0  rel 0  ulp 0"
        bad = OutputReport("out", False, 2.0, 0.5, 1e6, 3, 1000, (7,), "1.0", "3.0")
        e.engine.emit(RunFinished(e.engine.generation, RunReport(False, "cpu", outputs=(bad,), seconds=2.0)))
        await e.pilot.pause()
        assert e.line("#run").startswith(" run: FAIL on cpu  2.00 s  3 of 1000 differ (0.3 %)  max abs 2  rel")
        await e.press("9")
        assert e.lines("run") == [
            "FAIL  on cpu  2.00 s",
            "out: 3 of 1000 differ (0.3 %)  max abs 2  rel 0.5  ulp 1e+06  first at [7]:",
            "  1.0, expected 3.0",
        ]
        e.engine.emit(RunFinished(e.engine.generation, RunReport(False, "cuda", message="no", diagnostics=(WRONG,))))
        await e.pilot.pause()
        assert e.line("#run") == " run: NOT RUN on cuda  11:30 expected an expression"
        assert e.lines("run") == ["NOT RUN  on cuda", "no", "add.py:11:30: ..."]
        await e.press("1", "x")
        assert e.line("#run").startswith(" run: stale: NOT RUN")


async def test_a_kernel_without_an_example_says_what_to_do(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        e.engine.read(KernelInfo("add_kernel", 5))
        await e.press("f8")
        assert e.engine.runs == []
        assert "no example" in e.main.panes["run"].listing.lines[0].text


async def test_choosing_kernel_and_example(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        await e.press("f4", "2")
        assert (e.engine.compiled[-1].kernel, e.engine.compiled[-1].example) == ("add_kernel", 1)
        assert "n=4096" in e.line("#header")


async def test_finding_text(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        await e.press("escape", "slash", "l", "o", "a", "d")
        assert e.line(".count") == "2 lines "
        await e.press("enter")
        view = e.main.panes["ssa"].body
        assert view.has_focus
        rows = [view.cursor]  # type: ignore[union-attr]
        for key in ("n", "n", "N"):
            await e.press(key)
            rows.append(view.cursor)  # type: ignore[union-attr]
        assert rows == [5, 6, 5, 6]


async def test_copying_goes_through_the_terminal_and_says_how_much(tmp_path: Path) -> None:
    messages: list[str] = []
    async with explorer(tmp_path / "add.py") as e:
        e.app.notify = lambda message, **_: messages.append(message)  # type: ignore[method-assign]
        await e.press("escape", "y")
        assert e.app.clipboard == "%0 = program_id {axis=0} : i32"
        await e.app.workers.wait_for_complete()
        assert messages == [
            f"30 bytes sent to the terminal's clipboard; also in {tmp_path}/state/mytriton-explore/copied.txt"
        ]
        await e.press("Y")
        assert e.app.clipboard.count("\n") == 8


async def test_writing_a_listing_asks_before_it_overwrites(tmp_path: Path) -> None:
    target = tmp_path / "out.ssa"
    target.write_text("precious")
    async with explorer(tmp_path / "add.py") as e:
        await e.press("escape", "w")
        e.app.screen.query_one("Input").value = str(target)  # type: ignore[attr-defined]
        await e.press("enter")
        await e.press("n")
        assert target.read_text() == "precious"
        await e.press("w")
        e.app.screen.query_one("Input").value = str(target)  # type: ignore[attr-defined]
        await e.press("enter")
        await e.press("o")
        assert target.read_text().startswith("%0 = program_id")


async def test_help_and_information(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        e.engine.emit(Log("runner", "hello\n"))
        await e.press("f1")
        lines = e.app.screen.query_one("CodeView").lines  # type: ignore[attr-defined]
        assert lines[0] == "This pane: source"
        assert any("F8" in line and "Run the example" in line for line in lines)
        await e.press("escape")
        assert e.main.editor.has_focus
        await e.press("f12")
        lines = e.app.screen.query_one("CodeView").lines  # type: ignore[attr-defined]
        assert "  cuda cubin: skipped: nvJitLink is not installed" in lines
        assert "  runner: hello" in lines
        assert any(line.split()[:1] == ["textual"] for line in lines)


async def test_keys_that_come_together_answer_a_dialog_once(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        await e.press("f3")
        dialog = e.app.screen
        for key in ("7", "7", "3", "escape"):  # before the first of them is through
            dialog.post_message(events.Key(key, key if len(key) == 1 else None))
        await e.pilot.pause()
        assert e.app.screen is e.main
        assert e.main.focused_pane.name == "stages"
        await e.press("f1")
        help_screen = e.app.screen
        for _ in range(2):
            help_screen.post_message(events.Key("escape", None))
            e.app.post_message(events.Key("escape", None))
        await e.pilot.pause()
        assert e.app.screen is e.main
        await e.press("ctrl+p")
        palette = e.app.screen
        for _ in range(3):
            palette.dismiss()
        await e.pilot.pause()
        assert e.app.screen is e.main
        await e.press("ctrl+p")
        palette = e.app.screen
        await e.press("ctrl+q")  # which takes the palette away before its own key for that is through
        palette.dismiss()
        await e.pilot.pause()
    assert not e.app.is_running


async def test_escape_leaves_the_editor_also_where_it_is_zoomed(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        await e.press("f9")
        assert e.main.workspace.zoomed == "source"
        await e.press("escape", "x")
        assert e.main.editor.text == SOURCE, "x is a command again"
        assert (e.main.workspace.zoomed, e.main.focused_pane.name) == (None, "ssa")
        await e.press("z", "escape")
        assert (e.main.workspace.zoomed, e.main.focused_pane.name) == (None, "ssa")


async def test_coming_from_a_zoomed_pane_to_the_source_scrolls_it_to_the_cursor_and_no_further(tmp_path: Path) -> None:
    path = tmp_path / "long.py"
    path.write_text(SOURCE + "#" * 200 + "\n" * 60)
    async with explorer(path, (80, 24)) as e:
        await e.press("escape", "3", "z")
        e.main.go_to_source(40, 1)
        await settled(e.pilot)
        rows = e.main.editor.size.height
        assert e.main.editor.scroll_offset == (0, 39 - rows // 2)
        await e.press("escape", "3", "z")
        e.main.go_to_source(8, 5)
        await settled(e.pilot)
        assert e.main.editor.scroll_offset == (0, 0)
