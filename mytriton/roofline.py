"""The two limits of a device: how fast its memory is, and how fast it computes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np


@dataclass(frozen=True, slots=True)
class Peak:
    """Bytes a second from memory, operations a second by floating-point type, and how they are known."""

    bandwidth: float
    flops: Mapping[str, float] = field(default_factory=dict)
    source: str = ""


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
    source = np.ones(_COPIED // 8)
    target = np.empty_like(source)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    parts = list(zip(np.array_split(target, cores), np.array_split(source, cores), strict=True))
    with ThreadPoolExecutor(cores) as pool:
        seconds = _best(lambda: list(pool.map(lambda part: np.copyto(*part), parts)))
    rates = {}
    for name, dtype in (("f32", np.float32), ("f64", np.float64)):
        matrix = np.ones((_SIDE, _SIDE), dtype)
        rates[name] = 2.0 * _SIDE**3 / _best(lambda m=matrix: m @ m)  # type: ignore[misc]
    rates |= {"f16": rates["f32"], "bf16": rates["f32"]}
    return Peak(2.0 * _COPIED / seconds, rates, f"measured: a NumPy copy and a matrix product, {cores} cores")


def _best(call: Callable[[], object]) -> float:
    times = []
    for _ in range(_TRIES):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)
