"""The names of the kernel language with signatures and what their docstrings begin with: what completion offers.

`mytriton.language` is imported when a name is first asked for: 10 ms, which the start need not pay.
"""

from __future__ import annotations

import inspect
import re
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from mytriton.records import dataclass

LANGUAGE = "mytriton.language"
LIBDEVICE = "mytriton.language.extra.libdevice"
#: The package that kernel files import; what they call `triton` is taken to be it.
PACKAGE = "mytriton"

#: Functions of Python's own that kernels may call.
_BUILTINS = {
    "abs": ("abs(x)", "|x|, of a constexpr or elementwise."),
    "bool": ("bool(x)", "A constexpr as True or False."),
    "float": ("float(x)", "A constexpr as a float; run-time values: x.to(tl.float32)."),
    "int": ("int(x)", "A constexpr as an integer; run-time values: x.to(tl.int32)."),
    "isinstance": ("isinstance(x, classes)", "Whether a constexpr is of a class; of tl.constexpr: whether x is one."),
    "len": ("len(x)", "The number of items of a tuple or shape, a constexpr."),
    "max": ("max(x, y, ...)", "The largest, of constexprs as in Python, else elementwise as `tl.maximum`."),
    "min": ("min(x, y, ...)", "The smallest, of constexprs as in Python, else elementwise as `tl.minimum`."),
    "print": ("print(prefix, ...)", "`tl.device_print`: every element with its program and index."),
    "range": ("range(start, end, step=1)", "A loop at run time, as `tl.range`."),
    "round": ("round(x, digits=None)", "A constexpr rounded as Python does."),
}

#: Functions of a block that are methods of it, too, and what else stands after the dot of a run-time value.
_METHODS = """
    abs advance argmax argmin associative_scan atomic_add atomic_and atomic_cas atomic_max atomic_min atomic_or
    atomic_xchg atomic_xor broadcast_to cast cdiv ceil cos cumprod cumsum erf exp exp2 expand_dims flip floor gather
    histogram log log2 max min permute ravel reduce reduce_or reshape rsqrt sigmoid sin softmax sort split sqrt sqrt_rn
    store sum tanh topk trans view xor_sum
"""
_ATTRIBUTES = {
    "T": "The transposed block: `tl.trans(x)`.",
    "dtype": "The type of the elements.",
    "numel": "The number of elements, a constexpr.",
    "shape": "The extents, a tuple of constexprs.",
    "type": "The type of the value itself.",
}
_OWN_METHODS = {
    "item": ("item()", "The only element, as a scalar."),
    "logical_and": ("logical_and(other)", "True where neither is 0."),
    "logical_or": ("logical_or(other)", "True where one of them is not 0."),
    "to": ("to(dtype, fp_downcast_rounding=None, bitcast=False)", "The elements converted to another type."),
}


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that can be written at a place. `kind` is a word for it, `signature` how it is called or what it is,
    `doc` a sentence; `not_yet` says what to write instead of what this compiler does not take yet."""

    name: str
    kind: str
    signature: str = ""
    doc: str = ""
    not_yet: str = ""


def first_sentence(doc: str | None) -> str:
    """What a docstring begins with, in one line."""
    text = " ".join((doc or "").split())
    found = re.match(r"(.+?\.)(?= [A-Z`]|$)", text)
    return found[1] if found else text


def parameters(function: Any) -> list[str]:
    """A function's parameters as they are written, without annotations."""
    written = []
    found = list(inspect.signature(function).parameters.values())
    for number, p in enumerate(found):
        named = p.kind is p.KEYWORD_ONLY
        if named and (number == 0 or found[number - 1].kind not in (p.KEYWORD_ONLY, p.VAR_POSITIONAL)):
            written.append("*")
        stars = "*" if p.kind is p.VAR_POSITIONAL else "**" if p.kind is p.VAR_KEYWORD else ""
        default = "" if p.default is p.empty else f"={_default(p.default)}"
        written.append(f"{stars}{p.name}{default}")
    return written


