"""What a function of the language does when ordinary Python calls it."""

from __future__ import annotations

from typing import NoReturn

from mytriton.diagnostics import MytritonError


class LanguageError(MytritonError, TypeError):
    """A function of the kernel language was called by ordinary Python code."""


def kernel_only(name: str) -> NoReturn:
    """Raises `LanguageError` for `tl.name`."""
    raise LanguageError(
        f"tl.{name} works only inside a kernel: put the call in a function decorated with @mytriton.jit and launch "
        f"it with kernel[grid](...)"
    )
