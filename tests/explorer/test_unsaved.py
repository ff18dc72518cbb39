"""Nothing a user typed is lost without being told to."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from explorer.launch import unsaved
from explorer.model.files import Swap
from tests.explorer.explorer_support import SOURCE, explorer


async def test_saving_writes_the_text_and_reads_the_module_again(tmp_path: Path) -> None:
    path = tmp_path / "add.py"
    async with explorer(path) as e:
        await e.press("x", "ctrl+s")
        assert path.read_text() == "x" + SOURCE
        assert e.engine.opened[-1] == "x" + SOURCE
        assert "[edited]" not in e.line("#header")


async def test_the_keys_for_the_ends_of_the_text(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        await e.press("down", "ctrl+end")
        assert e.main.editor.cursor_location == e.main.editor.document.end
        await e.press("ctrl+home")
        assert e.main.editor.cursor_location == (0, 0)


async def test_a_file_changed_on_disk_is_not_overwritten_unasked(tmp_path: Path) -> None:
    path = tmp_path / "add.py"
    async with explorer(path) as e:
        await e.press("x")
        path.write_text("# theirs\n")
        await e.press("ctrl+s")
        await e.press("c")
        assert path.read_text() == "# theirs\n"
        assert e.main.editor.text == "x" + SOURCE
        await e.press("ctrl+s")
        await e.press("r")
        assert e.main.editor.text == "# theirs\n"
        await e.press("y")
        path.write_text("# again\n")
        await e.press("ctrl+s")
        await e.press("o")
        assert path.read_text() == e.main.editor.text != "# again\n"


async def test_a_file_that_vanishes_keeps_its_edits(tmp_path: Path) -> None:
    path = tmp_path / "add.py"
    async with explorer(path) as e:
        await e.press("x")
        path.unlink()
        await e.press("ctrl+s")
        await e.press("o")
        assert path.read_text() == "x" + SOURCE


async def test_a_save_that_fails_keeps_the_edits(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    path = folder / "add.py"
    async with explorer(path) as e:
        await e.press("x")
        path.unlink()
        folder.rmdir()
        await e.press("ctrl+s")
        await e.press("o")
        assert "[edited]" in e.line("#header")
        recovered = Swap(str(path)).file.parent.glob("*.json")
        assert len(list(recovered)) == 1


async def test_quitting_with_edits_asks(tmp_path: Path) -> None:
    path = tmp_path / "add.py"
    async with explorer(path) as e:
        await e.press("x", "ctrl+q")
        await e.press("escape")
        assert e.app.is_running
        await e.press("f10")
        await e.press("s")
        assert path.read_text() == "x" + SOURCE
    assert not e.app.is_running


async def test_quitting_can_discard(tmp_path: Path) -> None:
    path = tmp_path / "add.py"
    async with explorer(path) as e:
        await e.press("x", "f10")
        await e.press("d")
    assert path.read_text() == SOURCE
    assert Swap(str(path)).recover(SOURCE) is None
    assert e.engine.closed == 1


async def test_without_edits_quitting_is_one_key(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        await e.press("escape", "q")
        assert not e.app.is_running


async def test_edits_of_a_lost_session_are_offered(tmp_path: Path) -> None:
    path = tmp_path / "add.py"
    path.write_text(SOURCE)
    lost = Swap(str(path))
    lost.write("# lost\n" + SOURCE)
    lost.close()
    async with explorer(path) as e:
        await e.press("r")
        assert e.main.editor.text == "# lost\n" + SOURCE
        assert "[edited]" in e.line("#header")
        assert path.read_text() == SOURCE
        await e.press("ctrl+z")
        assert e.main.editor.text == SOURCE


async def test_unsaved_edits_are_kept_aside_while_typing(tmp_path: Path) -> None:
    path = tmp_path / "add.py"
    async with explorer(path) as e:
        await e.press("x")
        e.main.write_swap()
        e.main.swap.close()  # as when the process is gone
        recovered = Swap(str(path)).recover(SOURCE)
        assert recovered is not None
        assert recovered.text == "x" + SOURCE


def test_a_hang_up_keeps_what_was_just_typed(tmp_path: Path) -> None:
    path = tmp_path / "add.py"
    path.write_text(SOURCE)
    code = (
        "from explorer.app import ExplorerApp; from explorer.model.settings import Settings\n"
        "from tests.explorer.explorer_support import FakeEngine\n"
        f"ExplorerApp(Settings({str(path)!r}), engine=FakeEngine).run()"
    )
    terminal, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=inner,
        stdout=inner,
        stderr=inner,
        start_new_session=True,
        env=os.environ | {"PYTHONPATH": os.getcwd()},
    )
    os.close(inner)
    seen = b""
    while b"F1" not in seen:  # the key bar is there
        seen += os.read(terminal, 65536)
    os.write(terminal, b"x")
    while b"[edited]" not in seen:
        seen += os.read(terminal, 65536)
    process.send_signal(signal.SIGHUP)
    limit = time.monotonic() + 20
    while process.poll() is None and time.monotonic() < limit:
        try:
            os.read(terminal, 65536)  # a full pseudo-terminal would hold the process up
        except OSError:
            break
    process.wait(20)
    os.close(terminal)
    recovered = Swap(str(path)).recover(SOURCE)
    assert recovered is not None
    assert recovered.text == "x" + SOURCE


@pytest.mark.parametrize("damage", [{"when": 1e400}, {"when": float("nan")}, {"text": "\ud800"}, {"when": "x"}])
def test_a_damaged_swap_file_recovers_nothing(tmp_path: Path, damage: dict[str, object]) -> None:
    path = tmp_path / "k.py"
    swap = Swap(str(path), tmp_path)
    swap.file.write_text(json.dumps({"path": str(path), "when": 5.0, "text": "edited", **damage}))
    assert Swap(str(path), tmp_path).recover("saved") is None


async def test_edits_that_could_not_be_kept_are_not_said_to_be(tmp_path: Path) -> None:
    async with explorer(tmp_path / "k.py") as e:
        await e.press("#")
        e.main.write_swap()
        assert list(unsaved([e.main])) == ["your unsaved edits are kept; open the file again to get them back"]
        e.main.swap.close()
        e.main.swap = Swap(str(e.main.file.path), tmp_path / "k.py")  # a file where the folder should be
        e.main.write_swap()
        (sentence,) = unsaved([e.main])
        assert sentence.startswith("your last edits of k.py could not be kept: [Errno ")
        e.main.left = True
        assert not list(unsaved([e.main]))
