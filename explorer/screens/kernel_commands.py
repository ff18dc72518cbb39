"""Commands about the kernel: backend, example, compiling, running, choosing stages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from explorer.model import panes
from explorer.model.failure import brief
from explorer.model.kernels import about
from explorer.model.session import BACKENDS
from explorer.model.settings import Settings
from explorer.model.story import MODES
from explorer.screens.base import MainBase
from explorer.widgets.pane import Pane


class KernelCommands(MainBase):
    """Mixed into the main screen."""

    def action_backend(self) -> None:
        """Select the next backend."""
        self.select_backend(self.session.next_backend())

    def select_backend(self, backend: str) -> None:
        """Select a backend."""
        if self.session.is_module:
            self.app.notify("An MLIR file goes through its passes: P.", title="It has no backends")
            return
        self.session.backend = backend
        self.compile()

    def select_target(self, **options: Any) -> None:
        """Compile for another chip, or number of warps."""
        self.compile_for(replace(self.session.settings, **options), self.session.backend)

    def action_compile(self) -> None:
        """Compile now, and draw the whole screen: who asks for it may see what another program left on it."""
        self.compile()
        self.draw_anew()

    def action_cancel(self) -> None:
        """End what is going on."""
        if not self.engine.cancel():
            self.app.notify("Nothing is being compiled, run or imported.")
        self.session.busy, self.session.running = None, False
        self.update()

    def action_run(self, every_stage: bool = False) -> None:
        """Run and check the example, also after every stage; end the run that is under way."""
        if self.session.running:
            self.action_cancel()
        elif self.can_run():
            self.session.ran(self.engine.run(self.session.run_request(every_stage)))
            if every_stage:
                self.go_to_pane("run")
            self.update()

    def can_run(self) -> bool:
        """Whether there is an example; says what to do if there is none."""
        info = self.session.kernel_info
        if info is None and self.session.is_module:
            self.app.notify("A func.func with a body that is not private can be run.", title="There is no function")
            return False
        if info is not None and not info.examples:
            self.app.notify(
                "There is nothing to run: decorate a function with @kernel.example that returns a mytriton.Example.",
                title=f"{info.name} has no example",
                severity="warning",
            )
            return False
        return True

    def action_choose(self) -> None:
        """Choose the kernel and the example."""
        module = self.session.module
        choices = [
            (kernel.name, number, f"{kernel.name}  {label}  ({about(self.session, kernel)})")
            for kernel in (module.kernels if module is not None else ())
            for number, label in enumerate(
                [f"{e.label}{'  ' + e.error if e.error else ''}" for e in kernel.examples] or ["(no example)"]
            )
        ]
        if not choices:
            self.app.notify("No kernels were found in the file.", severity="warning")
            return
        info = self.session.kernel_info
        here = (info.name if info is not None else None, self.session.example)
        current = next((i for i, choice in enumerate(choices) if choice[:2] == here), 0)

        labels = [label for _, _, label in choices]
        self.choose("Kernel and example", labels, current, lambda index: self.select_example(*choices[index][:2]))

    def select_example(self, kernel: str, example: int) -> None:
        """Select a kernel and one of its examples."""
        self.session.kernel, self.session.chosen_example = kernel, example
        self.session.report = None
        settings = self.session.settings
        info = self.session.kernel_info
        names = [param.name for param in info.params] if info is not None else list(settings.defines)
        defines = {name: value for name, value in settings.defines.items() if name in names}
        settings = replace(settings, signature="", types={}, values={}, defines=defines, config=None)
        self.compile_for(settings, self.session.backend)

    def action_signature(self) -> None:
        """The form of what the kernel is compiled for."""
        info = self.session.kernel_info
        if info is None:
            self.app.notify("No kernels were found in the file.", severity="warning")
            return
        from explorer.screens.form import FormScreen

        does = "what it is run with" if self.session.is_module else "what it is compiled for"
        title = f"{info.name} {self.session.example_label}: {does}".replace("  ", " ")
        self.app.push_screen(FormScreen(title, self.session, self.compile_for, self._compiled_for))

    def compile_for(self, settings: Settings, backend: str) -> None:
        """Compile for other settings."""
        self.session.settings, self.session.backend = settings, backend
        self.compile()

    def _compiled_for(self) -> str:
        """What came of it, in a line."""
        result = self.session.result
        if result.failed is not None:
            return f"FAILED {result.failed.name}: {brief(result.failed)}"
        if not self.session.is_current(self.session.backend):
            return "compiling ..."
        return f"ok {self.session.backend}  {result.num_warps} warps  {result.signature}"

    # Stages

    def listing_pane(self) -> Pane:
        """The pane whose stage is meant: the one in focus, else the listing that was last."""
        pane = self.focused_pane
        if pane.name in panes.FAMILIES:
            return pane
        visible = self.workspace.visible_panes
        names = [*(n for n in self.workspace.recent if n in visible), *(n for n in ("ssa", *visible) if n in visible)]
        return self.panes[next((n for n in names if n in panes.FAMILIES), "ssa")]

    def action_stage(self, step: int) -> None:
        """Show the next or previous stage in a listing."""
        pane = self.listing_pane()
        name = panes.stage_at(self.session, pane.name or "", self.chosen, step)
        if name is not None:
            self.select_stage(pane.name or "", name)

    def action_changed_stage(self, step: int) -> None:
        """Show the next or previous stage that changed something."""
        pane = self.listing_pane()
        name = panes.changed_stage_at(self.session, pane.name or "", self.chosen, step)
        if name is not None:
            self.select_stage(pane.name or "", name)

    def action_story(self) -> None:
        """Show a stage as text, as a diff against the one before it, as its log, or against A; in turn."""
        pane = self.listing_pane().name or ""
        order = MODES if self.session.pinned is not None else MODES[:-1]
        self.modes[pane] = order[(order.index(self.modes.get(pane, "text")) + 1) % len(order)]
        self.update()

    def select_stage(self, pane: str, stage: str) -> None:
        """Show a stage in its pane."""
        if self.focused_pane.name == pane:
            self.history.leave(self.position())
        self.chosen[pane] = stage
        self.ensure_compiled()
        self.update()

    def open_stage(self, backend: str, stage: str) -> None:
        """Go to the pane of a stage and show it there."""
        pane = panes.pane_of(stage)
        if pane is None:
            return
        if pane != "source" and panes.backend_of(self.session, pane) != backend and backend in BACKENDS:
            self.session.backend = backend
            self.compile()
        if pane != "source":
            self.chosen[pane] = stage
        self.go_to_pane(pane)
        self.update()
