"""Repainting only the rows that changed: what makes typing and cursor moves cheap, here and on a slow link."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

if TYPE_CHECKING:
    from typing_extensions import Self

    _Base = Widget
else:
    # Textual takes the default CSS from the first base that is a widget: this must not be one.
    _Base = object


class ChangedRows(_Base):
    """Mixed in before a line-API widget (no border, no padding): a repaint of the whole widget becomes one of the rows
    that look otherwise than they were last painted. What looks the same costs nothing.

    The widget gives its rows by `row_maker` and leaves `render_line` and `render_lines` to this class.
    """

    def __init__(self, *args: Any, **keywords: Any) -> None:
        self._rows: dict[int, Strip] = {}
        self._checking = False
        super().__init__(*args, **keywords)

    def row_maker(self) -> Callable[[int], Strip]:
        """Makes rows of the window, as wide as the widget, as things stand now."""
        raise NotImplementedError

    def rows(self) -> Callable[[int], Strip]:
        """Gives rows of the window as they are painted, which are remembered."""
        width = self.size.width
        make: Callable[[int], Strip] | None = None

        def row(y: int) -> Strip:
            nonlocal make
            strip = None if self._checking else self._rows.get(y)
            if strip is not None and strip.cell_length == width:
                return strip
            make = make or self.row_maker()
            strip = make(y)
            if not self._checking:  # else what is remembered is of before, and is still to be compared
                self._rows[y] = strip
            return strip

        return row

    def row(self, y: int) -> Strip:
        """Row `y` of the window."""
        return self.rows()(y)

    def render_line(self, y: int) -> Strip:
        """Row `y` for those who ask what is at a place of the window."""
        return self.row(y)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Rows of the window, without what Textual does for borders and the like."""
        row, filters, background = self.rows(), self.get_line_filters(), self.background_colors[1]
        strips = []
        for y in crop.line_range:
            strip = row(y)
            for each in filters:
                strip = strip.apply_filter(each, background)
            strips.append(strip)
        whole = crop.column_span == (0, self.size.width)
        return strips if whole else [strip.crop(*crop.column_span) for strip in strips]

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Like `Widget.refresh`, narrowed to the rows that changed where the whole widget was meant."""
        # A region is given for scrolling among others: then every row is another.
        if regions or layout or recompose or not repaint or not self._rows or not self.is_mounted:
            if repaint:
                self._rows.clear()
            return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)
        if not self._checking:
            # Deferred: whoever asks may be half-way through changing what is shown.
            self._checking = True
            self.check_idle()
        return self

    def _check_refresh(self) -> None:
        """Textual looks what there is to paint once a widget has nothing else to do."""
        self._refresh_changed()
        super()._check_refresh()

    def check(self) -> bool:
        """Look now, and not later, which rows are to be painted; whether there are any."""
        if self._checking:
            self._refresh_changed()
        return bool(self._repaint_regions)

    def _refresh_changed(self) -> None:
        if not self._checking:
            return
        self._checking = False
        width, height = self.size
        make = self.row_maker()
        changed = []
        for y in range(height):
            strip, painted = make(y), self._rows.get(y)
            if painted is not strip and painted != strip:
                self._rows[y] = strip
                changed.append(Region(0, y, width, 1))
        if changed:
            super().refresh(*changed)
