"""Which functions of a file are kernels, told from their decorators, and what else those say."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import mytriton
from mytriton import language
from mytriton.frontend.kernel import HINT_FOR_FUNCTION, Helper, Kernel, Unresolved
from mytriton.frontend.names import last_name, lookup_among, resolve
from mytriton.frontend.syntax import FunctionNode

#: Stands for a function of the file that wraps `jit`; as a decorator it makes a kernel.
JIT_WRAPPER = object()


def is_jit(node: FunctionNode, names: Mapping[str, Any]) -> bool:
    """Whether one of the decorators is `jit`, or wraps it; what the others are does not matter."""
    for decorator in node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        if makes_kernels(resolve(target, lookup_among(names))):
            return True
    return False


def function_value(
    node: FunctionNode, names: Mapping[str, Any], read: Callable[[], Kernel], nodes: Callable[[ast.AST], list[ast.AST]]
) -> Any:
    """What a function of a file is to the kernels that name it; `read` takes it for a kernel, `nodes` walks it."""
    if is_jit(node, names):
        return Helper(read)
    decorators = [resolve(decorator, lookup_among(names)) for decorator in node.decorator_list]
    if any(value is mytriton.constexpr_function or value is language.constexpr for value in decorators):
        return Helper(read, compile_time=True)
    if wraps_jit(nodes(node), names):
        return JIT_WRAPPER
    helper = Helper(read, compile_time=True)
    return Unresolved("it is an ordinary Python function", HINT_FOR_FUNCTION, _returned(node), helper=helper)


def _returned(node: FunctionNode) -> ast.expr | None:
    """What a function without parameters or decorators returns, if it does nothing else."""
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    plain = not node.decorator_list and not any(ast.iter_child_nodes(node.args))
    return body[0].value if plain and len(body) == 1 and isinstance(body[0], ast.Return) else None


def makes_kernels(value: Any) -> bool:
    return value is mytriton.jit or value is JIT_WRAPPER


def wraps_jit(inner: Iterable[ast.AST], names: Mapping[str, Any]) -> bool:
    """Whether a function that is no kernel itself, given as all its nodes, applies `jit` to one of its parameters, or
    hands it on."""
    lookup = lookup_among(names)
    return any(
        makes_kernels(resolve(part, lookup) if isinstance(part, ast.Attribute) else names.get(part.id))
        for part in inner
        if isinstance(part, (ast.Name, ast.Attribute))
    )


def wrapped_later(tree: ast.Module, names: Mapping[str, Any], nodes: Callable[[ast.AST], list[ast.AST]]) -> set[str]:
    """Names of functions that are made kernels by a call: `kernel = triton.jit(function)`. No kernel calls `jit`.
    `nodes` walks a statement."""
    lookup = lookup_among(names)
    others = (s for s in tree.body if not (isinstance(s, FunctionNode) and is_jit(s, names)))
    calls = (part for statement in others for part in nodes(statement) if isinstance(part, ast.Call))
    return {
        call.args[0].id
        for call in calls
        if len(call.args) == 1 and isinstance(call.args[0], ast.Name) and resolve(call.func, lookup) is mytriton.jit
    }


#: The options of `jit` that name parameters of whose values nothing is to be assumed.
UNSPECIALIZED = ("do_not_specialize", "do_not_specialize_on_alignment")


def not_specialized(node: FunctionNode) -> list[Any]:
    """The parameters, by name or number, that a `jit(do_not_specialize=[...])` decorator names as literals."""
    found: list[Any] = []
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and last_name(decorator.func) == "jit":
            given = [k.value for k in decorator.keywords if k.arg in UNSPECIALIZED]
            items = [e for value in given if isinstance(value, (ast.List, ast.Tuple)) for e in value.elts]
            found += [item.value for item in items if isinstance(item, ast.Constant)]
    return found


#: What a `Config` in a file's text gives parameters, and its other arguments by name.
WrittenConfig: TypeAlias = "tuple[dict[str, ast.expr], dict[str, ast.expr]]"


def written_configs(node: FunctionNode) -> list[WrittenConfig]:
    """The configs of an `autotune(configs=[...])` decorator; none if one of them is not written out."""
    found = _configs(node)
    return [config for config in found if config is not None] if None not in found else []


def first_config(node: FunctionNode) -> dict[str, ast.expr]:
    """What the first of them gives parameters, whatever the others are."""
    first = next(iter(_configs(node)), None)
    return first[0] if first is not None else {}


def _configs(node: FunctionNode) -> list[WrittenConfig | None]:
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and last_name(decorator.func) == "autotune":
            given = [*decorator.args[:1], *(k.value for k in decorator.keywords if k.arg == "configs")]
            return [_written(e) for e in given[0].elts] if given and isinstance(given[0], ast.List | ast.Tuple) else []
    return []


def _written(node: ast.expr) -> WrittenConfig | None:
    if not isinstance(node, ast.Call):
        return None
    names = ("kwargs", "num_warps", "num_stages", "num_ctas", "maxnreg")
    given = {**dict(zip(names, node.args, strict=False)), **{k.arg: k.value for k in node.keywords if k.arg}}
    kwargs = given.pop("kwargs", None)
    if not isinstance(kwargs, ast.Dict):
        return None
    pairs = zip(kwargs.keys, kwargs.values, strict=True)
    return {k.value: v for k, v in pairs if isinstance(k, ast.Constant) and isinstance(k.value, str)}, given
