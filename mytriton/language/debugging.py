"""Assertions, and values that are printed while a kernel runs or is compiled."""

from __future__ import annotations

from typing import Any

from mytriton.language.kernel_only import kernel_only

__all__ = ["device_assert", "device_print", "static_assert", "static_print"]


def device_assert(cond: Any, msg: str = "", mask: Any = None) -> None:
    """Stops the launch with `msg` if `cond`, or one of its elements where `mask` is true, is 0. It is always checked:
    Triton does so only with `debug=True`. `assert cond, msg` is the same."""
    kernel_only("device_assert")


def device_print(prefix: str, *args: Any, hex: bool = False) -> None:
    """Prints each element of `args` on a line of its own, with the program and the index it has:
    `pid (0, 0, 0) idx (3) prefix: 1.5`. `print` is the same. The order of lines of different programs is
    unspecified."""
    kernel_only("device_print")


def static_assert(cond: Any, msg: str = "") -> None:
    """Stops the compilation with `msg` if the constexpr `cond` is false."""
    kernel_only("static_assert")


def static_print(*values: Any, sep: str = " ") -> None:
    """A note of the compilation with the values as text; of run-time values with their types."""
    kernel_only("static_print")
