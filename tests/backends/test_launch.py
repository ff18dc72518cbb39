"""Finding a GPU and launching on it, against a stand-in for the driver: what is asked of it, and in which layout."""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mytriton.backends.nvidia import device, driver, launch
from mytriton.diagnostics import LaunchError
from mytriton.target import Target
from mytriton.types import PointerType, Type, bf16, f16, f32, f64, i1, i32, i64

# --- the device -------------------------------------------------------------------------------------------------------


class FakeCuda:
    """A libcuda that answers `cuInit` with a code and has the given devices; records launches."""

    def __init__(self, init: int = 0, capabilities: tuple[tuple[int, int], ...] = ((9, 0),)) -> None:
        self._init, self._capabilities = init, capabilities
        self.current = 0
        self.launches: list[tuple[Any, ...]] = []
        self.load_code = 0

    def __getattr__(self, name: str) -> Callable[..., int]:
        return lambda *args: 0

    def cuInit(self, flags: int) -> int:
        return self._init

    def cuDriverGetVersion(self, version: Any) -> int:
        version._obj.value = 13000
        return 0

    def cuDeviceGetCount(self, count: Any) -> int:
        count._obj.value = len(self._capabilities)
        return 0

    def cuDeviceGetName(self, buffer: Any, size: int, ordinal: int) -> int:
        buffer.value = b"NVIDIA Fake"
        return 0

    def cuDeviceGetAttribute(self, value: Any, attribute: int, ordinal: int) -> int:
        value._obj.value = self._capabilities[ordinal][attribute - 75]
        return 0

    def cuGetErrorName(self, code: int, name: Any) -> int:
        name._obj.value = b"CUDA_ERROR_FAKE"
        return 0

    def cuGetErrorString(self, code: int, text: Any) -> int:
        text._obj.value = b"a fake error"
        return 0

    def cuDevicePrimaryCtxRetain(self, context: Any, ordinal: int) -> int:
        context._obj.value = 100 + ordinal
        return 0

    def cuCtxGetCurrent(self, context: Any) -> int:
        context._obj.value = self.current
        return 0

    def cuCtxSetCurrent(self, context: int) -> int:
        self.current = context
        return 0

    def cuModuleLoadData(self, module: Any, data: bytes) -> int:
        module._obj.value = 5
        return self.load_code

    def cuFuncSetAttribute(self, function: int, attribute: int, value: int) -> int:
        self.attributes = (function, attribute, value)
        return 0 if value <= 227 << 10 else 1

    def cuFuncSetCacheConfig(self, function: int, config: int) -> int:
        self.config = config
        return 0

    def cuModuleGetFunction(self, function: Any, module: Any, name: bytes) -> int:
        function._obj.value = 1000 + self.current
        return 0

    def cuLaunchKernel(self, function: int, *rest: Any) -> int:
        *shape, stream, _, extra = rest
        packed = b""
        if extra is not None:
            fields = (ctypes.c_void_p * 5).from_address(extra)
            assert (fields[0], fields[2], fields[4]) == (1, 2, None)
            packed = ctypes.string_at(fields[1] or 0, ctypes.c_size_t.from_address(fields[3] or 0).value)
        self.launches.append((function, tuple(shape), stream, packed))
        return 0


@pytest.mark.parametrize(
    ("cuda", "state", "reason"),
    [
        (FakeCuda(100), "no-device", "the NVIDIA driver finds no GPU"),
        (FakeCuda(0, ()), "no-device", "the NVIDIA driver finds no GPU"),
        (FakeCuda(999), "error", "the NVIDIA driver failed to start: CUDA_ERROR_FAKE (999): a fake error"),
        (FakeCuda(0, ((9, 0), (8, 9))), "ready", ""),
    ],
)
def test_probe(monkeypatch: pytest.MonkeyPatch, cuda: FakeCuda, state: str, reason: str) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: cuda)
    found = device.probe.__wrapped__()
    assert (found.state, found.reason, found.driver) == (state, reason, (13, 0))
    if state == "ready":
        assert [(d.name, d.chip) for d in found.devices] == [("NVIDIA Fake", "sm_90a"), ("NVIDIA Fake", "sm_89")]


