"""The staged driver: the one path from a kernel to code, which the launcher, the explorer and the tests all read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from mytriton import backends
from mytriton.backends.base import Backend
from mytriton.diagnostics import CompileError, Diagnostic
from mytriton.frontend.kernel import Kernel
from mytriton.frontend.lower import lower
from mytriton.frontend.parse import parse
from mytriton.frontend.show import tree_lines
from mytriton.ir.core import Func, count_ops
from mytriton.ir.printer import print_func
from mytriton.ir.verify import verify
from mytriton.passes import PASSES, Pass
from mytriton.source import SourceUnit, Span
from mytriton.specialize import Specialization
from mytriton.stage import Clock, Compilation, Kind, Line, Stage
from mytriton.target import Target

#: Stages every backend shares, in order.
SHARED = ("source", "tree", "ssa", *(f"opt/{p.name}" for p in PASSES))


def planned(target: Target) -> tuple[str, ...]:
    """The names of the stages a compilation for `target` goes through, in order."""
    return (*SHARED, *backends.get(target.backend).planned(target))


def source_stage(names: Sequence[str]) -> str:
    """Of planned stage names, the one whose text is "the generated source": the backend's first after the layout."""
    own = [n for n in names if n not in SHARED and n.split("/")[0] != "layout"]
    return own[0] if own else SHARED[-1]


def code_stage(names: Sequence[str]) -> str:
    """Of planned stage names, the one that makes what a launch runs: what comes after it is only for looking at."""
    return "cubin" if "cubin" in names else names[-1]


def compile_kernel(
    kernel: Kernel,
    specialization: Specialization,
    target: Target,
    listener: Callable[[Stage], None] | None = None,
    like: Compilation | None = None,
) -> Compilation:
    """A compilation that runs as far as it is read; `listener` is told of each stage as it is made.

    Nothing is raised for a kernel that does not compile: the failing stage carries the diagnostics. `like` is a
    compilation of the same kernel and specialization for another target: what no target changes is taken from it.
    """
    backend = backends.get(target.backend)
    units = [kernel.unit]
    front = _shared(kernel, specialization, units) if like is None else _taken(like, units)
    stream = _stages(front, target, backend, units)
    return Compilation(kernel.name, units, specialization, target, planned(target), stream, listener)


def _stages(front: Iterator[Stage], target: Target, backend: Backend, units: Sequence[SourceUnit]) -> Iterator[Stage]:
    """The stages: those that every backend shares, then the backend's."""
    stage: Stage | None = None
    for stage in front:
        yield stage
    if stage is None or not stage.ok:
        return
    func = stage.artifact
    findings = tuple(backend.check(func, target))
    if findings:
        name = next(iter(backend.planned(target)), backend.name)  # the interpreter has no stages
        yield Stage(name, "text", "", "failed", diagnostics=findings)
        return
    yield from _guarded(backend, func, target, units)


def _taken(like: Compilation, units: list[SourceUnit]) -> Iterator[Stage]:
    for name in SHARED:
        stage = like.find(name)
        if stage is None:
            return
        units[1:] = like.units[1:]  # the kernel itself may stand elsewhere by now
        yield stage


def _shared(kernel: Kernel, specialization: Specialization, units: list[SourceUnit]) -> Iterator[Stage]:
    """The stages that no target changes, to the first that fails; `units` grows by the helpers when the frontend meets
    them."""
    yield Stage("source", "source", "python", artifact=kernel.unit.text, make_lines=lambda: _source_lines(kernel))

    tree = None
    with _stage("tree", "tree", "tree") as stage:
        tree = stage.artifact = parse(kernel)
        stage.make_lines = lambda: tree_lines(tree)
    yield stage
    if tree is None or not stage.ok:
        return

    with _stage("ssa", "ir", "ssa") as stage:
        try:
            func, stage.diagnostics, units[:] = lower(tree, specialization)
        except CompileError as error:
            units[:] = error.units
            raise
        verify(func)
        _record(stage, func, count_ops(func))
    yield stage

    for pass_ in PASSES:
        if not stage.ok:
            return
        stage = _run_pass(pass_, stage)
        yield stage


def _guarded(backend: Backend, func: Func, target: Target, units: Sequence[SourceUnit]) -> Iterator[Stage]:
    # A backend reports what the author can mend as failed stages; an exception out of it is a fault of ours, and
    # becomes a failed stage too: a compilation keeps what it has and never takes its viewer down.
    stages = backend.lower(func, target, units)
    names = iter(backend.planned(target))
    while True:
        with _stage(next(names, backend.name), "text", "") as failure:
            made = next(stages, None)
        if not failure.ok:
            yield failure
            return
        if made is None:
            return
        yield made


def _run_pass(pass_: Pass, before: Stage) -> Stage:
    func, count = before.artifact, before.stats["ops"]
    with _stage(f"opt/{pass_.name}", "ir", "ssa") as stage:
        result, changes = pass_.run(func)
        if result is not func:
            verify(result, func)
        stage.changes = tuple(changes)
        _record(stage, result, count if result is func else count_ops(result))
        stage.stats["ops before"] = count
        stage.status = "ok" if changes else "no change"
    return stage


def _record(stage: Stage, func: Func, count: int) -> None:
    stage.artifact = func
    stage.make_lines = lambda: print_func(func)
    stage.stats["ops"] = count


def _source_lines(kernel: Kernel) -> list[Line]:
    texts = kernel.unit.text.split("\n")  # not splitlines: see `SourceUnit.line`
    return [Line(text, Span(i, 1, i, len(text) + 1)) for i, text in enumerate(texts, 1)]


@contextmanager
def _stage(name: str, kind: Kind, language: str) -> Iterator[Stage]:
    """Runs the body of a `with` as one stage: times it, and turns what it raises into the stage's failure."""
    stage = Stage(name, kind, language)
    with Clock() as clock:
        try:
            yield stage
        except CompileError as error:
            stage.status = "failed"
            stage.diagnostics = error.diagnostics
        except Exception as error:  # noqa: BLE001 (a fault of ours must not take down whoever looks at the stages)
            stage.status = "failed"
            stage.artifact = error  # `Compilation.raise_if_failed` chains it
            message = f"internal error in stage {name!r}: {type(error).__name__}: {error}"
            hint = "this is a fault of mytriton, not of the kernel; please report it with the kernel's source"
            stage.diagnostics = (Diagnostic("MT999", message, hint=hint, stage=name),)
    stage.seconds = clock.seconds
