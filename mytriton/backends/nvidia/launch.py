"""Launching a cubin on CuPy and torch arrays (and anything else with `__cuda_array_interface__`), without copies."""

from __future__ import annotations

import ctypes
import struct
import sys
import threading
from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, NoReturn

import ml_dtypes
import numpy as np

from mytriton.backends.nvidia import driver
from mytriton.diagnostics import LaunchError, OutOfResources
from mytriton.ir.arithmetic import convert
from mytriton.records import dataclass
from mytriton.target import MAX_GRID_YZ, Target
from mytriton.types import PointerType, ScalarType, Type, bf16, f16, f32

if TYPE_CHECKING:
    from mytriton.binding.rules import Way


@dataclass(frozen=True, slots=True)
class ArrayAbi:
    """How a parameter passes an array: `struct` format, and the fields as code of `address` and `size`, the number of
    elements."""

    format: str
    packed: str

    def fields(self, address: int, size: int) -> tuple[int, ...]:
        """The fields of an array."""
        return tuple(int(field) for field in self.packed.format(address=address, size=size).split(", "))


POINTER = ArrayAbi("Q", "{address}")
#: A 1-D memref descriptor, unpacked: allocated, aligned, offset, size, stride (MLIR, "LLVM IR Target", memref ABI).
MEMREF = ArrayAbi("QQqqq", "{address}, {address}, 0, {size}, 1")

