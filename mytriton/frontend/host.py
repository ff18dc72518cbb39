"""Functions of ordinary Python that kernels may call: on constexprs they are computed as Python computes them.

`min`, `max` and `abs` also take run-time values; the others say what to use instead.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

from mytriton import language as tl
from mytriton.frontend.builtins import absolute, maximum, minimum
from mytriton.frontend.limits import MAX_BITS
from mytriton.frontend.registry import FUNCTIONS, Builtin, Param, Rule
from mytriton.frontend.semantics import Semantics
from mytriton.frontend.values import Item, Known, Mistake, Operand, Tuple
from mytriton.ir.core import Value
from mytriton.source import Span


def _python(
    function: Callable[..., Any],
    name: str,
    low: int,
    high: int,
    hint: str = "",
    compute: Callable[..., Any] | None = None,
) -> None:
    """A Python function that works on constexprs, with `low` to `high` arguments, computed by `compute` if given."""
    compute = compute or function

    def rule(s: Semantics, span: Span, **args: Operand) -> Item:
        for operand in args.values():
            if isinstance(operand.item, Value):
                message = f"`{name}` works on constexprs only, but {s.describe(operand)} is computed at run time"
                raise Mistake("MT213", message, operand.span, hint or "give it constexprs")
        values = [s.known(operand, f"an argument of `{name}`") for operand in args.values()]
        return s.fold(lambda: compute(*values), span)

    FUNCTIONS[function] = Builtin(name, tuple(Param(f"argument {n + 1}", n >= low) for n in range(high)), rule)


def _round(number: Any, digits: Any = None) -> Any:
    """Python's `round`, which for `-(10 ** 9)` digits would first compute ten to the power of as many."""
    return round(number) if digits is None else round(number, max(digits, -MAX_BITS))


_python(float, "float", 1, 1, "convert with .to(tl.float32)")
_python(int, "int", 1, 1, "convert with .to(tl.int32)")
_python(bool, "bool", 1, 1, "compare with 0: x != 0")
_python(round, "round", 1, 2, compute=_round)
_python(tl.next_power_of_2, "next_power_of_2", 1, 1)
for _name, _arity in (("ceil", 1), ("floor", 1), ("sqrt", 1), ("exp", 1), ("log", 2), ("log2", 1), ("pow", 2),
                      ("sin", 1), ("cos", 1), ("tanh", 1), ("isinf", 1), ("isnan", 1)):  # fmt: skip
    _ours = f"use tl.{_name}" if _name in tl.__all__ else ""
    _python(getattr(math, _name), f"math.{_name}", 1, _arity, _ours)


def _fold_pairs(name: str, pair: Rule, of_constants: Callable[..., Any]) -> Rule:
    """Python's `min` and `max`: constexprs as Python, a tuple of them too, else the run-time operation of two."""

    def rule(s: Semantics, span: Span, values: tuple[Operand, ...]) -> Item:
        if values and all(isinstance(o.item, (Known, Tuple)) for o in values):
            known = [s.known(o, f"an argument of `{name}`") for o in values]
            return s.fold(lambda: of_constants(*known), span)
        if len(values) < 2:
            hint = f"along an axis of a block: tl.{name}(x, axis)"
            raise Mistake("MT120", f"`{name}` compares two values or more, got {len(values)}", span, hint)
        result = values[0]
        for operand in values[1:]:
            result = Operand(pair(s, span, result, operand), result.expr)
        return result.item

    return rule


def _python_len(s: Semantics, span: Span, x: Operand) -> Item:
    if isinstance(x.item, Tuple):
        return Known(len(x.item.items))
    known = s.known(x, "the argument of `len`")
    return s.fold(lambda: len(known), span)


def _python_abs(s: Semantics, span: Span, x: Operand) -> Item:
    if isinstance(x.item, Known):
        known = x.item.value
        return s.fold(lambda: builtins.abs(known), span)
    return absolute(s, span, x)


def _python_isinstance(s: Semantics, span: Span, x: Operand, classes: Operand) -> Item:
    asked = s.known(classes, "the second argument of `isinstance`")
    if asked is tl.constexpr:
        return Known(isinstance(x.item, (Known, Tuple)))
    known = s.known(x, "the first argument of `isinstance`")
    return s.fold(lambda: builtins.isinstance(known, asked), span)


FUNCTIONS[isinstance] = Builtin("isinstance", (Param("x"), Param("classes")), _python_isinstance)
FUNCTIONS[len] = Builtin("len", (Param("x"),), _python_len)
FUNCTIONS[builtins.abs] = Builtin("abs", (Param("x"),), _python_abs)
for _function, _pair, _word in ((builtins.max, maximum, "max"), (builtins.min, minimum, "min")):
    FUNCTIONS[_function] = Builtin(_word, (Param("values", rest=True),), _fold_pairs(_word, _pair, _function))
