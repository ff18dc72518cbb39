"""The explorer's side of the child processes: starts them, asks them, replaces them, and never blocks."""

from __future__ import annotations

from collections.abc import Callable

from explorer.engine.messages import CompileRequest, Event, RunRequest


class Engine:
    """Owns the children. All methods belong to one asyncio loop; `on_event` is called on it, and must not block.

    A new `compile` supersedes the one before it: nothing of an older generation is delivered afterwards. Runs and
    compilations do not supersede one another.
    """

    def __init__(self, on_event: Callable[[Event], None]) -> None:
        self._on_event = on_event
        self._generation = 0

    async def start(self) -> None:
        """Start the children; returns at once, they warm up while the screen is painted."""

    def open(self, path: str, text: str, execute: bool = True) -> int:
        """The file was opened or saved; `execute` False only reads it. Answered by `ModuleRead` of that generation."""
        self._generation += 1
        return self._generation

    def compile(self, request: CompileRequest) -> int:
        """Compile; returns the generation its events carry. Waits for an `open` under way, but not for long."""
        self._generation += 1
        return self._generation

    def run(self, request: RunRequest) -> int:
        """Run and check an example; answered by `RunFinished`. A run under way is ended first."""
        self._generation += 1
        return self._generation

    def cancel(self) -> None:
        """End what is being compiled, run or imported now; the children concerned are replaced."""

    async def close(self) -> None:
        """End all children."""
