"""Faults on purpose, for the tests: with `MYTRITON_EXPLORER_TEST_FAULT=1` in the environment, a comment such as
`# fault: segv at ptx` in the text makes the child that enters stage `ptx` die of SIGSEGV. Without the variable the
comment is a comment."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import sys
import time
from collections.abc import Callable

_COMMENT = re.compile(r"# fault: (\S+) at (\S+)")


def wanted(text: str) -> dict[str, str]:
    """Stage to fault, as the text asks for; nothing unless faults are enabled."""
    if os.environ.get("MYTRITON_EXPLORER_TEST_FAULT") != "1":
        return {}
    return {stage: fault for fault, stage in _COMMENT.findall(text)}


def commit(fault: str) -> None:
    """Do it."""
    FAULTS[fault]()


def _loop() -> None:
    while True:
        time.sleep(0.001)


def _stuck() -> None:
    # As native code does that keeps the interpreter's lock: no other thread of the process runs meanwhile.
    ctypes.PyDLL(None).sleep(3600)


def _hog() -> None:
    held = []
    while True:
        held.append(b"x" * (16 << 20))
        time.sleep(0.005)


def _shout() -> None:
    for _ in range(500):
        os.write(1, b"o" * 9_999 + b"\n")
        os.write(2, b"e" * 9_999 + b"\n")


def _raise() -> None:
    raise RuntimeError("a fault on purpose")


FAULTS: dict[str, Callable[[], object]] = {
    "segv": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "abort": os.abort,
    "exit": lambda: os._exit(3),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "quit": lambda: sys.exit(0),
    "loop": _loop,
    "stuck": _stuck,
    "hog": _hog,
    "shout": _shout,
    "raise": _raise,
}
