"""A kernel file read without executing it: its kernels, and the values of globals that can be told from the text.

`import triton` and `import triton.language` are taken to mean this package, so files of Triton kernels open where
Triton is not installed.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import mytriton
from mytriton import language
from mytriton.diagnostics import CompileError
from mytriton.frontend.evaluate import Evaluator
from mytriton.frontend.kernel import MISSING, Kernel, Unresolved
from mytriton.frontend.names import Lookup, is_constexpr, parameters, resolve, used_names
from mytriton.frontend.parse import ExpressionParser
from mytriton.frontend.semantics import Semantics
from mytriton.frontend.syntax import FunctionNode, Positions, functions, parse_text, unit_of
from mytriton.frontend.values import Known, Tuple
from mytriton.language.extra import libdevice
from mytriton.source import SourceUnit

_MODULES: dict[str, ModuleType] = {
    "mytriton": mytriton,
    "mytriton.language": language,
    "triton": mytriton,
    "triton.language": language,
    "mytriton.language.math": language.math,
    "triton.language.math": language.math,
    "mytriton.language.extra.libdevice": libdevice,
    "triton.language.extra.libdevice": libdevice,
    "triton.language.extra.cuda.libdevice": libdevice,
    "math": math,
}


class KernelName:
    """Stands for another kernel of the file where a kernel's body names it."""

    __mytriton_kernel__ = True


@dataclass(frozen=True, slots=True)
class Module:
    """The kernels of a file, in the order of its text."""

    path: str
    kernels: tuple[Kernel, ...]

    def kernel(self, name: str | None = None) -> Kernel | None:
        """The kernel of that name (the first one for None)."""
        return next((k for k in self.kernels if name is None or k.name == name), None)


