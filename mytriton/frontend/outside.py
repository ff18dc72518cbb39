"""What a kernel may use from outside: the language, `math`, dtypes, numbers and `tl.constexpr` globals."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping
from difflib import get_close_matches
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import mytriton
from mytriton import language
from mytriton.frontend import (  # noqa: F401 (they fill the table)
    assembly,
    atomics,
    builtins,
    casts,
    dots,
    host,
    libdevice,
    lookups,
    maps,
    mathematics,
    memory,
    orders,
    randoms,
    rare,
    reductions,
    scaled_dots,
    scans,
    shapes,
    windows,
)
from mytriton.frontend.kernel import HINT_FOR_FUNCTION, FileModule, Unresolved, hint_for_module, is_kernel
from mytriton.frontend.not_yet import LIBDEVICE, NOT_YET
from mytriton.frontend.registry import FUNCTIONS, LOOPS
from mytriton.frontend.tree import Attribute, Name
from mytriton.frontend.values import Item, Known, Mistake, Tuple, is_number
from mytriton.language.compile_time import ConstexprFunction
from mytriton.numbers import is_numpy_scalar
from mytriton.source import Span
from mytriton.types import PointerType, ScalarType

#: What `tl.math.exp` goes through, and the names each has for kernels.
_EXTRA = language.extra
_LANGUAGE = (
    language,
    language.math,
    language.core,
    language.standard,
    _EXTRA,
    _EXTRA.libdevice,
    _EXTRA.cuda,
    _EXTRA.cuda.libdevice,
)
_MODULES = (mytriton, *_LANGUAGE, math)

#: The classes of other compile-time values that a kernel may name.
#: What to write instead of Python's own functions.
_INSTEAD = {
    "all": "the least of a block of bools is tl.min(x.to(tl.int32)), 1 if all hold",
    "any": "that any holds: tl.reduce_or(x, axis)",
    "divmod": "write x // y and x % y",
    "enumerate": "count with tl.static_range(len(t)), and take t[i]",
    "pow": "write x * x, or tl.pow(x, y) of floats",
    "reversed": "tl.flip(x) turns a block around",
    "sorted": "tl.sort(x) sorts a block",
    "sum": "tl.sum(x, axis) adds up a block; of numbers write a + b",
    "type": "ask x.dtype",
    "zip": "count with tl.static_range(len(t)), and take t[i] and u[i]",
}
_DATA = (ScalarType, PointerType, language.PropagateNan)


def as_item(value: Any) -> Item:
    """A compile-time value as an item; tuples and lists open up."""
    if isinstance(value, language.constexpr):
        value = value.value
        if isinstance(value, FunctionType) and value not in FUNCTIONS:  # `@tl.constexpr` above a Python function
            value = ConstexprFunction(value)
    return Tuple(tuple(as_item(v) for v in value)) if isinstance(value, (tuple, list)) else Known(value)


def outside_item(name: str, value: Any, span: Span) -> Item:
    """A global, closure variable or builtin as an item."""
    if isinstance(value, language.constexpr):
        return as_item(value)
    if is_number(value) or value is None or isinstance(value, _DATA) or _is_callable_here(value):
        return Known(value)
    if is_numpy_scalar(value) and is_number(value.item()):
        return Known(value.item())
    if isinstance(value, ModuleType) and any(value is module for module in _MODULES):
        return Known(value)
    if isinstance(value, Unresolved):
        raise Mistake("MT133", f"the value of `{name}` is not known: {value.reason}", span, value.hint)
    is_module = isinstance(value, (ModuleType, FileModule))
    what = "module" if is_module else type(value).__name__
    if callable(value) and not is_module:
        message = f"`{name}` cannot be called in a kernel"
        hint = HINT_FOR_FUNCTION
        if getattr(value, "__module__", None) == "builtins":
            hint = _INSTEAD.get(name, "Python's own functions are not part of the kernel language")
        raise Mistake("MT132", message, span, hint)
    hint = "pass it as an argument"
    if is_module:
        hint = hint_for_module(value.name if isinstance(value, FileModule) else value.__name__)
    if isinstance(value, (str, tuple)):
        hint = f"write {name} = tl.constexpr({value!r}), or pass it as an argument"
    message = f"`{name}` is a global {what}; a kernel reads only numbers and tl.constexpr globals"
    raise Mistake("MT132", message, span, hint)


def module_member(expr: Attribute, names: Mapping[str, Any], hidden: Container[str]) -> Item | None:
    """What `module.name` stands for, of a module of the author's (see `Kernel.names`); None for any other attribute.
    `hidden` are the names that are not those outside."""
    path, base = [expr.name], expr.base
    while isinstance(base, Attribute):
        path.append(base.name)
        base = base.base
    if not isinstance(base, Name) or base.id in hidden:
        return None
    spelled = ".".join([base.id, *reversed(path)])
    return outside_item(spelled, names[spelled], expr.span) if spelled in names else None


def member_item(module: ModuleType, name: str, spelled: str, span: Span) -> Item:
    """`module.name`, which the author spelled `spelled`, as an item."""
    if module is language.core and name not in module.__all__:
        module = language
    of_language = any(module is one for one in _LANGUAGE)
    missing = LIBDEVICE if module.__name__.endswith(".libdevice") else NOT_YET
    if of_language and name in missing:
        raise Mistake("MT135", f"`{spelled}` is not supported yet", span, missing[name])
    names = module.__all__ if of_language else dir(module)
    if name not in names:
        near = get_close_matches(name, names, 1)
        hint = f"help({module.__name__}) lists what there is" if of_language else ""
        if module is _EXTRA:
            hint = f"every vendor's libdevice is {spelled[: -len(name)]}libdevice here"
        elif name.startswith("_experimental_"):
            hint = "Triton itself renamed it: make_tensor_descriptor, and d.load(offsets) of what that gives"
        elif near:
            hint = f"did you mean `{spelled[: -len(name)]}{near[0]}`?"
        if of_language and name in (*_EXTRA.libdevice.__all__, "libdevice"):  # where Triton 2 had it
            hint = f"it is in libdevice: from {language.__name__}.extra import libdevice"
        raise Mistake("MT135", f"there is no `{spelled}`", span, hint)
    value = getattr(module, name)
    return Known(value) if value is language else outside_item(spelled, value, span)


def _is_callable_here(value: Any) -> bool:
    """Whether a value is one of the functions kernels may name. Only plain functions and classes are looked up, since
    hashing and comparing other objects would run their code."""
    if is_kernel(value) or type(value) is ConstexprFunction:
        return True
    plain = isinstance(value, (FunctionType, BuiltinFunctionType, type))
    return plain and (value in FUNCTIONS or value in LOOPS or value is language.PropagateNan)
