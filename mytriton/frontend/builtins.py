"""The functions of the kernel language: argument rules here, operations in the IR (see `registry.py`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mytriton import language as tl
from mytriton.frontend.constants import convert
from mytriton.frontend.registry import METHODS, Builtin, Rule, builtin
from mytriton.frontend.semantics import Semantics
from mytriton.frontend.tree import Name
from mytriton.frontend.values import Item, Known, Mistake, Operand, Tuple, is_number
from mytriton.ir import ops
from mytriton.ir.core import Op, Value
from mytriton.source import Span
from mytriton.types import PointerType, element_of, i1, is_bool, is_pointer, is_unsigned, shape_of

#: A block may have this many elements at most, as in Triton.
MAX_ELEMENTS = 2**20


# --- indices and blocks -----------------------------------------------------------------------------------------------


def _axis(s: Semantics, axis: Operand) -> int:
    value = s.known_int(axis, "the axis")
    if value not in (0, 1, 2):
        raise Mistake("MT221", f"the axis must be 0, 1 or 2, got {s.describe(axis)}", axis.span)
    return value


@builtin(tl.program_id)
def _program_id(s: Semantics, span: Span, axis: Operand) -> Item:
    return s.builder.add(ops.ProgramId, axis=_axis(s, axis))


@builtin(tl.num_programs)
def _num_programs(s: Semantics, span: Span, axis: Operand) -> Item:
    return s.builder.add(ops.NumPrograms, axis=_axis(s, axis))


def _extent(s: Semantics, length: int, what: str, span: Span, given: Operand) -> None:
    """Checks an extent of a block; `given` is the argument it follows from."""
    if length <= 0 or length & (length - 1):
        name = s.text(given.span)
        if isinstance(given.expr, Name) and isinstance(given.item, Known):
            what = f"{what} with {name} = {given.item.value}"
        above = tl.next_power_of_2(length)
        hint = f"use {above} and a mask for the elements beyond {length}" if length > 0 else "use a power of 2"
        raise Mistake("MT220", f"{what} must be a power of 2, got {length}", span, hint)
    if length > MAX_ELEMENTS:
        raise Mistake("MT220", f"a block has at most {MAX_ELEMENTS} elements, got {length}", span)


@builtin(tl.arange)
def _arange(s: Semantics, span: Span, start: Operand, end: Operand) -> Item:
    first, last = s.known_int(start, "the start of tl.arange"), s.known_int(end, "the end of tl.arange")
    if last <= first:
        raise Mistake("MT220", f"tl.arange({first}, {last}) is empty: its end must be above its start", span)
    _extent(s, last - first, f"the length of tl.arange({first}, {last})", span, end)
    return s.builder.add(ops.Arange, start=first, end=last)


def _block_shape(s: Semantics, shape: Operand) -> tuple[int, ...]:
    items = shape.item.items if isinstance(shape.item, Tuple) else (shape.item,)
    extents = tuple(s.known_int(Operand(item, shape.expr), "an extent of a block's shape") for item in items)
    if len(extents) != 1:
        raise Mistake("MT222", f"blocks have one dimension; {extents} has {len(extents)}", shape.span)
    _extent(s, extents[0], "the extent of a block", shape.span, shape)
    return extents


@builtin(tl.full)
def _full(s: Semantics, span: Span, shape: Operand, value: Operand, dtype: Operand) -> Item:
    extents, element = _block_shape(s, shape), s.dtype(dtype)
    scalar = s.value(value, element)
    if shape_of(scalar.type):
        raise Mistake("MT204", f"tl.full fills a block with one scalar, not with {s.describe(value)}", value.span)
    return s.builder.splat(scalar, extents)


@builtin(tl.zeros)
def _zeros(s: Semantics, span: Span, shape: Operand, dtype: Operand) -> Item:
    return _full(s, span, shape, Operand(Known(0), shape.expr), dtype)


# --- memory -----------------------------------------------------------------------------------------------------------


def _given(operand: Operand | None) -> Operand | None:
    """An optional argument, or None if it is absent or the constexpr None."""
    return None if operand is None or (isinstance(operand.item, Known) and operand.item.value is None) else operand


def _pointer(s: Semantics, operand: Operand, name: str) -> tuple[Value, PointerType]:
    item = operand.item
    element = element_of(item.type) if isinstance(item, Value) else None
    if not isinstance(item, Value) or not isinstance(element, PointerType):
        message = f"{name} needs a pointer, got {s.describe(operand)}"
        hint = "pass an array as the kernel's argument and add offsets to it: pointer + offsets"
        raise Mistake("MT230", message, operand.span, hint)
    return item, element


def _mask(s: Semantics, mask: Operand | None, pointer: Value, pointer_operand: Operand) -> Value | None:
    if mask is None:
        return None
    value = s.value(mask)
    if not is_bool(value.type):
        hint = f"compare it: {s.text(mask.span)} != 0"
        raise Mistake("MT231", f"a mask must be bool, got {s.describe(mask)}", mask.span, hint)
    return _like_pointer(s, value, mask, pointer, pointer_operand, "mask")


def _like_pointer(
    s: Semantics, value: Value, operand: Operand, pointer: Value, pointer_operand: Operand, what: str
) -> Value:
    """`value` in the pointer's shape: a scalar is splat, a block of another shape is a mistake."""
    if shape_of(value.type) == shape_of(pointer.type):
        return value
    if shape_of(value.type):
        message = (
            f"the {what} {s.describe(operand)} does not have the shape of the pointer {s.describe(pointer_operand)}"
        )
        hint = "add a block of offsets to the pointer" if not shape_of(pointer.type) else ""
        raise Mistake("MT204", message, operand.span, hint)
    return s.builder.splat(value, shape_of(pointer.type))