def test_probe_without_a_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Any:
        raise OSError("cannot open shared object file")

    monkeypatch.setattr(ctypes, "CDLL", absent)
    assert device.probe.__wrapped__().state == "no-driver"


def test_the_chip_of_a_device_is_the_best_whose_cubins_it_runs() -> None:
    chips = {c: device.Device("", c).chip for c in ((7, 5), (8, 7), (9, 0), (10, 3), (12, 1), (7, 0))}
    assert chips == {
        (7, 5): "sm_75", (8, 7): "sm_86", (9, 0): "sm_90a", (10, 3): "sm_100", (12, 1): "sm_120", (7, 0): None,
    }  # fmt: skip


# --- launching --------------------------------------------------------------------------------------------------------


class FakeArray:
    """A GPU array as the `__cuda_array_interface__` protocol shows it."""

    def __init__(self, address: int, size: int) -> None:
        self.__cuda_array_interface__ = {"data": (address, False), "shape": (size,)}


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> FakeCuda:
    fake = FakeCuda()
    monkeypatch.setattr(driver, "library", lambda: fake)
    monkeypatch.setattr(driver, "primary_context", driver.primary_context.__wrapped__)
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    return fake


PARAMS: list[tuple[str, Type]] = [
    ("flag", i1), ("x", PointerType(f32)), ("n", i32), ("big", i64), ("h", f16), ("b", bf16), ("s", f32), ("d", f64),
]  # fmt: skip


def test_parameters_are_packed_as_the_driver_lays_them_out(cuda: FakeCuda) -> None:
    run = launch.CubinLauncher(b"cubin", "kernel", PARAMS, Target(num_warps=2))
    run((3, 2, 1), [True, FakeArray(0x7000, 5), -2, 2**40, 1.0, 1.0, 1e300, 0.1])
    ((function, shape, stream, packed),) = cuda.launches
    assert (function, shape, stream) == (1100, (3, 2, 1, 64, 1, 1, 0), 0)
    expected = struct.pack("@?QiqHHfd", True, 0x7000, -2, 2**40, 0x3C00, 0x3F80, float("inf"), 0.1)
    assert packed == expected and len(packed) == 48


def test_a_memref_is_five_fields(cuda: FakeCuda) -> None:
    run = launch.CubinLauncher(b"cubin", "kernel", PARAMS[1:3], Target(), launch.MEMREF)
    run((1, 1, 1), [FakeArray(0x7000, 5), 9])
    assert cuda.launches[0][3] == struct.pack("@QQqqqi", 0x7000, 0x7000, 0, 5, 1, 9)


def test_a_kernel_without_parameters_and_an_empty_grid(cuda: FakeCuda) -> None:
    run = launch.CubinLauncher(b"cubin", "kernel", [], Target())
    run((0, 1, 1), [])
    assert cuda.launches == []
    run((1, 1, 1), [])
    assert cuda.launches[0][3] == b""


@pytest.mark.parametrize(
    ("grid", "args", "message"),
    [
        ((2**31, 1, 1), None, "grid extent 2147483648 along axis 0 is outside 0..2147483647"),
        ((1, 65536, 1), None, "grid extent 65536 along axis 1 is outside 0..65535"),
        ((1, 1, -1), None, "grid extent -1 along axis 2 is outside 0..65535"),
        ((1, 1, 1), [np.zeros(3), 1], "argument 'x' must be a GPU array"),
        ((1, 1, 1), [FakeArray(1, 1), 2**31], "an argument does not fit its parameter's type"),
        ((1, 1, 1), [FakeArray(1, 1), "three"], "argument 'n' must be a number, got str"),
    ],
)
def test_what_cannot_be_launched(cuda: FakeCuda, grid: tuple[int, int, int], args: Any, message: str) -> None:
    run = launch.CubinLauncher(b"cubin", "kernel", PARAMS[1:3], Target())
    with pytest.raises(LaunchError, match=message.replace("(", r"\(")):
        run(grid, args if args is not None else [FakeArray(1, 1), 1])
    assert cuda.launches == []


