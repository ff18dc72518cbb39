"""The functions of `tl.math`: of floats, and compositions of them (see `registry.py`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from mytriton import language as tl
from mytriton.frontend.builtins import maximum, minimum
from mytriton.frontend.registry import builtin
from mytriton.frontend.semantics import Semantics
from mytriton.frontend.values import Item, Mistake, Operand, is_float_operand
from mytriton.ir import ops
from mytriton.ir.core import Op, Value
from mytriton.source import Span
from mytriton.types import (
    BlockType,
    ScalarType,
    element_of,
    f32,
    f64,
    i32,
    is_float,
    is_pointer,
    promote,
    shape_of,
    u32,
    u64,
)


def floats(s: Semantics, name: str, operands: list[Operand], span: Span) -> list[Value]:
    """The operands of a function promoted to one type of float and one shape; known integers count as floats."""
    for operand in operands:
        item = s.number(operand, "this")
        if isinstance(item, Value) and not is_float(item.type):
            hint = f"convert it first: {s.receiver(operand)}.to(tl.float32)" if not is_pointer(item.type) else ""
            raise Mistake("MT203", f"{name} takes floats, got {s.describe(operand)}", operand.span, hint)
    elements = [element_of(o.item.type) for o in operands if isinstance(o.item, Value)]
    types = [e for e in elements if isinstance(e, ScalarType)]
    type_ = reduce(promote, types).computed if types else f32  # a known number does not widen the others
    return s.same_shape([s.value(o, type_) for o in operands], operands, span)


def _function(function: Callable[..., Any], op: type[Op]) -> None:
    """A function of one float."""

    def rule(s: Semantics, span: Span, x: Operand) -> Item:
        (source,) = floats(s, f"tl.{function.__name__}", [x], span)
        return s.builder.add(op, source=source)

    builtin(function, method=True)(rule)


for _tl_function, _op in (
    (tl.exp, ops.Exp),
    (tl.exp2, ops.Exp2),
    (tl.log, ops.Log),
    (tl.log2, ops.Log2),
    (tl.sqrt, ops.Sqrt),
    (tl.sqrt_rn, ops.Sqrt),
    (tl.rsqrt, ops.Rsqrt),
    (tl.sin, ops.Sin),
    (tl.cos, ops.Cos),
    (tl.tanh, ops.Tanh),
    (tl.erf, ops.Erf),
    (tl.floor, ops.Floor),
    (tl.ceil, ops.Ceil),
):
    _function(_tl_function, _op)


@builtin(tl.pow)
def _pow(s: Semantics, span: Span, x: Operand, y: Operand) -> Item:
    if isinstance(y.item, Value) and element_of(y.item.type) == i32:  # libdevice's `powi`: float64 holds any exponent
        (base,) = floats(s, "tl.pow", [x], span)
        b = s.builder
        wide, power = s.same_shape([b.cast(base, f64), b.cast(y.item, f64)], [x, y], span)
        element = element_of(base.type)
        assert isinstance(element, ScalarType)
        return b.cast(b.add(ops.Pow, lhs=wide, rhs=power), element)
    lhs, rhs = floats(s, "tl.pow", [x, y], span)
    return s.builder.add(ops.Pow, lhs=lhs, rhs=rhs)


@builtin(tl.fma)
def _fma(s: Semantics, span: Span, x: Operand, y: Operand, z: Operand) -> Item:
    a, b, c = floats(s, "tl.fma", [x, y, z], span)
    return s.builder.add(ops.Fma, x=a, y=b, z=c)


@builtin(tl.div_rn)
def _div_rn(s: Semantics, span: Span, x: Operand, y: Operand) -> Item:
    return s.binary("/", x, y, span)


@builtin(tl.sigmoid, method=True)
def _sigmoid(s: Semantics, span: Span, x: Operand) -> Item:
    (value,) = floats(s, "tl.sigmoid", [x], span)
    element, b = element_of(value.type), s.builder
    assert isinstance(element, ScalarType)
    wide = b.cast(value, f32) if element.bits == 16 else value
    computed, shape = element_of(wide.type), wide.type.shape if isinstance(wide.type, BlockType) else ()
    assert isinstance(computed, ScalarType)
    one = b.constant(1.0, computed, shape)
    below = b.add(ops.Add, lhs=one, rhs=b.add(ops.Exp, source=b.add(ops.Neg, source=wide)))
    return b.cast(b.add(ops.Div, lhs=one, rhs=below), element)


@builtin(tl.clamp)
def _clamp(
    s: Semantics, span: Span, x: Operand, min: Operand, max: Operand, propagate_nan: Operand | None = None
) -> Item:
    raised = Operand(maximum(s, span, x, min, propagate_nan), x.expr)
    return minimum(s, span, raised, max, propagate_nan)


@builtin(tl.fdiv)
def _fdiv(
    s: Semantics,
    span: Span,
    x: Operand,
    y: Operand,
    ieee_rounding: Operand | None = None,
    approx: Operand | None = None,
) -> Item:
    if not any(is_float_operand(o) for o in (x, y)):
        hint = "use `/`, which converts integers to float32"
        raise Mistake("MT203", f"tl.fdiv takes floats, got {s.describe(x)} and {s.describe(y)}", span, hint)
    return s.binary("/", x, y, span)


@builtin(tl.umulhi)
def _umulhi(s: Semantics, span: Span, x: Operand, y: Operand) -> Item:
    lhs, rhs = s.arithmetic_pair(x, y, "tl.umulhi", span)
    type_, b = element_of(lhs.type), s.builder
    if not isinstance(type_, ScalarType) or type_.kind != "int" or type_.bits < 32:
        message = f"tl.umulhi takes integers of 32 or 64 bits, got {s.describe(x)} and {s.describe(y)}"
        raise Mistake("MT203", message, span, "convert both: x.to(tl.uint32)")
    half = b.constant(32, u64, shape_of(lhs.type))
    if type_.bits == 32:
        product = b.add(ops.Mul, lhs=b.cast(b.cast(lhs, u32), u64), rhs=b.cast(b.cast(rhs, u32), u64))
        return b.cast(b.add(ops.Shr, lhs=product, rhs=half), type_)
    # Halves of 32 bits, as on paper; `middle` holds at most 2**64 - 1.
    low = b.constant(0xFFFFFFFF, u64, shape_of(lhs.type))
    (a, c), (d, e) = (
        (b.add(ops.Shr, lhs=v, rhs=half), b.add(ops.And, lhs=v, rhs=low)) for v in (b.cast(lhs, u64), b.cast(rhs, u64))
    )
    carry = b.add(ops.Shr, lhs=b.add(ops.Mul, lhs=c, rhs=e), rhs=half)
    middle = b.add(ops.Add, lhs=b.add(ops.Mul, lhs=a, rhs=e), rhs=carry)
    cross = b.add(ops.Add, lhs=b.add(ops.Mul, lhs=c, rhs=d), rhs=b.add(ops.And, lhs=middle, rhs=low))
    upper = b.add(ops.Add, lhs=b.add(ops.Shr, lhs=middle, rhs=half), rhs=b.add(ops.Shr, lhs=cross, rhs=half))
    return b.cast(b.add(ops.Add, lhs=b.add(ops.Mul, lhs=a, rhs=d), rhs=upper), type_)
