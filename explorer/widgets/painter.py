"""Painting the rows that changed, from the widgets that are seen there to the picture of the screen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol, runtime_checkable

from rich.color import ColorSystem
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import Compositor, CompositorUpdate
from textual.color import Color
from textual.filter import LineFilter
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from explorer.canvas import Look, Painted, look
from explorer.widgets.rows import ChangedRows


class Source(NamedTuple):
    """A widget's rows, and what is still to be done to them on this terminal."""

    row: Callable[[int], Strip]
    filters: tuple[LineFilter, ...] = ()
    background: Color | None = None


class Piece(NamedTuple):
    """Columns of a row, from `x` on, which show the cells of `strip` from `start` to `end`."""

    y: int
    x: int
    strip: Strip
    start: int
    end: int
    source: Source


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
        asked: dict[Widget, Source] = {}
        return Pieces([piece for span in self._regions_to_spans(regions) for piece in self._paint(*span, asked)])

    def _paint(self, y: int, x1: int, x2: int, asked: dict[Widget, Source]) -> Iterator[Piece]:
        """The columns from `x1` to `x2` of row `y`: for each, what the frontmost widget there shows."""
        missing = [(x1, x2)]
        for widget, seen, region in self.layers_visible[y]:
            behind = []
            for start, end in missing:
                left, right = max(start, seen.x), min(end, seen.right)
                if left >= right:
                    behind.append((start, end))
                    continue
                source = asked.get(widget)
                if source is None:
                    source = asked[widget] = _source(widget, region)
                yield Piece(y, left, source.row(y - region.y), left - region.x, right - region.x, source)
                behind += [(a, b) for a, b in ((start, left), (right, end)) if a < b]
            missing = behind
            if not missing:
                return


def _source(widget: Widget, region: Region) -> Source:
    if isinstance(widget, ChangedRows):
        return Source(widget.rows(), tuple(widget.get_line_filters()), widget.background_colors[1])
    # Others are better asked once for all their rows, on which Textual has used the filters.
    return Source(widget.render_lines(Region(0, 0, region.width, region.height)).__getitem__)


class Pieces(CompositorUpdate):
    """What is new on the screen, row by row."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self.pieces = pieces

    def render_segments(self, console: Console) -> str:
        """The pieces as a terminal takes them."""
        out = []
        for y, x, strip, start, end, source in self.pieces:
            strip = strip.crop(start, end)
            for each in source.filters:
                assert source.background is not None
                strip = strip.apply_filter(each, source.background)
            out.append(f"\x1b[{y + 1};{x + 1}H{strip.render(console)}")
        return "".join(out)

    def painted(self, console: Console) -> Iterator[Painted]:
        """The pieces as a canvas takes them, which spares it to read every colour from text."""
        colours = console._color_system or ColorSystem.TRUECOLOR
        for y, x, strip, start, end, (_, filters, background) in self.pieces:
            looks = looks_of(filters, background, colours)
            yield y, x, [(text, looks(style)) for text, style, _ in strip], start, end


@runtime_checkable
class Paintable(Protocol):
    """A driver that has a canvas, and takes frames that are not text yet."""

    def paint(self, pieces: Iterable[Painted], cursor: tuple[int, int]) -> None:
        """Show the pieces, and the cursor at a row and column."""


@lru_cache(64)
def looks_of(
    filters: tuple[LineFilter, ...], background: Color | None, colours: ColorSystem
) -> Callable[[Style | None], tuple[Look, Look]]:
    """Tells how text of a style looks on a terminal of so many colours, and how its blanks do."""

    @lru_cache(4096)
    def looks(style: Style | None) -> tuple[Look, Look]:
        for each in filters:
            assert background is not None
            ((_, style, _),) = each.apply([Segment("", style)], background)
        return look(Strip.render_ansi(style, colours) if style else "")

    return looks
