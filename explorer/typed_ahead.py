"""Keys that are pressed faster than the screen follows, as a slow line delivers them: they go to what they were meant
for, in their order."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from textual import events
from textual.app import App
from textual.screen import Screen
from textual.widget import Widget


class TypedAhead(App[None]):
    """Mixed into the app.

    A key goes to what has the focus, and its binding is looked for on its way back. By then a key before it may have
    opened a field (`/`, a dialog): what follows that key was typed into the field. And while a screen is being made,
    keys wait for it.
    """

    def __init__(self, **keywords: Any) -> None:
        super().__init__(**keywords)
        self._sent_to: WeakKeyDictionary[events.Key, Widget | None] = WeakKeyDictionary()
        self._coming: Screen[Any] | None = None
        self._leaving: Callable[[], None] | None = None
        self._waiting: list[events.Key] = []

    def exit(self, *arguments: Any, **keywords: Any) -> None:
        """End, once a screen that is being made is there: Textual fails where it makes one and ends."""
        leave = partial(super().exit, *arguments, **keywords)
        if self._coming is not None and self._coming is self.screen:
            self._leaving = leave
        else:
            leave()

    async def run_action(self, *arguments: Any, **keywords: Any) -> bool:
        """Do what a key is bound to, unless one before it ended the app."""
        return not self._exit and await super().run_action(*arguments, **keywords)

    def push_screen(self, screen: Any, *arguments: Any, **keywords: Any) -> Any:
        """Show a screen; keys wait until it is there."""
        pushed = super().push_screen(screen, *arguments, **keywords)
        self._coming = self.screen
        self._coming.call_after_refresh(self.call_later, self._there, self._coming)
        return pushed

    async def _there(self, screen: Screen[Any]) -> None:
        if self._coming is screen:
            self._coming = None
            if self._leaving is not None:
                self._leaving()
                return
            waiting, self._waiting = self._waiting, []
            for event in waiting:
                await self.on_event(event)

    async def on_event(self, event: events.Event) -> None:
        """Remember what a key is sent to."""
        if isinstance(event, events.Key) and not event.is_forwarded:
            if self._coming is not None and self._coming is self.screen:
                self._waiting.append(event)
                return
            self._sent_to[event] = self.focused
        await super().on_event(event)

    def on_key(self, event: events.Key) -> None:
        """A key that comes back, before its binding is looked for: the field that has the focus by now may get it."""
        field = self.focused
        if field is not None and field is not self._sent_to.get(event, field) and field.check_consume_key("a", "a"):
            event.prevent_default()
            again = events.Key(event.key, event.character)
            again._set_forwarded()
            field.post_message(again)
