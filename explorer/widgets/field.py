"""A text field whose keys somebody else is asked about first."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.widgets import Input


class Field(Input):
    """A field that asks `keys` first: a terminal sends a letter along with `alt+c`, which would be typed. Keys that
    were on their way to it when one before them took the focus away go to what has it now."""

    def __init__(self, id: str, keys: Callable[[str], bool]) -> None:
        super().__init__(id=id, compact=True, select_on_focus=False)
        self.cursor_blink = False
        self._keys = keys

    async def _on_key(self, event: events.Key) -> None:
        left = self.screen.focused is not self
        if left:
            self.app.post_message(events.Key(event.key, event.character))
        if left or self._keys(event.key) or event.key.startswith("alt+"):
            event.stop()
            event.prevent_default()
