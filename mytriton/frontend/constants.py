"""What is computed at compile time: Python's own arithmetic on constexprs, and numbers made exact in a type."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from mytriton.frontend.limits import MAX_BITS
from mytriton.types import FLOAT8_LARGEST, ScalarType, f32, f64, i1, i32, i64, u64

UNARY: dict[str, Callable[[Any], Any]] = {
    "-": operator.neg,
    "+": operator.pos,
    # As at run time; Python's own ~True is -2, and deprecated.
    "~": lambda x: not x if isinstance(x, bool) else operator.invert(x),
    "not": operator.not_,
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "@": operator.matmul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
}
COMPARISON: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "is": operator.is_,
    "is not": operator.is_not,
    "in": lambda a, b: a in b,
    "not in": lambda a, b: a not in b,
}


def binary(op: str, a: Any, b: Any) -> Any:
    """`a op b` as Python computes it. Raises what Python raises, and `OverflowError` for results over `MAX_BITS`."""
    if isinstance(a, int) and isinstance(b, int):
        bits = a.bit_length() * b if op == "**" else a.bit_length() + b if op == "<<" else 0
        if bits > MAX_BITS:
            raise OverflowError(f"the result has more than {MAX_BITS} bits")
    if op != "+" and (isinstance(a, (str, tuple)) or isinstance(b, (str, tuple))):
        what = "strings" if isinstance(a, str) or isinstance(b, str) else "tuples"
        raise TypeError(f"{what} can only be joined and compared")
    return BINARY[op](a, b)


#: Significand bits (with the hidden one), smallest and largest exponent of a normal number.
_FORMATS = {
    "f8e4nv": (4, -6, 8),
    "f8e5": (3, -14, 15),
    "f16": (11, -14, 15),
    "bf16": (8, -126, 127),
    "f32": (24, -126, 127),
}


def round_float(value: float, type_: ScalarType) -> float:
    """`value` rounded once to the float type, to nearest even, with its subnormals and infinities; what is beyond a
    float8 becomes its largest number."""
    if type_.is_float8 and abs(value) > FLOAT8_LARGEST[type_]:
        return math.copysign(FLOAT8_LARGEST[type_], value)
    if type_ == f64 or value == 0 or not math.isfinite(value):
        return value
    precision, low, high = _FORMATS[type_.name]
    exponent = max(math.frexp(value)[1] - 1, low)
    if exponent > high:
        return math.copysign(math.inf, value)
    unit = exponent - (precision - 1)
    rounded = math.ldexp(float(round(math.ldexp(value, -unit))), unit)
    if abs(rounded) >= math.ldexp(1.0, high + 1):
        return math.copysign(math.inf, value)
    return math.copysign(rounded, value)


def _float(value: bool | int | float, type_: ScalarType) -> float:
    """`value` as a Python float. An integer longer than the type's significand is rounded to it here, in integers:
    going through Python's double first would round twice."""
    if isinstance(value, int) and type_ != f64:
        shift = max(0, value.bit_length() - _FORMATS[type_.name][0])
        if shift:
            value = (value + (1 << (shift - 1)) - 1 + (value >> shift & 1)) >> shift << shift
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def type_of(value: bool | int | float) -> ScalarType:
    """The type a Python number has by itself, as in Triton: bool i1; int i32 if it fits, else i64, and u64
    above that; float f32 unless its magnitude needs f64."""
    if isinstance(value, bool):
        return i1
    if isinstance(value, int):
        return i32 if fits(value, i32) else i64 if value <= i64.high else u64
    magnitude = abs(value)
    normal = 2.0**-126 <= magnitude < 2.0**128
    return f32 if normal or value == 0 or not math.isfinite(value) else f64


def fits(value: int, type_: ScalarType) -> bool:
    """Whether the integer type holds `value`."""
    return type_.low <= value <= type_.high


def convert(value: bool | int | float, type_: ScalarType) -> bool | int | float:
    """`value` converted exactly as a cast to `type_` does: integers wrap, a float truncates and saturates (NaN is 0),
    floats round to nearest even, bool is `!= 0`."""
    if type_.kind == "bool":
        return bool(value)
    if type_.kind == "float":
        return round_float(_float(value, type_), type_)
    low, high = type_.low, type_.high
    if isinstance(value, float):
        if not math.isfinite(value):
            return 0 if math.isnan(value) else high if value > 0 else low
        return min(max(int(value), low), high)
    return (int(value) - low) % (1 << type_.bits) + low