_FORMATS = {"i1": "?", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H", "u32": "I", "u64": "Q"}
_FORMATS |= {"f8e4nv": "B", "f8e5": "B", "f16": "H", "bf16": "H", "f32": "f", "f64": "d"}


class CubinLauncher:
    """A launcher of kernel `name`, whose runtime parameters are `params` (name, type) in order. At each launch
    `shared` bytes of shared memory are asked for, besides what the cubin says.

    It checks the grid, takes the device and the stream of the first array's library (CuPy's or torch's current
    stream), and raises `LaunchError` for anything that cannot be launched. Thread-safe. Nothing is loaded before the
    first launch on a device.
    """

    def __init__(
        self,
        cubin: bytes,
        name: str,
        params: Sequence[tuple[str, Type]],
        target: Target,
        arrays: ArrayAbi = POINTER,
        shared: int = 0,
    ) -> None:
        self.formats = [arrays.format if isinstance(t, PointerType) else _FORMATS[_scalar(t).name] for _, t in params]
        # Native alignment is the C struct rule, which is how the driver lays parameters out.
        self.packer = struct.Struct("@" + "".join(self.formats))
        self.local = ParameterBuffer(self.packer.size)
        self.target, self.arrays, self.shared = target, arrays, shared
        self.max_programs = target.max_programs
        self._cubin, self._name = cubin, name
        self._numbers = [(param, None if isinstance(t, PointerType) else _scalar(t)) for param, t in params]
        self._functions: dict[int, int] = {}
        self._lock = threading.Lock()

    def __call__(self, grid: tuple[int, int, int], args: Sequence[Any]) -> None:
        if 0 in grid:
            return
        packed, device, library = self._packed(grid, args)
        self.local.buffer.raw = packed
        driver.use_device(device)
        function, extra = self.function(device), self.local.extra if packed else None
        stream = current_stream(library, device)
        _launch_kernel(function, grid, self.target.threads, self.shared, stream, extra)

    def bind(self, grid: tuple[int, int, int], args: Sequence[Any], result: Any) -> Callable[[], Any]:
        """What launches these arguments, checked and packed once, on the stream that is current then, and gives
        `result`."""
        packed, device, library = self._packed(grid, args)
        driver.use_device(device)
        local = ParameterBuffer(len(packed), packed, args)
        what = self.function(device), *grid, self.target.threads, 1, 1, self.shared
        call, current, failure = driver_calls()
        context = driver.primary_context(device)

        def launch() -> Any:
            if current() != context:
                driver.use_device(device)
            try:
                call(*what, current_stream(library, device), 0, local.extra if packed else 0)
            except failure as error:
                refuse(error)
            return result

        return launch

    def pack(self, grid: tuple[int, int, int], args: Sequence[Any]) -> tuple[bytes, str]:
        """The parameters of a launch, and the library of its first array."""
        packed, _, library = self._packed(grid, args)
        return packed, library

    def _packed(self, grid: tuple[int, int, int], args: Sequence[Any]) -> tuple[bytes, int, str]:
        """The parameters, and the GPU and the library of the arrays; raises `LaunchError`."""
        check_grid(grid, self.target)
        fields, values = self.arrays.fields, list[Any]()
        device, first = None, ""
        for (param, number), arg in zip(self._numbers, args, strict=True):
            if number is None:
                address, size, ordinal, library = _array(param, arg)
                values += fields(address, size)
                if device is None:
                    device, first = ordinal, library
                elif ordinal != device:
                    raise LaunchError(f"argument {param!r} is on GPU {ordinal}, another is on GPU {device}")
            else:
                values.append(_number(param, number, arg))
        try:
            return self.packer.pack(*values), device or 0, first
        except struct.error as error:
            raise LaunchError(f"an argument does not fit its parameter's type: {error}") from None

    @property
    def way(self) -> Way:
        """How its launches are repeated."""
        from mytriton.backends.nvidia.way import CubinWay  # for the second launch

        return CubinWay(self.arrays)

    def known(self, args: Sequence[Any]) -> tuple[Any, ...]:
        """What repeats a launch in Python."""
        device = self.device(args)
        pack = self.packer.pack_into, self.local
        return self.function(device), device, self.target.threads, self.shared, *pack

    def in_c(self, args: Sequence[Any]) -> tuple[int, ...]:
        """What repeats a launch in C."""
        device = self.device(args)
        place = self.function(device), driver.primary_context(device), device
        return *place, self.max_programs, self.target.threads, self.shared

    def device(self, args: Sequence[Any]) -> int:
        """The GPU that a launch on these arguments goes to."""
        arrays = (
            _array(param, arg)[2] for (param, number), arg in zip(self._numbers, args, strict=True) if number is None
        )
        return next(arrays, 0)

    def function(self, device: int) -> int:
        """The driver's handle of the kernel on a device, whose context is current."""
        found = self._functions.get(device)
        if found is None:
            with self._lock:
                found = self._functions.get(device) or driver.load_function(self._cubin, self._name, self.shared)
                self._functions[device] = found
        return found


class ParameterBuffer(threading.local):
    """The parameters of one launch, one buffer a thread: the driver reads it while the GIL is released. `both` are the
    buffer and the address of what says to the driver where it is. It begins with what is `packed`; `_kept` lives as
    long as this."""

    def __init__(self, size: int, packed: bytes = b"", _kept: object = None) -> None:
        self.buffer = ctypes.create_string_buffer(packed, max(1, size))
        self._size = ctypes.c_size_t(size)
        # CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE, CU_LAUNCH_PARAM_END
        self._extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(self.buffer), 2, ctypes.addressof(self._size), 0)
        self.extra = ctypes.addressof(self._extra)
        self.both = self.buffer, self.extra


#: cuLaunchKernel: function, grid, block, bytes of shared memory, stream, 0, extra.
Call = Callable[[int, int, int, int, int, int, int, int, int, int, int], object]


def driver_calls() -> tuple[Call, Callable[[], int], type[Exception]]:
    """The driver's call that launches, the one that gives this thread's context, and what they raise. CuPy's compiled
    bindings of them, where it is loaded, cost a tenth of ctypes' (0.2 against 2.7 us)."""
    cupy = sys.modules.get("cupy")
    if cupy is None:
        return _by_ctypes, driver.current_context, LaunchError
    binding = cupy.cuda.driver
    return binding.launchKernel, getattr(binding, "ctxGetCurrent", driver.current_context), binding.CUDADriverError


def _by_ctypes(*parameters: int) -> None:
    *shape, _, extra = parameters
    driver.check(driver.library().cuLaunchKernel(*shape, None, extra or None), "launching the kernel")


