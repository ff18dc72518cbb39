"""The files that are open: one main screen each, and one engine for the one that is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from textual.app import App

from explorer.engine.messages import Event
from explorer.model.files import SourceFile, Swap
from explorer.model.kernel_files import OpenedFile
from explorer.model.paths import is_mlir, real
from explorer.model.presets import Layouts
from explorer.model.settings import Settings
from explorer.reading import is_bundle
from explorer.screens.engine import EngineFactory
from explorer.screens.main import MainScreen


@lru_cache
def _real(path: Path) -> Path:
    """Where a path leads. Asked at every key, so the disk is asked once."""
    return real(path)


class OpenFiles(App[None]):
    """Mixed into the application. `main` is the screen of the file that is shown."""

    main: MainScreen
    layouts: Layouts
    module_layouts: Layouts

    def begin(
        self,
        screen: type[MainScreen],
        settings: Settings,
        file: SourceFile | None,
        swap: Swap | None,
        engine: EngineFactory,
        others: Sequence[str],
    ) -> None:
        """Make the screen of the first file; that of each of the `others` is made when it is shown first."""
        self._class = screen
        self._settings = settings
        self._engine = engine(self._heard)
        self._screens: list[MainScreen] = []
        self.main = self._screen(settings, file or SourceFile(settings.path), swap or Swap(settings.path))
        self._order = list(dict.fromkeys([self.main.file.path, *map(Path, others)]))

    def _screen(self, settings: Settings, file: SourceFile, swap: Swap) -> MainScreen:
        layouts = self.module_layouts if is_mlir(settings.path) else self.layouts
        screen = self._class(settings, file, swap, lambda receive: self._engine, layouts)
        self.install_screen(screen, f"file-{len(self._screens)}")
        self._screens.append(screen)
        return screen

    def _heard(self, event: Event) -> None:
        if self.main.session.hears(event):
            self.main.receive(event)

    async def on_unmount(self) -> None:
        """End the children."""
        await self._engine.close()

    def file_screens(self) -> Sequence[MainScreen]:
        """The screens of the files that were shown."""
        return self._screens

    def opened_files(self) -> Sequence[OpenedFile]:
        """All open files, in the order in which they were opened."""
        shown = {_real(screen.file.path): screen for screen in self._screens}
        paths = dict.fromkeys([*(_real(path) for path in self._order), *shown])
        first_names = {_real(path): path for path in self._order}
        files = []
        for path in paths:
            screen = shown.get(path)
            if screen is not None or path in first_names:
                edited = screen is not None and screen.dirty
                name = screen.file.path if screen is not None else first_names[path]
                files.append(OpenedFile(name, edited, screen is self.main))
        return files

    def renamed(self, before: Path, path: Path) -> None:
        """What was edited as the one is the other from now on."""
        self._order = [path if _real(other) == _real(before) else other for other in self._order]

    def open_file(self, name: str) -> None:
        """Show a file; open it if it is not yet."""
        path = Path(name)
        screen = next((s for s in self._screens if _real(s.file.path) == _real(path)), None)
        if screen is None and (self.main.session.bundle or is_bundle(name)):
            self.notify(
                "Neither a bundle nor a file beside one can be opened from here: start mytriton-explore with it.",
                title=f"{name} is not opened",
                severity="warning",
            )
            return
        if screen is None:
            try:
                file = SourceFile(name)
            except (OSError, UnicodeError) as error:
                self.notify(str(error), title=f"{name} cannot be opened", severity="error", markup=False)
                return
            backend = self.main.session.backend
            settings = replace(self._settings, path=name, kernel=None, example=None, signature="", backend=backend)
            settings = replace(settings, pipelines={}, schedule="", schedule_text="", values={}, types={})
            screen = self._screen(settings, file, Swap(name))
            if _real(path) not in {_real(other) for other in self._order}:
                self._order.append(path)
        self._show(screen)

    def _show(self, screen: MainScreen) -> None:
        while self.screen is not self.main and len(self.screen_stack) > 1:
            self.pop_screen()
        if screen is self.main:
            return
        self.main.put_aside()
        self.main = screen
        # Textual lets the first screen stay below the others, and nothing take its place.
        with self.batch_update():
            if len(self.screen_stack) > 1:
                self.pop_screen()
            if screen is not self._screens[0]:
                self.push_screen(screen)
        if screen.is_mounted:
            screen.take_up()
