"""What the tests of the engine share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from explorer.engine.client import Engine, Event

T = TypeVar("T")

#: The `make_engine` fixture: takes the options of `Engine`, gives one that is started.
MakeEngine = Callable[..., Coroutine[Any, Any, Engine]]


class Recorder:
    """Collects the events of an engine; `wait` returns the first of a kind whose fields fit, old or new."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._changed = asyncio.Event()

    def __call__(self, event: Event) -> None:
        self.events.append(event)
        self._changed.set()

    def of(self, kind: type[T], **fields: Any) -> list[T]:
        """All events of a kind so far whose fields have these values."""
        found = (event for event in self.events if isinstance(event, kind))
        return [event for event in found if all(getattr(event, k) == v for k, v in fields.items())]

    async def wait(self, kind: type[T], **fields: Any) -> T:
        """The first event of a kind whose fields have these values; fails after 30 s without one."""
        return await asyncio.wait_for(self._wait(kind, fields), 30)

    async def changed(self) -> None:
        """Until there is another event; fails after 30 s without one."""
        self._changed.clear()
        await asyncio.wait_for(self._changed.wait(), 30)

    async def _wait(self, kind: type[T], fields: dict[str, Any]) -> T:
        while not (found := self.of(kind, **fields)):
            self._changed.clear()
            await self._changed.wait()
        return found[0]
