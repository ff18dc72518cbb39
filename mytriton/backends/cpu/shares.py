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


class _Job:
    """What is left of a grid; `run(first, last)` runs some of its programs."""

    def __init__(self, run: Callable[[int, int], None], pieces: list[tuple[int, int]]) -> None:
        self._run = run
        self._left = deque(pieces)
        self._unfinished = len(pieces)
        self._lock = threading.Lock()
        self._failures: dict[int, BaseException] = {}
        self._finished = threading.Lock()
        self._finished.acquire()

    def work(self) -> None:
        """Run pieces until none is left. Once one has failed no other begins, but those before it have begun."""
        while (piece := self._next()) is not None:
            failure: BaseException | None = None
            try:
                self._run(*piece)
            except BaseException as raised:  # noqa: BLE001 - `wait` raises it again
                failure = raised
            self._end(piece[0], failure)

    def _next(self) -> tuple[int, int] | None:
        with self._lock:
            return self._left.popleft() if self._left else None

    def _end(self, first: int, failure: BaseException | None) -> None:
        with self._lock:
            self._unfinished -= 1
            if failure is not None:
                self._failures[first] = failure
                self._unfinished -= len(self._left)
                self._left.clear()
            if not self._unfinished:
                self._finished.release()

    def wait(self) -> None:
        """Return when all have run; raises what the first of those that failed has raised."""
        self._finished.acquire()
        if self._failures:
            raise self._failures[min(self._failures)]


def share(run: Callable[[int, int], None], programs: int, among: int, least: int) -> None:
    """Run the `programs` of a grid on so many threads, this one included, at `least` so many at a time."""
    job = _Job(run, pieces(programs, among, least))
    for _ in range(among - 1):
        _helpers().put(job.work)
    job.work()
    job.wait()


def pieces(programs: int, among: int, least: int) -> list[tuple[int, int]]:
    """The first and last (excluded) programs of each piece: an equal part of what those before it leave."""
    found, first = [], 0
    while first < programs:
        last = min(programs, first + max(least, (programs - first) // among, 1))
        found.append((first, last))
        first = last
    return found


@cache
def threads() -> int:
    """Threads that a grid is shared among: one for each core this process may use, or `MYTRITON_CPU_THREADS`."""
    if wanted := os.environ.get("MYTRITON_CPU_THREADS"):
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
