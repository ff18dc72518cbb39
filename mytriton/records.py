"""The compiler's own dataclasses: frozen for the type checker, plain when they run.

A compilation makes thousands of small objects that nobody changes, and defines over a hundred classes before it begins.
What guards a frozen dataclass against assignment at run time triples the time an object takes to be made and doubles
that of its class. Mypy sees the standard decorator, and refuses such an assignment before anything runs; what authors
of kernels are handed (`Target`, `Diagnostic`, dtypes...) stays guarded, since nobody checks their files.

The standard decorator also writes out and compiles a comparison, a hash and a `repr` for each class. Here they are
closures over the names of the fields, as fast, and cost a class nothing. An `__init__` has to be compiled to be fast:
that is done when the first object is made, as most classes make none before the screen is painted or a cubin loaded.
"""

from __future__ import annotations

import dataclasses
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen: bool = False, eq: bool = True, **options: Any) -> Any:
        """`dataclasses.dataclass`; what is `frozen` and compares by its fields hashes by them too."""

        def make(cls: type) -> type:
            own = vars(cls).keys() & {"__eq__", "__hash__", "__init__", "__repr__"}
            made = dataclasses.dataclass(eq=False, repr=False, init=False, **options)(cls)
            methods = {"__init__": _initializer(made), "__repr__": _repr}
            if eq:
                methods |= {"__eq__": _equality(made), "__hash__": _hash(made) if frozen else None}
            for name in methods.keys() - own:
                setattr(made, name, methods[name])
            return made

        return make


def _initializer(cls: type) -> Any:
    """The `__init__` of a class, which replaces itself by what it would be elsewhere when it is called."""

    def __init__(self: Any, *arguments: Any, **keywords: Any) -> None:
        made = cls.__init__ = _written(cls)  # type: ignore[misc]
        made(self, *arguments, **keywords)

    return __init__


#: Stands for what the factory of a field makes.
_MADE = object()


def _written(cls: type) -> Any:
    """An `__init__` as one would write it."""
    known: dict[str, Any] = {"MADE": _MADE}
    body: list[str] = []
    parameters: dict[bool, list[str]] = {False: [], True: ["*"]}  # those by position, those by name
    for field in dataclasses.fields(cls):
        name = value = field.name
        default, factory = field.default, field.default_factory
        required = default is factory is dataclasses.MISSING
        if factory is not dataclasses.MISSING:
            default, known[f"make_{name}"] = _MADE, factory
            value = f"make_{name}() if {name} is MADE else {name}" if field.init else f"make_{name}()"
        known[f"default_{name}"] = default
        if field.init:
            parameters[bool(field.kw_only)].append(name if required else f"{name}=default_{name}")
        elif required:
            continue  # `__post_init__` sets it
        elif default is not _MADE:
            value = f"default_{name}"
        body.append(f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    signature = ", ".join(["self", *parameters[False], *(parameters[True] if len(parameters[True]) > 1 else ())])
    exec(f"def __init__({signature}):\n    " + "\n    ".join(body or ["pass"]), known)
    known["__init__"].__qualname__ = f"{cls.__qualname__}.__init__"
    return known["__init__"]


def _values(names: list[str]) -> Any:
    """Gets the values of fields, as something that compares and hashes as they do."""
    return attrgetter(*names) if names else lambda record: ()


def _equality(cls: type) -> Any:
    values = _values([f.name for f in dataclasses.fields(cls) if f.compare])

    def __eq__(self: Any, other: Any) -> Any:
        if other is self:
            return True
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _hash(cls: type) -> Any:
    values = _values([f.name for f in dataclasses.fields(cls) if (f.compare if f.hash is None else f.hash)])
    return lambda self: hash(values(self))


def _repr(self: Any) -> str:
    fields = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in dataclasses.fields(self) if f.repr)
    return f"{type(self).__qualname__}({fields})"
