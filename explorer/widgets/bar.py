"""The scroll bar, painted as sparingly as the rest: Textual renders all of it for each line that is added."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.strip import Strip
from textual.widget import Widget

from explorer.widgets.rows import ChangedRows

if TYPE_CHECKING:
    _Base = Widget
else:  # see `rows`
    _Base = object


class Bar(ChangedRows, ScrollBar):
    """Textual's, row by row."""

    def row_maker(self) -> Callable[[int], Strip]:
        """Makes rows of one cell."""
        bar = cast(ScrollBarRender, self.render())
        style = self.app.console.get_style(bar.style)
        assert style.color is not None and style.bgcolor is not None
        cells = ScrollBarRender.render_bar(
            self.size.height,
            bar.virtual_size,
            bar.window_size,
            bar.position,
            back_color=style.bgcolor,
            bar_color=style.color,
        )
        return lambda y: Strip(cells.segments[y : y + 1], 1)


class WithBar(_Base):
    """Mixed in before a widget that scrolls: it has such a bar."""

    @property
    def vertical_scrollbar(self) -> ScrollBar:
        """The bar, made when it is first asked for."""
        bar = self._vertical_scrollbar
        if bar is None:
            bar = self._vertical_scrollbar = Bar(vertical=True, name="vertical")
            bar.display = False
            self.app._start_widget(self, bar)
        return bar
