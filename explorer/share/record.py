"""A session as plain data: what was compiled, with all listings, and what is known of it. No Textual, no compiler."""

from __future__ import annotations

import copy
import platform
from dataclasses import field, replace
from datetime import datetime, timezone
from typing import Any

from explorer.engine.messages import CompileRequest
from explorer.model.backend_result import Result
from explorer.model.past_runs import Entry, PastRuns
from explorer.model.paths import is_mlir
from explorer.model.result import ModuleInfo, RunReport, StageView
from explorer.model.session import Session, Settings
from mytriton.records import dataclass


@dataclass(frozen=True, slots=True)
class Build:
    """The newest compilation of one backend: `planned` stages in order, and those that there are. `good` are those of
    an earlier one that this one did not get to: they are shown as stale."""

    backend: str
    kernel: str = ""
    signature: str = ""
    num_warps: int = 4
    planned: tuple[str, ...] = ()
    stages: tuple[StageView, ...] = ()
    ms: float = 0.0
    good: tuple[StageView, ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """A session: the text and what it was compiled for, the backend that was selected, every backend's build, the last
    run, all runs, and what the child processes printed. `saved` is False if `text` was not that of the file `path`."""

    path: str
    text: str
    backend: str = "cuda"
    chip: str = "sm_90"
    kernel: str = ""
    example: int = 0
    num_warps: int | None = None
    defines: dict[str, Any] = field(default_factory=dict)
    signature: str = ""
    execute: bool = True
    saved: bool = True
    module: ModuleInfo | None = None
    builds: tuple[Build, ...] = ()
    run: RunReport | None = None
    runs: tuple[Entry, ...] = ()
    log: tuple[str, ...] = ()
    label: str = ""
    config: int | None = None
    pipelines: dict[str, tuple[str, ...]] = field(default_factory=dict)
    schedule: str = ""

    def build(self, backend: str) -> Build | None:
        """The build of a backend."""
        return next((b for b in self.builds if b.backend == backend), None)

    @property
    def settings(self) -> Settings:
        """What an explorer that shows it starts with."""
        return Settings(
            self.path,
            kernel=self.kernel or None,
            example=self.example,
            backend=self.backend,
            chip=self.chip,
            num_warps=self.num_warps,
            defines=self.defines,
            signature=self.signature,
            execute=self.execute,
            config=self.config,
            pipelines=self.pipelines,
            schedule=self.schedule,
        )


@dataclass(frozen=True, slots=True)
class Made:
    """When, where and by which versions something was made."""

    when: str = ""
    python: str = ""
    platform: str = ""
    versions: dict[str, str] = field(default_factory=dict)

    @classmethod
    def here(cls) -> Made:
        """Here and now."""
        from mytriton.versions import versions

        now = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
        return cls(now, platform.python_version(), platform.platform(), dict(versions()))


@dataclass(frozen=True, slots=True)
class Shared:
    """All that is passed on: the session (B), the one it is compared with (A), and what made them."""

    b: Record
    a: Record | None = None
    made: Made = field(default_factory=Made)


def shared(session: Session, saved: bool = True, made: Made | None = None) -> Shared:
    """What there is of a session and of what is pinned."""
    a = session.pinned
    return Shared(recorded(session, saved), recorded(a) if a is not None else None, made or Made.here())


def command(session: Session) -> list[str]:
    """The command line that compiles the same again."""
    s, info = session.settings, session.kernel_info
    if is_mlir(s.path):
        return ["mytriton-explore", s.path, *_passes(session), *(["--schedule", s.schedule] if s.schedule else [])]
    words = ["mytriton-explore", s.path, "--backend", session.backend, "--chip", s.chip]
    if kernel := session.result.kernel or session.kernel:
        words += ["--kernel", kernel]
    if info is not None and info.examples and not s.signature:
        words += ["--example", str(session.example)]
    if s.config is not None:
        words += ["--config", str(s.config)]
    if s.num_warps is not None:
        words += ["--num-warps", str(s.num_warps)]
    for name, value in s.defines.items():
        words += ["-D", f"{name}={value!r}"]
    if s.signature:
        words += ["--signature", s.signature]
    words += _passes(session)
    return [*words, *([] if s.execute else ["--no-exec"])]


def _passes(session: Session) -> list[str]:
    passes = session.settings.pipelines.get(session.backend)
    return ["--pipeline", ",".join(passes)] if passes is not None else []


def copied(session: Session) -> Session:
    """The session as it is at this moment, for another thread."""
    made = copy.copy(session)
    made.results = {
        name: replace(result, stages=dict(result.stages), before=dict(result.before), good=dict(result.good))
        for name, result in session.results.items()
    }
    made.log, made.past_runs = session.log.copy(), PastRuns()
    made.past_runs.entries = list(session.past_runs.entries)
    made.pinned = copied(session.pinned) if session.pinned is not None else None
    return made


def recorded(session: Session, saved: bool = True) -> Record:
    """What there is of a session, without what is pinned."""
    s, info = session.settings, session.kernel_info
    module = session.module
    return Record(
        s.path,
        session.text,
        session.backend,
        s.chip,
        session.result.kernel or (info.name if info is not None else session.kernel or ""),
        session.example,
        s.num_warps,
        dict(s.defines),
        s.signature,
        s.execute,
        saved,
        # What the file's globals are, and the text again, is of use only to a compiler.
        replace(module, text="", names={}) if module is not None else None,
        tuple(_build(backend, result) for backend, result in session.results.items()),
        session.report if not session.report_is_stale else None,
        tuple(session.past_runs.entries),
        tuple(session.log),
        session.label,
        s.config,
        dict(s.pipelines),
        s.schedule,
    )


def _build(backend: str, result: Result) -> Build:
    stages = tuple(s for s in result.known if not s.pending)
    reached = {stage.name for stage in stages if stage.ok}
    good = tuple(result.good[name] for name in result.planned if name in result.good and name not in reached)
    return Build(backend, result.kernel, result.signature, result.num_warps, result.planned, stages, result.ms, good)


def complete(session: Session, request: CompileRequest) -> bool:
    """Whether everything that was asked for is there, or cannot be."""
    for name in request.backends:
        result = session.results.get(name)
        if result is None or not session.is_current(name):
            return False
        asked = (*request.wanted, *request.background.get(name, ()))
        if not result.slow_finished and any(stage in result.planned for stage in asked):
            return False
        if any(stage.pending for stage in result.stages.values()):
            return False
    return True
