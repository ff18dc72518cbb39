"""The search line of a listing."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input

from explorer.widgets.text_line import Part, TextLine


class FindBar(Horizontal):
    """`/`, a field, and how many lines match. Hidden until it is needed."""

    DEFAULT_CSS = """
    FindBar { height: 1; display: none; background: $surface; }
    FindBar.-open { display: block; }
    FindBar > .slash { width: 2; }
    FindBar > Input { width: 1fr; height: 1; border: none; padding: 0; background: $surface; }
    FindBar > .count { width: 24; }
    """

    def compose(self) -> ComposeResult:
        """Sign, field, count."""
        yield TextLine(classes="slash")
        yield Input(id="find")
        yield TextLine(classes="count")

    def on_mount(self) -> None:
        """The sign never changes."""
        self.query_one(".slash", TextLine).show([Part("/ ")])
        self.query_one(Input).cursor_blink = False

    def open(self) -> None:
        """Show the field and type into it."""
        self.add_class("-open")
        self.query_one(Input).focus()

    def close(self) -> None:
        """Hide it."""
        self.remove_class("-open")

    @property
    def is_open(self) -> bool:
        """Whether it is shown."""
        return self.has_class("-open")

    @property
    def query_text(self) -> str:
        """What is looked for."""
        return self.query_one(Input).value

    def show_count(self, number: int) -> None:
        """How many lines match."""
        self.query_one(".count", TextLine).show(
            [Part(f"{number} line{'' if number == 1 else 's'} " if self.query_text else "")]
        )
