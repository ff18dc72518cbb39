"""JSON to dataclasses, for data from anywhere: every value is checked against its type hint, text loses its control
characters (a terminal obeys them), and keys that are not known, as of a newer version, are left out."""

from __future__ import annotations

import dataclasses
import functools
import re
import types
import typing
from collections.abc import Callable
from typing import Any

#: What a text must not do to a terminal; tabs and line ends are harmless.
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]")

Decode = Callable[[Any], Any]


class Wrong(ValueError):
    """A value that is not what it should be; the message says where."""


def text(value: Any) -> str:
    """A string without control characters."""
    if not isinstance(value, str):
        raise Wrong(f"{_kind(value)} where there should be text")
    return _CONTROL.sub("\ufffd", value)


@functools.cache
def decoder(hint: Any) -> Decode:
    """What makes a value of the type `hint` of JSON, or raises `Wrong`."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint is str:
        return text
    if hint is float:
        return _float
    if hint in (int, bool):
        return functools.partial(_exactly, hint)
    if hint is Any:
        return _anything
    if origin is typing.Literal:
        return functools.partial(_one_of, args)
    if origin is tuple:
        return functools.partial(_tuple, decoder(args[0]))
    if origin is dict:
        return functools.partial(_dict, decoder(args[1]))
    if origin in (typing.Union, types.UnionType):
        inner = decoder(next(arg for arg in args if arg is not type(None)))
        return lambda value: None if value is None else inner(value)
    assert dataclasses.is_dataclass(hint), hint
    return _dataclass(hint)


def _kind(value: Any) -> str:
    return {dict: "an object", list: "a list", str: "text", bool: "a truth value", type(None): "null"}.get(
        type(value), "a number"
    )


def _exactly(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise Wrong(f"{_kind(value)} where there should be {'a whole number' if kind is int else 'true or false'}")
    return value


def _float(value: Any) -> float:
    if value in ("nan", "inf", "-inf"):
        return float(value)
    if type(value) not in (int, float):
        raise Wrong(f"{_kind(value)} where there should be a number")
    return float(value)


def _anything(value: Any) -> Any:
    if isinstance(value, str):
        return text(value)
    if isinstance(value, list):
        return [_anything(item) for item in value]
    if isinstance(value, dict):
        return {text(key): _anything(item) for key, item in value.items()}
    return value


def _one_of(values: tuple[Any, ...], value: Any) -> Any:
    if value not in values:
        raise Wrong(f"{value!r:.40} where there should be one of {', '.join(map(str, values))}")
    return value


def _tuple(item: Decode, value: Any) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise Wrong(f"{_kind(value)} where there should be a list")
    return tuple([item(each) for each in value])


def _dict(item: Decode, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Wrong(f"{_kind(value)} where there should be an object")
    return {text(key): item(each) for key, each in value.items()}


def _dataclass(cls: Any) -> Decode:
    fields = dataclasses.fields(cls)
    needed = {f.name for f in fields if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING}
    hints: dict[str, Any] = typing.get_type_hints(cls)

    def decode(value: Any) -> Any:
        if not isinstance(value, dict):
            raise Wrong(f"{_kind(value)} where there should be a {cls.__name__}")
        if missing := needed - value.keys():
            raise Wrong(f"a {cls.__name__} without {', '.join(sorted(missing))}")
        made = {}
        for name, item in value.items():
            if name in hints:
                try:
                    made[name] = decoder(hints[name])(item)
                except Wrong as error:
                    raise Wrong(f"{cls.__name__}.{name}: {error}") from None
        return cls(**made)

    return decode
