"""Screens of text to read and copy: help, information, and what else is a page of lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from explorer.screens.asking import Answer, Modal
from explorer.widgets.code_view import CodeView
from explorer.widgets.painted_lines import GUTTER
from explorer.widgets.text_line import Part, TextLine


class Page(Modal[Answer]):
    """A title, lines, and the keys that act here."""

    DEFAULT_CSS = """
    Page { background: $background; & > CodeView { height: 1fr; } & > .title { background: $primary; }
           &:ansi > .title { background: ansi_default; text-style: bold reverse; } }
    """

    def __init__(self, title: str, keys: str, lines: list[str]) -> None:
        super().__init__()
        self._title, self._keys = title, keys
        self._lines = lines

    def compose(self) -> ComposeResult:
        """Title, lines, keys."""
        yield TextLine(classes="title")
        yield CodeView()
        yield TextLine(id="keys")

    def on_mount(self) -> None:
        """Fill in."""
        self.query_one(".title", TextLine).show([Part(f" {self._title}")])
        self.query_one("#keys", TextLine).show([Part(f" {self._keys}")])
        self.load()
        self.query_one(CodeView).focus()

    def load(self) -> None:
        """Show the lines."""
        self.query_one(CodeView).load(self._lines, "report")

    def columns(self) -> int:
        """The columns that a line may have."""
        return self.app.size.width - GUTTER - 1

    def action_copy_all(self) -> None:
        """Copy everything."""
        self.app.copy_to_clipboard("\n".join(self._lines))


class TextScreen(Page[None]):
    """Lines that only the width of the terminal changes. Escape, q, or the key that opened it goes back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,f1,f12,question_mark,i", "dismiss(None)", "back"),
        Binding("y", "copy_line", "copy line"),
        Binding("Y", "copy_all", "copy all"),
    ]

    def __init__(self, title: str, lines: list[str] | Callable[[int], list[str]], row: int = 0) -> None:
        super().__init__(title, "esc back   j k page move   y copy line   Y copy all", [])
        self._folded = lines if callable(lines) else lambda width: lines
        self._row = row

    def load(self) -> None:
        """Show the lines as they fit."""
        self._lines = self._folded(self.columns())
        super().load()
        if self._row:
            self.call_after_refresh(self.query_one(CodeView).show_row, self._row)
            self._row = 0

    def on_resize(self, event: events.Resize) -> None:
        """Fold them anew."""
        self.load()

    def action_copy_line(self) -> None:
        """Copy the line under the cursor."""
        self.app.copy_to_clipboard(self._lines[self.query_one(CodeView).cursor])
