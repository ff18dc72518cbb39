"""How types and constants read in CUDA C++. f16, bf16 and float8 are held as their bits, so no header is needed."""

from __future__ import annotations

import math

from mytriton.numbers import bits_of
from mytriton.types import PointerType, ScalarType, Type, element_of, f32, f64, i1

_NAMES = {
    "i1": "bool",
    "i8": "signed char",
    "i16": "short",
    "i32": "int",
    "i64": "long long",
    "u8": "unsigned char",
    "u16": "unsigned short",
    "u32": "unsigned",
    "u64": "unsigned long long",
    "f8e4nv": "unsigned char",
    "f8e5": "unsigned char",
    "f16": "unsigned short",
    "bf16": "unsigned short",
    "f32": "float",
    "f64": "double",
}


def c_type(type_: Type) -> str:
    """The C++ type of one element in a register. i1 in memory is `unsigned char`: any non-zero byte is true, which a
    C++ `bool` may not hold."""
    element = element_of(type_)
    if isinstance(element, PointerType):
        return ("unsigned char" if element.element == i1 else _NAMES[element.element.name]) + "*"
    return _NAMES[element.name]


def literal(value: bool | int | float, type_: ScalarType) -> str:
    """A constant, exact to the bit."""
    if type_ == i1:
        return "true" if value else "false"
    if type_.kind == "int":
        return _integer(int(value), type_)
    if type_ in (f32, f64):
        return _float(float(value), type_)
    return f"0x{float_bits(float(value), type_):0{2 * type_.bytes}x}"


def _integer(value: int, type_: ScalarType) -> str:
    # Narrower integers are computed with as `int`, which holds them all.
    suffix = {64: "LL" if type_.signed else "ull", 32: "" if type_.signed else "u"}.get(type_.bits, "")
    if value == type_.low < 0 and type_.bits >= 32:  # its absolute value does not fit the type
        return f"(-{-(value + 1)}{suffix} - 1)"
    return f"{value}{suffix}"


def _float(value: float, type_: ScalarType) -> str:
    if math.isfinite(value):
        text = repr(_shortest(value) if type_ == f32 else value)
        text = text if any(c in text for c in ".e") else f"{text}.0"
        return f"{text}f" if type_ == f32 else text
    # There is no literal for nan and inf without a header.
    bits = float_bits(value, type_)
    return f"__int_as_float(0x{bits:08x})" if type_ == f32 else f"__longlong_as_double(0x{bits:016x})"


def _shortest(value: float) -> float:
    """The number that reads with the fewest digits of all that are the same f32."""
    if (not value or 1e-37 < abs(value) < 1e38) and float(f"{value:.6g}") == value:
        return value  # no two numbers of six digits are one f32
    import numpy as np  # see `numbers`

    # Written as Python does, because NumPy's own spelling changes between its versions.
    return float(np.format_float_scientific(np.float32(value)))


def float_bits(value: float, type_: ScalarType) -> int:
    """The bits of a float constant of the given type."""
    return bits_of(value, type_)
