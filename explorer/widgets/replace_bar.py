"""Find and replace, below the panes: two fields, what counts as a match, and how many there are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widget import Widget

from explorer.model.replacing import Search
from explorer.widgets.text_line import Part, TextLine
from explorer.widgets.toggle import Press, Toggle

if TYPE_CHECKING:
    from textual.widgets import Input

#: What the keys of the bar ask for, and which toggles they switch.
_ASKS = {"down": "next", "up": "previous", "alt+a": "all", "escape": "close", "ctrl+z": "undo", "ctrl+y": "redo"}
_SWITCHES = {"alt+c": "case", "alt+r": "regex", "alt+w": "word"}
#: The keys that mean something in its fields.
KEYS = frozenset((*_ASKS, *_SWITCHES))
_HINT = "enter next or replace, alt+a all, esc "


class ReplaceBar(Vertical):
    """Posts `Changed` when other text is looked for, and `Asked` for what is to be done with it."""

    DEFAULT_CSS = """
    ReplaceBar {
        height: 2; background: $surface; display: none;
        &.-open { display: block; }
        & Horizontal { height: 1; }
        & .label { width: 9; }
        & Input, & Input:focus { width: 1fr; background: $surface; }
        & Input:focus { background: $panel; }
        & Toggle, & Press { margin-left: 1; }
        & .count { width: 13; }
        & .hint { width: 40; }
    }
    """

    class Changed(Message):
        """What is looked for is another."""

    @dataclass
    class Asked(Message):
        """`what` is to be done: next, previous, replace, all, undo, redo or close."""

        what: str

    def __init__(self) -> None:
        super().__init__()
        from explorer.widgets.field import Field  # not at the start: it costs milliseconds

        self.find = Field("find-text", self._key)
        self.template = Field("replace-text", self._key)
        self.toggles = {name: Toggle(name) for name in ("case", "regex", "word")}
        self._all = Press("all")
        self._count = TextLine(classes="count")
        self._hint = TextLine(classes="hint")

    def compose(self) -> ComposeResult:
        """The two rows."""
        labels = [TextLine(classes="label") for _ in range(2)]
        for label, text in zip(labels, (" find", " replace"), strict=True):
            label.show([Part(text)])
        yield Horizontal(labels[0], self.find, *self.toggles.values(), self._count)
        yield Horizontal(labels[1], self.template, self._all, self._hint)

    @property
    def search(self) -> Search:
        """What is looked for."""
        on: dict[str, Any] = {name: toggle.on for name, toggle in self.toggles.items()}
        return Search(self.find.value, **on)

    @property
    def is_open(self) -> bool:
        """Whether it is shown."""
        return self.has_class("-open")

    def open(self, text: str) -> None:
        """Show it, to look for `text`; for what was looked for before if that is ''."""
        self.add_class("-open")
        if text:
            self.find.value = text
        self.find.selection = type(self.find.selection)(0, len(self.find.value))
        self.screen.set_focus(self.find)  # at once: `focus()` comes after the keys that were typed meanwhile

    def close(self) -> None:
        """Hide it."""
        self.remove_class("-open")

    def tell(self, count: str, said: str = "") -> None:
        """How many there are, and what happened or is wrong; '' for the keys."""
        self._count.show([Part(f"  {count}")])
        self._hint.show([Part(f" {said or _HINT}", "doubtful" if said else "comment")])

    def on_input_changed(self, event: Input.Changed) -> None:
        """Something is typed."""
        event.stop()
        if event.input is self.find:
            self.post_message(self.Changed())

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter goes on, in the second field after replacing."""
        event.stop()
        self.post_message(self.Asked("next" if event.input is self.find else "replace"))

    def on_press_pressed(self, event: Press.Pressed) -> None:
        """A toggle was switched, or all are to be replaced."""
        event.stop()
        self.post_message(self.Asked("all") if event.press is self._all else self.Changed())

    def on_key(self, event: events.Key) -> None:
        """The keys of the bar, where the focus is on none of the fields."""
        if self._key(event.key):
            event.stop()
            event.prevent_default()

    def _key(self, key: str) -> bool:
        """Do what a key of the bar asks for; whether it is one. Tab stays in the bar."""
        order: list[Widget] = [self.find, self.template, self._all, *self.toggles.values()]
        if key in ("tab", "shift+tab"):
            here = next((i for i, widget in enumerate(order) if widget.has_focus), 0)
            order[(here + (1 if key == "tab" else -1)) % len(order)].focus()
        elif key in _ASKS:
            self.post_message(self.Asked(_ASKS[key]))
        elif key in _SWITCHES:
            self.toggles[_SWITCHES[key]].press()
        else:
            return False
        return True
