"""The command that searches all panes, and goes to what was found."""

from __future__ import annotations

from explorer.model.everywhere import Place, texts
from explorer.screens.kernel_commands import KernelCommands
from explorer.widgets.code_view import CodeView


class Everywhere(KernelCommands):
    """Mixed into the main screen."""

    _searched = ("", False)

    def action_find_everywhere(self) -> None:
        """Search the source, all stages, findings and the run."""
        from explorer.screens.searching import Asked, SearchScreen

        def found(answer: tuple[Place | None, Asked] | None) -> None:
            if answer is not None:
                place, self._searched = answer
                if place is not None:
                    self.go_to_found(place)

        self.app.push_screen(SearchScreen(texts(self.session), self._searched), found)

    def go_to_found(self, place: Place) -> None:
        """Go to a row of a stage, wherever that is shown."""
        if place.pane == "source":
            self.leave_editor_at(place.row + 1)
            self.go_to_pane("source")
            self.editor.go_to(place.row + 1, place.column + 1)
            return
        self.come_to(place.pane, place.row)
        if place.stage:
            self.modes.pop(place.pane, None)  # rows are counted in the text, not in a diff of it
            self.open_stage(place.backend, place.stage)
        else:
            self.go_to_pane(place.pane)
        self.show_now()
        view = self.panes[place.pane].body
        if isinstance(view, CodeView):
            view.move_to(place.row)
