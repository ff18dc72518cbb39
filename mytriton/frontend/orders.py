"""Elements in another order, and blocks put together and taken apart."""

from __future__ import annotations

from math import prod

from mytriton import language as tl
from mytriton.frontend.memory import given
from mytriton.frontend.reductions import numbers
from mytriton.frontend.registry import builtin
from mytriton.frontend.scans import bit_of_index, pick
from mytriton.frontend.semantics import Semantics
from mytriton.frontend.shapes import axis_argument
from mytriton.frontend.values import Item, Mistake, Operand, Tuple
from mytriton.ir import ops
from mytriton.ir.core import Value
from mytriton.source import Span
from mytriton.types import ScalarType, element_of, shape_of


def block_of(s: Semantics, operand: Operand, name: str) -> Value:
    """A run-time block."""
    value = s.value(operand)
    if not shape_of(value.type):
        hint = "tl.arange and tl.load of a block of pointers make blocks"
        raise Mistake("MT227", f"tl.{name} takes a block, got {s.describe(operand)}", operand.span, hint)
    return value


def _axis(s: Semantics, x: Operand, value: Value, dim: Operand | None) -> int:
    """The axis `dim`, by default the last."""
    rank = len(shape_of(value.type))
    along = given(dim)
    return rank - 1 if along is None else axis_argument(s, along, rank, s.describe(x))


# --- orders -----------------------------------------------------------------------------------------------------------


@builtin(tl.flip, method=True)
def _flip(s: Semantics, span: Span, x: Operand, dim: Operand | None = None) -> Item:
    value = block_of(s, x, "flip")
    axis = _axis(s, x, value, dim)
    extent = shape_of(value.type)[axis]
    return pick(s, value, axis, extent, extent - 1, extent - 1)


def _merged(s: Semantics, value: Value, axis: int, runs: int, descending: bool) -> Value:
    """Bitonic runs of `runs` elements sorted, every other one the other way round unless there is only one (Batcher,
    1968). In each step pairs change places: both elements of a pair decide alike, so nothing is lost to NaN."""
    shape, b = shape_of(value.type), s.builder
    distance = runs // 2
    turned = bit_of_index(s, shape, axis, runs) if runs < shape[axis] else None
    while distance:
        other = pick(s, value, axis, shape[axis], shape[axis] - 1, distance)
        right = bit_of_index(s, shape, axis, distance)
        first, second = (
            b.add(ops.Select, condition=right, if_true=a, if_false=c) for a, c in ((other, value), (value, other))
        )
        swap = b.add(ops.CmpLt if descending else ops.CmpGt, lhs=first, rhs=second)
        if turned is not None:
            opposite = b.add(ops.CmpGt if descending else ops.CmpLt, lhs=first, rhs=second)
            swap = b.add(
                ops.Or,
                lhs=b.add(ops.And, lhs=turned, rhs=opposite),
                rhs=b.add(ops.And, lhs=b.add(ops.Not, source=turned), rhs=swap),
            )
        value = b.add(ops.Select, condition=swap, if_true=other, if_false=value)
        distance //= 2
    return value


def _sorted(s: Semantics, value: Value, axis: int, descending: bool) -> Value:
    runs = 2
    while runs <= shape_of(value.type)[axis]:
        value = _merged(s, value, axis, runs, descending)
        runs *= 2
    return value


def _like(s: Semantics, x: Operand, ordered: Value) -> Value:
    """The elements in their own type: float8 is compared as f32."""
    element = element_of(s.value(x).type)
    assert isinstance(element, ScalarType)
    return s.builder.cast(ordered, element)


def _descending(s: Semantics, operand: Operand | None, default: bool) -> bool:
    return default if operand is None else bool(s.known(operand, "`descending`"))


@builtin(tl.sort, method=True)
def _sort(s: Semantics, span: Span, x: Operand, dim: Operand | None = None, descending: Operand | None = None) -> Item:
    value, _ = numbers(s, x, "sort")
    block_of(s, x, "sort")
    return _like(s, x, _sorted(s, value, _axis(s, x, value, dim), _descending(s, descending, False)))


@builtin(tl.bitonic_merge)
def _bitonic_merge(
    s: Semantics, span: Span, x: Operand, dim: Operand | None = None, descending: Operand | None = None
) -> Item:
    value, _ = numbers(s, x, "bitonic_merge")
    block_of(s, x, "bitonic_merge")
    axis = _axis(s, x, value, dim)
    return _like(s, x, _merged(s, value, axis, shape_of(value.type)[axis], _descending(s, descending, False)))


