"""Scans, and reductions with a function of the author's, in steps that each combine twice as many elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, TypeAlias

from mytriton import language as tl
from mytriton.frontend.elements import for_each
from mytriton.frontend.memory import given
from mytriton.frontend.reductions import numbers, sum_type
from mytriton.frontend.registry import builtin
from mytriton.frontend.semantics import Semantics
from mytriton.frontend.shapes import axis_argument
from mytriton.frontend.values import Item, Mistake, Operand, Tuple, items_of
from mytriton.ir import ops
from mytriton.ir.core import Value
from mytriton.source import Span
from mytriton.types import element_of, i32, shape_of

#: Combines blocks, element by element: those that come first with those that come after them.
Combine: TypeAlias = "Callable[[Sequence[Value], Sequence[Value]], list[Value]]"

_NOT_ONE = "tl.reduce and tl.associative_scan take one block, or a tuple of blocks of one shape"


# --- steps ------------------------------------------------------------------------------------------------------------


def pick(s: Semantics, value: Value, axis: int, extent: int, keep: int, flip: int) -> Value:
    """Element i along an axis is element `(i & keep) ^ flip` of a value."""
    return s.builder.add(ops.Pick, source=value, axis=axis, extent=extent, keep=keep, flip=flip)


def bit_of_index(s: Semantics, shape: tuple[int, ...], axis: int, bit: int) -> Value:
    """Whether a bit of the index along an axis is set, for each element of a block."""
    along = tuple(extent if a == axis else 1 for a, extent in enumerate(shape))
    index = s.reshape(s.builder.add(ops.Arange, start=0, end=shape[axis]), along)
    masked = s.builder.add(ops.And, lhs=index, rhs=s.builder.constant(bit, i32, along))
    return s.broadcast(s.builder.add(ops.CmpNe, lhs=masked, rhs=s.builder.constant(0, i32, along)), shape)


def reduced(s: Semantics, values: Sequence[Value], axis: int, combine: Combine) -> list[Value]:
    """The elements along an axis combined, halves first; the axis goes away."""
    found = list(values)
    shape = shape_of(found[0].type)
    half = shape[axis] // 2
    while half:
        low, high = ([pick(s, v, axis, half, half - 1, flip) for v in found] for flip in (0, half))
        found = combine(low, high)
        half //= 2
    return [s.reshape(v, shape[:axis] + shape[axis + 1 :]) for v in found]


def scanned(s: Semantics, values: Sequence[Value], axis: int, reverse: bool, combine: Combine) -> list[Value]:
    """Each element combined with all before it along an axis (after it, if `reverse`).

    After a step the runs of 2, 4, 8... elements are scanned: those of a run's second half are combined with what the
    first half comes to, its last element (Sklansky, 1960).
    """
    found = list(values)
    shape = shape_of(found[0].type)
    bit = 1
    while bit < shape[axis]:
        keep, flip = (shape[axis] - 1) & ~(2 * bit - 1), bit if reverse else bit - 1
        made = combine([pick(s, v, axis, shape[axis], keep, flip) for v in found], found)
        second = bit_of_index(s, shape, axis, bit)
        if reverse:
            second = s.builder.add(ops.Not, source=second)
        pairs = zip(made, found, strict=True)
        found = [s.builder.add(ops.Select, condition=second, if_true=a, if_false=b) for a, b in pairs]
        bit *= 2
    return found


def _by(s: Semantics, op: type[ops.Binary]) -> Combine:
    return lambda low, high: [s.builder.add(op, lhs=a, rhs=b) for a, b in zip(low, high, strict=True)]


def _by_function(s: Semantics, function: Operand, span: Span) -> Combine:
    """`function(first..., second...)` of the author's."""

    def combine(low: Sequence[Value], high: Sequence[Value]) -> list[Value]:
        made, _ = for_each(s, function, (*low, *high), shape_of(low[0].type), span)
        name, count = s.text(function.span), len(low)
        if len(made) != count:
            message = f"`{name}` must return {count} {'values' if count > 1 else 'value'}, but returns {len(made)}"
            raise Mistake("MT226", message, function.span, "return what it combines: one value for each block")
        for value, before in zip(made, low, strict=True):
            if value.type != before.type:
                message = f"`{name}` combines {element_of(before.type)}, but returns {element_of(value.type)}"
                raise Mistake("MT226", message, function.span, "convert its result to the type of its parameters")
        return made

    return combine


def _blocks(s: Semantics, input: Operand) -> list[Value]:
    """The blocks that are combined, of one shape."""
    parts = items_of(input) if isinstance(input.item, Tuple) else (input,)
    values = [s.value(part) for part in parts]
    if not values:
        raise Mistake("MT226", "there is nothing to combine", input.span, _NOT_ONE)
    for value, part in zip(values, parts, strict=True):
        if shape_of(value.type) != shape_of(values[0].type):
            message = f"the blocks have different shapes: {s.describe(parts[0])} and {s.describe(part)}"
            raise Mistake("MT226", message, part.span, "broadcast them first: tl.broadcast(a, b)")
    return values


def _result(input: Operand, values: Sequence[Value]) -> Item:
    return Tuple(tuple(values)) if isinstance(input.item, Tuple) else values[0]


# --- functions --------------------------------------------------------------------------------------------------------


@builtin(tl.reduce, method=True)
def _reduce(
    s: Semantics, span: Span, input: Operand, axis: Operand, combine_fn: Operand, keep_dims: Operand | None = None
) -> Item:
    values, combine = _blocks(s, input), _by_function(s, combine_fn, span)
    shape, along = shape_of(values[0].type), given(axis)
    keep = s.flag(keep_dims, "keep_dims")
    if along is None:
        values, number, kept = [s.reshape(v, (prod(shape),)) for v in values], 0, (1,) * len(shape)
    else:
        number = axis_argument(s, along, len(shape), s.describe(input))
        kept = (*shape[:number], 1, *shape[number + 1 :])
    if not shape_of(values[0].type):
        return input.item
    found = reduced(s, values, number, combine)
    return _result(input, [s.reshape(v, kept) for v in found] if keep else found)


@builtin(tl.associative_scan, method=True)
def _associative_scan(
    s: Semantics, span: Span, input: Operand, axis: Operand, combine_fn: Operand, reverse: Operand | None = None
) -> Item:
    values = _blocks(s, input)
    number = axis_argument(s, axis, len(shape_of(values[0].type)), s.describe(input))
    backwards = s.flag(reverse, "reverse")
    return _result(input, scanned(s, values, number, backwards, _by_function(s, combine_fn, span)))


def _cumulative(function: Callable[..., Any], op: type[ops.Binary]) -> None:
    name = function.__name__

    def rule(
        s: Semantics,
        span: Span,
        input: Operand,
        axis: Operand | None = None,
        reverse: Operand | None = None,
        dtype: Operand | None = None,
    ) -> Item:
        value, element = numbers(s, input, name)
        number = 0 if axis is None else axis_argument(s, axis, len(shape_of(value.type)), s.describe(input))
        if not shape_of(value.type):
            hint = "a scan takes a block: tl.arange and tl.load make such"
            raise Mistake("MT221", f"{s.describe(input)} has no axis to go along", input.span, hint)
        backwards = s.flag(reverse, "reverse")
        value = s.builder.cast(value, sum_type(s, element, dtype, name))
        return scanned(s, [value], number, backwards, _by(s, op))[0]

    builtin(function, method=True)(rule)


_cumulative(tl.cumsum, ops.Add)
_cumulative(tl.cumprod, ops.Mul)
