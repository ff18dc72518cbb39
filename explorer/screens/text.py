"""Screens of text to read and copy: help, information, and what else is a page of lines."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from explorer.screens.asking import Answer, Modal
from explorer.widgets.code_view import CodeView
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

    def action_copy_all(self) -> None:
        """Copy everything."""
        self.app.copy_to_clipboard("\n".join(self._lines))


class TextScreen(Page[None]):
    """Lines that stay as they are. Escape, q, or the key that opened it goes back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,f1,f12,question_mark,i", "dismiss(None)", "back"),
        Binding("y", "copy_line", "copy line"),
        Binding("Y", "copy_all", "copy all"),
    ]

    def __init__(self, title: str, lines: list[str], row: int = 0) -> None:
        super().__init__(title, "esc back   j k page move   y copy line   Y copy all", lines)
        self._row = row

    def load(self) -> None:
        """Show the lines, with the cursor where it is wanted."""
        super().load()
        if self._row:
            self.call_after_refresh(self.query_one(CodeView).show_row, self._row)

    def action_copy_line(self) -> None:
        """Copy the line under the cursor."""
        self.app.copy_to_clipboard(self._lines[self.query_one(CodeView).cursor])
