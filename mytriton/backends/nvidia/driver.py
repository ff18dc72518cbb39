"""The few functions of the CUDA driver that loading and launching take, with errors raised as `LaunchError`.

CuPy and torch both work in a device's primary context; so do we, which is how their arrays and streams fit together.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from mytriton.backends.nvidia.device import error_text
from mytriton.diagnostics import BackendUnavailable, LaunchError, OutOfResources

_HINTS = {
    3: "was this process forked from one that uses the GPU? start it with multiprocessing's method spawn",
    710: "an assertion of an earlier launch failed: the driver printed which; start a new process to use the GPU again",
    209: "the cubin is for another GPU architecture: compile with chip= this device's",  # NO_BINARY_FOR_GPU
    218: "the driver refuses the code: is it older than the installed compilers (CUDA 12 driver, CUDA 13 NVRTC)?",
    222: "the driver refuses the code: is it older than the installed compilers (CUDA 12 driver, CUDA 13 NVRTC)?",
}


@lru_cache(maxsize=1)
def library() -> ctypes.CDLL:
    """libcuda, initialized; raises `BackendUnavailable` without a driver."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise BackendUnavailable("no NVIDIA driver (libcuda.so.1) on this machine") from error
    handle, unsigned = ctypes.c_void_p, ctypes.c_uint
    cuda.cuLaunchKernel.argtypes = [handle, *[unsigned] * 7, handle, handle, handle]
    cuda.cuCtxGetCurrent.argtypes = [handle]
    cuda.cuCtxSetCurrent.argtypes = [handle]
    cuda.cuModuleLoadData.argtypes = [handle, ctypes.c_char_p]
    cuda.cuModuleGetFunction.argtypes = [handle, handle, ctypes.c_char_p]
    check(cuda.cuInit(0), "starting the NVIDIA driver", cuda)
    return cuda


#: What the driver says to a launch that takes more registers or shared memory than there are.
OUT_OF_RESOURCES = 701


def hint(code: int) -> str:
    """What to say after a driver result code, if there is something to be done about it."""
    return f"; {_HINTS[code]}" if code in _HINTS else ""


def check(code: int, doing: str, cuda: ctypes.CDLL | None = None) -> None:
    """Raise `LaunchError` for a driver result code other than success."""
    if code != 0:
        kind = OutOfResources if code == OUT_OF_RESOURCES else LaunchError
        raise kind(f"{doing} failed: {error_text(cuda or library(), code)}{hint(code)}")


@lru_cache(maxsize=32)
def primary_context(device: int) -> int:
    """The primary context of a device, kept for the life of the process."""
    cuda = library()
    context = ctypes.c_void_p()
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), f"opening GPU {device}")
    return context.value or 0


def current_context() -> int:
    """The context that is current in this thread; 0 if there is none."""
    current = ctypes.c_void_p()
    library().cuCtxGetCurrent(ctypes.byref(current))
    return current.value or 0


def addresses() -> tuple[int, int]:
    """Where cuLaunchKernel and cuCtxGetCurrent are, for code in C."""
    cuda = library()
    launch, current = (
        ctypes.cast(function, ctypes.c_void_p).value for function in (cuda.cuLaunchKernel, cuda.cuCtxGetCurrent)
    )
    return launch or 0, current or 0


def use_device(device: int) -> None:
    """Make the device's primary context current in this thread (a thread that CuPy has not used yet has none)."""
    context = primary_context(device)
    if current_context() != context:
        check(library().cuCtxSetCurrent(context), f"switching to GPU {device}")


def device_of(address: int) -> int:
    """The number of the GPU whose memory holds `address`; 0 if there is none, as for an empty array."""
    ordinal = ctypes.c_int()
    attribute = 9  # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    code = library().cuPointerGetAttribute(ctypes.byref(ordinal), attribute, ctypes.c_uint64(address))
    return ordinal.value if code == 0 else 0


def load_function(cubin: bytes, name: str, shared: int) -> int:
    """Load a cubin into the current context and return the handle of one kernel of it, whose launches may ask for
    `shared` bytes of shared memory. The module stays loaded."""
    cuda = library()
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    with _while_capturing():
        check(cuda.cuModuleLoadData(ctypes.byref(module), cubin), "loading the cubin")
        check(cuda.cuModuleGetFunction(ctypes.byref(function), module, name.encode()), f"finding kernel {name!r}")
        if shared:
            most = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            code = cuda.cuFuncSetAttribute(function, most, shared)
            check(code, f"asking for {shared} bytes of shared memory for kernel {name!r}")
            # Several programs fit on a multiprocessor only if its cache leaves them the memory. Never for others: what
            # loads are under way stands in that cache (an addition lost 5 % by it, a softmax of long rows 20 %).
            prefer_shared = 1  # CU_FUNC_CACHE_PREFER_SHARED
            check(cuda.cuFuncSetCacheConfig(function, prefer_shared), f"preferring shared memory for kernel {name!r}")
        if hasattr(cuda, "cuFuncLoad"):  # since CUDA 12.4; else the driver may put it off until the launch
            check(cuda.cuFuncLoad(function), f"loading kernel {name!r}")
    return function.value or 0


@contextmanager
def _while_capturing() -> Iterator[None]:
    """What the body of the `with` does is no part of a CUDA graph that is being captured, and does not end the
    capture: the first launch of a kernel may be in one."""
    mode = ctypes.c_int(2)  # CU_STREAM_CAPTURE_MODE_RELAXED
    library().cuThreadExchangeStreamCaptureMode(ctypes.byref(mode))
    try:
        yield
    finally:
        library().cuThreadExchangeStreamCaptureMode(ctypes.byref(mode))
