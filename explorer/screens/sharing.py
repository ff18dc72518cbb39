"""Commands that share what is shown: copies, reports, a picture, a bundle."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from textual import on

from explorer.engine.messages import SLOW_STAGES, CompileFinished, ModuleRead
from explorer.model import report
from explorer.model.session import BACKENDS
from explorer.screens.engine import EngineEvent
from explorer.screens.listing_commands import ListingCommands

if TYPE_CHECKING:
    from explorer.share.record import Made

Choice = tuple[str, Callable[[], object]]


class Awaited(NamedTuple):
    """A file that is written once everything it holds is compiled."""

    path: Path
    overwrite: bool
    backends: tuple[str, ...]


class Sharing(ListingCommands):
    """Mixed into the main screen."""

    _awaited: Awaited | None = None
    #: What made the listings, if that was not we.
    made: Made | None = None

    def action_share(self) -> None:
        """Choose what to copy, or what to write."""
        choices = self.shareable()
        self.choose("Share", [label for label, _ in choices], 0, lambda index: choices[index][1]())

    def shareable(self) -> list[Choice]:
        """What can be shared, and how."""
        path = Path(self.session.settings.path)
        names = {suffix: path.with_suffix(suffix).name for suffix in (".html", ".md", ".svg", ".mtx")}
        return [
            ("copy the line", lambda: self._copy_text(False)),
            ("copy the listing", lambda: self._copy_text(True)),
            ("copy the findings", self._copy_findings),
            ("copy the command that compiles this", self._copy_command),
            ("copy a Markdown report", lambda: self.run_worker(self._copy_report(), group="share")),
            ("write an HTML report ...", lambda: self._ask_for("Write the HTML report to", names[".html"])),
            ("write a Markdown report ...", lambda: self._ask_for("Write the Markdown report to", names[".md"])),
            ("write a picture of the screen (SVG) ...", lambda: self._ask_for_picture(names[".svg"])),
            ("write a bundle, which opens anywhere ...", lambda: self._ask_for("Write the bundle to", names[".mtx"])),
        ]

    # Copies

    def _copy_text(self, everything: bool) -> None:
        """Copy the line or what is selected, or everything: of the pane in focus, also of the editor."""
        editor = self.editor
        if self.focused_pane.name != "source":
            self.action_copy(everything)
        elif everything:
            self.app.copy_to_clipboard(editor.text)
        else:
            self.app.copy_to_clipboard(editor.selected_text or editor.document.get_line(editor.cursor_location[0]))

    def _copy_findings(self) -> None:
        self.app.copy_to_clipboard("\n".join(line.text for line in report.problem_lines(self.session.problems)))

    def _copy_command(self) -> None:
        import shlex

        from explorer.share.record import command

        self.app.copy_to_clipboard(shlex.join(command(self.session)))

    async def _copy_report(self) -> None:
        self.app.copy_to_clipboard((await self._exported(".md")).decode())

    # Files

    def _ask_for_picture(self, name: str) -> None:
        from explorer.share.picture import svg

        async def picture() -> bytes:
            return svg(self.app).encode(errors="replace")

        self.ask_for_file(
            "Write the picture to", name, lambda path, overwrite: self.write_file(path, overwrite, picture)
        )

    def _ask_for(self, question: str, name: str) -> None:
        self.ask_for_file(question, name, self._await)

    def _await(self, path: Path, overwrite: bool) -> None:
        """Compile what the file is to hold; then it is written."""
        backends = BACKENDS if path.suffix == ".mtx" else (self.session.backend,)
        self._awaited = Awaited(path, overwrite, backends)
        self.compile()
        self.app.notify(f"{path} is written once all of it is compiled; x (ctrl+g) gives it up.")

    def _wanted(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        backends, shown = super()._wanted()
        if self._awaited is None:
            return backends, shown
        return tuple(dict.fromkeys([*backends, *self._awaited.backends])), tuple(dict.fromkeys([*shown, *SLOW_STAGES]))

    def action_cancel(self) -> None:
        """Give up what is to be written, too."""
        if self._awaited is not None:
            self.app.notify(f"{self._awaited.path} is not written.", severity="warning")
        self._awaited = None
        super().action_cancel()

    @on(EngineEvent)
    def _something_done(self, message: EngineEvent) -> None:
        if isinstance(message.event, (CompileFinished, ModuleRead)):
            self.call_later(self._write_awaited)

    def _write_awaited(self) -> None:
        awaited = self._awaited
        if awaited is None or not self.at_rest:
            return
        self._awaited = None

        async def made() -> bytes:
            return await self._exported(awaited.path.suffix)

        self.write_file(awaited.path, awaited.overwrite, made)
        self.compile()  # what is looked at only, from now on

    @property
    def at_rest(self) -> bool:
        """Whether everything that was asked for is compiled."""
        from explorer.share.record import complete

        module, settings = self.session.module, self.session.settings
        known = module is not None and (module.executed or bool(module.diagnostics) or not settings.execute)
        return known and complete(self.session, self.session.compile_request(*self._requested))

    async def _exported(self, suffix: str) -> bytes:
        from explorer.share.export import exported
        from explorer.share.record import copied

        session, saved = copied(self.session), not self.dirty
        return await asyncio.to_thread(exported, session, suffix, saved, self.made)
