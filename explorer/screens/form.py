"""The form of what a kernel is compiled for: every change compiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Input

from explorer.model.form import Form, Kind
from explorer.model.session import Session
from explorer.model.settings import Settings
from explorer.screens.asking import Modal
from explorer.widgets.form_row import FormRow
from explorer.widgets.text_line import Part, TextLine, highlighted

_TITLES: dict[Kind, str] = {
    "type": "Types in Triton's notation, or a constexpr's value; [x] 16: divisible by 16",
    "constexpr": "Constexprs",
    "value": "The example's own parameters",
    "config": "One of the configs that @autotune chooses from",
    "choice": "Target",
}
_KEYS = " enter keep   esc as it was   ctrl+r (or an empty field) as the example says"


class _Fields(VerticalScroll, inherit_bindings=False):
    """Scrolls to the field that has the focus; where there are more than fit, the arrow keys are the form's all the
    same."""


class FormScreen(Modal[bool]):
    """Shows the form of a session. `apply` is called with settings and backend after every change; `status` says what
    came of it. Dismissed with True if the changes are kept; otherwise those that were are applied again."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "drop", "back as it was"),
        Binding("enter", "keep", "keep", priority=True),
        Binding("down", "row(1)", "next", show=False),
        Binding("up", "row(-1)", "previous", show=False),
        Binding("ctrl+r", "reset", "as the example says"),
    ]
    DEFAULT_CSS = """
    FormScreen {
        background: $background;
        & > .title { background: $primary; }
        & VerticalScroll { height: 1fr; scrollbar-size: 0 1; background: $background; }
        & .section { background: $background; color: $foreground; text-style: bold; margin-top: 1; }
        & .status { background: $surface; }
        & #keys { background: $panel; }
        &:ansi > .title { background: ansi_default; text-style: bold reverse; }
    }
    """

    def __init__(
        self, title: str, session: Session, apply: Callable[[Settings, str], None], status: Callable[[], str]
    ) -> None:
        super().__init__()
        self._title, self._session, self._apply, self._status = title, session, apply, status
        self._form = form = Form(session)
        self._before = form.settings, form.backend
        self._made = self._first = form.made()
        self._ready = False
        self._rows = [FormRow(field) for field in form.fields]

    def compose(self) -> ComposeResult:
        """Title, fields in sections, what came of it, keys."""
        yield TextLine(classes="title")
        with _Fields(can_focus=False):
            for kind, title in _TITLES.items():
                rows = [row for row in self._rows if row.field.kind == kind]
                if rows:
                    section = TextLine(classes="section")
                    section.show([Part(f" {title}")])
                    yield section
                    yield from rows
        yield TextLine(classes="status")
        yield TextLine(id="keys")

    def on_mount(self) -> None:
        """Start at the first field."""
        self.query_one(".title", TextLine).show([Part(f" {self._title}")])
        self.query_one("#keys", TextLine).show([Part(_KEYS)])
        if self._rows:
            self._rows[0].control.focus()
        self._ready = True
        self.follow()

    def follow(self) -> None:
        """Say what has been compiled meanwhile."""
        if self._ready:
            if self._form.follow(self._session):
                for row in self._rows:
                    row.refill()
            self.query_one(".status", TextLine).show(highlighted(f" {self._status()}"))

    def on_form_row_changed(self) -> None:
        """Compile for what is said now."""
        self._compile()

    def _compile(self) -> None:
        if self._form.settle():
            for row in self._rows:
                row.refill()
        made = self._form.made()
        if made != self._made:
            self._made = made
            self._apply(*made)
        self.follow()

    def action_row(self, by: int) -> None:
        """Go to the field of the next row, or of the previous one; tab goes through the hints of divisibility too."""
        here = next((index for index, row in enumerate(self._rows) if row.has_focus_within), 0)
        self._rows[(here + by) % len(self._rows)].control.focus()

    def action_reset(self) -> None:
        """Everything as the example says."""
        self._form.reset()
        for row in self._rows:
            row.refill()
        self._compile()

    def action_keep(self) -> None:
        """Keep the changes, if all fields can be used."""
        bad = next((row for row in self._rows if row.field.problem), None)
        if bad is None:
            self.dismiss(True)
            return
        bad.control.focus()
        self.app.notify(f"{bad.field.name}: {bad.field.problem}; esc drops the changes", severity="warning")

    def action_drop(self) -> None:
        """Back to what it was."""
        if self._made != self._first:
            self._apply(*self._before)
        self.dismiss(False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Enter keeps, also in a field."""
        event.stop()
        self.action_keep()
