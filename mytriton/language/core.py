"""Triton's module of the language's own parts. What else is in it there is found in the language itself."""

from __future__ import annotations

from mytriton.language.compile_time import constexpr_function
from mytriton.types import SCALARS, ScalarType

__all__ = ["get_int_dtype"]


@constexpr_function
def get_int_dtype(bitwidth: int, signed: bool) -> ScalarType:
    """The dtype of integers with that many bits: 1, 8, 16, 32 or 64."""
    name = "i1" if bitwidth == 1 else f"{'i' if signed else 'u'}{bitwidth}"
    if name not in SCALARS:
        raise ValueError(f"there are no integers of {bitwidth} bits")
    return SCALARS[name]
