"""Where a piece of a kernel stands in the author's file.

Spans are relative to a *unit* (the text of one function), never to the file: the compiled result of a kernel then does
not depend on where the kernel stands, a blank line above it recompiles nothing, and a cached stage keeps right links.
"""

from __future__ import annotations

from mytriton.records import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A range of characters in a source unit.

    Lines and columns count from 1, in characters (not bytes); `end_column` is one past the last character. `unit`
    indexes `Compilation.units` (0 is the kernel itself); `call_site` is where an inlined helper was called from.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    unit: int = 0
    call_site: Span | None = None


@dataclass(frozen=True, slots=True)
class SourceUnit:
    """The verbatim text of one function (decorators included) and the place it has in its file.

    `first_line` is the 1-based file line of the text's first line. The text is never dedented: columns are the file's.
    """

    path: str
    name: str
    first_line: int
    text: str

    def line(self, number: int) -> str:
        """The text of unit line `number` (from 1), or '' past the end."""
        lines = self.text.split("\n")  # not splitlines: Python does not end a line at a form feed or U+2028
        return lines[number - 1] if 1 <= number <= len(lines) else ""

    def file_line(self, span: Span) -> int:
        """The line in the file at which `span` starts."""
        return self.first_line + span.line - 1
