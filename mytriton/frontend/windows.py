"""Block pointers and tensor descriptors: where a block lies in a tensor, as loads and stores with masks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from mytriton import language as tl
from mytriton.frontend.registry import DESCRIPTOR_METHODS, Builtin, Param, builtin
from mytriton.frontend.semantics import Semantics
from mytriton.frontend.shapes import shape_argument
from mytriton.frontend.values import Item, Known, Mistake, Operand, Tuple, Window, items_of
from mytriton.ir import ops
from mytriton.ir.core import Value
from mytriton.source import Span
from mytriton.types import PointerType, ScalarType, i32, i64, is_float, shape_of

_PADDINGS = ("", "zero", "nan")

# --- making and moving ------------------------------------------------------------------------------------------------


def _base(s: Semantics, base: Operand, name: str) -> Value:
    value = base.item
    if not isinstance(value, Value) or not isinstance(value.type, PointerType):
        hint = "give the pointer to the tensor's first element; a block pointer makes the block of addresses itself"
        raise Mistake("MT230", f"tl.{name} needs a scalar pointer, got {s.describe(base)}", base.span, hint)
    return value


def _numbers(s: Semantics, given: Operand, what: str, count: int, to: ScalarType) -> tuple[Value, ...]:
    """A tuple of scalar integers, one for each axis."""
    parts = items_of(given) if isinstance(given.item, Tuple) else (given,)
    if len(parts) != count:
        message = f"{what} has {len(parts)} items, but the block has {count} axes"
        raise Mistake("MT225", message, given.span, f"give a tuple of {count}")
    values = []
    for part in parts:
        value = s.value(part)
        if not isinstance(value.type, ScalarType) or value.type.kind == "float":
            message = f"{what} must consist of scalar integers, got {s.describe(part)}"
            raise Mistake("MT225", message, part.span, "one number for each axis of the block")
        values.append(s.value(part, to))
    return tuple(values)


@builtin(tl.make_block_ptr)
def _make_block_ptr(
    s: Semantics,
    span: Span,
    base: Operand,
    shape: Operand,
    strides: Operand,
    offsets: Operand,
    block_shape: Operand,
    order: Operand,
) -> Item:
    pointer, block = _base(s, base, "make_block_ptr"), shape_argument(s, block_shape, block_shape.span)
    rank = len(block)
    parts = items_of(order) if isinstance(order.item, Tuple) else (order,)
    if sorted(s.known_int(part, "an axis of `order`") for part in parts) != list(range(rank)):
        message = f"`order` must name each of the axes 0 to {rank - 1} once, got {s.text(order.span)}"
        raise Mistake("MT225", message, order.span, "the fastest axis comes first: (1, 0) for rows in memory")
    items = [
        *_numbers(s, shape, "`shape`", rank, i64),
        *_numbers(s, strides, "`strides`", rank, i64),
        *_numbers(s, offsets, "`offsets`", rank, i32),
    ]
    return Window((pointer, *items), block)


@builtin(tl.advance, method=True)
def _advance(s: Semantics, span: Span, base: Operand, offsets: Operand) -> Item:
    window = base.item
    if not isinstance(window, Window) or window.is_descriptor:
        message = f"tl.advance takes a block pointer, got {s.describe(base)}"
        raise Mistake("MT225", message, base.span, "add offsets to a plain pointer: pointer + offsets")
    rank = len(window.block)
    steps = _numbers(s, offsets, "`offsets`", rank, i32)
    moved = [s.builder.add(ops.Add, lhs=a, rhs=b) for a, b in zip(_values(window)[-rank:], steps, strict=True)]
    return replace(window, items=(*window.items[:-rank], *moved))


@builtin(tl.make_tensor_descriptor)
def _make_tensor_descriptor(
    s: Semantics,
    span: Span,
    base: Operand,
    shape: Operand,
    strides: Operand,
    block_shape: Operand,
    padding_option: Operand | None = None,
) -> Item:
    pointer, block = _base(s, base, "make_tensor_descriptor"), shape_argument(s, block_shape, block_shape.span)
    rank = len(block)
    extents, steps = _numbers(s, shape, "`shape`", rank, i64), _numbers(s, strides, "`strides`", rank, i64)
    last = (items_of(strides) if isinstance(strides.item, Tuple) else (strides,))[-1]
    if isinstance(last.item, Known) and last.item.value != 1:
        message = f"the last axis of a tensor descriptor must have the stride 1, got {s.describe(last)}"
        raise Mistake("MT225", message, last.span, "tl.make_block_ptr takes any strides")
    return Window((pointer, *extents, *steps), block, _padding(s, padding_option, pointer) or "zero")


# --- accesses ---------------------------------------------------------------------------------------------------------


def _values(window: Window) -> tuple[Value, ...]:
    assert all(isinstance(item, Value) for item in window.items)
    return window.items  # type: ignore[return-value]


def _padding(s: Semantics, given: Operand | None, pointer: Value) -> str:
    word = "" if given is None else (s.known(given, "`padding_option`") or "")
    if given is not None and word not in _PADDINGS:
        hint = 'use "zero", "nan" or leave it out'
        raise Mistake("MT233", f"`padding_option` is {s.describe(given)}", given.span, hint)
    assert isinstance(pointer.type, PointerType)
    if given is not None and word == "nan" and not is_float(pointer.type.element):
        raise Mistake("MT233", f"{pointer.type.element} has no NaN to pad with", given.span, 'use "zero"')
    return str(word)


def _checked(s: Semantics, given: Operand | None, rank: int) -> list[int]:
    """The axes that `boundary_check` names."""
    if given is None or (isinstance(given.item, Known) and given.item.value is None):
        return []
    parts = items_of(given) if isinstance(given.item, Tuple) else (given,)
    axes = [s.known_int(part, "an axis of `boundary_check`") for part in parts]
    for axis, part in zip(axes, parts, strict=True):
        if not 0 <= axis < rank:
            message = f"`boundary_check` names axis {axis} of a block with {rank} axes"
            raise Mistake("MT225", message, part.span, f"use 0 to {rank - 1}")
    return axes


def _combined(s: Semantics, op: type[ops.Binary], parts: Sequence[Value], block: tuple[int, ...]) -> Value:
    """Blocks of one axis each, broadcast to `block` and combined."""
    spread = [s.broadcast(value, block) for value in parts]
    return reduce(lambda a, b: s.builder.add(op, lhs=a, rhs=b), spread)


def _place(s: Semantics, window: Window, checked: Sequence[int]) -> tuple[Value, Value | None]:
    """The addresses of a block, and the mask of what lies in the tensor along the `checked` axes.

    Scalars are added to the base, and what only depends on the axis is kept apart, so that a loop which advances the
    block computes nothing else anew.
    """
    add, rank = s.builder.add, len(window.block)
    base, *rest = _values(window)
    extents, strides, offsets = rest[:rank], rest[rank : 2 * rank], rest[2 * rank :]
    inside: list[Value] = []
    distances: list[Value] = []
    for axis, length in enumerate(window.block):
        shape = tuple(length if a == axis else 1 for a in range(rank))
        index = s.reshape(s.builder.cast(add(ops.Arange, start=0, end=length), i64), shape)
        start = s.builder.cast(offsets[axis], i64)
        base = add(ops.AddPtr, pointer=base, offset=add(ops.Mul, lhs=start, rhs=strides[axis]))
        distances.append(add(ops.Mul, lhs=index, rhs=s.builder.splat(strides[axis], shape)))
        if axis in checked:
            at = add(ops.Add, lhs=s.builder.splat(start, shape), rhs=index)
            zero = s.builder.constant(0, i64, shape)
            inside.append(add(ops.CmpLe, lhs=zero, rhs=at))
            inside.append(add(ops.CmpLt, lhs=at, rhs=s.builder.splat(extents[axis], shape)))
    offset = _combined(s, ops.Add, distances, window.block)
    pointers = add(ops.AddPtr, pointer=s.builder.splat(base, window.block), offset=offset)
    return pointers, _combined(s, ops.And, inside, window.block) if inside else None


def load_window(
    s: Semantics,
    pointer: Operand,
    boundary_check: Operand | None,
    padding_option: Operand | None,
    **hints: Any,
) -> Value:
    """`tl.load` of a block pointer."""
    window = _at_offsets(s, pointer, "tl.load")
    checked = _checked(s, boundary_check, len(window.block))
    return _load(s, window, checked, _padding(s, padding_option, _values(window)[0]), **hints)


def _load(s: Semantics, window: Window, checked: Sequence[int], padding: str, **hints: Any) -> Value:
    address, mask = _place(s, window, checked)
    if mask is None:
        return s.builder.add(ops.Load, pointer=address, **hints)
    element = window.type.element
    outside: Any = float("nan") if padding == "nan" else {"bool": False, "int": 0, "float": 0.0}[element.kind]
    other = s.builder.constant(outside, element, window.block)
    return s.builder.add(ops.Load, pointer=address, mask=mask, other=other, **hints)


def store_window(s: Semantics, pointer: Operand, value: Operand, boundary_check: Operand | None, **hints: Any) -> None:
    """`tl.store` to a block pointer."""
    window = _at_offsets(s, pointer, "tl.store")
    _store(s, window, value, _checked(s, boundary_check, len(window.block)), pointer, **hints)


def _store(
    s: Semantics, window: Window, value: Operand, checked: Sequence[int], pointer: Operand, **hints: Any
) -> None:
    stored = s.value(value, window.type.element)
    shape = shape_of(stored.type)
    if len(shape) > len(window.block) or any(
        a not in (1, b) for a, b in zip(reversed(shape), reversed(window.block), strict=False)
    ):
        message = f"the stored value {s.describe(value)} does not broadcast to the block of {s.describe(pointer)}"
        raise Mistake("MT204", message, value.span, f"store a block with the shape {window.block}")
    address, mask = _place(s, window, checked)
    stored = s.broadcast(stored, window.block)
    s.builder.append(ops.Store(pointer=address, value=stored, mask=mask, **hints))


def _at_offsets(s: Semantics, pointer: Operand, name: str) -> Window:
    window = pointer.item
    assert isinstance(window, Window)
    if window.is_descriptor:
        method = name.removeprefix("tl.")
        hint = f"write {s.text(pointer.span)}.{method}(offsets{', value' if method == 'store' else ''})"
        raise Mistake("MT225", f"{name} takes no tensor descriptor: {s.describe(pointer)}", pointer.span, hint)
    return window


# --- tensor descriptors -----------------------------------------------------------------------------------------------


def _descriptor(s: Semantics, desc: Operand, offsets: Operand) -> Window:
    window = desc.item
    if not isinstance(window, Window) or not window.is_descriptor:
        message = f"{s.describe(desc)} is no tensor descriptor"
        hint = "make one with tl.make_tensor_descriptor, or pass a TensorDescriptor at the launch"
        raise Mistake("MT225", message, desc.span, hint)
    return replace(window, items=(*window.items, *_numbers(s, offsets, "`offsets`", len(window.block), i32)))


def _descriptor_load(s: Semantics, span: Span, desc: Operand, offsets: Operand) -> Item:
    window = _descriptor(s, desc, offsets)
    return _load(s, window, range(len(window.block)), window.padding)


def _descriptor_store(s: Semantics, span: Span, desc: Operand, offsets: Operand, value: Operand) -> Item:
    window = _descriptor(s, desc, offsets)
    _store(s, window, value, range(len(window.block)), desc)
    return Known(None)


def _both(function: Callable[..., Any], method: str, rule: Callable[..., Item], *params: str) -> None:
    """A function of the language that is a method of descriptors, too."""
    builtin(function)(rule)
    DESCRIPTOR_METHODS[method] = Builtin(method, tuple(Param(name) for name in params), rule)


_both(tl.load_tensor_descriptor, "load", _descriptor_load, "desc", "offsets")
_both(tl.store_tensor_descriptor, "store", _descriptor_store, "desc", "offsets", "value")
