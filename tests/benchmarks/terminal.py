"""A pseudo-terminal around a program: what a person at a terminal would see, with the times and bytes it took."""

from __future__ import annotations

import fcntl
import os
import pty
import queue
import re
import select
import signal
import struct
import termios
import threading
import time
from collections.abc import Sequence
from types import TracebackType

import pyte

#: What a terminal sends for keys that are not text.
KEYS = {
    "enter": "\r",
    "escape": "\x1b",
    "tab": "\t",
    "backspace": "\x7f",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "pageup": "\x1b[5~",
    "pagedown": "\x1b[6~",
    "f1": "\x1bOP",
    "f2": "\x1bOQ",
    "f5": "\x1b[15~",
    "f8": "\x1b[19~",
    "ctrl+q": "\x11",
    "ctrl+s": "\x13",
    "ctrl+z": "\x1a",
}


class Terminal:
    """Runs `command` in a pseudo-terminal of the given size. Times are seconds of a monotonic clock."""

    def __init__(self, command: Sequence[str], columns: int = 160, rows: int = 50, env: dict[str, str] | None = None):
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self._rows = [""] * rows
        self._arrived: queue.SimpleQueue[tuple[float, bytes]] = queue.SimpleQueue()
        self._hung_up = False
        self.bytes = 0
        self.received = bytearray()
        self.started = self._seen = time.perf_counter()
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            sizes = {"COLUMNS", "LINES"}  # of another terminal, which programs would believe
            inherited = {name: value for name, value in os.environ.items() if name not in sizes}
            environment = {**inherited, "TERM": "xterm-256color", "COLORTERM": "truecolor", **(env or {})}
            os.execvpe(command[0], list(command), environment)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def _read(self) -> None:
        while not self._hung_up:
            try:
                if not select.select([self._fd], [], [], 0.2)[0]:
                    continue
                data = os.read(self._fd, 1 << 16)
            except OSError:  # the program closed its side
                break
            if not data:
                break
            self.bytes += len(data)
            self.received += data
            self._arrived.put((time.perf_counter(), data))

    def _feed(self, timeout: float) -> bool:
        """Show the next data on the screen; False if there is none in time. Keeping the screen is slow, so it is not
        done by the thread that reads and takes the times."""
        try:
            self._seen, data = self._arrived.get(timeout=max(0.0, timeout))
        except queue.Empty:
            return False
        self._stream.feed(data)
        return True

    def text(self) -> str:
        """The screen as text, one line a row."""
        while self._feed(0):
            pass
        return self.shown

    def send(self, *keys: str) -> float:
        """Press keys (names of `KEYS`, or text); returns the time at which they were sent."""
        sent = time.perf_counter()
        os.write(self._fd, "".join(KEYS.get(key, key) for key in keys).encode())
        return sent

    def send_bytes(self, data: bytes) -> None:
        """What no key sends."""
        os.write(self._fd, data)

    def hang_up(self) -> None:
        """Close the terminal under the program, as when its window is closed."""
        self._hung_up = True
        self._reader.join()
        os.close(self._fd)

    def wait_for(self, pattern: str, timeout: float = 30.0, absent: bool = False) -> float:
        """Wait until the screen shows (or no longer shows) the regular expression; returns when it was written."""
        deadline = time.perf_counter() + timeout
        while True:
            if bool(re.search(pattern, self.shown, re.MULTILINE)) != absent:
                return self._seen
            if not self._feed(deadline - time.perf_counter()):
                break
        raise TimeoutError(f"{'still' if absent else 'never'} showed {pattern!r}; the screen:\n{self.text()}")

    def next(self, timeout: float) -> float | None:
        """Show the next data; returns when it was read, None if there is none in time."""
        return self._seen if self._feed(timeout) else None

    @property
    def shown(self) -> str:
        """The screen as text, as far as data was shown on it. Only the rows that changed are looked at: the program
        under test needs the processor, too."""
        for y in self._screen.dirty.intersection(range(self._screen.lines)):
            cells = self._screen.buffer[y]
            self._rows[y] = "".join(cells[x].data for x in range(self._screen.columns)).rstrip()
        self._screen.dirty.clear()
        return "\n".join(self._rows)

    def settle(self, quiet: float = 0.3, timeout: float = 30.0) -> None:
        """Wait until nothing was written for `quiet` seconds."""
        deadline = time.perf_counter() + timeout
        while time.perf_counter() < deadline:
            before = self.bytes
            time.sleep(quiet)
            if self.bytes == before:
                self.text()  # what is waited for next must not be found in what came before
                return
        raise TimeoutError("the program never stops writing")

    def close(self) -> None:
        """End the program, politely first."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                break
            for _ in range(100):
                if os.waitpid(self.pid, os.WNOHANG)[0]:
                    break
                time.sleep(0.02)
            else:
                continue
            break
        os.close(self._fd)