def read_module(text: str, path: str, known: Mapping[str, Any] | None = None) -> Module:
    """The kernels in the text of a file. Nothing of it is executed.

    Globals are imports of this package, `triton` or `math`, and what follows from literals with arithmetic, `tl.*`
    dtypes, `tl.constexpr(...)`, `triton.cdiv`, `math.*`, `min`, `max` and the like. Any other global keeps the value it
    has in `known` (from an earlier execution); without one its use in a kernel is an error. Raises `CompileError` for
    text that is not Python.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    tree = parse_text(text, SourceUnit(path, path, 1, text))
    file = _File(text, path, known or {})
    top = file.scope(tree.body, {})
    kernels = []
    for node, outer in functions(tree):
        names = top
        if node.decorator_list:
            for function in outer:
                names = file.scope(function.body, {**names, **file.parameters(function)})
        if _is_jit(node, names):
            kernels.append(file.kernel(node, names))
    return Module(path, tuple(kernels))


def _is_jit(node: FunctionNode, names: Mapping[str, Any]) -> bool:
    for decorator in node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        if resolve(target, lambda name: names.get(name, MISSING)) is mytriton.jit:
            return True
    return False


class _File:
    def __init__(self, text: str, path: str, known: Mapping[str, Any]) -> None:
        self._text = text
        self._path = path
        self._known = known
        self._positions = Positions(text)

    def kernel(self, node: FunctionNode, names: Mapping[str, Any]) -> Kernel:
        """The kernel of a decorated function, with the names it can see."""
        unit = unit_of(node, self._text, self._path)
        positions = Positions(unit.text, unit.first_line - 1)  # within the unit, as a live function has them

        def lookup(name: str) -> Any:
            return names.get(name, MISSING)

        def default(expr: ast.expr) -> Any:
            value = self.value(expr, names)
            return MISSING if isinstance(value, Unresolved) else value

        found = {name: lookup(name) for name in used_names(node)}
        return Kernel(
            node.name,
            unit,
            parameters(node, positions, lookup, default),
            {name: value for name, value in found.items() if value is not MISSING},
        )

    def parameters(self, node: FunctionNode) -> dict[str, Any]:
        """The parameters of an enclosing function, which have no value before it is called."""
        arguments = node.args
        return {
            a.arg: self._unknown(a.arg, "it is a parameter of the function around the kernel")
            for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        }

    def _unknown(self, name: str, reason: str) -> Any:
        hint = "save the file to have it executed, or write it as a literal: NAME = tl.constexpr(3)"
        return self._known.get(name, Unresolved(reason, hint))

    def scope(self, body: Sequence[ast.stmt], names: dict[str, Any]) -> dict[str, Any]:
        """The names after the statements of a module or function body; `names` are those visible before."""
        names = dict(names)
        for node in body:
            self._statement(node, names)
        return names

    def _statement(self, node: ast.stmt, names: dict[str, Any]) -> None:
        match node:
            case ast.Import():
                for alias in node.names:
                    target = alias.name if alias.asname else alias.name.split(".")[0]
                    names[alias.asname or target] = self._import(target)
            case ast.ImportFrom():
                for alias in node.names:
                    names[alias.asname or alias.name] = self._import_from(node, alias.name)
            case ast.Assign(targets=[ast.Name(id=name)]):
                names[name] = self._assigned(name, node.value, names)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                found = self._assigned(name, value, names)
                wrap = is_constexpr(node.annotation, _lookup(names)) and not isinstance(found, Unresolved)
                names[name] = language.constexpr(found) if wrap else found
            case ast.FunctionDef():
                names[node.name] = (
                    KernelName() if _is_jit(node, names) else Unresolved("it is an ordinary Python function")
                )
            case _:
                # What may or may not run, or runs often, leaves its names unknown; imports in it do count.
                inner = list(ast.walk(node))
                for name in _bound(inner):
                    names[name] = self._unknown(name, "it is set by code that is not executed here")
                for child in inner:
                    if isinstance(child, (ast.Import, ast.ImportFrom)):
                        self._statement(child, names)

    def _import(self, target: str) -> Any:
        return _MODULES.get(target, self._unknown(target, f"it is the module {target!r}, which kernels cannot use"))

    def _import_from(self, node: ast.ImportFrom, name: str) -> Any:
        path = f"{node.module}.{name}"
        if path in _MODULES:
            return _MODULES[path]
        module = _MODULES.get(node.module or "")
        if module is None or not hasattr(module, name):
            return self._unknown(name, f"it is imported from {node.module!r}")
        return getattr(module, name)

    def _assigned(self, name: str, expr: ast.expr, names: Mapping[str, Any]) -> Any:
        value = self.value(expr, names)
        return self._known.get(name, value) if isinstance(value, Unresolved) else value

    def value(self, expr: ast.expr, names: Mapping[str, Any]) -> Any:
        """The value of an expression that the kernel language can compute; else `Unresolved`."""
        is_wrapped = (
            isinstance(expr, ast.Call)
            and len(expr.args) == 1
            and resolve(expr.func, _lookup(names)) is language.constexpr
        )
        parser = ExpressionParser(self._positions)
        tree = parser.expr(expr)
        unknown = Unresolved(
            "it is set by code that is not executed here",
            "save the file to have it executed, or write it as a literal: NAME = tl.constexpr(3)",
        )
        if parser.diagnostics or any(isinstance(part, ast.List) for part in ast.walk(expr)):
            return unknown  # a kernel's list is a tuple, a module's is an object that may change
        semantics = Semantics(Kernel("", SourceUnit(self._path, "", 1, self._text), (), names))
        item = Evaluator(semantics).evaluate(tree).item
        if semantics.diagnostics or not isinstance(item, (Known, Tuple)):
            return unknown
        try:
            value = _plain(item)
        except CompileError:
            return unknown
        return language.constexpr(value) if is_wrapped else value


def _plain(item: Known | Tuple) -> Any:
    if isinstance(item, Known):
        return item.value
    items = [i for i in item.items if isinstance(i, (Known, Tuple))]
    return tuple(_plain(i) for i in items)


def _lookup(names: Mapping[str, Any]) -> Lookup:
    return lambda name: names.get(name, MISSING)


def _bound(inner: Iterable[ast.AST]) -> Iterator[str]:
    """The names that a statement, given as all its nodes, binds."""
    for child in inner:
        if isinstance(child, ast.Name) and isinstance(child.ctx, (ast.Store, ast.Del)):
            yield child.id
        elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield child.name
