"""What a launch costs the host before the driver has it: arrays and a driver that do nothing, so no GPU is needed.

    python -m tests.benchmarks.launch [RUNS]

On a GPU add what the driver takes (`python -m tests.benchmarks.gpu launch` measures both together).
"""

from __future__ import annotations

import ctypes
import itertools
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import mytriton as triton
import mytriton.language as tl
from mytriton import options
from mytriton.backends.nvidia import device, driver
from mytriton.binding import native
from tests.benchmarks import stats


class Array:
    """What of a CuPy array a launch looks at."""

    __module__ = "cupy"
    _c_contiguous = True

    def __init__(self, address: int, size: int) -> None:
        self.data = SimpleNamespace(ptr=address, device_id=0)
        self.dtype, self.size, self.itemsize, self.strides = np.dtype("f4"), size, 4, (4,)
        self.flags = SimpleNamespace(c_contiguous=True)
        self.__cuda_array_interface__ = {
            "shape": (size,), "strides": None, "typestr": "<f4", "data": (address, False), "version": 3,
        }  # fmt: skip


class Tensor:
    """The same of a torch tensor."""

    __module__ = "torch"
    dtype, device, is_cuda, is_cpu, is_sparse = "torch.float32", SimpleNamespace(type="cuda"), True, False, False

    def __init__(self, address: int, size: int) -> None:
        self._address, self._size = address, size

    def data_ptr(self) -> int:
        return self._address

    def numel(self) -> int:
        return self._size

    def get_device(self) -> int:
        return 0

    def is_neg(self) -> bool:
        return False


class Driver:
    """A libcuda that says yes to everything, through ctypes' conversions as far as launches take them."""

    def __getattr__(self, name: str) -> Any:
        return lambda *args: 0

    def cuDevicePrimaryCtxRetain(self, context: Any, ordinal: int) -> int:
        context._obj.value = 100 + ordinal
        return 0

    def cuCtxGetCurrent(self, context: Any) -> int:
        context._obj.value = 100
        return 0

    def cuModuleGetFunction(self, function: Any, module: Any, name: bytes) -> int:
        function._obj.value = 1000
        return 0


def pretend() -> None:
    """Put the stand-ins in place of the driver, CuPy and torch."""
    found = device.Probe("ready", (device.Device("stand-in", (9, 0)),), (13, 0))
    for module in (device, options):
        vars(module)["probe"] = lambda: found
    library = Driver()
    vars(driver)["library"] = lambda: library
    stream = SimpleNamespace(ptr=0)
    # Compiled functions, as CuPy's are, that take as many arguments.
    binding = SimpleNamespace(
        launchKernel="".format, ctxGetCurrent=itertools.repeat(100).__next__, CUDADriverError=ctypes.ArgumentError
    )
    cuda = SimpleNamespace(get_current_stream={0: stream}.get, driver=binding)
    modules: dict[str, Any] = sys.modules  # type: ignore[assignment]
    modules["cupy"] = SimpleNamespace(ndarray=Array, cuda=cuda)
    raw = SimpleNamespace(_cuda_getCurrentRawStream=abs)
    modules["torch"] = SimpleNamespace(Tensor=Tensor, _C=raw, dtype=str)


FACTOR = tl.constexpr(2)


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    total = tl.load(x + offs, mask=mask) + FACTOR * tl.load(y + offs, mask=mask)
    tl.store(out + offs, total, mask=mask)


def bound_by(way: str) -> bool:
    """Have launches bound by Python or by C from now on; False where C is not to be had."""
    add_kernel.clear_cache()
    native.STATE.search, native.STATE.module = threading.Thread(), None
    if way == "C" and native.possible():
        with tempfile.TemporaryDirectory() as folder:
            source, library = Path(folder, "driver.c"), Path(folder, "driver.so")
            source.write_text("int launch(void) { return 0; } int context(void **it) { *it = (void *)100; return 0; }")
            subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
            calls = ctypes.CDLL(str(library))
        addresses = tuple(ctypes.cast(call, ctypes.c_void_p).value for call in (calls.launch, calls.context))
        vars(driver)["addresses"] = lambda: addresses
        native.STATE.module = native.load(native.compiled())
    return way == "Python" or native.STATE.module is not None


def main() -> None:
    """Print the table."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    pretend()
    n = 1000
    grid = lambda meta: (triton.cdiv(meta["n"], meta["BLOCK"]),)  # noqa: E731 (as kernels are launched)
    for (name, kind), way in itertools.product((("CuPy", Array), ("torch", Tensor)), ("Python", "C")):
        if not bound_by(way):
            continue
        x, y, out = (kind(address, n) for address in (1 << 20, 2 << 20, 3 << 20))
        ready = add_kernel[(4,)]
        calls = {
            "kernel[(4,)](x, y, out, n, BLOCK=256)": lambda a=(x, y, out): add_kernel[(4,)](*a, n, BLOCK=256),
            "the same, kernel[(4,)] made before": lambda a=(x, y, out), ready=ready: ready(*a, n, BLOCK=256),
            "kernel[lambda meta: ...](...)": lambda a=(x, y, out): add_kernel[grid](*a, n, BLOCK=256),
            "what kernel.bind((4,), ...) gives": add_kernel.bind((4,), x, y, out, n, BLOCK=256),
        }
        for what, call in calls.items():
            values = []
            for _ in range(runs):
                call()
                start = time.perf_counter()
                for _ in range(100):
                    call()
                values.append((time.perf_counter() - start) / 100)
            least, p50 = min(values) * 1e6, stats.percentile(values, 0.5) * 1e6
            print(f"{name:6} {way:6} {what:40} {least:6.2f} us least, {p50:6.2f} us p50")


if __name__ == "__main__":
    main()
