"""What a GPU can do at most, computed from the attributes that its driver gives."""

from __future__ import annotations

import ctypes

from mytriton.backends.nvidia import driver

# CUdevice_attribute (CUDA driver API, "Device management"); clocks are in kHz.
_CLOCK_RATE, _MULTIPROCESSORS, _MEMORY_CLOCK_RATE, _BUS_WIDTH = 13, 16, 36, 37
_CAPABILITY_MAJOR, _CAPABILITY_MINOR = 75, 76

#: Fused multiply-adds a multiprocessor starts each cycle, f32 and f64, by compute capability (CUDA programming guide,
#: "Arithmetic Instructions").
_FMA_RATES: dict[tuple[int, int], tuple[int, int]] = {
    (7, 5): (64, 2),
    (8, 0): (64, 32),
    (8, 6): (128, 2),
    (8, 7): (128, 2),
    (8, 9): (128, 2),
    (9, 0): (128, 64),
    (10, 0): (128, 64),
    (10, 3): (128, 2),
    (12, 0): (128, 2),
}


def attribute(number: int, device: int = 0) -> int:
    """An attribute of a device, by its number."""
    value = ctypes.c_int()
    code = driver.library().cuDeviceGetAttribute(ctypes.byref(value), number, device)
    driver.check(code, "asking the GPU for its attributes")
    return value.value


def bandwidth(device: int = 0) -> float:
    """Bytes a second between the GPU and its memory: memory clock x 2 transfers x bus width."""
    return attribute(_MEMORY_CLOCK_RATE, device) * 1e3 * 2 * attribute(_BUS_WIDTH, device) / 8


def flops(device: int = 0) -> dict[str, float]:
    """Operations a second by type, without tensor cores: multiprocessors x clock x 2 for each fused multiply-add. f16
    and bf16 are computed in f32. Empty for a GPU whose rates are not known here."""
    capability = attribute(_CAPABILITY_MAJOR, device), attribute(_CAPABILITY_MINOR, device)
    if capability not in _FMA_RATES:
        return {}
    cycles = attribute(_MULTIPROCESSORS, device) * attribute(_CLOCK_RATE, device) * 1e3
    f32, f64 = (2.0 * cycles * rate for rate in _FMA_RATES[capability])
    return {"f32": f32, "f16": f32, "bf16": f32, "f64": f64}