def refuse(error: Exception) -> NoReturn:
    """Raise the `LaunchError` for what a call of the driver raised."""
    if isinstance(error, LaunchError):
        raise error
    status = getattr(error, "status", 0)
    kind = OutOfResources if status == driver.OUT_OF_RESOURCES else LaunchError
    raise kind(f"launching the kernel failed: {error}{driver.hint(status)}") from None


def retry(error: Exception, device: int, *call: int) -> None:
    """Launch once more what the driver refused, if the device's context was not current; else raise its `LaunchError`.
    To ask for the context before each launch would cost more than most launches have to."""
    if driver.current_context() == driver.primary_context(device):
        refuse(error)
    driver.use_device(device)
    launch, _, failure = driver_calls()
    try:
        launch(*call)
    except failure as again:
        refuse(again)


def _launch_kernel(
    function: int, grid: tuple[int, int, int], threads: int, shared: int, stream: int, extra: int | None
) -> None:
    call, _, failure = driver_calls()
    try:
        call(function, *grid, threads, 1, 1, shared, stream, 0, extra or 0)
    except failure as error:
        refuse(error)


def check_grid(grid: tuple[int, int, int], target: Target) -> None:
    """Raise `LaunchError` for a grid that the device, or the code as compiled for `target`, does not take."""
    x, y, z = grid
    if 0 <= x <= target.max_programs and 0 <= y <= MAX_GRID_YZ and 0 <= z <= MAX_GRID_YZ:
        return
    limits = (target.max_programs, MAX_GRID_YZ, MAX_GRID_YZ)
    for axis, (extent, limit) in enumerate(zip(grid, limits, strict=True)):
        if not 0 <= extent <= limit:
            raise LaunchError(f"grid extent {extent} along axis {axis} is outside 0..{limit}")


def _array(param: str, arg: Any) -> tuple[int, int, int, str]:
    """Device address, number of elements, GPU ordinal, and library of an array argument."""
    library = type(arg).__module__.partition(".")[0]
    if library == "cupy":
        return arg.data.ptr, arg.size, arg.data.device_id, library
    if library == "torch" and arg.is_cuda:
        return arg.data_ptr(), arg.numel(), arg.get_device(), library
    interface = getattr(arg, "__cuda_array_interface__", None) if library != "torch" else None
    if interface is None:
        raise LaunchError(
            f"argument {param!r} must be a GPU array (CuPy or torch CUDA), got {type(arg).__name__} in host memory"
        )
    address = interface["data"][0]
    return address, prod(interface["shape"]), driver.device_of(address), library


def current_stream(library: str, device: int) -> int:
    """The stream on which the array's library works in this thread; the default stream for an unknown library."""
    module = sys.modules.get(library)
    if library == "cupy" and module is not None:
        return int(module.cuda.get_current_stream(device).ptr)
    if library == "torch" and module is not None:
        return int(module._C._cuda_getCurrentRawStream(device))
    return 0


def _scalar(type_: Type) -> ScalarType:
    assert isinstance(type_, ScalarType), f"a kernel parameter is a scalar or a pointer, not {type_}"
    return type_


def _number(param: str, type_: ScalarType, arg: Any) -> bool | int | float:
    """A scalar argument as `struct` packs it: rounded once to the parameter's type, overflow giving infinity."""
    try:
        if type_.kind == "bool":
            return bool(arg)
        if type_.kind == "int":
            return int(arg)
        if type_.is_float8:
            return int(convert(np.asarray(arg, np.float64), type_).view(np.uint8))
        with np.errstate(over="ignore"):
            if type_ == f16:
                return int(np.float16(arg).view(np.uint16))
            if type_ == bf16:
                return int(ml_dtypes.bfloat16(arg).view(np.uint16))
            return float(np.float32(arg)) if type_ == f32 else float(arg)
    except (TypeError, ValueError) as error:
        raise LaunchError(f"argument {param!r} must be a number, got {type(arg).__name__}: {error}") from None
