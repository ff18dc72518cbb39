"""The backends: each turns optimized SSA into stages of its own, and may load the result for launching."""

from __future__ import annotations

import importlib
from typing import cast

from mytriton.backends.base import Backend
from mytriton.target import check_backend

#: The module that holds each backend, as `BACKEND`; imported only when the backend is used.
_MODULES = {
    "cuda": "mytriton.backends.cuda.backend",
    "mlir": "mytriton.backends.mlir.backend",
    "cpu": "mytriton.backends.cpu.backend",
    "interp": "mytriton.backends.interp",
}


def get(name: str) -> Backend:
    """The backend called `name`; raises ValueError for an unknown one."""
    check_backend(name)
    return cast(Backend, importlib.import_module(_MODULES[name]).BACKEND)
