"""A grid's programs shared among threads: pieces of consecutive programs, which each thread takes as it comes to them.

A thread that sleeps takes some 50 us to begin, and cores differ in speed. So pieces get smaller toward the end, where
they even that out, and the caller does not wait for a thread that has not begun. There are few of them, since threads
meet at Python's lock between two.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from functools import cache
from queue import SimpleQueue

from mytriton.diagnostics import LaunchError


class _Job:
    """What is left of a grid; `run(first, last)` runs some of its programs."""

    def __init__(self, run: Callable[[int, int], None], left: list[tuple[int, int]]) -> None:
        self._run = run
        self._left = deque(left)
        self._helping = 0
        self._changed = threading.Condition(threading.Lock())
        self._failures: dict[int, BaseException] = {}

    def help(self) -> None:
        """What another thread does: who comes too late finds nothing left."""
        with self._changed:
            if not self._left:
                return
            self._helping += 1
        try:
            self.work()
        finally:
            with self._changed:
                self._helping -= 1
                self._changed.notify()

    def work(self) -> None:
        """Run pieces until none is left. Once one has failed no other begins, but those before it have begun."""
        while (piece := self._next()) is not None:
            try:
                self._run(*piece)
            except BaseException as raised:  # noqa: BLE001 - `end` raises it again
                with self._changed:
                    self._failures[piece[0]] = raised
                    self._left.clear()

    def _next(self) -> tuple[int, int] | None:
        with self._changed:
            return self._left.popleft() if self._left else None

    def end(self) -> None:
        """Let no piece begin, and return when no other thread is at one, whatever interrupts: they use the caller's
        arrays. Raises what the first piece that failed has raised."""
        interrupted: BaseException | None = None
        while True:
            try:
                with self._changed:
                    self._left.clear()
                    while self._helping:
                        self._changed.wait()
                break
            except BaseException as raised:  # noqa: BLE001 - raised again below
                interrupted = raised
        if interrupted is not None:
            raise interrupted
        if self._failures:
            raise self._failures[min(self._failures)]


def share(run: Callable[[int, int], None], programs: int, among: int, least: int) -> None:
    """Run the `programs` of a grid on so many threads, this one included, at `least` so many at a time."""
    job = _Job(run, pieces(programs, among, least))
    try:
        for _ in range(among - 1):
            _helpers().put(job.help)
        job.work()
    finally:
        job.end()


def pieces(programs: int, among: int, least: int) -> list[tuple[int, int]]:
    """The first and last (excluded) programs of each piece: half an equal part of what those before it leave."""
    found, first = [], 0
    while first < programs:
        last = min(programs, first + max(least, (programs - first) // (2 * among), 1))
        found.append((first, last))
        first = last
    return found


@cache
def threads() -> int:
    """Threads that a grid is shared among: one for each core this process may use, or `MYTRITON_CPU_THREADS`."""
    if wanted := os.environ.get("MYTRITON_CPU_THREADS"):
        if not wanted.strip().isdecimal():
            raise LaunchError(f"MYTRITON_CPU_THREADS is the number of threads to use, got {wanted!r}; set a number")
        return max(1, int(wanted))
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _helpers() -> SimpleQueue[Callable[[], None]]:
    """Where threads wait for work; they end with the process."""
    waiting: SimpleQueue[Callable[[], None]] = SimpleQueue()

    def help_() -> None:
        while True:
            waiting.get()()

    for number in range(threads() - 1):
        threading.Thread(target=help_, name=f"mytriton-cpu-{number}", daemon=True).start()
    return waiting


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_helpers.cache_clear)  # a child has none of its parent's threads
