"""Benches examples: how long a launch takes, and how that compares with what the device could do at most."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from mytriton import backends
from mytriton.compile import SHARED
from mytriton.decorated import Decorated
from mytriton.descriptors import opened
from mytriton.diagnostics import BackendUnavailable, LaunchError
from mytriton.examples import ExampleCase
from mytriton.ir.core import Func
from mytriton.launch import JITFunction
from mytriton.roofline import Peak, peak_of
from mytriton.running import Progress, ReadyExample, chosen, placed
from mytriton.target import GPU_BACKENDS, Target
from mytriton.testing import Samples, Timer, WallClock, measure
from mytriton.timings import Tuning
from mytriton.work import Work, count_work


@dataclass(frozen=True, slots=True)
class Bench:
    """The samples of an example on a backend, what a launch has to do, and what the device could do at most. `warm` are
    samples with what the launch before left in the L2 cache of a GPU, which `samples` begin without."""

    label: str
    backend: str
    device: str
    samples: Samples
    work: Work
    peak: Peak
    warm: Samples | None = None

    def __str__(self) -> str:
        low, median, high = (f"{1e6 * self.samples.quantile(q):.1f} us" for q in (0.2, 0.5, 0.8))
        limit = None if self.cache else self.peak.bandwidth
        moved = _rate(self.bandwidth, limit, "GB/s") + (f" out of the {self.cache}" if self.cache else "")
        warm = f", {1e6 * self.warm.median:.1f} us with a warm cache" if self.warm is not None else ""
        return (
            f"{self.label} on {self.backend} ({self.device}): median {median} of {len(self.samples.seconds)} runs, "
            f"p20 to p80 {low} to {high}{warm}, {moved}, "
            f"{_rate(self.flop_rate, self.peak_flops, 'GFLOP/s')}"
        )

    @property
    def bandwidth(self) -> float:
        """Ideal bytes a second; 0 if they are not known, or the clock saw no time pass."""
        return self.work.bytes / self.samples.median if self.samples.median else 0.0

    @property
    def cache(self) -> str:
        """The cache that all of it is in, if it is: then memory is no limit."""
        return self.peak.cache(self.work.bytes, self.bandwidth)

    @property
    def flop_rate(self) -> float:
        """Floating-point operations a second."""
        return self.work.total_flops / self.samples.median if self.samples.median else 0.0

    @property
    def peak_flops(self) -> float | None:
        """The device's rate for the type that most operations are of; None if it is not known."""
        flops = self.work.flops
        return self.peak.flops.get(max(flops, key=lambda name: flops[name])) if flops else None


def bench_example(
    kernel: JITFunction, case: ExampleCase, target: Target, *, seconds: float = 0.5, progress: Progress | None = None
) -> Bench:
    """Build the example and launch it on `target` for about `seconds`; its arrays are not set back between launches.

    `progress` may raise. Raises `BackendUnavailable` if the backend cannot run here (no other is tried),
    `CompileError`, `LaunchError`, and whatever the example's own function raises.
    """
    reason = backends.get(target.backend).available()
    if reason is not None:
        raise BackendUnavailable(reason)
    example = kernel.completed(case.build())
    target = chosen(target, example)

    def told(what: str, done: int, total: int) -> None:
        if progress is not None:
            progress(what, done, total)

    ready = ReadyExample(kernel, example, target, progress if target.backend == "interp" else None)
    optimized: Func = ready.launch.compilation.stage(SHARED[-1]).artifact
    passed = opened(example.args)
    arguments = [passed[name] for name, _, _ in ready.launch.compilation.specialization.params]
    work = count_work(optimized, arguments, ready.launch.grid, lambda *count: told("programs counted", *count))
    peak = peak_of(target.backend)
    runs = partial(told, "runs")
    samples, warm = measure(ready.start, timer_of(target.backend), budget=seconds, progress=runs), None
    if ready.on_gpu:
        warm = measure(ready.start, timer_of(target.backend, warm=True), budget=seconds / 4, progress=runs)
    return Bench(case.label, target.backend, ready.device, samples, work, peak, warm)


def tune_example(kernel: JITFunction, case: ExampleCase, target: Target, *, progress: Progress | None = None) -> Tuning:
    """Build the example and measure on its arguments every config of an autotuned kernel, whatever the example says of
    what they choose. Raises as `bench_example` does."""
    reason = backends.get(target.backend).available()
    if reason is not None:
        raise BackendUnavailable(reason)
    tuner = kernel.tuner if isinstance(kernel, Decorated) else None
    if tuner is None or not isinstance(kernel, Decorated):
        raise LaunchError(f"`{kernel.name}` is not autotuned; put @autotune above @jit")
    example = case.build()
    options = {"backend": target.backend, **example.options}
    given = {name: v for name, v in {**example.args, **options}.items() if name not in tuner.chosen}
    return kernel.tune(example.grid, progress=progress, **placed(given, target))


def timer_of(backend: str, *, warm: bool = False) -> Timer:
    """The clock of what runs a backend; `warm`: with a GPU's caches as the run before left them, as the host's are."""
    if backend not in GPU_BACKENDS:
        return WallClock()
    from mytriton.backends.nvidia.events import Events

    return Events(warm=warm)


def _rate(rate: float, peak: float | None, unit: str) -> str:
    return f"{rate / 1e9:.3g} {unit}" + (f" ({rate / peak:.0%} of the limit)" if peak and rate else "")
