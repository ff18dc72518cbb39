"""The Textual application: it makes the main screen and decides what holds for all of them."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, on
from textual.binding import Binding, BindingType
from textual.command import Provider
from textual.filter import LineFilter, NoColor

from explorer.at_rest import AtRest
from explorer.engine.client import Engine
from explorer.model.config import Config
from explorer.model.files import SourceFile, Swap
from explorer.model.presets import Layouts
from explorer.model.settings import Settings
from explorer.model.state import State
from explorer.model.theme_names import TERMINAL, THEMES
from explorer.open_files import OpenFiles
from explorer.screens.engine import EngineFactory
from explorer.screens.main import MainScreen
from explorer.terminal import TerminalDriver, TerminalGone, UnreadableInput
from explorer.themes import theme
from explorer.typed_ahead import TypedAhead
from explorer.widgets.painter import Paintable, Pieces

if TYPE_CHECKING:
    from rich.console import RenderableType
    from textual.screen import Screen

    from explorer.share.record import Shared

#: Seconds that leaving may take once the terminal is gone.
LONGEST_GOODBYE = 3.0


def _commands() -> type[Provider]:
    from explorer.palette import Commands  # when it is looked at: starting does not wait for it

    return Commands


class ExplorerApp(TypedAhead, AtRest, OpenFiles):
    """The explorer of kernel files."""

    TITLE = "mytriton-explore"
    # Not at the bottom, where the run and the problems are.
    CSS = """
    ToastRack { dock: top; align: right top; margin: 0; }
    Toast { padding: 0 1; }
    /* Lists drop `reverse`. */
    OptionList:ansi > .option-list--option-highlighted, CommandList:ansi > .option-list--option-highlighted {
        text-style: bold underline;
    }
    """
    COMMANDS: ClassVar[set[Any]] = {_commands}
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "copy_hint", "copy", show=False)]

    def __init__(
        self,
        settings: Settings,
        *,
        engine: EngineFactory = Engine,
        file: SourceFile | None = None,
        swap: Swap | None = None,
        config: Config | None = None,
        screen: type[MainScreen] = MainScreen,
        others: Sequence[str] = (),
        **keywords: Any,
    ) -> None:
        super().__init__(**{"driver_class": TerminalDriver, **keywords})
        self._themes_made: set[str] = set()
        self._no_colours = [NoColor()]
        self.animation_level = "none"  # over ssh an animated page is 700 kB, an unanimated one 15
        self.few_colours = self.console.color_system != "truecolor"
        self.state = State()
        self.config = config or Config()
        self.show_theme(self.config.theme or self._remembered_theme())
        self.layouts = Layouts(self.state.get("layout"), self.config.layout)
        of_modules = "layout of modules"
        self.module_layouts = Layouts(self.state.get(of_modules), first="passes", name=of_modules)
        self.begin(screen, settings, file, swap, engine, others)

    def _remembered_theme(self) -> str:
        remembered = self.state.get("theme")
        if remembered in THEMES:
            return str(remembered)
        return TERMINAL if self.console.color_system == "standard" else THEMES[0]

    def remember(self, name: str, value: Any) -> None:
        """Keep a choice for the next session."""
        try:
            self.state.set(name, value)
        except OSError as error:
            self.notify(str(error), title="This cannot be remembered", severity="warning")

    def show_theme(self, name: str) -> None:
        """Show a theme of ours; under NO_COLOR the one that needs no colours."""
        name = TERMINAL if self.no_color else name
        if name not in self._themes_made:
            self._themes_made.add(name)
            self.register_theme(theme(name, self.few_colours))
        self.theme = name

    def get_line_filters(self) -> Sequence[LineFilter]:
        """What is done to every line that is drawn: NO_COLOR takes all colours away, greys too."""
        return self._no_colours if self.no_color else super().get_line_filters()

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        """Show a frame; rows that changed as they are, where the driver takes them so."""
        driver = self._driver
        if not (isinstance(renderable, Pieces) and isinstance(driver, Paintable)) or self._batch_count:
            super()._display(screen, renderable)
            return
        if self._running and not self._closed:
            self._begin_update()
            x, y = self.screen.outer_size.clamp_offset(self.cursor_position)
            driver.paint(renderable.painted(self.console), (y, x))
            self._end_update()
        self.post_display_hook()

    def get_default_screen(self) -> MainScreen:
        """The screen of the first file."""
        return self.main

    def on_mount(self) -> None:
        """A terminal that goes away must not take edits with it."""
        for notice in (*self.config.problems, self.state.notice, self.layouts.notice):
            if notice:
                self.notify(notice, severity="warning", timeout=10)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGHUP, signal.SIGTERM):
            with suppress(NotImplementedError, RuntimeError):  # not the main thread: in tests
                loop.add_signal_handler(number, self._hang_up)
        if isinstance(self._driver, TerminalDriver):
            self._driver.take_signals(loop)

    def on_resize(self, event: events.Resize) -> None:
        """What a terminal does with its rows when its size changes, terminals do not agree on."""
        if isinstance(self._driver, TerminalDriver):
            self._driver.forget()
            self.screen.refresh()  # all of it: where the size is what it was, Textual draws what changed alone

    @on(TerminalGone)
    def _hang_up(self) -> None:
        for screen in self.file_screens():
            screen.write_swap()
            screen.swap.close()
        # Should writing to a terminal that is gone never return: the edits are kept, and the children end with us.
        last_resort = threading.Timer(LONGEST_GOODBYE, os._exit, (1,))
        last_resort.daemon = True
        last_resort.start()
        self.exit()

    @on(UnreadableInput)
    def _unreadable(self) -> None:
        self.notify("The terminal sent something that is not UTF-8; it was dropped.", severity="warning")

    def notify(self, message: str, *, markup: bool = False, **keywords: Any) -> None:
        """Say something; brackets in a file's name or an error are no markup."""
        super().notify(message, markup=markup, **keywords)

    async def action_quit(self) -> None:
        """Quit the way the main screen does, from wherever one is."""
        while self.screen is not self.main and len(self.screen_stack) > 1:
            self.pop_screen()
        self.main.action_quit()

    def action_command_palette(self) -> None:
        """Show every action by name."""
        from explorer.palette import Palette

        if not isinstance(self.screen, Palette):
            self.push_screen(Palette(id="--command-palette"))

    def action_copy_hint(self) -> None:
        """ctrl+c copies where something is selected, and says how to quit elsewhere."""
        self.notify("ctrl+q quits; y copies the line, Y the listing")

    def copy_to_clipboard(self, text: str) -> None:
        """Copy, and say how: the tools and the file that it may take are not waited for."""
        self._clipboard = text
        self.run_worker(self._copy(text), group="copy", exclusive=True)

    async def _copy(self, text: str) -> None:
        from explorer.clipboard import copy

        self.notify(await copy(text, self._driver.write if self._driver is not None else lambda _: None))


def of_bundle(settings: Settings, bundle: Shared, path: str, swap: Swap | None = None, **keywords: Any) -> ExplorerApp:
    """The explorer of a bundle, which is the file `path`."""
    from explorer.screens.bundled import BundleScreen
    from explorer.share.replay import Replay
    from explorer.share.source import BundleSource

    file, engine = BundleSource(path, bundle), partial(Replay, bundle.b)
    return ExplorerApp(settings, engine=engine, file=file, swap=swap or Swap(path), screen=BundleScreen, **keywords)
