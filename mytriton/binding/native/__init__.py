"""Launching again in C, where a C compiler is installed: `form.c`, compiled once and kept with other compiled code.

Nothing waits for the compiler: until it is done, and where there is none, launches are bound by Python (`binder.py`).
`MYTRITON_NATIVE=0` has it stay so. What is compiled depends on the versions of Python and NumPy, whose headers it
needs.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import weakref
from pathlib import Path
from types import ModuleType
from typing import Protocol

from mytriton import cache

_NAME = "mytriton_native"
_FILES = ("form.c", "launching.h", "arguments.h", "arrays.h", "form.h")
_SOURCES = tuple(Path(__file__).parent / name for name in _FILES)
#: For so many seconds after the first launch no compiler is started: short programs need none.
PATIENCE = 0.5
_OPTIONS = ("-O2", "-shared", "-fPIC")


class Waiting(Protocol):
    """Who launches by Python as long as there is no code in C."""

    def quicken(self, module: ModuleType) -> None:
        """Launch by the code in C from now on."""


class State:
    """What is known of the code in C. `search` is the thread that looks for it, once somebody has asked."""

    def __init__(self) -> None:
        self.module: ModuleType | None = None
        self.search: threading.Thread | None = None
        self.lock = threading.Lock()
        self.waiting: weakref.WeakSet[Waiting] = weakref.WeakSet()


STATE = State()


def use(who: Waiting) -> None:
    """Have `who` launch by C as soon as there is code. Nobody waits: it is even found on the disk by another thread."""
    with STATE.lock:
        if STATE.module is None:
            STATE.waiting.add(who)
            if STATE.search is None:
                STATE.search = threading.Thread(target=_find, name=_NAME, daemon=True)
                STATE.search.start()
            return
    who.quicken(STATE.module)


def wait() -> bool:
    """Wait until the search for the code has ended, if it has begun; gives whether launches go through C."""
    if STATE.search is not None:
        STATE.search.join()
    return STATE.module is not None


def _find() -> None:
    """Load the code from the disk, or have it compiled; then tell who waits."""
    if os.environ.get("MYTRITON_NATIVE") == "0" or not possible():
        return
    machine = sys.version, sys.abiflags, os.uname().machine, sys.modules["numpy"].__version__
    inputs = [*machine, *_OPTIONS, *(source.read_text() for source in _SOURCES)]
    entry = cache.Entry("native", inputs, (_compiler() or "",), (__file__,))
    parts = entry.read()
    if parts is not None:
        _take(parts["code"])
        return
    time.sleep(PATIENCE)
    # A process that ends now waits: it leaves no half-made files, and the next one has the code.
    thread = threading.Thread(target=_make, args=(entry,), name=_NAME)
    thread.start()
    thread.join()


def _make(entry: cache.Entry) -> None:
    code = compiled()
    entry.write({"code": code})  # nothing, if the compiler refuses it: it is not asked again
    _take(code)


def _take(code: bytes) -> None:
    module = load(code) if code else None
    if module is None:
        return
    with STATE.lock:
        STATE.module = module
        waiting = list(STATE.waiting)
        STATE.waiting.clear()
    for who in waiting:
        who.quicken(module)


# What follows runs once a process, beside a launch that does not wait: it imports for itself.


def _compiler() -> str | None:
    import shutil

    return next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)


def _headers() -> dict[str, str]:
    """The headers, and the folders they are in."""
    import sysconfig

    import numpy as np

    return {"Python.h": sysconfig.get_path("include"), "numpy/ndarraytypes.h": np.get_include()}


def possible() -> bool:
    """Whether the code can be compiled here."""
    ours = sys.implementation.name == "cpython" and "t" not in sys.abiflags  # with the GIL
    found = all(Path(folder, name).exists() for name, folder in _headers().items())
    return ours and _compiler() is not None and found


def compiled() -> bytes:
    """The code in C as a shared library; nothing if the compiler refuses it."""
    import subprocess
    import tempfile

    with tempfile.TemporaryDirectory(prefix="mytriton-") as folder:
        made = Path(folder, "form.so")
        headers = [f"-I{folder}" for folder in _headers().values()]
        command = [_compiler() or "cc", *_OPTIONS, *headers, "-o", str(made), str(_SOURCES[0])]
        subprocess.run(command, capture_output=True, check=False)
        return made.read_bytes() if made.exists() else b""


def load(code: bytes) -> ModuleType | None:
    """The module in a shared library; None where it does not load, as from a disk that executes nothing."""
    import importlib.machinery
    import importlib.util
    import tempfile

    with tempfile.TemporaryDirectory(prefix="mytriton-") as folder:
        path = Path(folder, "form.so")
        path.write_bytes(code)
        loader = importlib.machinery.ExtensionFileLoader(_NAME, str(path))
        spec = importlib.util.spec_from_loader(_NAME, loader)
        assert spec is not None
        try:
            module = importlib.util.module_from_spec(spec)
            loader.exec_module(module)
        except ImportError:
            return None
        return module
