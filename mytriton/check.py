"""Runs an example and compares what the kernel stored with the reference, element by element."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mytriton import backends
from mytriton.arrays import copied
from mytriton.comparison import OutputReport, compare
from mytriton.descriptors import arrays_of, opened
from mytriton.diagnostics import BackendUnavailable, MytritonError
from mytriton.examples import Example, ExampleCase
from mytriton.ir.core import Func
from mytriton.launch import JITFunction
from mytriton.layout.program import LaidOut
from mytriton.origin import Origin, find_origin, stored_blocks
from mytriton.running import Array, Progress, ReadyExample, chosen, interpreted
from mytriton.stage import Compilation
from mytriton.target import Target

#: Seconds that looking for what wrote the first wrong element may take, with the interpreter.
LOOKING = 3.0


@dataclass(frozen=True, slots=True)
class Report:
    """An example's result. `device` says what ran it, `reference` what it was compared with ("NumPy", or "interpreter"
    if the example has no `expected`); `seconds` is one launch, compiled before. `origin` is what writes the first wrong
    element, if that was found; its span is in the units of `compilation`."""

    label: str
    backend: str
    device: str
    reference: str
    outputs: tuple[OutputReport, ...]
    seconds: float
    compilation: Compilation = field(repr=False)
    origin: Origin | None = None

    def __str__(self) -> str:
        head = (
            f"{'PASS' if self.ok else 'FAIL'}  {self.label} on {self.backend} ({self.device}), against {self.reference}"
        )
        return "\n  ".join([head, *map(str, self.outputs)])

    @property
    def ok(self) -> bool:
        """Whether every output matches, and nothing else changed."""
        return all(output.ok for output in self.outputs)


def check_example(kernel: JITFunction, case: ExampleCase, target: Target, progress: Progress | None = None) -> Report:
    """Build the example, run it on `target` and compare. NumPy arrays travel to the GPU and back where needed.

    `progress` is told how many programs the interpreter has done, and may raise. Raises `BackendUnavailable` if the
    backend cannot run here (no other is tried), `CompileError`, `LaunchError`, and whatever the example's own function
    raises.
    """
    reason = backends.get(target.backend).available()
    if reason is not None:
        raise BackendUnavailable(reason)
    example = built(kernel, case)
    target = chosen(target, example)
    before = {name: copied(v) for name, v in arrays_of(example.args).items()}
    expected, reference = example.expected, "NumPy"
    if expected is None:
        expected, reference = interpreted(kernel, example, target, progress), "interpreter"
    ready = ReadyExample(kernel, example, target, progress)
    seconds, compilation = ready.run(), ready.launch.compilation
    outputs = compared(example, before, ready.arrays(), expected, first_ssa(compilation))
    report = Report(case.label, target.backend, ready.device, reference, outputs, seconds, compilation)
    wrong = next((o for o in outputs if not o.ok), None)
    if wrong is None or wrong.first is None:
        return report
    args = {**opened(example.args), **before}
    laid_out = compilation.find("layout")
    held = laid_out.artifact if laid_out is not None and isinstance(laid_out.artifact, LaidOut) else None

    def told(done: int, total: int) -> None:
        if progress is not None:
            progress("programs looked through for the wrong store", done, total)

    about = (wrong.name, wrong.first, held, LOOKING, told)
    try:
        origin = find_origin(first_ssa(compilation), args, ready.launch.grid, *about)
    except MytritonError:
        origin = None  # the interpreter does not take these arguments
    return dataclasses.replace(report, origin=origin)


def built(kernel: JITFunction, case: ExampleCase) -> Example:
    """The example, completed, with references of its own arrays only. Raises what the author's function raises."""
    example = kernel.completed(case.build())
    for name in example.expected or ():
        if name not in arrays_of(example.args):
            raise ValueError(f"the example {case.label} expects `{name}`, which is not an array among its args")
    return example


def first_ssa(compilation: Compilation) -> Func:
    """The kernel as it was written: before any pass. Raises `CompileError`."""
    func: Func = compilation.stage("ssa").artifact
    return func


def compared(
    example: Example, before: Mapping[str, Array], after: Mapping[str, Array], expected: Mapping[str, Any], func: Func
) -> tuple[OutputReport, ...]:
    """Every output against what is `expected`, and the other arrays that changed though they should not have."""
    blocks = stored_blocks(func)
    outputs = [
        compare(n, after[n], wanted, example.rtol, example.atol, block=blocks.get(n)) for n, wanted in expected.items()
    ]
    for name, original in before.items():
        if name not in expected:
            unchanged = compare(name, after[name], original, 0.0, 0.0, is_output=False, block=blocks.get(name))
            outputs += [] if unchanged.ok else [unchanged]
    return tuple(outputs)
