"""Running kernels on every backend in tests: `@on_every_backend` gives a test a `Runner`."""

from __future__ import annotations

import os
from typing import Any

import pytest

from mytriton import JITFunction, backends
from mytriton.descriptors import array_in, with_array
from mytriton.running import DeviceArray

GPU = ("cuda", "mlir")


class Runner:
    """Launches kernels on one backend, in place on NumPy arrays, which travel to the GPU and back where needed."""

    def __init__(self, backend: str) -> None:
        self.backend = backend

    def __call__(self, kernel: JITFunction, grid: Any, *args: Any, **keywords: Any) -> Any:
        on_gpu = self.backend in GPU
        passed = [with_array(a, DeviceArray) if on_gpu else a for a in args]
        result = kernel[grid](*passed, backend=self.backend, **keywords)
        for host, device in zip(map(array_in, args), map(array_in, passed), strict=True):
            if isinstance(device, DeviceArray):
                host[...] = device.get()
        return result


def runner(backend: str) -> Runner:
    """The runner of a backend; skips the test where it cannot run, unless MYTRITON_REQUIRE_CUDA=1 says it must."""
    reason = backends.get(backend).available()
    if reason is not None:
        if backend in GPU and os.environ.get("MYTRITON_REQUIRE_CUDA") == "1":
            pytest.fail(f"MYTRITON_REQUIRE_CUDA=1, but {backend} cannot run: {reason}")
        pytest.skip(reason)
    return Runner(backend)


on_every_backend = pytest.mark.parametrize(
    "run",
    [
        pytest.param("interp"),
        pytest.param("cpu"),
        pytest.param("cuda", marks=pytest.mark.execution),
        pytest.param("mlir", marks=pytest.mark.execution),
    ],
    indirect=True,
)
