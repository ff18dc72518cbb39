"""Search across all panes: type, and the lines that match come up by stage; enter goes to one."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Input

from explorer.model.everywhere import MOST, Finding, Place, Text, query
from explorer.model.replacing import BadPattern
from explorer.screens.asking import Modal
from explorer.widgets.code_view import CodeView
from explorer.widgets.text_line import Part, TextLine
from explorer.widgets.toggle import Press, Toggle

#: Seconds of searching between two looks at what was typed meanwhile, and between two times that it is shown.
SLICE, SHOW_EVERY = 0.008, 0.1

Asked = tuple[str, bool]


class SearchField(Input):
    """A field that leaves the keys of the list to the screen; a terminal sends a letter along with `alt+r`."""

    async def _on_key(self, event: events.Key) -> None:
        if event.key.startswith("alt+"):
            event.prevent_default()


class Results(CodeView):
    """A list whose cursor is seen while one types in the field."""

    def _is_cursor(self, row: int) -> bool:
        return row == self.cursor


class SearchScreen(Modal[tuple[Place | None, Asked]]):
    """Dismissed with the place to go to, if one was chosen, and with what was looked for."""

    DEFAULT_CSS = """
    SearchScreen {
        background: $background;
        & > Horizontal { height: 1; background: $surface; }
        & .label { width: 18; }
        & Input, & Input:focus { width: 1fr; background: $panel; }
        & .count { width: 26; }
        & CodeView { height: 1fr; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "back", priority=True),
        Binding("enter", "open", "go there", priority=True),
        Binding("alt+r", "regex", "regular expression", priority=True),
        *(
            Binding(key, f"list('{action}')", show=False, priority=True)
            for key, action in (
                ("down", "move(1)"),
                ("up", "move(-1)"),
                ("pagedown", "page(1)"),
                ("pageup", "page(-1)"),
            )
        ),
    ]

    def __init__(self, texts: list[Text], asked: Asked) -> None:
        super().__init__()
        self._texts = texts
        self._field = SearchField(asked[0], compact=True)
        self._field.cursor_blink = False
        self._regex = Toggle("regex", asked[1])
        self._finding = Finding((), query("", False))

    def compose(self) -> ComposeResult:
        """The field, the lines that match, the keys."""
        with Horizontal():
            yield TextLine(classes="label")
            yield self._field
            yield self._regex
            yield TextLine(classes="count")
        yield Results()
        yield TextLine(id="keys")

    def on_mount(self) -> None:
        """Look for what was looked for last."""
        self.query_one(".label", TextLine).show([Part(" find everywhere ", "keyword")])
        keys = " enter go there   up down page choose   alt+r regular expression   esc back"
        self.query_one("#keys", TextLine).show([Part(keys)])
        self._field.focus()
        self._start()

    @on(Input.Changed)
    @on(Press.Pressed)
    def _start(self) -> None:
        self._finding = Finding(self._texts, query(self._field.value, self._regex.on))
        self.run_worker(self._search(), exclusive=True, group="search")

    async def _search(self) -> None:
        finding, clock = self._finding, asyncio.get_running_loop().time
        shown = clock()
        try:
            while not finding.step(SLICE):
                if clock() - shown > SHOW_EVERY:
                    self._show(finding, "searching")
                    shown = clock()
                await asyncio.sleep(0.001)  # what was typed comes first
        except BadPattern as error:
            self._show(finding, str(error))
        else:
            self._show(finding, "")

    def _show(self, finding: Finding, trouble: str) -> None:
        view = self.query_one(CodeView)
        rows = [text for text, _ in finding.rows]
        if finding.count > MOST:
            rows.append(f"... and more: only the first {MOST} lines are listed")
        view.load(rows, "report")
        view.search(finding.search.text if not finding.search.regex else "")
        if view.cursor == 0 and len(rows) > 1:
            view.move_to(1)  # below the first heading
        lines = f"{finding.count} line{'' if finding.count == 1 else 's'}" if finding.search.text else ""
        self.query_one(".count", TextLine).show([Part(f" {trouble or lines} ", "bad" if trouble else "")])

    def action_list(self, action: str) -> None:
        """Move in the list, from the field too."""
        name, _, number = action.rstrip(")").partition("(")
        getattr(self.query_one(CodeView), f"action_{name}")(int(number))

    def action_regex(self) -> None:
        """Look for a regular expression, or for the text as it stands."""
        self._regex.press()

    def action_open(self) -> None:
        """Go to the line at the cursor; at a heading, to the first below it."""
        cursor = self.query_one(CodeView).cursor
        place = next((place for _, place in self._finding.rows[cursor:] if place is not None), None)
        self.dismiss((place, self._asked))

    def action_leave(self) -> None:
        """Go back to where one was."""
        self.dismiss((None, self._asked))

    @property
    def _asked(self) -> Asked:
        return self._field.value, self._regex.on
