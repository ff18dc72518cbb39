"""A pane: a heading that says what is in it, and a listing or the editor below."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical

from explorer.model.panes import Listing
from explorer.widgets.code_view import CodeView
from explorer.widgets.source_editor import SourceEditor
from explorer.widgets.text_line import Part, TextLine


class Heading(TextLine):
    """The first row of a pane. The pane in focus has a sign and a colour."""

    DEFAULT_CSS = """
    Heading {
        background: $panel; color: $foreground; text-style: bold;
        &.-focus { background: $primary; }
        &:ansi { text-style: bold underline; }
        &.-focus:ansi { background: ansi_default; text-style: bold reverse; }
    }
    """


class Pane(Vertical):
    """Number, name and body; `name` is the pane's id in the model."""

    DEFAULT_CSS = "Pane { width: 1fr; height: 1fr; }"

    def __init__(self, name: str, number: int, body: CodeView | SourceEditor) -> None:
        super().__init__(id=f"pane-{name}", name=name)
        self.number = number
        self.body = body
        self.listing = Listing(name)
        self.fresh = False  # it shows another stage than before, or one at last: what is linked there was not seen yet
        self.on_value = False  # the cursor was on the value that is followed when that happened
        self._linked: int | None = None
        self.heading = Heading()

    def compose(self) -> ComposeResult:
        """Heading and body."""
        yield self.heading
        yield self.body

    def show(self, listing: Listing) -> None:
        """Show a listing; cursor and scroll position stay where they were."""
        if listing == self.listing:
            self.listing = listing  # or each update would compare all lines again, as they are other objects
            return
        if listing.lines and (not self.listing.lines or listing.title != self.listing.title):
            self.fresh = True
            if isinstance(self.body, CodeView) and self.listing.lines:
                self.on_value = self.body.on_value or (self.on_value and not self.body.followed)
        self.listing = listing
        if isinstance(self.body, CodeView):
            self.body.load(
                [line.text for line in listing.lines], listing.language, stale=listing.stale, marks=listing.marks
            )
        self.show_heading()

    def show_linked(self, number: int | None) -> None:
        """Say in the heading how many lines are linked to the place of the cursor; None: there is no such place."""
        if number != self._linked:
            self._linked = number
            self.show_heading()

    def show_heading(self) -> None:
        """Bring the heading up to date."""
        focus = self.has_focus_within
        self.heading.set_class(focus, "-focus")  # Textual looks at `:focus-within` where the whole screen is painted
        note = f"{self.listing.note} " if self.listing.note else ""
        title = f"{'>' if focus else ' '}{self.number} {self.listing.title}"
        linked = self._linked_words(self.size.width - len(title) - len(note) - 4)
        self.heading.show(
            [Part(title, "", f"pane({self.number})")],
            [Part("  "), *([Part(f"{linked}  ")] if linked else []), *(Part(p.text, p.style) for p in _words(note))],
        )

    def _linked_words(self, room: int) -> str:
        """How many lines are linked, in as many words as there is room for."""
        if self._linked is None or not self.listing.lines:
            return ""
        total = len(self.listing.lines)
        words = (f"{self._linked} of {total} linked", f"{self._linked} linked")
        return next((text for text in words if len(text) <= room), "")

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """The sign of the focus."""
        self.show_heading()

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        """The sign of the focus."""
        self.show_heading()


def _words(note: str) -> list[Part]:
    parts = []
    for word in note.split("  "):
        bad = word.strip().split(" ")[0] in ("stale", "FAILED", "CRASHED", "skipped")
        parts += [Part("  "), Part(word, "doubtful" if bad else "")]
    return parts[1:]
