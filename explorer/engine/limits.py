"""How long and how large a child may grow before it is taken for stuck."""

from __future__ import annotations

import os
from dataclasses import fields

from mytriton.records import dataclass

_PREFIX = "MYTRITON_EXPLORER_"


def _half_of_memory() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2 / 1e9


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds for one import (with its examples' inputs), run and compilation, and gigabytes (1e9 bytes) of memory.

    Each may be set by `MYTRITON_EXPLORER_IMPORT_S`, `_RUN_S`, `_COMPILE_S` and `_MEMORY_GB`. Memory is what a child
    occupies, looked at ten times a second: an address space limit would refuse CUDA, which reserves far more than it
    uses.
    """

    import_s: float = 60.0
    run_s: float = 120.0
    compile_s: float = 120.0
    memory_gb: float = 0.0

    @classmethod
    def from_environment(cls) -> Limits:
        """The limits, with what the environment says in place of the defaults; ValueError names a bad variable."""
        values: dict[str, float] = {"memory_gb": _half_of_memory()}
        for field in fields(cls):
            variable = _PREFIX + field.name.upper()
            text = os.environ.get(variable)
            if text is None:
                continue
            try:
                values[field.name] = float(text)
            except ValueError:
                values[field.name] = 0.0
            if not values[field.name] > 0.0:  # nor is it NaN
                raise ValueError(f"{variable}={text!r} is not a number greater than 0")
        return cls(**values)
