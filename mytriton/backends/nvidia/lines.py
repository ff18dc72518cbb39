"""Which emitted line each line of PTX and SASS came from.

The text we emit (CUDA C++ or MLIR) carries no location of its own, so the `.loc` directives in the PTX name lines of
that text, and the line writer knows the Python span of each. SASS names lines of the PTX. The tables are composed here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mytriton.stage import Line

# PTX ISA, "Debugging Directives: .loc": `.loc file line column[, function_name ..., inlined_at file line column]`.
_LOC = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)(?:.*inlined_at\s+(\d+)\s+(\d+)\s+(\d+))?")
_INSTRUCTION = re.compile(r"\s*(@!?%\w+\s+)?[a-z][\w.:]*(\s|;)")

_Place = tuple[str, ...]


def _outermost(place: _Place, callers: dict[_Place, _Place]) -> _Place:
    """Where the code at `place` was finally inlined into: a line of the kernel, not of a helper before it."""
    seen = set()
    while place in callers and place not in seen:
        seen.add(place)
        place = callers[place]
    return place


def ptx_lines(ptx: str, emitted: Sequence[Line]) -> list[Line]:
    """The lines of exactly this PTX text, each with the span and values of the emitted line it was compiled from.

    Instructions and `.loc` directives have a link; declarations, labels and blank lines have none.
    """
    texts = ptx.rstrip("\n").split("\n")
    locations = {i: match for i, text in enumerate(texts) if (match := _LOC.match(text))}
    callers = {m.groups()[:3]: m.groups()[3:] for m in locations.values() if m.group(4) is not None}
    lines: list[Line] = []
    origin = Line("")
    for i, text in enumerate(texts):
        if i in locations:
            number = int(_outermost(locations[i].groups()[:3], callers)[1])
            origin = emitted[number - 1] if 1 <= number <= len(emitted) else Line("")
        elif not _INSTRUCTION.match(text):
            lines.append(Line(text))
            continue
        lines.append(Line(text, origin.span, origin.values))
    return lines
