"""x * y + z with one rounding, as MLIR text. No target has an instruction for every type: bf16's needs sm_80, f16's a
recent host."""

from __future__ import annotations

from collections.abc import Sequence

from mytriton.backends.mlir.casts import cast
from mytriton.backends.mlir.writer import Writer
from mytriton.ir import ops
from mytriton.types import ScalarType, f16, f32, f64, i1, i64


def fma(w: Writer, operands: Sequence[str], element: ScalarType, result: str, narrows_f64: bool) -> str:
    """Write the operation. f16 and bf16 are computed in f64, which holds their products; a sum of f16 that it does not
    hold is not near half way between two f16, one of bf16 can be, and is rounded to odd. `narrows_f64` as in `cast`."""
    if element in (f32, f64):
        return w.apply("math.fma", operands, element, result)
    # bf16 to f64 in one step would become arithmetic that hosts do not have.
    x, y, z = (w.convert("arith.extf", w.convert("arith.extf", v, element, f32), f32, f64) for v in operands)
    product = w.apply("arith.mulf", (x, y), f64)
    total = w.apply("arith.addf", (product, z), f64) if element == f16 else _odd_sum(w, product, z)
    return cast(w, total, f64, element, result, narrows_f64)


def _odd_sum(w: Writer, x: str, y: str) -> str:
    """x + y of f64 with an even last bit moved towards what was rounded off, which is computed exactly (Knuth's
    TwoSum). See `casts._round_to_odd` for why."""

    def combine(name: str, lhs: str, rhs: str, element: ScalarType = f64) -> str:
        return w.apply(name, (lhs, rhs), element)

    total = combine("arith.addf", x, y)
    part = combine("arith.subf", total, x)
    rest = combine("arith.subf", x, combine("arith.subf", total, part))
    error = combine("arith.addf", rest, combine("arith.subf", y, part))
    bits = w.convert("arith.bitcast", total, f64, i64)
    zero, one = w.constant(0.0, f64), w.constant(1, i64)
    is_even = w.compare(ops.CmpEq, combine("arith.andi", bits, one, i64), w.constant(0, i64), i64)
    is_finite = w.compare(ops.CmpEq, combine("arith.subf", error, error), zero, f64)
    is_inexact = w.compare(ops.CmpNe, error, zero, f64)
    moves = combine("arith.andi", is_even, combine("arith.andi", is_finite, is_inexact, i1), i1)
    is_away = w.compare(ops.CmpEq, w.compare(ops.CmpGt, error, zero, f64), w.compare(ops.CmpGt, total, zero, f64), i1)
    step = w.select(is_away, one, w.constant(-1, i64), i64)
    moved = combine("arith.addi", bits, step, i64)
    return w.convert("arith.bitcast", w.select(moves, moved, bits, i64), i64, f64)
