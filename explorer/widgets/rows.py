"""Repainting only the rows that changed: what makes typing and cursor moves cheap on a slow link."""

from __future__ import annotations

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
    whose strips differ from what was last painted, and of these the columns that do. What looks the same costs nothing.

    The widget gives its rows by `make_row` and leaves `render_line` to this class.
    """

    def __init__(self, *args: Any, **keywords: Any) -> None:
        self._painted: dict[int, Strip] = {}
        self._checking = False
        super().__init__(*args, **keywords)

    def make_row(self, y: int) -> Strip:
        """Row `y` of the window, as wide as the widget."""
        raise NotImplementedError

    def render_line(self, y: int) -> Strip:
        """Row `y` of the window, which is remembered."""
        strip = self._painted[y] = self.make_row(y)
        return strip

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Like `Widget.refresh`, narrowed to the rows that changed where the whole widget was meant."""
        # A region is given for scrolling among others: then every row is another.
        if regions or layout or recompose or not repaint or not self._painted or not self.is_mounted:
            return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)
        if not self._checking:
            # Deferred: whoever asks may be half-way through changing what is shown.
            self._checking = True
            self.call_next(self._refresh_changed)
        return self

    def _refresh_changed(self) -> None:
        self._checking = False
        width, height = self.size
        changed = []
        for y in range(height):
            strip, painted = self.make_row(y), self._painted.get(y)
            if painted is strip:
                continue
            if painted is None or painted.cell_length != strip.cell_length:
                changed.append(Region(0, y, width, 1))
            elif painted != strip:
                start, end = difference(painted, strip)
                changed.append(Region(start, y, end - start, 1))
        if changed:
            super().refresh(*changed)


def difference(old: Strip, new: Strip) -> tuple[int, int]:
    """The columns from and to which two strips of one length differ, to the bounds of their segments."""
    start = 0
    for a, b in zip(old, new):  # noqa: B905 - they need not have as many segments
        if a != b:
            break
        start += b.cell_length
    end = new.cell_length
    for a, b in zip(reversed(list(old)), reversed(list(new))):  # noqa: B905
        if a != b:
            break
        end -= b.cell_length
    return start, max(end, start)
