"""The messages between the explorer and its children: requests one way, events the other.

Each is a frozen dataclass that `protocol` sends as tagged JSON. Every event that answers a request carries the
request's generation, so that what is stale can be told from what is current.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, TypeAlias

from explorer.engine.requests import CompileRequest as CompileRequest
from explorer.engine.requests import ReproduceRequest as ReproduceRequest
from explorer.engine.requests import RunRequest as RunRequest
from explorer.model.result import ChildFailure, ExampleInfo, ModuleInfo, RunReport, StageView
from mytriton.records import dataclass

#: Stages made by the tools child: when somebody looks at them, or (`background`) when there is nothing else to do.
SLOW_STAGES = ("cubin", "sass", "asm")


@dataclass(frozen=True, slots=True)
class Reproduced:
    """A reproducer was written: `command` runs it. Or it could not be: `error` says why."""

    generation: int
    stage: str
    folder: str
    command: str = ""
    files: tuple[str, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class ModuleRead:
    """The file was opened or saved: what is in it, executed once or (if it may not or cannot be) only read.
    Answer it with a new `compile`: the examples' types are known now."""

    generation: int
    module: ModuleInfo


@dataclass(frozen=True, slots=True)
class CompileStarted:
    """A backend's compilation begins: its kernel, the stages to come, what it is compiled for.
    `module_changed` means: code outside the kernels differs from what was executed, save to reload."""

    generation: int
    backend: str
    kernel: str
    planned: tuple[str, ...]
    signature: str = ""
    num_warps: int = 4
    module_changed: bool = False


@dataclass(frozen=True, slots=True)
class StageFinished:
    """One stage of one backend, whatever its status."""

    generation: int
    backend: str
    stage: StageView


@dataclass(frozen=True, slots=True)
class CompileFinished:
    """All quick stages of a backend were sent, or it failed at the last one sent. If slow stages were wanted and it is
    ok, they follow from the tools child (those of the background later), and then a second one of these, marked
    `slow`."""

    generation: int
    backend: str
    ok: bool
    ms: float = 0.0
    slow: bool = False


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The answer to a `run`."""

    generation: int
    report: RunReport


@dataclass(frozen=True, slots=True)
class StillRunning:
    """A request that takes long, sent every half second: which child, at what, since when, and how far it has got
    ("12 of 64 programs", if that is known)."""

    generation: int
    child: str
    stage: str
    seconds: float
    progress: str = ""


@dataclass(frozen=True, slots=True)
class ChildFailed:
    """A child died. The stage it was at was already reported as crashed; a new child takes its place by itself."""

    generation: int
    failure: ChildFailure


@dataclass(frozen=True, slots=True)
class Log:
    """What a child, or the user's code in it, printed. Not in lines: a chunk of text as it came."""

    child: str
    text: str


@dataclass(frozen=True, slots=True)
class Described:
    """The answer to a `DescribeJob`."""

    generation: int
    kernel: str
    example: int
    info: ExampleInfo
    values: dict[str, Any] = field(default_factory=dict)
    config: int | None = None


Event: TypeAlias = (
    ModuleRead
    | CompileStarted
    | StageFinished
    | CompileFinished
    | RunFinished
    | Reproduced
    | StillRunning
    | ChildFailed
    | Log
    | Described
)


# What follows stays between the client and its children.


@dataclass(frozen=True, slots=True)
class ReadJob:
    """For the compiler: what is in the file, without executing it. Answered by `ModuleRead`."""

    generation: int
    path: str
    text: str


@dataclass(frozen=True, slots=True)
class LoadJob:
    """For the runner: execute the file afresh. Answered by `ModuleRead`."""

    generation: int
    path: str
    text: str


@dataclass(frozen=True, slots=True)
class DescribeJob:
    """For the runner: types, constexprs and grid of an example of the loaded file. Answered by `Described`."""

    generation: int
    path: str
    text: str
    kernel: str
    example: int
    values: dict[str, Any] = field(default_factory=dict)
    config: int | None = None


@dataclass(frozen=True, slots=True)
class RunJob:
    """For the runner. Loads the file first if it has not; answered by `RunFinished`."""

    generation: int
    request: RunRequest

    @property
    def text(self) -> str:
        """The file's text."""
        return self.request.text


@dataclass(frozen=True, slots=True)
class CompileJob:
    """For the compiler, and (`slow`) for the tools child, which sends the wanted slow stages only.

    `example` is what is known of the example, `executed` the text that was executed last ('' if none was), `names` the
    values its globals had then.
    """

    generation: int
    request: CompileRequest
    example: ExampleInfo | None = None
    executed: str = ""
    names: dict[str, Any] = field(default_factory=dict)
    slow: bool = False

    @property
    def text(self) -> str:
        """The file's text."""
        return self.request.text


@dataclass(frozen=True, slots=True)
class ListJob:
    """For the compiler: send these stages of the one backend of `compile` with their listings, which the child that
    died of a later stage had not come to."""

    generation: int
    compile: CompileJob
    stages: tuple[str, ...]

    @property
    def text(self) -> str:
        """The file's text."""
        return self.compile.text


@dataclass(frozen=True, slots=True)
class ReproduceJob:
    """For the compiler: see `ReproduceRequest`. The stage itself is not run."""

    generation: int
    compile: CompileJob
    stage: str
    folder: str
    error: str = ""

    @property
    def text(self) -> str:
        """The file's text."""
        return self.compile.text


@dataclass(frozen=True, slots=True)
class Abandon:
    """Stop that job at the next opportunity; it is answered by its `Idle`."""

    generation: int


@dataclass(frozen=True, slots=True)
class Hello:
    """The first message of a child."""

    role: str
    pid: int
    version: int
    python: str


@dataclass(frozen=True, slots=True)
class Ready:
    """The child has loaded all it needs; `seconds` since its start."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Entering:
    """What the child does from now on, or how far it has got: the last of these names the culprit if it dies. `doing`
    reads after "while"."""

    generation: int
    stage: str
    doing: str
    backend: str = ""
    progress: str = ""


@dataclass(frozen=True, slots=True)
class Idle:
    """The job is done, given up, or failed inside the child; `error` is then a traceback: a fault of ours."""

    generation: int
    error: str = ""


Job: TypeAlias = ReadJob | LoadJob | DescribeJob | RunJob | CompileJob | ListJob | ReproduceJob

TYPES: dict[str, type] = {
    cls.__name__: cls
    for cls in (
        *(ReadJob, LoadJob, DescribeJob, RunJob, CompileJob, ListJob, ReproduceJob, Abandon),
        *(Hello, Ready, Entering, Described, Idle),
        *(ModuleRead, CompileStarted, StageFinished, CompileFinished, RunFinished, Reproduced),
    )
}
