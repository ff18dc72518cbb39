"""The passes of a module as a list: every change compiles, and each row says what its pass did."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from explorer.model.backend_result import Result
from explorer.model.pass_list import INTERPRETER, PassList, place_of, stages_of
from explorer.model.report import cause, status_word
from explorer.model.stages import delta
from explorer.screens.asking import Asking, Modal
from explorer.widgets.text_line import Part, TextLine, highlighted
from mytriton.pipelines import PipelineError, Step, steps

if TYPE_CHECKING:
    from explorer.screens.passing import Passing

_KEYS = " enter add  e edit  space on/off  J K move  d delete  u U undo  l schedule  M mlir-opt"


class PassesScreen(Modal[None], Asking):
    """Shows the passes of the screen behind it. The stages of the compilation are told by `follow`."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "back"),
        Binding("enter,a", "add", "add", priority=True),
        Binding("e", "edit", "edit"),
        Binding("space", "switch", "on/off", priority=True),
        Binding("J,shift+down,alt+down", "move(1)", "later"),
        Binding("K,shift+up,alt+up", "move(-1)", "earlier"),
        Binding("j", "row(1)", "next", show=False),
        Binding("k", "row(-1)", "previous", show=False),
        Binding("g", "first", "first", show=False),
        Binding("G", "last", "last", show=False),
        Binding("d,delete", "remove", "delete"),
        Binding("u,ctrl+z", "undo", "undo"),
        Binding("U,ctrl+y", "redo", "redo"),
        Binding("l", "schedule", "schedule"),
        Binding("M,y", "copy", "copy mlir-opt"),
    ]
    DEFAULT_CSS = """
    PassesScreen {
        background: $background;
        & > .title { background: $primary; }
        & OptionList, & OptionList:focus {
            height: 1fr; border: none; padding: 0; background: $background; scrollbar-size: 0 1;
        }
        & .status { background: $surface; }
        & #keys { background: $panel; }
        &:ansi > .title { background: ansi_default; text-style: bold reverse; }
    }
    """

    def __init__(self, main: Passing) -> None:
        super().__init__()
        self._main = main
        self._rows: list[str] = []
        self._ready = False

    @property
    def passes(self) -> PassList:
        """The list that is edited."""
        return self._main.pass_list()

    def compose(self) -> ComposeResult:
        """Title, the passes, what came of them, keys."""
        yield TextLine(classes="title")
        yield OptionList()
        yield TextLine(classes="status")
        yield TextLine(id="keys")

    def on_mount(self) -> None:
        """Start at the first pass."""
        session = self._main.session
        of = session.settings.path if session.is_module else f"{session.result.kernel}, backend {session.backend}"
        schedule = f", schedule {session.settings.schedule}" if session.settings.schedule else ""
        self.query_one(".title", TextLine).show([Part(f" Passes of {of}{schedule}")])
        self.query_one("#keys", TextLine).show([Part(_KEYS)], [Part("  esc back ")])
        self.query_one(OptionList).focus()
        self._ready = True
        self.follow()

    def follow(self) -> None:
        """Say what has been compiled meanwhile."""
        if not self._ready:
            return
        rows = pass_rows(self.passes, self._main.session.result) or ["no passes: enter adds one"]
        shown = self.query_one(OptionList)
        if rows != self._rows:
            with self.prevent(OptionList.OptionHighlighted):
                if len(rows) == len(self._rows):
                    for index, (row, before) in enumerate(zip(rows, self._rows, strict=True)):
                        if row != before:
                            shown.replace_option_prompt_at_index(index, Content(row))
                else:
                    shown.clear_options()
                    shown.add_options([Option(Content(row)) for row in rows])
                shown.highlighted = min(self.passes.row, len(rows) - 1)
            self._rows = rows
        elif shown.highlighted != self.passes.row:
            shown.highlighted = min(self.passes.row, len(rows) - 1)
        self.query_one(".status", TextLine).show(highlighted(f" {self._status()}"))

    def _status(self) -> str:
        session = self._main.session
        result = session.result
        if result.failed is not None:
            return f"FAILED {result.failed.name}: {cause(result.failed)}"
        if not session.is_current(session.backend):
            return "compiling ..."
        return f"ok {result.ms:.1f} ms"

    @on(OptionList.OptionHighlighted)
    def _moved(self, event: OptionList.OptionHighlighted) -> None:
        self.passes.row = min(event.option_index, max(0, len(self.passes.entries) - 1))

    def _changed(self) -> None:
        self._main.passes_edited()
        self.follow()

    # Keys

    def action_leave(self) -> None:
        """Back to the panes."""
        self.dismiss(None)

    def action_row(self, by: int) -> None:
        """Go to the next pass, or the previous one."""
        rows = self.query_one(OptionList)
        rows.highlighted = max(0, min(len(self._rows) - 1, (rows.highlighted or 0) + by))

    def action_first(self) -> None:
        """Go to the first pass."""
        self.action_row(-len(self._rows))

    def action_last(self) -> None:
        """Go to the last pass."""
        self.action_row(len(self._rows))

    def action_switch(self) -> None:
        """Switch the pass off, or on."""
        self.passes.toggle()
        self._changed()

    def action_move(self, by: int) -> None:
        """Have the pass run earlier or later."""
        self.passes.move(by)
        self._changed()

    def action_remove(self) -> None:
        """Take the pass away."""
        self.passes.remove()
        self._changed()

    def action_undo(self) -> None:
        """Take the last change back."""
        if not self.passes.undo():
            self.app.notify("Nothing was changed before this.")
        self._changed()

    def action_redo(self) -> None:
        """Make it again."""
        if not self.passes.redo():
            self.app.notify("Nothing was taken back.")
        self._changed()

    def action_add(self) -> None:
        """Look for a pass, to add it behind this one."""
        self._search("", self.passes.insert)

    def action_edit(self) -> None:
        """Change the pass's text: options, what it is nested in."""
        if self.passes.entries:
            self._search(self.passes.entries[self.passes.row].text, self.passes.write)

    def _search(self, text: str, then: Callable[[Sequence[str]], None]) -> None:
        from explorer.screens.pass_search import PassSearch

        def found(answer: str | None) -> None:
            if not answer:
                return
            try:
                texts = [self._nested(step).pipeline for step in steps(answer)]
            except PipelineError as error:
                self.app.notify(str(error), title="This is no pass", severity="error")
                return
            then(texts)
            self._changed()

        self.app.push_screen(PassSearch(text, self._main.known_passes), found)
        self._main.ask_for_passes()

    def _nested(self, step: Step) -> Step:
        """The pass in what it has to be nested in, unless that was written."""
        on = next((each.on for each in self._main.known_passes if each.name == step.name), "")
        if step.nest or not on:
            return step
        kind = "func.func" if on == "function" else on
        nest = place_of(on, self._before())
        if not nest:
            self.app.notify(f"There is no {kind} for it in this module.", title=step.name, severity="warning")
        return replace(step, nest=nest or (kind,))

    def _before(self) -> list[str]:
        """The module behind the selected pass, as far as it was compiled."""
        result, passes = self._main.session.result, self.passes
        names = stages_of(passes.entries, result.pass_stages)[: passes.row + 1]
        behind = [name for each in names for name in each]
        first = [name for name in result.planned if name.endswith(("/parse", "/emit")) and name[:3] in ("mli", "cpu")]
        listings = (result.listing(name)[0] for name in reversed(first[:1] + behind))
        return next(
            ([line.text for line in stage.lines] for stage in listings if stage is not None and stage.lines), []
        )

    def action_schedule(self) -> None:
        """Have a schedule of the transform dialect applied."""
        if not self._main.session.is_module:
            self.app.notify("A schedule is applied to an MLIR file; this is a kernel's.", severity="warning")
            return

        def named(name: str) -> None:
            if problem := self._main.load_schedule(name):
                self.app.notify(problem, title="No schedule", severity="error")
            self.on_mount()

        self.ask("The file of a schedule (.mlir)", self._main.session.settings.schedule, named)

    def action_copy(self) -> None:
        """Copy the line for `mlir-opt`."""
        self._main.action_mlir_opt()


