"""A grid's programs shared among threads: pieces of consecutive programs, which each thread takes as it comes to them.

A thread that sleeps takes some 50 us to begin, and cores differ in speed. So pieces get smaller toward the end, where
they even that out, and the caller does not wait for a thread that has not begun. There are few of them, since threads
meet at Python's lock between two.
"""

from __future__ import annotations

import os
from _thread import start_new_thread
from collections import deque
from collections.abc import Callable
from functools import cache
from queue import SimpleQueue

from mytriton.diagnostics import LaunchError


class _Job:
    """What is left of a grid; `run(first, last)` runs some of its programs.

    A signal may raise in the caller's thread between any two steps, even just after a lock was taken, which nobody
    would then give back. So the threads share nothing but what C changes in one step: lists, deques, simple queues."""

    def __init__(self, run: Callable[[int, int], None], left: list[tuple[int, int]]) -> None:
        self._run = run
        self._left = deque(left)
        self._came: list[int] = []
        self._went: list[int] = []
        self._leaving: SimpleQueue[None] = SimpleQueue()  # wakes the caller
        self._failures: dict[int, BaseException] = {}

    def help(self) -> None:
        """What another thread does: who comes too late finds nothing left."""
        self._came.append(1)  # before it takes a piece: see `wait`
        try:
            self.work()
        finally:
            self._went.append(1)
            self._leaving.put(None)

    def work(self) -> None:
        """Run pieces until none is left. Once one has failed no other begins, but those before it have begun."""
        while True:
            try:
                piece = self._left.popleft()
            except IndexError:
                return
            try:
                self._run(*piece)
            except BaseException as raised:  # noqa: BLE001 - `share` raises it again
                self._failures[piece[0]] = raised
                self._left.clear()

    def wait(self) -> None:
        """Let no piece begin, and return when no other thread is at one. If it is interrupted, call it again."""
        self._left.clear()
        # Who comes from now on takes nothing. Those that went are counted first: if no more have come by the time that
        # those are counted, nobody was here.
        while len(self._went) < len(self._came):
            self._leaving.get()

    def raise_first(self) -> None:
        """Raise what the first piece that failed has raised, but sooner what is no error, as an interrupt."""
        if failures := self._failures:
            raise failures[min(failures, key=lambda first: (isinstance(failures[first], Exception), first))]


def share(run: Callable[[int, int], None], programs: int, among: int, least: int) -> None:
    """Run the `programs` of a grid on so many threads, this one included, at `least` so many at a time. Whatever
    interrupts, no other thread is at a piece when it returns or raises: they use the caller's arrays."""
    job = _Job(run, pieces(programs, among, least))
    try:
        for _ in range(among - 1):
            _helpers().put(job.help)
        job.work()
    finally:
        try:
            job.wait()
        except BaseException:
            _outlast(job.wait)
            raise
    job.raise_first()


def _outlast(wait: Callable[[], None]) -> None:
    """Call `wait` again and again until it is not interrupted; raises what interrupted it."""
    try:
        wait()
    except BaseException:
        _outlast(wait)
        raise


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

    for _ in range(threads() - 1):
        start_new_thread(help_, ())  # not `Thread.start`, which waits for a lock
    return waiting


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_helpers.cache_clear)  # a child has none of its parent's threads
