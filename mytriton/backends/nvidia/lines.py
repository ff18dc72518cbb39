"""Which emitted line each line of PTX and SASS came from.

The text we emit (CUDA C++ or MLIR) carries no location of its own, so the `.loc` directives in the PTX name lines of
that text, and the line writer knows the Python span of each. SASS names lines of the PTX. The tables are composed here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mytriton.stage import Line

# PTX ISA, "Debugging Directives: .loc": `.loc file line column[, function_name ..., inlined_at file line column]`.
_LOC = re.compile(r"\s*\.loc\s+\d+\s+(?P<line>\d+)\s+\d+(?:.*inlined_at\s+\d+\s+(?P<caller>\d+)\s+\d+)?")
_INSTRUCTION = re.compile(r"\s*(@!?%\w+\s+)?[a-z][\w.:]*(\s|;)")


def ptx_lines(ptx: str, emitted: Sequence[Line]) -> list[Line]:
    """The lines of exactly this PTX text, each with the span and values of the emitted line it was compiled from.

    Instructions and `.loc` directives have a link; declarations, labels and blank lines have none.
    """
    texts = ptx.split("\n")
    lines: list[Line] = []
    origin = Line("")
    for text in texts:
        if location := _LOC.match(text):
            # Code of a helper function belongs to the line that calls it. Helpers call no helpers.
            number = int(location["caller"] or location["line"])
            origin = emitted[number - 1] if 1 <= number <= len(emitted) else Line("")
        elif not _INSTRUCTION.match(text):
            lines.append(Line(text))
            continue
        lines.append(Line(text, origin.span, origin.values))
    return lines
