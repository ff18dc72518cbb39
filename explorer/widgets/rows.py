"""Repainting only the rows that changed: what makes typing and cursor moves cheap, here and on a slow link."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from rich.console import Console
from textual._compositor import Compositor, CompositorUpdate
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

    def make_row(self, y: int) -> Strip:
        """Row `y` of the window."""
        return self.row_maker()(y)

    def row(self, y: int) -> Strip:
        """Row `y` of the window as it is painted, which is remembered."""
        if self._checking:  # what is remembered may be of before, and is still to be compared
            return self.make_row(y)
        strip = self._rows.get(y)
        if strip is None or strip.cell_length != self.size.width:
            strip = self._rows[y] = self.make_row(y)
        return strip

    def render_line(self, y: int) -> Strip:
        """Row `y` for those who ask what is at a place of the window."""
        return self.row(y)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Rows of the window, without what Textual does for borders and the like."""
        filtered = self.filtered()
        strips = [filtered(self.row(y)) for y in crop.line_range]
        whole = crop.column_span == (0, self.size.width)
        return strips if whole else [strip.crop(*crop.column_span) for strip in strips]

    def filtered(self) -> Callable[[Strip], Strip]:
        """Makes rows what they have to be on this terminal, as where it has no colours."""
        filters, background = self.get_line_filters(), self.background_colors[1]

        def apply(strip: Strip) -> Strip:
            for each in filters:
                strip = strip.apply_filter(each, background)
            return strip

        return apply

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
            self.call_next(self._refresh_changed)
        return self

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


class Painter(Compositor):
    """Textual's compositor, which for one row that changed goes through every row of every widget; here it is the rows
    that changed, and the widgets that are seen there."""

    def render_partial_update(self) -> CompositorUpdate | None:  # type: ignore[override]
        """What is new on the screen since the last update."""
        screen = self.size.region
        regions = [found for region in self._dirty_regions if (found := region.intersection(screen))]
        self._dirty_regions.clear()
        if not regions:
            return None
        asked: dict[Widget, Callable[[int], Strip]] = {}
        return Pieces([piece for span in self._regions_to_spans(regions) for piece in self._paint(*span, asked)])

    def _paint(
        self, y: int, x1: int, x2: int, asked: dict[Widget, Callable[[int], Strip]]
    ) -> Iterator[tuple[int, int, Strip]]:
        """The columns from `x1` to `x2` of row `y`: for each, what the frontmost widget there shows."""
        missing = [(x1, x2)]
        for widget, seen, region in self.layers_visible[y]:
            behind = []
            for start, end in missing:
                left, right = max(start, seen.x), min(end, seen.right)
                if left >= right:
                    behind.append((start, end))
                    continue
                if widget not in asked:
                    asked[widget] = _rows(widget, region)
                strip = asked[widget](y - region.y)
                yield left, y, strip.crop(left - region.x, right - region.x)
                behind += [(a, b) for a, b in ((start, left), (right, end)) if a < b]
            missing = behind
            if not missing:
                return


def _rows(widget: Widget, region: Region) -> Callable[[int], Strip]:
    """Gives the rows of a widget."""
    if isinstance(widget, ChangedRows):
        filtered, made = widget.filtered(), widget.row
        return lambda row: filtered(made(row))
    # Others are better asked once for all their rows.
    return widget.render_lines(Region(0, 0, region.width, region.height)).__getitem__


class Pieces(CompositorUpdate):
    """Strips and the columns and rows at which they begin."""

    def __init__(self, pieces: list[tuple[int, int, Strip]]) -> None:
        self.pieces = pieces

    def render_segments(self, console: Console) -> str:
        """The pieces as a terminal takes them."""
        return "".join(f"\x1b[{y + 1};{x + 1}H{strip.render(console)}" for x, y, strip in self.pieces)
