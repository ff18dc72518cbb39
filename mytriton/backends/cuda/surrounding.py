"""What stands around a kernel in CUDA C++: declarations of the functions that it calls before it, and their definitions
after it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from mytriton.source import Span
from mytriton.stage import Line

_NAME = re.compile(r"\bmt_\w+")
_EMITTER = "the emitter"


def around(kernel: Sequence[Line], definitions: Mapping[str, str]) -> list[Line]:
    """The lines of a kernel with the functions and types in `definitions` (by name). They have the place of the line of
    the kernel that first needs them, and are marked as the emitter's: no line asked for them."""
    spans: dict[str, Span | None] = {}
    for line in kernel:
        spans.update((name, line.span) for name in _NAME.findall(line.text) if spans.get(name) is None)
    for user, text in definitions.items():
        spans.update((name, spans.get(user)) for name in _NAME.findall(text) if spans.get(name) is None)
    functions = [(name, text) for name, text in definitions.items() if "__device__" in text]  # the others are types
    before = [Line(_declaration(text), spans.get(name), made_by=_EMITTER) for name, text in functions]
    after = [
        line
        for name, text in definitions.items()
        for line in (Line(""), *(Line(row, spans.get(name), made_by=_EMITTER) for row in text.split("\n")))
    ]
    return [*before, *([Line("")] if before else []), *kernel, *after]


def _declaration(definition: str) -> str:
    # Attributes count in the first declaration only; the compiler warns of those in a later one.
    head = definition[: definition.index(" {")]
    return head.replace("\n", " ").replace("__device__", "__device__ __forceinline__") + ";"
