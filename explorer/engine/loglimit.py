"""Keeps a child that prints without end from flooding whoever shows the log."""

from __future__ import annotations

import time
from collections.abc import Callable

#: Characters of one child's output that are passed on in a second.
_PER_SECOND = 100_000


class LogLimit:
    """Passes text on, up to so much a second for each role; says how much it left out."""

    def __init__(self, show: Callable[[str, str], None]) -> None:
        self._show = show
        self._second: dict[str, int] = {}
        self._shown: dict[str, int] = {}
        self._dropped: dict[str, int] = {}

    def add(self, role: str, text: str) -> None:
        """Show the text, or count it as left out."""
        now = int(time.monotonic())
        if self._second.get(role) != now:
            self._second[role], self._shown[role] = now, 0
        if self._shown[role] + len(text) > _PER_SECOND:
            self._dropped[role] = self._dropped.get(role, 0) + len(text)
            return
        self._shown[role] += len(text)
        dropped = self._dropped.pop(role, 0)
        self._show(role, f"[{dropped} characters left out]\n{text}" if dropped else text)
