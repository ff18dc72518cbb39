"""Keys that are pressed faster than the screen follows, as a slow line delivers them: they go to what they were meant
for, in their order."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from textual import events
from textual.app import App
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget

#: Seconds that a field may take to say that it was left.
LOST = 0.3


class Passed(Message):
    """Goes the way of a key that leaves a field, right behind it: when it comes back, what the key does is done."""


class TypedAhead(App[None]):
    """Mixed into the app.

    A key goes to what has the focus, and its binding is looked for on its way back. By then a key before it may have
    opened a field (`/`, a dialog): what follows that key was typed into the field. And while a screen is being made,
    or `escape` is about to leave a field, keys wait for it.
    """

    def __init__(self, **keywords: Any) -> None:
        super().__init__(**keywords)
        self._sent_to: WeakKeyDictionary[events.Key, Widget | None] = WeakKeyDictionary()
        self._coming: Screen[Any] | None = None
        self._leaving: Callable[[], None] | None = None
        self._waiting: list[events.Key] = []
        self._behind: Passed | None = None

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
            await self._go_on()

    async def _go_on(self) -> None:
        """The keys that waited go where they were meant to."""
        waiting, self._waiting = self._waiting, []
        for event in waiting:
            await self.on_event(event)

    async def on_passed(self, message: Passed) -> None:
        """What `escape` does is done."""
        await self._left(message)

    async def _left(self, passed: Passed) -> None:
        if self._behind is passed:
            self._behind = None
            await self._go_on()

    async def on_event(self, event: events.Event) -> None:
        """Remember what a key is sent to."""
        if not isinstance(event, events.Key) or event.is_forwarded:
            await super().on_event(event)
            return
        if self._behind is not None or (self._coming is not None and self._coming is self.screen):
            self._waiting.append(event)
            return
        field = self._sent_to[event] = self.focused
        await super().on_event(event)
        if event.key == "escape" and field is not None and field.check_consume_key("a", "a"):
            self._behind = Passed()
            field.post_message(self._behind)
            self.set_timer(LOST, partial(self._left, self._behind))  # should the field be gone before

    def on_key(self, event: events.Key) -> None:
        """A key that comes back, before its binding is looked for: the field that has the focus by now may get it."""
        field = self.focused
        if field is not None and field is not self._sent_to.get(event, field) and field.check_consume_key("a", "a"):
            event.prevent_default()
            again = events.Key(event.key, event.character)
            again._set_forwarded()
            field.post_message(again)
