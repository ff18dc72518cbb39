"""Reductions, and what is made of them (see `registry.py`)."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from mytriton import language as tl
from mytriton.frontend.builtins import propagates_nan
from mytriton.frontend.memory import given
from mytriton.frontend.registry import FUNCTIONS, builtin
from mytriton.frontend.semantics import Semantics
from mytriton.frontend.shapes import axis_argument
from mytriton.frontend.values import Item, Known, Mistake, Operand, Tuple, is_float_operand
from mytriton.ir import ops
from mytriton.ir.core import Op, Value
from mytriton.source import Span
from mytriton.types import ScalarType, element_of, f32, i32, is_float, shape_of, u32

#: What these are of two values instead of along an axis, which are easily confused.
_OF_TWO: dict[type[Op], str] = {ops.Maximum: "larger", ops.Minimum: "smaller"}


def numbers(s: Semantics, input: Operand, name: str) -> tuple[Value, ScalarType]:
    """What is reduced, and the type of its elements; float8 counts as f32."""
    value = s.value(input)
    element = element_of(value.type)
    if not isinstance(element, ScalarType):
        hint = "read what it points to with tl.load(...)"
        raise Mistake("MT203", f"tl.{name} takes numbers, got {s.describe(input)}", input.span, hint)
    return s.builder.cast(value, element.computed), element.computed


def _reduce(
    s: Semantics, input: Operand, value: Value, axis: Operand | None, keep_dims: Operand | None, op: type[Op]
) -> Value:
    """`value`, made of `input`, with an axis or all axes combined by `op`."""
    shape = shape_of(value.type)
    keep = s.flag(keep_dims, "keep_dims")
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


def sum_type(s: Semantics, element: ScalarType, dtype: Operand | None, name: str) -> ScalarType:
    """The type in which elements are added up or multiplied."""
    dtype = given(dtype)
    if dtype is not None:
        element = s.dtype(dtype)
        if element.kind == "bool":
            message = f"tl.{name} does not add bools as bools"
            raise Mistake("MT203", message, dtype.span, "leave dtype out to count them")
    elif element.kind != "float" and element.bits < 32:
        element = i32 if element.kind == "int" and element.signed else u32
    return element


@builtin(tl.sum, method=True)
def _sum(
    s: Semantics,
    span: Span,
    input: Operand,
    axis: Operand | None = None,
    keep_dims: Operand | None = None,
    dtype: Operand | None = None,
) -> Item:
    value, element = numbers(s, input, "sum")
    return _reduce(s, input, s.builder.cast(value, sum_type(s, element, dtype, "sum")), axis, keep_dims, ops.Add)


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
        if s.flag(return_indices, "return_indices"):
            return Tuple(_with_indices(s, input, axis, keep_dims, op, name))
        value, element = numbers(s, input, name)
        if element.bits < 32:
            value = s.builder.cast(value, f32 if element.kind == "float" else i32)
        chosen = of_nan if propagates_nan(s, propagate_nan) and is_float(value.type) else op
        return _reduce(s, input, value, axis, keep_dims, chosen)

    builtin(function, method=True)(rule)


def _with_indices(
    s: Semantics, input: Operand, axis: Operand | None, keep_dims: Operand | None, op: type[Op], name: str
) -> tuple[Value, Value]:
    """The extremum along an axis and the first index that has it, in the elements' own type; where all are NaN the
    first of all."""
    value, element = numbers(s, input, name)
    value = s.builder.cast(value, i32) if element.kind == "bool" else value
    shape, along = shape_of(value.type), given(axis)
    if along is None and len(shape) != 1:
        hint = "name the axis, or make it one axis first: x.ravel()"
        message = f"the index of tl.{name} needs an axis: {s.describe(input)} has {len(shape)}"
        raise Mistake("MT221", message, input.span, hint)
    number = 0 if along is None else axis_argument(s, along, len(shape), s.describe(input))
    kept = (*shape[:number], 1, *shape[number + 1 :])
    add, alone = s.builder.add, tuple(n if a == number else 1 for a, n in enumerate(shape))
    best = add(ops.Reduce, source=value, axis=number, combine=op.opcode)
    spread = s.broadcast(s.reshape(best, kept), shape)
    found = add(ops.CmpEq, lhs=value, rhs=spread)
    if is_float(value.type):
        found = add(ops.Or, lhs=found, rhs=add(ops.CmpNe, lhs=spread, rhs=spread))
    index = s.broadcast(s.reshape(add(ops.Arange, start=0, end=shape[number]), alone), shape)
    others = s.builder.constant(shape[number] - 1, i32, shape)
    first = add(ops.Select, condition=found, if_true=index, if_false=others)
    where = add(ops.Reduce, source=first, axis=number, combine="minimum")
    if s.flag(keep_dims, "keep_dims"):
        return s.reshape(best, kept), s.reshape(where, kept)
    return best, where


def _index_of(function: Callable[..., Any], op: type[Op]) -> None:
    def rule(
        s: Semantics,
        span: Span,
        input: Operand,
        axis: Operand,
        tie_break_left: Operand | None = None,
        keep_dims: Operand | None = None,
    ) -> Item:
        return _with_indices(s, input, axis, keep_dims, op, function.__name__)[1]

    builtin(function, method=True)(rule)


_index_of(tl.argmax, ops.Maximum)
_index_of(tl.argmin, ops.Minimum)
_extremum(tl.max, ops.Maximum, ops.MaximumNan)
_extremum(tl.min, ops.Minimum, ops.MinimumNan)


def _bitwise(function: Callable[..., Any], op: type[Op]) -> None:
    name = function.__name__

    def rule(
        s: Semantics, span: Span, input: Operand, axis: Operand | None = None, keep_dims: Operand | None = None
    ) -> Item:
        value, element = numbers(s, input, name)
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
