"""The search line of a listing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message

from explorer.widgets.text_line import Part, TextLine

if TYPE_CHECKING:
    from textual.widget import Widget
    from textual.widgets import Input


class FindBar(Horizontal):
    """`/`, a field, and how many lines match. Hidden until it is needed, and its field not made before."""

    DEFAULT_CSS = """
    FindBar { height: 1; display: none; background: $surface; }
    FindBar.-open { display: block; }
    FindBar > .slash { width: 2; }
    FindBar > Input { width: 1fr; background: $surface; }
    FindBar > .count { width: 24; }
    """

    @dataclass
    class Changed(Message):
        """What is looked for changed."""

        query: str

    class Done(Message):
        """Enter was pressed."""

    def __init__(self) -> None:
        super().__init__()
        self._field: Input | None = None
        self._before: Widget | None = None
        self.query_text = ""

    def compose(self) -> ComposeResult:
        """Sign and count; the field comes between them."""
        yield TextLine(classes="slash")
        yield TextLine(classes="count")

    async def open(self) -> None:
        """Show the field and type into it."""
        self.add_class("-open")
        self._before = self.screen.focused
        if self._field is None:
            from explorer.widgets.field import Field  # not at the start: it and its style sheet cost milliseconds

            self._field = Field("find", self._key)
            self.query_one(".slash", TextLine).show([Part("/ ")])
            await self.mount(self._field, after=0)
        self._field.action_select_all()  # to be typed over
        self.screen.set_focus(self._field)  # at once: what is typed meanwhile is for it

    def close(self) -> None:
        """Hide it."""
        self.remove_class("-open")

    @property
    def is_open(self) -> bool:
        """Whether it is shown."""
        return self.has_class("-open")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Pass on what is typed."""
        event.stop()
        self.query_text = event.value
        self.post_message(self.Changed(event.value))

    def _key(self, key: str) -> bool:
        """Enter leaves at once: what is typed after it is not for the field any more."""
        if key != "enter" or self._field is None:
            return False
        self.query_text = self._field.value
        self.close()
        self.screen.set_focus(self._before)
        self.post_message(self.Done())
        return True

    def show_count(self, number: int) -> None:
        """How many lines match."""
        text = f"{number} line{'' if number == 1 else 's'} " if self.query_text else ""
        self.query_one(".count", TextLine).show([Part(text)])
