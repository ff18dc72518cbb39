"""Reductions, and what is made of them (see `registry.py`)."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from mytriton import language as tl
from mytriton.frontend.builtins import propagates_nan
from mytriton.frontend.memory import given
from mytriton.frontend.registry import FUNCTIONS, builtin
from mytriton.frontend.semantics import Semantics, is_float_operand
from mytriton.frontend.shapes import axis_argument
from mytriton.frontend.values import Item, Known, Mistake, Operand, Tuple
from mytriton.ir import ops
from mytriton.ir.core import Op, Value
from mytriton.source import Span
from mytriton.types import ScalarType, element_of, f32, i32, is_float, shape_of, u32

#: What these are of two values instead of along an axis, which are easily confused.
_OF_TWO: dict[type[Op], str] = {ops.Maximum: "larger", ops.Minimum: "smaller"}


def _numbers(s: Semantics, input: Operand, name: str) -> tuple[Value, ScalarType]:
    """What is reduced, and the type of its elements."""
    value = s.value(input)
    element = element_of(value.type)
    if not isinstance(element, ScalarType):
        raise Mistake("MT203", f"tl.{name} takes numbers, got {s.describe(input)}", input.span)
    return value, element


def _reduce(
    s: Semantics, input: Operand, value: Value, axis: Operand | None, keep_dims: Operand | None, op: type[Op]
) -> Value:
    """`value`, made of `input`, with an axis or all axes combined by `op`."""
    shape = shape_of(value.type)
    keep = keep_dims is not None and bool(s.known(keep_dims, "`keep_dims`"))
    axis = given(axis)
    if axis is not None and isinstance(axis.item, Tuple):
        hint = "reduce one axis after the other, or all of them with axis=None"
        raise Mistake("MT211", f"the axis must be an integer, got {s.describe(axis)}", axis.span, hint)
    if axis is not None and op in _OF_TWO and (isinstance(axis.item, Value) or is_float_operand(axis)):
        message = f"the axis must be a constexpr integer, got {s.describe(axis)}"
        raise Mistake("MT211", message, axis.span, f"the {_OF_TWO[op]} of two values is tl.{op.opcode}(x, y)")
    if axis is None:
        if shape:
            flat = s.reshape(value, (prod(shape),))
            value = s.builder.add(ops.Reduce, source=flat, axis=0, combine=op.opcode)
        return s.reshape(value, (1,) * len(shape)) if keep else value
    number = axis_argument(s, axis, len(shape), s.describe(input))
    reduced = s.builder.add(ops.Reduce, source=value, axis=number, combine=op.opcode)
    return s.reshape(reduced, (*shape[:number], 1, *shape[number + 1 :])) if keep else reduced


@builtin(tl.sum, method=True)
def _sum(
    s: Semantics,
    span: Span,
    input: Operand,
    axis: Operand | None = None,
    keep_dims: Operand | None = None,
    dtype: Operand | None = None,
) -> Item:
    value, element = _numbers(s, input, "sum")
    dtype = given(dtype)
    if dtype is not None:
        element = s.dtype(dtype)
        if element.kind == "bool":
            raise Mistake("MT203", "tl.sum does not add bools as bools", dtype.span, "leave dtype out to count them")
    elif element.kind != "float" and element.bits < 32:
        element = i32 if element.kind == "int" and element.signed else u32
    return _reduce(s, input, s.builder.cast(value, element), axis, keep_dims, ops.Add)


def _extremum(function: Callable[..., Any], op: type[Op], of_nan: type[Op]) -> None:
    name = function.__name__

    def rule(
        s: Semantics,
        span: Span,
        input: Operand,
        axis: Operand | None = None,
        return_indices: Operand | None = None,
        return_indices_tie_break_left: Operand | None = None,
        keep_dims: Operand | None = None,
        propagate_nan: Operand | None = None,
    ) -> Item:
        if return_indices is not None and s.known(return_indices, "`return_indices`"):
            message = f"tl.{name} with `return_indices` is not supported yet: a reduction combines single values so far"
            hint = f"reduce the indices of what equals the {name}imum: tl.min(tl.where(x == m, index, large), axis)"
            raise Mistake("MT135", message, return_indices.span, hint)
        value, element = _numbers(s, input, name)
        if element.bits < 32:
            value = s.builder.cast(value, f32 if element.kind == "float" else i32)
        chosen = of_nan if propagates_nan(s, propagate_nan) and is_float(value.type) else op
        return _reduce(s, input, value, axis, keep_dims, chosen)

    builtin(function, method=True)(rule)


_extremum(tl.max, ops.Maximum, ops.MaximumNan)
_extremum(tl.min, ops.Minimum, ops.MinimumNan)


def _bitwise(function: Callable[..., Any], op: type[Op]) -> None:
    name = function.__name__

    def rule(
        s: Semantics, span: Span, input: Operand, axis: Operand | None = None, keep_dims: Operand | None = None
    ) -> Item:
        value, element = _numbers(s, input, name)
        if element.kind == "float":
            raise Mistake(
                "MT203", f"tl.{name} takes integers and bools, got {s.describe(input)}", input.span, s.whole(input)
            )
        return _reduce(s, input, value, axis, keep_dims, op)

    builtin(function, method=True)(rule)


_bitwise(tl.xor_sum, ops.Xor)
_bitwise(tl.reduce_or, ops.Or)


@builtin(tl.softmax, method=True)
def _softmax(
    s: Semantics,
    span: Span,
    x: Operand,
    dim: Operand | None = None,
    keep_dims: Operand | None = None,
    ieee_rounding: Operand | None = None,
) -> Item:
    value = s.value(x)
    if not is_float(value.type):
        hint = f"convert it first: {s.short(x)}.to(tl.float32)"
        raise Mistake("MT203", f"tl.softmax takes floats, got {s.describe(x)}", x.span, hint)
    axis, keep = given(dim) or Operand(Known(0), x.expr), Operand(Known(True), x.expr)

    def call(function: Callable[..., Any], *args: Operand, **named: Operand) -> Operand:
        return Operand(FUNCTIONS[function].rule(s, span, *args, **named), x.expr)

    largest = call(tl.max, x, axis=axis, keep_dims=keep)
    powers = call(tl.exp, Operand(s.binary("-", x, largest, span), x.expr))
    return s.binary("/", powers, call(tl.sum, powers, axis=axis, keep_dims=keep), span)
