"""Functions of libdevice on the bits of integers, and its conversions between numbers with a chosen rounding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mytriton.language.kernel_only import kernel_only

__all__ = ["CONVERSIONS", "brev", "clz", "ffs", "hadd", "mulhi", "popc", "rhadd"]


def popc(arg0: Any) -> Any:
    """How many bits of an integer of 32 or 64 bits are one, an int32."""
    kernel_only("popc")


def clz(arg0: Any) -> Any:
    """How many bits of an integer of 32 or 64 bits are zero above the highest one, an int32; the width for 0."""
    kernel_only("clz")


def ffs(arg0: Any) -> Any:
    """The place of the lowest one bit of an integer of 32 or 64 bits, counted from 1, an int32; 0 if there is none."""
    kernel_only("ffs")


def brev(arg0: Any) -> Any:
    """The bits of an integer of 32 or 64 bits in the opposite order, in its type."""
    kernel_only("brev")


def mulhi(arg0: Any, arg1: Any) -> Any:
    """The upper half of the product of two integers of 32 or 64 bits, promoted as by `+`."""
    kernel_only("mulhi")


def hadd(arg0: Any, arg1: Any) -> Any:
    """Half the sum of two integers, rounded down, without overflow on the way."""
    kernel_only("hadd")


def rhadd(arg0: Any, arg1: Any) -> Any:
    """Half the sum of two integers, rounded up, without overflow on the way."""
    kernel_only("rhadd")


_ROUNDING = {"rn": "to the nearest, ties to even", "rz": "toward zero", "rd": "down", "ru": "up"}


def _conversion(source: str, target: str, rounding: str) -> Callable[[Any], Any]:
    name = f"{source}2{target}_{rounding}"

    def convert(arg0: Any) -> Any:
        kernel_only(name)

    convert.__name__ = convert.__qualname__ = name
    convert.__doc__ = f"{source} to {target}, rounded {_ROUNDING[rounding]}; integers saturate, and NaN gives 0."
    return convert


#: `float2int_rd` and so on: between C's types, as libdevice names them (`ll` is `long long`). Integers become floats by
#: rounding to the nearest only.
CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    function.__name__: function
    for function in (
        *(
            _conversion(source, target, rounding)
            for source in ("float", "double")
            for target in ("int", "uint", "ll", "ull")
            for rounding in _ROUNDING
        ),
        *(_conversion(source, "float", "rn") for source in ("int", "uint", "ll", "ull", "double")),
        *(_conversion(source, "double", "rn") for source in ("int", "uint", "ll", "ull")),
    )
}
