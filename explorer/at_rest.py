"""Garbage is looked for while nobody waits. Python looks through all objects whenever it thinks fit: with three
listings of 20,000 lines that is 0.3 s in the middle of a key, which paints nothing for as long."""

from __future__ import annotations

import gc
import time
from typing import Any

from textual import events
from textual.app import App

#: Seconds between two looks, and without a key before it is done.
EVERY, REST = 1.0, 1.0
#: So many collections of younger objects make one of all worth while, as by default.
ENOUGH = 10


def leave_to_us() -> None:
    """Have Python itself collect nothing but younger objects."""
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, 1 << 30)


class AtRest(App[None]):
    """Mixed into the app."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__(**keywords)
        self._pressed = 0.0
        self._collections = 0

    def on_mount(self) -> None:
        """Begin to look."""
        self.set_interval(EVERY, self._look)

    def _look(self) -> None:
        """Collect, if there may be something to and nothing happened since the last look."""
        before, self._collections = self._collections, gc.get_count()[2]
        if self._collections == before >= ENOUGH and time.monotonic() - self._pressed > REST:
            gc.collect()

    async def on_event(self, event: events.Event) -> None:
        """Remember when somebody did something."""
        if isinstance(event, events.InputEvent):
            self._pressed = time.monotonic()
        await super().on_event(event)
