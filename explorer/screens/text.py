"""Screens of text to read and copy: help, information, and what else is a page of lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from explorer.model.search import hits, next_hit
from explorer.screens.asking import Answer, Modal
from explorer.widgets.code_view import CodeView
from explorer.widgets.find_bar import FindBar
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
        Binding("escape,q,f1,f12,question_mark,i", "back", "back"),
        Binding("y", "copy_line", "copy line"),
        Binding("Y", "copy_all", "copy all"),
        Binding("slash,ctrl+f", "find", "find"),
        Binding("n", "find_next(1)", "next"),
        Binding("N", "find_next(-1)", "previous"),
    ]

    def __init__(self, title: str, lines: list[str] | Callable[[int], list[str]], row: int = 0) -> None:
        super().__init__(title, "esc back   j k page move   / n N find   y copy line   Y copy all", [])
        self._find_bar = FindBar()
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

    def compose(self) -> ComposeResult:
        """Above the keys, what is looked for."""
        *above, keys = super().compose()
        yield from above
        yield self._find_bar
        yield keys

    async def action_find(self) -> None:
        """Type what to look for."""
        await self._find_bar.open()

    @on(FindBar.Changed)
    def _looked_for(self, event: FindBar.Changed) -> None:
        view = self.query_one(CodeView)
        view.search(event.query)
        rows = hits(view.lines, event.query)
        self._find_bar.show_count(len(rows))
        if rows:
            view.show_row(rows[0])

    @on(FindBar.Done)
    def _found(self) -> None:
        self._find_bar.close()
        self.query_one(CodeView).focus()

    def action_find_next(self, step: int) -> None:
        """Go to the next or previous occurrence."""
        view = self.query_one(CodeView)
        row = next_hit(hits(view.lines, self._find_bar.query_text), view.cursor, step)
        if row is not None:
            view.move_to(row)

    def action_back(self) -> None:
        """Leave the search, else the page."""
        if self._find_bar.is_open:
            self._find_bar.close()
            self.query_one(CodeView).search("")
            self.query_one(CodeView).focus()
        else:
            self.dismiss(None)

    def action_copy_line(self) -> None:
        """Copy the line under the cursor."""
        self.app.copy_to_clipboard(self._lines[self.query_one(CodeView).cursor])
