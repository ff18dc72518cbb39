"""Searching all panes and stages."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import pytest

from explorer.engine.messages import CompileStarted, StageFinished
from explorer.model.everywhere import CHUNK, LONGEST, MOST, Finding, Place, Text, query, texts
from explorer.model.replacing import BadPattern
from explorer.model.result import LineView
from explorer.screens.searching import SearchScreen
from explorer.widgets.code_view import CodeView
from tests.explorer.explorer_support import STAGES, Explorer, explorer, settled


def searched(lines: list[str], what: str, regex: bool = False) -> list[tuple[str, Place | None]]:
    finding = Finding([Text("ptx (cuda)", Place("asm", "cuda", "ptx", 0), lines)], query(what, regex))
    while not finding.step(1):
        pass
    return finding.rows


def test_lines_are_listed_below_the_stage_that_has_them() -> None:
    rows = searched(["ld.global", "  add", "ld.shared; ld.global"], "LD.".lower())
    assert rows == [
        ("ptx (cuda)  2 lines", None),
        ("      1  ld.global", Place("asm", "cuda", "ptx", 0, 0)),
        ("      3  ld.shared; ld.global", Place("asm", "cuda", "ptx", 2, 0)),
    ]
    assert searched(["a"], "b") == []
    assert searched(["a"], "") == []


def test_letter_case_counts_with_a_capital_and_an_expression_finds_what_matches() -> None:
    lines = ["Add %r1", "add %r22", "sub"]
    assert [place.row for _, place in searched(lines, "add") if place is not None] == [0, 1]
    assert [place.row for _, place in searched(lines, "Add") if place is not None] == [0]
    assert [place.row for _, place in searched(lines, r"%r\d\d$", True) if place is not None] == [1]
    assert [place.column for _, place in searched(lines, r"\S+\d", True) if place is not None] == [4, 4]
    assert [place.row for _, place in searched(lines, "^sub", True) if place is not None] == [2]
    assert searched(lines, r"%r\d\d$") == [], "as it stands"


def test_more_than_a_chunk_and_more_than_is_listed() -> None:
    lines = ["x" if row % 2 else "y" for row in range(3 * MOST)]
    finding = Finding([Text("t", Place("asm", "cuda", "ptx", 0), lines)], query("x", False))
    while not finding.step(1):
        pass
    assert finding.count == 3 * MOST // 2
    assert len(finding.rows) == MOST
    assert finding.rows[CHUNK + 1][1] == Place("asm", "cuda", "ptx", 2 * CHUNK + 1)


@pytest.mark.parametrize(("what", "why"), [("(a+)+$", "takes too long"), ("(", "missing ), unterminated subpattern")])
def test_an_expression_that_is_wrong_or_never_ends_is_said(what: str, why: str) -> None:
    finding = Finding([Text("t", Place("asm", "cuda", "ptx", 0), ["a" * 60 + "b"])], query(what, True))
    before = perf_counter()
    with pytest.raises(BadPattern, match=why.replace("(", r"\(").replace(")", r"\)")):
        finding.step(1)
    assert perf_counter() - before < 20 * LONGEST, "and it was stopped"


async def test_what_backends_share_is_searched_once(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (200, 60)) as e:
        titles = [text.title for text in texts(e.main.session)]
        assert titles == [
            "source", "tree (cuda)", "ssa (cuda)", "opt/fold (cuda)", "opt/dce (cuda)", "layout (cuda)", "cuda (cuda)",
            "ptx (cuda)", "mlir/emit (mlir)", "mlir/convert-gpu-to-nvvm (mlir)", "ptx (mlir)", "problems", "run",
        ]  # fmt: skip


def found(e: Explorer) -> list[str]:
    return list(e.app.screen.query_one(CodeView).lines)


async def ask(e: Explorer, text: str) -> None:
    await e.press(*(("space" if c == " " else c) for c in text))
    await e.app.workers.wait_for_complete()
    await e.pilot.pause()


async def test_a_line_that_is_found_is_gone_to(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (120, 40)) as e:
        await e.press("escape", "3", "d", "F")
        await ask(e, "ctaid")
        assert found(e) == [
            "mlir/convert-gpu-to-nvvm (mlir)  1 line", "      1  %0 = nvvm.read.ptx.sreg.ctaid.x",
            "ptx (mlir)  1 line", "      1  mov.u32 %r1, %ctaid.x;",
        ]  # fmt: skip
        await e.press("enter")
        assert "mlir/convert-gpu-to-nvvm" in e.heading("mlir")
        assert e.main.focused_pane.name == "mlir"
        await e.press("F", "down", "down", "enter")
        assert (e.main.focused_pane.name, e.main.session.backend) == ("asm", "mlir"), "the same again, one further"
        await e.press("F", *["backspace"] * 5)
        await ask(e, "store out")
        assert found(e)[0] == "source  1 line" or found(e)[0].startswith("tree")
        await e.press("down", "down", "enter")
        assert (e.main.focused_pane.name, "SSA > ssa" in e.heading("ssa")) == ("ssa", True)
        view = e.main.panes["ssa"].body
        assert isinstance(view, CodeView)
        assert (view.cursor, view.lines[view.cursor]) == (8, "store out, %3, %7, %4"), "in the text, not in a diff"


async def test_the_source_too_and_nothing_where_it_is_left(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (80, 24)) as e:
        await e.press("escape", "F")
        await ask(e, "cdiv")
        assert found(e) == []
        assert "0 lines" in e.app.screen.query(".count").first().text  # type: ignore[attr-defined]
        await e.press("escape")
        assert e.app.screen is e.main
        await e.press("F", *["backspace"] * 4)
        await ask(e, "program_id")
        await e.press("enter")
        assert e.main.focused_pane.name == "source"
        assert e.main.editor.cursor_location == (5, 13)


async def test_an_expression_by_key(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (120, 40)) as e:
        await e.press("escape", "F", "alt+r")
        await ask(e, "a[")
        await settled(e.pilot)
        assert "unterminated character set" in e.app.screen.query(".count").first().text  # type: ignore[attr-defined]
        await e.press("backspace", "backspace")
        await ask(e, ".x$")
        assert [line for line in found(e) if "gpu." in line] == ["      1  %0 = gpu.block_id x"]


async def test_typing_goes_on_while_long_listings_are_searched(tmp_path: Path) -> None:
    """20,000 lines: between two slices whatever else there is to do is done."""
    async with explorer(tmp_path / "add.py", (120, 40)) as e:
        long = replace(STAGES["cuda"][7], lines=tuple(LineView(f"\tmov.b32 %r{n}, %r{n + 1};") for n in range(20_000)))
        assert long.name == "ptx"
        e.engine.emit(CompileStarted(e.engine.generation, "cuda", "add_kernel", ("source", "ptx"), ""))
        e.engine.emit(StageFinished(e.engine.generation, "cuda", long))
        await e.press("escape", "F")
        assert isinstance(e.app.screen, SearchScreen)
        e.app.screen._field.value = "r1"
        await asyncio.sleep(0)
        others = 0
        while e.app.screen._finding.count < 11_111 and others < 10_000:
            await asyncio.sleep(0)
            others += 1
        assert 20 < others < 10_000
        await e.press("end", "backspace", "backspace")
        await ask(e, "r19999")
        assert found(e)[:2] == ["ptx (cuda)  2 lines", "  19999  mov.b32 %r19998, %r19999;"]
