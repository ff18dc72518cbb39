"""A kernel file as it can be read without executing it, and what executing it adds."""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from explorer.engine.configs import written
from explorer.engine.plain import from_plain
from explorer.engine.views import diagnostic_view
from explorer.model.result import KernelInfo, ModuleInfo, ParamView
from mytriton.diagnostics import CompileError, Diagnostic
from mytriton.frontend.kernel import MISSING, Kernel, KernelParam
from mytriton.frontend.module import Module, read_module

_PLAIN = (bool, int, float, str)


def read(text: str, path: str, names: Mapping[str, Any] | None = None) -> Module:
    """The kernels of a text; `names` are the globals that executing the file gave, as `plain.to_plain` writes them.
    Raises `CompileError` if it is not Python."""
    return read_module(text, path, {name: from_plain(value) for name, value in (names or {}).items()})


def choose_kernel(module: Module, name: str | None) -> Kernel:
    """The kernel called `name`, or the first that is no helper; raises `CompileError` with what to do."""
    names = [k.name for k in module.kernels]
    if not names:
        hint = "decorate a function with @mytriton.jit"
        raise CompileError([Diagnostic("MT971", "there is no kernel in this file", hint=hint, stage="source")])
    if name is None:
        return next((k for k in module.kernels if not _is_helper(k, module)), module.kernels[0])
    found = next((k for k in module.kernels if k.name == name), None)
    if found is None:
        near = get_close_matches(name, names, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(names)}"
        raise CompileError([Diagnostic("MT972", f"this file has no kernel {name!r}", hint=hint, stage="source")])
    return found


def _is_helper(kernel: Kernel, module: Module) -> bool:
    """Whether another kernel of the file calls it."""
    return any(kernel.name in other.names for other in module.kernels if other is not kernel)


def changed_outside(executed: str, text: str, module: Module) -> bool:
    """Whether something that only executing the file can tell differs between the executed text and the one that
    `module` was read from."""
    try:
        before = _executed(executed, module.path)
        # Most of what is typed is typed in kernels: then the lines around them tell, and no syntax has to be compared.
        if _around(executed, before) == _around(text, module):
            return False
        return _rest(executed, before) != _rest(text, module)
    except (SyntaxError, CompileError):
        return True


@functools.lru_cache(maxsize=1)
def _executed(text: str, path: str) -> Module:
    return read(text, path)


def _around(text: str, module: Module) -> list[str]:
    """The lines of a file between its kernels; one inside another function is part of that."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for unit in reversed([k.unit for k in module.kernels if not k.unit.text[:1].isspace()]):
        lines[unit.first_line - 1 : unit.first_line + unit.text.count("\n")] = [unit.name]
    return lines


def _rest(text: str, module: Module) -> str:
    """The statements of a file that are not re-read while typing: all but kernels and literal globals. Positions and
    comments do not count."""
    kernels = {k.unit.first_line for k in module.kernels}
    rest = [node for node in ast.parse(text).body if not _is_kernel(node, kernels) and not _is_literal(node)]
    return ast.dump(ast.Module(rest, []))


def _is_kernel(node: ast.stmt, kernels: set[int]) -> bool:
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    return isinstance(node, ast.FunctionDef) and first in kernels


def _is_literal(node: ast.stmt) -> bool:
    """An assignment of a number or string, also wrapped in `tl.constexpr(...)`."""
    if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
        return False
    value = node.value
    if isinstance(value, ast.Call) and len(value.args) == 1 and not value.keywords:
        name = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
        value = value.args[0] if name == "constexpr" else value
    try:
        ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def module_info(text: str, path: str) -> ModuleInfo:
    """What can be read: kernels and parameters, or why there are none."""
    try:
        module = read(text, path)
    except CompileError as error:
        return ModuleInfo(path, diagnostics=tuple(diagnostic_view(d, error.units, path) for d in error.diagnostics))
    return ModuleInfo(path, tuple(_kernel_info(k, module) for k in module.kernels))


def _kernel_info(kernel: Kernel, module: Module) -> KernelInfo:
    lines = kernel.unit.text.split("\n")
    at = next((i for i, line in enumerate(lines) if line.lstrip().startswith(("def ", "async def "))), 0)
    params = tuple(_param_view(p) for p in kernel.params)
    first, helper = kernel.unit.first_line, _is_helper(kernel, module)
    lines_ = len(kernel.unit.text.rstrip().split("\n"))
    return KernelInfo(kernel.name, first + at, params, helper=helper, lines=lines_, configs=written(kernel))


def _param_view(param: KernelParam) -> ParamView:
    default = "" if param.default is MISSING else repr(param.default)
    return ParamView(param.name, param.is_constexpr, default, param.type)
