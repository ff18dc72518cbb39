"""What is lit: the rows that belong to the place of the cursor, in every pane, and the value that is followed."""

from __future__ import annotations

from contextlib import suppress

from textual import on
from textual.widgets import TextArea

from explorer.model import following, panes
from explorer.model.following import Followed
from explorer.model.history import History, Position
from explorer.model.links import Place, linked, links_of, source_lines
from explorer.model.place import counts, told, ways_of
from explorer.model.session import Session
from explorer.model.values import Occurrence
from explorer.screens.asking import Asking
from explorer.widgets.code_view import CodeView
from explorer.widgets.pane import Pane
from explorer.widgets.rows import ChangedRows
from explorer.widgets.source_editor import SourceEditor
from explorer.widgets.status import place_parts
from explorer.widgets.text_line import TextLine
from explorer.widgets.workspace import Workspace


class Linking(Asking):
    """The part of the main screen that follows the cursor."""

    session: Session
    chosen: dict[str, str]
    editor: SourceEditor
    panes: dict[str, Pane]
    workspace: Workspace

    #: Where the cursor is, or was when it was locked.
    place: Place | None = None
    locked = False
    followed: Followed | None = None

    def __init__(self) -> None:
        super().__init__()
        self.history = History()
        self._coming: tuple[str, int | None] | None = None

    # The cursor

    @property
    def line(self) -> int | None:
        """The file line of the place that is lit."""
        return self.place.line if self.place is not None else None

    @on(TextArea.SelectionChanged)
    def _editor_cursor(self, event: TextArea.SelectionChanged) -> None:
        if event.text_area is self.editor and self.editor.has_focus:
            self.follow_place(Place(self.editor.cursor_location[0] + 1), self.panes["source"])

    @on(CodeView.CursorMoved)
    def _listing_cursor(self, event: CodeView.CursorMoved) -> None:
        pane = event.view.parent
        if isinstance(pane, Pane) and event.view.has_focus:
            if event.left is not None:
                self.history.leave(self.position(event.left))
            self.follow_place(links_of(pane.listing.lines).place(event.row), pane)
            if self.followed is not None:
                self.show_place()

    def follow_place(self, place: Place | None, origin: Pane) -> None:
        """The cursor is at this place now."""
        if place != self.place and not self.locked:
            self.place = place
            self.show_links(origin=origin)
            self.paint_together()

    def paint_together(self) -> None:
        """Let what has changed be in one frame. Each of these would otherwise tell the screen by a message of its own,
        after one to itself."""
        seen = self._compositor.visible_widgets
        self._dirty_widgets.update(each for each in seen if isinstance(each, ChangedRows) and each.check())

    # Showing it

    def show_links(self, *, reveal: bool = True, origin: Pane | None = None) -> None:
        """Light what belongs to the place of the cursor, in every pane in view, and bring it into view in those that
        the cursor is not in; mark the value that is followed."""
        ways = ways_of(self.session, self.place)
        if self.followed is not None and self.followed.kernel != self.session.result.kernel:
            self.followed = None
        for name in self.workspace.visible_panes:
            pane = self.panes[name]
            if isinstance(pane.body, SourceEditor):
                on_it = {self.editor.cursor_location[0] + 1} if self.editor.has_focus else set()
                lines = set(source_lines(ways, self.place)) - on_it if self.place is not None else set()
                self.editor.link(sorted(lines), reveal=reveal and pane is not origin)
            else:
                rows = linked(links_of(pane.listing.lines), self.place, ways)
                # What compilers put near their first use is lit as well, but does not decide what comes into view.
                asked = [row for row in rows if not pane.listing.lines[row].made_by] or rows
                shown = (reveal and pane is not origin) or (pane.fresh and not pane.body.has_focus)
                pane.body.link(rows, asked if shown else ())
                pane.body.follow(self._occurrences(pane))
                self._keep(pane, pane.body, rows)
                pane.fresh = False
                if name in panes.FAMILIES:
                    pane.show_linked(len(rows) if self.place is not None else None)
        self.show_place()

    def _keep(self, pane: Pane, view: CodeView, rows: list[int]) -> None:
        """In another stage the cursor stays with the value that is followed, if it was on it, else with its place."""
        if not pane.fresh or not view.has_focus:
            return
        if pane.on_value and view.followed:
            if not view.on_value:
                view.move_to(next((o.row for o in view.followed if o.defines), view.followed[0].row))
        elif rows and view.cursor not in rows and not self.locked:
            view.move_to(rows[0])

    def _occurrences(self, pane: Pane) -> tuple[Occurrence, ...]:
        """Where the value that is followed stands in a pane."""
        name = pane.name or ""
        if self.followed is None or name not in panes.FAMILIES:
            return ()
        stage = panes.chosen_stage(self.session, name, self.chosen) or ""
        result = self.session.results.get(panes.backend_of(self.session, name))
        if result is None:
            return ()
        return following.occurrences(result, self.followed, name, stage, pane.listing.lines, pane.listing.language)

    def show_place(self) -> None:
        """The line that says where the cursor is, or what is known of the value that is followed."""
        ways = ways_of(self.session, self.place)
        width = self.app.size.width
        if self.followed is not None:
            left, right = self._value_told(self.followed)
            parts = place_parts(left, [right], self.locked, width)
        else:
            ssa, mlir = (panes.chosen_stage(self.session, name, self.chosen) or "" for name in ("ssa", "mlir"))
            found = counts(self.session, self.place, ways, ssa, mlir)
            numbers = [f"{number} {word}" for word, number in found]
            if found and not any(number for _, number in found):
                numbers = ["no code came from it"]
            words = told(self.session, self.place, ways) or self._made_by()
            parts = place_parts(words, numbers, self.locked, width)
        self.query_one("#place", TextLine).show(*parts)

    def _made_by(self) -> str:
        """What made the instruction at the cursor, if no line of the kernel asked for it."""
        pane = self.focused_pane
        if isinstance(pane.body, SourceEditor):
            return ""
        lines, row = pane.listing.lines, pane.body.cursor
        made_by = lines[row].made_by if 0 <= row < len(lines) else ""
        return f"no line of the kernel: made by {made_by}" if made_by else ""

    def _value_told(self, followed: Followed) -> tuple[str, str]:
        pane = self.focused_pane
        here = self._occurrences(pane)
        defined, used = sum(o.defines for o in here), sum(not o.defines for o in here)
        right = f"defined {defined}x, used {used}x here" if here else "not here"
        life = following.life(self.session.result, followed.id) if followed.id else None
        words = [followed.name]
        if life is not None:
            if life.id != followed.name:
                words.append(f"is {life.id}")
            if source := following.expression(life.origin, self.session.text.split("\n")):
                assert life.origin is not None
                words.append(f"line {life.origin.line} `{source}`")
            if story := life.told():
                words.append(f" {story}")
        if followed.name[0] in "RUP" and followed.stage == "sass":
            words.append("by name, to where it is set again")
        return " ".join(words), right

    # Panes

    @property
    def focused_pane(self) -> Pane:
        """The pane in focus; the source if none is."""
        with suppress(AttributeError):
            parent = self.focused.parent  # type: ignore[union-attr]
            if isinstance(parent, Pane):
                return parent
        return self.panes[self.workspace.recent[0]]

    def position(self, row: int | None = None) -> Position:
        """Where the cursor is, or was in the listing that it is in."""
        pane = self.focused_pane
        if isinstance(pane.body, SourceEditor):
            row = self.editor.cursor_location[0]
            return Position("source", "", row, self.editor.document.get_line(row))
        name = pane.name or ""
        stage = (panes.chosen_stage(self.session, name, self.chosen) or "") if name in panes.FAMILIES else ""
        row = pane.body.cursor if row is None else row
        return Position(name, stage, row, pane.body.lines[row] if row < len(pane.body.lines) else "")

    def leaving(self, name: str, leave: bool = True) -> None:
        """The focus goes from where it is to a pane: there the cursor stands on what belongs to its place. `leave`
        keeps where it was, to jump back to."""
        here = self.focused_pane
        if leave and here.name not in ("source", name):  # the editor has a cursor of its own, which stays
            self.history.leave(self.position())
        if self._coming is None:
            self._coming = name, None
        pane = self.panes[name]
        if pane.body.has_focus:
            self.arrived(pane)
        elif name in self.workspace.visible_panes:
            self._land(pane)  # before it is painted with its cursor elsewhere

    def _land(self, pane: Pane) -> bool:
        """Put the cursor of a pane that is gone to where it belongs; False if it stays where it was."""
        if self._coming is None or self._coming[0] != pane.name or isinstance(pane.body, SourceEditor):
            return False
        body, row = pane.body, self._coming[1]
        if row is None:
            rows = linked(links_of(pane.listing.lines), self.place, ways_of(self.session, self.place))
            if not rows:
                return False
            row = body.cursor if body.cursor in rows else next((r for r in rows if r in body.in_view), rows[0])
            body.move_to(row)
            return True
        body.move_to(row)
        return False

    def leave_editor_at(self, line: int) -> None:
        """The editor's cursor is about to be put at a line; where it was can be jumped back to."""
        row = self.editor.cursor_location[0]
        if row != line - 1:
            self.history.leave(Position("source", "", row, self.editor.document.get_line(row)))

    def come_to(self, name: str, row: int | None) -> None:
        """The next pane that is gone to gets the cursor at a row."""
        self._coming = name, row

    def arrived(self, pane: Pane) -> None:
        """The focus has come to a pane."""
        stays = self._land(pane)
        self._coming = None
        if isinstance(pane.body, SourceEditor):
            self.follow_place(Place(self.editor.cursor_location[0] + 1), pane)
        elif not stays:
            self.follow_place(links_of(pane.listing.lines).place(pane.body.cursor), pane)
