"""The messages between the explorer and its children: requests one way, events the other.

Each is a frozen dataclass that `protocol` sends as tagged JSON. Every event that answers a request carries the
request's generation, so that what is stale can be told from what is current.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, TypeAlias

from explorer.engine.jobs import CompileJob as CompileJob
from explorer.engine.jobs import DescribeJob as DescribeJob
from explorer.engine.jobs import Job as Job
from explorer.engine.jobs import ListJob as ListJob
from explorer.engine.jobs import LoadJob as LoadJob
from explorer.engine.jobs import PassesJob as PassesJob
from explorer.engine.jobs import QueryJob as QueryJob
from explorer.engine.jobs import ReadJob as ReadJob
from explorer.engine.jobs import ReproduceJob as ReproduceJob
from explorer.engine.jobs import RunJob as RunJob
from explorer.engine.requests import CompileRequest as CompileRequest
from explorer.engine.requests import QueryRequest as QueryRequest
from explorer.engine.requests import ReproduceRequest as ReproduceRequest
from explorer.engine.requests import RunRequest as RunRequest
from explorer.model.result import ChildFailure, ExampleInfo, ModuleInfo, OperationView, PassView, RunReport, StageView
from mytriton.records import dataclass

#: Stages made by the tools child: when somebody looks at them, or (`background`) when there is nothing else to do.
SLOW_STAGES = ("cubin", "sass", "llvm/O3", "asm")


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
class Answered:
    """The operations that a question is about; or `error` says why there is no answer. Where there are none, `among`
    is how many were looked at, and `stage` where, if that was one stage."""

    generation: int
    question: str
    operations: tuple[OperationView, ...] = ()
    error: str = ""
    among: int = 0
    stage: str = ""


@dataclass(frozen=True, slots=True)
class PassesKnown:
    """The passes that MLIR has, in alphabetical order; or why none can be told."""

    generation: int
    passes: tuple[PassView, ...] = ()
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
    `module_changed` means: code outside the kernels differs from what was executed, save to reload. `passes` are the
    backend's pipelines, each of which is a stage."""

    generation: int
    backend: str
    kernel: str
    planned: tuple[str, ...]
    signature: str = ""
    num_warps: int = 4
    module_changed: bool = False
    passes: tuple[str, ...] = ()


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
    | Answered
    | PassesKnown
    | StillRunning
    | ChildFailed
    | Log
    | Described
)


# What follows stays between the client and its children, as do the jobs.


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


TYPES: dict[str, type] = {
    cls.__name__: cls
    for cls in (
        *(ReadJob, LoadJob, DescribeJob, RunJob, CompileJob, ListJob, ReproduceJob, QueryJob, PassesJob, Abandon),
        *(Hello, Ready, Entering, Described, Idle),
        *(ModuleRead, CompileStarted, StageFinished, CompileFinished, RunFinished, Reproduced, Answered, PassesKnown),
    )
}
