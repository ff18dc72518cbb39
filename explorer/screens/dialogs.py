"""Small questions: one of a few answers, one of a list, or a line of text. Escape always means no answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Button, Input, OptionList, Static
from textual.widgets.option_list import Option

from explorer.screens.asking import Modal

BOX = """
{name} {{
    align: center middle;
    background: $background 60%;
    & > Vertical {{
        width: auto; max-width: 90%; height: auto; max-height: 90%; padding: 1 2; background: $panel;
        border: round $primary; border-subtitle-color: $foreground; border-subtitle-background: $panel;
    }}
    & Static {{ width: auto; max-width: 100%; height: auto; margin-bottom: 1; }}
    & Horizontal {{ width: auto; height: auto; }}
    & Button {{ margin-right: 2; min-width: 8; }}
    & Button:focus {{ background: $primary; text-style: bold reverse; }}
    & OptionList, & OptionList:focus {{
        width: auto; min-width: 40; max-width: 100%; height: auto; max-height: 20; border: none; background: $panel;
    }}
    & Input, & Input:focus {{ width: 60; max-width: 100%; height: 1; border: none; padding: 0 1; }}
}}
"""


class Confirm(Modal[str]):
    """Asks which of `answers` (label by letter) is meant; the first has the focus. Dismissed with the letter, or ''."""

    DEFAULT_CSS = BOX.format(name="Confirm")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "answer('')", "cancel"),
        Binding("left", "app.focus_previous", show=False),
        Binding("right", "app.focus_next", show=False),
    ]

    def __init__(self, question: str, answers: dict[str, str]) -> None:
        super().__init__()
        self.question = question
        self._answers = answers

    def compose(self) -> ComposeResult:
        """The question and a button an answer."""
        with Vertical() as box:
            box.border_subtitle = "letter: answer   esc: back"
            yield Static(Content(self.question))
            with Horizontal():
                for letter, label in self._answers.items():
                    yield Button(Content(f"{letter} {label}"), id=f"answer-{letter}", compact=True)

    def on_key(self, event: events.Key) -> None:
        """A letter answers."""
        if event.key in self._answers:
            event.stop()
            self.dismiss(event.key)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """So does a button."""
        self.dismiss((event.button.id or "answer-").removeprefix("answer-"))

    def action_answer(self, letter: str) -> None:
        """Answer."""
        self.dismiss(letter)


class Choose(Modal[int]):
    """Asks for one of a list; dismissed with its index. `preview` shows what one would be like, also, once nothing is
    chosen, what was there before."""

    DEFAULT_CSS = BOX.format(name="Choose")
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "cancel")]

    def __init__(
        self,
        question: str,
        options: Sequence[str],
        current: int = 0,
        preview: Callable[[int], object] | None = None,
    ) -> None:
        super().__init__()
        self._question = question
        self._options = options
        self._current = current
        self._preview = preview

    def compose(self) -> ComposeResult:
        """The question and the list."""
        with Vertical() as box:
            box.border_subtitle = "digit or enter: choose   esc: back"
            yield Static(Content(self._question))
            yield OptionList(*(Option(Content(f"{n} {text}")) for n, text in enumerate(self._options, start=1)))

    def on_mount(self) -> None:
        """Start at the current one."""
        self.query_one(OptionList).highlighted = self._current

    def on_key(self, event: events.Key) -> None:
        """A digit chooses."""
        if event.key.isdigit() and 1 <= int(event.key) <= len(self._options):
            event.stop()
            self.dismiss(int(event.key) - 1)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Moving shows what it would be like."""
        if self._preview is not None:
            self._preview(event.option_index)

    def action_cancel(self) -> None:
        """Choose nothing."""
        if self._preview is not None:
            self._preview(self._current)
        self.dismiss(None)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter or a click chooses."""
        self.dismiss(event.option_index)


class Ask(Modal[str]):
    """Asks for a line of text."""

    DEFAULT_CSS = BOX.format(name="Ask")
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "cancel")]

    def __init__(self, question: str, value: str) -> None:
        super().__init__()
        self._question = question
        self._value = value

    def compose(self) -> ComposeResult:
        """The question and the field."""
        with Vertical() as box:
            box.border_subtitle = "enter: done   esc: back"
            yield Static(Content(self._question))
            yield Input(self._value)

    def on_mount(self) -> None:
        """No blinking, here as everywhere."""
        self.query_one(Input).cursor_blink = False

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter answers."""
        self.dismiss(event.value)