#: Folders of a file that an option names.
_FOLDERS = re.compile(r"(?<![^\"{=,])/(?:[^/,{}\"=]+/)*(?=[^/,{}\"=]+\.mlir\b)")


def pass_rows(passes: PassList, result: Result) -> list[str]:
    """A row a pass: whether it is on, status, time and what it did to the number of operations."""
    rows = []
    for entry, names in zip(passes.entries, stages_of(passes.entries, result.pass_stages), strict=True):
        stages = [stage for name in names if (stage := result.stage(name)) is not None]
        bad = next((stage for stage in stages if not stage.ok), None)
        changed = next((stage for stage in reversed(stages) if stage.status == "ok"), None)
        told = bad or changed or (stages[-1] if stages else None)
        word = status_word(told) if entry.on and told is not None else "off" if not entry.on else "-"
        time = f"{sum(stage.ms for stage in stages):8.1f} ms" if stages and entry.on else " " * 11
        about = (
            delta(result, told) if told is not None and told.ok and entry.on else cause(told) if bad and told else ""
        )
        text = f"{entry.text} ({len(names)} steps)" if entry.text.startswith(INTERPRETER) and names else entry.text
        text = _FOLDERS.sub("", text)
        rows.append(f"{'[x]' if entry.on else '[ ]'} {word:<10}{time}  {text}  {about}".rstrip())
    return rows
