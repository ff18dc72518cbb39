"""Launches of the same arguments again and again, which are checked and packed once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from mytriton.binding import native
from mytriton.binding.forms import fixed, nothing_taken
from mytriton.binding.rules import Repeatable
from mytriton.launched import LaunchResult


def bound(
    launcher: Repeatable, grid: tuple[int, int, int], args: Sequence[Any], result: LaunchResult
) -> Callable[[], LaunchResult]:
    """What launches these arguments and gives `result`: by C, if that does such launches, as soon as there is code."""
    made = Bound(launcher, grid, args, result)
    native.use(made)
    return made.call if made.by_c else made


class Bound:
    """A launch that Python does until there is code in C."""

    def __init__(
        self, launcher: Repeatable, grid: tuple[int, int, int], args: Sequence[Any], result: LaunchResult
    ) -> None:
        self.by_c = False
        self.call: Callable[[], LaunchResult] = launcher.bind(grid, args, result)
        self._what = launcher, grid, args, result

    def __call__(self, *args: Any, **keywords: Any) -> LaunchResult:
        if args or keywords:
            raise nothing_taken()
        return self.call()

    def quicken(self, module: ModuleType) -> None:
        """Launch by the code in C from now on."""
        made = fixed(module, *self._what, self.call)
        if made is not None:
            self.by_c, self.call = True, made
