"""Conversions between element types as MLIR text: saturating to integers, rounded once to floats."""

from __future__ import annotations

from mytriton.backends.mlir.float8 import narrow, widen
from mytriton.backends.mlir.writer import Writer
from mytriton.ir import ops
from mytriton.types import ScalarType, bf16, f16, f32, f64, i1, i32


def cast(w: Writer, source: str, old: ScalarType, new: ScalarType, result: str, narrows_f64: bool) -> str:
    """Write the conversion of `source` as `Cast` means it.

    `narrows_f64`: the target rounds f64 to f16 and bf16 correctly by itself (NVPTX does; hosts would call a library
    routine that the JIT does not have).
    """
    if new == old:  # an optimizer would have dropped it
        return w.convert("arith.bitcast", source, old, new, result)
    if old.is_float8:
        if new == f32:
            return widen(w, source, old, result)
        return cast(w, widen(w, source, old), f32, new, result, narrows_f64)
    if new.is_float8:
        return narrow(w, _to_f32(w, source, old), new, result)
    if new == i1:
        return w.compare(ops.CmpNe, source, w.constant(0, old), old, result)
    if new.kind == "int":
        return _to_integer(w, source, old, new, result)
    if old.kind == "float":
        return _between_floats(w, source, old, new, result, narrows_f64)
    to_float = "arith.uitofp" if old == i1 or not old.signed else "arith.sitofp"
    if old == i1:
        return w.convert(to_float, source, old, new, result)
    if new == f16 or (new == bf16 and old.bits < 24):
        # Past f32's 24 exact bits a value is past f16's largest too, so rounding twice cannot show.
        return w.convert("arith.truncf", w.convert(to_float, source, old, f32), f32, new, result)
    if new == bf16:
        return w.convert("arith.truncf", _integer_round_to_odd(w, source, old), f32, bf16, result)
    return w.convert(to_float, source, old, new, result)


def _to_integer(w: Writer, source: str, old: ScalarType, new: ScalarType, result: str) -> str:
    if old == i1:
        return w.convert("arith.extui", source, old, new, result)
    if old.kind == "int":
        extend = "arith.extsi" if old.signed else "arith.extui"
        name = "arith.bitcast" if new.bits == old.bits else extend if new.bits > old.bits else "arith.trunci"
        return w.convert(name, source, old, new, result)
    if old.bits == 16:
        source, old = w.convert("arith.extf", source, old, f32), f32
    return w.intrinsic(_saturating(new), source, old, new, result)


def _saturating(to: ScalarType) -> str:
    """arith.fptosi is undefined out of range; this saturates, and NaN gives 0."""
    return "llvm.fptosi.sat" if to.signed else "llvm.fptoui.sat"


def _between_floats(w: Writer, source: str, old: ScalarType, new: ScalarType, result: str, narrows_f64: bool) -> str:
    if old == f64 and new.bits == 16 and not narrows_f64:
        source, old = _round_to_odd(w, source), f32
    if old.bits == new.bits:  # between f16 and bf16
        source, old = w.convert("arith.extf", source, old, f32), f32
    return w.convert("arith.extf" if new.bits > old.bits else "arith.truncf", source, old, new, result)


def _to_f32(w: Writer, source: str, old: ScalarType) -> str:
    """`source` as an f32, such that rounding it to a float8 is right: no integer that an f32 does not hold is within
    reach of one."""
    if old in (f32, f64):
        return source if old == f32 else _round_to_odd(w, source)
    name = "arith.extf" if old.kind == "float" else "arith.sitofp" if old != i1 and old.signed else "arith.uitofp"
    return w.convert(name, source, old, f32)


def _round_to_odd(w: Writer, source: str) -> str:
    """f64 to f32 such that a second rounding, to f16 or bf16, equals one rounding of the f64 (Boldo and Melquiond,
    "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008): truncated, and the
    last bit set if that was inexact."""
    near = w.convert("arith.truncf", source, f64, f32)
    back = w.convert("arith.extf", near, f32, f64)
    bits = w.convert("arith.bitcast", near, f32, i32)
    size, size_back = w.apply("math.absf", (source,), f64), w.apply("math.absf", (back,), f64)
    away = w.convert("arith.extui", w.compare(ops.CmpGt, size_back, size, f64), i1, i32)
    toward_zero = w.compare(ops.CmpLt, size_back, size, f64)
    towards = w.convert("arith.extui", toward_zero, i1, i32)
    truncated = w.apply("arith.subi", (bits, away), i32)
    inexact = w.apply("arith.ori", (away, towards), i32)
    return w.convert("arith.bitcast", w.apply("arith.ori", (truncated, inexact), i32), i32, f32)


def _integer_round_to_odd(w: Writer, source: str, old: ScalarType) -> str:
    """An integer to f32, rounded to odd in the same way, for bf16. Going through f64 would be shorter, but LLVM folds
    that into one conversion, which it then expands through f32 where the chip has none (below sm_90)."""
    near = w.convert("arith.sitofp" if old.signed else "arith.uitofp", source, old, f32)
    back = w.intrinsic(_saturating(old), near, f32, old)
    bits = w.convert("arith.bitcast", near, f32, i32)
    is_inexact = w.compare(ops.CmpNe, back, source, old)
    is_above, is_negative = (
        w.compare(ops.CmpGt, back, source, old),
        w.compare(ops.CmpLt, source, w.constant(0, old), old),
    )
    is_away = w.apply("arith.andi", (is_inexact, w.apply("arith.xori", (is_above, is_negative), i1)), i1)
    truncated = w.apply("arith.subi", (bits, w.convert("arith.extui", is_away, i1, i32)), i32)
    odd = w.apply("arith.ori", (truncated, w.convert("arith.extui", is_inexact, i1, i32)), i32)
    return w.convert("arith.bitcast", odd, i32, f32)
