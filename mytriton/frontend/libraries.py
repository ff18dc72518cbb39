"""What the modules that kernel files import stand for, and the numbers that libraries state of their dtypes."""

from __future__ import annotations

import ast
import copy
import math
import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np

import mytriton
from mytriton import language
from mytriton.frontend.conditions import condition
from mytriton.frontend.kernel import Unresolved
from mytriton.frontend.names import Lookup, last_name, resolve
from mytriton.frontend.syntax import nodes
from mytriton.language.extra import libdevice

_MODULES: dict[str, ModuleType] = {
    "mytriton": mytriton,
    "mytriton.language": language,
    "triton": mytriton,
    "triton.language": language,
    "triton.language.core": language,
    "mytriton.language.standard": language.standard,
    "triton.language.standard": language.standard,
    "mytriton.language.math": language.math,
    "triton.language.math": language.math,
    "mytriton.language.extra.libdevice": libdevice,
    "triton.language.extra.libdevice": libdevice,
    "math": math,
}
#: Every vendor's Triton has a libdevice of its own, in which a name means the same.
_LIBDEVICE = re.compile(r"triton\.language\.extra\.\w+\.libdevice")


def module_named(name: str) -> ModuleType | None:
    """The module that kernels take for the one imported as `name`; None if they can use nothing of that one."""
    return libdevice if _LIBDEVICE.fullmatch(name) else _MODULES.get(name)


_INFO: dict[str, Callable[[Any], Any]] = {"finfo": ml_dtypes.finfo, "iinfo": np.iinfo}
_FIELDS = ("min", "max", "eps", "tiny", "smallest_normal", "bits")


def _stated(node: ast.AST) -> ast.Constant | None:
    """`torch.finfo(torch.float32).min`, and the like of NumPy, as a number."""
    match node:
        case ast.Attribute(
            value=ast.Call(func=ast.Attribute(value=ast.Name(id="torch" | "np" | "numpy"), attr=info), args=[dtype]),
            attr=field,
        ) if info in _INFO and field in _FIELDS:
            try:
                value = getattr(_INFO[info](last_name(dtype)), field)
            except (AttributeError, TypeError, ValueError):  # no such dtype, or nothing of that name is said of it
                return None
            number = float(value) if info == "finfo" and field != "bits" else int(value)
            return ast.copy_location(ast.Constant(number), node)
    return None


class _Simplifier(ast.NodeTransformer):
    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._inside: list[ast.expr] = []

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        return _stated(node) or self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        holds = condition(node.test, self._lookup)
        return self.generic_visit(node) if holds is None else self.visit(node.body if holds else node.orelse)

    def visit_Call(self, node: ast.Call) -> Any:
        function = resolve(node.func, self._lookup)
        returned = function.returned if isinstance(function, Unresolved) else None
        if returned is None or node.args or node.keywords or any(returned is one for one in self._inside):
            return self.generic_visit(node)
        self._inside.append(returned)
        expr = self.visit(copy.deepcopy(returned))
        self._inside.pop()
        return expr


def _may_be_told(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return not (node.args or node.keywords) or last_name(node.func) in _INFO
    return isinstance(node, ast.IfExp)


def simplified(expr: ast.expr, lookup: Lookup) -> ast.expr:
    """An expression of a module with what can be told of it without executing it: numbers that libraries state of
    dtypes, sides of an `if`-`else` that does not hold, and functions that only return an expression."""
    if not any(_may_be_told(part) for part in nodes(expr)):
        return expr
    simple: ast.expr = _Simplifier(lookup).visit(copy.deepcopy(expr))
    return simple
