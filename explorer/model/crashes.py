"""Where in the text a stage was that ended its process, and what to do: what it printed last says so, if one knows how
to read it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from explorer.model.result import LineView, StageView

#: A debug location that LLVM prints behind an instruction: a row of the text that was emitted.
_PLACE = re.compile(r"(?:^|[ ,(@])-:(\d+):(\d+)\b")
_OPERATION = re.compile(r"(?<![\w%@#!.])([a-z_]\w*(?:\.\w+)+)(?=[ (<{]|$)")
_WORD = re.compile(r"[A-Za-z_][\w.]*")
_INTRINSIC = re.compile(r"intrinsic %llvm\.([\w.]+)")
_PART = re.compile(r"[a-z0-9]+")
_QUOTED, _STRING = re.compile(r"(?<!\w)'([^'\n]+)'"), re.compile(r'"((?:[^"\\]|\\.)*)"')
#: Of a run that ended its process, where checks have found nothing.
UNCHECKED = "no access that MLIR can check is out of bounds"
#: Parts of names that say nothing of an operation.
_COMMON = frozenset({"load", "store", "func", "module", "return", "constant", "sync", "intr", "llvm", "nvvm", "ptr"})
#: Words that name nothing, and the types that they are about.
_TYPES = (
    ("unsupported library call", re.compile(r"\b(?:f80|f128|i(?:12[89]|1[3-9]\d|[2-9]\d\d))\b")),
    ("scalable size", re.compile(r"<\[\d+\]x")),
)
#: From so many on, regions in each other may take more stack than the parser of MLIR has.
_DEEP = 1000
#: What to do about last words.
_HINTS = (
    (
        "Cannot select",
        "LLVM has no instruction for it on this chip with this PTX version (chip and features of nvvm-attach-target): "
        "take later ones, or lower the operation otherwise",
    ),
    ("does not support target", "give nvvm-attach-target a later version, such as features=+ptx80"),
    ("unsupported library call", "NVIDIA's processors do not compute with numbers of this type; use f64 or i64"),
    ("scalable size", "the processor has no vectors of unknown length; give them one, such as vector<4xf32>"),
    ("verifyInvariants", "an option of the pass has a value that what it makes of it does not take"),
    ("inline asm", "look at the text of the assembly and at its constraints"),
    ("for constraint", "look at the constraints of the assembly: r, l, h, f, d and n are those of NVIDIA's processors"),
)


def located(stage: StageView, given: Sequence[LineView], emitted: Sequence[LineView]) -> StageView:
    """A crashed stage with the place that its last words are about, if they tell: by a row of the text that was
    `emitted`, else by what they name in the listing it was `given`; and with what to do."""
    error = next((d for d in stage.diagnostics if d.severity == "error"), None)
    if error is None or error.line is not None:
        return stage
    said = (error.rendered or error.message).partition("Fatal Python error")[0]
    if stage.name == "mlir/parse":
        return _too_deep(stage, emitted)
    hint = next((hint for words, hint in _HINTS if words in said), "")
    if (found := _PLACE.search(said)) and int(found[1]) <= len(emitted):
        line = emitted[int(found[1]) - 1]
        # Rows of a file are their own place; of a text that was emitted for a kernel only the row is known.
        column = int(found[2]) if line.line == int(found[1]) else line.column
        return _told(stage, replace(line, column=column), None, hint)
    rows = next((rows for rows in _rows(said, given) if rows), [])
    return _told(stage, given[rows[0]] if rows else None, rows[0] if rows else None, hint)


def _told(stage: StageView, line: LineView | None, row: int | None, hint: str) -> StageView:
    """The stage with the place of a line, the name of the operation in it, and what to do."""
    first = next(d for d in stage.diagnostics if d.severity == "error")
    told = replace(first, hint=first.hint or hint)
    rendered = first.rendered or first.message
    if line is not None and line.line is not None:
        operation = _OPERATION.search(line.text)
        message = first.message
        if operation is not None and operation[1] not in message:
            message += f" ({operation[1]})"
        rendered = f"{line.line}:{line.column}: {rendered}\nat: {line.text.strip()}"
        end = (line.end_line, line.end_column)
        told = replace(told, message=message, line=line.line, column=line.column, end_line=end[0], end_column=end[1])
    if told.hint and not first.hint:
        rendered += f"\nhelp: {told.hint}"
    if told == first:
        return stage
    told = replace(told, rendered=rendered)
    found = tuple(told if d is first else d for d in stage.diagnostics)
    return replace(stage, diagnostics=found, reason=told.message, culprit=row)


def _too_deep(stage: StageView, emitted: Sequence[LineView]) -> StageView:
    """A crash of the parser, which is of regions in each other if there are many."""
    depth = most = at = 0
    for row, line in enumerate(emitted):
        depth += line.text.count("{") - line.text.count("}")
        if depth > most:
            most, at = depth, row
    if most < _DEEP:
        return stage
    return _told(stage, emitted[at], None, f"{most:,} regions in each other are too many for the parser of MLIR")


def _rows(said: str, given: Sequence[LineView]) -> Iterator[list[int]]:
    """The rows that last words are about, by one way after the other to find them."""
    operations = [(row, found[1]) for row, line in enumerate(given) if (found := _OPERATION.search(line.text))]
    if intrinsic := _INTRINSIC.search(said):
        yield _of_intrinsic(intrinsic[1], operations)
    yield _named(said, operations)
    words = _QUOTED.findall(said)
    yield [row for row, _ in operations if any(_quotes(given[row].text, word) for word in words)]
    for word, pattern in _TYPES:
        if word in said:
            rows = [(row, name) for row, name in operations if pattern.search(given[row].text)]
            yield [row for row, name in rows if name.rpartition(".")[2] not in _COMMON]
            yield [row for row, _ in rows]


def _of_intrinsic(intrinsic: str, operations: Sequence[tuple[int, str]]) -> list[int]:
    """The rows of the operations whose names say most of what the name of an intrinsic does, and nothing else."""
    parts = set(_PART.findall(intrinsic))
    found: dict[int, list[int]] = {}
    for row, name in operations:
        own = set(_PART.findall(name)) - _COMMON
        if own and own <= parts:
            found.setdefault(len(own), []).append(row)
    return found[max(found)] if found else []


def _named(said: str, operations: Sequence[tuple[int, str]]) -> list[int]:
    """The rows of the one kind of operation whose name stands in the message."""
    words = {word.lower() for word in _WORD.findall(said)}
    rows: dict[str, list[int]] = {}
    for row, name in operations:
        last = name.rpartition(".")[2]
        short = last not in _COMMON and len(last) > 2 and any(word in (last, f"f{last}") for word in words)
        if short or name in said:
            rows.setdefault(name, []).append(row)
    return next(iter(rows.values())) if len(rows) == 1 else []


def _quotes(row: str, word: str) -> bool:
    """Whether a string in a row has this in it, not as a part of another word."""
    whole = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
    return any(whole.search(text) for text in _STRING.findall(row))
