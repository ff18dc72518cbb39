"""Listings of MLIR modules: text without locations, whose lines lead to the lines of the text that was emitted."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from mytriton.backends.mlir.debug_locations import keep_locations
from mytriton.backends.mlir.inherited import inherited
from mytriton.stage import Line

_ALIAS = re.compile(r"^(#loc\d*) = loc\((.*)\)$")
_INLINE = re.compile(r' loc\((#loc\d*|unknown|"[^"]*":\d+:\d+)\)')
_PLACE = re.compile(r'"-":(\d+):(\d+)')
_REFERENCE = re.compile(r"#loc\d*")


#: Device code in a row of a listing, escaped: a kernel's fills many screens.
_OBJECT = re.compile(r'"((?:[^"\\]|\\.){200,})"')


def _size(found: re.Match[str]) -> str:
    count = len(re.sub(r"\\[0-9A-F]{2}|\\.", ".", found[1]))
    return f'"... {count:,} bytes"'


class Listings:
    """Prints the modules of one run from their bytecode.

    All in one context, as loading the dialects takes longer than a listing does; and not in the context the passes run
    in, since a listing may be asked for by another thread.
    """

    def __init__(self) -> None:
        self._context: Any = None
        self._lock = threading.Lock()

    @contextmanager
    def module(self, bytecode: bytes) -> Iterator[Any]:
        """The module, to be used inside the `with`."""
        from mlir import ir

        with self._lock:
            if self._context is None:
                keep_locations()
                self._context = ir.Context(load_on_create_dialects=[])
                self._context.enable_multithreading(False)
            with self._context:
                yield ir.Module.parse(bytecode)

    def text(self, bytecode: bytes) -> str:
        """The module with the location of every operation."""
        with self.module(bytecode) as module:
            return str(module.operation.get_asm(enable_debug_info=True, assume_verified=True))


def module_text(bytecode: bytes) -> str:
    """A module as text that says everything: with the location of every operation, which listings leave out."""
    return Listings().text(bytecode)


def link_lines(text: str, source: Sequence[Line]) -> list[Line]:
    """Lines of MLIR text printed with debug information: locations stripped, and followed to the source lines.

    An operation with a region has its location after the closing brace; its opening lines are linked through it.
    """
    aliases, rows = _rows(text)
    lines: list[Line] = []
    for row, where, opened in rows:
        made_of = origin(where, aliases, source) if where else None
        if row.lstrip().startswith("gpu.binary"):
            row = _OBJECT.sub(_size, row)
        lines.append(_linked(row, made_of))
        for index in opened:
            lines[index] = _linked(lines[index].text, made_of)
    while lines and not lines[-1].text:
        lines.pop()
    return inherited(lines)  # constants that passes have moved have no location any more


def failing_row(text: str, where: str, message: str) -> int | None:
    """The row, in the listing of a module printed with debug information, of the operation that an error at location
    `where` is about; `message` may name it. None if there is no such row."""
    aliases, rows = _rows(text)
    wanted = next(places(where, {}), None)
    if wanted is None:
        return None
    found: list[int] = []
    listed: list[str] = []
    for row, location, opened in rows:
        if next(places(location, aliases), None) == wanted:
            found += opened or [len(listed)]
        listed.append(row)
    named = re.search(r"'([a-z_]\w*(?:\.\w+)+)'", message)
    return next((row for row in found if named and named[1] in listed[row]), found[0] if found else None)


def _rows(text: str) -> tuple[dict[str, str], list[tuple[str, str, list[int]]]]:
    """The aliases of locations, and for each row of the listing: its text, its location ('' if it has none), and, where
    it closes the regions of an operation, the rows that opened them."""
    rows = text.splitlines()
    aliases = {m[1]: m[2] for m in map(_ALIAS.match, rows) if m}
    found: list[tuple[str, str, list[int]]] = []
    open_rows: list[list[int]] = []
    for row in rows:
        if _ALIAS.match(row) or (not row and not found):
            continue
        locations = _INLINE.findall(row)
        stripped = _INLINE.sub("", row)
        body = stripped.strip()
        opened = open_rows.pop() if body.startswith("}") and open_rows else []
        if body.endswith("{"):
            open_rows.append([*opened, len(found)])
            opened = []
        found.append((stripped, locations[-1] if locations else "", opened))
    return aliases, found


def _linked(text: str, made_of: Line | None) -> Line:
    return Line(text, made_of.span, made_of.values) if made_of else Line(text)


def origin(where: str, aliases: Mapping[str, str], source: Sequence[Line]) -> Line | None:
    """The source line a location leads to; of a fused location, the first part that leads to one."""
    for number, _ in places(where, aliases):
        return source[number - 1] if 1 <= number <= len(source) else None
    return None


def places(where: str, aliases: Mapping[str, str]) -> Iterator[tuple[int, int]]:
    """The lines and columns (from 1) of the text that was read which a location names."""
    seen: set[str] = set()
    pending = [where]
    while pending:
        where = pending.pop()
        if place := _PLACE.search(where):
            yield int(place[1]), int(place[2])
            continue
        references = [r for r in _REFERENCE.findall(where) if r in aliases and r not in seen]
        seen.update(references)
        pending += [aliases[r] for r in reversed(references)]
