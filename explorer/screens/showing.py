"""What is on the main screen, brought up to date once for any number of changes to the session, and painted at once."""

from __future__ import annotations

from explorer.model import panes, report, runs
from explorer.model.line_counts import line_counts
from explorer.model.presets import TALL
from explorer.model.story import Mode
from explorer.screens.host import host
from explorer.screens.linking import Linking
from explorer.terminal import TerminalDriver
from explorer.widgets.painted_lines import GUTTER
from explorer.widgets.painter import Painter
from explorer.widgets.source_editor import SPARES, SourceEditor
from explorer.widgets.status import header, key_parts, resource_parts
from explorer.widgets.text_line import TextLine, fitted, highlighted


class Showing(Linking):
    """The part of the main screen that shows the session. `modes` are those of panes that do not show their stage as
    text, and the panes in `whole` show what others leave out."""

    def __init__(self) -> None:
        super().__init__()
        self._compositor = Painter()
        self.modes: dict[str, Mode] = {}
        self.whole: set[str] = {"stages"}
        self._update_pending = False

    @property
    def dirty(self) -> bool:
        """Whether there are edits that are not saved."""
        raise NotImplementedError

    def update(self) -> None:
        """Show the session as it is now, after whatever else is waiting to change it."""
        if not self._update_pending:
            self._update_pending = True
            self.call_later(self._catch_up)

    def _catch_up(self) -> None:
        if self._update_pending:
            self._update()

    def show_now(self) -> None:
        """Show the session at once, for what is to be found in it next."""
        self._update()

    def _update(self) -> None:
        self._update_pending = False
        if not self.is_mounted:
            return
        visible = self.workspace.visible_panes
        tall = self.app.size.height >= TALL
        strip, run = self.query_one("#strip", TextLine), self.query_one("#run", TextLine)
        strip.set_class(tall and "stages" in visible and self.workspace.zoomed is None, "-hidden")
        run.set_class(tall and "run" in visible and self.workspace.zoomed is None, "-hidden")
        for box in self.workspace.boxes():
            if box.pane != "source":
                width = box.width - GUTTER - 1
                about = (self.session, box.pane, self.chosen, width, self.modes, self.whole)
                self.panes[box.pane].show(panes.listing(*about))
        self.show_counts()
        self.editor.mark(self.session.problems)
        self.query_one("#header", TextLine).show(*header(self.session, self.dirty, host(self).opened_files()))
        width = self.app.size.width - 1
        self.query_one("#resources", TextLine).show(resource_parts(self.session, width))
        strip.show(highlighted(" " + fitted(report.stage_strip(self.session.result), width)))
        run.show(highlighted(" " + fitted("run: " + runs.run_summary(self.session), width)))
        self.show_links(reveal=False)
        self.show_keys()
        self.paint_together()

    def show_counts(self) -> None:
        """Say beside the lines of the source how many they became in the listing that was in focus last."""
        self.editor.counting = host(self).config.counts
        words = [report.counts(self.session.problems)]
        width = next((box.width for box in self.workspace.boxes() if box.pane == "source"), 0)
        if self.editor.counting and width >= SPARES:
            counts = line_counts(self.session, self.workspace.recent, self.chosen)
            self.editor.count(counts)
            words.append(counts.words)
        self.panes["source"].show(panes.Listing("source", "  ".join(filter(None, words))))

    def draw_anew(self) -> None:
        """Draw all of the screen, whatever is on it: as a rule only what changes is written."""
        if isinstance(self.app._driver, TerminalDriver):
            self.app._driver.forget()
        self.refresh()

    def on_idle(self) -> None:
        """Paint at once: Textual does at the next beat of its clock but one, which may be 33 ms away. What comes in
        meanwhile is shown together, so painting paces itself."""
        self._on_timer_update()

    def show_keys(self) -> None:
        """The key bar for what is in focus."""
        typing = isinstance(self.focused, SourceEditor) and not self.editor.read_only
        self.query_one("#keys", TextLine).show(key_parts(typing, self.app.size.width))
