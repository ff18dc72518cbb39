"""Launches that are ready: what they run is known, and made when it is first needed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from mytriton import backends
from mytriton.backends.base import Launcher
from mytriton.compile import source_stage
from mytriton.frontend.kernel import Kernel
from mytriton.launched import LaunchResult
from mytriton.options import grid_of
from mytriton.repeat import CallShape, Place
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

    def bound(self) -> Callable[[], LaunchResult]:
        """What runs it each time it is called, compiled now; its arguments are checked and packed now if the launcher
        can (`bind`)."""
        self.load()
        result = LaunchResult(self.compilation, self.runs and 0 not in self.grid)
        if not result.ran:
            return lambda: result
        launcher: Any = self._entry.launcher()
        if hasattr(launcher, "bind"):
            from mytriton.binding.bound import bound  # which a single launch does without

            return bound(launcher, self.grid, self.args, result)

        def call() -> LaunchResult:
            launcher(self.grid, self.args)
            return result

        return call


class Repeat:
    """All that a launch needs which differs from an earlier, successful one in nothing that is compiled for."""

    def __init__(self, shape: CallShape, kernel: Kernel, values: tuple[Any, ...], launch: Launch) -> None:
        self._shape = shape
        self._compilation = launch.compilation
        self.launcher: Any = launch.launcher
        self.is_quick = getattr(self.launcher, "way", None) is not None
        self._places = shape.places(kernel, values, launch.compilation.specialization)

    def run(self, grid: Any, values: tuple[Any, ...]) -> LaunchResult:
        """Launch on the values of a call (`CallShape.values`)."""
        bound = self._shape.bound(values) if callable(grid) else {}
        extents = grid_of(grid, bound, self._compilation.target)
        runs = self.launcher is not None and 0 not in extents
        if runs:
            self.launcher(extents, self.runtime(values))
        return LaunchResult(self._compilation, runs)

    def runtime(self, values: tuple[Any, ...]) -> list[Any]:
        """The runtime arguments among the values of a call."""
        return [_at(values, place) for place in self._places]


def _at(values: Any, place: Place) -> Any:
    """What is at a place."""
    for step in place:
        values = values[step] if step.__class__ is int else step(values)  # type: ignore[operator]
    return values
