"""A terminal in tmux, as a person has it over SSH: a shell, and what it shows. Its own server, which tests end."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType

ROOT = Path(__file__).parents[2]
#: tmux, or None.
TMUX = shutil.which("tmux")
#: Seconds that anything may take before it is a fault; a busy machine is none.
LIMIT = 90.0


class Tmux:
    """A shell in `folder`, in a window of a size. Settings and state of the programs in it are in `folder` as well."""

    def __init__(self, folder: Path, columns: int, rows: int, **env: str) -> None:
        self._socket = f"mytriton-test-{uuid.uuid4().hex[:12]}"
        own = {f"XDG_{kind}_HOME": str(folder / kind.lower()) for kind in ("STATE", "CONFIG", "CACHE")}
        path = os.pathsep.join([env.pop("PYTHONPATH", str(ROOT)), str(ROOT)])
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
        self._env = {**kept, "LC_ALL": "C.UTF-8", "PYTHONPATH": path, **own, **env}
        shell = ["new-session", "-d", "-x", str(columns), "-y", str(rows), "-c", str(folder), "sh"]
        self._tmux("-f", os.devnull, *shell)
        self.server = int(self.ask("pid"))

    def __enter__(self) -> Tmux:
        try:
            self.type("PS1='ready> '\n")
            self.wait_for("^[^']*ready>$")
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the server, and with it the shell and all that runs in it."""
        with suppress(ProcessLookupError):
            os.kill(self.server, signal.SIGTERM)

    def _tmux(self, *arguments: str) -> str:
        command = [TMUX or "tmux", "-L", self._socket, *arguments]
        return subprocess.run(command, env=self._env, capture_output=True, text=True, check=True, timeout=LIMIT).stdout

    def ask(self, name: str) -> str:
        """What tmux knows by that name, such as `alternate_on`."""
        return self._tmux("display-message", "-p", f"#{{{name}}}").strip()

    def send(self, *keys: str) -> None:
        """Press keys by tmux's names (`F8`, `C-s`, `Escape`, `a`)."""
        self._tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        """Type text."""
        self._tmux("send-keys", "-l", text)

    def paste(self, text: str) -> None:
        """Paste text as the terminal does, in brackets if the program asked for them."""
        command = [TMUX or "tmux", "-L", self._socket, "load-buffer", "-"]
        subprocess.run(command, input=text, env=self._env, text=True, check=True, timeout=LIMIT)
        self._tmux("paste-buffer", "-p", "-r")

    def resize(self, columns: int, rows: int) -> None:
        """Give the window another size."""
        self._tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def text(self, *options: str) -> str:
        """What is on the screen; with `-e` as it is coloured."""
        return self._tmux("capture-pane", "-p", *options)

    def wait_for(self, pattern: str, absent: bool = False) -> str:
        """Wait until the screen shows (or no longer shows) the regular expression; returns the screen."""
        deadline = time.monotonic() + LIMIT
        while time.monotonic() < deadline:
            text = self.text()
            if bool(re.search(pattern, text, re.MULTILINE)) != absent:
                return text
            time.sleep(0.05)
        raise TimeoutError(f"{'still' if absent else 'never'} showed {pattern!r}; the screen:\n{self.text()}")

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Wait for something that no screen shows."""
        deadline = time.monotonic() + LIMIT
        while not condition():
            assert time.monotonic() < deadline, f"{LIMIT} s were not enough; the screen:\n{self.text()}"
            time.sleep(0.05)

    def explore(self, *arguments: str, ready: str = "^ ok tree", **env: str) -> None:
        """Start the explorer from the shell, which says how it ended, and wait until it has compiled the file."""
        settings = " ".join(f"{name}={value}" for name, value in env.items())
        self.type(f"clear; {settings} {sys.executable} -m explorer {' '.join(arguments)}; echo exit code $?\n")
        self.wait_for(ready)

    def explorer(self) -> int:
        """The number of the process that has the terminal's attention: the explorer."""
        shell = int(self.ask("pane_pid"))
        (child,) = Path(f"/proc/{shell}/task/{shell}/children").read_text().split()
        return int(child)
