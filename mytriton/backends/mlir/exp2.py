"""2**x of f32 as MLIR text (see `backends/exp2.py`)."""

from __future__ import annotations

from mytriton.backends.exp2 import COEFFICIENTS, HIGHEST, LOWEST
from mytriton.backends.mlir.writer import Writer
from mytriton.ir import ops
from mytriton.types import f32, i32


def exp2(w: Writer, x: str, result: str) -> str:
    """Write the function; whole vectors on a host, where the C library's would be called lane by lane."""
    low, high = w.constant(LOWEST, f32), w.constant(HIGHEST, f32)
    above = w.select(w.compare(ops.CmpLt, x, low, f32), low, x, f32)
    y = w.select(w.compare(ops.CmpGt, x, high, f32), high, above, f32)
    k = w.apply("math.roundeven", (y,), f32)
    f = w.apply("arith.subf", (y, k), f32)
    *rest, p = (w.constant(c, f32) for c in (1.0, *COEFFICIENTS))
    for coefficient in reversed(rest):
        p = w.apply("math.fma", (p, f, coefficient), f32)
    # Converting NaN would be undefined; it stays in p.
    number = w.select(w.compare(ops.CmpEq, k, k, f32), k, w.constant(0.0, f32), f32)
    exponent = w.convert("arith.fptosi", number, f32, i32)
    half = w.apply("arith.shrsi", (exponent, w.constant(1, i32)), i32)
    partly = w.apply("arith.mulf", (p, _power_of_two(w, half)), f32)
    other = w.apply("arith.subi", (exponent, half), i32)
    return w.apply("arith.mulf", (partly, _power_of_two(w, other)), f32, result)


def _power_of_two(w: Writer, exponent: str) -> str:
    """2**exponent, which is a normal number."""
    biased = w.apply("arith.addi", (exponent, w.constant(127, i32)), i32)
    return w.convert("arith.bitcast", w.apply("arith.shli", (biased, w.constant(23, i32)), i32), i32, f32)
