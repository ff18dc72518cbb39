"""How a listing is painted: each line is tokenised and made into a strip when it is shown, and only then."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.cache import LRUCache
from textual.scroll_view import ScrollView
from textual.strip import Strip

from explorer.highlight import Highlighted, Run, tokenizer
from explorer.model.search import occurrences
from explorer.model.story import Mark
from explorer.model.values import Occurrence
from explorer.widgets.bar import WithBar
from explorer.widgets.rows import ChangedRows
from explorer.widgets.syntax import syntax_styles
from explorer.widgets.text_line import visible

#: Columns left of the text: a sign for the cursor or a link, and one for a change or a value that is followed.
GUTTER = 2
_BOLD = Style(bold=True)
DEFINES, USES = "=", "\u00b7"


def shown(text: str) -> str:
    """The text as it can be put on a terminal: tabs expanded, control characters replaced."""
    return visible(text.expandtabs(8))


class PaintedLines(WithBar, ChangedRows, ScrollView):
    """The rows of a listing: gutter, tokens, and what is laid over them. `CodeView` says what is shown."""

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
        "code--defined",
        "code--used",
    }
    DEFAULT_CSS = """
    PaintedLines {
        background: $background; color: $foreground; scrollbar-size: 0 1; overflow-x: scroll;
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
        & > .code--defined { background: $secondary-muted; color: $foreground; text-style: bold reverse; }
        & > .code--used { background: $secondary-muted; color: $foreground; text-style: underline; }
        &:ansi {
            & > .code--cursor { background: ansi_default; text-style: underline; }
            & > .code--linked { background: ansi_default; text-style: bold reverse; }
            & > .code--match { background: ansi_default; text-style: reverse; }
            & > .code--added, & > .code--removed, & > .code--moved, & > .code--failed { background: ansi_default; }
            & > .code--defined { background: ansi_default; text-style: bold reverse; }
            & > .code--used { background: ansi_default; text-style: underline; }
        }
    }
    """

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self.lines: Sequence[str] = ()
        self.cursor = 0
        self.stale = False
        self._linked: frozenset[int] = frozenset()
        self._followed: Mapping[int, Occurrence] = {}
        self._query = ""
        self._marks: Sequence[Mark | None] = ()
        self._strips: LRUCache[tuple[object, ...], Strip] = LRUCache(4096)
        self._styles_by_name: dict[str, Style] = {}
        self._highlighted = Highlighted(tokenizer(""), self._line)

    def _line(self, row: int) -> str:
        return shown(self.lines[row])

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

    def row_maker(self) -> Callable[[int], Strip]:
        """Makes rows of the window: gutter, then the visible part of the text. The same object as long as it looks the
        same: strips are dear, and an edit asks for every row of every listing several times."""
        width, (scroll_x, scroll_y), selection = self.size.width, self.scroll_offset, self.text_selection
        cursor_row = self.cursor if self.has_focus else -1

        def make(y: int) -> Strip:
            row = scroll_y + y
            if row >= len(self.lines):
                return self._blank(width)
            span = selection.get_span(row) if selection else None
            linked, cursor = row in self._linked, row == cursor_row
            line = self._line(row)
            # Rows are told apart by what they say, so those that an edit leaves as they are need not be made again.
            mark = self._marks[row] if row < len(self._marks) else None
            value, state = self._followed.get(row), self._highlighted.state(row)
            key = (row, line, state, self.stale, linked, cursor, mark, value, span, scroll_x, width)
            strip = self._strips.get(key)
            if strip is None:
                row_style = self._style("code--cursor") if cursor else Style()
                if mark is not None:
                    row_style += self._style(f"code--{mark.kind}")
                columns = scroll_x, scroll_x + width - GUTTER
                text = self._text(row, line, row_style, mark, value, span, columns)
                gutter = self._gutter(row_style, linked, cursor, mark, value)
                strip = self._strips[key] = Strip([*gutter, *text], width)
            return strip

        return make

    def render_line(self, y: int) -> Strip:
        """A row with the places of its text, for the mouse to select: they are dear, and painting needs none."""
        strip, (scroll_x, scroll_y) = self.row(y), self.scroll_offset
        text = strip.crop(GUTTER).apply_offsets(scroll_x, scroll_y + y)
        return Strip([*strip.crop(0, GUTTER), *text], strip.cell_length)

    def _blank(self, width: int) -> Strip:
        strip = self._strips.get((width,))
        if strip is None:
            strip = self._strips[(width,)] = Strip.blank(width, self._base)
        return strip

    def _gutter(
        self, row_style: Style, linked: bool, cursor: bool, mark: Mark | None, value: Occurrence | None
    ) -> list[Segment]:
        fill = self._base + row_style
        # A link lights the gutter alone: two cells a row, whatever the number of rows and the speed of the line.
        style = self._style("code--linked") if linked else fill + self._style("code--gutter")
        sign = ">" if linked else "\u258c" if cursor else " "
        if value is not None and (mark is None or mark.kind == "failed"):
            return [Segment(sign, style), Segment(DEFINES if value.defines else USES, fill + _BOLD)]
        return [Segment(sign, style), Segment(mark.sign if mark else " ", fill)]

    def _text(
        self,
        row: int,
        line: str,
        row_style: Style,
        mark: Mark | None,
        value: Occurrence | None,
        span: tuple[int, int] | None,
        columns: tuple[int, int],
    ) -> Iterable[Segment]:
        """The columns of a row that are seen."""
        runs = [(len(line), "comment")] if self.stale else self._highlighted.tokens(row)
        if not line.isascii() or mark or value or self._query or span:
            strip = Strip(self._segments(line, runs, row_style, 0, len(line)))
            strip = self._laid_over(strip, row, line, mark, value, span)
            return strip.crop_extend(*columns, self._base + row_style)
        # A strip for each step would take longer than all the rest.
        segments = self._segments(line, runs, row_style, *columns)
        if blanks := columns[1] - max(columns[0], len(line)):
            segments.append(Segment(" " * blanks, self._base + row_style))
        return segments

    def _segments(self, line: str, runs: Sequence[Run], row_style: Style, start: int, end: int) -> list[Segment]:
        """The characters from `start` to `end` of a line in the colours of its tokens."""
        segments, at, plain = [], 0, not row_style
        for length, name in (*runs, (len(line), "")):
            if text := line[max(at, start) : min(at + length, end)]:
                style = self._style(name)
                segments.append(Segment(text, style if plain else style + row_style))
            at += length
            if at >= end:
                break
        return segments

    def _laid_over(
        self,
        strip: Strip,
        row: int,
        line: str,
        mark: Mark | None,
        value: Occurrence | None,
        span: tuple[int, int] | None,
    ) -> Strip:
        """A row's text with what is marked in it."""
        for start, end in mark.ranges if mark else ():
            name = "code--fault" if mark is not None and mark.kind == "failed" else "code--word"
            strip = restyle(strip, line, start, end, self._style(name))
        for start, end in value.ranges if value else ():
            name = "code--defined" if value is not None and value.defines else "code--used"
            strip = restyle(strip, line, *columns(self.lines[row], start, end), self._style(name))
        for start, end in occurrences(line, self._query):
            strip = restyle(strip, line, start, end, self._style("code--match"))
        if span is not None:
            end = len(line) if span[1] == -1 else span[1]
            style = self.screen.get_component_rich_style("screen--selection")
            strip = restyle(strip, line, span[0], end, style)
        return strip.simplify()


def columns(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the characters from `start` to `end` of a text stand when it is shown: tabs take several columns."""
    return (len(text[:start].expandtabs(8)), len(text[:end].expandtabs(8))) if "\t" in text else (start, end)


def restyle(strip: Strip, text: str, start: int, end: int, style: Style) -> Strip:
    """`strip` (of `text`) with `style` laid over the characters from `start` to `end`."""
    first, last = cell_len(text[:start]), cell_len(text[:end])
    if first >= last:
        return strip
    before, middle, after = strip.crop(0, first), strip.crop(first, last), strip.crop(last)
    return Strip.join([before, Strip(Segment.apply_style(middle, post_style=style)), after])
