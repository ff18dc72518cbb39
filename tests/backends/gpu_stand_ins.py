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
