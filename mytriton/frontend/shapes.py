"""Making blocks and changing their shape: the functions of `tl`, and indexing with `None` and `:`."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from mytriton import language as tl
from mytriton.frontend.registry import METHODS, Builtin, Param, builtin
from mytriton.frontend.semantics import Semantics
from mytriton.frontend.tree import Name
from mytriton.frontend.values import Item, Known, Mistake, Operand, Tuple, items_of
from mytriton.ir import ops
from mytriton.ir.core import Value
from mytriton.source import Span
from mytriton.types import ScalarType, element_of, is_pointer, shape_of

# --- extents and axes -------------------------------------------------------------------------------------------------


def _extent(s: Semantics, length: int, what: str, span: Span, given: Operand) -> None:
    """Checks an extent of a block; `given` is the argument it follows from."""
    if length <= 0 or length & (length - 1):
        if isinstance(given.expr, Name) and isinstance(given.item, Known):
            what = f"{what} with {s.text(given.span)} = {given.item.value}"
        above = tl.next_power_of_2(length)
        hint = f"use {above} and a mask for the elements beyond {length}" if length > 0 else "use a power of 2"
        hint = "write the extent: -1 does not stand for what is left" if length == -1 else hint
        raise Mistake("MT220", f"{what} must be a power of 2, got {length}", span, hint)


def shape_argument(s: Semantics, given: Operand | tuple[Operand, ...], span: Span) -> tuple[int, ...]:
    """A block's shape: a tuple, or the extents one by one."""
    extents = []
    for operand in _opened(given):
        extent = s.known_int(operand, "an extent of a block's shape")
        _extent(s, extent, "the extent of a block", operand.span, operand)
        extents.append(extent)
    s.check_size(tuple(extents), span)
    return tuple(extents)


def _opened(given: Operand | Sequence[Operand]) -> Sequence[Operand]:
    """The items of an argument that is a tuple or list, or else the arguments themselves."""
    if isinstance(given, Operand):
        given = (given,)
    return items_of(given[0]) if len(given) == 1 and isinstance(given[0].item, Tuple) else given


def axis_argument(s: Semantics, axis: Operand, rank: int, what: str) -> int:
    """A position among `rank` axes; a negative one counts from the end."""
    number = s.known_int(axis, "the axis")
    if not -rank <= number < rank:
        hint = f"use {-rank} to {rank - 1}" if rank else "scalars have no axes"
        raise Mistake("MT221", f"axis {number} is out of range of {what}", axis.span, hint)
    return number % rank


def _source(s: Semantics, operand: Operand, name: str) -> Value:
    """An operand whose elements are moved: a block or scalar, of pointers too."""
    item = s.number(operand, f"the argument of tl.{name}")
    return item if isinstance(item, Value) else s.value(operand)


# --- new blocks -------------------------------------------------------------------------------------------------------


@builtin(tl.arange)
def _arange(s: Semantics, span: Span, start: Operand, end: Operand) -> Item:
    first, last = s.known_int(start, "the start of tl.arange"), s.known_int(end, "the end of tl.arange")
    if last <= first:
        hint = "give its end a value above the start; both are constexprs"
        raise Mistake("MT220", f"tl.arange({first}, {last}) is empty: its end must be above its start", span, hint)
    if not (first >= -(2**31) and last <= 2**31):
        hint = "add the start: tl.arange(0, B) + start"
        raise Mistake("MT207", f"tl.arange({first}, {last}) does not fit in i32", span, hint)
    _extent(s, last - first, f"the length of tl.arange({first}, {last})", span, end)
    s.check_size((last - first,), span)
    return s.builder.add(ops.Arange, start=first, end=last)


@builtin(tl.full)
def _full(s: Semantics, span: Span, shape: Operand, value: Operand, dtype: Operand) -> Item:
    extents, element = shape_argument(s, shape, shape.span), s.dtype(dtype)
    scalar = s.value(value, element)
    if shape_of(scalar.type):
        hint = f"widen it: tl.broadcast_to({s.short(value)}, shape)"
        message = f"tl.full fills a block with one scalar, not with {s.describe(value)}"
        raise Mistake("MT204", message, value.span, hint)
    return s.builder.splat(scalar, extents)