@builtin(tl.load)
def _load(
    s: Semantics, span: Span, pointer: Operand, mask: Operand | None = None, other: Operand | None = None
) -> Item:
    address, type_ = _pointer(s, pointer, "tl.load")
    mask, other = _given(mask), _given(other)
    if mask is None:
        if other is not None:
            hint = "give a mask, or leave `other` out"
            raise Mistake("MT232", "`other` has no meaning without a mask", other.span, hint)
        return s.builder.add(ops.Load, pointer=address)
    where = _mask(s, mask, address, pointer)
    if other is None:
        s.warn(
            "MT290",
            f"this load has a mask but no `other`: masked-off elements of {s.text(pointer.span)} read as 0",
            span,
            "write other=0 to say so; Triton leaves those elements undefined",
        )
        other = Operand(Known(0), pointer.expr)
    fallback = _like_pointer(s, s.value(other, type_.element), other, address, pointer, "`other` value")
    return s.builder.add(ops.Load, pointer=address, mask=where, other=fallback)


@builtin(tl.store)
def _store(s: Semantics, span: Span, pointer: Operand, value: Operand, mask: Operand | None = None) -> Item:
    address, type_ = _pointer(s, pointer, "tl.store")
    stored = _like_pointer(s, s.value(value, type_.element), value, address, pointer, "stored value")
    where = _mask(s, _given(mask), address, pointer)
    s.builder.append(ops.Store(pointer=address, value=stored, mask=where))
    return Known(None)


# --- elementwise ------------------------------------------------------------------------------------------------------


@builtin(tl.abs)
def absolute(s: Semantics, span: Span, x: Operand) -> Item:
    value = s.value(x)
    if is_pointer(value.type):
        raise Mistake("MT203", f"tl.abs takes numbers, got {s.describe(x)}", x.span)
    return value if is_bool(value.type) or is_unsigned(value.type) else s.builder.add(ops.Abs, source=value)


def _extremum(function: Callable[..., Any], op: type[Op]) -> Rule:
    def rule(s: Semantics, span: Span, x: Operand, y: Operand) -> Item:
        # Of two constexprs the result is a run-time value all the same, and wraps at its width: a constexpr's maximum
        # is Python's `max`.
        lhs, rhs = s.arithmetic_pair(x, y, f"tl.{op.opcode}", span)
        return s.builder.add(op, lhs=lhs, rhs=rhs)

    return builtin(function)(rule)


maximum = _extremum(tl.maximum, ops.Maximum)
minimum = _extremum(tl.minimum, ops.Minimum)


@builtin(tl.where)
def _where(s: Semantics, span: Span, condition: Operand, x: Operand, y: Operand) -> Item:
    flag = s.value(condition)
    if not is_bool(flag.type):
        if not isinstance(condition.item, Known):
            hint = f"compare it: {s.text(condition.span)} != 0"
            raise Mistake("MT231", f"the condition must be bool, got {s.describe(condition)}", condition.span, hint)
        flag = s.builder.constant(bool(condition.item.value), i1)
    pointers = [isinstance(o.item, Value) and is_pointer(o.item.type) for o in (x, y)]
    if all(pointers):
        pair = s.same_shape([s.value(x), s.value(y)], [x, y], span)
        if pair[0].type != pair[1].type:
            raise Mistake("MT203", f"different pointer types: {s.describe(x)} and {s.describe(y)}", span)
    else:
        pair = s.promoted_pair(x, y, "tl.where", span)
    flag, if_true, if_false = s.same_shape([flag, *pair], [condition, x, y], span)
    return s.builder.add(ops.Select, condition=flag, if_true=if_true, if_false=if_false)


@builtin(tl.cdiv)
def _cdiv(s: Semantics, span: Span, x: Operand, y: Operand) -> Item:
    if isinstance(x.item, Known) and isinstance(y.item, Known):
        a, b = x.item.value, y.item.value
        return s.fold(lambda: tl.cdiv(a, b), span)
    # (x + (y - 1)) // y, as Triton has it: with run-time operands the division truncates.
    less = Operand(s.binary("-", y, Operand(Known(1), y.expr), span), y.expr)
    return s.binary("//", Operand(s.binary("+", x, less, span), x.expr), y, span)


@builtin(tl.constexpr)
def _constexpr(s: Semantics, span: Span, value: Operand) -> Item:
    return Known(s.known(value, "the argument of tl.constexpr"))


# --- methods ----------------------------------------------------------------------------------------------------------


def _to(s: Semantics, span: Span, x: Operand, dtype: Operand) -> Item:
    to = s.dtype(dtype)
    if isinstance(x.item, Known) and is_number(x.item.value):
        # An explicit conversion wraps, where an implicit one of a number that does not fit is a mistake.
        return s.builder.constant(convert(x.item.value, to), to)
    return s.value(x, to)


METHODS["to"] = Builtin("to", (("x", False), ("dtype", False)), _to)
