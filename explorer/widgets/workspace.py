"""The area of the panes. Where each stands is computed by `model.arrangement`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from textual.geometry import NULL_OFFSET, Region, Size, Spacing
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.widget import Widget

from explorer.model.arrangement import Arrangement, Box, arrange
from explorer.model.presets import TALL, Layouts, size_class


class PaneLayout(Layout):
    """Places the children whose names are in the arrangement; the others are not shown."""

    name = "panes"

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def arrange(self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True) -> ArrangeResult:
        """Placements of the panes."""
        boxes = {box.pane: box for box in self._workspace.boxes(size)}
        placements = []
        for child in children:
            box = boxes.get(child.name or "")
            if box is not None:
                region = Region(box.x, box.y, box.width, box.height)
                placements.append(WidgetPlacement(region, NULL_OFFSET, Spacing(), child))
        return placements


#: Asked several times for each frame.
_arranged = lru_cache(maxsize=32)(arrange)


class Workspace(Widget):
    """Shows as many panes as fit. `recent` orders panes by when they were last in focus, `zoomed` is alone; panes that
    are hidden but were gone to are `revealed`."""

    DEFAULT_CSS = "Workspace { height: 1fr; width: 1fr; background: $surface; }"

    def __init__(self, *panes: Widget, layouts: Layouts, id: str | None = None) -> None:
        super().__init__(*panes, id=id)
        self.layouts = layouts
        self.revealed: set[str] = set()
        self.recent: list[str] = ["source"]
        self.zoomed: str | None = None
        self._pane_layout = PaneLayout(self)

    @property
    def layout(self) -> Layout:
        """The arrangement as a Textual layout."""
        return self._pane_layout

    def boxes(self, size: Size | None = None) -> Sequence[Box]:
        """Where the panes stand."""
        width, height = size or self.size
        return _arranged(width, height, tuple(self.recent), self.zoomed, self.arrangement.showing(self.revealed))

    @property
    def size_class(self) -> str:
        """The class of the terminal's size."""
        return size_class(self.app.size.width, self.app.size.height >= TALL)

    @property
    def arrangement(self) -> Arrangement:
        """The arrangement for the present size."""
        return self.layouts.at(self.size_class)

    @property
    def visible_panes(self) -> tuple[str, ...]:
        """The panes shown now, in reading order."""
        return tuple(box.pane for box in self.boxes())

    def bring(self, pane: str, reveal: bool = True) -> None:
        """Show `pane`, in its slot or in place of the zoomed one; also if it is hidden, unless `reveal` is False."""
        before = self.boxes()
        if self.zoomed is not None:
            self.zoomed = pane
        self.recent = [pane, *(p for p in self.recent if p != pane)]
        if reveal and pane in self.arrangement.hidden:
            self.revealed.add(pane)
        if self.boxes() != before:
            self.rearrange()

    def zoom(self, pane: str | None) -> None:
        """Give one pane all the room; None: back to all."""
        self.zoomed = pane
        self.rearrange()

    def rearrange(self) -> None:
        """The panes stand elsewhere now."""
        # Textual keeps a widget's arrangement until one of its children asks for a layout; asking itself is not enough.
        self.children[0].refresh(layout=True, repaint=False)
