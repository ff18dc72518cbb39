"""Kernels with decorators around `@jit` that complete a launch's arguments; `@heuristics` computes some of them."""

from __future__ import annotations

import dataclasses
import functools
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from mytriton.diagnostics import LaunchError
from mytriton.examples import Example
from mytriton.frontend.kernel import Kernel
from mytriton.launch import JITFunction
from mytriton.launched import LaunchResult
from mytriton.ready import Launch
from mytriton.running import Progress

if TYPE_CHECKING:
    from mytriton.autotuner import Autotuner
    from mytriton.timings import Tuning


class Decorated(JITFunction):
    """A kernel with something around it that completes a launch's arguments; `fn` is what is inside."""

    def __init__(self, fn: JITFunction) -> None:
        super().__init__(fn.function)
        self.fn = fn
        self.examples, self.live = fn.examples, fn.live

    def __getitem__(self, grid: Any) -> Callable[..., LaunchResult]:
        """A launcher for `grid`, which completes the arguments."""
        return functools.partial(self._launch, grid)

    @property
    def base(self) -> JITFunction:
        """The kernel without anything around it."""
        return self.fn.base

    @property
    def to_compile(self) -> Kernel:
        """The kernel with the parameters' values that a signature may leave out."""
        return self.fn.to_compile

    @property
    def tuner(self) -> Autotuner | None:
        """The outermost `autotune`, if there is one."""
        return self.fn.tuner if isinstance(self.fn, Decorated) else None

    @abstractmethod
    def tune(self, grid: Any, /, *args: Any, progress: Progress | None = None, **keywords: Any) -> Tuning:
        """Measure all configs for a launch."""

    def clear_cache(self) -> None:
        """Forget every compilation of this kernel, its source, and what was chosen for it."""
        self.fn.clear_cache()

    def _named(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> dict[str, Any]:
        return {**dict(zip(self.arg_names, args, strict=False)), **keywords}


class Heuristics(Decorated):
    """A kernel some of whose parameters are computed from the others at each launch."""

    def __init__(self, fn: JITFunction, values: Mapping[str, Callable[[dict[str, Any]], Any]]) -> None:
        super().__init__(fn)
        self.values = dict(values)

    def completed(self, example: Example) -> Example:
        """The example, with the computed parameters that it does not give."""
        args = dict(example.args)
        for name, function in self.values.items():
            if name not in args:
                args[name] = function(args)
        return self.fn.completed(dataclasses.replace(example, args=args))

    def prepare(self, grid: Any, /, *args: Any, **keywords: Any) -> Launch:
        """Like a launch, up to the point where something is compiled or run."""
        return self.fn.prepare(grid, *args, **self._computed(args, keywords))

    def bind(self, grid: Any, /, *args: Any, **keywords: Any) -> Callable[[], LaunchResult]:
        """What launches these arguments again and again, with what is computed of them now."""
        return self.fn.bind(grid, *args, **self._computed(args, keywords))

    def warmup(self, *args: Any, grid: Any = None, **keywords: Any) -> Any:
        """Compile for the arguments of a launch; what is computed of an array is computed of its stand-in."""
        args, keywords = self._standing(args, keywords)
        return self.fn.warmup(*args, grid=grid, **self._computed(args, keywords))

    def _launch(self, grid: Any, /, *args: Any, **keywords: Any) -> LaunchResult:
        return self.fn._launch(grid, *args, **self._computed(args, keywords))

    def tune(self, grid: Any, /, *args: Any, progress: Progress | None = None, **keywords: Any) -> Tuning:
        """Measure all configs of the autotuned kernel inside."""
        if self.tuner is None:
            raise LaunchError(f"`{self.name}` is not autotuned; put @autotune above it")
        assert isinstance(self.fn, Decorated)
        return self.fn.tune(grid, *args, progress=progress, **self._computed(args, keywords))

    def _computed(self, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> dict[str, Any]:
        """The keywords with the computed parameters; one that is given is computed all the same."""
        keywords = dict(keywords)
        for name, function in self.values.items():
            keywords[name] = function(self._named(args, keywords))
        return keywords
