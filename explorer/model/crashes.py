"""Where in the text a stage was that ended its process: what it printed last says so, if one knows how to read it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from explorer.model.result import LineView, StageView

#: A debug location that LLVM prints behind an instruction: a row of the text that was emitted.
_PLACE = re.compile(r"(?:^|[ ,(@])-:(\d+):(\d+)\b")
_OPERATION = re.compile(r"(?<![\w%@#!.])([a-z_]\w*(?:\.\w+)+)(?=[ (<{]|$)")
_WORD = re.compile(r"[A-Za-z_][\w.]*")
#: Parts of names that say nothing of an operation.
_COMMON = frozenset({"load", "store", "func", "module", "return", "constant", "sync", "intr", "llvm", "nvvm", "ptr"})


def located(stage: StageView, given: Sequence[LineView], emitted: Sequence[LineView]) -> StageView:
    """A crashed stage with the place that its last words are about, if they tell: by a row of the text that was
    `emitted`, else by the only operation in the listing it was `given` that goes by such a name."""
    error = next((d for d in stage.diagnostics if d.severity == "error"), None)
    if error is None or error.line is not None:
        return stage
    said = error.rendered or error.message
    if (found := _PLACE.search(said)) and int(found[1]) <= len(emitted):
        line = emitted[int(found[1]) - 1]
        if line.line is None:
            return stage
        # Rows of a file are their own place; of a text that was emitted for a kernel only the row is known.
        column = int(found[2]) if line.line == int(found[1]) else line.column
        return _placed(stage, replace(line, column=column), None)
    rows = _named(said.partition("Fatal Python error")[0], given)
    return _placed(stage, given[rows[0]], rows[0]) if rows else stage


def _placed(stage: StageView, line: LineView, row: int | None) -> StageView:
    first = next(d for d in stage.diagnostics if d.severity == "error")
    at = replace(first, line=line.line, column=line.column, end_line=line.end_line, end_column=line.end_column)
    return replace(stage, diagnostics=tuple(at if d is first else d for d in stage.diagnostics), culprit=row)


def _named(said: str, given: Sequence[LineView]) -> list[int]:
    """The rows of the one kind of operation whose name stands in the message."""
    words = {word.lower() for word in _WORD.findall(said)}
    rows: dict[str, list[int]] = {}
    for row, line in enumerate(given):
        found = _OPERATION.search(line.text)
        if found is None:
            continue
        last = found[1].rpartition(".")[2]
        short = last not in _COMMON and len(last) > 2 and any(word in (last, f"f{last}") for word in words)
        if short or found[1] in said:
            rows.setdefault(found[1], []).append(row)
    return next(iter(rows.values())) if len(rows) == 1 else []
