"""Looks for a pass by a few letters, and for its options; or takes any text of a pipeline."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from explorer.model.pass_list import Suggestion, closed, options_of, suggestions
from explorer.model.result import PassView
from explorer.screens.asking import Modal
from explorer.widgets.text_line import Part, TextLine

_KEYS = " enter take it   tab write it, to go on with { options or a nest(   up/down choose   esc back"


class PassSearch(Modal[str]):
    """Dismissed with the text of a pass, or of several."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss('')", "back"),
        Binding("down", "row(1)", "next", priority=True),
        Binding("up", "row(-1)", "previous", priority=True),
        Binding("pagedown", "row(10)", "next page", show=False, priority=True),
        Binding("pageup", "row(-10)", "previous page", show=False, priority=True),
        Binding("tab", "write", "write it", priority=True),
    ]
    DEFAULT_CSS = """
    PassSearch {
        background: $background;
        & > Vertical { height: 1fr; }
        & Input, & Input:focus { height: 1; border: none; padding: 0 1; background: $panel; }
        & OptionList, & OptionList:focus {
            height: 1fr; border: none; padding: 0; background: $background; scrollbar-size: 0 1;
        }
        & .about { background: $surface; }
        & #keys { background: $panel; }
    }
    """

    def __init__(self, text: str, passes: tuple[PassView, ...]) -> None:
        super().__init__()
        self._text, self._passes = text, passes
        self._found: list[Suggestion] = []
        self._ready = False

    def compose(self) -> ComposeResult:
        """The field, what may be meant, the options of what is chosen, keys."""
        with Vertical():
            yield Input(self._text, compact=True, select_on_focus=False)
            found = OptionList()
            found.can_focus = False
            yield found
        yield TextLine(classes="about")
        yield TextLine(id="keys")

    def on_mount(self) -> None:
        """Show all passes."""
        field = self.query_one(Input)
        field.cursor_blink = False
        field.focus()
        self.query_one("#keys", TextLine).show([Part(_KEYS)])
        self._ready = True
        self._look()

    def know(self, passes: tuple[PassView, ...]) -> None:
        """These are the passes that there are."""
        self._passes = passes
        if self._ready:
            self._look()

    @on(Input.Changed)
    def _look(self) -> None:
        self._found = suggestions(self.query_one(Input).value, self._passes)
        width = max((len(each.name) for each in self._found[:40]), default=0)
        shown = self.query_one(OptionList)
        shown.clear_options()
        shown.add_options([Option(Content(f" {each.name:{width}}  {each.about}")) for each in self._found])
        shown.highlighted = 0 if self._found else None
        self._tell()

    def _tell(self) -> None:
        chosen = self._chosen
        options = options_of(chosen.written if chosen is not None else self.query_one(Input).value, self._passes)
        words = ", ".join(f"{o.name}={o.takes}" for o in options)
        told = f" options: {words}" if words else " no options" if chosen is not None else ""
        on = next((each.on for each in self._passes if chosen is not None and each.name == chosen.name), "")
        told = f" nested in {'a function' if on == 'function' else on}; {told.strip()}" if on else told
        self.query_one(".about", TextLine).show([Part(told if self._passes else " the passes are being listed ...")])

    @property
    def _chosen(self) -> Suggestion | None:
        at = self.query_one(OptionList).highlighted
        return self._found[at] if at is not None and at < len(self._found) else None

    def action_row(self, by: int) -> None:
        """Choose the next one, or the previous one."""
        shown = self.query_one(OptionList)
        if self._found:
            shown.highlighted = max(0, min(len(self._found) - 1, (shown.highlighted or 0) + by))
            self._tell()

    def action_write(self) -> None:
        """Write what is chosen, to go on with it."""
        if (chosen := self._chosen) is not None:
            field = self.query_one(Input)
            field.value = chosen.written
            field.cursor_position = len(field.value)

    @on(Input.Submitted)
    def _taken(self) -> None:
        text, chosen = self.query_one(Input).value, self._chosen
        whole = "{" in text or text.endswith(")") or any(each.written == text for each in self._found)
        self.dismiss(closed(text if whole or chosen is None else chosen.written))
