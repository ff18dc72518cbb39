"""Stand-ins for what a launch on a GPU looks at: arrays of CuPy, tensors of torch, and what calls the driver."""

from __future__ import annotations

import ctypes
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.backends.test_launch import FakeCuda


class Array:
    """A CuPy array."""

    __module__ = "cupy"
    _c_contiguous = True

    def __init__(self, address: int, dtype: str = "f4", size: int = 4, strides: Any = None, gpu: int = 0) -> None:
        self.data, self.size, self.dtype = SimpleNamespace(ptr=address, device_id=gpu), size, np.dtype(dtype)
        self.itemsize, self.strides = self.dtype.itemsize, strides or (self.dtype.itemsize,)
        self._c_contiguous = strides is None
        self.flags = SimpleNamespace(c_contiguous=strides is None)
        self.__cuda_array_interface__ = {
            "shape": (size,), "strides": strides, "typestr": self.dtype.str, "data": (address if size else 0, False),
        }  # fmt: skip


class Tensor:
    """A torch tensor."""

    __module__ = "torch"
    is_sparse = False

    def __init__(self, address: int, dtype: str = "float32", where: str = "cuda", negated: bool = False) -> None:
        self.dtype, self.device = sys.intern(f"torch.{dtype}"), SimpleNamespace(type=where)
        self.is_cuda, self.is_cpu = where == "cuda", where == "cpu"
        self.data_ptr, self.is_neg, self.numel, self.get_device = (lambda: address), (lambda: negated), (lambda: 4), int


class Parameter(Tensor):
    """A torch.nn.Parameter."""

    __module__ = "torch"


class DriverError(RuntimeError):
    status = 3


class Machine:
    """What the stand-ins share: the launches that were asked for, the current streams, how many went the
    long way, and how many of the others by C."""

    def __init__(self) -> None:
        self.cuda = FakeCuda(capabilities=((9, 0), (9, 0)))
        self.calls: list[tuple[Any, ...]] = []
        self.stream, self.long, self.native = 7, 0, 0
        self.fails = self.by_c = False

    def enter(self, context: int) -> int:
        """A context becomes current, which was what the driver missed."""
        self.cuda.current, self.fails = context, False
        return 0

    def launch_kernel(self, *given: Any) -> None:
        if self.fails or self.cuda.cuLaunchKernel(*given) != 0:
            raise DriverError("CUDA_ERROR_NOT_INITIALIZED: initialization error")
        function, shape, stream, packed = self.cuda.launches.pop()
        self.calls.append((self.cuda.current, function, shape, stream, packed))

    def in_c(self) -> tuple[Any, Any]:
        """cuLaunchKernel and cuCtxGetCurrent as functions in C."""
        handle, unsigned = ctypes.c_void_p, ctypes.c_uint

        @ctypes.CFUNCTYPE(ctypes.c_int, handle, *[unsigned] * 7, handle, handle, handle)
        def launch(*given: Any) -> int:
            try:
                self.launch_kernel(*given)
            except DriverError as error:
                return error.status
            self.native += 1
            return 0

        @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(handle))
        def context(current: Any) -> int:
            current[0] = self.cuda.current
            return 0

        return launch, context


class _DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64),
    )  # fmt: skip


class Exchange(ctypes.Structure):
    """DLPack's C exchange API, as dlpack.h has it, for `Tensor` and the machine's streams; `capsule` holds it."""

    _fields_ = (
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("previous", ctypes.c_void_p),
        ("managed_tensor_allocator", ctypes.c_void_p), ("managed_tensor_from_py_object_no_sync", ctypes.c_void_p),
        ("managed_tensor_to_py_object_no_sync", ctypes.c_void_p),
        ("dltensor_from_py_object_no_sync", ctypes.c_void_p), ("current_work_stream", ctypes.c_void_p),
    )  # fmt: skip

    def __init__(self, machine: Machine) -> None:
        @ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(_DLTensor))
        def look(tensor: Any, out: Any) -> int:
            kind = tensor.dtype.removeprefix("torch.").rstrip("0123456789")
            out[0].data, out[0].byte_offset = tensor.data_ptr() - 16, 16
            out[0].device_type, out[0].device_id = (2 if tensor.is_cuda else 1), tensor.get_device()
            out[0].code, out[0].bits, out[0].lanes = {"int": 0, "float": 2}[kind], 32, 1
            return 0

        @ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))
        def stream(kind: int, gpu: int, out: Any) -> int:
            out[0] = machine.stream + 100 * gpu
            return 0 if kind == 2 else -1

        self.kept = look, stream
        look_at, current = (ctypes.cast(function, ctypes.c_void_p) for function in self.kept)
        super().__init__(1, 3, dltensor_from_py_object_no_sync=look_at, current_work_stream=current)
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        self.capsule = make(ctypes.addressof(self), b"dlpack_exchange_api", None)
