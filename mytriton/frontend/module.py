"""A kernel file read without executing it: its kernels, and the values of globals that can be told from the text.

`import triton` and `import triton.language` are taken to mean this package, so files of Triton kernels open where
Triton is not installed.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mytriton import language
from mytriton.diagnostics import CompileError
from mytriton.frontend.conditions import condition, told
from mytriton.frontend.decorators import (
    first_config,
    function_value,
    is_jit,
    makes_kernels,
    not_specialized,
    wrapped_later,
)
from mytriton.frontend.evaluate import Evaluator
from mytriton.frontend.expressions import ExpressionParser
from mytriton.frontend.kernel import MISSING, FileModule, Kernel, Unresolved, hint_for_module, unspecialized
from mytriton.frontend.libraries import assumed, choose, depending, may_be_told, module_named, simplified
from mytriton.frontend.names import bound_in, is_constexpr, lookup_among, outside_names, parameters, resolve
from mytriton.frontend.package import Stamp, imported_file, spelled_import, stamp_of
from mytriton.frontend.semantics import Semantics
from mytriton.frontend.syntax import FunctionNode, Positions, functions, nodes, parse_text, unit_of
from mytriton.frontend.values import Known, Tuple
from mytriton.records import dataclass
from mytriton.source import SourceUnit


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

    Globals are imports of this package, `triton` or `math`, of files beside this one or in its package (read the same
    way), and what follows from literals with arithmetic, `tl.*` dtypes, `tl.constexpr(...)`, `triton.cdiv`, `math.*`,
    `min`, `max` and the like. Any other global keeps the value it has in `known` (from an earlier execution); without
    one its use in a kernel is an error. A constexpr parameter takes the value of the first `Config` of an
    `autotune(configs=[...])`, if that is written out. Raises `CompileError` for text that is not Python.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    tree = parse_text(text, SourceUnit(path, path, 1, text))
    file = _File(text, path, known or {})
    top = file.scope(tree.body, {})
    wrapped = wrapped_later(tree, top, file.nodes)
    kernels = []
    for node, outer in functions(tree):
        names = top
        if node.decorator_list:
            for function in outer:
                names = file.scope(function.body, {**names, **file.parameters(function)})
        if is_jit(node, names) or (not outer and node.name in wrapped):
            kernels.append(file.kernel(node, names))
    return Module(path, tuple(kernels))


class _File:
    def __init__(self, text: str, path: str, known: Mapping[str, Any], files: ImportedFiles | None = None) -> None:
        self.files = files or ImportedFiles()
        self.nodes = functools.cache(nodes)  # each statement is asked several things
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

        config = {name: default(value) for name, value in first_config(node).items()}
        params = parameters(node, positions, lookup, default)
        params = tuple(replace(p, default=config.get(p.name, p.default)) if p.is_constexpr else p for p in params)
        kernel = Kernel(node.name, unit, params, outside_names(node, lookup)[1], node)
        return unspecialized(kernel, not_specialized(node))

    def parameters(self, node: FunctionNode) -> dict[str, Any]:
        """The parameters of an enclosing function, which have no value before it is called."""
        arguments = node.args
        return {
            a.arg: self._unknown(a.arg, "it is a parameter of the function around the kernel")
            for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        }

    def _unknown(self, name: str, reason: str, found: Unresolved | None = None) -> Any:
        if found is not None and found.hint:
            return self._known.get(name, found)
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
            case ast.ImportFrom(names=[ast.alias(name="*")]):
                names.update((n, v) for n, v in self._imported(node).items() if not n.startswith("_"))
            case ast.ImportFrom():
                for alias in node.names:
                    names[alias.asname or alias.name] = self._import_from(node, alias.name)
            case ast.Assign(targets=[ast.Name(id=name)]):
                names[name] = self._assigned(name, node.value, names)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                found = self._assigned(name, value, names)
                wrap = is_constexpr(node.annotation, lookup_among(names)) and not isinstance(found, Unresolved)
                names[name] = language.constexpr(found) if wrap else found
            case ast.FunctionDef():
                names[node.name] = function_value(node, names, functools.partial(self.kernel, node, names), self.nodes)
            case ast.If() if (holds := condition(node.test, lookup_among(names))) is not None:
                for child in node.body if holds else node.orelse:
                    self._statement(child, names)
            case ast.If() if _of_the_main_program(node.test):
                self._unrun(node, names)
            case ast.If():
                ways = [self.scope(body, names) for body in (node.orelse, node.body)]
                self._unrun(node, names)
                choose(names, ways, node.test)
            case ast.Try():
                failing = any(self._fails(child) for child in node.body)
                chosen = (h.body for h in node.handlers[:1]) if failing else (node.body, node.orelse)
                for body in (*chosen, node.finalbody):
                    for child in body:
                        self._statement(child, names)
                if not failing and node.handlers:
                    choose(names, [self.scope(node.handlers[0].body, names)])
            case _:
                self._unrun(node, names)

    def _unrun(self, node: ast.stmt, names: dict[str, Any]) -> None:
        """What may or may not run, or runs often, leaves its names unknown; imports in it do count."""
        inner = self.nodes(node)
        for name in bound_in(inner):
            names[name] = self._unknown(name, "it is set by code that is not executed here")
        for part in inner:
            if isinstance(part, (ast.Import, ast.ImportFrom)):
                self._statement(part, names)

    def _fails(self, node: ast.stmt) -> bool:
        """Whether an import finds nothing here, so that the statement after `except` runs."""
        if isinstance(node, ast.Import):
            return any(
                module_named(a.name) is None and imported_file(self._path, a.name, 0) is None for a in node.names
            )
        if isinstance(node, ast.ImportFrom):
            unknown = (isinstance(self._import_from(node, a.name), Unresolved) for a in node.names if a.name != "*")
            return any(unknown) and not self._imported(node)
        return False

    def _import(self, target: str) -> Any:
        if (module := module_named(target)) is not None:
            return module
        reason = f"it is the module {target!r}, which kernels cannot use"
        unknown = Unresolved(reason, hint_for_module(target))
        return self._known.get(target, self._module(target, 0) or unknown)

    def _module(self, module: str, level: int) -> FileModule | None:
        """A module that is a file beside this one or in its package."""
        file = imported_file(self._path, module, level)
        return None if file is None else FileModule(module, self.files.names(file))

    def _import_from(self, node: ast.ImportFrom, name: str) -> Any:
        if not node.level:
            if (named := module_named(f"{node.module}.{name}")) is not None:
                return named
            module = module_named(node.module or "")
            if module is not None and hasattr(module, name):
                return getattr(module, name)
        found = self._imported(node).get(name, MISSING)
        if found is MISSING:
            unknown = Unresolved(f"it is imported from {spelled_import(node)!r}")
            found = self._module(f"{node.module or ''}.{name}".lstrip("."), node.level) or unknown
        return self._unknown(name, found.reason, found) if isinstance(found, Unresolved) else found

    def _imported(self, node: ast.ImportFrom) -> Mapping[str, Any]:
        """The names of a file that this one imports from; none if it is not in the same folder or package."""
        file = imported_file(self._path, node.module or "", node.level)
        return self.files.names(file) if file is not None else {}

    def _assigned(self, name: str, expr: ast.expr, names: Mapping[str, Any]) -> Any:
        named = resolve(expr, lookup_among(names))  # `jit = triton.jit`
        if makes_kernels(named):
            return named
        value = self.value(expr, names)
        if isinstance(value, Unresolved):
            if name in self._known:
                return self._known[name]
            found = told(expr, lookup_among(names))
            if isinstance(found, bool):
                return found
            if may_be_told(self.nodes(expr)):
                other, test = assumed(expr, lookup_among(names))
                return value if test is None else depending(value, self.value(other, names), test)
        return value

    def value(self, expr: ast.expr, names: Mapping[str, Any]) -> Any:
        """The value of an expression that the kernel language can compute; else `Unresolved`."""
        is_wrapped = (
            isinstance(expr, ast.Call)
            and len(expr.args) == 1
            and resolve(expr.func, lookup_among(names)) is language.constexpr
        )
        parser = ExpressionParser(self._positions)
        inner = self.nodes(expr)
        if may_be_told(inner):
            expr = simplified(expr, lookup_among(names))
            inner = nodes(expr)
        tree = parser.expr(expr)
        unknown = Unresolved(
            "it is set by code that is not executed here",
            "save the file to have it executed, or write it as a literal: NAME = tl.constexpr(3)",
        )
        if parser.diagnostics or any(isinstance(part, ast.List) for part in inner):
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


class ImportedFiles:
    """The files that one reading of a module goes through: `stamps` say which they are, and in which version."""

    def __init__(self) -> None:
        self.stamps: dict[Path, Stamp] = {}
        self._open: set[Path] = set()

    def names(self, file: Path) -> Mapping[str, Any]:
        """The global names of a file; none while it is being read already (files may import each other), or if it
        cannot be read."""
        stamp = stamp_of(file)
        if stamp is None or file in self._open:
            return {}
        kept = _names_of_files.get(file)
        if kept is None or any(stamp_of(f) != s for f, s in kept[1].items()):
            kept = self._read(file, stamp)
            _names_of_files[file] = kept
        self.stamps.update(kept[1])
        return kept[0]

    def _read(self, file: Path, stamp: Stamp) -> tuple[Mapping[str, Any], dict[Path, Stamp]]:
        inner = ImportedFiles()
        inner.stamps[file] = stamp
        inner._open = self._open | {file}
        try:
            text = file.read_text(encoding="utf-8").replace("\r\n", "\n").replace("\r", "\n")
            tree = parse_text(text, SourceUnit(str(file), str(file), 1, text))
        except (OSError, UnicodeDecodeError, CompileError):
            return {}, inner.stamps  # the import fails then, and each name of it is unknown
        return _File(text, str(file), {}, inner).scope(tree.body, {}), inner.stamps


#: The names of files that others import, as long as they and what they import in turn are unchanged.
_names_of_files: dict[Path, tuple[Mapping[str, Any], dict[Path, Stamp]]] = {}


def _of_the_main_program(test: ast.expr) -> bool:
    """Whether a condition is `__name__ == "__main__"`. No kernel needs what such a program sets, and it may be long."""
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"


def _plain(item: Known | Tuple) -> Any:
    if isinstance(item, Known):
        return item.value
    items = [i for i in item.items if isinstance(i, (Known, Tuple))]
    return tuple(_plain(i) for i in items)
