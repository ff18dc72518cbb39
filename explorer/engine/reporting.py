"""Checks an example, and puts the compiler's report in plain words."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from explorer.engine.messages import RunRequest
from explorer.engine.views import diagnostic_view, place
from explorer.model.result import DiagnosticView, OutputReport, RunReport, StepView
from mytriton import check, comparison
from mytriton.backends.nvidia.device import probe
from mytriton.diagnostics import CompileError, LaunchError
from mytriton.examples import Example, ExampleCase
from mytriton.launch import JITFunction
from mytriton.locate import Step, locate
from mytriton.target import Target


def diagnosed(error: CompileError, path: str) -> tuple[DiagnosticView, ...]:
    """The findings of a compilation that failed."""
    return tuple(diagnostic_view(d, error.units, path) for d in error.diagnostics)


def checked(kernel: JITFunction, case: ExampleCase, request: RunRequest, backend: str) -> RunReport:
    """Run a case on a backend and compare its outputs; raises what compiling and launching raise."""
    chip = _chip_here() if backend in ("cuda", "mlir") else request.chip
    report = check.check_example(kernel, _redefined(case, request), Target(backend, chip))
    changed = [o.name for o in report.outputs if not o.is_output]
    return RunReport(
        report.ok,
        report.backend,
        report.device,
        outputs=tuple(_output_view(o) for o in report.outputs),
        seconds=report.seconds,
        reference=report.reference,
        message=f"{', '.join(changed)} should not have changed" if changed else "",
    )


def located(
    kernel: JITFunction, case: ExampleCase, request: RunRequest, backend: str, listener: Callable[[Step], None]
) -> RunReport:
    """Run a case after every stage and find the first that differs; raises what compiling and launching raise."""
    chip = _chip_here() if backend in ("cuda", "mlir") else request.chip
    found = locate(kernel, _redefined(case, request), Target(backend, chip), listener)
    steps = [StepView(step.stage, step.ok, _step_text(step)) for step in found.steps]
    if found.origin is not None:
        lines = place(found.origin.span, found.units, request.path)
        where = f"program {found.origin.program}, lane {found.origin.lane}"
        steps[-1] = replace(steps[-1], text=f"{steps[-1].text}; written by {where}", line=lines[0])
    last = found.steps[-1]
    views = tuple(_output_view(o) for o in last.outputs)
    reference = "NumPy" if found.has_reference else "the first stage"
    return RunReport(found.culprit is None, backend, outputs=views, reference=reference, steps=tuple(steps))


def _step_text(step: Step) -> str:
    wrong = next((o for o in step.outputs if not o.ok), None)
    if wrong is None:
        return step.error or step.reason
    first = ", ".join(map(str, wrong.first or ()))
    count = f"{wrong.mismatches} of {wrong.size} differ"
    return f"{wrong.name}[{first}] is {wrong.actual}, expected {wrong.expected}; {count}"


def _redefined(case: ExampleCase, request: RunRequest) -> ExampleCase:
    """The example with the constexprs and the number of warps that were asked for by name."""
    options = {} if request.num_warps is None else {"num_warps": request.num_warps}
    if not request.defines and not options:
        return case

    @functools.wraps(case.function)
    def build(**values: Any) -> Example:
        example = case.function(**values)
        args, known = {**example.args, **request.defines}, {**example.options, **options}
        return replace(example, args=args, options=known)

    return replace(case, function=build)


def _chip_here() -> str:
    """A kernel that is run is compiled for the GPU there is, whatever chip is being looked at."""
    device = probe().devices[0]
    if device.chip is None:
        raise LaunchError(f"kernels cannot be compiled for {device.name}; it is too old or too new")
    return device.chip


def _output_view(o: comparison.OutputReport) -> OutputReport:
    first = (o.first, str(o.actual), str(o.expected)) if o.first is not None else (None, "", "")
    return OutputReport(o.name, o.ok, o.max_abs, o.max_rel, o.max_ulp, o.mismatches, o.size, *first)
