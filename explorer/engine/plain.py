"""Compile-time values as JSON, for the way between the children: numbers, strings, None, dtypes, tuples, constexprs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mytriton.frontend.kernel import MISSING
from mytriton.frontend.names import SIGNATURE_TYPES
from mytriton.language import constexpr
from mytriton.types import ScalarType

#: How a signature names each element type.
TYPE_NAMES = {type_: name for name, type_ in reversed(SIGNATURE_TYPES.items())}

#: Bits of a number, characters of a string. Every compilation is told all of them.
_LARGEST = 4096


def to_plain(value: Any) -> Any:
    """The value as JSON; `MISSING` if it is none of these, or larger than any that a kernel is compiled for."""
    if value is None or isinstance(value, (bool, int, float, str)):
        size = value.bit_length() if isinstance(value, int) else len(value) if isinstance(value, str) else 0
        return value if size <= _LARGEST else MISSING
    if isinstance(value, ScalarType):
        return {"dtype": TYPE_NAMES[value]}
    if isinstance(value, constexpr):
        inner = to_plain(value.value)
        return MISSING if inner is MISSING else {"constexpr": inner}
    if isinstance(value, tuple):
        items = [to_plain(item) for item in value]
        return MISSING if MISSING in items else {"tuple": items}
    return MISSING


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the values that can be told, as JSON."""
    told = {name: to_plain(value) for name, value in values.items()}
    return {name: value for name, value in told.items() if value is not MISSING}


def from_plain(value: Any) -> Any:
    """What `to_plain` was given."""
    if not isinstance(value, dict):
        return value
    ((kind, inner),) = value.items()
    if kind == "dtype":
        return SIGNATURE_TYPES[inner]
    if kind == "tuple":
        return tuple(from_plain(item) for item in inner)
    return constexpr(from_plain(inner))
