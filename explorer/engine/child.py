"""A child process: `python -m explorer.engine.child ROLE`, where ROLE is compiler, tools, other or runner.

Requests come in on standard input and answers leave on standard output, both taken away from everybody else at the
very start: what native code or the user's code prints goes to standard error, where the client reads it as a log.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import importlib
import os
import platform
import queue
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from explorer.engine import faults
from explorer.engine.messages import Abandon, Entering, Hello, Idle, Ready
from explorer.engine.protocol import VERSION, FrameReader, encode, write_all

_STARTED = time.perf_counter()

#: The module that does the work of each role, as `Worker`; imported only in a child of that role.
_ROLES = {
    "compiler": "explorer.engine.compiling",
    "tools": "explorer.engine.compiling",
    "other": "explorer.engine.compiling",
    "runner": "explorer.engine.running",
}


class Abandoned(Exception):
    """The job at hand is wanted no more."""


class Channel:
    """The child's end of the pipes, and the job at hand."""

    def __init__(self, inp: int, out: int) -> None:
        self._inp, self._out = inp, out
        self._inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._abandoned: set[int] = set()
        self._generation = 0
        self._faults: dict[str, str] = {}
        self._forked = False
        self._held = b""
        os.register_at_fork(after_in_child=self._disown)
        threading.Thread(target=self._listen, name="requests", daemon=True).start()

    def send(self, message: Any, *, hold: bool = False) -> None:
        """Send a message; the process ends if nobody listens. With `hold` it goes together with the next one, which
        must follow at once: waking the explorer takes longer than many a stage."""
        if self._forked:
            os._exit(0)
        self._held += encode(message)
        if hold:
            return
        data, self._held = self._held, b""
        try:
            write_all(self._out, data)
        except BrokenPipeError:
            os._exit(0)

    def _disown(self) -> None:
        # The author's code forked: what returns from it here is a second worker, which must not answer too.
        self._forked = True

    def enter(self, stage: str, doing: str, backend: str = "", progress: str = "") -> None:
        """Say what is about to be done, so that it is known should the process die of it; raises `Abandoned` if the
        job is wanted no more. `doing` reads after "while"."""
        self.wanted()
        self.send(Entering(self._generation, stage, doing, backend, progress))
        if stage in self._faults:
            faults.commit(self._faults[stage])

    def wanted(self) -> None:
        """Raise `Abandoned` if the job is wanted no more."""
        if self._generation in self._abandoned:
            raise Abandoned

    def jobs(self) -> Iterator[Any]:
        """The jobs, one by one; each is over when the next is asked for."""
        while True:
            job = self._inbox.get()
            self._generation = job.generation
            self._faults = faults.wanted(job.text)
            yield job

    @property
    def waiting(self) -> bool:
        """Whether a job waits to be taken."""
        return not self._inbox.empty()

    def _listen(self) -> None:
        frames = FrameReader()
        while data := os.read(self._inp, 1 << 16):
            for message in frames.feed(data):
                if isinstance(message, Abandon):
                    self._abandoned.add(message.generation)
                else:
                    self._inbox.put(message)
        os._exit(0)  # the client is gone; the main thread may be anywhere


class Worker(Protocol):
    """What a role does. `warm_up` yields between steps of loading what later jobs will need; once `worn_out` is true
    the process ends after the job, to be replaced by a fresh one."""

    worn_out: bool

    def warm_up(self) -> Iterator[None]: ...

    def handle(self, job: Any) -> None: ...


def _take_stdio() -> tuple[int, int]:
    """Duplicates of standard input and output; the originals then are the null device and standard error."""
    inp, out = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, errors="backslashreplace")  # type: ignore[union-attr]
    _buffer_lines_of_c()
    return inp, out


def _buffer_lines_of_c() -> None:
    # C code, such as that of an assertion in MLIR, prints into a buffer of its own, which a crash would take with it.
    import ctypes

    library, by_lines = ctypes.CDLL(None), 1  # _IOLBF, on Linux and macOS
    name = "__stdoutp" if sys.platform == "darwin" else "stdout"
    library.setvbuf(ctypes.c_void_p.in_dll(library, name), None, by_lines, ctypes.c_size_t(0))


def _die_with_parent() -> None:
    # The reader thread sees the end of the input, but cannot run while native code keeps the interpreter's lock.
    # Linux can end the process by itself, and should memory run out, end this one before the explorer.
    if sys.platform != "linux":
        return
    import ctypes

    pr_set_pdeathsig = 1  # prctl(2)
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL, 0, 0, 0)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def serve(role: str, make_worker: Callable[[Channel], Worker], warm: bool = True) -> None:
    """Serve jobs until standard input ends."""
    channel = Channel(*_take_stdio())
    channel.send(Hello(role, os.getpid(), VERSION, platform.python_version()))
    faulthandler.enable()
    _die_with_parent()
    if role in ("tools", "other"):
        os.nice(10)  # what it makes is looked at less urgently than what is typed
    worker = make_worker(channel)
    if warm:
        for _ in worker.warm_up():
            if channel.waiting:
                break
    gc.freeze()  # what is loaded stays: it need not be looked through for garbage in the middle of an edit
    channel.send(Ready(time.perf_counter() - _STARTED))
    for job in channel.jobs():
        error = ""
        try:
            worker.handle(job)
        except Abandoned:
            pass
        except Exception:  # noqa: BLE001 (a fault of ours: it is reported, and the child can do the next job)
            error = traceback.format_exc()
        channel.send(Idle(job.generation, error))
        if worker.worn_out:
            os._exit(0)  # the author's threads do not keep it


def main(argv: list[str]) -> None:
    """Be the child whose role is the last argument; `--cold` loads nothing in advance."""
    role = argv[-1]

    def worker(channel: Channel) -> Worker:
        try:
            made: Worker = importlib.import_module(_ROLES[role]).Worker(channel)
        except ImportError as error:
            sys.exit(f"{error}: install mytriton again, with what it needs")
        return made

    serve(role, worker, "--cold" not in argv)


if __name__ == "__main__":
    main(sys.argv[1:])
