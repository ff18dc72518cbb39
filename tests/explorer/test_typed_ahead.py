"""Keys that come faster than the screen follows, as over a slow line, act in their order and where they belong."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events
from textual.widgets import Input

from tests.explorer.explorer_support import SOURCE, Explorer, explorer, settled


async def at_once(e: Explorer, *keys: str) -> None:
    """Keys that come together, before the first of them is through."""
    for key in keys:
        e.app.post_message(events.Key(key, key if len(key) == 1 else None))
    await settled(e.pilot)


async def test_what_follows_the_key_of_the_search_is_looked_for(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        await e.press("escape", "3")
        for _ in range(2):  # the field is made the first time
            await at_once(e, "slash", *"load", "enter", "n")
            assert e.app.screen is e.main, "l, o, a and d are no commands here"
            assert e.main.find_bar.query_text == "load"
            assert e.main.panes["ssa"].body.cursor == 6
            await e.press("g")


async def test_what_follows_the_key_of_a_dialog_is_for_the_dialog(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        await e.press("escape")
        await at_once(e, "w", *"q.r")
        assert e.app.screen.query_one(Input).value == "q.r"
        await e.press("escape", "1")
        await at_once(e, "f3", "7")
        assert e.main.focused_pane.name == "stages"
        await e.press("1")
        await at_once(e, "ctrl+p", *"cpu")
        assert e.app.screen.query_one(Input).value == "cpu"
        assert e.main.editor.text == SOURCE


async def test_what_follows_the_key_of_the_source_is_typed_there(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (80, 24)) as e:
        await e.press("escape", "7", "z")
        await at_once(e, "z", "1", *"#e")
        assert e.app.screen is e.main, "e is no command here"
        assert e.main.editor.text == "#e" + SOURCE


@pytest.mark.parametrize("keys", ["qe", "qF", "qa", "eq", "qq"])
async def test_what_follows_the_key_that_quits_opens_nothing_that_fails(tmp_path: Path, keys: str) -> None:
    async with explorer(tmp_path / "add.py") as e:
        await e.press("escape")
        for key in keys:
            e.app.post_message(events.Key(key, key))
        await e.pilot.pause(0.5)
        assert e.app._exit is (keys != "eq"), "in a dialog q is no command"
