"""One compilation at a time: its quick stages from one child, and then the slow ones from another."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from typing import Any

from explorer.engine import messages as m
from explorer.engine.messages import SLOW_STAGES, Event
from explorer.engine.supervisor import Supervisor
from explorer.model.result import ChildFailure, StageView

#: Slow stages that nobody looks at are made after this long without another compilation.
BACKGROUND_AFTER = 0.3


class Lane:
    """What is current in two children (which may be one). Events of an older generation are dropped; `on_job` is called
    after something was asked of a child."""

    def __init__(
        self,
        quick: Supervisor,
        slow: Supervisor,
        limit: float,
        on_event: Callable[[Event], None],
        on_job: Callable[[], None],
    ) -> None:
        self.generation = 0
        self._quick, self._slow, self._limit = quick, slow, limit
        self._on_event, self._on_job = on_event, on_job
        self._planned: dict[str, tuple[str, ...]] = {}  # by backend, of those whose compilation has started
        self._finished: set[str] = set()
        self._unlisted: set[tuple[str, str]] = set()  # backend and stage, of those that came without their lines

    def supersede(self, generation: int) -> None:
        """From now on only that generation counts."""
        self.generation = generation
        self._slow.drop((m.CompileJob,))
        self._quick.drop((m.CompileJob, m.ListJob))

    def start(self, job: m.CompileJob) -> None:
        """Compile."""
        self._planned, self._finished, self._unlisted = {}, set(), set()
        self._submit(self._quick, job)

    def _submit(self, child: Supervisor, job: m.CompileJob | m.ListJob) -> None:
        if job.generation == self.generation:
            child.submit(job, self._limit)
            self._on_job()

    def received(self, job: m.CompileJob, message: Any) -> None:
        """A child sent something."""
        if message.generation != self.generation:
            return
        if isinstance(message, m.CompileStarted):
            self._planned[message.backend] = message.planned
        elif isinstance(message, m.CompileFinished):
            self._finished.add(message.backend)
        elif message.stage.pending:
            self._unlisted.add((message.backend, message.stage.name))
        else:
            self._unlisted.discard((message.backend, message.stage.name))
        self._on_event(message)
        if isinstance(message, m.CompileFinished) and message.ok and not job.slow:
            self._slow_stages(job, message.backend)

    def _slow_stages(self, job: m.CompileJob, backend: str) -> None:
        planned = [name for name in self._planned[backend] if name in SLOW_STAGES]
        looked_at = set(job.request.wanted)
        wanted = tuple(n for n in planned if n in looked_at or n in job.request.background.get(backend, ()))
        if wanted:
            request = dataclasses.replace(job.request, backends=(backend,), wanted=wanted)
            slow = dataclasses.replace(job, request=request, slow=True)
            if looked_at & set(wanted):
                self._submit(self._slow, slow)
            else:
                asyncio.get_running_loop().call_later(BACKGROUND_AFTER, self._submit, self._slow, slow)

    def failed(self, job: m.CompileJob, failure: ChildFailure, go_on: bool) -> None:
        """A child died of a job: of one stage of one backend. With `go_on` the others are compiled all the same."""
        if job.generation != self.generation:
            return
        backend = failure.backend or next(b for b in job.request.backends if job.slow or b not in self._finished)
        if not job.slow and backend not in self._planned:  # it died before it knew what was to come
            planned = (failure.stage or "source",)
            self._on_event(m.CompileStarted(job.generation, backend, job.request.kernel or "", planned))
        self._on_event(m.StageFinished(job.generation, backend, StageView.crashed(failure)))
        self._on_event(m.ChildFailed(job.generation, failure))
        self._on_event(m.CompileFinished(job.generation, backend, False, slow=job.slow))
        if job.slow:
            return
        self._finished.add(backend)
        if unlisted := [name for of, name in self._unlisted if of == backend and name != failure.stage]:
            one = dataclasses.replace(job, request=dataclasses.replace(job.request, backends=(backend,)))
            stages = tuple(sorted(unlisted, key=self._planned[backend].index))
            self._submit(self._quick, m.ListJob(job.generation, one, stages))
        rest = tuple(b for b in job.request.backends if b not in self._finished)
        if rest and go_on:
            request = dataclasses.replace(job.request, backends=rest)
            self._submit(self._quick, dataclasses.replace(job, request=request))
