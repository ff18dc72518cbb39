"""A driver that renders exactly as a terminal's would, and only counts the bytes."""

from __future__ import annotations

from textual.drivers.headless_driver import HeadlessDriver


class CountingDriver(HeadlessDriver):
    """With the stock headless driver Textual skips rendering to bytes; this one is told that somebody looks."""

    written = 0

    @property
    def is_headless(self) -> bool:
        """False: render."""
        return False

    def write(self, data: str) -> None:
        """Count what would go to the terminal."""
        self.written += len(data.encode())
