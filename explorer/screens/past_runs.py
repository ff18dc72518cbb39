"""The list of this session's runs; it follows what is run meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

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
        keys = "esc back   enter report   B bench all examples   h l sideways   y copy"
        super().__init__("Runs of this session", keys, [])
        self._past, self._report, self._bench = past, report, bench

    def on_mount(self) -> None:
        """Start at the newest."""
        super().on_mount()
        self.query_one(CodeView).show_row(len(self._lines) - 1)

    def follow(self) -> None:
        """Show the list as it is now, if it is shown already."""
        if self._lines:
            self.load()

    def load(self) -> None:
        """Show the list as it is now."""
        lines = table(self._past) if self._past.entries else ["Nothing was run yet: r runs, B benches."]
        if lines != self._lines:
            self._lines = lines
            super().load()

    def action_open(self) -> None:
        """Show the report of the run at the cursor."""
        number = self.query_one(CodeView).cursor
        if 1 <= number <= len(self._past.entries):
            entry = self._past.entries[number - 1]
            self.app.push_screen(TextScreen(f"Run {number}", self._report(entry)))

    def action_bench(self) -> None:
        """Bench all examples of the kernel."""
        self._bench()
