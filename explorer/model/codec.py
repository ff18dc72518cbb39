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
#: Turns a value of some type into JSON or back; None where JSON has the same value.
Step = Callable[[Any], Any] | None


def to_json(value: Any) -> Any:
    """`value` as dicts, lists and scalars that the `json` module writes without further ado."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return _float_to_json(value)
    if isinstance(value, (tuple, list)):
        return [to_json(item) for item in value]
    if isinstance(value, dict):
        return {key: to_json(item) for key, item in value.items()}
    kind: Any = type(value)  # Any, as mypy does not take a class for hashable
    encode = _encoder(kind)
    if encode is None:
        raise TypeError(f"a {kind.__name__} cannot be sent")
    return encode(value)


def from_json(cls: type[T], data: Any) -> T:
    """The `cls` that `to_json` wrote; TypeError or ValueError if `data` is not one."""
    hint: Any = cls
    decode = _decoder(hint)
    return typing.cast(T, decode(data) if decode is not None else data)


def _float_to_json(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


@functools.cache
def _encoder(hint: Any) -> Step:
    return _step(hint, _encoder, _float_to_json, to_json, _dataclass_encoder)


@functools.cache
def _decoder(hint: Any) -> Step:
    return _step(hint, _decoder, float, None, _dataclass_decoder)


def _step(hint: Any, of: Callable[[Any], Step], number: Step, anything: Step, dataclass: Callable[[Any], Step]) -> Step:
    """The step for a type; `of` gives it for the types inside."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint is float:
        return number
    if hint is Any:
        return anything
    if origin is tuple:
        item = of(args[0])
        return tuple if item is None else lambda data: tuple([item(each) for each in data])
    if origin is dict:
        value = of(args[1])
        return None if value is None else lambda data: {key: value(each) for key, each in data.items()}
    if origin in (typing.Union, types.UnionType):
        inner = of(next(arg for arg in args if arg is not type(None)))
        return None if inner is None else lambda data: None if data is None else inner(data)
    return dataclass(hint) if dataclasses.is_dataclass(hint) else None


def _dataclass_encoder(cls: Any) -> Step:
    hints = typing.get_type_hints(cls)
    steps = []
    for field in dataclasses.fields(cls):
        factory = field.default_factory
        default = factory() if factory is not dataclasses.MISSING else field.default
        steps.append((field.name, default, _encoder(hints[field.name])))

    def encode(value: Any) -> dict[str, Any]:
        data = {}
        for name, default, step in steps:
            item = getattr(value, name)
            if item is not default and item != default:
                data[name] = item if step is None else step(item)
        return data

    return encode


def _dataclass_decoder(cls: Any) -> Step:
    hints = typing.get_type_hints(cls).items()
    special = [(name, step) for name, hint in hints if (step := _decoder(hint)) is not None]

    def decode(data: dict[str, Any]) -> Any:
        fields = data.copy()
        for name, step in special:
            if name in fields:
                fields[name] = step(fields[name])
        return cls(**fields)

    return decode
