"""PTX with the author's files and lines in its `.loc` directives, for profilers and debuggers.

Such a build (`Target.line_info`) is the usual one but for these directives: no instruction differs. The assembler makes
the cubin's line table of them, which Nsight Compute, compute-sanitizer and cuda-gdb read. Code of helpers is said to be
inlined at its call, as "Debugging Directives: .loc" of the PTX ISA has it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from mytriton.source import SourceUnit, Span
from mytriton.stage import Line

#: What the compilers wrote about the text that they were given.
_DIRECTIVE = re.compile(r"\s*\.(?:loc|file)\s")
_SECTION = re.compile(r"\s*\.section\s+\.debug_\w+(?P<empty>.*\})?")


def with_kernel_lines(ptx: Sequence[Line], units: Sequence[SourceUnit]) -> list[Line]:
    """The lines of PTX text with `.loc` directives of the spans that its instructions have."""
    table = _Table(units)
    lines: list[Line] = []
    now: Span | None = None
    for line in _code(ptx):
        if line.span is not None and line.span != now:
            now = line.span
            lines += [Line(text, now, line.values) for text in table.locations(now)]
        lines.append(line)
    return [*lines, *map(Line, table.ending())]


def _code(ptx: Sequence[Line]) -> Iterator[Line]:
    inside = False
    for line in ptx:
        section = _SECTION.match(line.text)
        if inside or section:
            inside = line.text.strip() != "}" and not (section and section["empty"])
        elif not _DIRECTIVE.match(line.text):
            yield line


class _Table:
    """Numbers files and functions as they are met."""

    def __init__(self, units: Sequence[SourceUnit]) -> None:
        self._units = units
        self._files: dict[str, int] = {}
        self._functions: dict[str, str] = {}

    def locations(self, span: Span) -> Iterator[str]:
        """The directives of a place: of the outermost call first, since each names where it is inlined."""
        if span.call_site is not None:
            yield from self.locations(span.call_site)
        where = f"\t.loc\t{self._place(span)}"
        if span.call_site is not None:
            name = self._units[span.unit].name
            label = self._functions.setdefault(name, f"$L__function{len(self._functions)}")
            where += f", function_name {label}, inlined_at {self._place(span.call_site)}"
        yield where

    def _place(self, span: Span) -> str:
        unit = self._units[span.unit]
        number = self._files.setdefault(os.path.abspath(unit.path), len(self._files) + 1)
        return f"{number} {unit.file_line(span)} {span.column}"

    def ending(self) -> Iterator[str]:
        """The names of files and functions."""
        for path, number in self._files.items():
            yield f'\t.file\t{number} "{path}"'
        if self._functions:
            yield from ("\t.section\t.debug_str", "\t{")
            for name, label in self._functions.items():
                yield f"{label}:"
                yield f".b8 {','.join(map(str, [*name.encode(), 0]))}"
            yield "\t}"
