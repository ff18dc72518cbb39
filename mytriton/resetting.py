"""What `autotune` does to arrays between the launches it times, for NumPy, CuPy and torch arrays alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mytriton.arrays import array_info
from mytriton.diagnostics import LaunchError


def zero(array: Any) -> None:
    """Set every element to zero."""
    if hasattr(array, "zero_"):
        array.zero_()
    else:
        array[...] = 0


def copy_of(array: Any) -> Any:
    """A copy of an array."""
    return array.clone() if hasattr(array, "clone") else array.copy()


def restore(array: Any, copy: Any) -> None:
    """Give an array the elements of its copy."""
    if hasattr(array, "copy_"):
        array.copy_(copy)
    else:
        array[...] = copy


class Resetting:
    """The hooks around a timed launch: `before` sets arrays to zero and remembers others, which `after` restores.
    Either may be the author's own instead."""

    def __init__(
        self,
        to_zero: Sequence[str],
        to_restore: Sequence[str],
        pre_hook: Callable[..., Any] | None,
        post_hook: Callable[..., Any] | None,
    ) -> None:
        self._to_zero, self._to_restore = to_zero, to_restore
        self._copies: dict[str, Any] = {}
        self.before = pre_hook or self._before
        self.after = post_hook or self._after

    def _before(self, arguments: Mapping[str, Any], reset_only: bool = False) -> None:
        for _, array in self._arrays(self._to_zero, "reset_to_zero", arguments):
            zero(array)
        if not reset_only:
            named = self._arrays(self._to_restore, "restore_value", arguments)
            self._copies = {name: copy_of(array) for name, array in named}

    def _after(self, arguments: Mapping[str, Any], exception: BaseException | None = None) -> None:
        for name, copy in self._copies.items():
            restore(arguments[name], copy)
        self._copies = {}

    def _arrays(self, names: Sequence[str], what: str, arguments: Mapping[str, Any]) -> list[tuple[str, Any]]:
        """The arrays of these names; None stands for no array."""
        found = [(name, arguments.get(name)) for name in names]
        for name, value in found:
            if value is not None and array_info(value) is None:
                raise LaunchError(f"{what} names `{name}`, which is {value!r} and not an array")
        return [(name, value) for name, value in found if value is not None]
