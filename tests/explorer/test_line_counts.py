"""How many lines each line of the source became: which listing is counted, and what stands beside the lines."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from explorer.model.config import Config
from explorer.model.line_counts import LineCounts, carried, line_counts
from explorer.model.links import Links
from explorer.model.result import LineView
from explorer.model.session import Session
from tests.explorer.compiled import KERNELS, compiled
from tests.explorer.explorer_support import Explorer, explorer, screen, settled
from tests.explorer.screens import WRONG
from tests.explorer.test_linking import copied, opened
from tests.explorer.test_painting import painted as painted
from tests.explorer.test_place import session as session
from tests.explorer.test_place import with_result

ADD = KERNELS / "add.py"


def test_every_line_that_became_something_is_counted() -> None:
    lines = (LineView("func", 5, 1, 11, 2), LineView("a", 6), LineView("b", 8), LineView("}"), LineView("c", 6),
             LineView("d", 6, made_by="LLVM"), LineView("e", 9, made_by="LLVM"))  # fmt: skip
    assert Links(lines).counts == {5: 1, 6: 2, 8: 1}


def test_the_listing_in_focus_last_is_counted_in_the_stage_it_shows() -> None:
    found = with_result(ADD, compiled(ADD, "add_kernel"))
    ptx = {10: 7, 11: 2, 12: 8, 14: 18, 16: 27, 17: 25, 19: 27}
    assert line_counts(found, ["source"], {}) == LineCounts("ptx", ptx)
    lines = found.result.stages["ptx"].lines
    marked = [line.line for line in lines if line.line is not None and not line.made_by]
    assert ptx == Counter(marked)  # nothing is inlined here
    cuda = {10: 3, 11: 1, 12: 6, 14: 3, 16: 2, 17: 2, 19: 6}
    assert line_counts(found, ["source", "tree", "cuda", "asm"], {}) == LineCounts("cuda", cuda)
    assert line_counts(found, ["ssa"], {"ssa": "ssa"}).words == "lines in SSA"
    assert line_counts(found, ["ssa"], {"ssa": "opt/dce"}).words == "lines in opt/dce"
    assert line_counts(found, ["mlir"], {}).of == "ptx", "there is none for this backend"


def test_a_line_of_a_helper_counts_the_code_of_all_calls(session: Session) -> None:
    found = line_counts(session, ["cuda"], {})
    assert found.lines == {9: 8, 13: 3, 14: 7, 15: 5, 16: 6, 17: 10}
    of_helper = [view.line for view in session.result.stages["cuda"].lines if view.line == 9]
    assert len(of_helper) == 8


def test_counts_go_with_their_lines() -> None:
    counts = {2: 20, 3: 30, 4: 40}
    assert carried(counts, "a\nb\nc\nd", "a\nb\nc\nd") == counts
    assert carried(counts, "a\nb\nc\nd", "a\nb\nc x\nd") == counts
    assert carried(counts, "a\nb\nc\nd", "a\nb\n\nc\nd") == {2: 20, 4: 30, 5: 40}
    assert carried(counts, "a\nb\nc\nd", "a\nb\nd") == {2: 20, 3: 40}
    assert carried(counts, "a\nb\nc\nd", "a\nb\nx\ny\nd") == {2: 20, 5: 40}
    assert carried(counts, "a\nb\nb\nd", "a\nb\nb\nb\nd") == {2: 20, 3: 30, 5: 40}
    assert carried(counts, "a\nb\nc\nd", "") == {}


def margin(e: Explorer) -> dict[int, str]:
    """What stands beside the numbers of the lines in view."""
    found = {}
    for y in range(e.main.editor.size.height):
        row = e.main.editor.row(y).text
        if row[:2].strip():
            found[int(row[:2])] = row[2:6].strip()
    return {line: text for line, text in found.items() if text}


async def test_counts_stand_beside_the_lines(tmp_path: Path) -> None:
    async with opened(copied(tmp_path, "add.py"), "add_kernel", (160, 50)) as e:
        await e.press("6")
        await settled(e.pilot)
        assert margin(e) == {10: "7", 11: "2", 12: "8", 14: "18", 16: "27", 17: "25", 19: "27"}
        assert "lines in PTX" in e.heading("source")
        assert "14  18      mask = offs < n" in screen(e)
        await e.press("4")
        await settled(e.pilot)
        assert margin(e) == {10: "3", 11: "1", 12: "6", 14: "3", 16: "2", 17: "2", 19: "6"}
        assert "lines in CUDA" in e.heading("source")
        before = e.written
        await e.press("j")
        assert await settled(e.pilot) - before <= 4000
        e.main.select_stage("ssa", "opt/dce")
        await e.press("3")
        await settled(e.pilot)
        assert "lines in opt/dce" in e.heading("source")
        assert margin(e)[19] == "3"


async def test_more_than_two_digits_are_not_told(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        await settled(e.pilot)
        e.main.editor.count(LineCounts("ptx", {6: 99, 7: 100, 8: 20_000}))
        await settled(e.pilot)
        assert margin(e) == {6: "99", 7: "99+", 8: "99+"}


async def test_they_go_with_their_lines_while_one_types(tmp_path: Path, painted: Counter[str]) -> None:
    async with opened(copied(tmp_path, "add.py"), "add_kernel", (160, 50)) as e:
        e.main.go_to_pane("source")
        e.main.editor.go_to(14, 20)
        await e.press("end")
        await settled(e.pilot)
        painted.clear()
        await e.press("x")
        await settled(e.pilot)
        assert painted["editor"] == 1
        assert margin(e)[14] == "1"
        await e.press("enter", "enter")
        await settled(e.pilot)  # the line that was edited into several is told of when that has compiled
        assert margin(e) == {11: "1", 12: "3", 18: "2", 19: "2", 21: "3"}


async def test_they_are_stale_with_their_listing(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        await e.press("x")
        await e.answer(fail="tree", diagnostic=WRONG)
        await settled(e.pilot)
        assert e.main.editor._counts == LineCounts("ptx", {9: 1}, True)
        assert "lines in PTX  stale" in e.heading("source")
        await e.press("y")
        await e.answer()
        await settled(e.pilot)
        assert e.main.editor._counts == LineCounts("ptx", {9: 1})
        assert "stale" not in e.heading("source")


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_the_palette_and_the_config_file_hide_them(tmp_path: Path, size: tuple[int, int]) -> None:
    async with explorer(tmp_path / "add.py", size, config=Config(counts=False)) as e:
        await e.press(*["down"] * 8)
        await settled(e.pilot)
        assert " 9      a = tl.load" in screen(e)
        assert "lines in" not in e.heading("source")
        await e.main.run_action("counts")
        await settled(e.pilot)
        assert " 9   1      a = tl.load" in screen(e)
        assert "lines in PTX" in e.heading("source")
        await e.main.run_action("counts")
        await settled(e.pilot)
        assert " 9      a = tl.load" in screen(e)


async def test_a_narrow_editor_has_none(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (38, 24)) as e:
        await e.press(*["down"] * 8)
        await settled(e.pilot)
        assert " 9      a = tl.load" in screen(e)
        assert "lines in" not in e.heading("source")
        await e.pilot.resize_terminal(80, 24)
        await settled(e.pilot)
        assert " 9   1      a = tl.load" in screen(e)
        assert "lines in PTX" in e.heading("source")
