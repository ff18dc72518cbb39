"""The functions of the kernel language: argument rules here, operations in the IR (see `registry.py`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mytriton import language as tl
from mytriton.frontend.registry import METHODS, Builtin, Param, Rule, builtin
from mytriton.frontend.semantics import Semantics
from mytriton.frontend.values import Item, Known, Mistake, Operand, Tuple
from mytriton.ir import ops
from mytriton.ir.core import Op, Value
from mytriton.source import Span
from mytriton.types import ScalarType, element_of, is_bool, is_float, is_float8, is_pointer, is_unsigned

# --- indices ------------------------------------------------------------------------------------------------------


def _axis(s: Semantics, axis: Operand) -> int:
    value = s.known_int(axis, "the axis")
    if value not in (0, 1, 2):
        raise Mistake("MT221", f"the axis must be 0, 1 or 2, got {s.describe(axis)}", axis.span,
                      "a grid has three axes; compute others from these with // and %")  # fmt: skip
    return value


@builtin(tl.program_id)
def _program_id(s: Semantics, span: Span, axis: Operand) -> Item:
    return s.builder.add(ops.ProgramId, axis=_axis(s, axis))


@builtin(tl.num_programs)
def _num_programs(s: Semantics, span: Span, axis: Operand) -> Item:
    count = s.builder.add(ops.NumPrograms, axis=_axis(s, axis))
    s.positive.add(count)
    return count


# --- elementwise ------------------------------------------------------------------------------------------------------


@builtin(tl.abs, method=True)
def absolute(s: Semantics, span: Span, x: Operand) -> Item:
    value = s.value(x)
    if is_pointer(value.type):
        hint = "read what it points to with tl.load(...)"
        raise Mistake("MT203", f"tl.abs takes numbers, got {s.describe(x)}", x.span, hint)
    if is_float8(value.type):  # exact, so that it keeps its type as in Triton
        element, b = s.scalar_type(value), s.builder
        assert isinstance(element, ScalarType)
        return b.cast(b.add(ops.Abs, source=b.cast(value, element.computed)), element)
    return value if is_bool(value.type) or is_unsigned(value.type) else s.builder.add(ops.Abs, source=value)


def propagates_nan(s: Semantics, given: Operand | None) -> bool:
    """What the argument `propagate_nan` says; NaN operands are ignored if it is left out."""
    value = tl.PropagateNan.NONE if given is None else s.known(given, "`propagate_nan`")
    if not isinstance(value, tl.PropagateNan):
        assert given is not None
        hint = "write propagate_nan=tl.PropagateNan.ALL, or leave it out"
        raise Mistake("MT211", f"`propagate_nan` is {s.describe(given)}", given.span, hint)
    return value is tl.PropagateNan.ALL


def _extremum(function: Callable[..., Any], op: type[Op], of_nan: type[Op]) -> Rule:
    def rule(s: Semantics, span: Span, x: Operand, y: Operand, propagate_nan: Operand | None = None) -> Item:
        # Of two constexprs the result is a run-time value all the same, and wraps at its width: a constexpr's maximum
        # is Python's `max`.
        lhs, rhs = s.arithmetic_pair(x, y, f"tl.{op.opcode}", span)
        chosen = of_nan if propagates_nan(s, propagate_nan) and is_float(lhs.type) else op
        return s.builder.add(chosen, lhs=lhs, rhs=rhs)

    return builtin(function)(rule)


maximum = _extremum(tl.maximum, ops.Maximum, ops.MaximumNan)
minimum = _extremum(tl.minimum, ops.Minimum, ops.MinimumNan)


@builtin(tl.where)
def _where(s: Semantics, span: Span, condition: Operand, x: Operand, y: Operand) -> Item:
    flag = s.value(condition)
    if not is_bool(flag.type):
        if isinstance(condition.item, Value):
            message = f"the condition of tl.where is not bool: {s.describe(condition)} counts as true where it is not 0"
            s.warn("MT291", message, condition.span, f"say so: {s.text(condition.span)} != 0")
        flag = s.builder.truth(flag)
    pointers = [isinstance(o.item, Value) and is_pointer(o.item.type) for o in (x, y)]
    if all(pointers):
        pair = [s.value(x), s.value(y)]
        if element_of(pair[0].type) != element_of(pair[1].type):
            raise Mistake("MT203", f"different pointer types: {s.describe(x)} and {s.describe(y)}", span,
                          "cast one: x.to(y.dtype)")  # fmt: skip
    else:
        type_ = s.common(x, y, "tl.where")
        pair = [s.converted(x, y, type_), s.converted(y, x, type_)]
    flag, if_true, if_false = s.same_shape([flag, *pair], [condition, x, y], span)
    return s.builder.add(ops.Select, condition=flag, if_true=if_true, if_false=if_false)


def _operator(function: Callable[..., Any], op: str) -> None:
    """The function form of an operator."""

    def rule(s: Semantics, span: Span, x: Operand, y: Operand, sanitize_overflow: Operand | None = None) -> Item:
        return s.binary(op, x, y, span)

    builtin(function)(rule)


_operator(tl.add, "+")
_operator(tl.sub, "-")
_operator(tl.mul, "*")


@builtin(tl.cdiv, method=True)
def _cdiv(s: Semantics, span: Span, x: Operand, div: Operand) -> Item:
    if isinstance(x.item, Known) and isinstance(div.item, Known):
        a, b = x.item.value, div.item.value
        return s.fold(lambda: tl.cdiv(a, b), span)
    # (x + (div - 1)) // div, as Triton has it: with run-time operands the division truncates.
    less = Operand(s.binary("-", div, Operand(Known(1), div.expr), span), div.expr)
    return s.binary("//", Operand(s.binary("+", x, less, span), x.expr), div, span)


@builtin(tl.swizzle2d)
def _swizzle2d(
    s: Semantics, span: Span, i: Operand, j: Operand, size_i: Operand, size_j: Operand, size_g: Operand
) -> Item:
    def apply(op: str, x: Operand, y: Operand) -> Operand:
        return Operand(s.binary(op, x, y, span), x.expr)

    place = apply("+", apply("*", i, size_j), j)
    in_group = apply("*", size_g, size_j)
    first_row = apply("*", apply("//", place, in_group), size_g)
    # The last group may have fewer rows.
    rows = Operand(minimum(s, span, apply("-", size_i, first_row), size_g), size_g.expr)
    place = apply("%", place, in_group)
    return Tuple((apply("+", first_row, apply("%", place, rows)).item, apply("//", place, rows).item))


def _logical(name: str, op: str) -> None:
    """`x.logical_and(y)` and `x.logical_or(y)` of bools."""

    def rule(s: Semantics, span: Span, x: Operand, other: Operand) -> Item:
        for operand in (x, other):
            if not is_bool(s.value(operand).type):
                hint = f"compare it: {s.text(operand.span)} != 0"
                raise Mistake("MT231", f"`.{name}` takes bools, got {s.describe(operand)}", operand.span, hint)
        return s.binary(op, x, other, span)

    METHODS[name] = Builtin(name, (Param("x"), Param("other")), rule)


_logical("logical_and", "&")
_logical("logical_or", "|")
