"""The two limits of a device: how fast its memory is, and how fast it computes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np


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
    return gpu_peak() if backend in ("cuda", "mlir") else host_peak()


@lru_cache(maxsize=1)
def gpu_peak() -> Peak:
    """Those of the first GPU."""
    from mytriton.backends.nvidia import peaks

    return Peak(peaks.bandwidth(), peaks.flops(), "by the device's attributes, without tensor cores")


_COPIED, _SIDE, _TRIES = 128 << 20, 768, 5


@lru_cache(maxsize=1)
def host_peak() -> Peak:
    """Those of all cores, as NumPy gets at them: copying 128 MB (twice as many bytes), and a matrix product."""
    original = np.ones(_COPIED // 8)
    target = np.empty_like(original)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    parts = list(zip(np.array_split(target, cores), np.array_split(original, cores), strict=True))
    with ThreadPoolExecutor(cores) as pool:
        seconds = _best(lambda: list(pool.map(lambda part: np.copyto(*part), parts)))
    rates = {}
    for name, dtype in (("f32", np.float32), ("f64", np.float64)):
        matrix = np.ones((_SIDE, _SIDE), dtype)
        rates[name] = 2.0 * _SIDE**3 / _best(lambda m=matrix: m @ m)  # type: ignore[misc]
    rates |= {"f16": rates["f32"], "bf16": rates["f32"]}
    source = f"measured: a NumPy copy and a matrix product, {cores} cores"
    return Peak(2.0 * _COPIED / seconds, rates, source, tuple(_caches(Path("/sys/devices/system/cpu/cpu0/cache"))))


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
