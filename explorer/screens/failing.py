"""A stage that fails comes to the reader: its pane shows it, at the row it failed at; and a key writes a reproducer."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import count
from pathlib import Path

from textual import on

from explorer.engine.messages import Reproduced, ReproduceRequest
from explorer.model import failure, panes
from explorer.model.backend_result import Result
from explorer.model.links import links_of
from explorer.model.paths import absolute
from explorer.model.report import folded, shell_rows
from explorer.screens.engine import EngineEvent
from explorer.screens.kernel_commands import KernelCommands
from explorer.widgets.code_view import CodeView


class Failing(KernelCommands):
    """Mixed into the main screen."""

    _followed = ("", "")
    _shown_before: tuple[str, str | None] | None = None
    _to_reveal = ""

    def _update(self) -> None:
        if self.is_mounted:
            self._follow_failure()
        super()._update()
        if self.is_mounted and self._to_reveal:
            self._reveal()

    def _follow_failure(self) -> None:
        """Show the stage that fails now, once; when it is mended, what was shown before."""
        failed = failure.failed(self.session.result)
        now = (self.session.backend, failed.name if failed is not None else "")
        if now == self._followed:
            return
        if self._shown_before is not None:
            pane, stage = self._shown_before
            if self.chosen.get(pane) == self._followed[1]:
                if stage is None:
                    del self.chosen[pane]
                else:
                    self.chosen[pane] = stage
        self._followed, self._shown_before, self._to_reveal = now, None, ""
        pane_of = panes.pane_of(failed) if failed is not None else None
        if failed is None or pane_of is None or panes.backend_of(self.session, pane_of) != self.session.backend:
            return
        self._shown_before = pane_of, self.chosen.get(pane_of)
        self.chosen[pane_of] = failed.name
        self.modes.pop(pane_of, None)
        here = self.workspace.recent[0]
        self.workspace.bring(pane_of)
        self.workspace.bring(here)
        self._to_reveal = pane_of
        self.call_later(self.ensure_compiled)

    def _reveal(self) -> None:
        """Go to the row that failed, and light its source line; the editor is left where it is while it is typed in."""
        pane = self.panes[self._to_reveal]
        row = next((i for i, mark in enumerate(pane.listing.marks) if mark is not None and mark.kind == "failed"), None)
        if row is None or not isinstance(pane.body, CodeView):
            return
        self._to_reveal = ""
        pane.body.show_row(row)
        place = links_of(pane.listing.lines).place(row)
        if place is not None and not self.editor.has_focus:
            self.follow_place(place, pane)

    def action_whole(self) -> None:
        """Fold or unfold: stages that changed nothing, the rest of long findings."""
        name = "problems" if self.focused_pane.name == "problems" else "stages"
        self.whole ^= {name}
        self.update()

    # Reproducers

    def action_reproduce(self) -> None:
        """Write a reproducer of the stage in the stage list, of the failing one, or of the one shown."""
        backend, name = self._meant()
        result = self.session.results.get(backend, Result())
        stage = result.stage(name)
        if not name:
            self.app.notify("No stage is there yet.", severity="warning")
            return
        error = failure.full_text(stage) if stage is not None and not stage.ok else ""
        request = replace(self.session.compile_request(*self._wanted()), backends=(backend,))
        folder = fresh_folder(f"repro-{result.kernel or 'kernel'}-{name.replace('/', '-')}")
        self.engine.reproduce(ReproduceRequest(request, name, str(folder), error))

    def _meant(self) -> tuple[str, str]:
        pane = self.focused_pane
        if pane.name == "stages":
            targets = pane.listing.targets
            target = targets[pane.body.cursor] if pane.body.cursor < len(targets) else None  # type: ignore[union-attr]
            if target is not None:
                return target
        failed = self.session.result.failed
        if failed is not None:
            return self.session.backend, failed.name
        name = self.listing_pane().name or "ssa"
        return panes.backend_of(self.session, name), panes.chosen_stage(self.session, name, self.chosen) or ""

    @on(EngineEvent)
    def _told_of_reproducer(self, message: EngineEvent) -> None:
        event = message.event
        if not isinstance(event, Reproduced):
            return
        if event.error:
            self.app.notify(event.error, title="No reproducer", severity="error", timeout=10)
            return
        about = [f"runs stage {event.stage} alone, from the files in {event.folder}:", ""]
        about += [f"  {name}" for name in event.files]

        def rows(width: int) -> list[str]:
            return [*shell_rows(event.command, width), "", *(part for row in about for part in folded(row, width))]

        self.show_text("Reproducer", rows)


def fresh_folder(name: str) -> Path:
    """A folder of that name here that is not there yet."""
    here = absolute(name)
    folders = (here if n == 1 else here.with_name(f"{here.name}-{n}") for n in count(1))
    return next(folder for folder in folders if not os.path.lexists(folder))
