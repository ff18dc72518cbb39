"""Values of options, as they are typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from explorer.model.literals import literal
from explorer.reading import BadInput


def num_warps(text: str | None) -> int | None:
    """The number of warps; raises `BadInput`."""
    if text is None:
        return None
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number not in (1, 2, 4, 8, 16, 32):
        raise BadInput(f"--num-warps {text}: the number of warps must be 1, 2, 4, 8, 16 or 32")
    return number


def defines(items: Sequence[str]) -> dict[str, Any]:
    """The values of `-D`; raises `BadInput`."""
    values: dict[str, Any] = {}
    for item in items:
        name, equals, text = item.partition("=")
        if not equals or not name.isidentifier():
            raise BadInput(f"-D {item}: write it as NAME=VALUE, such as -D BLOCK=1024")
        try:
            value = literal(text)
        except ValueError:
            quoted = f"""; for a string: -D '{name}="{text}"'""" if text.isidentifier() else ""
            raise BadInput(f"-D {item}: {text!r} is not a Python number, string, True, False or None{quoted}") from None
        if isinstance(value, tuple):
            raise BadInput(f"-D {item}: a constexpr must be a number, a string, True, False or None")
        values[name] = value
    return values


def seconds(text: str | None) -> float:
    """How long to time; raises `BadInput`."""
    try:
        found = float(text or "1")
    except ValueError:
        found = 0.0
    if not 0 < found <= 60:
        raise BadInput(f"--seconds {text}: write a number of seconds above 0, at most 60")
    return found


def size(text: str | None) -> tuple[int, int]:
    """Columns and rows of a picture; raises `BadInput`."""
    try:
        columns, rows = (int(part) for part in (text or "160x50").lower().split("x"))
    except ValueError:
        columns = rows = 0
    if not (40 <= columns <= 500 and 10 <= rows <= 200):
        raise BadInput(f"--size {text}: write columns and rows as in 120x40, from 40x10 to 500x200")
    return columns, rows
