"""The functions of the kernel language: argument rules here, operations in the IR (see `registry.py`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mytriton import language as tl
from mytriton.frontend.constants import convert
from mytriton.frontend.registry import METHODS, Builtin, Param, Rule, builtin
from mytriton.frontend.semantics import Semantics
from mytriton.frontend.values import Item, Known, Mistake, Operand, is_number
from mytriton.ir import ops
from mytriton.ir.core import Op, Value
from mytriton.source import Span
from mytriton.types import i1, is_bool, is_pointer, is_unsigned

# --- indices ------------------------------------------------------------------------------------------------------


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


METHODS["to"] = Builtin("to", (Param("x"), Param("dtype")), _to)
