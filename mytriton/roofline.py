"""The two limits of a device: how fast its memory is, and how fast it computes."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np

from mytriton.cache import Entry
from mytriton.target import GPU_BACKENDS


@dataclass(frozen=True, slots=True)
class Cache:
    """A cache that keeps data from launch to launch; `shared` if other cores, or other programs on them, use it too."""

    name: str
    bytes: int
    shared: bool

    def __str__(self) -> str:
        unit, size = ("MB", self.bytes / (1 << 20)) if self.bytes >= 1 << 20 else ("kB", self.bytes / 1024)
        return f"{self.name} cache of {size:.3g} {unit}"


@dataclass(frozen=True, slots=True)
class Peak:
    """Bytes a second from memory, operations a second by floating-point type, and how they are known. `caches` are
    those that benches do not clear, the smallest first."""

    bandwidth: float
    flops: Mapping[str, float] = field(default_factory=dict)
    source: str = ""
    caches: tuple[Cache, ...] = ()

    def cache(self, size: int, bandwidth: float) -> str:
        """The cache that a launch finds `size` bytes in, which it moves at a `bandwidth`; "" if it is memory, or not
        known. A shared one counts if memory is not that fast."""
        found = next((c for c in self.caches if 0 < size <= c.bytes), None)
        return "" if found is None or (found.shared and bandwidth <= self.bandwidth) else str(found)


def peak_of(backend: str) -> Peak:
    """The limits of what runs a backend. The host's are measured at the first call of a process."""
    return gpu_peak() if backend in GPU_BACKENDS else host_peak()


@lru_cache(maxsize=1)
def gpu_peak() -> Peak:
    """Those of the first GPU."""
    from mytriton.backends.nvidia import peaks

    return Peak(peaks.bandwidth(), peaks.flops(), "by the device's attributes, without tensor cores")


_COPIED, _SIDE, _TRIES = 128 << 20, 768, 5


@lru_cache(maxsize=1)
def host_peak() -> Peak:
    """Those of all cores, as NumPy gets at them: copying 128 MB (twice as many bytes), and a matrix product. Other work
    only makes a machine look slower, so the best that a process has measured here is kept on disk."""
    original = np.ones(_COPIED // 8)
    target = np.empty_like(original)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    parts = list(zip(np.array_split(target, cores), np.array_split(original, cores), strict=True))
    with ThreadPoolExecutor(cores) as pool:
        seconds = _best(lambda: list(pool.map(lambda part: np.copyto(*part), parts)))
    rates = {"bytes": 2.0 * _COPIED / seconds}
    for name, dtype in (("f32", np.float32), ("f64", np.float64)):
        matrix = np.ones((_SIDE, _SIDE), dtype)
        rates[name] = 2.0 * _SIDE**3 / _best(lambda m=matrix: m @ m)  # type: ignore[misc]
    rates = _best_ever(rates, cores)
    bandwidth = rates.pop("bytes")
    rates |= {"f16": rates["f32"], "bf16": rates["f32"]}
    source = f"measured, the best so far: a NumPy copy and a matrix product, {cores} cores"
    return Peak(bandwidth, rates, source, tuple(_caches(Path("/sys/devices/system/cpu/cpu0/cache"))))


def _best_ever(rates: dict[str, float], cores: int) -> dict[str, float]:
    """These rates, or what an earlier process measured on as many cores of this machine where that is better."""
    entry = Entry("host limits", (*platform.uname(), _processor(), str(cores), np.__version__), (), (__file__,))
    kept = entry.read()
    before = {name: float(value) for name, value in (kept or {}).items()}
    best = {name: max(rate, before.get(name, 0.0)) for name, rate in rates.items()}
    if best != before:
        entry.write({name: repr(rate).encode() for name, rate in best.items()})
    return best


def _processor() -> str:
    """Its model, as Linux tells; "" elsewhere."""
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next((line for line in lines if line.startswith("model name")), "")
    return ""


def _caches(folder: Path) -> Iterator[Cache]:
    """Those of a core, as Linux tells; none elsewhere."""
    for index in sorted(folder.glob("index*")):
        with suppress(OSError, ValueError, KeyError):
            level, kind, size = ((index / name).read_text().strip() for name in ("level", "type", "size"))
            if kind != "Instruction":
                yield Cache(f"L{level}", int(size[:-1]) * {"K": 1 << 10, "M": 1 << 20}[size[-1]], int(level) > 2)


def _best(call: Callable[[], object]) -> float:
    times = []
    for _ in range(_TRIES):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)
