"""The list of this session's runs; it follows what is run meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType

from explorer.model.past_runs import Entry, PastRuns, table
from explorer.screens.text import Page, TextScreen
from explorer.widgets.code_view import CodeView


class Runs(Page[None]):
    """A line a run, the newest last; `report` gives what to show of one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,H", "dismiss(None)", "back"),
        Binding("enter", "open", "report"),
        Binding("B", "bench", "bench all examples"),
        Binding("y", "copy_all", "copy"),
    ]

    def __init__(self, past: PastRuns, report: Callable[[Entry], list[str]], bench: Callable[[], None]) -> None:
        keys = "esc back   enter report   B bench all examples   y copy"
        super().__init__("Runs of this session", keys, [])
        self._past, self._report, self._bench = past, report, bench
        self._numbers: list[int] = []

    def on_mount(self) -> None:
        """Start at the newest."""
        super().on_mount()
        self._go_to(len(self._past.entries))

    def follow(self) -> None:
        """Show the list as it is now, if it is shown already."""
        if self._lines:
            self.load()

    def on_resize(self, event: events.Resize) -> None:
        """Fold it anew."""
        self.follow()

    def load(self) -> None:
        """Show the list as it is now."""
        at = self._number
        found = table(self._past, self.columns())
        self._numbers = [number for _, number in found]
        lines = [text for text, _ in found] if self._past.entries else ["Nothing was run yet: r runs, B benches."]
        if lines != self._lines:
            self._lines = lines
            super().load()
            self._go_to(at)

    @property
    def _number(self) -> int:
        """Of the run at the cursor; 0 above the first."""
        row = self.query_one(CodeView).cursor
        return self._numbers[row] if row < len(self._numbers) else 0

    def _go_to(self, number: int) -> None:
        if number:
            self.query_one(CodeView).show_row(self._numbers.index(number))

    def action_open(self) -> None:
        """Show the report of the run at the cursor."""
        if number := self._number:
            entry = self._past.entries[number - 1]
            self.app.push_screen(TextScreen(f"Run {number}", self._report(entry)))

    def action_bench(self) -> None:
        """Bench all examples of the kernel."""
        self._bench()
