"""Conversions to and from float8 as MLIR text. A float8 is an i8 there: what LLVM lowers to has no such type.

Its bits are written out, but for rounding where the target has an instruction for it (sm_90).
"""

from __future__ import annotations

from mytriton.backends.mlir.writer import Writer
from mytriton.ir import ops
from mytriton.types import FLOAT8_LARGEST, ScalarType, f8e5, f16, f32, i8, i16, i32

#: Bits of the mantissa, and the bias of the exponent.
_FORMATS = {"f8e4nv": (3, 7), "f8e5": (2, 15)}
_NVVM = {"f8e4nv": "f8E4M3FN", "f8e5": "f8E5M2"}
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
    if w.float8:
        return _instruction(w, source, new, result)
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


def _instruction(w: Writer, source: str, new: ScalarType, result: str) -> str:
    """The same by NVVM's operation, which takes two numbers, the upper one first."""
    how = f"{{rnd = #nvvm.fp_rnd_mode<rn>, sat = #nvvm.sat_mode<satfinite>}} : i16 ({_NVVM[new.name]})"

    def pair(upper: str, lower: str) -> str:
        name = w.temporary()
        w.write(f"{name} = nvvm.convert.f32x2.to.f8x2 {upper}, {lower} {how}")
        return name

    if w.width is None:
        return w.convert("arith.trunci", pair(w.constant(0.0, f32), source), i16, i8, result)
    numbers = [w.temporary() for _ in range(w.width)]
    for n, name in enumerate(numbers):
        w.write(f"{name} = vector.extract {source}[{n}] : f32 from {w.mlir_type(f32)}")
    pairs = [pair(upper, lower) for lower, upper in zip(numbers[::2], numbers[1::2], strict=True)]
    together, type_ = w.temporary(), f"vector<{len(pairs)}xi16>"
    w.write(f"{together} = vector.from_elements {', '.join(pairs)} : {type_}")
    w.write(f"{result} = vector.bitcast {together} : {type_} to {w.mlir_type(i8)}")
    return result


def _sign(w: Writer, bits: str) -> str:
    """The sign in the lowest byte, alone."""
    return w.apply("arith.andi", (bits, w.constant(0x80, i32)), i32)
