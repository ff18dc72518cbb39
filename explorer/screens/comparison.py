"""The table of A and B; it follows what is compiled meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.binding import Binding, BindingType

from explorer.screens.text import Page


class Comparison(Page[str]):
    """Shows the lines that `table` gives. Dismissed with `choose` or `unpin`, or nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,m,ctrl+o", "dismiss(None)", "back"),
        Binding("a", "dismiss('choose')", "another A"),
        Binding("p,ctrl+l", "dismiss('unpin')", "unpin"),
        Binding("r,f8", "run", "run both"),
        Binding("B", "bench", "bench both"),
        Binding("y", "copy_all", "copy"),
    ]

    def __init__(self, table: Callable[[], list[str]], run: Callable[[bool], None]) -> None:
        keys = "esc back   r run both   B bench both   a another A   p unpin   y copy"
        super().__init__("A (pinned) and B (the present build)", keys, [])
        self._table, self._run = table, run

    def follow(self) -> None:
        """Show the table as it is now, if it is shown already."""
        if self._lines:
            self.load()

    def load(self) -> None:
        """Show the table as it is now."""
        lines = self._table()
        if lines != self._lines:
            self._lines = lines
            super().load()

    def action_run(self) -> None:
        """Run B and A."""
        self._run(False)

    def action_bench(self) -> None:
        """Bench B and A."""
        self._run(True)
