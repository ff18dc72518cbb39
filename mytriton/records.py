"""The compiler's own dataclasses: frozen for the type checker, plain when they run.

A compilation makes thousands of small objects that nobody changes, and defines over a hundred classes before it begins.
What guards a frozen dataclass against assignment at run time triples the time an object takes to be made and doubles
that of its class. Mypy sees the standard decorator, and refuses such an assignment before anything runs; what authors
of kernels are handed (`Target`, `Diagnostic`, dtypes...) stays guarded, since nobody checks their files.

The standard decorator also writes out and compiles a comparison, a hash and a `repr` for each class. Here they are
closures over the names of the fields, as fast, and cost a class nothing.
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
            own = vars(cls).keys() & {"__eq__", "__hash__", "__repr__"}
            made = dataclasses.dataclass(eq=False, repr=False, **options)(cls)
            methods = {"__repr__": _repr}
            if eq:
                methods |= {"__eq__": _equality(made), "__hash__": _hash(made) if frozen else None}
            for name in methods.keys() - own:
                setattr(made, name, methods[name])
            return made

        return make


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
