"""Values as a person writes them: in the form, behind `-D`, as a constexpr to compare with."""

from __future__ import annotations

import ast
import math
from typing import Any

#: Bits of a number: larger ones cannot be printed, and none is compiled for.
_LARGEST = 4096


def literal(text: str) -> Any:
    """The number, string, bool, None or tuple of these that a text is; ValueError if it is none, or none that can be
    shown again."""
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, TypeError, MemoryError, RecursionError) as error:  # TypeError: `{[]: 1}`
        raise ValueError(str(error)) from None
    if not _usable(value):
        raise ValueError(f"no value that a kernel can be given: {text}")
    return value


def _usable(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_usable, value))
    if isinstance(value, float):
        return math.isfinite(value)  # 1e999 is not
    if isinstance(value, int):
        return value.bit_length() <= _LARGEST
    return value is None or isinstance(value, str)


def plain_text(value: Any) -> str:
    """A plain value (see `ExampleInfo`) as it is written."""
    if isinstance(value, dict):
        ((kind, inner),) = value.items()
        if kind == "tuple":
            items = [plain_text(item) for item in inner]
            return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
        return str(inner) if kind == "dtype" else plain_text(inner)
    return repr(value)
