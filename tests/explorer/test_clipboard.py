"""Copying: what is sent to the terminal, which tool is asked, and that nothing is lost where neither works."""

from __future__ import annotations

import asyncio
import base64
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from explorer.clipboard import LONGEST, copy, osc52, tools
from tests.benchmarks.terminal import Terminal
from tests.explorer.explorer_support import SOURCE, explorer
from tests.explorer.test_terminal import gone

#: What a tool of the test does: keeps its input and how it was called.
KEEPS = 'cat > "$KEPT"; echo "$0 $@" >> "$KEPT.calls"'


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Makes a folder the only one where commands are found, but for those of the shell."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("cat", "sleep"):
        (folder / name).symlink_to(shutil.which(name) or name)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("KEPT", str(tmp_path / "kept"))
    return folder


def make(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


async def copied(text: str, tmp_path: Path, patience: float = 2.0) -> tuple[str, str]:
    """What is said, and what the terminal gets; the file must have the text."""
    sent: list[str] = []
    said = await copy(text, sent.append, os.environ, tmp_path / "state", patience)
    assert (tmp_path / "state" / "copied.txt").read_text() == text
    assert (tmp_path / "state" / "copied.txt").stat().st_mode & 0o777 == 0o600
    return said.replace(str(tmp_path), "TMP"), "".join(sent)


def test_the_sequence_alone_and_through_what_is_in_between() -> None:
    plain = "\x1b]52;c;w6QK\a"
    assert base64.b64decode("w6QK").decode() == "ä\n"
    assert osc52("ä\n", {}) == plain
    assert osc52("ä\n", {"TMUX": "/tmp/t,1,0"}) == plain + "\x1bPtmux;\x1b\x1b]52;c;w6QK\a\x1b\\"
    assert osc52("ä\n", {"TERM": "tmux-256color"}) == osc52("ä\n", {"TMUX": "x"}), "by ssh from a tmux"
    assert osc52("ä\n", {"TERM": "screen-256color"}) == plain
    assert osc52("ä\n", {"STY": "1.pts"}) == f"\x1bP{plain}\x1b\\"
    parts = osc52("x" * 300, {"STY": "1.pts"}).split("\x1b\\")
    assert [len(part) for part in parts] == [252, 160, 0]
    assert "".join(part.removeprefix("\x1bP") for part in parts) == osc52("x" * 300, {})


def test_which_tool_is_asked(tool: Path) -> None:
    path = {"PATH": str(tool)}
    assert tools({**path, "DISPLAY": ":0"}) == [], "none is installed"
    for name in ("wl-copy", "xclip", "xsel", "pbcopy", "tmux"):
        make(tool, name, "exit 0")
    xclip, xsel = ["xclip", "-selection", "clipboard"], ["xsel", "--clipboard", "--input"]
    assert tools({**path, "DISPLAY": ":0"}, "linux") == [xclip, xsel]
    assert tools({**path, "DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}, "linux") == [["wl-copy"], xclip, xsel]
    assert tools(path, "linux") == [], "no display: they would hang"
    assert tools(path, "darwin") == [["pbcopy"]]
    for remote in ("SSH_CONNECTION", "SSH_TTY", "STY"):
        assert tools({**path, "DISPLAY": ":0", remote: "x"}, "linux") == [], "the clipboard of another machine"
    assert tools({**path, "DISPLAY": ":0", "TMUX": "x", "SSH_CONNECTION": "y"}) == [["tmux", "load-buffer", "-w", "-"]]


async def test_a_tool_gets_the_text(tool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    make(tool, "xclip", KEEPS)
    assert await copied("ü %5\n", tmp_path) == ("6 bytes copied by xclip; also in TMP/state/copied.txt", "")
    assert (tmp_path / "kept").read_text() == "ü %5\n"
    assert (tmp_path / "kept.calls").read_text() == f"{tool}/xclip -selection clipboard\n"
    long = "x" * (LONGEST + 1)
    assert (await copied(long, tmp_path))[0].startswith("74,995 bytes copied by xclip"), "a tool takes any size"


async def test_a_tool_that_serves_on_is_not_waited_for(
    tool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    make(tool, "wl-copy", f"{KEEPS}; sleep 30 & echo $! > {tmp_path}/pid")
    assert await copied("a", tmp_path) == ("1 bytes copied by wl-copy; also in TMP/state/copied.txt", "")
    server = int((tmp_path / "pid").read_text())
    assert not gone(server)
    os.kill(server, 9)


@pytest.mark.parametrize("script", ["exit 1", "sleep 60", "exec 0<&-; sleep 60", None])
async def test_a_tool_that_fails_or_hangs(
    tool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str | None
) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    if script is None:
        (tool / "xclip").write_bytes(b"\x7fELF no program")
        (tool / "xclip").chmod(0o755)
    else:
        make(tool, "xclip", script)
    said, sent = await copied("a" * 70_000, tmp_path, patience=0.3)
    assert said == "70,000 bytes sent to the terminal's clipboard; also in TMP/state/copied.txt"
    assert sent == osc52("a" * 70_000, {})


async def test_what_is_too_long_is_in_the_file(tmp_path: Path) -> None:
    said, sent = await copied("é" * 37_498, tmp_path)
    assert sent == ""
    assert said == (
        "74,996 bytes are more than terminals take (74,994 bytes), so they are not in the clipboard; "
        "also in TMP/state/copied.txt"
    )


async def test_no_file_no_tool_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file, where the folder is to be")
    sent: list[str] = []
    said = await copy("a\udcff", sent.append, {}, tmp_path / "state")
    assert said == "2 bytes sent to the terminal's clipboard. Nothing to paste? w writes a file."
    assert sent == [osc52("a?", {})]


async def test_copying_twice_at_once_ends_the_first_tool(
    tool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    make(tool, "xclip", f"echo $$ >> {tmp_path}/pids; exec sleep 60")
    async with explorer(tmp_path / "add.py") as e:
        await e.press("escape", "y")
        while not (tmp_path / "pids").exists() or not (tmp_path / "pids").read_text().strip():
            await asyncio.sleep(0.02)
        first = int((tmp_path / "pids").read_text().split()[0])
        await e.press("Y")
        while not gone(first):
            await asyncio.sleep(0.02)
        assert e.app.clipboard.count("\n") == 8


def test_in_a_terminal(tmp_path: Path) -> None:
    path = tmp_path / "add.py"
    path.write_text(SOURCE)
    env = {"XDG_STATE_HOME": str(tmp_path / "state"), "PYTHONPATH": str(Path(__file__).parents[2])}
    with Terminal([sys.executable, "-m", "explorer", str(path), "--no-exec"], 120, 40, env) as terminal:
        terminal.wait_for("program_id {axis=0}")
        terminal.send("escape")
        terminal.settle()
        terminal.send("y")
        terminal.wait_for("30 bytes sent to the terminal's clipboard")
    assert (tmp_path / "state/mytriton-explore/copied.txt").read_text() == "%0 = program_id {axis=0} : i32"
    code = base64.b64encode(b"%0 = program_id {axis=0} : i32").decode()
    assert f"\x1b]52;c;{code}\a".encode() in terminal.received


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
async def test_tmux_takes_it_with_its_own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    socket = tmp_path / "socket"

    def tmux(*argv: str) -> str:
        return subprocess.run(
            ["tmux", "-S", str(socket), "-f", "/dev/null", *argv], capture_output=True, text=True
        ).stdout

    tmux("new-session", "-d", "-x", "80", "-y", "24", "sleep 600")
    try:
        assert tmux("show-options", "-s", "set-clipboard") == "set-clipboard external\n", "which ignores programs"
        where = tmux("display-message", "-p", "#{socket_path},#{pid},0").strip()
        monkeypatch.setenv("TMUX", where)
        said, sent = await copied("from inside", tmp_path)
        assert (said, sent) == ("11 bytes copied by tmux; also in TMP/state/copied.txt", "")
        assert tmux("show-buffer") == "from inside"
    finally:
        tmux("kill-server")
