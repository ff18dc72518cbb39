"""Which stage broke the numbers: the program run after every stage on the example's inputs, and compared each time.

SSA stages run in the interpreter, the laid-out program in its own, and the last step is the backend's code where that
can run here. The first stage whose result differs from the reference is the culprit; the store that wrote the first
wrong element says which program, lane and source line it is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mytriton import backends
from mytriton.arrays import copied
from mytriton.check import built, compared, first_ssa
from mytriton.comparison import OutputReport
from mytriton.descriptors import array_in, arrays_of, opened, with_array
from mytriton.diagnostics import BackendUnavailable, CompileError, MytritonError
from mytriton.examples import Example, ExampleCase
from mytriton.ir import interp
from mytriton.ir.core import Func
from mytriton.launch import JITFunction
from mytriton.layout import simulate
from mytriton.layout.program import LaidOut
from mytriton.origin import Origin, find_origin
from mytriton.ready import Launch
from mytriton.running import Progress, ReadyExample, chosen, prepared
from mytriton.source import SourceUnit
from mytriton.target import Target


@dataclass(frozen=True, slots=True)
class Step:
    """The result after one stage: `outputs` compared with the reference, or why the stage was not run (`reason`) or
    could not be (`error`). A stage that changed nothing has the result of the one before."""

    stage: str
    outputs: tuple[OutputReport, ...] = ()
    reason: str = ""
    error: str = ""

    @property
    def ok(self) -> bool:
        """Whether every output matches, as far as the stage was run."""
        return not self.error and all(output.ok for output in self.outputs)


@dataclass(frozen=True, slots=True)
class Located:
    """The steps in order; `culprit` is the first that differs, and `origin` what writes its first wrong element, whose
    span is in `units`. Without a reference of the author's (`has_reference`) all stages are compared with the first."""

    steps: tuple[Step, ...]
    culprit: Step | None
    origin: Origin | None
    units: tuple[SourceUnit, ...]
    has_reference: bool


def locate(
    kernel: JITFunction,
    case: ExampleCase,
    target: Target,
    listener: Callable[[Step], None] | None = None,
    progress: Progress | None = None,
) -> Located:
    """Run the example after every stage; `listener` is told of each step, and `progress` how far one has got: both may
    raise. Raises `CompileError` of a kernel that does not compile, `LaunchError`, and whatever the example's own
    function raises."""
    example = built(kernel, case)
    target = chosen(target, example)
    run = _Run(kernel, example, target, progress)
    steps: list[Step] = []
    for step in run.steps():
        steps.append(step)
        if listener is not None:
            listener(step)
        if not step.ok:
            return run.located(steps, step)
    return run.located(steps, None)


class _Run:
    def __init__(self, kernel: JITFunction, example: Example, target: Target, progress: Progress | None) -> None:
        self._progress = progress
        self.kernel, self.example, self.target = kernel, example, target
        self.launch: Launch = prepared(kernel, example, self._fresh(), target)
        self.compilation = self.launch.compilation
        if findings := backends.get("interp").check(first_ssa(self.compilation), target):
            raise CompileError(findings, self.compilation.units)  # no stage can be run but the last
        self.expected: Mapping[str, Any] | None = example.expected
        self.first: Func | None = None
        self.laid_out: LaidOut | None = None

    def located(self, steps: list[Step], culprit: Step | None) -> Located:
        """The verdict over these steps."""
        origin = self._origin(culprit) if culprit is not None else None
        return Located(tuple(steps), culprit, origin, self.compilation.units, self.example.expected is not None)

    def _fresh(self) -> dict[str, Any]:
        return {name: with_array(v, copied) for name, v in self.example.args.items()}

    def steps(self) -> Iterator[Step]:
        """Stage by stage, as far as there is something to run."""
        outputs: tuple[OutputReport, ...] = ()
        for name in self.compilation.planned:
            stage = self.compilation.find(name)
            self.compilation.raise_if_failed()
            artifact = stage.artifact if stage is not None else None
            if isinstance(artifact, Func) and stage is not None:
                self.first = self.first or artifact
                if stage.status != "no change" or not outputs:
                    yield (step := self._interpreted(name, artifact))
                    outputs = step.outputs
                else:
                    yield Step(name, outputs)
            elif isinstance(artifact, LaidOut):
                self.laid_out = artifact
                yield self._simulated(name, artifact)
            elif name not in ("source", "tree"):
                break
        yield self._on_backend()

    def _interpreted(self, name: str, func: Func) -> Step:
        grid, units, told = self.launch.grid, self.compilation.units, self._told(f"after {name}")
        return self._step(name, lambda args: interp.run(func, args, grid, units=units, progress=told))

    def _simulated(self, name: str, laid_out: LaidOut) -> Step:
        told = self._told(f"after {name}")
        return self._step(name, lambda args: simulate.run(laid_out, args, self.launch.grid, progress=told))

    def _told(self, what: str) -> interp.Progress:
        def told(done: int, total: int) -> None:
            if self._progress is not None:
                self._progress(f"programs {what}", done, total)

        return told

    def _step(self, name: str, run: Callable[[list[Any]], None]) -> Step:
        args = self._fresh()
        passed = opened(args)
        try:
            run([passed[param] for param, _, _ in self.compilation.specialization.params])
        except MytritonError as error:
            return Step(name, error=str(error))
        return self._compared(name, args)

    def _on_backend(self) -> Step:
        name = f"{self.target.backend} run"
        reason = backends.get(self.target.backend).available()
        if reason is not None:
            return Step(name, reason=reason)
        try:
            fresh = dataclasses.replace(self.example, args=self._fresh())
            ready = ReadyExample(self.kernel, fresh, self.target)
            ready.run()
        except BackendUnavailable as unavailable:
            return Step(name, reason=str(unavailable))
        return self._compared(name, ready.arrays())

    def _compared(self, name: str, after: Mapping[str, Any]) -> Step:
        if self.expected is None:  # without a reference of the author's, later stages must do what the first one does
            self.expected = {n: np.array(v) for n, v in arrays_of(after).items()}
        before = arrays_of(self.example.args)
        arrays = {n: array_in(after[n]) for n in before}
        return Step(name, compared(self.example, before, arrays, self.expected, first_ssa(self.compilation)))

    def _origin(self, step: Step) -> Origin | None:
        """The last store to the first wrong element, as the first SSA stage does it; None if nothing writes it."""
        wrong = next((o for o in step.outputs if not o.ok and o.first is not None), None)
        if wrong is None or self.first is None or wrong.first is None:
            return None
        return find_origin(self.first, opened(self._fresh()), self.launch.grid, wrong.name, wrong.first, self.laid_out,
                           progress=self._told("looked through for the wrong store"))  # fmt: skip
