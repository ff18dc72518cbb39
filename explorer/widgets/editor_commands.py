"""The keys of the editor that change lines of Python. What they make of them is in `model/editing.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import events
from textual.binding import Binding
from textual.geometry import Offset
from textual.message import Message
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult, Selection

from explorer.actions import ACTIONS
from explorer.model.editing import Change, Selected, indent, new_line

#: TextArea's keys that move, select, delete, cut, paste and undo: action by key.
_TEXT_AREA = {binding.key: binding.action for binding in Binding.make_bindings(TextArea.BINDINGS)}
_COMMANDS = {
    **_TEXT_AREA,
    "tab": "indent(1)",
    "shift+tab": "indent(-1)",
    "ctrl+home": "edge(False)",
    "ctrl+end": "edge(True)",
    **{key: f"screen.{action.name}" for action in ACTIONS if action.scope == "editor" for key in action.keys},
}
#: What terminals with the newer key protocols send for the same keys.
_ALSO = {"ctrl+slash": "ctrl+underscore", "ctrl+space": "ctrl+@"}

if TYPE_CHECKING:
    _Base = TextArea
else:
    # Textual takes the default CSS from the first base that is a widget: this must not be one.
    _Base = object


@dataclass
class Replacement(Edit):
    """An edit that leaves `selected` selected, also when it is done again."""

    selected: Selection

    def do(self, text_area: TextArea, record_selection: bool = True) -> EditResult:
        """Carry it out."""
        result = super().do(text_area, record_selection)
        self._updated_selection = self.selected
        return result


class Refused(Message):
    """A key that would change the text came to an editor that is read-only."""


def _edits(command: str | None) -> bool:
    """Whether a command of the editor's changes the text."""
    return command is not None and command.startswith(("delete", "cut", "paste", "undo", "redo", "indent"))


class EditorCommands(_Base):
    """Mixed in before `TextArea`.

    `passing` is true from when the keys that go from pane to pane came to the editor until another key is pressed in
    it: until then they go on, and only afterwards do they indent.
    """

    passing = False

    @property
    def lines(self) -> list[str]:
        """The lines of the text."""
        return self.document.lines

    @property
    def selected(self) -> Selected:
        """What is selected."""
        return Selected(*self.selection)

    def apply(self, change: Change | None) -> None:
        """Carry out a change, as one step of undo."""
        if change is None or self.read_only:
            return
        top, bottom = change.rows.start, change.rows.stop - 1
        start, end = (top, 0), (bottom, len(self.document.get_line(bottom)))
        text = "\n".join(change.lines)
        selected = Selection(change.selected.anchor, change.selected.cursor)
        if text == self.get_text_range(start, end):
            self.selection = selected
        else:
            self.history.checkpoint()
            self.edit(Replacement(text, start, end, False, selected))
            self.history.checkpoint()

    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:
        """As TextArea's, but lines begin at the left edge where the cursor can be seen then."""
        scrolled = super().scroll_cursor_visible(center, animate)
        if self.scroll_x and self._cursor_offset[0] + 3 + self.gutter_width <= self.scrollable_content_region.width:
            self.scroll_to(x=0, animate=False, force=True)
        return scrolled

    def action_edge(self, end: bool) -> None:
        """Move the cursor to the beginning or the end of the text."""
        self.move_cursor(self.document.end if end else (0, 0))

    def action_indent(self, step: int) -> None:
        """Indent the selected lines, or insert blanks up to the next level; or take a level away."""
        if step > 0 and self.selection.is_empty:
            self._replace_via_keyboard(" " * self._find_columns_to_next_tab_stop(), *self.selection)
        else:
            self.apply(indent(self.lines, self.selected, step, self.indent_width))

    async def _on_key(self, event: events.Key) -> None:
        """Enter keeps the indentation; backspace in it takes one step."""
        self.passing = False
        command = _COMMANDS.get(_ALSO.get(event.key, event.key))
        row, column = self.cursor_location
        before = self.document.get_line(row)[:column] if self.selection.is_empty else ""
        if self.read_only and (event.key in ("enter", "backspace") or _edits(command)):
            event.stop()
            event.prevent_default()
            self.post_message(Refused())
        elif event.key == "enter":
            event.stop()
            event.prevent_default()
            self._replace_via_keyboard(new_line(before, self.indent_width), *self.selection)
        elif event.key == "backspace" and before and not before.strip(" ") and column % self.indent_width == 0:
            event.stop()
            event.prevent_default()
            self._delete_via_keyboard((row, column - self.indent_width), (row, column))
        elif command is not None:
            # Here and now: as a binding it would be carried out by the app, and what is typed after it meanwhile.
            event.stop()
            event.prevent_default()
            await self.run_action(command)
        elif event.key.startswith("alt+"):
            # A key of nobody's; a terminal sends its letter along, which is not meant to be typed.
            event.stop()
            event.prevent_default()
        else:
            await super()._on_key(event)
