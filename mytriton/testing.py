"""Timing: repeated measurements of a call, on the clock of what runs it.

Kernels on a GPU are timed by CUDA events around each launch, with the L2 cache cleared before it, which also gives the
host the time to be ahead of the GPU; launches are queued in batches and waited for once a batch. Calls on the host are
timed by the wall clock, one by one, with the caches as the call before left them.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar

import numpy as np

_Key = TypeVar("_Key", bound=Hashable)

ReturnMode = Literal["mean", "median", "min", "max", "all"]


@dataclass(frozen=True, slots=True)
class Samples:
    """The seconds of each timed call, in order, and by what clock."""

    seconds: tuple[float, ...] = field(repr=False)
    clock: str

    def __repr__(self) -> str:
        return f"<Samples: median {self.median * 1e6:.3g} us of {len(self.seconds)} calls, {self.clock}>"

    def quantile(self, fraction: float) -> float:
        """Linear between samples."""
        return float(np.quantile(self.seconds, fraction))

    @property
    def median(self) -> float:
        """Half of the samples took longer."""
        return self.quantile(0.5)


class Timer(Protocol):
    """A clock: times `count` calls, and says how."""

    clock: str

    def batch(self, call: Callable[[], object], count: int) -> list[float]:
        """The seconds of each of `count` calls."""


class WallClock:
    """For what runs on the host."""

    clock = "wall clock, caches as the run before left them"

    def batch(self, call: Callable[[], object], count: int) -> list[float]:
        """One call after the other."""
        seconds = []
        for _ in range(count):
            start = time.perf_counter()
            call()
            seconds.append(time.perf_counter() - start)
        return seconds


#: Seconds between two calls of `progress`, about.
_BATCH = 0.1
#: `in_turn` queues so many rounds at once, after so many calls that do not count.
_ROUNDS, _AWAKE = 10, 20
#: A measurement has so many samples, unless they take many times the budget.
_FEWEST, _PATIENCE = 3, 10


def measure(
    call: Callable[[], object],
    timer: Timer,
    *,
    warmup: float = 0.1,
    budget: float = 0.5,
    at_most: int = 10_000,
    progress: Callable[[int, int], None] | None = None,
) -> Samples:
    """Time calls for `budget` seconds, after calls for `warmup` seconds that do not count (one at least). Between
    batches `progress` is told how many are timed, and of about how many; it may raise."""
    begin = time.perf_counter()
    estimate = timer.batch(call, 1)[0]
    while (spent := time.perf_counter() - begin) < warmup:
        batch = timer.batch(call, _count(_BATCH / 4, spent, estimate, at_most))
        estimate = min(batch)
    seconds: list[float] = []
    cost = max(estimate, 1e-9)  # of one sample, with what the timer does around it
    begin = time.perf_counter()
    while True:
        spent = time.perf_counter() - begin
        enough = len(seconds) >= _FEWEST or spent >= _PATIENCE * budget
        if seconds and (len(seconds) >= at_most or (spent >= budget and enough)):
            return Samples(tuple(seconds), timer.clock)
        cost = spent / len(seconds) if seconds and spent > 0 else cost
        seconds += timer.batch(call, _count(_BATCH, budget, cost, at_most - len(seconds)))
        if progress is not None:
            progress(len(seconds), max(len(seconds), min(at_most, round(budget / cost))))


def in_turn(
    calls: Mapping[_Key, Callable[[], object]], timer: Timer | None = None, rounds: int = 30
) -> dict[_Key, Samples]:
    """Time calls that are to be compared, each once a round, so that a drift of the clocks meets all alike; on the
    clock that `do_bench` takes, unless `timer` is another. Ten rounds are queued at once; before these come some calls
    that do not count, since a GPU that has waited is slow for a millisecond (an H200 by 6 percent)."""
    timer = timer or _clock(None)
    turn, seconds = itertools.cycle(calls.values()), list[float]()
    idle = -(-_AWAKE // max(1, len(calls))) * len(calls)
    for _ in range(0, rounds if calls else 0, _ROUNDS):
        seconds += timer.batch(lambda: next(turn)(), idle + _ROUNDS * len(calls))[idle:]
    return {key: Samples(tuple(seconds[i :: len(calls)]), timer.clock) for i, key in enumerate(calls)}


def _count(batch: float, budget: float, cost: float, most: int) -> int:
    """How many calls of a cost make a batch."""
    return max(1, min(most, int(min(batch, budget) / max(cost, 1e-9)), 1000))


def do_bench(
    fn: Callable[[], object],
    warmup: float = 25,
    rep: float = 100,
    grad_to_none: Sequence[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: ReturnMode = "mean",
    device: Literal["cuda", "cpu"] | None = None,
) -> Any:
    """The milliseconds that `fn()` takes, as `triton.testing.do_bench` gives them: by `return_mode`, or the list of
    the `quantiles` if there are any. `warmup` and `rep` are in milliseconds.

    What `fn` launches is timed on the GPU if there is one (on the stream that torch, else CuPy, works on), else on the
    host by the wall clock; `device` says it otherwise.
    """
    timer = _clock(device)

    def call() -> None:
        for tensor in grad_to_none or ():
            tensor.grad = None
        fn()

    samples = measure(call, timer, warmup=warmup / 1e3, budget=rep / 1e3)
    if quantiles is not None:
        values = [1e3 * samples.quantile(q) for q in quantiles]
        return values[0] if len(values) == 1 else values
    if return_mode == "all":
        return [1e3 * s for s in samples.seconds]
    return 1e3 * float(getattr(np, return_mode)(samples.seconds))


def _clock(device: Literal["cuda", "cpu"] | None) -> Timer:
    from mytriton.backends.nvidia.device import probe

    on_gpu = probe().state == "ready" if device is None else device == "cuda"
    return _events() if on_gpu else WallClock()


def _events() -> Timer:
    from mytriton.backends.nvidia.events import Events

    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if torch is not None and torch.cuda.is_available():
        return Events(torch.cuda.current_device(), torch.cuda.current_stream().cuda_stream)
    if cupy is not None:
        return Events(cupy.cuda.Device().id, cupy.cuda.get_current_stream().ptr)
    return Events()
