"""The keys of the editor, pressed."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events

from explorer.model.files import Swap
from explorer.model.replacing import Search
from tests.explorer.explorer_support import SOURCE, Explorer, explorer, screen, settled


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


async def test_a_new_line_begins_at_the_left_edge(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (100, 30)) as e:
        e.main.editor.go_to(11, 1)
        await e.press(*"# a line that is longer than the editor is wide, so that its end is out of sight", "end")
        assert e.main.editor.scroll_x > 0
        await e.press("enter")
        assert e.main.editor.scroll_x == 0


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


async def test_a_file_that_is_open_here_is_not_saved_over(tmp_path: Path) -> None:
    other = put(tmp_path / "other.py", "precious = 1\n")
    async with explorer(tmp_path / "add.py") as e:
        e.app.open_file(str(other))
        await settled(e.pilot)
        e.app.open_file(str(tmp_path / "add.py"))
        await settled(e.pilot)
        await save_as(e, str(other))
        assert e.app.screen is e.main, "nothing is asked"
        assert (e.main.file.path.name, other.read_text()) == ("add.py", "precious = 1\n")


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


# Find and replace


def selected(e: Explorer) -> tuple[tuple[int, int], tuple[int, int]]:
    start, end = sorted(e.main.editor.selection)
    return start, end


async def test_finding_goes_to_the_first_match_and_counts(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (80, 24)) as e:
        await e.press("alt+g", *"7", "enter", "ctrl+f", *"load")
        assert selected(e) == ((8, 11), (8, 15))
        assert e.line("ReplaceBar .count") == "  1 of 2"
        await e.press("enter")
        assert selected(e) == ((9, 11), (9, 15))
        await e.press("down")
        assert selected(e) == ((8, 11), (8, 15)), "around the end"
        await e.press("up", "backspace", "backspace")
        assert e.line("ReplaceBar .count") == "  5 of 5", "BLOCK has one, too"
        rows = screen(e).splitlines()
        at = next(i for i, row in enumerate(rows) if row.startswith(" find"))
        assert rows[at].split() == ["find", "lo", "[", "]", "case", "[", "]", "regex", "[", "]", "word", "5", "of", "5"]
        assert rows[at + 1].split()[:2] == ["replace", "[all]"]
        await e.press("escape")
        assert e.main.editor.has_focus
        assert selected(e)[0][1] == 11
        await e.press("ctrl+f", "enter")
        assert e.line("ReplaceBar .count") == "  1 of 5", "what is selected is looked for"


async def test_what_counts_as_a_match_is_switched_by_key_and_by_tab(tmp_path: Path) -> None:
    async with explorer(put(tmp_path / "a.py", "ab AB abc a.\n")) as e:
        await e.press("ctrl+f", *"ab")
        assert e.line("ReplaceBar .count") == "  1 of 3"
        await e.press("alt+c")
        assert e.line("ReplaceBar .count") == "  1 of 2"
        await e.press("alt+w")
        assert e.line("ReplaceBar .count") == "  1 of 1"
        await e.press("alt+w", "alt+c", "backspace", "full_stop")
        assert e.line("ReplaceBar .count") == "  1 of 1"
        await e.press("tab", "tab", "tab", "tab", "space")
        assert e.main.replace_bar is not None and e.main.replace_bar.search.regex
        assert e.line("ReplaceBar .count") == "  1 of 4"
        await e.press("tab", "tab", *"(", "shift+tab")
        assert e.line("ReplaceBar .hint").strip() == "missing ), unterminated subpattern"
        assert e.line("ReplaceBar .count") == "  no match"


async def test_replacing_one_by_one_and_all(tmp_path: Path) -> None:
    text = "x = a\ny = a\nz = a\n"
    async with explorer(put(tmp_path / "a.py", text)) as e:
        await e.press("ctrl+f", "a", "tab", "b", "b", "enter")
        assert e.main.editor.text == "x = bb\ny = a\nz = a\n"
        assert selected(e) == ((1, 4), (1, 5))
        assert e.line("ReplaceBar .count") == "  1 of 2"
        await undone_at_once(e, text)
        assert e.line("ReplaceBar .count") == "  2 found", "also from the bar"
        await e.press("ctrl+z", "alt+a")
        assert e.main.editor.text == "x = bb\ny = bb\nz = bb\n"
        assert e.line("ReplaceBar .hint").strip() == "3 replaced; ctrl+z takes it back"
        await e.press("escape")
        await undone_at_once(e, "x = a\ny = a\nz = a\n")


async def test_what_is_typed_right_after_the_key_is_looked_for(tmp_path: Path) -> None:
    async with explorer(put(tmp_path / "a.py", "a b\n")) as e:
        for key in ("ctrl+f", "b"):
            e.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await e.pilot.pause()
        await e.pilot.pause()
        assert e.main.editor.text == "a b\n"
        assert e.main.replace_bar is not None
        assert e.main.replace_bar.find.value == "b"


async def test_a_letter_with_alt_is_not_typed(tmp_path: Path) -> None:
    async with explorer(put(tmp_path / "a.py", "a\n")) as e:
        e.main.editor.post_message(events.Key("alt+x", "x"))  # as terminals send it
        await e.press("ctrl+f", "a")
        e.main.replace_bar.find.post_message(events.Key("alt+c", "c"))  # type: ignore[union-attr]
        await e.pilot.pause()
        assert e.main.replace_bar.search == Search("a", case=True)  # type: ignore[union-attr]
        assert e.main.editor.text == "a\n"


async def test_groups_are_put_in_and_a_bad_one_changes_nothing(tmp_path: Path) -> None:
    async with explorer(put(tmp_path / "a.py", "f(a, b)\n")) as e:
        await e.press("ctrl+f", *r"(\w), (\w)", "alt+r", "tab", *r"\3", "alt+a")
        assert e.main.editor.text == "f(a, b)\n"
        assert e.line("ReplaceBar .hint").strip().startswith("replacement: invalid group reference 3")
        await e.press("backspace", *r"2, \1", "alt+a")
        assert e.main.editor.text == "f(b, a)\n"


async def test_matches_are_marked_and_follow_edits(tmp_path: Path) -> None:
    async with explorer(put(tmp_path / "a.py", "a\na\n")) as e:
        await e.press("ctrl+f", "a")
        assert e.main.editor._found == {0: [(0, 1)], 1: [(0, 1)]}
        e.main.editor.focus()
        await e.press("end", "a")
        assert e.main.editor._found == {0: [(0, 1), (1, 2)], 1: [(0, 1)]}
        await e.press("escape")
        assert e.main.editor._found == {}
        assert not e.main.replace_bar.is_open  # type: ignore[union-attr]
        await e.press("escape", "ctrl+f")
        assert e.main.find_bar.is_open, "in a listing it finds there"


async def test_searching_writes_few_bytes(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (80, 24)) as e:
        await e.press("ctrl+f", "l")
        before = await settled(e.pilot)
        await e.pilot.press("o")
        assert await settled(e.pilot) - before <= 4096
