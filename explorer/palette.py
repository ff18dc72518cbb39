"""The command palette: whatever can be done or gone to, by name, with its keys."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.worker import Worker

from explorer.actions import ACTIONS, shown_keys
from explorer.model import kernels, operations, panes
from explorer.model.arrangement import PANES
from explorer.model.configs import numbered
from explorer.model.kernel_files import kernel_files
from explorer.model.paths import absolute, real
from explorer.model.presets import PRESETS
from explorer.model.report import status_word
from explorer.model.session import BACKENDS
from explorer.model.settings import WARPS
from explorer.model.theme_names import THEMES
from explorer.screens.asking import Once
from explorer.screens.host import host
from explorer.screens.main import MainScreen
from mytriton.target import CHIPS

#: What it is called, what it does, and what stands behind it: its keys, or what there is to say about it.
Entry = tuple[str, Callable[[], object], str]


class Palette(CommandPalette, Once[None]):
    """Textual's palette, which searches on for a moment after it was closed: what it then misses is no fault."""

    DEFAULT_CSS = "Palette SearchIcon { display: none; }"

    def _gather_commands(self, search_value: str) -> Worker[None]:
        worker = super()._gather_commands(search_value)
        worker.exit_on_error = False
        return worker

    def _action_command_list(self, action: str) -> None:
        with suppress(KeyError):  # by a page, in a list that was not drawn yet
            super()._action_command_list(action)


class Commands(Provider):
    """What the palette offers on the main screen."""

    _files: asyncio.Task[list[tuple[Path, int]]] | None = None

    async def startup(self) -> None:
        """Look for files with kernels in the folder, while the rest is shown."""
        if isinstance(self.screen, MainScreen) and not self.screen.session.bundle:
            folder = absolute(self.screen.file.path).parent
            self._files = asyncio.create_task(asyncio.to_thread(kernel_files, folder))

    def _entries(self) -> Iterator[Entry]:
        screen = self.screen
        if not isinstance(screen, MainScreen):
            return
        for action in ACTIONS:
            yield action.help, self._doer(screen, action.name), shown_keys(action)
        yield from self._places(screen)
        yield from self._choices(screen)

    def _places(self, screen: MainScreen) -> Iterator[Entry]:
        session = screen.session
        for problem in session.problems:
            if problem.line is not None:
                place = (problem.line, problem.column or 1)
                name = f"Problem: {problem.line}:{place[1]} {problem.message}"
                yield name, partial(screen.go_to_source, *place), problem.severity
        for backend, result in session.results.items():
            for name in result.planned:
                if panes.pane_of(name) is not None:
                    stage = result.stage(name)
                    word = status_word(stage) if stage is not None else ""
                    yield f"Stage: {name} ({backend})", partial(screen.open_stage, backend, name), word
        for operation in operations.of(session.result):
            words = f"line {operation.line}" + (f", {operation.count} in all" if operation.count > 1 else "")
            yield f"Operation: {operation.name}", partial(screen.go_to_source, operation.line, operation.column), words

    def _choices(self, screen: MainScreen) -> Iterator[Entry]:
        session = screen.session
        module = session.module
        for kernel in module.kernels if module is not None else ():
            about = kernels.about(session, kernel)
            yield f"Kernel: {kernel.name}", partial(screen.select_example, kernel.name, 0), about
            for number, example in enumerate(kernel.examples):
                label = f"Example: {kernel.name} {example.label}"
                yield label, partial(screen.select_example, kernel.name, number), ""
        yield from self._targets(screen) if not session.is_module else ()
        for preset in PRESETS:
            yield f"Layout: {preset}", partial(screen.choose_layout, preset), ""
        for pane in PANES:
            hidden = pane in screen.workspace.arrangement.hidden
            change = screen.show_pane if hidden else screen.hide_pane
            yield f"{'Show' if hidden else 'Hide'} the {panes.TITLES[pane]} pane", partial(change, pane), ""
        for theme in THEMES:
            yield f"Theme: {theme}", partial(screen.choose_theme, theme), ""

    def _targets(self, screen: MainScreen) -> Iterator[Entry]:
        for backend in BACKENDS:
            yield f"Backend: {backend}", partial(screen.select_backend, backend), ""
        for chip in CHIPS:
            yield f"Chip: {chip}", partial(screen.select_target, chip=chip), ""
        for warps in WARPS:
            yield f"Warps: {warps}", partial(screen.select_target, num_warps=warps), ""
        info = screen.session.kernel_info
        for number, text in enumerate(numbered(info.configs) if info is not None else ()):
            yield f"Config: {text}", partial(screen.select_target, config=number), ""

    async def _file_entries(self) -> list[Entry]:
        app = host(self.screen)
        opened = app.opened_files()
        entries: list[Entry] = [
            (f"File: {file.path.name}", partial(app.open_file, str(file.path)), file.words) for file in opened
        ]
        if self._files is not None:
            there = {real(file.path) for file in opened}
            for path, count in await asyncio.shield(self._files):
                if real(path) not in there:
                    about = f"{count} kernel{'s' if count > 1 else ''}"
                    entries.append((f"File: {path.name}", partial(app.open_file, str(path)), about))
        return entries

    @staticmethod
    def _doer(screen: MainScreen, action: str) -> Callable[[], object]:
        async def do() -> None:
            await screen.run_action(action)

        return do

    async def discover(self) -> Hits:
        """Everything, before anything is typed."""
        for text, do, about in (*self._entries(), *await self._file_entries()):
            yield DiscoveryHit(_row(Content(text), about), do, text=text)

    async def search(self, query: str) -> Hits:
        """What matches."""
        matcher = self.matcher(query)
        for text, do, about in (*self._entries(), *await self._file_entries()):
            score = matcher.match(text)
            if score > 0:
                yield Hit(score, _row(matcher.highlight(text), about), do, text=text)


def _row(name: Content, about: str) -> Content:
    return Content.assemble(name, f"   {about}") if about else name
