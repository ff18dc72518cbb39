"""Timing: by CUDA events around launches, and of calls in turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mytriton.backends.nvidia import driver, events
from mytriton.testing import in_turn


class FakeDriver:
    """Takes the calls that time a launch, and has a clock by which the n-th of them takes n milliseconds."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.timed = 0

    def __getattr__(self, name: str) -> Callable[..., int]:
        def call(*args: Any) -> int:
            self.calls.append(name)
            if name == "cuEventElapsedTime":
                self.timed += 1
                args[0]._obj.value = float(self.timed)
            return 0

        return call


def test_events_are_around_each_launch_and_the_cache_is_cleared_before(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeDriver()
    monkeypatch.setattr(driver, "library", lambda: fake)
    monkeypatch.setattr(driver, "use_device", lambda device: None)
    monkeypatch.setattr(events, "attribute", lambda number, device: 200 << 20)
    timer = events.Events()
    assert timer.clock == "CUDA events, L2 cleared (400 MB) before each run"
    assert timer.batch(lambda: fake.calls.append("launch"), 2) == pytest.approx([1e-3, 2e-3])
    one = ["cuMemsetD8Async", "cuEventRecord", "launch", "cuEventRecord"]
    assert fake.calls[fake.calls.index("cuMemsetD8Async") :] == [
        *(one * 2),
        "cuStreamSynchronize",
        *["cuEventElapsedTime"] * 2,
        *["cuEventDestroy_v2"] * 4,
        "cuMemFree_v2",
    ]


def test_a_launch_that_does_not_count_warms_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = FakeDriver()
    monkeypatch.setattr(driver, "library", lambda: fake)
    monkeypatch.setattr(driver, "use_device", lambda device: None)
    monkeypatch.setattr(events, "attribute", lambda number, device: 200 << 20)
    timer = events.Events(warm=True)
    assert timer.clock == "CUDA events, L2 cleared (400 MB), and a run that does not count, before each run"
    timer.batch(lambda: fake.calls.append("launch"), 1)
    first = fake.calls.index("cuMemsetD8Async")
    assert fake.calls[first : first + 5] == ["cuMemsetD8Async", "launch", "cuEventRecord", "launch", "cuEventRecord"]


def test_calls_are_timed_in_turn_after_some_that_do_not_count() -> None:
    called: list[str] = []

    class Clock:
        clock = "counted"

        def batch(self, call: Callable[[], object], count: int) -> list[float]:
            return [float(call() is None) * len(called) for _ in range(count)]

    found = in_turn({"a": lambda: called.append("a"), "b": lambda: called.append("b")}, Clock(), rounds=20)
    assert called == ["a", "b"] * (2 * (10 + 10))
    assert found["a"].seconds[:2] == (21.0, 23.0) and found["b"].seconds[0] == 22.0
    assert [len(samples.seconds) for samples in found.values()] == [20, 20]
    assert in_turn({}, Clock()) == {}