@builtin(tl.zeros)
def _zeros(s: Semantics, span: Span, shape: Operand, dtype: Operand) -> Item:
    return _full(s, span, shape, Operand(Known(0), shape.expr), dtype)


@builtin(tl.zeros_like)
def _zeros_like(s: Semantics, span: Span, input: Operand) -> Item:
    source = _source(s, input, "zeros_like")
    element = element_of(source.type)
    if not isinstance(element, ScalarType):
        hint = "read what it points to with tl.load(...)"
        raise Mistake("MT203", f"tl.zeros_like takes numbers, got {s.describe(input)}", input.span, hint)
    zero = {"bool": False, "int": 0, "float": 0.0}[element.kind]
    return s.builder.constant(zero, element, shape_of(source.type))


# --- other shapes -----------------------------------------------------------------------------------------------------


@builtin(tl.broadcast)
def _broadcast(s: Semantics, span: Span, input: Operand, other: Operand) -> Item:
    pair = [input, other]
    return Tuple(tuple(s.same_shape([_source(s, o, "broadcast") for o in pair], pair, span)))


@builtin(tl.broadcast_to, method=True)
def _broadcast_to(s: Semantics, span: Span, input: Operand, shape: tuple[Operand, ...]) -> Item:
    source, target = _source(s, input, "broadcast_to"), shape_argument(s, shape, span)
    own = shape_of(source.type)
    if own and len(own) != len(target):
        message = (
            f"tl.broadcast_to keeps the number of axes: {s.describe(input)} has {len(own)}, {target} {len(target)}"
        )
        raise Mistake("MT204", message, span, f"add axes first, as with {s.short(input)}[None, :]")
    for axis, (old, new) in enumerate(zip(own, target, strict=bool(own))):
        if old not in (1, new):
            message = (
                f"{s.describe(input)} does not broadcast to {target}: axis {axis} has extent {old}, not 1 or {new}"
            )
            hint = "an axis is repeated only if its extent is 1; tl.reshape gives the elements other extents"
            raise Mistake("MT204", message, span, hint)
    return s.broadcast(source, target)


def _reshaped(s: Semantics, span: Span, input: Operand, shape: tuple[Operand, ...], name: str) -> Item:
    source, target = _source(s, input, name), shape_argument(s, shape, span)
    old = prod(shape_of(source.type))
    if old != prod(target):
        message = f"tl.{name} keeps the number of elements: {s.describe(input)} has {old}, {target} {prod(target)}"
        raise Mistake("MT223", message, span, f"give extents whose product is {old}")
    return s.reshape(source, target)


@builtin(tl.reshape, method=True)
def _reshape(
    s: Semantics, span: Span, input: Operand, shape: tuple[Operand, ...], can_reorder: Operand | None = None
) -> Item:
    return _reshaped(s, span, input, shape, "reshape")


@builtin(tl.view, method=True)
def _view(s: Semantics, span: Span, input: Operand, shape: tuple[Operand, ...]) -> Item:
    return _reshaped(s, span, input, shape, "view")


def _item(s: Semantics, span: Span, x: Operand) -> Item:
    source = _source(s, x, "item")
    if prod(shape_of(source.type)) != 1:
        message = f"`.item()` is for blocks of one element, not {s.describe(x)}"
        raise Mistake("MT223", message, span, "tl.sum(tl.where(offsets == i, x, 0)) is the element at i")
    return s.reshape(source, ())


METHODS["item"] = Builtin("item", (Param("x"),), _item)


@builtin(tl.ravel, method=True)
def _ravel(s: Semantics, span: Span, x: Operand, can_reorder: Operand | None = None) -> Item:
    source = _source(s, x, "ravel")
    return s.reshape(source, (prod(shape_of(source.type)),))


@builtin(tl.expand_dims, method=True)
def _expand_dims(s: Semantics, span: Span, input: Operand, axis: Operand) -> Item:
    source, given = _source(s, input, "expand_dims"), _opened(axis)
    rank = len(shape_of(source.type)) + len(given)
    axes = [axis_argument(s, a, rank, f"a result with {rank} axes") for a in given]
    if len(set(axes)) < len(axes):
        hint = f"name each of the {rank} axes of the result at most once; negative ones count from the end"
        raise Mistake("MT221", f"tl.expand_dims names an axis twice: {s.text(axis.span)}", axis.span, hint)
    extents = iter(shape_of(source.type))
    return s.reshape(source, tuple(1 if a in axes else next(extents) for a in range(rank)))


