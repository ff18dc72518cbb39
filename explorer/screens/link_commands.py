"""Commands about what is lit: follow a value, lock, go through linked lines, jump there and back."""

from __future__ import annotations

from explorer.model import following, panes
from explorer.model.backend_result import Result
from explorer.model.history import Position
from explorer.model.links import linked, links_of
from explorer.model.place import unit_of, ways_of
from explorer.model.search import next_hit
from explorer.screens.kernel_commands import KernelCommands
from explorer.widgets.code_view import CodeView
from explorer.widgets.pane import Pane


class LinkCommands(KernelCommands):
    """Mixed into the main screen."""

    def listing_view(self) -> tuple[Pane, CodeView] | None:
        """The pane in focus and its listing; None in the editor."""
        pane = self.focused_pane
        return (pane, pane.body) if isinstance(pane.body, CodeView) else None

    # Linked lines

    def action_linked(self, step: int) -> None:
        """Go to the next or previous row that is lit."""
        found = self.listing_view()
        if found is None:
            return
        view = found[1]
        row = next_hit(sorted(view.linked), view.cursor, step)
        if row is None:
            self.app.notify("No line of this listing is linked to where the cursor was.")
        elif row == view.cursor:
            self.app.notify("This is the only line here that is linked.")
        else:
            view.move_to(row, jump=True)

    def action_lock(self) -> None:
        """Keep what is lit while the cursor moves elsewhere, or let it follow the cursor again."""
        self.locked = not self.locked and self.place is not None
        if not self.locked:
            self.arrived(self.focused_pane)
        self.show_links(reveal=False)

    def action_became(self) -> None:
        """Go to the first line that belongs to the place of the cursor, in the next pane that has one."""
        visible = self.workspace.visible_panes
        here = self.focused_pane.name
        at = visible.index(here) if here in visible else 0
        ways = ways_of(self.session, self.place)
        for name in (*visible[at + 1 :], *visible[:at]):
            if name in panes.FAMILIES and linked(links_of(self.panes[name].listing.lines), self.place, ways):
                self.go_to_pane(name)
                return
        self.app.notify("Nothing in view came from this line.")

    def follow_out(self) -> bool:
        """Show the helper of another file that the row under the cursor was inlined from; False if there is none."""
        found = self.listing_view()
        place = links_of(found[0].listing.lines).place(found[1].cursor) if found is not None else None
        unit = unit_of(self.session, place.frames[0]) if place is not None and place.frames else None
        if unit is None or place is None or not unit.path:
            return False
        first, line = unit.first_line, place.frames[0].line
        rows = [
            f"{'>' if number == line else ' '} {number:4} {text}"
            for number, text in enumerate(unit.text.split("\n"), first)
        ]
        self.show_text(f"{unit.name} of {unit.path}, inlined here", rows, line - first)
        return True

    # A value

    def action_value(self) -> None:
        """Follow the value that the line defines, or names; on a line that has the followed one, go to the next."""
        found = self.listing_view()
        if found is None:
            return
        pane, view = found
        rows = [occurrence.row for occurrence in view.followed]
        if self.followed is not None and view.cursor in rows:
            row = next_hit(rows, view.cursor, 1)
            if row is not None and row != view.cursor:
                view.move_to(row, jump=True)
            else:
                self.app.notify(f"{self.followed.name} stands in no other line of this listing.")
            return
        names = self._names(pane, view)
        if names:
            self.follow_value(names[0])
        elif self.followed is not None:
            self.end_following()
        else:
            self.app.notify("This line names no value that could be followed.")

    def action_choose_value(self) -> None:
        """Choose which value of the line to follow."""
        found = self.listing_view()
        names = self._names(*found) if found is not None else ()
        if not names:
            self.app.notify("This line names no value that could be followed.")
            return
        self.choose("Follow the value", names, 0, lambda index: self.follow_value(names[index]))

    def _names(self, pane: Pane, view: CodeView) -> tuple[str, ...]:
        """The values of the row under the cursor; first the one that was clicked, or those it defines."""
        if pane.name not in panes.FAMILIES or not pane.listing.lines:
            return ()
        values = following.values_of(pane.listing.lines, pane.listing.language)
        clicked = view.clicked
        names = values.names(view.cursor)
        if clicked is not None and view.cursor < len(view.lines):
            at = (name.text for name in values.scan(view.cursor) if name.start <= clicked < name.end)
            names = tuple(dict.fromkeys((*at, *names)))
        return names

    def follow_value(self, name: str) -> None:
        """Mark a value of the row under the cursor, wherever it is."""
        found = self.listing_view()
        if found is None:
            return
        pane, view = found
        kind = pane.name or ""
        stage = panes.chosen_stage(self.session, kind, self.chosen) or ""
        result = self.session.results.get(panes.backend_of(self.session, kind), Result())
        lines, language = pane.listing.lines, pane.listing.language
        self.followed = following.start(result, kind, stage, lines, language, view.cursor, name)
        self.show_links(reveal=False)

    def end_following(self) -> bool:
        """Follow no value any more; False if none was followed."""
        if self.followed is None:
            return False
        self.followed = None
        self.show_links(reveal=False)
        return True

    def action_value_story(self) -> None:
        """Tell what became of the value that is followed, stage by stage."""
        if self.followed is None or not self.followed.id:
            self.app.notify("Follow a value of the SSA first: f on its line.", severity="warning")
            return
        life = following.life(self.session.result, self.followed.id)
        source = following.expression(life.origin, self.session.text.split("\n"))
        line = f"line {life.origin.line}: " if life.origin is not None and life.origin.line is not None else ""
        names = life.names or {}
        turns = {turn.stage: turn for turn in life.turns}
        rows = [f"{life.id}  {line}{source}".rstrip(), ""]
        for stage in dict.fromkeys([*names, *turns]):
            why = f"  {turns[stage].why}" if stage in turns else ""
            rows.append(f"{stage:<14}{names.get(stage, 'gone'):<8}{why}".rstrip())
        self.show_text(f"What became of {life.id}", rows)

    # There and back

    def action_history(self, step: int) -> None:
        """Jump back to where one was, or forward again."""
        here = self.position()
        there = self.history.back(here) if step < 0 else self.history.forward(here)
        if there is None:
            self.app.notify("There is nothing to go back to." if step < 0 else "There is nothing to go forward to.")
            return
        self._return_to(there)

    def _return_to(self, there: Position) -> None:
        if there.pane == "source":
            row = there.row_in(self.editor.text.split("\n"))
            self.editor.go_to(row + 1)
            self.go_to_pane("source", leave=False)
            return
        if there.stage and there.stage in panes.stages_of(self.session, there.pane):
            self.chosen[there.pane] = there.stage
        self.workspace.bring(there.pane)
        self.show_now()
        view = self.panes[there.pane].body
        assert isinstance(view, CodeView)
        self.come_to(there.pane, there.row_in(view.lines))
        self.go_to_pane(there.pane, leave=False)
