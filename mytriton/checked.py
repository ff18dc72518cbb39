"""What the functions of `mytriton.mlir` are given: something else is refused in a sentence, before MLIR sees it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from mytriton.diagnostics import MytritonError


class ArgumentError(MytritonError, TypeError):
    """An argument of a type that the function does not take."""


def expect(value: Any, kinds: type | tuple[type, ...], function: str, what: str) -> None:
    """Raises `ArgumentError` unless `value` is one of these types: `function` takes `what`."""
    if not isinstance(value, kinds):
        raise ArgumentError(f"{function} takes {what}, got {_shown(value)}")


def expect_all(values: Any, kinds: type | tuple[type, ...], function: str, what: str) -> None:
    """The same of the items of a sequence, which a string is none of."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Sequence):
        raise ArgumentError(f"{function} takes {what}, got {_shown(values)}")
    for value in values:
        expect(value, kinds, function, what)


def seconds(value: Any, function: str) -> None:
    """Raises `ArgumentError` for what is neither None nor a number of seconds above 0."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if value is not None and not (number and 0 < value < threading.TIMEOUT_MAX):
        raise ArgumentError(f"{function} takes seconds as a number above 0, or None for no limit, got {_shown(value)}")


def module(value: Any, function: str, more: tuple[type, ...] = (), what: str = "") -> None:
    """Raises `ArgumentError` for what is no `mlir.Module`, nor one of `more` types, which are called `what`."""
    from mytriton.mlir.module import Module, Run

    if isinstance(value, Run) and not isinstance(value, more):
        raise ArgumentError(f"{function} takes a module, got Run: give run.result, what its passes left")
    expect(value, (Module, *more), function, f"a module, which mlir.parse or mlir.read makes{what}")


def _shown(value: Any) -> str:
    kind = type(value).__name__
    return f"{value!r} ({kind})" if isinstance(value, (bool, int, float, str)) and len(repr(value)) < 40 else kind
