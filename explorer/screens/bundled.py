"""The main screen on a bundle: everything can be looked at, nothing is compiled, run or edited."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from textual import events, on

from explorer.actions import ACTIONS
from explorer.model.files import SourceFile, Swap
from explorer.model.presets import Layouts
from explorer.model.session import BACKENDS, Settings
from explorer.screens.engine import EngineFactory
from explorer.screens.main import MainScreen
from explorer.share.replay import ONLY_SHOWN, restore_runs, restored
from explorer.share.source import BundleSource
from explorer.widgets.editor_commands import Refused


class BundleScreen(MainScreen):
    """Its file is a `BundleSource`, its engine a `Replay`."""

    def __init__(
        self, settings: Settings, file: SourceFile, swap: Swap, engine: EngineFactory, layouts: Layouts
    ) -> None:
        assert isinstance(file, BundleSource)
        super().__init__(settings, file, swap, engine, layouts)
        self._shared = file.shared
        self.made = file.shared.made
        self.editor.read_only = True
        self.session.bundle, self.session.label = str(file.path), file.shared.b.label
        self.session.log.extend(file.shared.b.log)

    async def on_mount(self) -> None:
        """Show the run that was recorded, and what it was compared with."""
        restore_runs(self.session, self._shared.b)
        if self._shared.a is not None:
            self.pin_recorded(restored(self._shared.a))

    def only_shown(self) -> None:
        """Say why something cannot be done."""
        self.app.notify(f"{ONLY_SHOWN[0].upper()}{ONLY_SHOWN[1:]} (s).", title=f"{self.file.path.name} is read-only")

    @on(Refused)
    def _refused(self) -> None:
        self.only_shown()

    def on_paste(self) -> None:
        """Nor is anything pasted."""
        if self.focused is self.editor:
            self.only_shown()

    def on_key(self, event: events.Key) -> None:
        """A letter that would be typed says why it is not; one that is a command is that."""
        letters = {letter for action in ACTIONS if action.scope == "pane" for letter in action.letters}
        if self.focused is self.editor and event.is_printable and event.key not in letters:
            event.stop()
            self.only_shown()

    def action_save(self) -> None:
        """Save the source as a file of its own."""
        self.action_save_as()

    def action_save_as(self) -> None:
        """Save the source as a file of its own; the bundle stays what is shown."""

        async def source() -> bytes:
            return self.session.text.encode(errors="replace")

        name = Path(self._shared.b.path).name
        self.ask_for_file("Save the source as", name, lambda path, over: self.write_file(path, over, source))

    def action_run(self, every_stage: bool = False) -> None:
        """Show the run that was recorded."""
        self.go_to_pane("run")
        if self.session.report is None:
            self.only_shown()

    def action_bench(self, every_example: bool = False) -> None:
        """The same: nothing is timed here."""
        self.action_run()

    def action_info(self) -> None:
        """Show what made the bundle, and what is in it."""
        from explorer.screens.info import bundle_lines

        self.show_text("Information", bundle_lines(self.session, self._shared))

    def others(self) -> list[tuple[str, Callable[[], object]]]:
        """Only what is there can be compared with."""
        made = [f"backend {build.backend}" for build in self._shared.b.builds if build.backend in BACKENDS]
        kept = {"this build as it is now", "a bundle ...", *made}
        return [choice for choice in super().others() if choice[0] in kept]

    # What takes a compiler, or the file

    def action_choose(self) -> None:
        """Not possible."""
        self.only_shown()

    def action_signature(self) -> None:
        """Not possible."""
        self.only_shown()

    def action_reload(self) -> None:
        """Not possible."""
        self.only_shown()

    def action_comment(self) -> None:
        """Not possible."""
        self.only_shown()

    def action_duplicate(self) -> None:
        """Not possible."""
        self.only_shown()

    def action_move_lines(self, step: int) -> None:
        """Not possible."""
        self.only_shown()

    async def action_replace(self) -> None:
        """Not possible."""
        self.only_shown()

    def action_complete(self) -> None:
        """Not possible."""
        self.only_shown()

    def action_passes(self) -> None:
        """Not possible."""
        self.only_shown()

    def action_open(self) -> None:
        """Not possible: what is shown here has no compiler for another file."""
        self.only_shown()

    def select_example(self, kernel: str, example: int) -> None:
        """Not possible, from the palette either."""
        self.only_shown()

    def select_target(self, **options: Any) -> None:
        """Nor is this."""
        self.only_shown()
