"""The operations of a kernel, by name: where each is written first, and how many there are."""

from __future__ import annotations

import re

from explorer.model.backend_result import Result
from mytriton.records import dataclass

_OPERATION = re.compile(r"^\s*(?:%\w+(?:, %\w+)* = )?([a-z_]\w*)\b(?!:)")


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of the typed SSA: its name, the place of the source that asks for it first, and how often it is."""

    name: str
    line: int
    column: int
    count: int


def of(result: Result) -> list[Operation]:
    """The operations of the SSA as it is before optimization, in the order of their first places."""
    stage, _ = result.listing("ssa")
    found: dict[str, Operation] = {}
    for line in stage.lines if stage is not None else ():
        match = _OPERATION.match(line.text)
        if match is None or line.line is None:
            continue
        first = found.get(match[1])
        if first is None:
            found[match[1]] = Operation(match[1], line.line, line.column or 1, 1)
        else:
            found[match[1]] = Operation(first.name, first.line, first.column, first.count + 1)
    return sorted(found.values(), key=lambda operation: (operation.line, operation.column))
