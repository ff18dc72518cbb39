"""Commands of the editor that are not keys of a text field: go to a line, comment, move and duplicate lines."""

from __future__ import annotations

from explorer.model.editing import duplicate, move, place_named, toggle_comment
from explorer.screens.base import MainBase
from explorer.widgets.code_view import CodeView


class Editing(MainBase):
    """Mixed into the main screen. Commands that change the text mean the editor, wherever they are given."""

    def action_goto(self) -> None:
        """Ask for a line of the pane in focus, and go there."""
        pane = self.focused_pane
        body = pane.body
        lines = len(body.lines)
        here = body.cursor if isinstance(body, CodeView) else body.cursor_location[0]

        def answered(text: str) -> None:
            place = place_named(text, here + 1, max(1, lines))
            if isinstance(place, str):
                self.app.notify(place, severity="warning")
            elif isinstance(body, CodeView):
                body.move_to(place[0] - 1)
            else:
                body.go_to(*place)

        self.ask(f"Go to line of {pane.name} (1 to {max(1, lines)}), or line:column", "", answered)

    def action_comment(self) -> None:
        """Comment the selected lines, or make them code again."""
        self.editor.apply(toggle_comment(self.editor.lines, self.editor.selected))

    def action_duplicate(self) -> None:
        """Duplicate the selected lines."""
        self.editor.apply(duplicate(self.editor.lines, self.editor.selected))

    def action_move_lines(self, step: int) -> None:
        """Move the selected lines up or down."""
        self.editor.apply(move(self.editor.lines, self.editor.selected, step))
