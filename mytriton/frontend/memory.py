"""Loads, stores, and the hints an author gives about values: argument rules here, operations in the IR."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mytriton import language as tl
from mytriton.frontend.broadcast import joined
from mytriton.frontend.registry import builtin
from mytriton.frontend.semantics import Semantics
from mytriton.frontend.values import Item, Known, Mistake, Operand, Tuple, Window, items_of
from mytriton.frontend.windows import load_window, store_window
from mytriton.ir import ops
from mytriton.ir.core import Value
from mytriton.source import Span
from mytriton.types import PointerType, element_of, is_bool, shape_of

EVICTION = ("evict_first", "evict_last")

# --- arguments --------------------------------------------------------------------------------------------------------


def given(operand: Operand | None) -> Operand | None:
    """An optional argument, or None if it is absent or the constexpr None."""
    return None if operand is None or (isinstance(operand.item, Known) and operand.item.value is None) else operand


def address_of(s: Semantics, operand: Operand, name: str) -> tuple[Value, PointerType]:
    """An operand that must be a pointer, or a block of such, and the type of a pointer."""
    item = operand.item
    element = element_of(item.type) if isinstance(item, Value) else None
    if not isinstance(item, Value) or not isinstance(element, PointerType):
        message = f"{name} needs a pointer, got {s.describe(operand)}"
        hint = "pass an array as the kernel's argument and add offsets to it: pointer + offsets"
        raise Mistake("MT230", message, operand.span, hint)
    return item, element


def mask_value(s: Semantics, mask: Operand) -> Value:
    """A mask as a run-time bool."""
    value = s.value(mask)
    if not is_bool(value.type):
        hint = f"compare it: {s.text(mask.span)} != 0"
        raise Mistake("MT231", f"a mask must be bool, got {s.describe(mask)}", mask.span, hint)
    return value


def only_scalars(s: Semantics, pointer: Operand, others: list[tuple[str, Operand]]) -> None:
    """A scalar pointer has room for one element: a block there is a mistake, not a broadcast."""
    for what, operand in others:
        if isinstance(operand.item, Value) and shape_of(operand.item.type):
            message = f"the {what} {s.describe(operand)} is a block, but the pointer {s.describe(pointer)} is a scalar"
            hint = f"add a block of offsets to the pointer: {s.short(pointer)} + offsets"
            raise Mistake("MT204", message, operand.span, hint)


def _word(s: Semantics, operand: Operand | None, name: str, words: tuple[str, ...]) -> str:
    """A hint's word, one of `words` or none."""
    if given(operand) is None:
        return ""
    assert operand is not None
    word = s.known(operand, f"`{name}`")
    if word in ("", "none", "evict_normal"):
        return ""
    word = f".{word}" if f".{word}" in words else word  # as in Triton, "cg" is ".cg"
    if word not in words:
        choice = ", ".join(f'"{w}"' for w in words)
        raise Mistake(
            "MT233", f"`{name}` is {s.describe(operand)}", operand.span, f"use one of {choice}, or leave it out"
        )
    return str(word)


def _only_block_pointers(s: Semantics, name: str, operand: Operand | None) -> None:
    """`boundary_check` and `padding_option` say something of block pointers only; empty ones say nothing."""
    if operand is not None and s.known(operand, f"`{name}`"):
        hint = "give a mask: tl.load(pointer + offsets, mask=offsets < n, other=0)"
        raise Mistake("MT225", f"`{name}` belongs to block pointers (tl.make_block_ptr)", operand.span, hint)


def _no_mask(pointer: Operand, operand: Operand | None) -> None:
    """A block pointer knows where its tensor ends."""
    if operand is not None:
        message = "an access through a block pointer takes no mask and no `other`"
        raise Mistake("MT225", message, operand.span, "name the axes to check: boundary_check=(0, 1)")


# --- loads and stores -------------------------------------------------------------------------------------------------