@builtin(tl.unsqueeze)
def _unsqueeze(s: Semantics, span: Span, x: Operand, dim: Operand) -> Item:
    return _expand_dims(s, span, x, dim)


@builtin(tl.squeeze)
def _squeeze(s: Semantics, span: Span, x: Operand, dim: Operand) -> Item:
    source = _source(s, x, "squeeze")
    shape = shape_of(source.type)
    axis = axis_argument(s, dim, len(shape), s.describe(x))
    if shape[axis] != 1:
        message = f"tl.squeeze removes an axis of extent 1, but axis {axis} of {s.describe(x)} has {shape[axis]}"
        ones = [str(n) for n, extent in enumerate(shape) if extent == 1]
        hint = f"axes of extent 1: {', '.join(ones)}" if ones else f"tl.sum(x, axis={axis}) and others reduce an axis"
        raise Mistake("MT223", message, span, hint)
    return s.reshape(source, shape[:axis] + shape[axis + 1 :])


@builtin(tl.permute, method=True)
def _permute(s: Semantics, span: Span, input: Operand, dims: tuple[Operand, ...]) -> Item:
    source = _source(s, input, "permute")
    order = tuple(s.known_int(d, "an axis") for d in _opened(dims))
    rank = len(shape_of(source.type))
    if sorted(order) != list(range(rank)):
        axes = ", ".join(map(str, range(rank)))
        message = f"{order} is no order of the axes {axes} of {s.describe(input)}"
        if not rank:
            raise Mistake("MT221", f"{s.describe(input)} has no axes", span, _NO_AXES)
        raise Mistake("MT221", message, span, "name each axis once, in the order wanted")
    return source if rank < 2 else s.builder.add(ops.Transpose, source=source, order=order)


@builtin(tl.trans, method=True)
def transpose(s: Semantics, span: Span, input: Operand, dims: tuple[Operand, ...] = ()) -> Item:
    if dims:
        return _permute(s, span, input, dims)
    source = _source(s, input, "trans")
    rank = len(shape_of(source.type))
    if rank < 2:
        hint = f"give it a second axis first: {s.short(input)}[:, None]" if rank else _NO_AXES
        raise Mistake("MT221", f"{s.describe(input)} has no two axes to change places", span, hint)
    order = (*range(rank - 2), rank - 1, rank - 2)
    return s.builder.add(ops.Transpose, source=source, order=order)


def index(s: Semantics, span: Span, base: Operand, position: Operand) -> Item:
    """`base[position]` of a block or scalar: `:` keeps an axis, `None` adds one."""
    source = base.item
    assert isinstance(source, Value)
    own = list(shape_of(source.type))
    shape: list[int] = []
    for one in items_of(position) if isinstance(position.item, Tuple) else (position,):
        value: Any = one.item.value if isinstance(one.item, Known) else one.item
        if value is None:
            shape.append(1)
        elif isinstance(value, slice) and value == slice(None):
            if not own:
                message = f"too many indices: {s.describe(base)} has {_axes(len(shape_of(source.type)))}"
                raise Mistake("MT212", message, one.span, "leave an index out, or make a block first, as by tl.full")
            shape.append(own.pop(0))
        else:
            raise Mistake("MT202", f"{s.describe(base)} cannot be indexed with `{s.text(one.span)}`", one.span,
                          _ELEMENT if not is_pointer(source.type) else _POINTER)  # fmt: skip
    return s.reshape(source, (*shape, *own))


def _axes(rank: int) -> str:
    return "no axes" if rank == 0 else "1 axis" if rank == 1 else f"{rank} axes"


#: What to do instead of changing the axes of a scalar.
_NO_AXES = "leave it out: a scalar is the same in any order"
_ELEMENT = (
    "a block is indexed with `:` and `None` only; to read single elements, load them: tl.load(pointer + offsets), or "
    "sum all others away: tl.sum(tl.where(offsets == i, x, 0))"
)
_POINTER = "load elements with tl.load(pointer + offsets)"
