"""Commands in a listing: find, follow, copy, write; and moving between panes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

from textual import on

from explorer.model.arrangement import PANES
from explorer.model.files import write_new
from explorer.model.panes import TITLES
from explorer.model.paths import typed
from explorer.model.search import hits, next_hit
from explorer.screens.link_commands import LinkCommands
from explorer.widgets.find_bar import FindBar

_EXTENSIONS = {"cuda": "cu", "mlir": "mlir", "llvm": "ll", "ptx": "ptx", "sass": "sass", "asm": "s"}


class ListingCommands(LinkCommands):
    """Mixed into the main screen."""

    # Find

    async def action_find(self) -> None:
        """Type what to look for."""
        if self.listing_view() is not None:
            await self.find_bar.open()

    @on(FindBar.Changed)
    def _query_changed(self, event: FindBar.Changed) -> None:
        if (found := self.listing_view()) is not None:
            found[1].search(event.query)
            self.find_bar.show_count(len(hits(found[1].lines, event.query)))

    @on(FindBar.Done)
    def _query_done(self) -> None:
        self.action_find_next(1)

    def action_find_next(self, step: int) -> None:
        """Go to the next or previous occurrence."""
        found = self.listing_view()
        if found is None or not self.find_bar.query_text:
            return
        view = found[1]
        view.search(self.find_bar.query_text)
        row = next_hit(hits(view.lines, self.find_bar.query_text), view.cursor, step)
        if row is None:
            self.app.notify(f"{self.find_bar.query_text!r} is not in this listing.")
        else:
            view.move_to(row, jump=True)

    # Follow, copy, write

    def action_follow(self) -> None:
        """Open the stage of the line, or go to its source."""
        found = self.listing_view()
        if found is None:
            return
        pane, view = found
        target = pane.listing.targets[view.cursor] if view.cursor < len(pane.listing.targets) else None
        if target is not None:
            self.open_stage(*target)
            return
        if self.follow_out():
            return
        line = pane.listing.lines[view.cursor] if view.cursor < len(pane.listing.lines) else None
        if line is not None and line.line is not None:
            self.leave_editor_at(line.line)
            self.go_to_pane("source")
            self.editor.go_to(line.line, line.column or 1)

    def action_copy(self, everything: bool) -> None:
        """Copy the line at the cursor or what the mouse selected; or everything."""
        found = self.listing_view()
        if found is None:
            return
        pane, view = found
        selected = self.get_selected_text()
        lines = pane.listing.lines
        if everything:
            self.app.copy_to_clipboard("\n".join(line.text for line in lines))
        elif selected:
            self.app.copy_to_clipboard(selected)
        elif view.cursor < len(lines):
            self.app.copy_to_clipboard(lines[view.cursor].text)

    def action_write(self) -> None:
        """Write the listing to a file."""
        found = self.listing_view()
        if found is None:
            return
        listing = found[0].listing
        stage = listing.title.split(" > ")[-1].split(" ")[0].replace("/", "-")
        name = f"{self.session.result.kernel or 'kernel'}.{stage}.{_EXTENSIONS.get(listing.language, 'txt')}"
        text = "\n".join(line.text for line in listing.lines) + "\n"

        async def made() -> bytes:
            return text.encode(errors="replace")

        self.ask_for_file("Write the listing to", name, lambda path, overwrite: self.write_file(path, overwrite, made))

    def ask_for_file(self, question: str, name: str, then: Callable[[Path, bool], object]) -> None:
        """Ask for a file to write, and whether to replace it if it is there; `then` gets both."""

        def named(answer: str) -> None:
            path = typed(answer)
            if os.path.lexists(path):
                answers = {"n": "no, keep it", "o": "overwrite"}
                question = f"{path} is there already. Overwrite it?"
                self.confirm(question, answers, lambda answer: then(path, True) if answer == "o" else None)
            else:
                then(path, False)

        self.ask(question, name, named)

    def write_file(self, path: Path, overwrite: bool, make: Callable[[], Awaitable[bytes]]) -> None:
        """Write what `make` gives, and say where it is and how large."""
        self.run_worker(self._write_file(path, overwrite, make), group="write")

    async def _write_file(self, path: Path, overwrite: bool, make: Callable[[], Awaitable[bytes]]) -> None:
        try:
            data = await make()
            await asyncio.to_thread(write_new, path, data, overwrite)
        except OSError as error:
            self.app.notify(str(error), title="Not written", severity="error")
        else:
            self.app.notify(f"{len(data):,} bytes to {path}", title="Written")

    # Panes

    def action_pane(self, number: int) -> None:
        """Go to a pane by its number."""
        self.go_to_pane(PANES[number - 1])

    def action_cycle(self, step: int) -> None:
        """Go to the next or previous pane in view."""
        visible = self.workspace.visible_panes
        here = self.focused_pane.name
        index = visible.index(here) if here in visible else 0
        self.go_to_pane(visible[(index + step) % len(visible)])
        self.editor.passing = True

    def action_jump(self) -> None:
        """Choose a pane from a list."""

        here = PANES.index(self.focused_pane.name or "source")
        self.choose("Go to pane", [TITLES[name] for name in PANES], here, lambda index: self.go_to_pane(PANES[index]))

    def action_zoom(self) -> None:
        """Give the pane all the room, or back."""
        self.workspace.zoom(None if self.workspace.zoomed is not None else self.focused_pane.name)
        self.ensure_compiled()
        self.update()

    def action_back(self) -> None:
        """Leave the search, the followed value, the zoom or the editor: one step, but out of the editor in any case,
        where letters would be typed."""
        if self.find_bar.is_open:
            self.find_bar.close()
            if (found := self.listing_view()) is not None:
                found[1].search("")
                found[1].focus()
        elif self.focused_pane.name != "source" and self.end_following():
            return
        else:
            in_editor = self.focused_pane.name == "source"
            if self.workspace.zoomed is not None:
                self.action_zoom()
            if in_editor:
                self.go_to_pane(self.listing_pane().name or "ssa")
