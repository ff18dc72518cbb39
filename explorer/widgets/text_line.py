"""One row of text that repaints only when it changes: headings, the stage strip, the run line and the key bar."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from explorer.highlight import tokenizer
from explorer.widgets.rows import ChangedRows
from explorer.widgets.syntax import syntax_styles
from mytriton.records import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of the row; `style` is a token style name, `action` is done on a click."""

    text: str
    style: str = ""
    action: str = ""


def visible(text: str) -> str:
    """The text with a mark in place of each character that does something to a terminal; tabs stay."""
    return text if text.isprintable() else "".join(c if c.isprintable() or c == "\t" else "\ufffd" for c in text)


def highlighted(text: str) -> list[Part]:
    """Parts of a line of a report, coloured as in the panes."""
    parts, at = [], 0
    for length, style in tokenizer("report").tokens(text):
        parts.append(Part(text[at : at + length], style))
        at += length
    return parts


class TextLine(ChangedRows, Widget):
    """`left` is cut, with dots, where `right` begins."""

    DEFAULT_CSS = "TextLine { height: 1; width: 1fr; background: $surface; color: $foreground; }"

    def __init__(self, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._left: Sequence[Part] = ()
        self._right: Sequence[Part] = ()
        self._styles: tuple[Style, dict[str, Style]] | None = None

    def show(self, left: Sequence[Part], right: Sequence[Part] = ()) -> None:
        """Show these parts."""
        if (left, right) != (self._left, self._right):
            self._left, self._right = left, right
            self.refresh()

    @property
    def text(self) -> str:
        """What is shown, uncut."""
        return "".join(part.text for part in (*self._left, *self._right))

    def notify_style_update(self) -> None:
        """Styles must be looked up anew."""
        self._styles = None
        super().notify_style_update()

    def row_maker(self) -> Callable[[int], Strip]:
        """Makes the only row."""
        return lambda y: self._row()

    def _row(self) -> Strip:
        if self._styles is None:
            self._styles = self.rich_style, syntax_styles(self)
        base, styles = self._styles

        def segments(parts: Sequence[Part]) -> list[Segment]:
            out = []
            for part in parts:
                meta = Style(meta={"@click": f"screen.{part.action}"}) if part.action else Style()
                out.append(Segment(visible(part.text), base + styles.get(part.style, Style()) + meta))
            return out

        width = self.size.width
        right = Strip(segments(self._right))
        left, room = Strip(segments(self._left)), max(0, width - right.cell_length)
        if self._right and left.cell_length >= room > 3:
            left = Strip.join([left.crop(0, room - 3), Strip([Segment(".. ", base)])])
        left = left.crop_extend(0, room, base)
        return Strip.join([left, right]).crop_extend(0, width, base)


def fitted(text: str, width: int) -> str:
    """`text` cut to `width` columns, with dots where it was cut."""
    return text if cell_len(text) <= width else set_cell_size(text, max(0, width - 2)) + ".."
