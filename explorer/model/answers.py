"""Answers to questions about operations, as rows."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.model.result import OperationView


def by_place(operations: Sequence[OperationView]) -> list[tuple[OperationView, str]]:
    """The operations of a kernel, one for those of a name that came from one place, with how many of them each stage
    holds: `mlir/emit 5, mlir/cleanup 5`. Those of a module, which are of no stage, stay as they are."""
    first: dict[object, OperationView] = {}
    counts: dict[object, dict[str, int]] = {}
    for number, operation in enumerate(operations):
        o = operation
        key = (o.name, o.path, o.line, o.column, o.within) if o.stage else number
        first.setdefault(key, operation)
        stages = counts.setdefault(key, {})
        stages[o.stage] = stages.get(o.stage, 0) + 1
    return [
        (operation, ", ".join(f"{stage} {count}" for stage, count in counts[key].items() if stage))
        for key, operation in first.items()
    ]
