"""Small controls of one row: `[x] label` that space switches, and `[label]` that space or enter presses."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.message import Message

from explorer.widgets.text_line import Part, TextLine


class Press(TextLine, can_focus=True):
    """`[label]`."""

    DEFAULT_CSS = """
    Press { width: auto; background: $surface; }
    Press:focus { background: $primary; text-style: bold reverse; }
    """

    @dataclass
    class Pressed(Message):
        """It was pressed."""

        press: Press

    def __init__(self, label: str, id: str | None = None) -> None:
        super().__init__(id=id)
        self.label = label

    def on_mount(self) -> None:
        """As wide as its text."""
        self.styles.width = len(self.shown)
        self.show([Part(self.shown)])

    @property
    def shown(self) -> str:
        """What it looks like."""
        return f"[{self.label}]"

    def press(self) -> None:
        """Press it."""
        self.post_message(self.Pressed(self))

    def on_key(self, event: events.Key) -> None:
        """Space or enter."""
        if event.key in ("space", "enter"):
            event.stop()
            event.prevent_default()
            self.press()

    def on_click(self) -> None:
        """So does the mouse."""
        self.press()


class Toggle(Press):
    """`[x] label`; `on` is whether it has its cross."""

    def __init__(self, label: str, on: bool = False, id: str | None = None) -> None:
        super().__init__(label, id)
        self.on = on

    @property
    def shown(self) -> str:
        """What it looks like."""
        return f"[{'x' if self.on else ' '}] {self.label}"

    def press(self) -> None:
        """Switch it."""
        self.set(not self.on)
        super().press()

    def set(self, on: bool) -> None:
        """Have it on or off; tells nobody."""
        self.on = on
        self.show([Part(self.shown)])
