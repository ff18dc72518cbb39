"""A read-only listing of any length: its cursor, what is lit in it, search and mouse selection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.selection import Selection
from textual.widget import Widget

from explorer.actions import MOVES
from explorer.highlight import Highlighted, tokenizer
from explorer.model.links import reveal as reveal_rows
from explorer.model.story import Mark
from explorer.model.values import Occurrence
from explorer.widgets.painted_lines import GUTTER, PaintedLines, shown


def moved(old: Sequence[str], new: Sequence[str], row: int) -> int:
    """Where `row` of `old` is in `new`, if the two differ in one place: rows after the difference move with it."""
    limit = min(len(old), len(new))
    prefix = next((i for i in range(limit) if old[i] != new[i]), limit)
    if row < prefix:
        return row
    limit -= prefix
    suffix = next((i for i in range(limit) if old[-1 - i] != new[-1 - i]), limit)
    if suffix and row >= len(old) - suffix:
        return row + len(new) - len(old)
    return min(row, max(0, len(new) - 1))


class CodeView(PaintedLines, can_focus=True):
    """One listing with a cursor line, linked lines, a value that is followed, search hits and mouse selection."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key, action.name, action.help, show=False)
        for action in MOVES
        for key in (*action.letters, *action.keys)
    ]

    @dataclass
    class CursorMoved(Message):
        """The cursor line changed by the user's doing; `left` is the row that a jump began at, else None."""

        view: CodeView
        row: int
        left: int | None = None

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._language = ""
        self.clicked: int | None = None  # the character that was clicked, until the cursor moves on
        self._height = 0

    # What is shown

    def load(
        self, lines: Sequence[str], language: str, *, stale: bool = False, marks: Sequence[Mark | None] = ()
    ) -> None:
        """Show `lines`, in a diff with a mark for each. Cursor and scroll position stay with the lines they were at."""
        if language != self._language:
            self._language = language
            self._highlighted = Highlighted(tokenizer(language), self._line)
        elif lines is self.lines and stale == self.stale and marks is self._marks:
            return
        old, self.lines, self.stale, self._marks = self.lines, lines, stale, marks
        self._highlighted.forget()
        top = round(self.scroll_y)
        self.cursor = moved(old, lines, self.cursor)
        width = GUTTER + max((len(t.expandtabs(8)) if t.isascii() else cell_len(shown(t)) for t in lines), default=0)
        self._resize_content(Size(width, len(lines)))
        new_top = moved(old, lines, top) if top else 0
        if new_top != top:
            self.scroll_to(y=new_top, animate=False)
        self.refresh()

    def _resize_content(self, size: Size) -> None:
        """Set the size of the listing. Assigning `virtual_size` lays out and repaints the whole screen, which an edit
        that adds a line need not pay for while the scroll bars that are shown stay the same."""
        if not self.size or (size.height > self.size.height) != self.show_vertical_scrollbar:
            self.virtual_size = size
        elif size != self.virtual_size:
            self.set_reactive(Widget.virtual_size, size)
            if self.show_vertical_scrollbar:
                self.vertical_scrollbar.window_virtual_size = size.height
            self.scroll_to(
                x=min(self.scroll_x, self.max_scroll_x), y=min(self.scroll_y, self.max_scroll_y), animate=False
            )

    def link(self, rows: Sequence[int], reveal: Sequence[int]) -> None:
        """Mark `rows` as coming from the line under the cursor elsewhere; bring a run of `reveal` into view."""
        linked = frozenset(rows)
        if linked != self._linked:
            self._linked = linked
            self.refresh()
        if (top := reveal_rows(reveal, round(self.scroll_y), self.size.height)) is not None:
            self.scroll_to(y=top, animate=False)

    def follow(self, occurrences: Sequence[Occurrence]) -> None:
        """Mark where the value stands that is followed."""
        followed = {occurrence.row: occurrence for occurrence in occurrences}
        if followed != self._followed:
            self._followed = followed
            self.refresh()

    @property
    def followed(self) -> tuple[Occurrence, ...]:
        """Where the value stands that is followed, in the order of the rows."""
        return tuple(self._followed.values())

    @property
    def on_value(self) -> bool:
        """Whether the cursor is on a row that names the value that is followed."""
        return self.cursor in self._followed

    @property
    def linked(self) -> frozenset[int]:
        """The rows that are lit."""
        return self._linked

    @property
    def in_view(self) -> range:
        """The rows that the window shows."""
        top = round(self.scroll_y)
        return range(top, top + max(1, self.size.height))

    def show_row(self, row: int) -> None:
        """Put the cursor on a row to look at, without the user's doing."""
        if (top := reveal_rows([row], round(self.scroll_y), self.size.height)) is not None:
            self.scroll_to(y=top, animate=False, force=True)  # the scroll bar may be just coming
        self.cursor = row
        self.refresh()

    def on_resize(self, event: events.Resize) -> None:
        """A cursor that was in view stays in view."""
        before, self._height = self._height, event.size.height
        if event.size.height < before and 0 <= self.cursor - round(self.scroll_y) < before:
            self.call_after_refresh(self.show_row, self.cursor)

    # Cursor and search

    def move_to(self, row: int, jump: bool = False) -> None:
        """Put the cursor on `row` (clamped) and bring it into view; a `jump` is one that can be taken back."""
        row = max(0, min(row, len(self.lines) - 1))
        top, height = round(self.scroll_y), max(1, self.size.height)
        if row < top:
            self.scroll_to(y=row, animate=False)
        elif row >= top + height:
            self.scroll_to(y=row - height + 1, animate=False)
        self.clicked = None
        if row != self.cursor:
            left, self.cursor = self.cursor, row
            self.refresh()
            self.post_message(self.CursorMoved(self, row, left if jump else None))

    def action_move(self, rows: int) -> None:
        """Move the cursor by lines."""
        self.move_to(self.cursor + rows)

    def action_page(self, pages: int) -> None:
        """Move cursor and view by pages."""
        distance = pages * max(1, self.size.height - 1)
        self.scroll_to(y=round(self.scroll_y) + distance, animate=False)
        self.move_to(self.cursor + distance)

    def action_edge(self, end: bool) -> None:
        """Move the cursor to the first or last line."""
        self.move_to(len(self.lines) - 1 if end else 0, jump=True)

    def action_shift(self, columns: int) -> None:
        """Scroll sideways."""
        self.scroll_to(x=self.scroll_x + columns, animate=False)

    def search(self, query: str) -> None:
        """Mark every occurrence of `query` (no letter case unless it has capitals)."""
        if query != self._query:
            self._query = query
            self._strips.clear()
            self.refresh()

    # Mouse

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on the line that was clicked."""
        self.move_to(round(self.scroll_y) + event.y)
        self.clicked = event.x + round(self.scroll_x) - GUTTER

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text, for copying."""
        return selection.extract("\n".join(self._line(row) for row in range(len(self.lines)))), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """The mouse selection changed."""
        self.refresh()
