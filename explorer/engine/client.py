"""The explorer's side of the child processes: asks them, tells what comes back, and never blocks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from explorer.engine import messages as m
from explorer.engine.lane import Lane
from explorer.engine.limits import Limits
from explorer.engine.loglimit import LogLimit
from explorer.engine.messages import SLOW_STAGES, CompileRequest, Event, RunRequest
from explorer.engine.opening import PATIENCE, Opening, later
from explorer.engine.process import default_command
from explorer.engine.supervisor import Supervisor
from explorer.model.crashes import UNCHECKED
from explorer.model.paths import is_mlir
from explorer.model.result import ChildFailure, ExampleInfo, RunReport

__all__ = ["SLOW_STAGES", "CompileRequest", "Engine", "Event", "RunRequest"]

#: A superseded compilation may finish the native stage it is in if that takes no longer than this; the tools child has
#: no spare, and its stages are slow. User code gets no grace, but for ending by itself what is cancelled: what it has
#: loaded is then kept.
_COMPILE_GRACE, _TOOLS_GRACE, _CANCEL_GRACE = 0.1, 1.0, 0.5
_TICK = 0.1


class Engine:
    """Owns the children. All methods belong to one asyncio loop; `on_event` is called on it, and must not block.

    A new `compile` supersedes the one before it: nothing of an older generation is delivered afterwards; the same holds
    for `open` and for `run`. Opening ends a run; otherwise they do not disturb one another. `once` is for a caller that
    asks one thing: there are no spares, and nothing is loaded in advance. `command` starts a child, less its role.
    """

    def __init__(
        self,
        on_event: Callable[[Event], None],
        *,
        limits: Limits | None = None,
        command: Sequence[str] | None = None,
        once: bool = False,
    ) -> None:
        self.limits = limits or Limits.from_environment()
        self._on_event = on_event
        self._log = LogLimit(lambda role, text: on_event(m.Log(role, text)))
        self._generation = 0
        self._run = 0  # the generation of the run that is current
        self._held: CompileRequest | None = None
        self._forced = False
        self._cancelling = False
        self._ticking = False

        def supervisor(role: str, failed: Callable[[Any, ChildFailure], None], grace: float, spare: bool) -> Supervisor:
            return Supervisor(
                role,
                [*(command or default_command()), *(["--cold"] if once else [])],
                grace=grace,
                cancel_grace=_CANCEL_GRACE if role == "runner" else 0.0,
                spare=spare and not once,
                memory_limit=self.limits.memory_gb * 1e9,
                on_message=self._received,
                on_failure=failed,
                on_log=self._log.add,
            )

        self._compiler = supervisor("compiler", self._compiler_failed, _COMPILE_GRACE, True)
        self._tools = supervisor("tools", self._compiler_failed, _TOOLS_GRACE, False)
        self._runner = supervisor("runner", self._runner_failed, 0.0, True)
        self._other = supervisor("other", self._compiler_failed, _TOOLS_GRACE, False)

        def lane(quick: Supervisor, slow: Supervisor) -> Lane:
            return Lane(quick, slow, self.limits.compile_s, on_event, self._tick)

        self._main, self._beside = lane(self._compiler, self._tools), lane(self._other, self._other)
        self._file = Opening(self._runner, self._compiler, self.limits, on_event, self._dispatch, self._tick)

    async def start(self, roles: Sequence[str] = ("runner", "compiler")) -> None:
        """Start children before they are needed; returns at once, they warm up while the screen is painted."""
        for each in self._supervisors:
            if each.role in roles:
                each.start()

    def open(self, path: str, text: str, execute: bool = True) -> int:
        """The file was opened or saved; `execute` False only reads it. Answered by `ModuleRead` of that generation:
        once, or twice if executing takes long, first with what can be read."""
        generation = self._next_generation()
        self._file.open(generation, path, text, execute)
        self._tick()
        return generation

    def compile(self, request: CompileRequest) -> int:
        """Compile; returns the generation its events carry. Waits for an `open` under way, but not for long."""
        generation = self._next_generation()
        self._held, self._forced = request, False
        self._main.supersede(generation)
        self._dispatch()
        if self._held is not None:
            later(self._force, generation)
        self._tick()
        return generation

    def compile_beside(self, request: CompileRequest) -> int:
        """Compile something else, in a child of its own that disturbs nothing; returns the generation of its events.
        It does not wait for an `open`: what is known of the file is used."""
        generation = self._next_generation()
        self._beside.supersede(generation)
        self._beside.start(self._file.job(generation, request))
        return generation

    def end_beside(self) -> None:
        """What `compile_beside` makes is wanted no more: its child ends."""
        self._beside.supersede(self._next_generation())
        self._other.stop()

    def run(self, request: RunRequest) -> int:
        """Run and check an example; answered by `RunFinished`. A run under way is ended first."""
        self._run = generation = self._next_generation()
        self._runner.submit(m.RunJob(generation, request), self.limits.run_s, (m.RunJob,))
        self._tick()
        return generation

    def reproduce(self, request: m.ReproduceRequest) -> int:
        """Write a reproducer of a stage; answered by `Reproduced`."""
        generation = self._next_generation()
        job = self._file.job(generation, request.compile)
        self._compiler.submit(
            m.ReproduceJob(generation, job, request.stage, request.folder, request.error), self.limits.compile_s
        )
        self._tick()
        return generation

    def query(self, request: m.QueryRequest) -> int:
        """Look for operations of MLIR; answered by `Answered`."""
        generation = self._next_generation()
        job = m.QueryJob(generation, self._file.job(generation, request.compile), request.question, request.stage)
        self._compiler.submit(job, self.limits.compile_s, (m.QueryJob,))
        self._tick()
        return generation

    def passes(self) -> int:
        """Ask which passes MLIR has; answered by `PassesKnown`."""
        generation = self._next_generation()
        self._compiler.submit(m.PassesJob(generation), self.limits.compile_s, (m.PassesJob,))
        self._tick()
        return generation

    def cancel(self) -> bool:
        """End what is being compiled, run or imported now: each ends as if its child had failed, "cancelled". False if
        there is nothing."""
        self._held = None
        self._cancelling = True
        under_way = [each.cancel() for each in self._supervisors]
        self._cancelling = False
        return any(under_way)

    async def close(self) -> None:
        """End all children."""
        await asyncio.gather(*(each.close() for each in self._supervisors))

    @property
    def pids(self) -> dict[str, int]:
        """The process ids of the children at work, by role."""
        return {each.role: each.current.pid for each in self._supervisors if each.current is not None}

    @property
    def _supervisors(self) -> tuple[Supervisor, ...]:
        return self._compiler, self._tools, self._runner, self._other

    def _next_generation(self) -> int:
        self._generation += 1
        return self._generation

    def _tick(self) -> None:
        if not self._ticking:
            self._ticking = True
            asyncio.get_running_loop().call_later(_TICK, self._ticked)

    def _ticked(self) -> None:
        self._ticking = False
        for each in self._supervisors:
            event = each.tick()
            if event is not None and event.generation in (self._file.generation, self._main.generation, self._run):
                self._on_event(event)
        if any(each.busy for each in self._supervisors):
            self._tick()

    # Compiling

    def _force(self, generation: int) -> None:
        if self._held is not None and generation == self._main.generation:
            if self._runner.busy and self._runner.busy_for < PATIENCE:
                later(self._force, generation)
                return
            self._forced = True
            self._dispatch()

    def _dispatch(self) -> None:
        """Send the compilation that is held back, once everything it needs is known."""
        request = self._held
        if request is None or (self._file.loading and not self._forced):
            return
        job = self._file.job(self._main.generation, request)
        if job.example is not None and not job.example.described and not self._forced:
            return
        self._held = None
        self._main.start(job)

    # What the children say

    def _received(self, job: Any, message: Any) -> None:
        if isinstance(message, m.ModuleRead):
            self._file.read(message, isinstance(job, m.LoadJob) or not self._runner.has(m.LoadJob))
        elif isinstance(message, m.Described):
            self._file.described(message, announce=self._forced)  # if a compilation did without it
        elif isinstance(message, m.RunFinished):
            if message.generation == self._run:
                self._on_event(message)
        elif isinstance(message, (m.Reproduced, m.Answered, m.PassesKnown)):
            self._on_event(message)
        else:
            for lane in (self._main, self._beside):
                lane.received(job, message)

    def _compiler_failed(self, job: Any, failure: ChildFailure) -> None:
        if isinstance(job, m.ReadJob):
            self._file.reading_failed(job, failure)
            return
        if isinstance(job, m.ReproduceJob):
            self._on_event(m.Reproduced(job.generation, job.stage, job.folder, error=failure.cause))
            return
        if isinstance(job, m.PassesJob):
            self._on_event(m.PassesKnown(job.generation, error=failure.cause))
            return
        if isinstance(job, m.QueryJob):
            self._on_event(m.Answered(job.generation, job.question, error=failure.cause))
            return
        if isinstance(job, m.ListJob):  # the crash that it is about was told of
            return
        lane = self._beside if job.generation == self._beside.generation else self._main
        lane.failed(job, failure, go_on=not self._cancelling)

    def _runner_failed(self, job: Any, failure: ChildFailure) -> None:
        if isinstance(job, m.RunJob):
            if job.generation == self._run:
                request = job.request
                of_module, message = is_mlir(request.path), failure.explained
                if of_module and failure.is_access:  # those that can be checked were, before
                    message = f"{message}; {UNCHECKED}"
                backend = "cpu" if of_module else failure.backend or request.backend
                began = failure.stage == "run" and not failure.cause.startswith("cancelled")
                report = RunReport(False, backend, kernel=request.kernel or "", message=message, began=began)
                self._on_event(m.RunFinished(job.generation, report))
                self._on_event(m.ChildFailed(job.generation, failure))
            return
        if job.generation != self._file.generation:
            return
        self._on_event(m.ChildFailed(job.generation, failure))
        if isinstance(job, m.DescribeJob):
            info = ExampleInfo("", error=failure.cause)
            described = m.Described(job.generation, job.kernel, job.example, info, job.values, job.config)
            self._file.described(described, announce=self._forced)
        else:
            self._file.loading_failed(job, failure)
