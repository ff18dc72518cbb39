"""Completion in the editor, by key."""

from __future__ import annotations

from pathlib import Path

import pytest

from mytriton.frontend.not_yet import NOT_YET
from tests.explorer.explorer_support import SOURCE, Explorer, explorer, screen, settled


def shown(e: Explorer) -> list[str]:
    """The names in the list."""
    popup = e.main.editor.popup
    return [entry.name for entry in popup.entries] if popup is not None else []


async def new_line(e: Explorer) -> None:
    await e.press("alt+g", *"8", "enter", "end", "enter")


async def test_a_dot_after_the_alias_brings_up_the_list_and_typing_narrows_it(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (80, 24)) as e:
        await new_line(e)
        await e.press(*"tl.")
        assert shown(e)[:2] == ["abs", "add"]
        await e.press("l")
        assert shown(e)[0] == "load"
        await settled(e.pilot)
        rows = screen(e).splitlines()
        assert next(row for row in rows if "> load " in row).split()[-3:] == ["load", "function", "|"]
        about = next(row for row in rows if "load(pointer" in row)
        assert f"1/{len(shown(e))}" in about
        await e.press("o", "g")
        assert shown(e)[:2] == ["log", "log2"]
        await e.press("down", "tab")
        assert e.main.editor.text.split("\n")[8] == "    tl.log2"
        assert shown(e) == []
        await e.press("ctrl+z")
        assert e.main.editor.text.split("\n")[8] == "    tl.log", "one step of undo"


async def test_escape_closes_the_list_and_enter_accepts(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (80, 24)) as e:
        await new_line(e)
        await e.press(*"tl.sto", "escape")
        assert shown(e) == []
        assert e.main.editor.has_focus
        await e.press("ctrl+@")
        assert shown(e)[0] == "store"
        await e.press("enter")
        assert e.main.editor.text.split("\n")[8] == "    tl.store"
        await e.press("enter", "x")
        assert e.main.editor.text.split("\n")[9] == "    x", "without a list it is a new line"
        await e.press(*" = tl.floor")
        assert shown(e)[0] == "floor"
        await e.press("enter", "y")
        assert e.main.editor.text.split("\n")[9:11] == ["    x = tl.floor", "    y"], "nothing was left to accept"


async def test_what_is_not_in_the_language_yet_is_marked(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (80, 24)) as e:
        await new_line(e)
        name = min(NOT_YET, key=len)
        await e.press(*f"tl.{name}")
        assert shown(e)[0] == name
        await settled(e.pilot)
        assert any(row.split()[-3:] == ["not", "yet", "|"] for row in screen(e).splitlines())
        assert any(f"not yet: {NOT_YET[name]}"[:40] in row for row in screen(e).splitlines())


async def test_names_are_offered_when_asked(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (120, 40)) as e:
        await new_line(e)
        await e.press(*"ma")
        assert shown(e) == []
        await e.press("ctrl+@")
        assert shown(e) == ["mask", "max"]
        await e.press("enter")
        assert e.main.editor.text.split("\n")[8] == "    mask"


@pytest.mark.parametrize("text", ["# tl.", '"tl.', "x."])
async def test_no_list_where_there_is_nothing_of_ours(tmp_path: Path, text: str) -> None:
    async with explorer(tmp_path / "add.py") as e:
        await new_line(e)
        await e.press(*text)
        assert shown(e) == []


async def test_the_list_goes_with_the_cursor_and_the_focus(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        await new_line(e)
        await e.press(*"tl.", "left")
        assert shown(e) == []
        await e.press("right", "ctrl+@")
        assert shown(e)
        await e.press("space")
        assert shown(e) == []
        await e.press("backspace", "ctrl+@")
        assert shown(e)
        e.main.go_to_pane("ssa")
        await e.pilot.pause()
        assert shown(e) == []


async def test_the_call_is_told_while_it_is_typed(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (80, 24)) as e:
        await new_line(e)
        await e.press(*"tl.where(")
        assert e.line("#keys").startswith(" tl.where(condition, x, y)  ")
        await e.press(*"mask, ")
        assert e.main.editor.call is not None and e.main.editor.call.active == 1
        await e.press(*"0, 1)")
        assert e.line("#keys").startswith(" esc panes")
        await e.press("left")
        assert e.line("#keys").startswith(" esc panes"), "only while it is typed, or asked for"
        await e.press("ctrl+@")
        assert e.line("#keys").startswith(" tl.where(")
        await e.press("up")
        assert e.line("#keys").startswith(" esc panes")


async def test_the_list_does_not_repaint_the_screen(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (120, 40)) as e:
        await new_line(e)
        await e.press(*"tl.")
        assert shown(e)
        await e.press("backspace")
        await e.answer()
        for key, limit in ((".", 2048), ("down", 1024), ("l", 2048), ("escape", 2048)):
            before = await settled(e.pilot)
            await e.pilot.press(key)
            assert await settled(e.pilot) - before <= limit, key


async def test_on_the_last_row_the_list_is_above(tmp_path: Path) -> None:
    path = tmp_path / "add.py"
    path.write_text(SOURCE + "\n" * 30 + "x = tl")
    async with explorer(path, (80, 24)) as e:
        await e.press("ctrl+end", ".")
        await settled(e.pilot)
        rows = screen(e).splitlines()
        last = next(i for i, row in enumerate(rows) if "x = tl." in row)
        assert "> abs" in "\n".join(rows[:last])
        assert "tl." not in rows[last + 1]
