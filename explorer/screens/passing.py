"""Commands about MLIR passes: those of an MLIR file, or of the backend that a kernel is compiled for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from textual import on

from explorer.engine.messages import Answered, PassesKnown, QueryRequest
from explorer.model.answers import by_place
from explorer.model.pass_list import PassList
from explorer.model.paths import absolute, typed
from explorer.model.result import PassView
from explorer.model.settings import Settings
from explorer.model.source_text import decode
from explorer.screens.engine import EngineEvent
from explorer.screens.kernel_commands import KernelCommands
from mytriton.pipelines import command, steps
from mytriton.target import MLIR_BACKENDS

#: Questions that `query` offers; any operation's name is one, too.
QUESTIONS = ("reductions", "transposes", "broadcasts", "casts")


class Passing(KernelCommands):
    """Mixed into the main screen. `pass_lists` are those that were edited, by backend."""

    def __init__(self, *args: object, **keywords: object) -> None:
        super().__init__(*args, **keywords)  # type: ignore[arg-type]
        self.pass_lists: dict[str, PassList] = {}
        self.known_passes: tuple[PassView, ...] = ()

    def pass_list(self) -> PassList:
        """The passes of the selected backend."""
        session, backend = self.session, self.session.backend
        if backend not in self.pass_lists:
            given = session.settings.pipelines.get(backend)
            own = () if session.is_module else session.result.passes if given is None else None
            self.pass_lists[backend] = PassList.of(own or () if given is None else given, own)
        return self.pass_lists[backend]

    def action_passes(self) -> None:
        """Show the passes as a list, to be edited."""
        if self.session.backend not in MLIR_BACKENDS:
            hint = "b goes on to a backend that has: mlir, cpu"
            self.app.notify(f"{hint}.", title=f"{self.session.backend} has no MLIR passes", severity="warning")
            return
        from explorer.screens.passes import PassesScreen

        self.app.push_screen(PassesScreen(self))

    def passes_edited(self) -> None:
        """Compile with the passes as they are now."""
        self._use(self.session.settings)

    def _use(self, settings: Settings) -> None:
        backend, passes = self.session.backend, self.pass_list()
        others = {name: texts for name, texts in settings.pipelines.items() if name != backend}
        edited = {} if passes.active == passes.own else {backend: passes.active}
        settings = replace(settings, pipelines={**others, **edited})
        if settings != self.session.settings:
            super().compile_for(settings, backend)

    def compile_for(self, settings: Settings, backend: str) -> None:
        """Compile for other settings; the passes are those of the backend again for another chip, which is in them."""
        if settings.chip != self.session.settings.chip and settings.pipelines and not self.session.is_module:
            settings = replace(settings, pipelines={})
            self.pass_lists.clear()
            self.app.notify("The passes are the backend's own again: the chip is in them.", severity="warning")
        super().compile_for(settings, backend)

    def load_schedule(self, name: str) -> str:
        """Have a schedule applied; returns why that cannot be."""
        path = typed(name)
        try:
            text = decode(path.read_bytes())[0]
        except (OSError, UnicodeError) as error:
            return str(error)
        self.pass_list().schedule_first()
        self._use(replace(self.session.settings, schedule=str(path), schedule_text=text))
        return ""

    def compile(self) -> None:
        """Compile, with the schedule as it is on the disk by now."""
        settings = self.session.settings
        if settings.schedule:
            try:
                text = decode(Path(settings.schedule).read_bytes())[0]
            except (OSError, UnicodeError):
                text = settings.schedule_text  # the one that there was
            if text != settings.schedule_text:
                self.session.settings = replace(settings, schedule_text=text)
        super().compile()

    def ask_for_passes(self) -> None:
        """Learn which passes there are, if nobody has yet."""
        if not self.known_passes:
            self.engine.passes()

    @on(EngineEvent)
    def _told_of_passes(self, message: EngineEvent) -> None:
        event = message.event
        if not isinstance(event, PassesKnown):
            return
        if event.error:
            self.app.notify(event.error, title="The passes cannot be listed", severity="error")
        self.known_passes = event.passes
        screen = self.app.screen
        if hasattr(screen, "know"):
            screen.know(event.passes)

    def mlir_opt(self) -> str:
        """The line for a shell that does the same with MLIR's own tool."""
        session = self.session
        parts = tuple(step for text in self.pass_list().active for step in steps(text))
        if session.is_module:
            file = str(absolute(session.settings.path))
        else:
            first = next((n for n in session.result.planned if n.endswith("/emit")), "emit")
            file = f"{session.result.kernel}.{first.replace('/', '-')}.mlir"
        schedule = session.settings.schedule
        return command(file, parts, str(absolute(schedule)) if schedule else "")

    def action_mlir_opt(self) -> None:
        """Copy the line for `mlir-opt`."""
        if self.session.backend not in MLIR_BACKENDS:
            self.app.notify(f"{self.session.backend} has no MLIR passes.", severity="warning")
            return
        self.app.copy_to_clipboard(self.mlir_opt())
        if not self.session.is_module:
            self.app.notify("w writes the listing mlir/emit that it starts from.", title="A kernel's MLIR")

    # Questions

    def action_query(self) -> None:
        """Ask for operations."""
        if self.session.backend not in MLIR_BACKENDS:
            self.app.notify(f"{self.session.backend} has no MLIR: questions are about it.", severity="warning")
            return
        self.ask(f"Which operations? {', '.join(QUESTIONS)}, or a name such as linalg.*", QUESTIONS[0], self._query)

    def _query(self, question: str) -> None:
        request = self.session.compile_request(*self._wanted())
        self.engine.query(QueryRequest(request, question.strip()))

    @on(EngineEvent)
    def _told_of_query(self, message: EngineEvent) -> None:
        event = message.event
        if not isinstance(event, Answered):
            return
        if event.error or not event.operations:
            self.app.notify(event.error or "There are none.", title=event.question, severity="warning")
            return
        rows = by_place(event.operations)
        labels = [
            f"{o.line or '?'}:{o.column or '?'} {o.name} {' '.join(f'@{n}' for n in o.within)}  "
            f"{stages or ', '.join(o.maps)}"
            for o, stages in rows
        ]
        found = [operation for operation, _ in rows]

        def go(index: int) -> None:
            if (line := found[index].line) is not None and not found[index].path:
                self.go_to_pane("source")
                self.editor.go_to(line, found[index].column or 1)

        self.choose(f"{event.question}: {len(found)}", labels, 0, go)
