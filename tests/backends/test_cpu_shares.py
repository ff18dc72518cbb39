"""A grid shared among threads: every program runs once, and the first failure is the one that is told."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.backends.cpu import jit, shares
from mytriton.diagnostics import LaunchError
from tests.running import runner


@pytest.mark.parametrize(("programs", "among", "least"), [(1, 2, 0), (7, 3, 1), (4096, 2, 64), (99, 16, 0), (5, 2, 9)])
def test_pieces_are_all_programs_and_get_smaller(programs: int, among: int, least: int) -> None:
    found = shares.pieces(programs, among, least)
    assert [n for piece in found for n in range(*piece)] == list(range(programs))
    sizes = [last - first for first, last in found]
    assert sizes[:-1] == sorted(sizes[:-1], reverse=True)
    assert len(found) <= among * (1 + programs.bit_length())


def test_a_thread_that_is_busy_is_not_waited_for() -> None:
    """The caller does all alone if nobody comes; who comes too late finds nothing left."""
    busy, done = threading.Event(), Counter[int]()
    for _ in range(shares.threads()):
        shares._helpers().put(busy.wait)
    shares.share(lambda first, last: done.update(range(first, last)), 1000, 3, 1)
    busy.set()
    assert done == Counter(range(1000))


def test_the_first_failure_is_raised() -> None:
    begun: list[int] = []

    def fail(first: int, last: int) -> None:
        begun.append(first)
        raise ValueError(first)

    with pytest.raises(ValueError, match=r"^0$"):
        shares.share(fail, 1000, 2, 1)
    assert len(begun) <= 2  # one in each thread


def test_an_interrupt_waits_for_who_is_at_work() -> None:
    """They use the caller's arrays. `Ctrl+C` comes while the caller is at its piece, and again while it waits."""
    if shares.threads() < 2:
        pytest.skip("one core")
    begun, ended, main = threading.Event(), [], threading.get_ident()

    def run(first: int, last: int) -> None:
        if threading.get_ident() == main:
            begun.wait(10)
            raise KeyboardInterrupt
        begun.set()
        threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        time.sleep(0.3)
        ended.append(first)

    with pytest.raises(KeyboardInterrupt):
        shares.share(run, 4, 2, 1)
    assert len(ended) == 1


_STOPPED = """
import random, signal, time
from collections import Counter
from mytriton.backends.cpu import shares

class Stop(Exception): pass
def stop(*_): raise Stop
signal.signal(signal.SIGALRM, stop)
random, pieces, begun, ended, done, stopped, late = random.Random(7), len(shares.pieces(64, 3, 1)), [], [], 0, 0, 0
def run(first, last):
    begun.append(first)
    time.sleep(2e-5)  # as a kernel does, without Python's lock
    ended.append(first)
for _ in range(4000):
    begun.clear(), ended.clear()
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-5, 8e-4))
            shares.share(run, 64, 3, 1)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        done += sorted(ended) == [first for first, _ in shares.pieces(64, 3, 1)]
    except Stop:
        stopped += 1
        late += len(begun) - len(ended) > 1  # one is the caller's own, in which it was stopped
shares.share(run, 64, 3, 1)
print(done + stopped, stopped > 100, late)
"""


def test_a_signal_that_raises_at_any_step_leaves_nothing_locked() -> None:
    environment = {**os.environ, "MYTRITON_CPU_THREADS": "3"}
    ran = subprocess.run(
        [sys.executable, "-c", _STOPPED], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (ran.stdout, ran.stderr) == ("4000 True 0\n", "")


def test_a_wrong_number_of_threads_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYTRITON_CPU_THREADS", "many")
    with pytest.raises(LaunchError, match="MYTRITON_CPU_THREADS is the number of threads to use, got 'many'"):
        shares.threads.__wrapped__()


@triton.jit
def checked_kernel(x, out, n, bad, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.device_assert(tl.program_id(0) < bad, "too far")
    tl.store(out + offs, tl.load(x + offs, mask=offs < n) + 1, mask=offs < n)


def test_launches_from_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    runner("cpu")
    monkeypatch.setattr(jit, "_ELEMENTS_PER_THREAD", 1)
    monkeypatch.setattr(jit, "_ELEMENTS_PER_PIECE", 1)
    monkeypatch.setattr(jit, "threads", lambda: 3)
    n, x = 6400, np.arange(6400, dtype=np.float32)
    outs = [np.zeros_like(x) for _ in range(4)]
    failures: list[str] = []

    def launch(number: int) -> None:
        for bad in (1000, 40 + number):
            try:
                checked_kernel[(100,)](x, outs[number], n, bad, BLOCK=64, backend="cpu")
            except LaunchError as error:
                failures.append(str(error))

    callers = [threading.Thread(target=launch, args=(number,)) for number in range(len(outs))]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    for out in outs:
        np.testing.assert_array_equal(out, x + 1)
    assert sorted(failures) == sorted(f for f in failures if "too far" in f)
    assert all(any(f"program ({40 + number}, 0, 0)" in f for f in failures) for number in range(4))
