"""The Textual application: it makes the main screen and decides what holds for all of them."""

from __future__ import annotations

import asyncio
import signal
import sys
from contextlib import suppress
from typing import Any, ClassVar

from textual.app import App
from textual.binding import Binding, BindingType

from explorer.engine.client import Engine
from explorer.model.files import SourceFile, Swap
from explorer.model.session import Settings
from explorer.palette import Commands
from explorer.screens.base import EngineFactory
from explorer.screens.main import MainScreen
from explorer.themes import THEMES


class ExplorerApp(App[None]):
    """The explorer of one kernel file."""

    TITLE = "mytriton-explore"
    # Not at the bottom, where the run and the problems are.
    CSS = "ToastRack { dock: top; align: right top; margin: 0; } Toast { padding: 0 1; }"
    COMMANDS: ClassVar[set[Any]] = {Commands}
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "copy_hint", "copy", show=False)]

    def __init__(
        self,
        settings: Settings,
        *,
        engine: EngineFactory = Engine,
        file: SourceFile | None = None,
        swap: Swap | None = None,
        **keywords: Any,
    ) -> None:
        super().__init__(**keywords)
        self.animation_level = "none"  # over ssh an animated page is 700 kB, an unanimated one 15
        self.theme = THEMES[0]
        self.main = MainScreen(settings, file or SourceFile(settings.path), swap or Swap(settings.path), engine)

    def get_default_screen(self) -> MainScreen:
        """The main screen is the only one that stays."""
        return self.main

    def on_mount(self) -> None:
        """A terminal that goes away must not take edits with it."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGHUP, signal.SIGTERM):
            with suppress(NotImplementedError, RuntimeError):  # not the main thread: in tests
                loop.add_signal_handler(number, self._hang_up)

    def _hang_up(self) -> None:
        self.main.write_swap()
        self.exit()

    async def action_quit(self) -> None:
        """Quit the way the main screen does, from wherever one is."""
        while self.screen is not self.main and len(self.screen_stack) > 1:
            self.pop_screen()
        self.main.action_quit()

    def action_copy_hint(self) -> None:
        """ctrl+c copies where something is selected, and says how to quit elsewhere."""
        self.notify("ctrl+q quits; y copies the line, Y the listing")

    def copy_to_clipboard(self, text: str) -> None:
        """Copy through the terminal (OSC 52), which works over ssh; nothing tells whether the terminal took it."""
        super().copy_to_clipboard(text)
        self.notify(f"{len(text.encode())} bytes sent to the terminal's clipboard. Nothing to paste? w writes a file.")


def run(settings: Settings) -> int:
    """Show the explorer until the user leaves; returns the exit code."""
    try:
        file = SourceFile(settings.path)
    except (OSError, UnicodeDecodeError) as error:
        print(f"mytriton-explore: {settings.path} cannot be read: {error}", file=sys.stderr)
        return 2
    app = ExplorerApp(settings, file=file)
    app.run()
    return app.return_code or 0
