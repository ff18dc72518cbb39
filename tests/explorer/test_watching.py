"""An editor in another window drives the explorer; unsaved edits are never given up for it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from explorer.screens.watching import WATCH_EVERY
from tests.explorer.explorer_support import SOURCE, Explorer, explorer


async def until(e: Explorer, holds: Callable[[], bool]) -> None:
    for _ in range(100):
        if holds():
            break
        await asyncio.sleep(WATCH_EVERY / 4)
    assert holds()
    await e.pilot.pause()


def notes(e: Explorer) -> list[str]:
    return [f"{n.title} {n.message}" for n in e.app._notifications]


async def test_what_another_editor_writes_is_read_and_compiled(tmp_path: Path) -> None:
    path = tmp_path / "add.py"
    async with explorer(path) as e:
        e.main.editor.move_cursor((5, 3))
        path.write_text(SOURCE.replace("a + b", "a * b"))
        await until(e, lambda: "a * b" in e.main.editor.text)
        assert e.engine.opened[-1] == SOURCE.replace("a + b", "a * b"), "it is executed again, as if it had been saved"
        await until(e, lambda: "a * b" in e.engine.compiled[-1].text)
        assert not e.main.dirty
        assert e.main.editor.cursor_location == (5, 3)
        path.with_suffix(".new").write_text(SOURCE)  # as editors do: another file in its place
        path.with_suffix(".new").replace(path)
        await until(e, lambda: e.main.editor.text == SOURCE)


async def test_a_file_that_is_half_written_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "add.py"
    async with explorer(path) as e:
        path.unlink()
        await asyncio.sleep(3 * WATCH_EVERY)
        assert e.main.editor.text == SOURCE
        assert notes(e) == []
        path.write_text(SOURCE + "# more\n")
        await until(e, lambda: e.main.editor.text == SOURCE + "# more\n")


async def test_unsaved_edits_are_kept_and_said_once(tmp_path: Path) -> None:
    path = tmp_path / "add.py"
    async with explorer(path) as e:
        await e.press("x")
        mine = e.main.editor.text
        path.write_text(SOURCE + "# theirs\n")
        await until(e, lambda: any("changed by another program" in note for note in notes(e)))
        await asyncio.sleep(3 * WATCH_EVERY)
        assert len(notes(e)) == 1
        assert e.main.editor.text == mine
        await e.press("ctrl+s", "r")
        await until(e, lambda: e.main.editor.text == SOURCE + "# theirs\n")


async def test_saving_here_is_no_change_from_outside(tmp_path: Path) -> None:
    path = tmp_path / "add.py"
    async with explorer(path) as e:
        await e.press("x", "ctrl+s")
        await until(e, lambda: path.read_text() != SOURCE)
        opened = len(e.engine.opened)
        await asyncio.sleep(4 * WATCH_EVERY)
        assert len(e.engine.opened) == opened
        path.touch()
        await asyncio.sleep(4 * WATCH_EVERY)
        assert len(e.engine.opened) == opened, "the same text is no change"


async def test_a_pipe_in_the_place_of_the_file_is_not_waited_for(tmp_path: Path) -> None:
    async with explorer(tmp_path / "k.py") as e:
        (tmp_path / "k.py").unlink()
        os.mkfifo(tmp_path / "k.py")
        assert e.main.file.changed_on_disk() == (
            f"The file cannot be read any more: [Errno 22] It is not a regular file: '{tmp_path / 'k.py'}'."
        )
        await e.press("#", "ctrl+s", "o")
        assert (tmp_path / "k.py").read_text() == f"#{SOURCE}"
