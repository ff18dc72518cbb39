"""Benches examples: how long a launch takes, and how that compares with what the device could do at most."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from mytriton import backends
from mytriton.compile import SHARED
from mytriton.decorated import Decorated
from mytriton.descriptors import opened
from mytriton.diagnostics import BackendUnavailable, LaunchError
from mytriton.examples import ExampleCase
from mytriton.ir.core import Func
from mytriton.launch import JITFunction
from mytriton.roofline import Peak, peak_of
from mytriton.running import Progress, ReadyExample, placed
from mytriton.target import Target
from mytriton.testing import Samples, Timer, WallClock, measure
from mytriton.timings import Tuning
from mytriton.work import Work, count_work


@dataclass(frozen=True, slots=True)
class Bench:
    """The samples of an example on a backend, what a launch has to do, and what the device could do at most."""

    label: str
    backend: str
    device: str
    samples: Samples
    work: Work
    peak: Peak

    def __str__(self) -> str:
        low, median, high = (f"{1e6 * self.samples.quantile(q):.1f} us" for q in (0.1, 0.5, 0.9))
        return (
            f"{self.label} on {self.backend} ({self.device}): median {median} of {len(self.samples.seconds)} runs, "
            f"p10 to p90 {low} to {high}, {self.bandwidth / 1e9:.3g} GB/s, {self.flop_rate / 1e9:.3g} GFLOP/s"
        )

    @property
    def bandwidth(self) -> float:
        """Ideal bytes a second; 0 if they are not known, or the clock saw no time pass."""
        return self.work.bytes / self.samples.median if self.samples.median else 0.0

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
    target = dataclasses.replace(target, **example.options)

    def told(what: str, done: int, total: int) -> None:
        if progress is not None:
            progress(what, done, total)

    ready = ReadyExample(kernel, example, target, progress if target.backend == "interp" else None)
    optimized: Func = ready.launch.compilation.stage(SHARED[-1]).artifact
    passed = opened(example.args)
    arguments = [passed[name] for name, _, _ in ready.launch.compilation.specialization.params]
    work = count_work(optimized, arguments, ready.launch.grid, lambda *count: told("programs counted", *count))
    peak = peak_of(target.backend)
    samples = measure(
        ready.start, timer_of(target.backend), budget=seconds, progress=lambda *count: told("runs", *count)
    )
    return Bench(case.label, target.backend, ready.device, samples, work, peak)


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


def timer_of(backend: str) -> Timer:
    """The clock of what runs a backend."""
    if backend not in ("cuda", "mlir"):
        return WallClock()
    from mytriton.backends.nvidia.events import Events

    return Events()
