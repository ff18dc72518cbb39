"""Commands that arrange the panes: sizes, places, what is hidden, and named arrangements. All of it is remembered, for
each class of terminal sizes by itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from explorer.model.arrangement import PANES, Arrangement
from explorer.model.panes import TITLES
from explorer.model.presets import PRESETS
from explorer.screens.base import MainBase
from explorer.screens.host import host

#: What a press of a key adds: columns, and rows.
STEP_COLUMNS, STEP_ROWS = 4, 2

Choice = tuple[str, Callable[[], object]]


class Arranging(MainBase):
    """Mixed into the main screen."""

    def arrange_as(self, arrangement: Arrangement) -> None:
        """Arrange the panes so, for terminals of this size, from now on."""
        workspace = self.workspace
        if workspace.zoomed is not None:
            workspace.zoom(None)
        if arrangement != workspace.arrangement:
            workspace.layouts.put(workspace.size_class, arrangement)
            self._arranged()

    def _arranged(self) -> None:
        self.workspace.rearrange()
        self.ensure_compiled()
        self.update()
        host(self).remember(self.workspace.layouts.name, self.workspace.layouts.remembered())

    @property
    def _here(self) -> str:
        return self.focused_pane.name or "source"

    def action_resize(self, columns: int, rows: int) -> None:
        """Make the pane wider, narrower, higher or lower."""
        size = self.workspace.size
        now = self.workspace.arrangement.showing(self.workspace.revealed)
        self.arrange_as(now.resized(self._here, columns * STEP_COLUMNS, rows * STEP_ROWS, size.width, size.height))

    def action_sizes(self) -> None:
        """The sizes as they were at first."""
        self.arrange_as(self.workspace.layouts.sizes_reset(self.workspace.size_class))

    def choose_layout(self, preset: str) -> None:
        """Take a named arrangement, for terminals of all sizes."""
        self.workspace.layouts.choose(preset)
        self.workspace.revealed.clear()
        self.workspace.zoomed = None
        self._arranged()
        if self._here not in self.workspace.visible_panes:
            self.go_to_pane(self.workspace.visible_panes[0])

    def hide_pane(self, pane: str) -> None:
        """Hide a pane; the last one stays."""
        if len(self.workspace.arrangement.hidden) + 1 == len(PANES):
            self.app.notify("One pane has to stay.", severity="warning")
            return
        self.workspace.revealed.discard(pane)
        self.arrange_as(self.workspace.arrangement.hiding(pane))
        if self._here not in self.workspace.visible_panes:
            self.go_to_pane(self.workspace.visible_panes[0])
        self.app.notify(f"Its number, {PANES.index(pane) + 1}, shows it for now.", title=f"{TITLES[pane]} is hidden")

    def show_pane(self, pane: str) -> None:
        """Show a pane that is hidden."""
        self.arrange_as(self.workspace.arrangement.showing([pane]))
        self.go_to_pane(pane)

    def action_arrange(self) -> None:
        """Choose what to do about the places of the panes."""
        here, workspace = self._here, self.workspace
        arrangement = workspace.arrangement
        others = [pane for pane in PANES if pane != here]
        title = TITLES[here]
        presets = [name for name in PRESETS if name != "passes" or self.session.is_module]
        choices: list[Choice] = [(f"layout: {name}", partial(self.choose_layout, name)) for name in presets]
        choices += [
            (f"swap {title} with ...", lambda: self._choose_pane(f"Swap {title} with", others, self._swap)),
            (f"put {title} in the place of ...", lambda: self._choose_pane(f"Put {title} behind", others, self._stack)),
            (f"give {title} a place of its own ...", self._choose_column),
            (f"hide {title}", lambda: self.hide_pane(here)),
        ]
        choices += [
            (f"show {TITLES[pane]}", partial(self.show_pane, pane)) for pane in PANES if pane in arrangement.hidden
        ]
        labels = [label for label, _ in choices]
        preset = workspace.layouts.preset
        current = presets.index(preset) if preset in presets else 0
        self.choose("Arrange the panes", labels, current, lambda index: choices[index][1]())

    def _choose_pane(self, question: str, panes: list[str], then: Callable[[str], object]) -> None:
        self.choose(question, [TITLES[pane] for pane in panes], 0, lambda index: then(panes[index]))

    def _swap(self, other: str) -> None:
        self.arrange_as(self.workspace.arrangement.swapped(self._here, other))

    def _stack(self, other: str) -> None:
        self.arrange_as(self.workspace.arrangement.stacked(self._here, other))

    def _choose_column(self) -> None:
        here, arrangement = self._here, self.workspace.arrangement
        columns = [
            f"in column {number}, below {TITLES[column.slots[-1].panes[0]]}"
            for number, column in enumerate(arrangement.columns, start=1)
        ]
        question, options = f"Where is {TITLES[here]} to stand?", [*columns, "in a column of its own"]
        self.choose(question, options, 0, lambda index: self.arrange_as(arrangement.placed(here, index)))
