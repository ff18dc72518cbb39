"""The stages of one compilation: the single stream that the launcher, the explorer, the command line and tests read."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal

from mytriton.diagnostics import BackendUnavailable, CompileError, Diagnostic, InternalError
from mytriton.records import dataclass
from mytriton.source import SourceUnit, Span
from mytriton.target import Target

if TYPE_CHECKING:
    from mytriton.backends.nvidia.resources import Resources

Status = Literal["ok", "no change", "failed", "crashed", "skipped", "cached"]
Kind = Literal["source", "tree", "ir", "text", "binary"]

#: Families of stage names for the command line; a family stands for the last stage reached in it.
FAMILIES = ("source", "tree", "ssa", "opt", "layout", "cuda", "mlir", "cpu", "llvm", "ptx", "sass", "asm")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a listing, the source it came from, and the ids of the SSA values it mentions. What no line of the
    kernel asked for says which program made it (`made_by`); its place, if any, is that of its first use."""

    text: str
    span: Span | None = None
    values: tuple[str, ...] = ()
    made_by: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """One thing a pass did: `rule` names the identity, `before`/`after` are listing lines, `why` is a sentence."""

    pass_name: str
    rule: str
    before: str
    after: str
    span: Span | None
    why: str


@dataclass()
class Stage:
    """One step of a compilation, kept also when it failed.

    `lines` is computed on first use, from `make_lines`; `artifact` is what the step made (a `Func`, text, bytes).
    `stats` holds integers worth showing, such as `ops` before and after; `reason` says why a stage was skipped.
    `culprit` is the row it failed at, from 0, in the listing of what it was given; `pipeline` are the passes of MLIR
    that made it, if any did.
    """

    name: str
    kind: Kind
    language: str
    status: Status = "ok"
    seconds: float = 0.0
    artifact: Any = field(default=None, repr=False)  # thousands of bytes, of a cubin
    make_lines: Callable[[], Sequence[Line]] = field(default=lambda: (), repr=False)
    changes: tuple[Change, ...] = ()
    stats: dict[str, int] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()
    reason: str = ""
    culprit: int | None = None
    pipeline: str | None = None
    _lines: tuple[Line, ...] | None = field(default=None, repr=False)

    @property
    def lines(self) -> tuple[Line, ...]:
        """The listing."""
        if self._lines is None:
            self._lines = tuple(self.make_lines())
        return self._lines

    @property
    def text(self) -> str:
        """The listing as one string; for a text stage this is exactly what the next stage compiles."""
        return "\n".join(line.text for line in self.lines)

    @property
    def ok(self) -> bool:
        """Whether later stages can build on this one."""
        return self.status in ("ok", "no change", "cached")


class Clock:
    """Measures one stage: `with Clock() as clock: ...; stage.seconds = clock.seconds`."""

    seconds = 0.0

    def __enter__(self) -> Clock:
        self._start = time.perf_counter()
        return self

    def __exit__(self, *exc: object) -> None:
        self.seconds = time.perf_counter() - self._start


class Compilation:
    """A kernel on its way through the stages, advanced only as far as somebody looks.

    Reading a stage runs the stages before it and no others, which is what makes a cubin or SASS lazy. A failed stage
    ends the stream; everything up to it stays readable. Safe to share between threads.
    """

    def __init__(
        self,
        kernel: str,
        units: Sequence[SourceUnit],
        specialization: Any,
        target: Target,
        planned: Sequence[str],
        stream: Iterator[Stage],
        listener: Callable[[Stage], None] | None = None,
    ) -> None:
        self.kernel = kernel
        self._units = units
        self.specialization = specialization
        self.target = target
        self.planned = tuple(planned)
        self._stream = stream
        self._listener = listener
        self._stages: list[Stage] = []
        self._done = False
        self._lock = threading.RLock()

    @property
    def units(self) -> tuple[SourceUnit, ...]:
        """The sources that spans point into: the kernel's, then those of the helpers it calls, once they are known."""
        return tuple(self._units)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages reached so far."""
        return tuple(self._stages)

    def _advance(self) -> bool:
        with self._lock:
            if self._done:
                return False
            stage = next(self._stream, None)
            if stage is None:
                self._done = True
                return False
            self._stages.append(stage)
            if stage.status in ("failed", "crashed"):
                self._done = True
            if self._listener is not None:
                self._listener(stage)
            return True

    def run(self, until: str | None = None) -> Compilation:
        """Advance through `until` (a stage name; all stages if None). Failures are recorded, not raised."""
        with self._lock:
            while until is None or not any(s.name == until for s in self._stages):
                if not self._advance():
                    break
        return self

    def find(self, name: str) -> Stage | None:
        """The stage called `name`, or the last one of family `name`; None if it is not reached."""
        with self._lock:
            names = [n for n in self.planned if n == name] or [n for n in self.planned if n.split("/")[0] == name]
            if not names:
                return None
            self.run(names[-1])
            matching = [s for s in self._stages if s.name in names]
            return matching[-1] if matching else None

    def stage(self, name: str) -> Stage:
        """Like `find`, but raises `CompileError` if the stage failed, was skipped or cannot be reached."""
        found = self.find(name)
        self.raise_if_failed()
        if found is None:
            raise KeyError(f"no stage {name!r}; stages are {', '.join(self.planned)}")
        if not found.ok:
            raise CompileError([Diagnostic("MT900", f"stage {name!r} was skipped: {found.reason}", stage=name)])
        return found

    def resources(self) -> Resources:
        """What the kernel takes of a GPU: registers, memory, occupancy and what limits it. No GPU is needed. Raises
        `CompileError` if it does not compile, and `BackendUnavailable` for a backend that makes no code for GPUs."""
        from mytriton.backends.nvidia.resources import of_stage

        if "cubin" not in self.planned:
            raise BackendUnavailable(f"the {self.target.backend} backend makes no code for GPUs, which has resources")
        return of_stage(self.stage("cubin"), self.target)

    @property
    def failed(self) -> Stage | None:
        """The stage that failed, if one did."""
        return next((s for s in self._stages if s.status in ("failed", "crashed")), None)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Everything reported so far, warnings included."""
        return tuple(d for s in self._stages for d in s.diagnostics)

    def raise_if_failed(self) -> None:
        """Raise the `CompileError` of the failed stage, or `InternalError` if the fault is ours."""
        failed = self.failed
        if failed is not None and isinstance(failed.artifact, Exception):
            raise InternalError(failed.diagnostics[0].message) from failed.artifact
        if failed is not None:
            raise CompileError(failed.diagnostics, self.units)
