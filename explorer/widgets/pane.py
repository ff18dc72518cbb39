"""A pane: a heading that says what is in it, and a listing or the editor below."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical

from explorer.model.links import Links
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
        self.links = Links(())
        self.heading = Heading()

    def compose(self) -> ComposeResult:
        """Heading and body."""
        yield self.heading
        yield self.body

    def show(self, listing: Listing) -> None:
        """Show a listing; cursor and scroll position stay where they were."""
        if listing == self.listing:
            return
        if listing.lines is not self.listing.lines:
            self.links = Links(listing.lines)
        self.listing = listing
        if isinstance(self.body, CodeView):
            self.body.load(
                [line.text for line in listing.lines], listing.language, stale=listing.stale, marks=listing.marks
            )
        self.show_heading()

    def show_heading(self) -> None:
        """Bring the heading up to date."""
        focus = self.has_focus_within
        self.heading.set_class(focus, "-focus")  # Textual looks at `:focus-within` where the whole screen is painted
        note = f"{self.listing.note} " if self.listing.note else ""
        self.heading.show(
            [Part(f"{'>' if focus else ' '}{self.number} {self.listing.title}", "", f"pane({self.number})")],
            [Part("  "), *(Part(p.text, p.style) for p in _words(note))],
        )

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
