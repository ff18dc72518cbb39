"""An engine for a bundle: it answers from what was recorded, and starts nothing."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Iterator, Sequence

from explorer.engine import messages as m
from explorer.model.result import ModuleInfo, RunReport, StageView
from explorer.model.session import Session
from explorer.share.record import Build, Record

#: Why something cannot be done; what can be.
ONLY_SHOWN = "a bundle only shows what was recorded; save its source as a file and open that"


class Replay:
    """Stands where `explorer.engine.client.Engine` does."""

    def __init__(self, record: Record, on_event: Callable[[m.Event], None]) -> None:
        self.record, self._on_event = record, on_event
        self._generation = self._current = self._beside = 0

    async def start(self, roles: Sequence[str] = ()) -> None:
        """There is nothing to start."""

    async def close(self) -> None:
        """Nor to end."""

    def cancel(self) -> bool:
        """Nor is anything under way."""
        return False

    def open(self, path: str, text: str, execute: bool = True) -> int:
        """What was known of the file."""
        generation = self._next()
        module = self.record.module or ModuleInfo(self.record.path)
        self._say([m.ModuleRead(generation, dataclasses.replace(module, text=text))])
        return generation

    def compile(self, request: m.CompileRequest) -> int:
        """What the backends made of it."""
        self._current = generation = self._next()
        self._say(compiled(self.record, generation, request.backends), lambda: self._current == generation)
        return generation

    def compile_beside(self, request: m.CompileRequest) -> int:
        """The same, for what is compared with it."""
        self._beside = generation = self._next()
        self._say(compiled(self.record, generation, request.backends), lambda: self._beside == generation)
        return generation

    def end_beside(self) -> None:
        """It is wanted no more."""
        self._beside = 0

    def run(self, request: m.RunRequest) -> int:
        """The run that was recorded."""
        generation = self._next()
        report = self.record.run
        if report is None:
            message = f"the bundle holds no run; {ONLY_SHOWN}"
            report = RunReport(False, request.backend, kernel=self.record.kernel, message=message, unavailable=True)
        self._say([m.RunFinished(generation, report)])
        return generation

    def reproduce(self, request: m.ReproduceRequest) -> int:
        """Takes a compiler."""
        generation = self._next()
        self._say([m.Reproduced(generation, request.stage, request.folder, error=ONLY_SHOWN)])
        return generation

    def query(self, request: m.QueryRequest) -> int:
        """Takes a compiler."""
        generation = self._next()
        self._say([m.Answered(generation, request.question, error=ONLY_SHOWN)])
        return generation

    def passes(self) -> int:
        """Takes a compiler."""
        generation = self._next()
        self._say([m.PassesKnown(generation, error=ONLY_SHOWN)])
        return generation

    def _next(self) -> int:
        self._generation += 1
        return self._generation

    def _say(self, events: Sequence[m.Event] | Iterator[m.Event], wanted: Callable[[], bool] = lambda: True) -> None:
        """Tell of these after whoever asked knows the generation; not if something else was asked meanwhile."""

        def say() -> None:
            if wanted():
                for event in events:
                    self._on_event(event)

        asyncio.get_running_loop().call_soon(say)


def compiled(record: Record, generation: int, backends: Sequence[str]) -> Iterator[m.Event]:
    """The events of a compilation for these backends."""
    for backend in backends:
        build = record.build(backend) or _absent(record, backend)
        started = m.CompileStarted(generation, backend, build.kernel, build.planned, build.signature, build.num_warps)
        if build.good:  # what there was before
            yield started
            yield from (m.StageFinished(generation, backend, stage) for stage in build.good)
        yield started
        for stage in build.stages:
            yield m.StageFinished(generation, backend, stage)
        ok = all(stage.ok or stage.status == "skipped" for stage in build.stages)
        yield m.CompileFinished(generation, backend, ok, build.ms)
        yield m.CompileFinished(generation, backend, ok, build.ms, slow=True)


def restored(record: Record) -> Session:
    """The session that was recorded, all at once."""
    session = Session(record.settings, record.text)
    session.label, session.module = record.label, record.module
    session.log.extend(record.log)
    backends = tuple(build.backend for build in record.builds)
    session.compile_request(backends, ())
    for event in compiled(record, 0, backends):  # which answers nothing that an engine is asked
        session.handle(event)
    restore_runs(session, record)
    return session


def restore_runs(session: Session, record: Record) -> None:
    """Have the runs that were recorded."""
    if record.run is not None:
        session.ran(0)
        # The very report that is in the list, by which it is found there.
        same = (entry.report for entry in reversed(record.runs) if entry.report == record.run)
        session.handle(m.RunFinished(0, next(same, record.run)))
    session.past_runs.entries = list(record.runs)


def _absent(record: Record, backend: str) -> Build:
    """What stands for a backend that was not compiled for."""
    made = ", ".join(build.backend for build in record.builds) or "none"
    reason = f"the bundle has no build of backend {backend}; it has {made}"
    stage = StageView("source", "source", "python", "skipped", reason=reason)
    return Build(backend, record.kernel, planned=("source",), stages=(stage,))
