"""Passes in a process of their own: one that aborts or crashes is a red stage, not the end of everything.

MLIR is built to end the process where it finds itself in the wrong (an assertion, `LLVM ERROR`), and holds the
interpreter's lock while it works, so only another process can also be stopped.
"""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import IO, Any

from mytriton import checked
from mytriton.backends.mlir.listing import Listings, link_lines
from mytriton.checkout import environment
from mytriton.diagnostics import Diagnostic
from mytriton.mlir.module import Module, Run
from mytriton.mlir.schedule import Transform
from mytriton.pipelines import Step
from mytriton.source import SourceUnit
from mytriton.stage import Line, Stage

#: Rows of what the process printed that are shown if it dies.
_LAST_WORDS = 12


def run(module: Module, pipeline: str | Sequence[str | Step | Transform], seconds: float | None = None) -> Run:
    """Run passes on a module in another process, which is ended after `seconds`. What is returned is what
    `module.run` returns, but complete; a stage the process died in is `crashed`, with its last words."""
    checked.module(module, "mlir.isolated.run")
    checked.seconds(seconds, "mlir.isolated.run")
    made = IsolatedRun(module.unit, pipeline, module.bytecode, seconds)
    made.run()
    return made


class IsolatedRun(Run):
    """See `run`. The stages come in while they are read."""

    def __init__(
        self,
        unit: SourceUnit,
        pipeline: str | Sequence[str | Step | Transform],
        given: bytes = b"",
        seconds: float | None = None,
    ) -> None:
        self._seconds = seconds
        super().__init__(unit, pipeline, given)

    def _made(self, unit: SourceUnit, names: Sequence[str], with_code: bool = False) -> Iterator[Stage]:
        listings, lines = Listings(), self._native.source
        entering, words = names[0] if names else "mlir/parse", bytearray()
        with _child() as child, _ending(child, self._seconds) as late:
            assert child.stdin is not None
            assert child.stdout is not None
            assert child.stderr is not None
            listening = threading.Thread(target=_listen, args=(child.stderr, words))
            listening.start()
            with suppress(BrokenPipeError), child.stdin as inp:  # its time may be over before it is told what to do
                inp.write(pickle.dumps((unit, self.steps, self.given)))
            for message in _messages(child.stdout):
                match message:
                    case ("entering", name):
                        entering = name
                    case ("stage", Stage() as stage, bytes() as code):
                        self._bytecode, read = code, stage.name == "source"
                        stage.make_lines = _listing(listings, b"" if read else code, lines)
                        stage.artifact = unit.text if read else code if stage.ok else None
                        yield stage
            child.wait()
            listening.join()
            if child.returncode:
                yield self._crashed(entering, _cause(child.returncode, late.is_set()), words, listings)

    def _crashed(self, name: str, cause: str, words: bytearray, listings: Listings) -> Stage:
        stage = Stage(name, "text", "mlir", "crashed")
        rows = words.decode(errors="replace").strip().splitlines()
        said = "\n".join(rows[:_LAST_WORDS] + ["..."] * (len(rows) > _LAST_WORDS))
        stage.diagnostics = (Diagnostic("MT605", f"MLIR stage '{name}' crashed: {cause}\n{said}".rstrip(), stage=name),)
        stage.make_lines = _listing(listings, self._bytecode, self._native.source)
        return stage


def _listing(listings: Listings, code: bytes, source: Sequence[Line]) -> Callable[[], Sequence[Line]]:
    return lambda: link_lines(listings.text(code), source) if code else source


def _child() -> subprocess.Popen[bytes]:
    # Where standard error is a pipe, nothing of it is kept in the process (`run.native_stderr`), and so lost with it.
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "mytriton.mlir.child"]
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment())


def _listen(err: IO[bytes], words: bytearray) -> None:
    while chunk := err.read1(1 << 16):  # type: ignore[attr-defined]
        words += chunk


class _ending:
    """Ends a process when its time is over, and at the end of the `with` in any case."""

    def __init__(self, child: subprocess.Popen[bytes], seconds: float | None) -> None:
        self._child, self._late = child, threading.Event()
        self._timer = threading.Timer(seconds, self._end) if seconds is not None else None

    def _end(self) -> None:
        self._late.set()
        self._child.kill()

    def __enter__(self) -> threading.Event:
        if self._timer is not None:
            self._timer.start()
        return self._late

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._child.poll() is None:  # nobody reads on
            self._child.kill()


def _messages(out: IO[bytes]) -> Iterator[Any]:
    while True:
        try:
            yield pickle.load(out)
        except EOFError:
            return


def _cause(code: int, late: bool) -> str:
    if late:
        return "its time was over"
    return f"its process was ended by {signal.Signals(-code).name}" if code < 0 else f"its process ended with {code}"
