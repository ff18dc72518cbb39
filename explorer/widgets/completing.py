"""Completion in the editor: a list that is drawn over its rows, so that nothing else is painted again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widgets.text_area import Edit, EditResult, Selection

from explorer.model.completion import Call, call_at, complete
from explorer.model.popup import WIDEST, Popup
from explorer.widgets.editor_commands import EditorCommands, Replacement

_MOVES = {"down": 1, "up": -1, "pagedown": 7, "pageup": -7}

if TYPE_CHECKING:
    _Base = EditorCommands
else:
    _Base = object  # see editor_commands


class Completing(_Base):
    """Mixed in before `EditorCommands`. `call` is the call that is being typed, while it is."""

    written_in = "python"
    popup: Popup | None = None
    call: Call | None = None
    _helping = False

    class CallChanged(Message):
        """Another call is being typed, or another argument, or none any more."""

    def code(self, row: int) -> str:
        """A row with what is no code blanked out."""
        raise NotImplementedError

    def complete(self, asked: bool = True) -> None:
        """Show what can be written here; if it was `asked` for, also what the call takes."""
        if self.written_in != "python":
            return
        lines, place = self.lines, self.cursor_location
        found = complete(lines, self.code, place, asked) if self.selection.is_empty else None
        entries = found.narrowed(lines[place[0]][found.start : place[1]]) if found is not None else ()
        self.popup = Popup(found, entries) if found is not None and entries else None
        self._helping = self._helping or asked
        self._follow()
        self.refresh()

    def edit(self, edit: Edit) -> EditResult:
        """Carry out an edit; some characters, typed, bring up the list or the help."""
        result = super().edit(edit)
        if edit.text in ("(", ",") and self.written_in == "python":
            self._helping = True
            self._follow()
        elif edit.text == ".":
            self.complete(asked=False)
        return result

    def watch_selection(self) -> None:
        """The cursor is elsewhere: the list is narrowed, or goes."""
        if self.is_mounted:
            self._follow()

    def on_blur(self) -> None:
        """Without the focus there is neither list nor help."""
        self._close()
        self._helping = False
        self._follow()

    def _follow(self) -> None:
        if self.popup is not None:
            row, column = self.cursor_location
            at = self.popup.completion
            word = self.document.get_line(row)[at.start : column]
            inside = self.selection.is_empty and row == at.row and column >= at.start
            if not inside or (word and not word.isidentifier()) or not self.popup.narrow(word):
                self.popup = None
            self.refresh()
        call = call_at(self.lines, self.code, self.cursor_location) if self._helping else None
        self._helping = call is not None
        if call != self.call:
            self.call = call
            self.post_message(self.CallChanged())

    def _close(self) -> None:
        if self.popup is not None:
            self.popup = None
            self.refresh()

    def _accept(self) -> None:
        assert self.popup is not None
        popup, self.popup = self.popup, None
        place = self.cursor_location
        name, start = popup.chosen.name, (place[0], popup.completion.start)
        self.history.checkpoint()
        self.edit(Replacement(name, start, place, False, Selection.cursor((place[0], start[1] + len(name)))))
        self.history.checkpoint()
        self.refresh()

    async def _on_key(self, event: events.Key) -> None:
        """The keys of the list; without one, all are the editor's."""
        if self.popup is None or not (event.key in _MOVES or event.key in ("enter", "tab", "escape")):
            return
        row, column = self.cursor_location
        written = self.document.get_line(row)[self.popup.completion.start : column]
        if event.key == "enter" and written == self.popup.chosen.name:
            self._close()  # there is nothing to accept: it is a new line
            return
        event.stop()
        event.prevent_default()
        if event.key == "escape":
            self._close()
        elif event.key in _MOVES:
            self.popup.move(_MOVES[event.key])
            self.refresh()
        else:
            self._accept()

    def over(self, strip: Strip, y: int, styles: dict[str, Style]) -> Strip:
        """A row of the window with what the list covers of it."""
        if self.popup is None:
            return strip
        row, height = self.cursor_location[0] - round(self.scroll_y), self.size.height
        below, above = height - row - 1, row
        width = min(WIDEST, self.size.width - self.gutter_width)
        rows = self.popup.rows(max(below, above) if below < 5 else below, width)
        first = row + 1 if below >= len(rows) or below >= above else row - len(rows)
        if not first <= y < first + len(rows):
            return strip
        text, kind = rows[y - first]
        column = self.gutter_width + self.popup.completion.start - round(self.scroll_x) - 3
        at = max(0, min(column, self.size.width - width))
        cell = Strip([Segment(text, styles[kind])], width)
        return Strip.join([strip.crop(0, at), cell, strip.crop(at + width)])
