"""Finding text in a listing."""

from __future__ import annotations

from collections.abc import Sequence


def occurrences(line: str, query: str) -> list[tuple[int, int]]:
    """Where `query` stands in `line`; letter case counts only if the query has a capital."""
    if not query:
        return []
    if query == query.lower():
        line = line.lower()
    found, at = [], line.find(query)
    while at >= 0:
        found.append((at, at + len(query)))
        at = line.find(query, at + len(query))
    return found


def hits(lines: Sequence[str], query: str) -> list[int]:
    """The rows that contain `query`."""
    return [row for row, line in enumerate(lines) if occurrences(line, query)]


def next_hit(rows: Sequence[int], cursor: int, step: int) -> int | None:
    """The row of `rows` after (`step` 1) or before (-1) `cursor`, around the end; None if there is none."""
    if not rows:
        return None
    if step > 0:
        return next((row for row in rows if row > cursor), rows[0])
    return next((row for row in reversed(rows) if row < cursor), rows[-1])
