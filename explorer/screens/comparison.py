"""The table of A and B; it follows what is compiled meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from explorer.screens.asking import Modal
from explorer.widgets.code_view import CodeView
from explorer.widgets.text_line import Part, TextLine


class Comparison(Modal[str]):
    """Shows the lines that `table` gives. Dismissed with `choose` or `unpin`, or nothing."""

    DEFAULT_CSS = """
    Comparison { background: $background; & > CodeView { height: 1fr; } & > .title { background: $primary; } }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,m,ctrl+o", "dismiss(None)", "back"),
        Binding("a", "dismiss('choose')", "another A"),
        Binding("p,ctrl+l", "dismiss('unpin')", "unpin"),
        Binding("r,f8", "run", "run both"),
        Binding("y", "copy_all", "copy"),
    ]

    def __init__(self, table: Callable[[], list[str]], run: Callable[[], None]) -> None:
        super().__init__()
        self._table, self._run = table, run
        self._lines: list[str] = []

    def compose(self) -> ComposeResult:
        """Title, table, keys."""
        yield TextLine(classes="title")
        yield CodeView()
        yield TextLine(id="keys")

    def on_mount(self) -> None:
        """Fill in."""
        self.query_one(".title", TextLine).show([Part(" A (pinned) and B (the present build)")])
        self.query_one("#keys", TextLine).show(
            [Part(" esc back   r run both   a another A   p unpin   j k move   y copy")]
        )
        self._load()
        self.query_one(CodeView).focus()

    def follow(self) -> None:
        """Show the table as it is now, if it is shown already."""
        if self._lines:
            self._load()

    def _load(self) -> None:
        lines = self._table()
        if lines != self._lines:
            self._lines = lines
            self.query_one(CodeView).load(lines, "report")

    def action_run(self) -> None:
        """Run B and A."""
        self._run()

    def action_copy_all(self) -> None:
        """Copy the table."""
        self.app.copy_to_clipboard("\n".join(self._lines))
