"""Copying: by tmux or a tool of this machine where there is one, else by the terminal (OSC 52), which works over ssh.

Nothing says whether a terminal took what was sent, so all that is copied is in a file as well, which the notice names.
"""

from __future__ import annotations

import asyncio
import base64
import os
import shutil
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from platformdirs import user_state_path

from explorer.model.files import write_atomically

#: Bytes of text that are sent to a terminal: many drop a sequence of more than 100,000 (this many in base 64).
LONGEST = 74_994
#: Seconds a tool may take. Some wait for ever for a display that is not there.
PATIENCE = 2.0
#: GNU screen passes a control string on if it is short.
_SCREEN_CHUNK = 250

Environment = Mapping[str, str]


def osc52(text: str, environment: Environment) -> str:
    """The bytes that ask the terminal to copy `text`, also through a tmux or a screen in between."""
    sequence = f"\x1b]52;c;{base64.b64encode(text.encode()).decode()}\a"
    if environment.get("TMUX") or environment.get("TERM", "").startswith("tmux"):
        # The first is for `set-clipboard on`, the second for `allow-passthrough on`; tmux drops what it does not allow.
        return sequence + "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    if environment.get("STY"):
        chunks = (sequence[at : at + _SCREEN_CHUNK] for at in range(0, len(sequence), _SCREEN_CHUNK))
        return "".join(f"\x1bP{chunk}\x1b\\" for chunk in chunks)
    return sequence


def tools(environment: Environment, platform: str = sys.platform) -> list[list[str]]:
    """The commands that may put their input into the reader's clipboard. Over ssh a tool of this machine would fill a
    clipboard that nobody sees; tmux hands on to its own terminal, wherever that is."""
    wanted: list[list[str]] = []
    if environment.get("TMUX"):
        wanted.append(["tmux", "load-buffer", "-w", "-"])
    elif not any(environment.get(name) for name in ("SSH_CONNECTION", "SSH_TTY", "STY")):
        if platform == "darwin":
            wanted.append(["pbcopy"])
        if environment.get("WAYLAND_DISPLAY"):
            wanted.append(["wl-copy"])
        if environment.get("DISPLAY"):
            wanted += [["xclip", "-selection", "clipboard"], ["xsel", "--clipboard", "--input"]]
    return [command for command in wanted if shutil.which(command[0], path=environment.get("PATH"))]


async def copy(
    text: str,
    write: Callable[[str], None],
    environment: Environment | None = None,
    folder: Path | None = None,
    patience: float = PATIENCE,
) -> str:
    """Copy `text`, as well as can be from here; a sentence says how. `write` writes to the terminal."""
    environment = os.environ if environment is None else environment
    data = text.encode(errors="replace")
    file = await asyncio.to_thread(_kept, data, folder or user_state_path("mytriton-explore"))
    for command in tools(environment):
        if await _fed(command, data, environment, patience):
            how = f"copied by {command[0]}"
            break
    else:
        if len(data) <= LONGEST:
            write(osc52(data.decode(), environment))
            how = "sent to the terminal's clipboard"
        else:
            how = f"are more than terminals take ({LONGEST:,} bytes), so they are not in the clipboard"
    size = f"{len(data):,} bytes {how}"
    return f"{size}; also in {file}" if file else f"{size}. Nothing to paste? w writes a file."


async def _fed(command: list[str], data: bytes, environment: Environment, patience: float) -> bool:
    """Whether a command took the data. It may leave a process behind that serves what was copied."""
    try:
        tool = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL, env=dict(environment), start_new_session=True
        )
    except OSError:
        return False
    try:
        with suppress(OSError):  # it does not read what it is given
            await asyncio.wait_for(tool.communicate(data), patience)
    except asyncio.TimeoutError:
        return False
    finally:
        if tool.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(tool.pid, signal.SIGKILL)  # its children, too: they may hold the pipe
            await tool.wait()
    return tool.returncode == 0


def _kept(data: bytes, folder: Path) -> str:
    """The file that holds what was copied last; '' if it cannot be written."""
    file = folder / "copied.txt"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_atomically(file, data, 0o600)
    except OSError:
        return ""
    with suppress(ValueError, RuntimeError):
        return f"~/{file.relative_to(Path.home())}"
    return str(file)
