"""Where one was: to jump there and back."""

from __future__ import annotations

from collections.abc import Sequence

from mytriton.records import dataclass

#: Positions kept.
_LONGEST = 100


@dataclass(frozen=True, slots=True)
class Position:
    """A row (from 0) of a pane, the stage that it showed, and the row's text, by which it is found again when rows come
    and go above it."""

    pane: str
    stage: str
    row: int
    text: str = ""

    def row_in(self, lines: Sequence[str]) -> int:
        """The nearest row with that text; where there is none, the row of that number."""
        if self.row < len(lines) and lines[self.row] == self.text:
            return self.row
        same = [row for row, line in enumerate(lines) if line == self.text]
        return min(same, key=lambda row: abs(row - self.row), default=max(0, min(self.row, len(lines) - 1)))


class History:
    """Positions that were left by a jump, and those that were come back from."""

    def __init__(self) -> None:
        self._back: list[Position] = []
        self._forward: list[Position] = []

    def leave(self, here: Position) -> None:
        """A jump begins here; what was come back from is forgotten."""
        self._forward.clear()
        self._push(self._back, here)

    def back(self, here: Position) -> Position | None:
        """The position before the last jump; None if there is none."""
        return self._move(self._back, self._forward, here)

    def forward(self, here: Position) -> Position | None:
        """The position that was last come back from; None if there is none."""
        return self._move(self._forward, self._back, here)

    def _move(self, source: list[Position], other: list[Position], here: Position) -> Position | None:
        while source and source[-1] == here:  # one is there already
            source.pop()
        if not source:
            return None
        self._push(other, here)
        return source.pop()

    @staticmethod
    def _push(positions: list[Position], here: Position) -> None:
        if not positions or positions[-1] != here:
            positions.append(here)
            del positions[:-_LONGEST]
