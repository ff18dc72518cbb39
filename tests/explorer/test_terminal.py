"""The explorer in a real terminal: what a person loses when it goes away, or sends what is no text."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.benchmarks.terminal import Terminal
from tests.explorer.explorer_support import SOURCE

ROOT = Path(__file__).parents[2]


@pytest.fixture
def start(tmp_path: Path) -> Callable[..., Terminal]:
    """Starts an explorer of `add.py` in a folder of its own."""
    path = tmp_path / "add.py"
    path.write_text(SOURCE)

    def start(**env: str) -> Terminal:
        state = {"XDG_STATE_HOME": str(tmp_path / "state"), "PYTHONPATH": str(ROOT)}
        return Terminal([sys.executable, "-m", "explorer", str(path)], 120, 40, {**state, **env})

    return start


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def gone(pid: int) -> bool:
    """Whether a process is over; reaps it if it is ours."""
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def wait_until(condition: Callable[[], bool]) -> None:
    for _ in range(400):
        if condition():
            return
        time.sleep(0.05)
    pytest.fail("20 s were not enough")


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL, None])
def test_edits_come_back_after_a_lost_session(start: Callable[..., Terminal], tmp_path: Path, how: int | None) -> None:
    terminal = start()
    terminal.wait_for("def add_kernel")
    pids = [terminal.pid, *children(terminal.pid)]
    terminal.send("# lost")
    wait_until(lambda: bool(list(tmp_path.glob("state/mytriton-explore/swap/*.json"))))
    time.sleep(0.5)  # the last of the keys
    if how is None:
        terminal.hang_up()
    else:
        os.kill(terminal.pid, how)
    wait_until(lambda: all(gone(pid) for pid in pids))

    with start() as again:
        again.wait_for("Unsaved edits of add.py are left")
        again.send("r")
        again.wait_for("# lostimport mytriton")


def test_input_that_is_not_utf_8_is_dropped(start: Callable[..., Terminal]) -> None:
    with start() as terminal:
        terminal.wait_for("def add_kernel")
        terminal.settle()
        terminal.send_bytes(b"\xff\xfe\xe9")
        terminal.wait_for("The terminal sent something")
        terminal.send("still here")
        terminal.wait_for("still hereimport mytriton")


def test_characters_that_command_a_terminal_are_not_passed_on(start: Callable[..., Terminal], tmp_path: Path) -> None:
    text = "# \x1b[2J\x1b]0;title\x07 \x9b31m \f\n" + SOURCE
    (tmp_path / "add.py").write_text(text)
    with start() as terminal:
        terminal.wait_for("# \ufffd\\[2J\ufffd\\]0;title\ufffd \ufffd31m \ufffd$")
        terminal.send("x")
        terminal.wait_for(r"add.py \[edited\]")
        terminal.send("ctrl+s")
        terminal.wait_for(r"add.py \[edited\]", absent=True)
    assert (tmp_path / "add.py").read_text() == "x" + text


@pytest.mark.parametrize(
    ("term", "why"),
    [("dumb", "TERM=dumb says that this terminal can only print"), ("xterm", "this is a program for a terminal")],
)
def test_where_there_is_no_screen(tmp_path: Path, term: str, why: str) -> None:
    path = tmp_path / "add.py"
    path.write_text(SOURCE)
    command = [sys.executable, "-m", "explorer", str(path)]
    if term == "dumb":
        with Terminal(command, 120, 40, {"PYTHONPATH": str(ROOT), "TERM": term}) as terminal:
            terminal.wait_for(why)
            wait_until(lambda: gone(terminal.pid))
        return
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": term}
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, env=env)
    assert (done.returncode, done.stdout) == (2, "")
    assert why in done.stderr


def test_escape_and_the_key_after_it_are_two_keys_also_where_they_come_together(start: Callable[..., Terminal]) -> None:
    """And not `alt` and that key, which means nothing, or is another country's sign."""
    with start() as terminal:
        terminal.wait_for("def add_kernel")
        terminal.settle()
        terminal.send("escape", "3", "j", "escape", "1", "down", "down", "#x")  # the second one is for a listing
        terminal.wait_for("3 +#x")
        terminal.send("escape", "3", "escape", "/", "load")
        terminal.wait_for("/ load")
        terminal.send("escape", "4")  # out of that field, too
        terminal.wait_for(">4 CUDA")
        terminal.send("escape", "1", "escape", "*", "5")
        terminal.wait_for(">5 MLIR")
        terminal.send("\x1bg")  # alt+g means something
        terminal.wait_for("Go to")
        assert "3      #x\n" in re.sub(" {8,}.*", "", terminal.text()), "nothing else was typed"


def test_keys_that_come_at_once_act_in_their_order(start: Callable[..., Terminal], tmp_path: Path) -> None:
    """As when a slow line, or a moment in which the program was busy, delivers them together."""
    with start() as terminal:
        terminal.wait_for("def add_kernel")
        terminal.settle()
        terminal.send("down", "end", "enter", "N = 12", "left", "backspace", "3", "home", "M", "ctrl+s")
        terminal.wait_for("Saved")
        lines = SOURCE.splitlines(keepends=True)
        assert (tmp_path / "add.py").read_text() == "".join([*lines[:2], "MN = 32\n", *lines[2:]])
        terminal.settle()
        terminal.send("x", "ctrl+q")
        terminal.wait_for("unsaved edits")


def test_what_others_wrote_on_the_screen_goes_when_it_is_asked_for_anew(start: Callable[..., Terminal]) -> None:
    with start() as terminal:
        terminal.wait_for("def add_kernel")
        terminal.settle(1.0)
        before = len(terminal.received)
        terminal.send("down")
        terminal.settle()
        assert b"def add_kernel" not in terminal.received[before:], "only what changes is written"
        before = len(terminal.received)
        terminal.send("f5")
        terminal.settle()
        assert b"add_kernel" in terminal.received[before:]
        assert len(terminal.received) - before > 4000


@pytest.mark.parametrize("size", [(80, 24), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_a_cursor_move_in_any_listing_writes_little(tmp_path: Path, size: tuple[int, int]) -> None:
    path = tmp_path / "add.py"
    path.write_text(SOURCE)
    env = {"XDG_STATE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    with Terminal([sys.executable, "-m", "explorer", str(path), "--no-exec"], *size, env) as terminal:
        terminal.wait_for("= cmp_lt ")
        terminal.send(*["down"] * 5)
        written = {}
        for pane in ("editor", "escape", *"234567"):
            terminal.send(pane if pane != "editor" else "down")
            terminal.settle()
            for key in ("down", "up"):
                before = terminal.bytes
                terminal.send(key)
                terminal.settle(0.15)
                written[pane, key] = terminal.bytes - before
        assert 0 < max(written.values()) <= 4096, written