@builtin(tl.load)
def _load(
    s: Semantics,
    span: Span,
    pointer: Operand,
    mask: Operand | None = None,
    other: Operand | None = None,
    boundary_check: Operand | None = None,
    padding_option: Operand | None = None,
    cache_modifier: Operand | None = None,
    eviction_policy: Operand | None = None,
    volatile: Operand | None = None,
) -> Item:
    mask, other = given(mask), given(other)
    hints: dict[str, Any] = {
        "cache": _word(s, cache_modifier, "cache_modifier", (".ca", ".cg", ".cs", ".cv")).removeprefix("."),
        "eviction": _word(s, eviction_policy, "eviction_policy", EVICTION),
        "volatile": s.flag(volatile, "volatile"),
    }
    if isinstance(pointer.item, Window):
        _no_mask(pointer, mask or other)
        return load_window(s, pointer, boundary_check, padding_option, **hints)
    address, type_ = address_of(s, pointer, "tl.load")
    _only_block_pointers(s, "boundary_check", boundary_check)
    _only_block_pointers(s, "padding_option", padding_option)
    if mask is None:
        if other is not None:
            hint = "give a mask, or leave `other` out"
            raise Mistake("MT232", "`other` has no meaning without a mask", other.span, hint)
        return s.builder.add(ops.Load, pointer=address, **hints)
    where = mask_value(s, mask)
    if other is None:
        s.warn(
            "MT290",
            f"this load has a mask but no `other`: masked-off elements of {s.text(pointer.span)} read as 0",
            span,
            "write other=0 to say so; Triton leaves those elements undefined",
        )
        other = Operand(Known(0), pointer.expr)
    if not shape_of(address.type):
        only_scalars(s, pointer, [("mask", mask), ("`other` value", other)])
    values = [address, where, s.value(other, type_.element)]
    address, where, fallback = s.same_shape(values, [pointer, mask, other], span)
    return s.builder.add(ops.Load, pointer=address, mask=where, other=fallback, **hints)


@builtin(tl.store, method=True)
def _store(
    s: Semantics,
    span: Span,
    pointer: Operand,
    value: Operand,
    mask: Operand | None = None,
    boundary_check: Operand | None = None,
    cache_modifier: Operand | None = None,
    eviction_policy: Operand | None = None,
) -> Item:
    mask = given(mask)
    cache = _word(s, cache_modifier, "cache_modifier", (".wb", ".cg", ".cs", ".wt")).removeprefix(".")
    eviction = _word(s, eviction_policy, "eviction_policy", EVICTION)
    if isinstance(pointer.item, Window):
        _no_mask(pointer, mask)
        store_window(s, pointer, value, boundary_check, cache=cache, eviction=eviction)
        return Known(None)
    address, type_ = address_of(s, pointer, "tl.store")
    _only_block_pointers(s, "boundary_check", boundary_check)
    operands = [("stored value", value), *([("mask", mask)] if mask is not None else [])]
    if not shape_of(address.type):
        only_scalars(s, pointer, operands)
    values = [s.value(value, type_.element), *([mask_value(s, mask)] if mask is not None else [])]
    _, *stored = s.same_shape([address, *values], [pointer, *(operand for _, operand in operands)], span)
    for (what, operand), one in zip(operands, values, strict=True):
        shape = shape_of(address.type)
        if joined(shape, shape_of(one.type)) != shape:
            # Each element would be stored several times; which one wins would be anybody's guess.
            pair = f"{s.describe(operand)} does not broadcast to the shape of the pointer {s.describe(pointer)}"
            raise Mistake("MT204", f"the {what} {pair}", operand.span, "add offsets of that shape to the pointer")
    where = stored[1] if mask is not None else None
    s.builder.append(ops.Store(pointer=address, value=stored[0], mask=where, cache=cache, eviction=eviction))
    return Known(None)


# --- hints about values -----------------------------------------------------------------------------------------------


def _hint(function: Callable[..., Any]) -> None:
    """A statement about each axis of a value. It is checked, and leaves no trace: no result depends on it."""
    name = function.__name__

    def rule(s: Semantics, span: Span, input: Operand, values: Operand) -> Item:
        value = s.number(input, f"the argument of tl.{name}")
        numbers = items_of(values) if isinstance(values.item, Tuple) else (values,)
        for number in numbers:
            if s.known_int(number, f"a value of tl.{name}") < 1:
                raise Mistake("MT212", f"tl.{name} takes positive numbers, got {s.describe(number)}", number.span,
                              "leave the statement out where there is nothing to state")  # fmt: skip
        rank = len(shape_of(value.type)) if isinstance(value, Value) else 0
        if len(numbers) != max(1, rank):
            message = f"tl.{name} takes a number for each axis: {s.describe(input)} has {rank}, got {len(numbers)}"
            raise Mistake("MT212", message, values.span, f"give {max(1, rank)}")
        return value

    builtin(function)(rule)


for _function in (tl.multiple_of, tl.max_contiguous, tl.max_constancy):
    _hint(_function)


@builtin(tl.assume)
def _assume(s: Semantics, span: Span, cond: Operand) -> Item:
    value = s.number(cond, "the argument of tl.assume")
    if isinstance(value, Value) and (not is_bool(value.type) or shape_of(value.type)):
        raise Mistake("MT231", f"tl.assume takes a scalar bool, got {s.describe(cond)}", cond.span,
                      "compare scalars: n > 0")  # fmt: skip
    if isinstance(value, Known) and not value.value:
        raise Mistake("MT212", f"tl.assume says what is false: {s.text(cond.span)}", cond.span,
                      "state what holds, or nothing")  # fmt: skip
    return Known(None)


@builtin(tl.debug_barrier)
def _debug_barrier(s: Semantics, span: Span) -> Item:
    s.builder.append(ops.Barrier())
    return Known(None)
