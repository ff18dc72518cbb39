"""A read-only listing of any length: lines are tokenised and rendered when they are shown, and only then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from explorer.actions import MOVES
from explorer.highlight import Highlighted, tokenizer
from explorer.model.links import reveal as reveal_rows
from explorer.model.search import occurrences
from explorer.model.story import Mark
from explorer.widgets.rows import ChangedRows
from explorer.widgets.syntax import syntax_styles
from explorer.widgets.text_line import visible

#: Columns left of the text: a sign for the cursor or a link, and a blank.
GUTTER = 2


def shown(text: str) -> str:
    """The text as it can be put on a terminal: tabs expanded, control characters replaced."""
    return visible(text.expandtabs(8))


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


class CodeView(ChangedRows, ScrollView, can_focus=True):
    """One listing with a cursor line, linked lines, search hits and mouse selection."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "code--gutter",
        "code--cursor",
        "code--linked",
        "code--match",
        "code--added",
        "code--removed",
        "code--moved",
        "code--failed",
        "code--fault",
        "code--word",
    }
    DEFAULT_CSS = """
    CodeView {
        background: $background; color: $foreground; scrollbar-size: 0 1;
        & > .code--gutter { color: $text-accent; text-style: bold; }
        & > .code--cursor { background: $surface-lighten-2; }
        & > .code--linked { background: $primary; color: $foreground; text-style: bold; }
        & > .code--match { background: $warning-muted; color: $foreground; text-style: underline; }
        & > .code--added { background: $success-muted; }
        & > .code--removed { background: $error-muted; }
        & > .code--moved { background: $accent-muted; }
        & > .code--failed { background: $error-muted; }
        & > .code--fault { text-style: bold underline; }
        & > .code--word { text-style: bold reverse; }
        &:ansi {
            & > .code--cursor { background: ansi_default; text-style: underline; }
            & > .code--linked { background: ansi_default; text-style: bold reverse; }
            & > .code--match { background: ansi_default; text-style: reverse; }
            & > .code--added, & > .code--removed, & > .code--moved, & > .code--failed { background: ansi_default; }
        }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key, action.name, action.help, show=False)
        for action in MOVES
        for key in (*action.letters, *action.keys)
    ]

    @dataclass
    class CursorMoved(Message):
        """The cursor line changed by the user's doing."""

        view: CodeView
        row: int

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.lines: Sequence[str] = ()
        self.cursor = 0
        self.stale = False
        self._language = ""
        self._linked: frozenset[int] = frozenset()
        self._query = ""
        self._marks: Sequence[Mark | None] = ()
        self._strips: LRUCache[tuple[object, ...], Strip] = LRUCache(4096)
        self._styles_by_name: dict[str, Style] = {}
        self._highlighted = Highlighted(tokenizer(""), self._line)

    def _line(self, row: int) -> str:
        return shown(self.lines[row])

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
        width = GUTTER + max(
            (len(t) if t.isascii() and "\t" not in t else cell_len(shown(t)) for t in lines), default=0
        )
        self._resize_content(Size(width, len(lines)))
        new_top = moved(old, lines, top) if top else 0
        if new_top != top:
            self.scroll_to(y=new_top, animate=False)
        self.refresh()

    def _resize_content(self, size: Size) -> None:
        """Set the size of the listing. Assigning `virtual_size` lays out and repaints the whole screen, which an edit
        that adds a line need not pay for while the scroll bars that are shown stay the same."""
        bars = (size.height > self.size.height, size.width > self.size.width)
        if not self.size or bars != (self.show_vertical_scrollbar, self.show_horizontal_scrollbar):
            self.virtual_size = size
        elif size != self.virtual_size:
            self.set_reactive(Widget.virtual_size, size)
            if self.show_vertical_scrollbar:
                self.vertical_scrollbar.window_virtual_size = size.height
            if self.show_horizontal_scrollbar:
                self.horizontal_scrollbar.window_virtual_size = size.width
            self.scroll_to(
                x=min(self.scroll_x, self.max_scroll_x), y=min(self.scroll_y, self.max_scroll_y), animate=False
            )

    def link(self, rows: Sequence[int], *, reveal: bool = True) -> None:
        """Mark `rows` as coming from the line under the cursor elsewhere; bring a run of them into view."""
        linked = frozenset(rows)
        if linked != self._linked:
            self._linked = linked
            self.refresh()
        if reveal and (top := reveal_rows(rows, round(self.scroll_y), self.size.height)) is not None:
            self.scroll_to(y=top, animate=False)

    def show_row(self, row: int) -> None:
        """Put the cursor on a row to look at, without the user's doing."""
        if (top := reveal_rows([row], round(self.scroll_y), self.size.height)) is not None:
            self.scroll_to(y=top, animate=False, force=True)  # the scroll bar may be just coming
        self.cursor = row
        self.refresh()

    # Cursor and search

    def move_to(self, row: int) -> None:
        """Put the cursor on `row` (clamped) and bring it into view."""
        row = max(0, min(row, len(self.lines) - 1))
        top, height = round(self.scroll_y), max(1, self.size.height)
        if row < top:
            self.scroll_to(y=row, animate=False)
        elif row >= top + height:
            self.scroll_to(y=row - height + 1, animate=False)
        if row != self.cursor:
            self.cursor = row
            self.refresh()
            self.post_message(self.CursorMoved(self, row))

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
        self.move_to(len(self.lines) - 1 if end else 0)

    def action_shift(self, columns: int) -> None:
        """Scroll sideways."""
        self.scroll_to(x=self.scroll_x + columns, animate=False)

    def search(self, query: str) -> None:
        """Mark every occurrence of `query` (no letter case unless it has capitals)."""
        self._query = query
        self._strips.clear()
        self.refresh()

    # Rendering

    def notify_style_update(self) -> None:
        """The theme or the state of the widget changed: styles must be looked up anew."""
        self._styles_by_name.clear()
        self._strips.clear()
        super().notify_style_update()

    def _style(self, name: str) -> Style:
        """A token style or a component's, complete with the widget's colours."""
        if not self._styles_by_name:
            # `rich_style` is computed anew each time it is read; these are kept until the style changes.
            base = self.rich_style
            self._styles_by_name = {token: base + style for token, style in syntax_styles(self).items()}
            for component in self.COMPONENT_CLASSES:
                self._styles_by_name[component] = self.get_component_rich_style(component, partial=True)
        return self._styles_by_name.get(name) or self._styles_by_name[""]

    @property
    def _base(self) -> Style:
        return self._style("")

    def make_row(self, y: int) -> Strip:
        """Row `y` of the window: gutter, then the visible part of the text. The same object as long as it looks the
        same: strips are dear, and an edit asks for every row of every listing several times."""
        width = self.size.width
        scroll_x, scroll_y = self.scroll_offset
        row = scroll_y + y
        if row >= len(self.lines):
            return self._blank(width)
        selection = self.text_selection
        span = selection.get_span(row) if selection else None
        linked, cursor = row in self._linked, self._is_cursor(row)
        line = self._line(row)
        # Rows are told apart by what they say, so those that an edit leaves as they are need not be made again.
        mark = self._marks[row] if row < len(self._marks) else None
        key = (row, line, self._highlighted.state(row), self.stale, linked, cursor, mark, span, scroll_x, width)
        strip = self._strips.get(key)
        if strip is None:
            row_style = self._style("code--cursor") if cursor else Style()
            if mark is not None:
                row_style += self._style(f"code--{mark.kind}")
            text = self._text(row, line, row_style, mark, span)
            strip = self._strips[key] = self._row(row, text, row_style, linked, cursor, mark, scroll_x, width)
        return strip

    def _blank(self, width: int) -> Strip:
        strip = self._strips.get((width,))
        if strip is None:
            strip = self._strips[(width,)] = Strip.blank(width, self._base)
        return strip

    def _row(
        self,
        row: int,
        text: Strip,
        row_style: Style,
        linked: bool,
        cursor: bool,
        mark: Mark | None,
        scroll_x: int,
        width: int,
    ) -> Strip:
        fill = self._base + row_style
        text = text.crop_extend(scroll_x, scroll_x + width - GUTTER, fill).apply_offsets(scroll_x, row)
        # A link lights the gutter alone: two cells a row, whatever the number of rows and the speed of the line.
        style = self._style("code--linked") if linked else fill + self._style("code--gutter")
        sign = ">" if linked else "\u258c" if cursor else " "
        return Strip([Segment(sign, style), Segment(mark.sign if mark else " ", fill), *text], width)

    def _is_cursor(self, row: int) -> bool:
        return row == self.cursor and self.has_focus

    def _text(self, row: int, line: str, row_style: Style, mark: Mark | None, span: tuple[int, int] | None) -> Strip:
        """The uncropped text of a row."""
        if self.stale:
            segments = [Segment(line, self._style("comment") + row_style)]
        else:
            segments, at = [], 0
            for length, name in self._highlighted.tokens(row):
                segments.append(Segment(line[at : at + length], self._style(name) + row_style))
                at += length
        strip = Strip([segment for segment in segments if segment.text])
        for start, end in mark.ranges if mark else ():
            name = "code--fault" if mark is not None and mark.kind == "failed" else "code--word"
            strip = restyle(strip, line, start, end, self._style(name))
        for start, end in occurrences(line, self._query):
            strip = restyle(strip, line, start, end, self._style("code--match"))
        if span is not None:
            end = len(line) if span[1] == -1 else span[1]
            style = self.screen.get_component_rich_style("screen--selection")
            strip = restyle(strip, line, span[0], end, style)
        return strip.simplify()

    # Mouse

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on the line that was clicked."""
        self.move_to(round(self.scroll_y) + event.y)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text, for copying."""
        return selection.extract("\n".join(self._line(row) for row in range(len(self.lines)))), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """The mouse selection changed."""
        self.refresh()


def restyle(strip: Strip, text: str, start: int, end: int, style: Style) -> Strip:
    """`strip` (of `text`) with `style` laid over the characters from `start` to `end`."""
    first, last = cell_len(text[:start]), cell_len(text[:end])
    if first >= last:
        return strip
    before, middle, after = strip.crop(0, first), strip.crop(first, last), strip.crop(last)
    return Strip.join([before, Strip(Segment.apply_style(middle, post_style=style)), after])
