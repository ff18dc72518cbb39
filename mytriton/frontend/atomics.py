"""Atomic operations (see `registry.py`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mytriton import language as tl
from mytriton.frontend.memory import address_of, given, mask_value, only_scalars
from mytriton.frontend.registry import builtin
from mytriton.frontend.semantics import Semantics
from mytriton.frontend.values import Item, Mistake, Operand
from mytriton.ir import ops
from mytriton.ir.core import Value
from mytriton.ir.ops.atomics import ORDERS, SCOPES, takes
from mytriton.source import Span
from mytriton.types import PointerType, shape_of


def _word(s: Semantics, operand: Operand | None, name: str, words: tuple[str, ...]) -> str:
    """One of `words`, the first by default."""
    word = given(operand)
    if word is None:
        return words[0]
    if (known := s.known(word, f"`{name}`")) not in words:
        choice = ", ".join(f'"{w}"' for w in words)
        raise Mistake("MT233", f"`{name}` is {s.describe(word)}", word.span, f"use one of {choice}, or leave it out")
    return str(known)


def _check_type(s: Semantics, kind: str, name: str, pointer: Operand, type_: PointerType) -> None:
    element = type_.element
    if takes(kind, element):
        return
    if element.bits < 32:
        hint = "keep an array of float32 or int32 for it" if kind == "add" else "use an array of 32 or 64 bits"
        more = {"add": ", and float16 and bfloat16", "cas": ", and of 16"}.get(kind, "")
        message = f"{name} takes elements of 32 or 64 bits{more}, not {element}: {s.describe(pointer)}"
    else:
        hint = "cast the pointer: pointer.to(tl.pointer_type(tl.int32))"
        message = f"{name} takes integers, not {element}: {s.describe(pointer)}"
    raise Mistake("MT228", message, pointer.span, hint)


def _atomic(
    s: Semantics,
    span: Span,
    kind: str,
    name: str,
    pointer: Operand,
    operands: dict[str, Operand],
    mask: Operand | None,
    order: str,
    scope: str,
) -> Item:
    address, type_ = address_of(s, pointer, name)
    _check_type(s, kind, name, pointer, type_)
    others = [*operands.items(), *([("mask", mask)] if mask is not None else [])]
    if not shape_of(address.type):
        only_scalars(s, pointer, others)
    values = [s.value(operand, type_.element) for operand in operands.values()]
    values += [mask_value(s, mask)] if mask is not None else []
    shape = shape_of(address.type)
    together = s.same_shape([address, *values], [pointer, *(operand for _, operand in others)], span)
    if shape_of(together[0].type) != shape:
        wide = next(o for _, o in others if shape_of(s.value(o).type) not in ((), shape))
        message = f"{s.describe(wide)} does not broadcast to the shape of the pointer {s.describe(pointer)}"
        raise Mistake("MT204", message, wide.span, "add offsets of that shape to the pointer")
    blocks = [s.reshape(v, (1,)) for v in together] if not shape else together
    named: dict[str, Any] = dict(zip(("pointer", *operands), blocks, strict=False))
    named["mask"] = blocks[-1] if mask is not None else None
    old: Value = s.builder.add(ops.Atomic, kind=kind, order=order, scope=scope, **named)
    return s.reshape(old, shape)


def _read_modify_write(function: Callable[..., Any], kind: str) -> None:
    name = f"tl.{function.__name__}"

    def rule(
        s: Semantics,
        span: Span,
        pointer: Operand,
        val: Operand,
        mask: Operand | None = None,
        sem: Operand | None = None,
        scope: Operand | None = None,
    ) -> Item:
        order, where = _word(s, sem, "sem", ORDERS), _word(s, scope, "scope", SCOPES)
        return _atomic(s, span, kind, name, pointer, {"value": val}, given(mask), order, where)

    builtin(function, method=True)(rule)


for _kind in ("add", "max", "min", "and", "or", "xor", "xchg"):
    _read_modify_write(getattr(tl, f"atomic_{_kind}"), _kind)


@builtin(tl.atomic_cas, method=True)
def _atomic_cas(
    s: Semantics,
    span: Span,
    pointer: Operand,
    cmp: Operand,
    val: Operand,
    sem: Operand | None = None,
    scope: Operand | None = None,
) -> Item:
    order, where = _word(s, sem, "sem", ORDERS), _word(s, scope, "scope", SCOPES)
    return _atomic(s, span, "cas", "tl.atomic_cas", pointer, {"value": val, "compare": cmp}, None, order, where)
