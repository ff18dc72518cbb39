"""A stage as a diff against the one before it, and as the log of its changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from explorer.model.backend_result import Result
from explorer.model.result import ChangeView, LineView, StageView
from explorer.model.story import Mark, changed_stage, told
from tests.explorer.explorer_support import SSA, explorer

NAMES = ("ssa", "opt/fold", "opt/cse", "opt/dce")


def result(*stages: StageView) -> Result:
    return Result(planned=tuple(s.name for s in stages), stages={s.name: s for s in stages}, finished=True)


def stage(name: str, texts: list[str], status: str = "ok", changes: tuple[ChangeView, ...] = ()) -> StageView:
    lines = tuple(LineView(text, number) for number, text in enumerate(texts, 1))
    return StageView(name, "ir", "ssa", status, lines=lines, changes=changes)  # type: ignore[arg-type]


def test_a_diff_marks_what_changed_and_folds_the_rest() -> None:
    old = [f"%{i} = load x{i} : f32" for i in range(40)]
    new = [*old[:20], "%20 = load y : f32", *old[21:], "store x0, %39"]
    ours = result(stage("ssa", old), stage("opt/fold", new))
    story = told(ours, NAMES[:2], ours.stages["opt/fold"], "diff")
    assert story is not None
    assert story.note == "diff against ssa"
    assert [line.text for line in story.lines] == [
        "... 17 lines the same ...",
        *old[17:21],
        "%20 = load y : f32",
        *old[21:24],
        "... 13 lines the same ...",
        *old[37:],
        "store x0, %39",
    ]
    marks = {story.lines[i].text: mark for i, mark in enumerate(story.marks) if mark is not None}
    assert marks == {
        "%20 = load x20 : f32": Mark("-", "removed", ((11, 14),)),
        "%20 = load y : f32": Mark("+", "added", ((11, 12),)),
        "store x0, %39": Mark("+", "added"),
    }
    assert [line.line for line in story.lines][4:6] == [21, 21]


def test_a_stage_is_compared_with_the_last_one_of_its_language() -> None:
    ours = result(
        stage("ssa", ["a"]), replace(stage("mlir/emit", ["b"]), language="mlir"), stage("opt/cse", ["a", "c"])
    )
    story = told(ours, ("ssa", "mlir/emit", "opt/cse"), ours.stages["opt/cse"], "diff")
    assert story is not None
    assert story.note == "diff against ssa"
    first = told(ours, ("ssa", "mlir/emit", "opt/cse"), ours.stages["mlir/emit"], "diff")
    assert first is not None
    assert (first.note, first.marks) == ("diff: the first of its kind", ())
    assert told(ours, NAMES, ours.stages["ssa"], "text") is None


def test_the_log_says_what_and_why_and_leads_to_the_source() -> None:
    change = ChangeView("cse", "merge", "%4 = mul %1, 2 : i32", "%3", "same as %3", 7)
    gone = ChangeView("dce", "unused", "%5 = load x : f32", "", "unused", None)
    ours = result(stage("opt/cse", ["a"], changes=(change, gone)), stage("opt/dce", ["a"], "no change"))
    story = told(ours, NAMES, ours.stages["opt/cse"], "log")
    assert story is not None
    assert [(line.text, line.line) for line in story.lines] == [
        ("line 7: %4 = mul %1, 2 : i32", 7),
        ("    -> %3    same as %3  (cse/merge)", 7),
        ("%5 = load x : f32", None),
        ("    dropped    unused  (dce/unused)", None),
    ]
    nothing = told(ours, NAMES, ours.stages["opt/dce"], "log")
    assert nothing is not None
    assert [line.text for line in nothing.lines] == ["nothing changed"]


def test_stages_without_changes_are_passed_over() -> None:
    ours = result(
        stage("ssa", ["a"]),
        stage("opt/fold", ["a"], "no change"),
        stage("opt/cse", ["b"]),
        stage("opt/dce", [], "skipped"),
    )
    assert changed_stage(ours, NAMES, "ssa", 1) == "opt/cse"
    assert changed_stage(ours, NAMES, "opt/cse", 1) == "opt/cse"
    assert changed_stage(ours, NAMES, "opt/dce", -1) == "opt/cse"
    assert changed_stage(ours, NAMES, "opt/cse", -1) == "ssa"


def test_a_change_below_a_few_lines_is_in_sight() -> None:
    old = [f"%{i} = load x{i} : f32" for i in range(9)]
    ours = result(stage("ssa", old), stage("opt/fold", [*old[:8], "%8 = load y : f32"]))
    story = told(ours, NAMES[:2], ours.stages["opt/fold"], "diff")
    assert story is not None
    texts = [line.text for line in story.lines]
    assert texts == ["... 5 lines the same ...", *old[5:], "%8 = load y : f32"]


async def test_keys(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", size=(200, 60)) as e:
        await e.press("escape", "3")
        assert e.heading("ssa").startswith(">3 SSA > opt/dce")
        await e.press("d")
        assert "diff against opt/fold" in e.main.panes["ssa"].heading.text
        assert e.lines("ssa") == [line.text for line in SSA], "nothing to fold around"
        await e.press("d")
        assert e.lines("ssa") == ["this stage keeps no log of changes"]
        await e.press("d")
        assert e.lines("ssa") == [line.text for line in SSA]
        await e.press("left_curly_bracket")
        assert e.heading("ssa").startswith(">3 SSA > ssa"), "fold changed nothing"
        await e.press("right_curly_bracket")
        assert e.heading("ssa").startswith(">3 SSA > opt/dce")
