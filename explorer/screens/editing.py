"""Commands of the editor that are not keys of a text field: go to a line, comment, move and duplicate lines."""

from __future__ import annotations

from textual import on
from textual.widgets import TextArea

from explorer.model.editing import duplicate, move, place_named, toggle_comment
from explorer.model.popup import call_parts
from explorer.model.problems import first, next_place, told
from explorer.screens.base import MainBase
from explorer.widgets.code_view import CodeView
from explorer.widgets.source_editor import SourceEditor
from explorer.widgets.status import key_parts
from explorer.widgets.text_line import Part, TextLine


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
                body.move_to(place[0] - 1, jump=True)
            else:
                self.leave_editor_at(place[0])
                body.go_to(*place)

        self.ask(f"Go to line of {pane.name} (1 to {max(1, lines)}), or line:column", "", answered)

    def action_problem(self, step: int) -> None:
        """Go to the next or previous finding."""
        row, column = self.editor.cursor_location
        place = next_place(self.session.problems, (row + 1, column + 1), step)
        if place is not None:
            self.leave_editor_at(place[0])
            self.go_to_pane("source")
            self.editor.go_to(*place)
        elif self.session.problems:
            self.go_to_pane("problems")  # they are about no line of the file
        else:
            self.app.notify("No problems.")

    def go_to_source(self, line: int, column: int) -> None:
        """Go to a place of the file."""
        self.leave_editor_at(line)
        self.go_to_pane("source")
        self.editor.go_to(line, column)

    def show_keys(self) -> None:
        """The key bar. The call that is being typed, or what is wrong with the cursor's line, takes its place."""
        findings = self.editor.findings if self.editor.has_focus else ()
        call = self.editor.call
        if call is not None:
            before, active, after = call_parts(call, self.app.size.width - 2)
            keys = self.query_one("#keys", TextLine)
            keys.show([Part(f" {before}", "comment"), Part(active, "keyword"), Part(after, "comment")])
        elif findings:
            style = "bad" if first(findings).severity == "error" else "doubtful"
            self.query_one("#keys", TextLine).show([Part(f" {told(findings)}", style)], key_parts(True, 0))
        else:
            super().show_keys()

    @on(TextArea.SelectionChanged)
    @on(SourceEditor.CallChanged)
    def _cursor_moved(self) -> None:
        self.show_keys()

    def action_complete(self) -> None:
        """Show what can be written at the cursor."""
        self.editor.complete()

    def action_comment(self) -> None:
        """Comment the selected lines, or make them code again."""
        self.editor.apply(
            toggle_comment(self.editor.lines, self.editor.selected, "//" if self.session.is_module else "#")
        )

    def action_duplicate(self) -> None:
        """Duplicate the selected lines."""
        self.editor.apply(duplicate(self.editor.lines, self.editor.selected))

    def action_move_lines(self, step: int) -> None:
        """Move the selected lines up or down."""
        self.editor.apply(move(self.editor.lines, self.editor.selected, step))
