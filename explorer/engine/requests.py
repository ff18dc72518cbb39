"""What the explorer asks of its children."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from mytriton.records import dataclass

#: In place of an example's number: the one that the kernel opens with, of a file that is not read yet.
ANY = -1


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """Compile the kernel as it stands in `text`, which need not be saved.

    `backends` are compiled in order: the visible one first. `kernel` None is the first of the file. Types come from
    `defines` (constexprs as plain values), `types` (by name) or `signature` (all of them) in Triton's notation, the
    example's number, annotations and defaults. `values` are given to the example's function in place of its own;
    `options` are those of the target, `num_warps` is one: what is not given is the example's. `config` numbers the
    config of the kernel's `autotune` that it is in, whatever the example says.

    `wanted` names slow stages that somebody looks at; without
    them a compilation stops at the last quick one; `background` names, by backend, those that nobody looks at and that
    are made once nothing else was asked for a moment. `until`, a stage or family, stops it earlier. `shown` names the
    stages whose listings are on the screen: with it, the others are printed after everything is compiled, and their
    stages come first without lines (`pending`), then with them.

    `pipelines` are the passes that an MLIR file goes through (of backend `mlir`), or that a backend has in place of its
    own: each is a text for `builtin.module(...)`. `schedule` names the file of a schedule of the transform dialect,
    which is `schedule_text`.
    """

    path: str
    text: str
    kernel: str | None = None
    backends: tuple[str, ...] = ("cuda",)
    chip: str = "sm_90"
    num_warps: int | None = None
    defines: dict[str, Any] = field(default_factory=dict)
    signature: str = ""
    example: int = 0
    wanted: tuple[str, ...] = ()
    until: str = ""
    shown: tuple[str, ...] | None = None
    background: dict[str, tuple[str, ...]] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    config: int | None = None
    pipelines: dict[str, tuple[str, ...]] = field(default_factory=dict)
    schedule: str = ""
    schedule_text: str = ""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """Run one example of a kernel on a backend and check it. With `fallback` a backend that cannot run here is replaced
    by `cpu`, or `interp` where that one cannot either, and the report says so. With `every_stage` it is run after every
    stage, to find the one that breaks the numbers; with `bench` it is checked and then timed for `seconds`; with `tune`
    all configs of its kernel are timed instead, with `config` it runs in that one. Inputs of other types than `types`
    or `signature` want are converted, and the report says so."""

    path: str
    text: str
    kernel: str | None = None
    backend: str = "cuda"
    chip: str = "sm_90"
    num_warps: int | None = None
    defines: dict[str, Any] = field(default_factory=dict)
    example: int = 0
    fallback: bool = True
    every_stage: bool = False
    bench: bool = False
    tune: bool = False
    seconds: float = 1.0
    signature: str = ""
    types: dict[str, str] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    config: int | None = None
    pipelines: dict[str, tuple[str, ...]] = field(default_factory=dict)
    schedule: str = ""
    schedule_text: str = ""


@dataclass(frozen=True, slots=True)
class QueryRequest:
    """Look for the operations that `question` is about: in what the passes of `compile` leave of an MLIR file, in every
    stage of a kernel that is MLIR, or in `stage`. Answered by `Answered`."""

    compile: CompileRequest
    question: str
    stage: str = ""


@dataclass(frozen=True, slots=True)
class ReproduceRequest:
    """Write a reproducer of `stage` (of the first backend of `compile`) into `folder`, which must not be there yet.
    `error` is what it is to reproduce. Answered by `Reproduced`."""

    compile: CompileRequest
    stage: str
    folder: str
    error: str = ""
