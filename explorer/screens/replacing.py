"""Find and replace in the editor."""

from __future__ import annotations

import re

from textual import on
from textual.widgets import TextArea
from textual.widgets.text_area import Selection

from explorer.model.editing import Place
from explorer.model.replacing import BadPattern, Lines, count, next_match
from explorer.screens.listing_commands import ListingCommands
from explorer.widgets.editor_commands import Replacement
from explorer.widgets.replace_bar import ReplaceBar


class Replacing(ListingCommands):
    """Mixed into the main screen. The selection is the match one is at."""

    replace_bar: ReplaceBar | None = None
    _origin: Place = (0, 0)
    _found: tuple[re.Match[str], ...] = ()
    _said = ""

    async def action_replace(self) -> None:
        """Find and replace in the editor; in a listing, find."""
        if self.listing_view() is not None:
            await self.action_find()
            return
        if self.replace_bar is None:
            self.replace_bar = ReplaceBar()
            await self.mount(self.replace_bar, after=self.find_bar)
        start, end = sorted(self.editor.selection)
        self._origin = start
        self.replace_bar.open(self.editor.selected_text if start[0] == end[0] else "")
        self._find_again()

    def action_back(self) -> None:
        """Leave the search first."""
        if self.replace_bar is not None and self.replace_bar.is_open:
            self._close()
        else:
            super().action_back()

    def _close(self) -> None:
        if self.replace_bar is not None:
            self.replace_bar.close()
            self._found = ()
            self.editor.show_found({})
            self.set_focus(self.editor)

    def _find_again(self) -> None:
        """Look anew: the text, or what is looked for, is another."""
        bar = self.replace_bar
        if bar is None or not bar.is_open:
            return
        try:
            self._found = tuple(bar.search.find(self.editor.text))
        except BadPattern as error:
            self._found, self._said = (), str(error)
        self.editor.show_found(Lines(self.editor.lines).by_row(self._found))
        self._tell()

    def _tell(self) -> None:
        if self.replace_bar is not None:
            looked_for = self.replace_bar.find.value
            self.replace_bar.tell(count(self._found, *self._span()) if looked_for else "", self._said)

    def _span(self) -> tuple[int, int]:
        """The offsets of the selection."""
        lines = Lines(self.editor.lines)
        start, end = sorted(self.editor.selection)
        return lines.offset(start), lines.offset(end)

    def _select(self, match: re.Match[str] | None) -> None:
        if match is not None:
            lines = Lines(self.editor.lines)
            self.editor.selection = Selection(lines.place(match.start()), lines.place(match.end()))
            self.editor.scroll_cursor_visible()
        self._tell()

    @on(ReplaceBar.Changed)
    def _look_for(self) -> None:
        self._said = ""
        self._find_again()
        at = Lines(self.editor.lines).offset(self._origin)
        if self._found:
            self._select(next_match(self._found, at, at, 0))

    @on(ReplaceBar.Asked)
    def _asked(self, event: ReplaceBar.Asked) -> None:
        self._said = ""
        if event.what == "close":
            self._close()
        elif event.what == "all":
            self._replace_all()
        elif event.what == "replace":
            self._replace()
        elif event.what in ("undo", "redo"):
            getattr(self.editor, event.what)()
        else:
            self._go_on(1 if event.what == "next" else -1)

    def _go_on(self, step: int) -> None:
        self._select(next_match(self._found, *self._span(), step))
        self._origin = min(self.editor.selection)

    def _replace(self) -> None:
        """Replace the match one is at, and go to the next; if one is at none, only go there."""
        bar = self.replace_bar
        match = next((m for m in self._found if m.span() == self._span()), None)
        if bar is None or match is None:
            self._go_on(1)
            return
        try:
            new = bar.search.replacement(match, bar.template.value)
        except BadPattern as error:
            self._said = str(error)
            self._tell()
            return
        self._put(match.start(), match.end(), new)
        self._find_again()
        self._go_on(1)

    def _replace_all(self) -> None:
        bar = self.replace_bar
        if bar is None:
            return
        try:
            start, end, new, number = bar.search.replace_all(self.editor.text, bar.template.value)
        except BadPattern as error:
            self._said = str(error)
            self._tell()
            return
        if number:
            self._said = f"{number} replaced; ctrl+z takes it back"
            self._put(start, end, new)
        self._find_again()

    def _put(self, start: int, end: int, new: str) -> None:
        """Replace a range as one step of undo; the cursor is behind it then."""
        editor, lines = self.editor, Lines(self.editor.lines)
        after = Lines((editor.text[:start] + new).split("\n")).place(start + len(new))
        editor.history.checkpoint()
        editor.edit(Replacement(new, lines.place(start), lines.place(end), False, Selection.cursor(after)))
        editor.history.checkpoint()

    @on(TextArea.Changed)
    def _text_changed(self, event: TextArea.Changed) -> None:
        if event.text_area is self.editor:
            self._find_again()
