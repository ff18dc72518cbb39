"""The functions of `tl.math`: of floats, and compositions of them (see `registry.py`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from mytriton import language as tl
from mytriton.frontend.builtins import maximum, minimum
from mytriton.frontend.registry import builtin
from mytriton.frontend.semantics import Semantics
from mytriton.frontend.values import Item, Mistake, Operand
from mytriton.ir import ops
from mytriton.ir.core import Op, Value
from mytriton.source import Span
from mytriton.types import BlockType, ScalarType, element_of, f32, is_float, is_pointer, promote


def _floats(s: Semantics, name: str, operands: list[Operand], span: Span) -> list[Value]:
    """The operands promoted to one type of float and one shape; known integers count as floats."""
    for operand in operands:
        item = s.number(operand, "this")
        if isinstance(item, Value) and not is_float(item.type):
            hint = f"convert it first: {s.text(operand.span)}.to(tl.float32)" if not is_pointer(item.type) else ""
            raise Mistake("MT203", f"tl.{name} takes floats, got {s.describe(operand)}", operand.span, hint)
    elements = [element_of(o.item.type) for o in operands if isinstance(o.item, Value)]
    types = [e for e in elements if isinstance(e, ScalarType)]
    type_ = reduce(promote, types) if types else f32  # a known number does not widen the others
    return s.same_shape([s.value(o, type_) for o in operands], operands, span)


def _function(function: Callable[..., Any], op: type[Op]) -> None:
    """A function of one float."""

    def rule(s: Semantics, span: Span, x: Operand) -> Item:
        (source,) = _floats(s, function.__name__, [x], span)
        return s.builder.add(op, source=source)

    builtin(function)(rule)


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
    lhs, rhs = _floats(s, "pow", [x, y], span)
    return s.builder.add(ops.Pow, lhs=lhs, rhs=rhs)


@builtin(tl.fma)
def _fma(s: Semantics, span: Span, x: Operand, y: Operand, z: Operand) -> Item:
    a, b, c = _floats(s, "fma", [x, y, z], span)
    return s.builder.add(ops.Fma, x=a, y=b, z=c)


@builtin(tl.div_rn)
def _div_rn(s: Semantics, span: Span, x: Operand, y: Operand) -> Item:
    return s.binary("/", x, y, span)


@builtin(tl.sigmoid)
def _sigmoid(s: Semantics, span: Span, x: Operand) -> Item:
    (value,) = _floats(s, "sigmoid", [x], span)
    element, b = element_of(value.type), s.builder
    assert isinstance(element, ScalarType)
    wide = b.cast(value, f32) if element.bits == 16 else value
    computed, shape = element_of(wide.type), wide.type.shape if isinstance(wide.type, BlockType) else ()
    assert isinstance(computed, ScalarType)
    one = b.constant(1.0, computed, shape)
    below = b.add(ops.Add, lhs=one, rhs=b.add(ops.Exp, source=b.add(ops.Neg, source=wide)))
    return b.cast(b.add(ops.Div, lhs=one, rhs=below), element)


@builtin(tl.clamp)
def _clamp(s: Semantics, span: Span, x: Operand, min: Operand, max: Operand) -> Item:
    raised = Operand(maximum(s, span, x, min), x.expr)
    return minimum(s, span, raised, max)