@builtin(tl.topk, method=True)
def _topk(
    s: Semantics,
    span: Span,
    x: Operand,
    k: Operand,
    dim: Operand | None = None,
    descending: Operand | None = None,
) -> Item:
    value, _ = numbers(s, x, "topk")
    block_of(s, x, "topk")
    axis = _axis(s, x, value, dim)
    count, extent = s.known_int(k, "the number of elements"), shape_of(value.type)[axis]
    if not 1 <= count <= extent or count & (count - 1):
        message = f"tl.topk gives a power of 2 of elements, up to the {extent} there are, not {count}"
        raise Mistake("MT227", message, k.span, "take more and mask those beyond")
    ordered = _sorted(s, value, axis, _descending(s, descending, True))
    return _like(s, x, ordered if count == extent else pick(s, ordered, axis, count, count - 1, 0))


# --- together and apart -----------------------------------------------------------------------------------------------


def _joined(s: Semantics, a: Operand, b: Operand, name: str, span: Span) -> Value:
    """Two blocks of one shape along a new last axis."""
    pair = [s.value(a), s.value(b)]
    if element_of(pair[0].type) != element_of(pair[1].type):
        message = f"tl.{name} takes blocks of one type, got {s.describe(a)} and {s.describe(b)}"
        raise Mistake("MT203", message, span, f"convert one: {s.short(b)}.to({s.short(a)}.dtype)")
    return joined_last(s, *s.same_shape(pair, [a, b], span))


def joined_last(s: Semantics, first: Value, second: Value) -> Value:
    """Two blocks of one shape and type along a new last axis."""
    shape = (*shape_of(first.type), 2)
    low, high = (s.broadcast(s.reshape(v, (*shape[:-1], 1)), shape) for v in (first, second))
    right = bit_of_index(s, shape, len(shape) - 1, 1)
    return s.builder.add(ops.Select, condition=right, if_true=high, if_false=low)


@builtin(tl.join)
def _join(s: Semantics, span: Span, a: Operand, b: Operand) -> Item:
    joined = _joined(s, a, b, "join", span)
    s.check_size(shape_of(joined.type), span)
    return joined


@builtin(tl.interleave)
def _interleave(s: Semantics, span: Span, a: Operand, b: Operand) -> Item:
    joined = _joined(s, a, b, "interleave", span)
    *before, last, two = (1, *shape_of(joined.type))
    s.check_size(shape_of(joined.type), span)
    return s.reshape(joined, (*before[1:], last * two))


@builtin(tl.cat)
def _cat(
    s: Semantics,
    span: Span,
    input: Operand,
    other: Operand,
    can_reorder: Operand | None = None,
    dim: Operand | None = None,
) -> Item:
    first, second = block_of(s, input, "cat"), block_of(s, other, "cat")
    if shape_of(first.type) != shape_of(second.type):
        message = f"tl.cat takes blocks of one shape, got {s.describe(input)} and {s.describe(other)}"
        raise Mistake("MT204", message, span, "extents are powers of 2, so only equal ones can be put together")
    joined = _joined(s, input, other, "cat", span)
    shape = shape_of(first.type)
    s.check_size(shape_of(joined.type), span)
    axis = 0 if dim is None else axis_argument(s, dim, len(shape), s.describe(input))
    order = [*range(len(shape))]
    order.insert(axis, len(shape))
    moved = s.builder.add(ops.Transpose, source=joined, order=tuple(order))
    return s.reshape(moved, (*shape[:axis], 2 * shape[axis], *shape[axis + 1 :]))


@builtin(tl.split, method=True)
def _split(s: Semantics, span: Span, a: Operand) -> Item:
    value = block_of(s, a, "split")
    *rest, last = shape_of(value.type)
    if last != 2:
        hint = "reshape it first: x.reshape(..., 2)" if prod(shape_of(value.type)) > 1 else "it has one element"
        raise Mistake("MT227", f"the last axis of what tl.split takes has extent 2, not {s.describe(a)}", a.span, hint)
    halves = [s.reshape(pick(s, value, len(rest), 1, 0, which), tuple(rest)) for which in (0, 1)]
    return Tuple(tuple(halves))
