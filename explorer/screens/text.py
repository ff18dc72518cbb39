"""A screen of text to read, search and copy: help and information."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from explorer.screens.asking import Modal
from explorer.widgets.code_view import CodeView
from explorer.widgets.text_line import Part, TextLine


class TextScreen(Modal[None]):
    """Shows lines. Escape, q, or the key that opened it goes back."""

    DEFAULT_CSS = """
    TextScreen { background: $background; & > CodeView { height: 1fr; } & > .title { background: $primary; } }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,f1,f12,question_mark,i", "dismiss(None)", "back"),
        Binding("y", "copy_line", "copy line"),
        Binding("Y", "copy_all", "copy all"),
    ]

    def __init__(self, title: str, lines: list[str], language: str = "report") -> None:
        super().__init__()
        self._title = title
        self._lines = lines
        self._language = language

    def compose(self) -> ComposeResult:
        """Title, text, keys."""
        yield TextLine(classes="title")
        yield CodeView()
        yield TextLine(id="keys")

    def on_mount(self) -> None:
        """Fill in."""
        self.query_one(".title", TextLine).show([Part(f" {self._title}")])
        self.query_one("#keys", TextLine).show([Part(" esc back   j k page move   y copy line   Y copy all")])
        view = self.query_one(CodeView)
        view.load(self._lines, self._language)
        view.focus()

    def action_copy_line(self) -> None:
        """Copy the line under the cursor."""
        self.app.copy_to_clipboard(self._lines[self.query_one(CodeView).cursor])

    def action_copy_all(self) -> None:
        """Copy everything."""
        self.app.copy_to_clipboard("\n".join(self._lines))
