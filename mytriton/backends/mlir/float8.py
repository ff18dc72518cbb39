"""Conversions to and from float8 as MLIR text. A float8 is an i8 there, whose bits are written out: no target below has
such a type everywhere."""

from __future__ import annotations

from mytriton.backends.mlir.writer import Writer
from mytriton.ir import ops
from mytriton.types import FLOAT8_LARGEST, ScalarType, f8e5, f16, f32, i8, i16, i32

#: Bits of the mantissa, and the bias of the exponent.
_FORMATS = {"f8e4nv": (3, 7), "f8e5": (2, 15)}
_NAN = 0x7F


def widen(w: Writer, source: str, old: ScalarType, result: str = "") -> str:
    """A float8 as an f32, exactly."""
    if old == f8e5:  # the upper half of an f16
        wide = w.convert("arith.extui", source, i8, i16)
        half = w.convert("arith.bitcast", w.apply("arith.shli", (wide, w.constant(8, i16)), i16), i16, f16)
        return w.convert("arith.extf", half, f16, f32, result)
    mantissa, bias = _FORMATS[old.name]
    bits = w.convert("arith.extui", source, i8, i32)
    size = w.apply("arith.andi", (bits, w.constant(_NAN, i32)), i32)
    shifted = w.apply("arith.shli", (size, w.constant(23 - mantissa, i32)), i32)
    # A product makes up for the larger bias of an f32, of subnormal numbers too.
    small = w.convert("arith.bitcast", shifted, i32, f32)
    number = w.apply("arith.mulf", (small, w.constant(2.0 ** (127 - bias), f32)), f32)
    is_nan = w.compare(ops.CmpEq, size, w.constant(_NAN, i32), i32)
    magnitude = w.select(is_nan, w.constant(float("nan"), f32), number, f32)
    sign = w.apply("arith.shli", (_sign(w, bits), w.constant(24, i32)), i32)
    signed = w.apply("arith.ori", (w.convert("arith.bitcast", magnitude, f32, i32), sign), i32)
    return w.convert("arith.bitcast", signed, i32, f32, result)


def narrow(w: Writer, source: str, new: ScalarType, result: str) -> str:
    """An f32 as a float8: rounded to nearest even, saturating, infinity too; NaN becomes 0x7f (PTX's `satfinite`)."""
    mantissa, bias = _FORMATS[new.name]
    cut, least = 23 - mantissa, 2.0 ** (1 - bias)
    largest = w.constant(FLOAT8_LARGEST[new], f32)
    magnitude = w.apply("math.absf", (source,), f32)
    is_large = w.compare(ops.CmpGt, magnitude, largest, f32)
    size = w.select(is_large, largest, magnitude, f32)
    bits = w.convert("arith.bitcast", size, f32, i32)
    # Among subnormals: a sum with a number whose last bit is worth what theirs is rounds to them.
    coarse = w.apply("arith.addf", (size, w.constant(least * 2.0**cut, f32)), f32)
    offset = w.constant((127 + 1 - bias + cut) << 23, i32)
    small = w.apply("arith.subi", (w.convert("arith.bitcast", coarse, f32, i32), offset), i32)
    # Else the bits are rounded as integers, and the exponent gets the other bias.
    last = w.apply("arith.andi", (w.apply("arith.shrui", (bits, w.constant(cut, i32)), i32), w.constant(1, i32)), i32)
    moved = w.apply("arith.addi", (bits, w.constant((1 << cut - 1) - 1 - ((127 - bias) << 23), i32)), i32)
    normal = w.apply("arith.shrui", (w.apply("arith.addi", (moved, last), i32), w.constant(cut, i32)), i32)
    is_small = w.compare(ops.CmpLt, size, w.constant(least, f32), f32)
    code = w.select(is_small, small, normal, i32)
    upper = w.apply("arith.shrui", (w.convert("arith.bitcast", source, f32, i32), w.constant(24, i32)), i32)
    signed = w.apply("arith.ori", (code, _sign(w, upper)), i32)
    is_nan = w.compare(ops.CmpNe, source, source, f32)
    found = w.select(is_nan, w.constant(_NAN, i32), signed, i32)
    return w.convert("arith.trunci", found, i32, i8, result)


def _sign(w: Writer, bits: str) -> str:
    """The sign in the lowest byte, alone."""
    return w.apply("arith.andi", (bits, w.constant(0x80, i32)), i32)
