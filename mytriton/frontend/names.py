"""Which outside names a kernel uses, and what a parameter's annotation says."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any

from mytriton import language, types
from mytriton.frontend.kernel import MISSING, FileModule, KernelParam, is_kernel
from mytriton.frontend.syntax import FunctionNode, Positions, nodes
from mytriton.language.compile_time import ConstexprFunction
from mytriton.types import ScalarType

#: Looks a name up outside the kernel; `MISSING` if there is none.
Lookup = Callable[[str], Any]

#: Triton's spelling of a scalar type in a signature, with ours beside it.
SIGNATURE_TYPES: dict[str, ScalarType] = {
    "i1": types.i1,
    **{type_.name: type_ for type_ in types.INTEGERS},
    "fp8e4nv": types.f8e4nv,
    "fp8e5": types.f8e5,
    "fp16": types.f16,
    "bf16": types.bf16,
    "fp32": types.f32,
    "fp64": types.f64,
    "f8e4nv": types.f8e4nv,
    "f8e5": types.f8e5,
    "f16": types.f16,
    "f32": types.f32,
    "f64": types.f64,
}


def split_signature(signature: str) -> list[str]:
    """The entries between commas, except commas inside brackets or quotes."""
    entries, depth, quote = [""], 0, ""
    for c in signature:
        if quote:
            quote = "" if c == quote else quote
        elif c in "\"'":
            quote = c
        else:
            depth += (c in "([<") - (c in ")]>")
        if c == "," and not depth and not quote:
            entries.append("")
        else:
            entries[-1] += c
    return [entry.strip() for entry in entries]


def used_names(node: FunctionNode) -> tuple[str, ...]:
    """The names the body reads that no parameter or assignment of the function binds, in order of first use."""
    arguments = node.args
    bound = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    read: dict[str, None] = {}
    for part in node.body:
        for name in nodes(part):
            if isinstance(name, ast.Name):
                if isinstance(name.ctx, ast.Load):
                    read[name.id] = None
                else:
                    bound.add(name.id)
    # A name that is assigned anywhere is local everywhere, as in Python.
    return tuple(n for n in read if n not in bound)


def bound_in(inner: Iterable[ast.AST]) -> Iterator[str]:
    """The names that a statement, given as all its nodes, binds."""
    for child in inner:
        if isinstance(child, ast.Name):
            if not isinstance(child.ctx, ast.Load):
                yield child.id
        elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield child.name


def outside_names(node: FunctionNode, lookup: Lookup) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The outside names a body uses, and the values of those that have one. Of the author's own modules these include
    the members that the body names, as `module.name`."""
    used = used_names(node)
    modules = {name for name in used if _is_authors(lookup(name))}
    if modules:
        members = (_dotted(part) for statement in node.body for part in nodes(statement))
        used += tuple(dict.fromkeys(m for m in members if "." in m and m.split(".")[0] in modules))
    found = {name: value_of(name, lookup) for name in used}
    return used, {name: value for name, value in found.items() if value is not MISSING}


def value_of(name: str, lookup: Lookup) -> Any:
    """The value of an outside name, or of `module.name`; `MISSING` if there is none, or no kernel can use it."""
    if "." not in name:
        return lookup(name)
    first, *rest = name.split(".")
    value = lookup(first)
    for part in rest:
        if not _is_authors(value):
            return MISSING
        value = (value.names if isinstance(value, FileModule) else vars(value)).get(part, MISSING)
    usable = is_kernel(value) or isinstance(value, (bool, int, float, language.constexpr, ConstexprFunction))
    return value if usable else MISSING


def _is_authors(value: Any) -> bool:
    """Whether a value is a module that the author wrote, or installed."""
    ours = isinstance(value, ModuleType) and value.__name__.split(".")[0] in ("mytriton", "math")
    return isinstance(value, (ModuleType, FileModule)) and not ours


def _dotted(node: ast.AST) -> str:
    """A dotted name as it is written; '' for what is not one."""
    path: list[str] = []
    while isinstance(node, ast.Attribute):
        path.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(path)]) if isinstance(node, ast.Name) else ""


def lookup_among(names: Mapping[str, Any]) -> Lookup:
    """Looks names up in a table."""
    return lambda name: names.get(name, MISSING)


def last_name(node: ast.expr | None) -> str:
    """The last part of a dotted name; '' if the expression is not one."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def resolve(node: ast.expr | None, lookup: Lookup) -> Any:
    """The object a dotted name stands for; `MISSING` if it is not one, or unknown. Runs no code of the author's."""
    path: list[str] = []
    while isinstance(node, ast.Attribute):
        path.append(node.attr)
        node = node.value
    return member(lookup(node.id), reversed(path)) if isinstance(node, ast.Name) else MISSING


def member(value: Any, path: Iterable[str]) -> Any:
    """What a value has under a dotted name; `MISSING` if there is none."""
    for name in path:
        if value is MISSING:
            return MISSING
        value = getattr(value, name, MISSING)
    return value


def is_constexpr(node: ast.expr | None, lookup: Lookup) -> bool:
    """Whether an annotation is `tl.constexpr`, under any alias, also as a string."""
    if node is None:
        return False
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        first, *rest = node.value.strip().split(".")
        found, last = member(lookup(first), rest), (first, *rest)[-1]
    else:
        found, last = resolve(node, lookup), last_name(node)
    if found is not MISSING:
        return found is language.constexpr
    # `tl` may be imported in a function that encloses the kernel and then be invisible to it; the spelling decides.
    return last == "constexpr"


def _written_type(node: ast.expr | None, lookup: Lookup) -> str:
    """An annotation that states a runtime type, in the notation of signatures: `"*fp32"`, `tl.int32`; else ''."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value.strip()
        return text if text.lstrip("*").split(":")[0].strip() in SIGNATURE_TYPES else ""
    found = resolve(node, lookup)
    if found is MISSING:
        return ""
    return next((name for name, type_ in SIGNATURE_TYPES.items() if found is type_), "")


def parameters(
    node: FunctionNode, positions: Positions, lookup: Lookup, default: Callable[[ast.expr], Any]
) -> tuple[KernelParam, ...]:
    """The parameters in call order; `default` evaluates a default's expression."""
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    padding: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    pairs: Iterator[tuple[ast.arg, ast.expr | None]] = iter(
        [
            *zip(positional, [*padding, *arguments.defaults], strict=True),
            *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
        ]
    )
    return tuple(
        KernelParam(
            argument.arg,
            is_constexpr(argument.annotation, lookup),
            MISSING if value is None else default(value),
            positions.span(argument),
            _written_type(argument.annotation, lookup),
        )
        for argument, value in pairs
    )
