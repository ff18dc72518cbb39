"""The messages between the explorer and its children: requests one way, events the other.

Each is a frozen dataclass that `protocol` sends as tagged JSON. Every event that answers a request carries the
request's generation, so that what is stale can be told from what is current.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from explorer.model.result import ChildFailure, ModuleInfo, RunReport, StageView


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """Compile the kernel as it stands in `text`, which need not be saved.

    `backends` are compiled in order: the visible one first. `kernel` None is the first of the file. Types come from
    `defines` (constexprs as Python values), `signature` (Triton's notation), the example's number, annotations and
    defaults. `wanted` names slow stages that somebody looks at (`cubin`, `sass`); others stop at the last text stage.
    """

    path: str
    text: str
    kernel: str | None = None
    backends: tuple[str, ...] = ("cuda",)
    chip: str = "sm_90"
    num_warps: int = 4
    defines: dict[str, Any] = field(default_factory=dict)
    signature: str = ""
    example: int = 0
    wanted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RunRequest:
    """Run one example of a kernel on a backend and check it. With `fallback` a backend that cannot run here is replaced
    by `cpu`, and the report says so."""

    path: str
    text: str
    kernel: str | None = None
    backend: str = "cuda"
    chip: str = "sm_90"
    num_warps: int = 4
    defines: dict[str, Any] = field(default_factory=dict)
    example: int = 0
    fallback: bool = True


@dataclass(frozen=True, slots=True)
class ModuleRead:
    """The file was opened or saved: what is in it, executed once or (if it may not or cannot be) only read.
    Answer it with a new `compile`: the examples' types are known now."""

    generation: int
    module: ModuleInfo


@dataclass(frozen=True, slots=True)
class CompileStarted:
    """A backend's compilation begins: its kernel, the stages to come, the signature it is compiled for.
    `module_changed` means: code outside the kernels differs from what was executed, save to reload."""

    generation: int
    backend: str
    kernel: str
    planned: tuple[str, ...]
    signature: str = ""
    module_changed: bool = False


@dataclass(frozen=True, slots=True)
class StageFinished:
    """One stage of one backend, whatever its status."""

    generation: int
    backend: str
    stage: StageView


@dataclass(frozen=True, slots=True)
class CompileFinished:
    """All wanted stages of a backend were sent, or it failed at the last one sent."""

    generation: int
    backend: str
    ok: bool
    ms: float = 0.0


@dataclass(frozen=True, slots=True)
class RunFinished:
    """The answer to a `run`."""

    generation: int
    report: RunReport


@dataclass(frozen=True, slots=True)
class StillRunning:
    """A request that takes long, sent every half second: which child, at what, since when."""

    generation: int
    child: str
    stage: str
    seconds: float


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


Event: TypeAlias = (
    ModuleRead | CompileStarted | StageFinished | CompileFinished | RunFinished | StillRunning | ChildFailed | Log
)
