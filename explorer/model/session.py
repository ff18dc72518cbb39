"""What is known at this moment: the text, its kernels, and per backend the newest result beside the last good one."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from explorer.engine.messages import (
    SLOW_STAGES,
    ChildFailed,
    CompileFinished,
    CompileRequest,
    CompileStarted,
    Described,
    Event,
    Log,
    ModuleRead,
    RunFinished,
    RunRequest,
    StageFinished,
    StillRunning,
)
from explorer.engine.requests import ANY
from explorer.model.backend_result import Result
from explorer.model.past_runs import PastRuns
from explorer.model.paths import is_mlir
from explorer.model.resources import Meter, figures
from explorer.model.result import DiagnosticView, ExampleInfo, KernelInfo, ModuleInfo, RunReport
from explorer.model.settings import Settings as Settings

BACKENDS = ("cuda", "mlir", "cpu", "interp")


class Session:
    """The state behind the screen. `handle` takes the engine's events; nothing here knows how it is shown."""

    LOG_LINES = 2000

    def __init__(self, settings: Settings, text: str) -> None:
        self.settings = settings
        self.text = self._compiled_text = text
        self.backend = "mlir" if is_mlir(settings.path) else settings.backend
        self.kernel = settings.kernel
        self.chosen_example = settings.example
        self.module: ModuleInfo | None = None
        self.module_changed = False
        self.results: dict[str, Result] = {}
        self.outcomes: dict[str, str] = {}  # of the last compilation, by kernel
        self.meters: dict[str, Meter] = {}
        self.report: RunReport | None = None
        self.pinned: Session | None = None  # build A, which this one is compared with
        self.label = ""
        self.bundle = ""  # the bundle that it comes from, which is only shown
        self.running = False
        self.busy: StillRunning | None = None
        self.log: deque[str] = deque(maxlen=self.LOG_LINES)
        self.past_runs = PastRuns()
        self._run_text = self._opened_text = self._run_backend = self._log_tail = ""
        self._run_settings = settings
        self.tried: Described | None = None  # what was told last of an example, maybe with other values than its own
        self._wanted: tuple[str, ...] = ()
        self._asked: tuple[str, ...] = ()
        self._opened = self._compiled = self._ran = self._since = 0

    @property
    def is_module(self) -> bool:
        """Whether the file is an MLIR module: it goes through passes as a whole, and has one backend."""
        return is_mlir(self.settings.path)

    # Requests

    def compile_request(self, backends: Sequence[str], shown: Sequence[str]) -> CompileRequest:
        """What to ask of the engine: the selected backend first, then the others that are looked at; of the slow stages
        those that are `shown`."""
        self._wanted = tuple(name for name in shown if name in SLOW_STAGES)
        self._asked = order = tuple(dict.fromkeys([self.backend, *backends]))
        return CompileRequest(
            **self._both_requests(),
            backends=order,
            wanted=self._wanted,
            background={name: slow for name in order if (slow := self._background(name))},
            shown=tuple(shown),
        )

    def _both_requests(self) -> dict[str, Any]:
        """What every request says."""
        s = self.settings
        example = ANY if self.chosen_example is None and self.kernel_info is None else self.example
        said = {"path": s.path, "text": self.text, "kernel": self.kernel, "example": example}
        names: tuple[str, ...] = ("chip", "num_warps", "defines", "signature", "types", "values", "options", "config")
        names += ("pipelines", "schedule", "schedule_text")
        return {**said, **{name: getattr(s, name) for name in names}}

    def _background(self, backend: str) -> tuple[str, ...]:
        """The slow stages that are made although nobody looks at them: those that the resource strip tells of,
        or a comparison."""
        if backend != self.backend or backend not in ("cuda", "mlir") or self.is_module:
            return ()
        return ("cubin",) if self.pinned is None else ("cubin", "sass")

    def run_request(self, every_stage: bool = False, bench: bool = False) -> RunRequest:
        """The example on the selected backend; on the CPU where that one cannot run here."""
        return RunRequest(**self._both_requests(), backend=self.backend, every_stage=every_stage, bench=bench)

    def opened(self, generation: int) -> None:
        """The engine was told to read the module."""
        self._opened, self._opened_text = generation, self.text
        self._since = self._since or generation

    def compiling(self, generation: int) -> None:
        """The engine was told to compile."""
        self._compiled, self._compiled_text = generation, self.text

    def ran(self, generation: int) -> None:
        """The engine was told to run."""
        self._ran, self._run_text, self.running = generation, self.text, True
        self._run_backend, self._run_settings = self.backend, self.settings

    def take_run(self, other: Session) -> None:
        """Have the run of another session of the same text, if it is of this text."""
        if not other.report_is_stale:
            self.report, self._run_text, self._run_settings = other.report, other._run_text, self.settings

    # Events

    def hears(self, event: Event) -> bool:
        """Whether an event can be about what was asked since this file is shown, and not another."""
        return self._since > 0 and getattr(event, "generation", self._since) >= self._since

    def put_aside(self) -> None:
        """Another file is shown from now on."""
        self._since = 0

    def asked(self, event: Event) -> bool:
        """Whether an event answers the newest compilation or run of this session."""
        ran = self._ran if isinstance(event, RunFinished) else self._compiled
        return ran > 0 and getattr(event, "generation", 0) == ran

    def handle(self, event: Event) -> bool:
        """Take an event in; False if it is of a superseded request."""
        if self.pinned is not None and self.pinned.asked(event):
            return self.pinned.handle(event)
        if isinstance(event, ModuleRead):
            if event.generation < self._opened:
                return False
            self.module, self.module_changed = event.module, False
            if self.module.kernels and self.module.kernel(self.kernel) is None:
                self.kernel = self.chosen_example = None
        elif isinstance(event, Described):
            if event.generation < self._opened or self.module is None:
                return False
            self.tried = event
            if not event.values and event.config is None:
                self.module = self.module.with_example(event.kernel, event.example, event.info)
        elif isinstance(event, CompileStarted):
            if event.generation < self._compiled:
                return False
            self._started(event)
        elif isinstance(event, StageFinished):
            result = self.results.get(event.backend)
            if result is None or event.generation != result.generation:
                return False
            result.take(event.stage)
            self.busy = None
            if event.stage.name in ("cubin", "sass") and event.stage.ok:
                self._measure(event.backend, result)
        elif isinstance(event, CompileFinished):
            result = self.results.get(event.backend)
            if result is None or event.generation != result.generation:
                return False
            if not event.slow:
                result.finished, result.ms = True, event.ms
                if event.backend == self.backend:
                    failed = result.failed
                    outcome = f"ok in {event.ms:.0f} ms" if failed is None else f"fails at {failed.name}"
                    self.outcomes[result.kernel] = f"{event.backend}: {outcome}"
            result.slow_finished = event.slow or not event.ok
            self.busy = None
        elif isinstance(event, RunFinished):
            if event.generation < self._ran:
                return False
            self.report, self.running, self.busy = event.report, False, None
            self.past_runs.add(
                event.report,
                time=f"{datetime.now():%H:%M:%S}",
                backend=self._run_backend,
                text=self._run_text,
                edited=self._run_text != self._opened_text,
            )
        elif isinstance(event, StillRunning):
            if event.generation < min(self._compiled, self._ran or self._compiled, self._opened):
                return False
            self.busy = event
        elif isinstance(event, ChildFailed):
            self.busy = None
            failure = event.failure
            self.log.append(f"{failure.child}: {failure.cause}")
            self.log.extend(f"{failure.child}: {line}" for line in failure.log)
        elif isinstance(event, Log):
            *lines, self._log_tail = (self._log_tail + event.text).split("\n")
            self.log.extend(f"{event.child}: {line}" for line in lines)
        return True

    def _measure(self, backend: str, result: Result) -> None:
        ptx = result.stages.get("ptx")
        text = ptx.text if ptx is not None else ""
        new = figures(result.stages.get("cubin"), result.stages.get("sass"))
        meter = self.meters.get(backend)
        self.meters[backend] = meter.reads(result.kernel, text, new) if meter else Meter(result.kernel, text, new)

    def _started(self, event: CompileStarted) -> None:
        before = self.results.get(event.backend) or Result()
        if event.kernel not in ("", before.kernel):
            before = Result()  # listings of another kernel would mislead
        # A file that cannot be read has no kernel and one stage: the others are those there were, not gone.
        early = len(event.planned) == 1 < len(before.planned)
        self.results[event.backend] = Result(
            planned=before.planned if early else event.planned,
            before={**before.before, **before.stages},
            good=before.good,
            text=self._compiled_text,
            texts=before.texts,
            generation=event.generation,
            kernel=event.kernel or before.kernel,
            signature=before.signature if early else event.signature,
            num_warps=before.num_warps if early else event.num_warps,
            wanted=tuple(dict.fromkeys([*self._wanted, *self._background(event.backend)])),
            ms=before.ms,
            passes=before.passes if early else event.passes,
        )
        self.module_changed = event.module_changed

    # What is shown

    @property
    def result(self) -> Result:
        """The selected backend's result."""
        return self.results.get(self.backend) or Result()

    @property
    def current(self) -> tuple[tuple[str, Result], ...]:
        """The results that the newest compilation was asked for, the selected backend's first."""
        return tuple((name, self.results[name]) for name in self._asked if name in self.results)

    @property
    def example(self) -> int:
        """The number of the example, as it was chosen or as the kernel opens."""
        opening = info.opening if (info := self.kernel_info) is not None else 0
        return opening if self.chosen_example is None else self.chosen_example

    @property
    def kernel_info(self) -> KernelInfo | None:
        """The selected kernel."""
        return self.module.kernel(self.kernel) if self.module is not None else None

    @property
    def example_info(self) -> ExampleInfo | None:
        """The selected example, as the file says it."""
        examples = info.examples if (info := self.kernel_info) is not None else ()
        return examples[min(self.example, len(examples) - 1)] if examples else None

    @property
    def example_label(self) -> str:
        """What the example is called, with the values that it is given."""
        return e.called(self.settings.values) if (e := self.example_info) is not None else ""

    @property
    def report_is_stale(self) -> bool:
        """Whether the text was edited since the run that `report` is of."""
        ran = replace(self._run_settings, path=self.settings.path)
        return self.report is not None and (self.text != self._run_text or ran != self.settings)

    @property
    def problems(self) -> tuple[DiagnosticView, ...]:
        """Findings of the module and of every backend shown, the selected one first, each once."""
        found: dict[tuple[object, ...], DiagnosticView] = {}
        module = self.module.diagnostics if self.module is not None else ()
        if self.text != self._opened_text and not (self.module is not None and self.module.kernels):
            module = ()  # it could not be read: whether it can be now, the compilation says
        stages = (stage for _, result in self.current for stage in result.known)
        for diagnostic in (*(d for stage in stages for d in stage.diagnostics), *module):
            found.setdefault((diagnostic.line, diagnostic.column, diagnostic.message), diagnostic)
        return tuple(sorted(found.values(), key=lambda d: d.severity != "error"))

    def is_current(self, backend: str) -> bool:
        """Whether the newest compilation of a backend is done."""
        result = self.results.get(backend)
        return result is not None and result.generation >= self._compiled and result.finished

    def next_backend(self) -> str:
        """Select the backend after the selected one; a module has one alone."""
        if self.is_module:
            return self.backend
        self.backend = BACKENDS[(BACKENDS.index(self.backend) + 1) % len(BACKENDS)]
        return self.backend
