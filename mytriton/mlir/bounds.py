"""Accesses out of bounds, found before they happen.

MLIR can put a check before each access of memory, but what fails one ends the process. So a call is made in a copy of
the process first, whose writes nobody sees.
"""

from __future__ import annotations

import ctypes
import os
import re
import resource
import signal
import warnings
from collections.abc import Callable

from mytriton.diagnostics import Diagnostic, LaunchError, render
from mytriton.mlir.module import source_lines, span_of
from mytriton.source import SourceUnit

#: Puts a check before each access of a memref; those of affine loops have none before they are lowered.
VERIFY = "lower-affine,generate-runtime-verification"

_FAILED = re.compile(r"Runtime op verification failed\n(.*)\n\^ (.*)\nLocation: (loc\(.*\))")
_DIES_WITH_PARENT = 1  # PR_SET_PDEATHSIG of prctl(2)


class OutOfBounds(LaunchError):
    """A function would access memory outside of an array; `diagnostic` says where, in `unit`."""

    def __init__(self, diagnostic: Diagnostic, unit: SourceUnit) -> None:
        self.diagnostic, self.unit = diagnostic, unit
        super().__init__(render(diagnostic, (unit,)))

    def __reduce__(self) -> tuple[type[OutOfBounds], tuple[object, ...]]:
        return type(self), (self.diagnostic, self.unit)


def tried(call: Callable[[], object], unit: SourceUnit) -> str:
    """Make a call of a function with checks (`VERIFY`) in a copy of this process; the name of the signal that ended the
    copy, '' if none did. Raises `OutOfBounds` where a check fails; `unit` is the text of the function."""
    with open(os.memfd_create("said"), "w+b") as file:
        with warnings.catch_warnings():
            # Python warns of other threads, whose locks a copy finds held; it takes none.
            warnings.simplefilter("ignore", DeprecationWarning)
            copy = os.fork()
        if not copy:
            _call(call, file.fileno())
        _, status = os.waitpid(copy, 0)
        file.seek(0)
        said = file.read().decode(errors="replace")
    if found := _FAILED.search(said):
        operation, what, where = found.groups()
        raise OutOfBounds(Diagnostic("MT609", f"{what}: {operation}", span_of(where, source_lines(unit.text))), unit)
    return signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else ""


def _call(call: Callable[[], object], said: int) -> None:
    """What the copy does, to its end."""
    try:
        ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGKILL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGABRT, signal.SIGILL):
            signal.signal(number, signal.SIG_DFL)  # nor a dump of Python's, as of a fault of its own
        os.dup2(said, 1)
        os.dup2(said, 2)
        call()
    finally:
        os._exit(0)
