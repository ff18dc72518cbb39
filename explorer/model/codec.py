"""Dataclasses to JSON-able values and back, by their type hints.

Fields that have their default value are left out, which keeps a listing of many lines small. Numbers that JSON cannot
write (nan, inf) become strings. The types that can cross are: None, bool, int, float, str, dataclasses,
`tuple[T, ...]`, `dict[str, T]`, `T | None`, and `Any` holding such plain values.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import types
import typing
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
Decoder = Callable[[Any], Any]


def to_json(value: Any) -> Any:
    """`value` as dicts, lists and scalars that the `json` module writes without further ado."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, (tuple, list)):
        return [to_json(item) for item in value]
    if isinstance(value, dict):
        return {key: to_json(item) for key, item in value.items()}
    kind: Any = type(value)  # Any, as mypy does not take a class for hashable
    fields = ((name, getattr(value, name), default) for name, default in _defaults(kind))
    return {name: to_json(item) for name, item, default in fields if item is not default and item != default}


def from_json(cls: type[T], data: Any) -> T:
    """The `cls` that `to_json` wrote; TypeError or ValueError if `data` is not one."""
    hint: Any = cls
    return typing.cast(T, _decoder(hint)(data))


@functools.cache
def _defaults(cls: Any) -> tuple[tuple[str, Any], ...]:
    if not dataclasses.is_dataclass(cls):
        raise TypeError(f"{cls} cannot be sent")
    found = []
    for field in dataclasses.fields(cls):
        default = field.default
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        found.append((field.name, default))
    return tuple(found)


def _plain(value: Any) -> Any:
    return value


@functools.cache
def _decoder(hint: Any) -> Decoder:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint is float:
        return float
    if origin is tuple:
        item = _decoder(args[0])
        return tuple if item is _plain else lambda data: tuple([item(each) for each in data])
    if origin is dict:
        value = _decoder(args[1])
        return dict if value is _plain else lambda data: {key: value(each) for key, each in data.items()}
    if origin in (typing.Union, types.UnionType):
        inner = _decoder(next(arg for arg in args if arg is not type(None)))
        return _plain if inner is _plain else lambda data: None if data is None else inner(data)
    if dataclasses.is_dataclass(hint):
        return _dataclass_decoder(typing.cast(type, hint))
    return _plain


def _dataclass_decoder(cls: type) -> Decoder:
    hints = typing.get_type_hints(cls)
    decoders = {name: _decoder(hint) for name, hint in hints.items()}
    special = {name: decode for name, decode in decoders.items() if decode is not _plain}

    def decode(data: dict[str, Any]) -> Any:
        return cls(**{name: special[name](item) if name in special else item for name, item in data.items()})

    return decode
