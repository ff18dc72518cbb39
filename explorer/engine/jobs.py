"""What the client gives its children to do, one thing at a time. Each says the text of its file."""

from __future__ import annotations

from dataclasses import field
from typing import Any, TypeAlias

from explorer.engine.requests import CompileRequest, RunRequest
from explorer.model.result import ExampleInfo
from mytriton.records import dataclass


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
class QueryJob:
    """For the compiler: see `QueryRequest`."""

    generation: int
    compile: CompileJob
    question: str
    stage: str = ""

    @property
    def text(self) -> str:
        """The file's text."""
        return self.compile.text


@dataclass(frozen=True, slots=True)
class PassesJob:
    """For the compiler: which passes there are. Answered by `PassesKnown`."""

    generation: int
    text: str = ""


Job: TypeAlias = PassesJob | ReadJob | LoadJob | DescribeJob | RunJob | CompileJob | ListJob | ReproduceJob | QueryJob
