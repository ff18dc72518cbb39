"""Timing on the GPU's own clock: CUDA events around each launch, asked of the driver itself."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mytriton.backends.nvidia import driver
from mytriton.backends.nvidia.peaks import attribute

_L2_CACHE_SIZE = 38  # CUdevice_attribute
#: Clearing this much takes longer than the host takes to queue a launch, so that the GPU never waits for one.
_LEAST = 256 << 20


class Events:
    """Times launches on a stream of a device. Before each, twice the L2 cache is cleared, or 256 MB if that is more; if
    `warm`, a launch that does not count comes between, and leaves its data in the cache."""

    def __init__(self, device: int = 0, stream: int = 0, *, warm: bool = False) -> None:
        self._device, self._stream, self._warm = device, ctypes.c_void_p(stream), warm
        self._bytes = max(_LEAST, 2 * attribute(_L2_CACHE_SIZE, device))
        between = ", and a run that does not count," if warm else ""
        self.clock = f"CUDA events, L2 cleared ({self._bytes >> 20} MB){between} before each run"

    def batch(self, call: Callable[[], object], count: int) -> list[float]:
        """Queue `count` launches, wait for all, and read the clock of each."""
        driver.use_device(self._device)
        cuda, check = driver.library(), driver.check
        with _memory(self._bytes) as memory, _events(2 * count) as events:
            for start, end in zip(events[::2], events[1::2], strict=True):
                check(
                    cuda.cuMemsetD8Async(memory, ctypes.c_ubyte(0), ctypes.c_size_t(self._bytes), self._stream),
                    "clearing the cache",
                )
                if self._warm:
                    call()
                check(cuda.cuEventRecord(start, self._stream), "reading the GPU's clock")
                call()
                check(cuda.cuEventRecord(end, self._stream), "reading the GPU's clock")
            check(cuda.cuStreamSynchronize(self._stream), "running the kernel")
            return [_elapsed(start, end) for start, end in zip(events[::2], events[1::2], strict=True)]


@contextmanager
def _memory(size: int) -> Iterator[ctypes.c_uint64]:
    cuda, memory = driver.library(), ctypes.c_uint64()
    driver.check(cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(size)), "allocating memory to clear L2 with")
    try:
        yield memory
    finally:
        cuda.cuMemFree_v2(memory)


@contextmanager
def _events(count: int) -> Iterator[list[ctypes.c_void_p]]:
    cuda = driver.library()
    events: list[ctypes.c_void_p] = []
    try:
        for _ in range(count):
            event = ctypes.c_void_p()
            driver.check(cuda.cuEventCreate(ctypes.byref(event), 0), "making a CUDA event")
            events.append(event)
        yield events
    finally:
        for event in events:
            cuda.cuEventDestroy_v2(event)


def _elapsed(start: ctypes.c_void_p, end: ctypes.c_void_p) -> float:
    milliseconds = ctypes.c_float()
    code = driver.library().cuEventElapsedTime(ctypes.byref(milliseconds), start, end)
    driver.check(code, "reading the GPU's clock")
    return milliseconds.value / 1e3
