"""Ordinary Python functions that kernels may call while they are compiled."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

__all__ = ["ConstexprFunction", "constexpr_function"]


class ConstexprFunction:
    """A Python function that kernels call with constexprs; made by `constexpr_function`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.function = function

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self.function(*args, **keywords)


def constexpr_function(function: Callable[..., Any]) -> ConstexprFunction:
    """Decorates an ordinary Python function that kernels may call with constexprs: Python runs it while the kernel is
    compiled, and its result is a constexpr. It must be a pure function: what else it reads is not part of a cache key.
    """
    return function if isinstance(function, ConstexprFunction) else ConstexprFunction(function)
