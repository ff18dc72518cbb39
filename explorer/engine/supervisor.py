"""Keeps one role filled: a child that works, perhaps a spare one kept warm, and what happens when it dies.

One job is with the child at a time, so the job it died of is known. A job that is superseded or cancelled is given a
moment to stop between two steps; native code hears nothing and is killed, and the spare goes on at once.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from explorer.engine.messages import Abandon, Entering, Hello, Idle, Job, Ready, StillRunning
from explorer.engine.process import Process
from explorer.engine.protocol import VERSION
from explorer.model.result import ChildFailure

#: A spare starts this long after the child it is for, so that it does not take the processor from what is urgent: at
#: first the whole start of the explorer, later the job that goes on.
_FIRST_SPARE_DELAY, _SPARE_DELAY = 3.0, 0.3
#: A superseded job is killed after its grace, if a spare is ready; without one it gets this long.
_LONGEST_GRACE = 2.0
#: What loading the compiler may take on a busy machine with a cold disk, in seconds.
_LONGEST_START = 60.0
#: Seconds in which a child that is ready takes up a job; one that was stopped never does.
_LONGEST_SILENCE = 5.0
_GIVE_UP_AFTER = 4


@dataclass
class Task:
    """A job and what the supervisor knows of it. `limit` is in seconds from `started`: when the child took it up or,
    before it did, when it was sent."""

    job: Job
    limit: float
    started: float = 0.0
    taken: bool = False
    abandoned: float = 0.0
    at: Entering = field(default_factory=lambda: Entering(0, "", "starting"))
    told: float = 0.0


class Supervisor:
    """One role. `on_message` gets the job and each of its messages, `on_failure` a job and how its child ended."""

    def __init__(
        self,
        role: str,
        command: Sequence[str],
        *,
        grace: float,
        cancel_grace: float = 0.0,
        spare: bool,
        memory_limit: float,
        on_message: Callable[[Job, Any], None],
        on_failure: Callable[[Job, ChildFailure], None],
        on_log: Callable[[str, str], None],
    ) -> None:
        self.role = role
        self.current: Process | None = None
        self.spare: Process | None = None
        self._command, self._grace, self._wants_spare = command, grace, spare
        self._cancel_grace = cancel_grace
        self._memory_limit = memory_limit
        self._on_message, self._on_failure, self._on_log = on_message, on_failure, on_log
        self._queue: list[Task] = []
        self._running: Task | None = None
        self._early_deaths = 0
        self._spare_delay = _FIRST_SPARE_DELAY
        self._alive: set[Process] = set()
        self._closed = False

    @property
    def busy(self) -> bool:
        """Whether a job is with the child or waits."""
        return self._running is not None or bool(self._queue)

    @property
    def busy_for(self) -> float:
        """Seconds since the child took up the job it is at; 0 while it is starting or idle."""
        task = self._running
        return time.monotonic() - task.started if task is not None and task.taken else 0.0

    def has(self, kind: type, generation: int = 0) -> bool:
        """Whether a job of that kind (and generation, if one is given) runs or waits."""
        tasks = [*self._queue, *([self._running] if self._running and not self._running.abandoned else [])]
        return any(isinstance(t.job, kind) and generation in (0, t.job.generation) for t in tasks)

    def start(self) -> None:
        """Have a child, and soon its spare."""
        if self.current is None and not self._closed:
            self._promote()

    def submit(self, job: Job, limit: float, replaces: Sequence[type] = ()) -> None:
        """Queue a job; jobs of the kinds in `replaces`, waiting or running, are dropped without a word."""
        self.drop(replaces)
        self._queue.append(Task(job, limit))
        if self.current is None and self._early_deaths >= _GIVE_UP_AFTER:
            self._early_deaths = 0  # somebody asks again: so it is tried again
        self.start()
        self._next()

    def drop(self, kinds: Sequence[type]) -> None:
        """Drop the jobs of these kinds, waiting or running, without a word."""
        self._queue = [task for task in self._queue if not isinstance(task.job, tuple(kinds))]
        if self._running is not None and isinstance(self._running.job, tuple(kinds)):
            self._abandon(self._grace)

    def stop(self) -> None:
        """Drop all jobs and end the child, until there is another job."""
        self._queue.clear()
        self._replace("not needed", start=False)

    def cancel(self, because: str = "cancelled") -> bool:
        """End the running job and drop the waiting ones: they fail for that reason, at once. A child that has a
        `cancel_grace` may end the job by itself until that is over, and is kept. False if there is no job."""
        waiting, self._queue = self._queue, []
        task, process = self._running, self.current
        under_way = task is not None and not task.abandoned
        if task is not None and process is not None and not task.abandoned:
            if task.taken and self._cancel_grace:
                self._on_failure(task.job, self._failure(task, because, process.log))
                self._abandon(self._cancel_grace)
            else:
                self._end(because)
        for task in waiting:
            self._on_failure(task.job, self._failure(task, because, ()))
        return under_way or bool(waiting)

    async def close(self) -> None:
        """Kill all children and wait until they are gone."""
        self._closed = True
        for process in self._alive:
            process.kill("closed")
        for _ in range(200):
            if not self._alive:
                break
            await asyncio.sleep(0.01)

    def tick(self) -> StillRunning | None:
        """To be called ten times a second while busy: enforces the limits; tells what has been running for long."""
        task, process, now = self._running, self.current, time.monotonic()
        if task is None or process is None:
            return None
        elapsed, limit = now - task.started, task.limit if task.taken else _LONGEST_START
        if task.abandoned:
            if now - task.abandoned > _LONGEST_GRACE:
                self._replace("superseded")
        elif process.ready and not task.taken and elapsed > _LONGEST_SILENCE:
            process.kill("no answer")  # the job goes to the next one
        elif elapsed > limit:
            self._end(f"killed after {limit:g} s")
        elif process.memory() > self._memory_limit:
            self._end(f"killed for using more than {self._memory_limit / 1e9:.1f} GB of memory")
        elif now - max(task.told, task.started) >= 0.5:
            task.told = now
            return StillRunning(task.job.generation, self.role, task.at.stage, elapsed, task.at.progress)
        return None

    def _abandon(self, grace: float) -> None:
        task = self._running
        if task is None or task.abandoned:
            return
        task.abandoned = time.monotonic()
        if self.current is not None:
            self.current.send(Abandon(task.job.generation))
        asyncio.get_running_loop().call_later(grace, self._grace_over, task)

    def _grace_over(self, task: Task) -> None:
        # To kill it before a spare is ready takes longer than most native stages do; `tick` ends it all the same. User
        # code, which gets no grace, may take for ever.
        if self._running is task and not self._closed:
            if self._grace == 0 or (self.spare is not None and self.spare.ready):
                self._replace("superseded")
            else:
                asyncio.get_running_loop().call_later(0.05, self._grace_over, task)

    def _end(self, because: str) -> None:
        """Kill the child for the job it runs; the job fails."""
        task, process = self._running, self.current
        if task is None or process is None:
            return
        self._replace(because, start=False)
        self._fail(task, process)
        self.start()

    def _replace(self, because: str, start: bool = True) -> None:
        process, self.current, self._running = self.current, None, None
        if process is not None:
            process.kill(because)
        if start:
            self.start()

    def _promote(self) -> None:
        if self.spare is not None:
            self.current, self.spare = self.spare, None
        elif self._early_deaths >= _GIVE_UP_AFTER:
            return
        else:
            self.current = self._spawn()
        if self._wants_spare:
            asyncio.get_running_loop().call_later(self._spare_delay, self._start_spare)
            self._spare_delay = _SPARE_DELAY
        self._next()

    def _start_spare(self) -> None:
        if self.spare is None and not self._closed and not self._early_deaths and self.current is not None:
            self.spare = self._spawn()

    def _spawn(self) -> Process:
        # Should loading everything in advance be what kills it, a child that loads on demand may still do most jobs.
        command = [*self._command, "--cold"] if self._early_deaths else self._command
        process = Process(
            self.role, command, self._received, lambda p, text: self._on_log(self.role, text), self._exited
        )
        self._alive.add(process)
        return process

    def _next(self) -> None:
        if self._running is None and self._queue and self.current is not None:
            task = self._running = self._queue.pop(0)
            task.started = time.monotonic()
            self.current.send(task.job)

    def _received(self, process: Process, message: Any) -> None:
        if isinstance(message, Hello):
            if message.version != VERSION:
                process.kill(f"speaks version {message.version} of the protocol, not {VERSION}: update mytriton there")
        elif isinstance(message, Ready):
            process.ready = True
            self._early_deaths = 0
        elif process is self.current and self._running is not None:
            self._answered(self._running, process, message)

    def _answered(self, task: Task, process: Process, message: Any) -> None:
        if message.generation != task.job.generation:
            return
        if isinstance(message, Entering):
            if not task.taken:
                task.taken, task.started = True, time.monotonic()
            task.at = message
        elif isinstance(message, Idle):
            self._running = None
            if message.error and not task.abandoned:
                self._on_failure(task.job, self._failure(task, "internal error", message.error.splitlines()))
            self._next()
        elif not task.abandoned:
            self._on_message(task.job, message)

    def _exited(self, process: Process) -> None:
        self._alive.discard(process)
        if self._closed or (process is not self.current and process is not self.spare):
            return
        if not process.ready:
            self._early_deaths += 1
        if process is self.spare:
            self.spare = None
            return
        task, self.current, self._running = self._running, None, None
        if task is not None and not task.abandoned:
            if not task.taken and (process.ready or self._early_deaths < 2):  # not of the job, as far as one can tell
                self._queue.insert(0, Task(task.job, task.limit))
            else:
                self._fail(task, process)
        if self._early_deaths >= _GIVE_UP_AFTER:
            waiting, self._queue = self._queue, []
            for each in waiting:
                self._fail(each, process)
        elif self._early_deaths:
            delay = 0.1 * 2**self._early_deaths
            asyncio.get_running_loop().call_later(delay, self.start)
        else:
            self.start()

    def _fail(self, task: Task, process: Process) -> None:
        self._on_failure(task.job, self._failure(task, process.ending, process.log))

    def _failure(self, task: Task, how: str, log: Sequence[str]) -> ChildFailure:
        at = task.at
        return ChildFailure(self.role, f"{how} while {at.doing}", at.stage, task.job.generation, tuple(log), at.backend)
