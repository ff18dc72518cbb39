"""One line of the form: name, field, hint, and what is to be said about it."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input

from explorer.model.form import CHOSEN, Field
from explorer.widgets.text_line import Part, TextLine
from explorer.widgets.toggle import Press, Toggle


class Choice(TextLine, can_focus=True):
    """`< cuda >`: left and right go through what there is, delete takes what the example says."""

    DEFAULT_CSS = """
    Choice { width: 26; background: $surface; }
    Choice:focus { background: $primary; text-style: bold reverse; }
    """

    class Changed(Message):
        """Another one was chosen."""

    def __init__(self, field: Field) -> None:
        super().__init__()
        self._field = field

    def on_mount(self) -> None:
        """Show it."""
        self.update_text()

    def update_text(self) -> None:
        """Show what is chosen."""
        self.show([Part(f"< {self._field.text} >")])

    def on_key(self, event: events.Key) -> None:
        """Choose."""
        if event.key in ("left", "right", "space"):
            self.step(-1 if event.key == "left" else 1)
        elif event.key in ("delete", "backspace"):
            self.choose(self._field.base)
        else:
            return
        event.stop()
        event.prevent_default()

    def on_click(self) -> None:
        """The next."""
        self.step(1)

    def step(self, by: int) -> None:
        """Choose the next or the previous one."""
        choices, text = self._field.choices, self._field.text
        self.choose(choices[((choices.index(text) if text in choices else 0) + by) % len(choices)])

    def choose(self, text: str) -> None:
        """Choose one."""
        self._field.say(text)
        self.update_text()
        self.post_message(self.Changed())


class FormRow(Horizontal):
    """Shows a field and changes it. Posts `Changed`."""

    DEFAULT_CSS = """
    FormRow {
        height: 1;
        & > .name { width: 20; background: $background; }
        & > .note { background: $background; }
        & > Input, & > Input:focus { width: 26; background: $surface; }
        & > Input:focus { background: $panel; text-style: bold; }
        & > Toggle { margin-left: 1; width: 6; background: $background; }
    }
    """

    @dataclass
    class Changed(Message):
        """The field says something else."""

        row: FormRow

    def __init__(self, field: Field) -> None:
        super().__init__()
        self.field = field
        self._label = TextLine(classes="name")
        self._note = TextLine(classes="note")
        self._hint = Toggle("16") if field.kind == "type" else None
        self.control = Choice(field) if field.kind in CHOSEN else self._input()

    def _input(self) -> Input:
        made = Input(self.field.text, compact=True, select_on_focus=False)
        made.cursor_blink = False
        return made

    def compose(self) -> ComposeResult:
        """Name, field, hint, note."""
        yield self._label
        yield self.control
        if self._hint is not None:
            yield self._hint
        yield self._note

    def on_mount(self) -> None:
        """Fill in."""
        self.tell()

    def refill(self) -> None:
        """Show the field as it is."""
        if isinstance(self.control, Choice):
            self.control.update_text()
        else:
            self.control.value = self.field.text
        self.tell()

    def tell(self) -> None:
        """Say what is wrong with the field, or what the example says instead."""
        field = self.field
        self._label.show([Part(f" {'*' if field.differs else ' '} {field.name}", "keyword" if field.differs else "")])
        if self._hint is not None:
            self._hint.set(bool(field.divisible))
            self._hint.visible = field.divisible is not None
        if field.problem:
            self._note.show([Part(f" ! {field.problem}", "bad")])
        elif field.text in field.notes:
            self._note.show([Part(f" {field.notes[field.text]}", "comment")])
        elif field.differs:
            self._note.show([Part(f" example: {field.base}" if field.base else "", "comment")])
        else:
            self._note.show([])

    def _changed(self) -> None:
        self.tell()
        self.post_message(self.Changed(self))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Something was typed."""
        event.stop()
        if (event.value.strip() or self.field.base) != self.field.text:
            self.field.say(event.value)
            self._changed()

    def on_choice_changed(self, event: Choice.Changed) -> None:
        """Another was chosen."""
        event.stop()
        self._changed()

    def on_press_pressed(self, event: Press.Pressed) -> None:
        """Divisible by 16, or not known to be."""
        event.stop()
        self.field.say(self.field.divided())
        self.refill()
        self.post_message(self.Changed(self))
