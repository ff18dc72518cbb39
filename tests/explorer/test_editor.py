"""The keys of the editor, pressed."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.model.files import Swap
from tests.explorer.explorer_support import SOURCE, Explorer, explorer


def put(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def cursor(e: Explorer) -> tuple[int, int]:
    return e.main.editor.cursor_location


async def undone_at_once(e: Explorer, before: str) -> None:
    """One undo takes the last command back, one redo does it again."""
    after = e.main.editor.text
    await e.press("ctrl+z")
    assert e.main.editor.text == before
    await e.press("ctrl+y")
    assert e.main.editor.text == after


async def test_enter_indents_and_backspace_takes_a_step_back(tmp_path: Path) -> None:
    async with explorer(put(tmp_path / "a.py", "def f():")) as e:
        await e.press("end", "enter", "x", "enter", "backspace", "y")
        assert e.main.editor.text == "def f():\n    x\ny"


async def test_tab_indents_and_shift_tab_takes_a_level_away(tmp_path: Path) -> None:
    text = "if a:\n  b\n\nc"
    async with explorer(put(tmp_path / "a.py", text)) as e:
        await e.press("right", "tab")
        assert e.main.editor.text == "i   f a:\n  b\n\nc", "blanks up to the next level"
        await e.press("ctrl+z", "home", "shift+down", "shift+down", "tab")
        assert e.main.editor.text == "    if a:\n    b\n\nc"
        await undone_at_once(e, text)
        await e.press("shift+tab")
        assert e.main.editor.text == "if a:\nb\n\nc"
        assert e.main.editor.has_focus


async def test_tab_passes_through_the_editor_until_a_key_is_pressed_in_it(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (80, 24)) as e:
        await e.press("tab")
        assert e.main.editor.text == "    " + SOURCE, "it did not come there by passing"
        await e.press("ctrl+z", "escape", "tab")
        assert e.main.editor.has_focus
        await e.press("shift+tab")
        assert e.main.focused_pane.name == "ssa"
        await e.press("tab", "tab")
        assert e.main.focused_pane.name == "ssa"
        assert e.main.editor.text == SOURCE
        await e.press("tab", "end", "tab")
        assert e.main.editor.text == SOURCE.replace("\n", " \n", 1), "from now on it is being edited"
        await e.press("escape")
        assert e.main.focused_pane.name == "ssa", "the way out"


async def test_comments(tmp_path: Path) -> None:
    text = "def f():\n    a = 1\n    b = 2\n"
    async with explorer(put(tmp_path / "a.py", text)) as e:
        await e.press("down", "shift+down", "shift+down", "ctrl+underscore")
        assert e.main.editor.text == "def f():\n    # a = 1\n    # b = 2\n"
        await undone_at_once(e, text)
        await e.press("ctrl+slash")
        assert e.main.editor.text == text


async def test_lines_are_moved_and_duplicated(tmp_path: Path) -> None:
    async with explorer(put(tmp_path / "a.py", "a\nb\nc")) as e:
        await e.press("alt+down")
        assert (e.main.editor.text, cursor(e)) == ("b\na\nc", (1, 0))
        await undone_at_once(e, "a\nb\nc")
        await e.press("alt+down", "alt+down", "alt+up")
        assert e.main.editor.text == "b\na\nc"
        await e.press("alt+d")
        assert (e.main.editor.text, cursor(e)) == ("b\na\na\nc", (2, 0))
        await undone_at_once(e, "b\na\nc")


async def test_going_to_a_line_of_the_source_and_of_a_listing(tmp_path: Path) -> None:
    messages: list[str] = []
    async with explorer(tmp_path / "add.py") as e:
        e.app.notify = lambda message, **_: messages.append(message)  # type: ignore[method-assign]
        await e.press("alt+g", *"9:5", "enter")
        assert cursor(e) == (8, 4)
        await e.press("alt+g", *"+2", "enter")
        assert cursor(e) == (10, 0)
        await e.press("alt+g", *"99", "escape")
        assert cursor(e) == (10, 0)
        await e.press("escape", ":", *":4", "enter")
        assert e.main.focused_pane.name == "ssa"
        assert e.main.panes["ssa"].body.cursor == 3  # type: ignore[union-attr]
        assert e.main.line == 7, "what is linked follows"
        await e.press(":", "x", "enter")
        assert messages == ["'x' is not a line: write 12, 12:5, +3, -3 or $"]


# Save as


async def save_as(e: Explorer, name: str, *keys: str) -> None:
    await e.press("escape", "S")
    e.app.screen.query_one("Input").value = name  # type: ignore[attr-defined]
    await e.press("enter", *keys)


async def test_saving_under_another_name_goes_on_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path / "add.py", SOURCE)
    path.chmod(0o750)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    async with explorer(path) as e:
        await e.press("x")
        e.main.write_swap()
        await save_as(e, "~/other.py")
        other = tmp_path / "other.py"
        assert (other.read_text(), path.read_text()) == ("x" + SOURCE, SOURCE)
        assert other.stat().st_mode & 0o777 == 0o750, "as the file it was"
        assert e.line("#header").startswith(" other.py > add_kernel")
        assert e.engine.compiled[-1].path == str(other)
        await e.press("1", "y", "ctrl+s")
        assert (other.read_text(), path.read_text()) == ("xy" + SOURCE, SOURCE)
        await e.press("z")
        e.main.write_swap()
        e.main.swap.close()  # as when the process is gone
        recovered = Swap(str(other)).recover(other.read_text())
        assert recovered is not None and recovered.text == "xyz" + SOURCE
        assert Swap(str(path)).recover(SOURCE) is None, "the swap file moved along"


async def test_saving_under_a_name_that_is_taken_asks(tmp_path: Path) -> None:
    theirs = put(tmp_path / "theirs.py", "precious")
    link = tmp_path / "link.py"
    link.symlink_to(theirs)
    async with explorer(tmp_path / "add.py") as e:
        await save_as(e, str(link), "c")
        assert theirs.read_text() == "precious"
        assert e.main.file.path.name == "add.py"
        await save_as(e, str(link), "o")
        assert link.is_symlink() and theirs.read_text() == SOURCE
        assert e.main.file.path == link


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "{} is a folder; name a file in it."),
        ("/missing/a.py", "There is no folder {}/missing."),
        ("/add.py/a.py", "[Errno 20] Not a directory"),
    ],
)
async def test_a_name_that_cannot_be_saved_under_changes_nothing(tmp_path: Path, name: str, said: str) -> None:
    messages: list[str] = []
    async with explorer(tmp_path / "add.py") as e:
        e.app.notify = lambda message, **_: messages.append(message)  # type: ignore[method-assign]
        await e.press("x")
        await save_as(e, f"{tmp_path}{name}")
        assert messages[-1].startswith(said.format(tmp_path))
        assert e.main.file.path == tmp_path / "add.py"
        assert e.main.dirty
        assert (tmp_path / "add.py").read_text() == SOURCE
        e.main.write_swap()
        assert e.main.swap.file.exists()