def test_the_plain_form_refuses_a_grid_its_text_does_not_allow_for(cuda: FakeCuda) -> None:
    run = launch.CubinLauncher(b"cubin", "kernel", [], Target(form="plain"))
    with pytest.raises(LaunchError, match=r"outside 0\.\.4194304"):
        run((2**22 + 1, 1, 1), [])


def test_shared_memory_that_is_asked_for(cuda: FakeCuda) -> None:
    launch.CubinLauncher(b"cubin", "kernel", [], Target())((1, 1, 1), [])
    assert "config" not in vars(cuda)  # a kernel without keeps the cache, where its loads are on their way
    run = launch.CubinLauncher(b"cubin", "kernel", [], Target(), shared=65544)
    run((1, 1, 1), [])
    assert (cuda.attributes[0].value, *cuda.attributes[1:]) == (1100, 8, 65544)
    assert cuda.launches[-1][1] == (1, 1, 1, 128, 1, 1, 65544)
    assert cuda.config == 1
    run = launch.CubinLauncher(b"cubin", "kernel", [], Target(), shared=300_000)
    with pytest.raises(LaunchError, match="asking for 300000 bytes of shared memory for kernel 'kernel' failed"):
        run((1, 1, 1), [])


def test_driver_errors_are_launch_errors(cuda: FakeCuda) -> None:
    cuda.load_code = 209
    run = launch.CubinLauncher(b"cubin", "kernel", [], Target())
    with pytest.raises(LaunchError, match=r"loading the cubin failed: CUDA_ERROR_FAKE \(209\).*another GPU arch"):
        run((1, 1, 1), [])


def test_loading_is_no_part_of_a_capture(cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def exchange(mode: Any) -> int:
        asked.append(mode._obj.value)
        mode._obj.value = 1 if len(asked) == 1 else 2  # the capture's own, then ours
        return 0

    monkeypatch.setattr(cuda, "cuThreadExchangeStreamCaptureMode", exchange, raising=False)
    monkeypatch.setattr(cuda, "cuFuncLoad", lambda function: asked.append(function.value) or 0, raising=False)
    run = launch.CubinLauncher(b"cubin", "kernel", [], Target())
    for _ in range(2):
        run((1, 1, 1), [])
    assert asked == [2, 1100, 1]


def test_arrays_of_two_devices_and_the_stream_of_cupy(cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
    def array(ordinal: int) -> Any:
        made = type("ndarray", (), {"__module__": "cupy"})()
        made.data, made.size = SimpleNamespace(ptr=64, device_id=ordinal), 1
        return made

    stream = SimpleNamespace(ptr=77)
    calls: list[Any] = []
    binding = SimpleNamespace(launchKernel=lambda *args: calls.append(args), CUDADriverError=RuntimeError)
    module = SimpleNamespace(cuda=SimpleNamespace(get_current_stream=lambda gpu: stream, driver=binding))
    monkeypatch.setitem(sys.modules, "cupy", module)  # type: ignore[arg-type]
    run = launch.CubinLauncher(b"cubin", "kernel", [("x", PointerType(f32)), ("y", PointerType(f32))], Target())
    run((1, 1, 1), [array(1), array(1)])
    assert cuda.current == 101  # the context of GPU 1
    assert calls[0][:9] == (1101, 1, 1, 1, 128, 1, 1, 0, 77)
    with pytest.raises(LaunchError, match="argument 'y' is on GPU 0, another is on GPU 1"):
        run((1, 1, 1), [array(1), array(0)])
