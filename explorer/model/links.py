"""Which rows of a listing came from a source line. The printers say so line by line; nothing is guessed here."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.model.result import LineView


class Links:
    """The rows of one listing by file line; built when first asked."""

    def __init__(self, lines: Sequence[LineView]) -> None:
        self._lines = lines
        self._starts: dict[int, list[int]] | None = None
        self._spanning: list[tuple[int, int, int]] = []

    def _build(self) -> dict[int, list[int]]:
        starts: dict[int, list[int]] = {}
        for row, view in enumerate(self._lines):
            if view.line is not None:
                starts.setdefault(view.line, []).append(row)
                if view.end_line is not None and view.end_line > view.line:
                    self._spanning.append((view.line, view.end_line, row))
        return starts

    def rows(self, line: int | None) -> list[int]:
        """The rows that start in file line `line`; if there are none, those of the narrowest range around it."""
        if line is None:
            return []
        if self._starts is None:
            self._starts = self._build()
        if line in self._starts:
            return self._starts[line]
        around = [(end - start, row) for start, end, row in self._spanning if start <= line <= end]
        narrowest = min((extent for extent, _ in around), default=0)
        return [row for extent, row in around if extent == narrowest]

    def line(self, row: int) -> int | None:
        """The file line that `row` came from."""
        return self._lines[row].line if 0 <= row < len(self._lines) else None


def reveal(rows: Sequence[int], top: int, height: int) -> int | None:
    """The first row to show so that linked `rows` come into view; None to stay at `top`.

    Rows that follow each other are read together: a view that shows only a part of such a run moves on, unless the run
    fills the view or another run is in it as a whole.
    """
    first: tuple[int, int] | None = None
    ordered = sorted(rows)
    start = 0
    for index, row in enumerate(ordered):
        if index + 1 < len(ordered) and ordered[index + 1] == row + 1:
            continue
        begin, end = ordered[start], min(row, ordered[start] + max(1, height) - 1)
        if top <= begin and end < top + height:
            return None
        first = first or (begin, end)
        start = index + 1
    if first is None:
        return None
    begin, end = first
    return max(0, min(begin, max(begin - height // 3, end - height + 1)))
