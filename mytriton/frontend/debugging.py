"""The rules of assertions and of what is printed (see `registry.py`)."""

from __future__ import annotations

import builtins

from mytriton import language as tl
from mytriton.diagnostics import Diagnostic
from mytriton.frontend.registry import FUNCTIONS, Builtin, builtin
from mytriton.frontend.semantics import Semantics
from mytriton.frontend.values import Item, Known, Mistake, Operand, Tuple
from mytriton.ir import ops
from mytriton.ir.core import Value
from mytriton.source import Span
from mytriton.types import i1, is_bool, is_pointer


def check(s: Semantics, condition: Operand, message: str, span: Span, mask: Operand | None = None) -> None:
    """Append the assertion of a condition; of one that is known to hold, nothing."""
    item = s.number(condition, "an asserted condition")
    if isinstance(item, Known):
        if item.value:
            return
        item = s.builder.constant(False, i1)
    s.builder.span = span
    value = s.builder.truth(item)
    if mask is not None:
        flag = s.value(mask)
        if not is_bool(flag.type):
            hint = f"compare it: {s.text(mask.span)} != 0"
            raise Mistake("MT231", f"a mask must be bool, got {s.describe(mask)}", mask.span, hint)
        allowed = Operand(s.builder.add(ops.Not, source=flag), mask.expr)
        checked = s.binary("|", Operand(value, condition.expr), allowed, span)
        assert isinstance(checked, Value)
        value = checked
    s.builder.append(ops.Assert(condition=value, message=message, span=span))


def text(s: Semantics, operand: Operand | None, what: str, default: str = "") -> str:
    """A constexpr string."""
    if operand is None:
        return default
    value = s.known(operand, what)
    if not isinstance(value, str):
        hint = "write it in quotes, or as a constexpr that is a string"
        raise Mistake("MT211", f"{what} must be a string, got {s.describe(operand)}", operand.span, hint)
    return value


@builtin(tl.device_assert)
def _device_assert(
    s: Semantics, span: Span, cond: Operand, msg: Operand | None = None, mask: Operand | None = None
) -> Item:
    masked = None if mask is None or (isinstance(mask.item, Known) and mask.item.value is None) else mask
    check(s, cond, text(s, msg, "the message") or s.text(cond.span), span, masked)
    return Known(None)


@builtin(tl.device_print)
def _device_print(
    s: Semantics, span: Span, prefix: Operand, args: tuple[Operand, ...] = (), hex: Operand | None = None
) -> Item:
    if not isinstance(prefix.item, Known) or not isinstance(prefix.item.value, str):
        hint = f'write print("{s.text(prefix.span)}", {s.text(prefix.span)})'
        raise Mistake("MT211", f"what is printed begins with a string, not {s.describe(prefix)}", prefix.span, hint)
    if hex is not None and s.known(hex, "`hex`"):
        raise Mistake("MT160", "printing in hexadecimal is not supported", hex.span, "print the number, or its digits")
    if not args:
        hint = f"print a number with it: print({prefix.item.value!r}, tl.program_id(0))"
        raise Mistake("MT160", "there is nothing to print for each program", span, hint)
    values = []
    for operand in args:
        value = s.value(operand)
        if is_pointer(value.type):
            raise Mistake("MT203", f"pointers cannot be printed: {s.describe(operand)}", operand.span,
                          "print what it points to: tl.load(...)")  # fmt: skip
        values.append(value)
    s.builder.append(ops.Print(values=tuple(values), prefix=prefix.item.value.strip().removesuffix(":"), span=span))
    return Known(None)


_printer = FUNCTIONS[tl.device_print]
FUNCTIONS[builtins.print] = Builtin("print", _printer.parameters, _printer.rule)


@builtin(tl.static_assert)
def _static_assert(s: Semantics, span: Span, cond: Operand, msg: Operand | None = None) -> Item:
    if not s.known(cond, "the condition of tl.static_assert"):
        message = text(s, msg, "the message")
        said = f"`{s.text(cond.span)}` is false"
        hint = said if message else "give the constexprs in it values for which it holds"
        raise Mistake("MT161", f"static assertion failed: {message or said}", span, hint)
    return Known(None)


@builtin(tl.static_print)
def _static_print(s: Semantics, span: Span, values: tuple[Operand, ...] = (), sep: Operand | None = None) -> Item:
    message = text(s, sep, "`sep`", " ").join(_shown(operand.item) for operand in values)
    s.report(Diagnostic("MT162", message, span, "note", stage="ssa"))
    return Known(None)


def _shown(item: Item) -> str:
    match item:
        case Known(value=value):
            return str(value)
        case Tuple(items=items):
            return "(" + ", ".join(_shown(i) for i in items) + ")"
        case Value(type=type_):
            return str(type_)
    return "?"
