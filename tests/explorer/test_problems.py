"""Findings in the editor."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from explorer.model.problems import next_place, told, words
from tests.explorer.explorer_support import explorer, screen, settled
from tests.explorer.screens import WRONG

WARNING = replace(WRONG, severity="warning", message="it is slow\nfor a reason", line=7, column=None, hint="")


def test_the_words_behind_a_line_and_the_sentence_about_it() -> None:
    assert words([WRONG]) == "<- expected an expression"
    assert words([WARNING, WRONG]) == "<- expected an expression (and 1 more)", "errors come first"
    assert told([WARNING]) == "warning: it is slow"
    assert told([replace(WRONG, hint="give one")]) == "error: expected an expression; give one"


def test_the_next_place() -> None:
    problems = [WRONG, WARNING, WRONG, replace(WRONG, line=None)]
    assert [next_place(problems, place, 1) for place in ((1, 1), (7, 1), (11, 29), (11, 30))] == [
        (7, 1),
        (11, 30),
        (11, 30),
        (7, 1),
    ]
    assert [next_place(problems, place, -1) for place in ((1, 1), (7, 1), (11, 30))] == [(11, 30), (11, 30), (7, 1)]
    assert next_place([], (1, 1), 1) is None


@pytest.mark.parametrize(("size", "behind"), [((360, 60), "<- expected an expression"), ((120, 40), "")])
async def test_a_finding_is_told_behind_its_line_if_there_is_room(
    tmp_path: Path, size: tuple[int, int], behind: str
) -> None:
    async with explorer(tmp_path / "add.py", size) as e:
        await e.press("x")
        await e.answer(fail="tree", diagnostic=WRONG)
        await settled(e.pilot)
        row = next(row for row in screen(e).splitlines() if row.startswith("11    E"))
        assert row.removeprefix("11    E     tl.store(out + offs, a + b, mask=mask)")[:27].strip() == behind


async def test_a_finding_is_told_below_at_the_cursor(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (120, 40)) as e:
        await e.press("x")
        await e.answer(fail="tree", diagnostic=replace(WRONG, hint="give one"))
        await settled(e.pilot)
        assert screen(e).splitlines()[-1].startswith(" esc panes"), "the cursor is elsewhere"
        before = await settled(e.pilot)
        await e.press("alt+n")
        assert await settled(e.pilot) - before <= 4096
        assert e.main.editor.cursor_location == (10, 29)
        assert screen(e).splitlines()[-1].split("  ")[0] == " error: expected an expression; give one"
        await e.press("up")
        assert screen(e).splitlines()[-1].startswith(" esc panes")
        await e.press("escape", "alt+p")
        assert e.main.editor.has_focus
        assert e.main.editor.cursor_location == (10, 29), "from a listing, too"


async def test_no_text_is_moved_or_hidden_by_a_finding(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (80, 24)) as e:
        await e.press(*["down"] * 10, "end")
        e.main.editor.insert("  # a long comment that reaches to the end of the row")
        await e.pilot.pause()
        await e.answer(fail="tree", diagnostic=WRONG)
        await settled(e.pilot)
        row = next(row for row in screen(e).splitlines() if row.startswith("11    E"))
        assert row.endswith("# a long comment that reach")
        assert "<-" not in row, "there is no room"
        await e.press("home")
        assert screen(e).splitlines()[-1].split("  ")[0] == " error: expected an expression"


async def test_without_problems_the_keys_say_so(tmp_path: Path) -> None:
    messages: list[str] = []
    async with explorer(tmp_path / "add.py") as e:
        e.app.notify = lambda message, **_: messages.append(message)  # type: ignore[method-assign]
        await e.press("alt+n")
        assert messages == ["No problems."]
        await e.press("x")
        await e.answer(fail="tree", diagnostic=replace(WRONG, line=None))
        await e.press("alt+n")
        assert e.main.focused_pane.name == "problems"
