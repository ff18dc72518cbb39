"""Commands that time the kernel, and look back at what was run in this session."""

from __future__ import annotations

from dataclasses import replace

from textual import on

from explorer.engine.messages import RunFinished
from explorer.model.past_runs import Entry
from explorer.model.runs import report_lines
from explorer.screens.engine import EngineEvent
from explorer.screens.kernel_commands import KernelCommands


class Benching(KernelCommands):
    """Mixed into the main screen."""

    _to_bench: tuple[int, ...] = ()
    _every_example = False

    def action_bench(self, every_example: bool = False) -> None:
        """Bench the example, or all examples of the kernel one after the other; end the run that is under way."""
        if self.session.running:
            self.action_cancel()
        elif self.can_run():
            info = self.session.kernel_info
            count = len(info.examples) if info is not None else 0
            self._every_example = every_example
            self._to_bench = tuple(range(count)) if every_example else (self.session.example,)
            self.go_to_pane("run")
            self._bench_next()

    def action_tune(self) -> None:
        """Time all configs of the kernel on the example; end the run that is under way."""
        info = self.session.kernel_info
        if self.session.running:
            self.action_cancel()
        elif info is not None and not info.tuned:
            what = "Put @autotune(configs, key) above @jit, and save the file."
            self.app.notify(what, title=f"{info.name} is not autotuned", severity="warning")
        elif self.can_run():
            self.go_to_pane("run")
            self.session.ran(self.engine.run(replace(self.session.run_request(), tune=True)))
            self.update()

    def _bench_next(self) -> None:
        if self._to_bench and not self.session.running:
            number, *rest = self._to_bench
            self._to_bench = tuple(rest)
            request = self.session.run_request(bench=True)
            if self._every_example:  # each as it is declared: values are given for the selected one
                request = replace(request, example=number, values={})
            self.session.ran(self.engine.run(request))
            self.update()

    @on(EngineEvent)
    def _benched(self, message: EngineEvent) -> None:
        if isinstance(message.event, RunFinished):
            self.call_later(self._bench_next)

    def action_cancel(self) -> None:
        """End what is going on, and what was to follow."""
        self._to_bench = ()
        super().action_cancel()

    def action_past_runs(self) -> None:
        """Show the runs of this session."""
        from explorer.screens.past_runs import Runs

        self.app.push_screen(Runs(self.session.past_runs, self._report, lambda: self.action_bench(True)))

    def _report(self, entry: Entry) -> list[str]:
        width = self.app.size.width - 3
        return [line.text for line in report_lines(entry.report, self.session.past_runs, width)]
