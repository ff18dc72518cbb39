"""The table of actions: every key is one, does one thing, is described, and is in the README's table."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from textual.keys import Keys

from explorer.actions import ACTIONS, MOVES, Action, bar_width, key_bar, key_table, shown_key
from explorer.model.keys import SIGNS
from explorer.model.panes import TITLES
from explorer.screens.help import help_lines
from explorer.screens.main import MainScreen
from explorer.screens.notation import PANES
from explorer.widgets.code_view import CodeView
from tests.explorer.explorer_support import explorer

NAMED = {key.value for key in Keys} | {"space", *SIGNS}
#: What a terminal sends as something else, or keeps for itself; the last two are the prefixes of screen and of tmux.
LYING = {"ctrl+i", "ctrl+m", "ctrl+h", "ctrl+j", "ctrl+left_square_bracket", "esc", "f11", "ctrl+a", "ctrl+b"}
EVERY = (*ACTIONS, *MOVES)


@pytest.mark.parametrize("action", EVERY, ids=lambda a: a.name)
def test_each_key_is_a_real_one_and_the_action_is_described(action: Action) -> None:
    for key in (*action.letters, *action.keys):
        name = key.removeprefix("alt+")  # a terminal sends escape before it
        assert name in NAMED or len(name) == 1, key
        assert key not in LYING
    assert action.help
    assert action.group
    assert len(action.label) <= 8


def test_each_key_is_used_once_in_its_scope() -> None:
    letters = [key for action in EVERY for key in action.letters]
    keys = [key for action in EVERY for key in action.keys]
    assert len(letters) == len(set(letters))
    assert len(keys) == len(set(keys))


def test_each_action_is_a_method() -> None:
    for actions, owner in ((ACTIONS, MainScreen), (MOVES, CodeView)):
        for action in actions:
            assert callable(getattr(owner, "action_" + action.name.split("(")[0])), action.name


def test_each_global_action_can_be_done_while_typing() -> None:
    for action in ACTIONS:  # by a key, or by its name in the palette
        assert action.help
        assert all(len(key) > 1 for key in action.keys), action.name


def test_the_key_bar_names_keys_that_work_where_one_is() -> None:
    typing, reading = key_bar(True, 200), key_bar(False, 200)
    assert ("run", "F8", "run") in typing
    assert ("run", "r", "run") in reading
    assert ("backend", "b", "backend") in reading
    assert all(len(key) > 1 for _, key, _ in typing)
    for width in (40, 80, 120):
        for bar in (key_bar(True, width), key_bar(False, width)):
            assert sum(map(bar_width, bar)) <= width
            assert bar[-1][0] == "quit"


def test_the_table_for_the_readme_has_every_key() -> None:
    table = key_table()
    for action in EVERY:
        for key in (*action.letters, *action.keys):
            assert f"`{shown_key(key)}`" in table


def test_the_readme_has_the_table() -> None:
    readme = Path(__file__).parents[2] / "README.md"
    assert key_table() in readme.read_text()


def test_the_help_fits_its_width() -> None:
    lines = help_lines("source", 60)
    assert max(map(len, lines)) <= 60
    at = next(i for i, line in enumerate(lines) if "Run the example" in line)
    assert lines[at + 1].startswith(" " * 20), "continued below the text"
    for pane in PANES:
        assert " ".join(" ".join(help_lines(pane, 77)).split()) == " ".join(" ".join(help_lines(pane)).split())


@pytest.mark.parametrize("pane", PANES)
def test_the_help_begins_with_the_pane_in_focus_and_has_every_key_once(pane: str) -> None:
    lines = help_lines(pane)
    assert lines[0] == f"This pane: {TITLES[pane]}"
    assert lines.index("How to read it") < lines.index("Keys of this pane") < lines.index("The screen")
    for action in EVERY:
        assert sum(line.endswith(f" {action.help}") for line in lines) == 1, action.help
    own = lines[lines.index("Keys of this pane") : lines.index("The screen")]
    assert any("Find text in the listing" in line for line in own) == (pane != "source")


async def test_the_help_can_be_searched(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (80, 24)) as e:
        await e.press("escape", "6", "question_mark")
        view = e.app.screen.query_one(CodeView)
        assert view.lines[0] == "This pane: PTX / SASS"
        assert "it stalls 5 cycles" in " ".join(" ".join(view.lines[:20]).split())
        await e.press("slash", *"stage", "enter")
        first = view.cursor
        assert "stage" in view.lines[first].lower()
        await e.press("n")
        assert view.cursor > first
        assert "stage" in view.lines[view.cursor].lower()
        await e.press("N", "slash", "escape")
        assert view.cursor == first
        assert e.app.screen is not e.main, "escape left the search only"
        await e.press("escape")
        assert e.app.screen is e.main


def test_parts_of_the_main_screen_replace_nothing_of_each_other_by_accident() -> None:
    parts = [part for part in MainScreen.__mro__ if part.__module__.startswith("explorer.")]
    for number, part in enumerate(parts):
        for name, member in vars(part).items():
            later = [p.__name__ for p in parts[number + 1 :] if name in vars(p)]
            if later and inspect.isfunction(member) and not name.startswith(("__", "on_", "compose")):
                assert "super()." in inspect.getsource(member), f"{part.__name__}.{name} hides that of {later}"
