"""The command palette: every action, and every stage, backend, example and theme by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.worker import Worker

from explorer.actions import ACTIONS, shown_keys
from explorer.model import panes
from explorer.model.presets import PRESETS
from explorer.model.session import BACKENDS
from explorer.model.theme_names import THEMES
from explorer.screens.asking import Once
from explorer.screens.main import MainScreen

Entry = tuple[str, Callable[[], object], str]


class Palette(CommandPalette, Once[None]):
    """Textual's palette, which searches on for a moment after it was closed: what it then misses is no fault."""

    DEFAULT_CSS = "Palette SearchIcon { display: none; }"

    def _gather_commands(self, search_value: str) -> Worker[None]:
        worker = super()._gather_commands(search_value)
        worker.exit_on_error = False
        return worker


class Commands(Provider):
    """What the palette offers on the main screen."""

    def _entries(self) -> Iterator[Entry]:
        screen = self.screen
        if not isinstance(screen, MainScreen):
            return
        for action in ACTIONS:
            keys = shown_keys(action)
            yield action.help, self._doer(screen, action.name), keys
        for backend in BACKENDS:
            yield f"Backend: {backend}", partial(screen.select_backend, backend), ""
        for backend, result in screen.session.results.items():
            for stage in result.planned:
                if panes.pane_of(stage) is not None:
                    yield f"Stage: {stage} ({backend})", partial(screen.open_stage, backend, stage), ""
        module = screen.session.module
        for kernel in module.kernels if module is not None else ():
            for number, example in enumerate(kernel.examples):
                label = f"Example: {kernel.name} {example.label}"
                yield label, partial(screen.select_example, kernel.name, number), ""
        for preset in PRESETS:
            yield f"Layout: {preset}", partial(screen.choose_layout, preset), ""
        for theme in THEMES:
            yield f"Theme: {theme}", partial(screen.choose_theme, theme), ""

    @staticmethod
    def _doer(screen: MainScreen, action: str) -> Callable[[], object]:
        async def do() -> None:
            await screen.run_action(action)

        return do

    async def discover(self) -> Hits:
        """Everything, before anything is typed."""
        for text, do, keys in self._entries():
            yield DiscoveryHit(text, do, help=keys or None)

    async def search(self, query: str) -> Hits:
        """What matches."""
        matcher = self.matcher(query)
        for text, do, keys in self._entries():
            score = matcher.match(text)
            if score > 0:
                yield Hit(score, matcher.highlight(text), do, help=keys or None)
