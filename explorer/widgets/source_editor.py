"""The editor: TextArea with our highlighting, and findings and links marked at their lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.cache import LRUCache
from textual.geometry import Offset
from textual.strip import Strip
from textual.widgets import TextArea
from textual.widgets.text_area import DocumentNavigator, WrappedDocument

from explorer.highlight import Highlighted, tokenizer
from explorer.model.line_counts import LineCounts
from explorer.model.links import reveal as reveal_rows
from explorer.model.problems import words
from explorer.model.result import DiagnosticView
from explorer.widgets.bar import WithBar
from explorer.widgets.completing import Completing
from explorer.widgets.document import PythonDocument
from explorer.widgets.editor_commands import EditorCommands
from explorer.widgets.rows import ChangedRows
from explorer.widgets.syntax import syntax_styles
from explorer.widgets.text_line import fitted, visible

#: Columns beside the line numbers for how many lines each became, and the width of an editor that can spare them.
COUNT_WIDTH, SPARES = 4, 40


class SourceEditor(Completing, EditorCommands, WithBar, ChangedRows, TextArea):
    """Text of a file, `written_in` Python or MLIR. `mark` puts findings at their lines: a letter in the gutter and an
    underline in the text."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "source--linked",
        "source--error",
        "source--warning",
        "source--found",
        "source--said",
        "source--entry",
        "source--chosen",
        "source--about",
    }
    DEFAULT_CSS = """
    SourceEditor, SourceEditor:focus {
        background: $background; color: $foreground; border: none; padding: 0; scrollbar-size: 0 1;
        & > .source--linked { background: $primary; color: $foreground; text-style: bold; }
        & > .source--error { color: $text-error; text-style: underline; }
        & > .source--warning { color: $text-warning; text-style: underline; }
        & > .source--said { color: $text-error; text-style: italic; }
        & > .source--entry { background: $panel; color: $foreground; }
        & > .source--chosen { background: $primary; color: $foreground; text-style: bold; }
        & > .source--about { background: $surface-lighten-2; color: $foreground; text-style: italic; }
        & > .source--found { background: $warning-muted; text-style: underline; }
        & > .text-area--cursor-line { background: $surface-lighten-2; }
        & > .text-area--cursor-gutter { background: $surface-lighten-2; color: $foreground; }
        & > .text-area--gutter { color: $foreground-muted; }
        &:ansi {
            & > .source--linked { background: ansi_default; text-style: bold reverse; }
            & > .text-area--cursor-line { background: ansi_default; text-style: underline; }
            & > .text-area--cursor-gutter { background: ansi_default; text-style: bold; }
            & > .text-area--selection { background: ansi_default; text-style: reverse; }
        }
    }
    """

    def __init__(self, text: str, id: str | None = None, written_in: str = "python") -> None:
        self._counting = True
        self.written_in = written_in
        super().__init__(text, id=id, soft_wrap=False, show_line_numbers=True, tab_behavior="focus")
        self.cursor_blink = False
        self._styles_by_name: dict[str, Style] = {}
        self._rows_made: LRUCache[tuple[object, ...], Strip] = LRUCache(1024)
        self._marks: dict[int, list[DiagnosticView]] = {}
        self._linked: frozenset[int] = frozenset()
        self._found: dict[int, list[tuple[int, int]]] = {}
        self._counts = LineCounts()
        self._lex("")

    def _lex(self, language: str) -> None:
        self._lexed = bool(language)
        self._highlighted = Highlighted(tokenizer(language), lambda row: self.document.get_line(row))

    def show_colours(self) -> None:
        """Highlight from now on. What is painted first does without, and is painted 45 ms earlier: that long it takes
        until Pygments has compiled its lexer."""
        if not self._lexed:
            self._lex(self.written_in)
            self._rows_made.clear()
            self.refresh()

    def _set_document(self, text: str, language: str | None) -> None:
        super()._set_document("", language)
        self.document = PythonDocument(text)
        self.wrapped_document = WrappedDocument(self.document, tab_width=self.indent_width)
        self.navigator = DocumentNavigator(self.wrapped_document)
        self._rewrap_and_refresh_virtual_size()

    def on_resize(self) -> None:
        """The cursor stays in view; where it is elsewhere, what is linked to it."""
        if self.has_focus or not self._linked:
            self.call_after_refresh(self.scroll_cursor_visible)

    def code(self, row: int) -> str:
        """A row with what is no code blanked out."""
        self.show_colours()
        return self._highlighted.code(row)

    # What is marked

    def mark(self, diagnostics: Sequence[DiagnosticView]) -> None:
        """Show these findings at their lines, in place of those before."""
        marks: dict[int, list[DiagnosticView]] = {}
        for diagnostic in diagnostics:
            if diagnostic.line is not None:
                marks.setdefault(diagnostic.line - 1, []).append(diagnostic)
        if marks != self._marks:
            self._marks = marks
            self.refresh()

    def link(self, lines: Sequence[int], *, reveal: bool = True) -> None:
        """Light these file lines (from 1); bring a run of them into view."""
        linked = frozenset(line - 1 for line in lines)
        if linked != self._linked:
            self._linked = linked
            self.refresh()
        if reveal and (top := reveal_rows(list(linked), round(self.scroll_y), self.size.height)) is not None:
            self.scroll_to(y=top, animate=False)

    def show_found(self, found: dict[int, list[tuple[int, int]]]) -> None:
        """Mark these columns of rows (all from 0), in place of those before."""
        if found != self._found:
            self._found = found
            self.refresh()

    @property
    def counting(self) -> bool:
        """Whether lines are told how many they became, where there is room."""
        return self._counting

    @counting.setter
    def counting(self, counting: bool) -> None:
        if counting != self._counting:
            self._counting = counting
            self._rewrap_and_refresh_virtual_size()
            self.refresh()

    @property
    def count_width(self) -> int:
        """The columns for how many lines each became."""
        return COUNT_WIDTH if self._counting and self.outer_size.width >= SPARES else 0

    @property
    def gutter_width(self) -> int:
        """TextArea's gutter, with those columns: wherever it is asked for, they are part of it."""
        return super().gutter_width + self.count_width

    def count(self, counts: LineCounts) -> None:
        """Show beside each line how many it became."""
        if counts != self._counts:
            self._counts = counts
            self.refresh()

    def go_to(self, line: int, column: int = 1) -> None:
        """Put the cursor at a place of the file (both from 1)."""
        self.move_cursor((max(0, line - 1), max(0, column - 1)), center=bool(self.size))
        if not self.size:  # another pane has had the whole screen
            self.call_after_refresh(self.scroll_cursor_visible, center=True)

    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:
        """Where there is no room yet it would scroll sideways, up to the cursor."""
        return super().scroll_cursor_visible(center, animate) if self.size else self.scroll_offset

    # Rendering

    def notify_style_update(self) -> None:
        """Styles must be looked up anew."""
        self._styles_by_name.clear()
        super().notify_style_update()

    def _style(self, name: str) -> Style:
        if not self._styles_by_name:
            self._styles_by_name = syntax_styles(self)
            for component in self.COMPONENT_CLASSES:
                self._styles_by_name[component] = self.get_component_rich_style(component, partial=True)
        return self._styles_by_name.get(name, Style())

    def get_line(self, line_index: int) -> Text:
        """The line with its colours and underlines; called by TextArea for each line it shows."""
        text = Text(visible(self.document.get_line(line_index)), end="", no_wrap=True)
        at = 0
        for length, name in self._highlighted.tokens(line_index):
            if name:
                text.stylize(self._style(name), at, at + length)
            at += length
        for start, end in self._found.get(line_index, ()):
            text.stylize(self._style("source--found"), start, end)
        for mark in self._marks.get(line_index, ()):
            start, end = self._extent(mark, text.plain)
            text.stylize(self._style(f"source--{'error' if mark.severity == 'error' else 'warning'}"), start, end)
        return text

    @staticmethod
    def _extent(mark: DiagnosticView, line: str) -> tuple[int, int]:
        start = (mark.column or 1) - 1
        end = mark.end_column - 1 if mark.end_column and mark.end_line in (None, mark.line) else len(line)
        if start >= len(line.rstrip()):  # past the end, as for something that is missing: show the last character
            start, end = max(0, len(line.rstrip()) - 1), len(line)
        return start, max(end, start + 1)

    @property
    def findings(self) -> Sequence[DiagnosticView]:
        """What is wrong with the line that the cursor is in."""
        return self._marks.get(self.cursor_location[0], ())

    def row_maker(self) -> Callable[[int], Strip]:
        """Makes rows out of TextArea's, which makes all of the window anew after every edit; here those that look the
        same are kept."""
        if not self._styles_by_name:
            self._rows_made.clear()
            self._style("")  # looked up now: rows that TextArea remembers ask for none, and all would be made each time
            if self._theme is not None:
                self._theme.apply_css(self)
        width, (left, top), count = self.size.width, self.scroll_offset, self.document.line_count
        gutter, focus, bracket = self.gutter_width, self.has_focus, self._matching_bracket_location
        end, (first, last) = self.selection.end, sorted(self.selection)
        counting, counts = self.count_width, self._counts
        everywhere = width, left, gutter, focus, self.virtual_size.width

        def make(y: int) -> Strip:
            row = top + y
            key: tuple[object, ...] = (width, focus)
            if row < count:
                selected = (first, last) if first[0] <= row <= last[0] else None
                here = (end, self.suggestion, bracket) if row in (end[0], bracket and bracket[0]) else None
                marked = tuple(self._marks.get(row, ())), row in self._linked, tuple(self._found.get(row, ()))
                counted = (counts.lines.get(row + 1), counts.stale) if counting else None
                line = self.document.get_line(row)
                key = (everywhere, row, line, self._highlighted.state(row), marked, counted, selected, here)
            strip = self._rows_made.get(key)
            if strip is None:
                strip = self._render_line(y)
                strip = self._signed_row(row, self._counted(row, strip)) if row < count else strip
                strip = self._rows_made[key] = strip.crop_extend(0, width, None)
            return strip if self.popup is None else self.over(strip, y, self._popup_styles())

        return make

    def _popup_styles(self) -> dict[str, Style]:
        return {kind: self._style(f"source--{kind}") for kind in ("entry", "chosen", "about")}

    def _counted(self, row: int, strip: Strip) -> Strip:
        """A row with the number of lines that it became behind its own, which TextArea puts at the gutter's end."""
        room, sign = self.count_width, self.gutter_width - 2
        if not room:
            return strip
        number = self._counts.lines.get(row + 1, 0)
        text = "99+" if number > 99 else f"{number:3}" if number else ""
        strip = self._put(strip, 0, f"{row + 1:{sign - room}}{text:>{room}}", "")
        return self._put(strip, sign - 3, text, "comment") if self._counts.stale else strip

    def _signed_row(self, row: int, strip: Strip) -> Strip:
        """A row with a sign in the gutter: E or W for a finding, > for a link. Findings are told of behind the line, if
        all of it or 30 columns fit: fewer say nothing."""
        marks = self._marks.get(row, ())
        if marks:
            error = any(mark.severity == "error" for mark in marks)
            said = words(marks)
            strip = self._put(strip, self._end_of(row) + 2, said, "source--said", min(30, cell_len(said)))
            return self._signed(strip, "E" if error else "W", "bad" if error else "doubtful")
        return self._signed(strip, ">", "source--linked") if row in self._linked else strip

    def _end_of(self, row: int) -> int:
        """The column of the window behind the text of a row."""
        text = visible(self.document.get_line(row)).expandtabs(self.indent_width)
        return self.gutter_width + cell_len(text) - round(self.scroll_x)

    def _signed(self, strip: Strip, sign: str, style: str) -> Strip:
        return self._put(strip, self.gutter_width - 2, sign, style, 1)

    def _put(self, strip: Strip, at: int, text: str, style: str, least: int = 8) -> Strip:
        """`text` in a row from a column on, on the row's background, if `least` columns of it can be seen."""
        text = fitted(text, self.size.width - at)
        width = cell_len(text)
        if at < 0 or self.size.width - at < least:
            return strip
        under = next(iter(Segment.apply_style(strip.crop(at, at + 1), post_style=self._style(style))), None)
        middle = Strip([Segment(text, under.style if under is not None else None)], width)
        return Strip.join([strip.crop(0, at), middle, strip.crop(at + width)])

    def on_text_area_changed(self) -> None:
        """Some line changed: carried states from the top on are computed anew as far as they are shown."""
        self._highlighted.forget()