def _default(value: Any) -> str:
    return str(value) if hasattr(value, "name") and not isinstance(value, type) else repr(value)


def is_module(path: str) -> bool:
    """Whether names can be offered after `path` and a dot."""
    return path == PACKAGE or path in (LANGUAGE, f"{LANGUAGE}.math", f"{LANGUAGE}.extra", LIBDEVICE)


def canonical(path: str) -> str:
    """The module that a name imported in a kernel file is taken to mean: `triton` is us, libdevice stands in places."""
    head, _, rest = path.partition(".")
    path = f"{PACKAGE}.{rest}".rstrip(".") if head == "triton" else path
    return LIBDEVICE if re.fullmatch(rf"{LANGUAGE}\.extra(\.cuda)?\.libdevice|{LANGUAGE}\.libdevice", path) else path


@cache
def members(path: str) -> tuple[Entry, ...]:
    """What stands after a module's name and a dot, sorted; first what there is, then what is not yet."""
    if path == PACKAGE:
        return _package()
    module = import_module(path)
    if path == f"{LANGUAGE}.extra":
        return (Entry("libdevice", "module", "libdevice", first_sentence(import_module(LIBDEVICE).__doc__)),)
    found = [_entry(name, getattr(module, name), path) for name in module.__all__]
    from mytriton.frontend.not_yet import LIBDEVICE as MISSING_THERE
    from mytriton.frontend.not_yet import NOT_YET

    missing = {LANGUAGE: NOT_YET, LIBDEVICE: MISSING_THERE}.get(path, {})
    found += [Entry(name, "not yet", name, not_yet=hint) for name, hint in missing.items()]
    return tuple(sorted(found, key=lambda e: (bool(e.not_yet), e.name.lower(), e.name)))


def _package() -> tuple[Entry, ...]:
    """The package's own names. Those that would load the compiler when they are looked at are named only."""
    module, language = import_module(PACKAGE), import_module(LANGUAGE)
    entries = []
    for name in module.__all__:
        if name == "language":
            entries.append(Entry(name, "module", name, first_sentence(language.__doc__)))
        elif hasattr(language, name):
            entries.append(_entry(name, getattr(language, name), PACKAGE))
        else:
            entries.append(Entry(name, "class" if name[0].isupper() else "function", name))
    return tuple(sorted(entries, key=lambda e: (e.name.lower(), e.name)))


def _entry(name: str, value: Any, path: str) -> Entry:
    if isinstance(value, ModuleType):
        return Entry(name, "module", name, first_sentence(value.__doc__))
    if inspect.isfunction(value):
        return Entry(name, "function", f"{name}({', '.join(parameters(value))})", first_sentence(value.__doc__))
    if isinstance(value, type):
        return Entry(name, "class", name, first_sentence(value.__doc__))
    if type(value).__name__ == "ScalarType":
        return Entry(name, "type", name, f"The element type {name}, {value.bits} bits wide.")
    return Entry(name, "value", f"{name} = {value}")


def python_builtins() -> tuple[Entry, ...]:
    """Python's own functions that kernels may call."""
    return tuple(Entry(name, "builtin", signature, doc) for name, (signature, doc) in _BUILTINS.items())


@cache
def value_members() -> tuple[Entry, ...]:
    """What stands after the dot of a run-time value."""
    language = import_module(LANGUAGE)
    entries = [Entry(name, "attribute", name, doc) for name, doc in _ATTRIBUTES.items()]
    entries += [Entry(name, "method", signature, doc) for name, (signature, doc) in _OWN_METHODS.items()]
    for name in _METHODS.split():
        function = getattr(language, name)
        rest = ", ".join(parameters(function)[1:])
        entries.append(Entry(name, "method", f"{name}({rest})", first_sentence(function.__doc__)))
    return tuple(sorted(entries, key=lambda e: (e.name.lower(), e.name)))
