"""The engine as the screens know it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from textual.message import Message

from explorer.engine.messages import CompileRequest, Event, QueryRequest, ReproduceRequest, RunRequest


class Engine(Protocol):
    """What the screen asks of the engine (`explorer.engine.client.Engine`; tests have their own)."""

    async def start(self) -> None: ...
    def open(self, path: str, text: str, execute: bool = True) -> int: ...
    def compile(self, request: CompileRequest) -> int: ...
    def compile_beside(self, request: CompileRequest) -> int: ...
    def end_beside(self) -> None: ...
    def run(self, request: RunRequest) -> int: ...
    def reproduce(self, request: ReproduceRequest) -> int: ...
    def query(self, request: QueryRequest) -> int: ...
    def passes(self) -> int: ...
    def cancel(self) -> bool: ...
    async def close(self) -> None: ...


EngineFactory = Callable[[Callable[[Event], None]], Engine]


class EngineEvent(Message):
    """Something the engine reported, which the session knows by now. Not of stages: they come by the dozen."""

    def __init__(self, event: Event) -> None:
        super().__init__()
        self.event = event
