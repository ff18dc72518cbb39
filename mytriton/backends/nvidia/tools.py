"""Finding NVIDIA's compiler libraries and programs: in Python wheels first, then where the system keeps them."""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from mytriton.backends.nvidia.device import probe
from mytriton.diagnostics import BackendUnavailable, MytritonError

#: What to install for each library or program, by CUDA major version.
_PACKAGES = {
    "nvrtc": {13: "nvidia-cuda-nvrtc==13.0.*", 12: "nvidia-cuda-nvrtc-cu12"},
    "nvJitLink": {13: "nvidia-nvjitlink==13.0.*", 12: "nvidia-nvjitlink-cu12"},
    "nvdisasm": {13: "nvidia-cuda-nvdisasm", 12: "nvidia-cuda-nvdisasm"},
    "ptxas": {13: "nvidia-cuda-nvcc==13.0.*", 12: "nvidia-cuda-nvcc-cu12"},
}


class ToolMissing(BackendUnavailable):
    """A compiler library or program is not installed; the message says what to install."""


class ToolFailed(MytritonError):
    """A compiler ran and refused its input; `log` is what it printed."""

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(f"{message}\n{log}".rstrip())
        self.message = message
        self.log = log


def _majors() -> tuple[int, ...]:
    """CUDA major versions in order of preference. A driver loads what its own or an older major version made, so a
    CUDA 12 driver needs CUDA 12's compilers; without a driver nothing is loaded and the newest is best."""
    driver = probe().driver[0]
    return (12, 13) if driver == 12 else (13, 12)


def _missing(name: str) -> ToolMissing:
    return ToolMissing(f"{name} is not installed; try: pip install {_PACKAGES[name][_majors()[0]]!r}")


def _wheel_folders() -> Iterator[Path]:
    """`site-packages/nvidia/*`, where the CUDA 12 (one folder a library) and 13 (`cu13`) wheels unpack."""
    try:
        package = importlib.import_module("nvidia")
    except ImportError:
        return
    for root in package.__path__:
        if Path(root).is_dir():
            yield from sorted(p for p in Path(root).iterdir() if p.is_dir())


@lru_cache(maxsize=8)
def library_path(name: str) -> Path:
    """Where the shared library `nvrtc` or `nvJitLink` is; raises `ToolMissing`. It need not be loaded for that."""
    folders = list(_wheel_folders())
    for major in _majors():
        for folder in folders:
            path = folder / "lib" / f"lib{name}.so.{major}"
            if path.exists():
                return path
    try:
        from cuda import pathfinder  # a distribution, conda or a toolkit may hold it
    except ImportError as error:
        raise _missing(name) from error
    try:
        return Path(pathfinder.load_nvidia_dynamic_lib(name).abs_path)
    except (RuntimeError, OSError) as error:  # DynamicLibNotFoundError is a RuntimeError
        raise _missing(name) from error


@lru_cache(maxsize=8)
def load_library(name: str) -> ctypes.CDLL:
    """The shared library `nvrtc` or `nvJitLink`; raises `ToolMissing`."""
    return _open(library_path(name))


def _open(path: Path) -> ctypes.CDLL:
    # NVRTC opens its built-in declarations by bare name and has no run path: they must be in the process already.
    for companion in sorted(path.parent.glob(f"{path.name.split('.so')[0]}-builtins.so*")):
        ctypes.CDLL(str(companion), mode=ctypes.RTLD_GLOBAL)
    return ctypes.CDLL(str(path))


@lru_cache(maxsize=8)
def find_program(name: str) -> str:
    """The path of `nvdisasm` or `ptxas`; raises `ToolMissing`. Triton's wheel brings both, as a last resort."""
    for folder in _wheel_folders():
        path = folder / "bin" / name
        if os.access(path, os.X_OK):
            return str(path)
    import shutil

    found = shutil.which(name) or _pathfinder_program(name) or _triton_program(name)
    if found is None:
        raise _missing(name)
    return found


def _pathfinder_program(name: str) -> str | None:
    try:
        from cuda import pathfinder
    except ImportError:
        return None
    path = pathfinder.find_nvidia_binary_utility(name)
    return str(path) if path else None


def _triton_program(name: str) -> str | None:
    spec = importlib.util.find_spec("triton")
    for root in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(root) / "backends" / "nvidia" / "bin" / name
        if os.access(path, os.X_OK):
            return str(path)
    return None
