"""One child process: spoken to by messages, read on the event loop, and honest about how it ended.

The messages go through its standard input and output; whatever native code or the user's code prints is sent to its
standard error (see `child`), which is read all the time, so that a child never blocks on what it prints.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from explorer.engine.protocol import FrameReader, ProtocolError, encode
from mytriton.checkout import environment

_CHUNK = 1 << 16
#: A child that prints faster than this many bytes a second is read no faster: the explorer has other things to do.
_LOG_RATE = 16 << 20
_TAIL_LINES, _TAIL_CHARS = 20, 8000
#: What a dump of our own code begins with, the last that a child prints: it is kept in `log`, and told to nobody.
_FATAL = "Fatal Python error"
_PAGE = os.sysconf("SC_PAGE_SIZE")


def default_command() -> tuple[str, ...]:
    """What starts a child, without its role."""
    return (sys.executable, "-m", "explorer.engine.child")


def _environment() -> dict[str, str]:
    env = environment()
    env["PYTHONSAFEPATH"] = "1"  # a file `json.py` in the user's directory is not for us
    return env


def _popen(command: Sequence[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,
        env=_environment(),
    )


#: Children that were started before anybody needed them, by their command; each is used once.
_early: dict[tuple[str, ...], subprocess.Popen[bytes]] = {}


def spawn_early(roles: Sequence[str]) -> None:
    """Start children that an engine will ask for: they load while this process loads what it needs itself. Should it
    never ask, they end with this process."""
    for role in roles:
        command = (*default_command(), role)
        _early[command] = _popen(command)


def spawn(command: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start a child, or take the one that was started early."""
    return _early.pop(tuple(command), None) or _popen(command)


class Process:
    """A running child. `on_message` gets its messages, `on_log` what it prints, `on_exit` the process once, at the end.

    The process has a session of its own: a Ctrl+C in the terminal does not reach it, and killing it kills the tools
    it started. If the explorer dies, the child sees the end of its input and ends too.
    """

    def __init__(
        self,
        role: str,
        command: Sequence[str],
        on_message: Callable[[Process, Any], None],
        on_log: Callable[[Process, str], None],
        on_exit: Callable[[Process], None],
    ) -> None:
        self.role = role
        self.ready = False
        self.killed_because = ""
        self._on_message, self._on_log, self._on_exit = on_message, on_log, on_exit
        self._loop = asyncio.get_running_loop()
        self._frames = FrameReader()
        self._unsent = bytearray()
        self._tail = ""
        self._dumping = False
        self._text = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._popen = spawn([*command, role])
        assert self._popen.stdin and self._popen.stdout and self._popen.stderr
        self._in, self._out, self._err = (
            pipe.fileno() for pipe in (self._popen.stdin, self._popen.stdout, self._popen.stderr)
        )
        for descriptor in (self._in, self._out, self._err):
            os.set_blocking(descriptor, False)
        self._loop.add_reader(self._out, self._read_messages)
        self._loop.add_reader(self._err, self._read_log)
        self._pidfd = self._watch_exit()
        self._ended = False

    @property
    def pid(self) -> int:
        """The process id."""
        return self._popen.pid

    def send(self, message: Any) -> None:
        """Send a message; never blocks, even if the child does not read."""
        if self._ended:
            return
        self._unsent += encode(message)
        self._write()

    def kill(self, because: str) -> None:
        """End the child and the tools it started, at once; `because` says why in `ending`."""
        if self._popen.returncode is not None:  # reaped: the number may be another process's by now
            return
        self.killed_because = self.killed_because or because
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    @property
    def log(self) -> tuple[str, ...]:
        """The last lines it printed."""
        before, fatal, trace = self._tail.partition(_FATAL)
        return (*before.splitlines()[-_TAIL_LINES:], *(fatal + trace).splitlines()[:_TAIL_LINES])

    def memory(self) -> int:
        """Bytes of memory the child occupies now; 0 where the system does not tell."""
        try:
            resident = Path(f"/proc/{self.pid}/statm").read_text().split()[1]
        except (OSError, IndexError):
            return 0
        return int(resident) * _PAGE

    @property
    def ending(self) -> str:
        """How it ended, as the beginning of a sentence."""
        if self.killed_because:
            return self.killed_because
        code = self._popen.returncode
        if code is None:
            return "still running"
        if code >= 0:
            return f"exited with status {code}"
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return f"killed by {name}" + (" (by another process, or for want of memory)" if name == "SIGKILL" else "")

    def _watch_exit(self) -> int | None:
        # asyncio's own subprocesses tell of an exit only after all pipes are closed (until 3.13), and a process that
        # the user's code forked keeps them open.
        if not hasattr(os, "pidfd_open"):
            self._loop.call_later(0.05, self._poll)
            return None
        descriptor = os.pidfd_open(self.pid)
        self._loop.add_reader(descriptor, self._exited)
        return descriptor

    def _poll(self) -> None:
        if self._popen.poll() is None:
            self._loop.call_later(0.05, self._poll)
        else:
            self._exited()

    def _exited(self) -> None:
        if self._ended:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)  # what it started and left behind
        self._popen.wait()
        for read in (self._read_messages, self._read_log):
            for _ in range(64):  # what is still in the pipes, unless somebody keeps filling them
                if not read():
                    break
        self._ended = True
        for descriptor in (self._out, self._err, self._pidfd):
            if descriptor is not None:
                self._loop.remove_reader(descriptor)
        self._loop.remove_writer(self._in)
        for pipe in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            if pipe is not None:
                pipe.close()
        if self._pidfd is not None:
            os.close(self._pidfd)
        self._on_exit(self)

    def _read(self, descriptor: int) -> bytes | None:
        """Some bytes; b'' at the end; None if there is nothing now."""
        try:
            return os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return None

    def _read_messages(self) -> bool:
        data = self._read(self._out)
        if data == b"":
            self._loop.remove_reader(self._out)
            # If it lives on without its output it is of no use any more; one that is about to exit is left to do so.
            self._loop.call_later(1.0, self.kill, "closed its pipe")
            return False
        if data is None or self._ended:
            return False
        try:
            for message in self._frames.feed(data):
                self._on_message(self, message)
        except ProtocolError as error:
            self.kill(f"sent garbage ({error})")
            return False
        return True

    def _read_log(self) -> bool:
        data = self._read(self._err)
        if data == b"":
            self._loop.remove_reader(self._err)
        if not data:
            return False
        text = self._text.decode(data)
        self._tail = (self._tail + text[-_TAIL_CHARS:])[-_TAIL_CHARS:]
        if not self._dumping:
            shown, fatal, _ = text.partition(_FATAL)
            self._dumping = bool(fatal)
            if shown:
                self._on_log(self, shown)
        if len(data) == _CHUNK and not self._ended:
            self._loop.remove_reader(self._err)
            self._loop.call_later(_CHUNK / _LOG_RATE, self._resume_log)
        return True

    def _resume_log(self) -> None:
        if not self._ended:
            self._loop.add_reader(self._err, self._read_log)

    def _write(self) -> None:
        try:
            while self._unsent:
                del self._unsent[: os.write(self._in, self._unsent)]
        except BlockingIOError:
            self._loop.add_writer(self._in, self._write)
            return
        except BrokenPipeError:  # it died; `_exited` tells
            self._unsent.clear()
        self._loop.remove_writer(self._in)
