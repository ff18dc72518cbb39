"""Launches that are ready: what they run is known, and made when it is first needed."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from mytriton import backends
from mytriton.backends.base import Launcher
from mytriton.compile import source_stage
from mytriton.frontend.kernel import Kernel
from mytriton.launched import LaunchResult
from mytriton.stage import Compilation


class Entry:
    """A cached compilation and, once it was run, its launcher. Keeps the kernel alive for the key's sake."""

    def __init__(self, kernel: Kernel, compilation: Compilation) -> None:
        self.kernel = kernel
        self.compilation = compilation
        self._launcher: Launcher | None = None
        self._lock = threading.Lock()

    def launcher(self) -> Launcher:
        """The launcher, made on first use. Raises `CompileError`, `BackendUnavailable`."""
        if self._launcher is None:
            with self._lock:
                if self._launcher is None:
                    backend = backends.get(self.compilation.target.backend)
                    self._launcher = backend.load(self.compilation)
        return self._launcher


class Launch:
    """A launch that is ready: arguments bound and checked, nothing compiled. `runs` is False where the arrays only say
    what to compile (host arrays on a GPU backend)."""

    def __init__(self, entry: Entry, grid: tuple[int, int, int], args: Sequence[Any], runs: bool) -> None:
        self._entry = entry
        self.compilation = entry.compilation
        self.grid = grid
        self.args = args
        self.runs = runs

    @property
    def launcher(self) -> Launcher | None:
        """What runs the compiled code; None if nothing is to be run. Raises `CompileError`, `BackendUnavailable`."""
        return self._entry.launcher() if self.runs else None

    def load(self) -> None:
        """Compile as far as needed: to the backend's source, or to running code. Raises `CompileError`."""
        self.compilation.run(source_stage(self.compilation.planned))
        self.compilation.raise_if_failed()
        if self.runs and 0 not in self.grid:
            self._entry.launcher()

    def run(self) -> LaunchResult:
        """Compile as far as needed, and run if there is something to run."""
        self.load()
        runs = self.runs and 0 not in self.grid
        if runs:
            self._entry.launcher()(self.grid, self.args)
        return LaunchResult(self.compilation, runs)
