"""A Triton-style kernel compiler whose every stage can be looked at."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mytriton import language as language
    from mytriton.language import cdiv as cdiv
    from mytriton.language import next_power_of_2 as next_power_of_2

#: Public name -> module that defines it (a submodule stands for itself). Imported on first use, so that
#: `import mytriton` costs nothing a kernel file does not need.
_PUBLIC = {
    "cdiv": "mytriton.language",
    "language": "",
    "next_power_of_2": "mytriton.language",
}

__all__ = ["cdiv", "language", "next_power_of_2"]


def __getattr__(name: str) -> Any:
    module = _PUBLIC.get(name)
    if module is None:
        raise AttributeError(f"module 'mytriton' has no attribute {name!r}")
    value = getattr(import_module(module), name) if module else import_module(f"mytriton.{name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
