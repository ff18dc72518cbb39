"""Conditions of `if` statements of a module that can be told without executing it: versions, environment and so on."""

from __future__ import annotations

import ast
import operator
import os
from collections.abc import Callable
from types import ModuleType
from typing import Any

from mytriton.frontend.kernel import MISSING
from mytriton.frontend.names import Lookup, resolve

#: The version of Triton whose language is read.
TRITON_VERSION = (3, 9, 0)

_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
}


def condition(node: ast.expr, lookup: Lookup) -> bool | None:
    """Whether a condition holds; None if that is not known."""
    value = told(node, lookup)
    return None if value is MISSING else bool(value)


def told(node: ast.expr, lookup: Lookup) -> Any:
    """The value of an expression made of versions, environment variables and the like; `MISSING` if it is not known."""
    try:
        return _value(node, lookup)
    except (TypeError, ValueError):  # it would raise when it is executed
        return MISSING


def _value(node: ast.expr, lookup: Lookup) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"):
            return False
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            value = _value(inner, lookup)
            return value if value is MISSING else not value
        case ast.BoolOp(op=op, values=values):
            return _logical(isinstance(op, ast.Or), values, lookup)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARE:
            pair = _value(left, lookup), _value(right, lookup)
            return MISSING if MISSING in pair else _COMPARE[type(op)](*pair)
        case ast.Tuple(elts=items) | ast.List(elts=items):
            found = tuple(_value(item, lookup) for item in items)
            return MISSING if MISSING in found else found
        case ast.Attribute(attr="__version__", value=ast.Name(id="triton")):
            return ".".join(map(str, TRITON_VERSION))
        case ast.Call():
            return _call(node, lookup)
    found = resolve(node, lookup)
    return found if isinstance(found, (bool, int, float, str)) else MISSING


def _logical(is_or: bool, values: list[ast.expr], lookup: Lookup) -> Any:
    known: Any = not is_or
    for node in values:
        value = _value(node, lookup)
        if value is MISSING:
            known = MISSING
        elif bool(value) == is_or:
            return value  # one is enough, whatever the others are
    return known


def _call(node: ast.Call, lookup: Lookup) -> Any:
    name, args = ast.unparse(node.func), node.args
    if name in ("os.environ.get", "os.getenv", "environ.get", "getenv") and 1 <= len(args) <= 2 and not node.keywords:
        values = [_value(arg, lookup) for arg in args]
        default = values[1] if len(values) == 2 else None
        return MISSING if MISSING in values else os.environ.get(str(values[0]), default)
    if name.split(".")[-1] in ("Version", "parse", "LooseVersion") and len(args) == 1:
        text = _value(args[0], lookup)
        return _version(text) if isinstance(text, str) else MISSING
    if name == "hasattr" and len(args) == 2:
        module, attribute = resolve(args[0], lookup), _value(args[1], lookup)
        return hasattr(module, attribute) if isinstance(module, ModuleType) else MISSING
    if name in ("int", "bool", "str") and len(args) == 1:
        value = _value(args[0], lookup)
        return MISSING if value is MISSING else {"int": int, "bool": bool, "str": str}[name](value)
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("lower", "upper", "strip") and not args:
        value = _value(node.func.value, lookup)
        return getattr(value, node.func.attr)() if isinstance(value, str) else MISSING
    return MISSING


def _version(text: str) -> tuple[int, ...]:
    """The numbers a version begins with, as many as versions of Triton have."""
    numbers = []
    for part in text.split(".")[: len(TRITON_VERSION)]:
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        numbers.append(int(digits))
    return (*numbers, *(0,) * (len(TRITON_VERSION) - len(numbers)))
