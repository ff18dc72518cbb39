"""Is there an NVIDIA driver and a device, and which? Asked of the driver library itself, without CuPy or torch."""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Literal

from mytriton.records import dataclass
from mytriton.target import CHIPS

_NO_DEVICE = 100  # CUDA_ERROR_NO_DEVICE
_CAPABILITY_MAJOR, _CAPABILITY_MINOR = 75, 76  # CUdevice_attribute, CUDA driver API "Device management"


@dataclass(frozen=True, slots=True)
class Device:
    """One GPU; `capability` is (major, minor)."""

    name: str
    capability: tuple[int, int]

    @property
    def chip(self) -> str | None:
        """The best architecture of `CHIPS` whose cubins this device runs: same major number, minor not above its own
        (CUDA programming guide, "Binary Compatibility"); None if there is none. Hopper's is the one that has all of its
        instructions, whose cubins run on it alone ("Architecture-Specific Features")."""
        major, minor = self.capability
        if self.capability == (9, 0):
            return "sm_90a"
        fitting = [n for n in range(minor + 1) if f"sm_{major}{n}" in CHIPS]
        return f"sm_{major}{fitting[-1]}" if fitting else None


@dataclass(frozen=True, slots=True)
class Probe:
    """What was found. `driver` is the CUDA version the driver supports as (major, minor), (0, 0) without a driver;
    `reason` is a sentence unless `state` is "ready"."""

    state: Literal["no-driver", "no-device", "error", "ready"]
    devices: tuple[Device, ...] = ()
    driver: tuple[int, int] = (0, 0)
    reason: str = ""


@lru_cache(maxsize=1)
def probe() -> Probe:
    """The state of this machine, asked once per process (well under a millisecond without a driver)."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return Probe("no-driver", reason="no NVIDIA driver (libcuda.so.1) on this machine")
    version = ctypes.c_int()
    code = cuda.cuInit(0)
    if cuda.cuDriverGetVersion(ctypes.byref(version)) != 0:
        version.value = 0
    driver = (version.value // 1000, version.value % 1000 // 10)
    if code == _NO_DEVICE:
        return Probe("no-device", driver=driver, reason="the NVIDIA driver finds no GPU")
    if code != 0:
        return Probe("error", driver=driver, reason=f"the NVIDIA driver failed to start: {error_text(cuda, code)}")
    count = ctypes.c_int()
    cuda.cuDeviceGetCount(ctypes.byref(count))
    devices = tuple(_device(cuda, i) for i in range(count.value))
    if not devices:
        return Probe("no-device", driver=driver, reason="the NVIDIA driver finds no GPU")
    return Probe("ready", devices, driver)


def _device(cuda: ctypes.CDLL, ordinal: int) -> Device:
    name = ctypes.create_string_buffer(256)
    major, minor = ctypes.c_int(), ctypes.c_int()
    cuda.cuDeviceGetName(name, len(name), ordinal)
    cuda.cuDeviceGetAttribute(ctypes.byref(major), _CAPABILITY_MAJOR, ordinal)
    cuda.cuDeviceGetAttribute(ctypes.byref(minor), _CAPABILITY_MINOR, ordinal)
    return Device(name.value.decode(errors="replace"), (major.value, minor.value))


def error_text(cuda: ctypes.CDLL, code: int) -> str:
    """`CUDA_ERROR_INVALID_VALUE (1): invalid argument` for a driver result code."""
    name, text = ctypes.c_char_p(), ctypes.c_char_p()
    cuda.cuGetErrorName(code, ctypes.byref(name))
    cuda.cuGetErrorString(code, ctypes.byref(text))
    return f"{(name.value or b'unknown error').decode()} ({code}): {(text.value or b'no description').decode()}"
