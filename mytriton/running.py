"""Runs examples: an example's arrays where its backend wants them, launched as often as somebody asks."""

from __future__ import annotations

import copy
import dataclasses
import sys
import time
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any

import ml_dtypes
import numpy as np

from mytriton.arrays import address_of, copied
from mytriton.backends.interp import InterpLauncher
from mytriton.descriptors import array_in, arrays_of, with_array
from mytriton.diagnostics import BackendUnavailable, LaunchError
from mytriton.examples import Example
from mytriton.launch import JITFunction
from mytriton.options import with_environment
from mytriton.ready import Launch
from mytriton.target import GPU_BACKENDS, Target

Array = np.ndarray[Any, Any]


#: Called while something runs: what is counted ("programs"), how many are done, and of how many. May raise to end it.
Progress = Callable[[str, int, int], None]

_HOST_DEVICES = {"cpu": "CPU", "interp": "interpreter"}


def chosen(target: Target, example: Example) -> Target:
    """The target with the options of the example, and behind them with what the environment asks of each launch."""
    return dataclasses.replace(target, **with_environment({"backend": target.backend, **example.options}))


def prepared(kernel: JITFunction, example: Example, args: Mapping[str, Any], target: Target) -> Launch:
    """The (completed) example's launch on `args`, in the example's order and grid, for `target`."""
    constants = {p.name for p in kernel.kernel.params if p.is_constexpr}
    packed = next((name for name, v in args.items() if isinstance(v, tuple) and name not in constants), None)
    if packed is not None:  # its arrays would have no name to be compared by
        raise LaunchError(f"argument `{packed}` of the example is a tuple; an example gives each array by its own name")
    options = {f.name: getattr(target, f.name) for f in dataclasses.fields(target)}
    return kernel.base.prepare(example.grid, **args, **options)


def placed(args: Mapping[str, Any], target: Target) -> dict[str, Any]:
    """Arguments with host arrays where a backend takes them: in place, or copied to the GPU."""
    on_gpu = target.backend in GPU_BACKENDS
    return {name: with_array(v, DeviceArray) if on_gpu else v for name, v in args.items()}


class ReadyExample:
    """An example compiled for a backend that is available, its arrays where that backend takes them: host arrays are
    used in place, a GPU has copies. Raises `CompileError`, `LaunchError`."""

    def __init__(self, kernel: JITFunction, example: Example, target: Target, progress: Progress | None = None) -> None:
        self.target, self._example, self._progress = target, example, progress
        self.on_gpu = target.backend in GPU_BACKENDS
        self._args = placed(example.args, target)
        self.launch = prepared(kernel, example, self._args, target)
        self.launch.load()

    @property
    def device(self) -> str:
        """What runs it, for people."""
        return device_name(self.target.backend)

    def start(self) -> None:
        """Launch once; a GPU may still be at it afterwards."""
        launcher = self.launch.launcher
        if launcher is None or 0 in self.launch.grid:
            return
        if isinstance(launcher, InterpLauncher):
            launcher(self.launch.grid, self.launch.args, self._told)
        else:
            launcher(self.launch.grid, self.launch.args)

    def run(self) -> float:
        """Launch once and wait; the seconds it took."""
        start = time.perf_counter()
        self.start()
        if self.on_gpu:
            DeviceArray.synchronize()
        return time.perf_counter() - start

    def arrays(self) -> dict[str, Array]:
        """The arrays as they are now, by name, on the host."""
        named = arrays_of(self._example.args).items()
        return {name: array_in(self._args[name]).get() if self.on_gpu else v for name, v in named}

    def _told(self, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress("programs", done, total)


def interpreted(
    kernel: JITFunction, example: Example, target: Target, progress: Progress | None = None
) -> dict[str, Array]:
    """What the interpreter makes of copies of an example's arrays."""
    args = {name: with_array(v, copied) for name, v in example.args.items()}
    example = dataclasses.replace(example, args=args)
    ready = ReadyExample(kernel, example, dataclasses.replace(target, backend="interp"), progress)
    ready.run()
    return ready.arrays()


def device_name(backend: str) -> str:
    """What runs a backend that is available, for people."""
    if backend in _HOST_DEVICES:
        return _HOST_DEVICES[backend]
    from mytriton.backends.nvidia.device import probe

    return probe().devices[0].name


class DeviceArray:
    """A host array copied to the GPU as bytes, through CuPy or torch: neither has all of our dtypes."""

    def __init__(self, host: Array) -> None:
        self.dtype = host.dtype
        self.shape = host.shape
        # Where there are gaps between its elements, the memory with the gaps.
        laid_out = copied(host)
        memory = laid_out if laid_out.flags.c_contiguous else laid_out.base
        assert isinstance(memory, np.ndarray)
        self._offset, self._strides = address_of(laid_out) - address_of(memory), laid_out.strides
        # One byte more, since an empty array has no address.
        data = np.append(memory.reshape(-1).view(np.uint8), np.uint8(0))
        library = _gpu_library()
        self._bytes = library.asarray(data) if library.__name__ == "cupy" else library.from_numpy(data).cuda()

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        typestr = f"<V{self.dtype.itemsize}" if hasattr(ml_dtypes, self.dtype.name) else self.dtype.str
        address = self._bytes.__cuda_array_interface__["data"][0] + self._offset
        place = {"data": (address, False), "strides": self._strides}
        return {"shape": self.shape, "typestr": typestr, **place, "version": 3}

    def get(self) -> Array:
        """A host array with the present values."""
        data: Array = self._bytes.get() if hasattr(self._bytes, "get") else self._bytes.cpu().numpy()
        values: Array = np.ndarray(self.shape, self.dtype, data, self._offset, self._strides)
        return values

    def zero_(self) -> None:
        """Set every element to zero."""
        self._bytes[...] = 0

    def clone(self) -> DeviceArray:
        """A copy on the GPU."""
        made = copy.copy(self)
        made._bytes = self._bytes.copy() if hasattr(self._bytes, "get") else self._bytes.clone()
        return made

    def copy_(self, other: DeviceArray) -> None:
        """Take the elements of another array of this size."""
        self._bytes[...] = other._bytes

    @staticmethod
    def synchronize() -> None:
        """Wait for the GPU."""
        library = _gpu_library()
        if library.__name__ == "cupy":
            library.cuda.get_current_stream().synchronize()
        else:
            library.cuda.synchronize()


def _gpu_library() -> Any:
    for name in ("cupy", "torch"):
        if name in sys.modules or find_spec(name) is not None:
            return __import__(name)
    raise BackendUnavailable("running on the GPU needs CuPy or torch: pip install 'mytriton[cuda13]'")
