"""What the modules that kernel files import stand for, and the numbers that libraries state of their dtypes."""

from __future__ import annotations

import ast
import copy
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any

import mytriton
from mytriton import language
from mytriton.frontend.conditions import condition
from mytriton.frontend.kernel import Helper, Unresolved
from mytriton.frontend.names import Lookup, last_name, resolve
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
    "torch._inductor.runtime.triton_helpers.libdevice": libdevice,  # whence the kernels that PyTorch writes have them
    "torch._inductor.runtime.triton_helpers.math": language.math,
    "math": math,
}
#: Every vendor's Triton has a libdevice of its own, in which a name means the same.
_LIBDEVICE = re.compile(r"triton\.language\.extra\.\w+\.libdevice")


def module_named(name: str) -> ModuleType | None:
    """The module that kernels take for the one imported as `name`; None if they can use nothing of that one."""
    return libdevice if _LIBDEVICE.fullmatch(name) else _MODULES.get(name)


_INFO = ("finfo", "iinfo")
_FIELDS = ("min", "max", "eps", "tiny", "smallest_normal", "bits")


def _stated(node: ast.AST) -> ast.Constant | None:
    """`torch.finfo(torch.float32).min`, and the like of NumPy, as a number."""
    match node:
        case ast.Attribute(
            value=ast.Call(func=ast.Attribute(value=ast.Name(id="torch" | "np" | "numpy"), attr=info), args=[dtype]),
            attr=field,
        ) if info in _INFO and field in _FIELDS:
            import ml_dtypes  # see `numbers`
            import numpy as np

            told: Callable[[Any], Any] = ml_dtypes.finfo if info == "finfo" else np.iinfo
            try:
                value = getattr(told(last_name(dtype)), field)
            except (AttributeError, TypeError, ValueError):  # no such dtype, or nothing of that name is said of it
                return None
            number = float(value) if info == "finfo" and field != "bits" else int(value)
            return ast.copy_location(ast.Constant(number), node)
    return None


class _Simplifier(ast.NodeTransformer):
    """`assumes` that what is not known does not hold; `assumed` is the first such condition."""

    def __init__(self, lookup: Lookup, assumes: bool = False) -> None:
        self._lookup = lookup
        self._assumes = assumes
        self.assumed: ast.expr | None = None
        self._inside: list[ast.expr] = []

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        return _stated(node) or self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        holds = condition(node.test, self._lookup)
        if holds is None and self._assumes:
            holds, self.assumed = False, self.assumed or node.test
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


def may_be_told(inner: Iterable[ast.AST]) -> bool:
    """Whether there is anything that `simplified` may find in an expression, given as all its nodes."""
    for node in inner:
        if isinstance(node, ast.Call):
            if not (node.args or node.keywords) or last_name(node.func) in _INFO:
                return True
        elif isinstance(node, ast.IfExp):
            return True
    return False


def simplified(expr: ast.expr, lookup: Lookup) -> ast.expr:
    """An expression of a module with what can be told of it without executing it: numbers that libraries state of
    dtypes, sides of an `if`-`else` that does not hold, and functions that only return an expression."""
    simple: ast.expr = _Simplifier(lookup).visit(copy.deepcopy(expr))
    return simple


def assumed(expr: ast.expr, lookup: Lookup) -> tuple[ast.expr, ast.expr | None]:
    """The same expression with the `else` sides of its conditions that are not known, and the first of these; None if
    there is none."""
    simplifier = _Simplifier(lookup, assumes=True)
    other: ast.expr = simplifier.visit(copy.deepcopy(expr))
    return other, simplifier.assumed


def depending(unknown: Unresolved, otherwise: Any, test: ast.expr) -> Unresolved:
    """What is not known because a condition is not, with the value that it has if that does not hold."""
    if isinstance(otherwise, Unresolved):
        return unknown
    spelled = ast.unparse(test)
    spelled = spelled if len(spelled) <= 60 else f"{spelled[:57]}..."
    hint = "save the file to have it executed, or write what it is at the top of this file"
    return Unresolved(f"it depends on `{spelled}`", hint, otherwise=otherwise)


def choose(names: dict[str, Any], ways: Sequence[Mapping[str, Any]], test: ast.expr | None = None) -> None:
    """Settle names that are unknown after statements of which it is not known which run: `ways` are the names after
    each. Functions, and modules of them, are known if all ways that know them agree, as the versions that libraries
    choose among come to one here; else a name has the value of the first way if the condition `test` does not hold."""
    for name, value in list(names.items()):
        if not isinstance(value, Unresolved):
            continue
        found = [way[name] for way in ways if not isinstance(way.get(name, value), Unresolved)]
        if not found:
            continue
        if isinstance(found[0], (ModuleType, FunctionType, Helper)) and all(other is found[0] for other in found):
            names[name] = found[0]
        elif test is not None:
            names[name] = depending(value, ways[0].get(name, value), test)
