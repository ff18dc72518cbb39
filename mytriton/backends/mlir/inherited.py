"""Places for the lines of MLIR text that no line of the kernel asked for: every operation leads somewhere.

Numbers of threads, constants, memory for a block: they are there for what uses them, so they get the place of their
first use. A function of our own is there for its first call; what nothing uses (barriers, stores) belongs to what
stands before it, and what is around everything to the kernel as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mytriton.source import Span
from mytriton.stage import Line

_FUNCTION = re.compile(r"\s*(?:gpu\.module|module|func\.func|llvm\.func|gpu\.func|memref\.global)\b[^@]*(@[\w.$-]+)?")
_RETURN = re.compile(r"\s*(?:func\.return|gpu\.return|llvm\.return|return)\b")


def inherited(lines: Sequence[Line], whole: Span | None = None) -> list[Line]:
    """The lines, each operation with a place if it can have one; `whole` is that of all of them."""
    made = list(lines)
    missing = [row for row, line in enumerate(made) if line.span is None and _is_operation(line.text)]
    for row in reversed(missing):  # those below have theirs by now
        if span := _first_use(made, row):
            made[row] = Line(made[row].text, span, made[row].values)
    before = whole
    for row, line in enumerate(made):
        span = line.span
        if span is None and _is_operation(line.text):
            header = _FUNCTION.match(line.text)
            span = _first_call(made, header[1]) or whole if header else whole if _RETURN.match(line.text) else before
            made[row] = Line(line.text, span, line.values)
        before = span or before
    return made


def _is_operation(text: str) -> bool:
    """Not one that ends a region, a label or an alias."""
    first = text.lstrip()[:1]
    return bool(first) and first not in "}^#/"


def _first_use(lines: Sequence[Line], row: int) -> Span | None:
    """The place of the first line below that uses what a line defines, and has one."""
    text = lines[row].text.lstrip()
    if not text.startswith("%"):
        return None
    names = [name.strip().partition(":")[0] for name in text.partition(" = ")[0].split(",")]
    for line in lines[row + 1 :]:
        if line.span is not None and any(_mentions(line.text, name) for name in names):
            return line.span
    return None


def _mentions(text: str, name: str) -> bool:
    at = text.find(name)
    while at >= 0:
        after = text[at + len(name) : at + len(name) + 1]
        if not (after.isalnum() or after in ("_", "$", ".")):
            return True
        at = text.find(name, at + 1)
    return False


def _first_call(lines: Sequence[Line], symbol: str | None) -> Span | None:
    if symbol is None:
        return None
    return next((line.span for line in lines if line.span is not None and _mentions(line.text, symbol)), None)
