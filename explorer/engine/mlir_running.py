"""Runs a function of an MLIR file on generated arguments, and compares what its passes made of it with what it was."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from explorer.engine import messages as m
from explorer.engine import mlir_files
from explorer.engine.reporting import diagnosed, output_view
from explorer.engine.views import diagnostic_view
from explorer.model.measured import BenchView, StepView
from explorer.model.result import KernelInfo, RunReport
from explorer.model.units import seconds_text
from mytriton.diagnostics import CompileError, MytritonError
from mytriton.mlir.bounds import OutOfBounds
from mytriton.mlir.module import READ, Module, Run, parse
from mytriton.mlir.trial import Caller, Result, callable_module, compared
from mytriton.running import device_name
from mytriton.testing import WallClock, measure

#: What a function is compared with.
REFERENCE = "the module without the passes"


def run(request: m.RunRequest, enter: Callable[[str, str], None]) -> RunReport:
    """Run the function that a request names; `enter` is told a stage and what is done ("running saxpy")."""
    info = mlir_files.module_info(request.text, request.path).kernel(request.kernel)
    if info is None:
        hint = "a func.func with a body that is not private"
        return RunReport(False, "cpu", message=f"there is no function to run in the file: {hint}")
    report = RunReport(False, "cpu", device_name("cpu"), info.name, info.called(0, _values(request)))
    try:
        return _run(request, info, report, enter)
    except OutOfBounds as error:
        found = (diagnostic_view(error.diagnostic, (error.unit,), request.path),)
        return replace(report, message="an access is out of bounds", diagnostics=found, began=True)
    except CompileError as error:
        return RunReport(
            False, "cpu", kernel=info.name, message="it does not compile", diagnostics=diagnosed(error, request.path)
        )
    except MytritonError as error:
        return RunReport(False, "cpu", kernel=info.name, example=report.example, message=str(error))


def _values(request: m.RunRequest) -> dict[str, Any]:
    return {**request.values, **request.defines}


def _run(request: m.RunRequest, info: KernelInfo, report: RunReport, enter: Callable[[str, str], None]) -> RunReport:
    enter("mlir/parse", f"reading {os.path.basename(request.path)}")
    module = callable_module(parse(request.text, request.path))
    values = {**info.examples[0].values, **_values(request)}
    caller = Caller(module, info.name, [p.name for p in info.params])
    enter("run", f"compiling {info.name} without the passes")
    reference = caller.library()
    enter("run", f"running {info.name} with its accesses checked")
    caller.verify(values)
    enter("run", f"running {info.name} without the passes")
    expected = caller.call(reference, values)
    passes = module.run(mlir_files.passes(request), mlir_files.schedule(request))
    if request.every_stage:
        return replace(report, **_located(passes, caller, values, expected, enter), reference=REFERENCE)
    for name in passes.planned:
        enter(name, f"running stage '{name}'")
        passes.run(name)
    enter("run", f"compiling {info.name} after the passes")
    made = caller.library(passes.result)
    enter("run", f"running {info.name} after the passes")
    found = caller.call(made, values)
    outputs = tuple(map(output_view, compared(found, expected)))
    ok = all(o.ok for o in outputs)
    note = f"{seconds_text(expected.seconds)} without the passes"
    report = replace(report, ok=ok, outputs=outputs, seconds=found.seconds, reference=REFERENCE, note=note)
    if not request.bench:
        return report
    enter("run", f"benching {info.name}")
    before, after = (_bench(caller.bound(each, values)[1], request.seconds / 2) for each in (reference, made))
    note = f"{before.median / after.median:.3g} x as fast as without the passes ({seconds_text(before.median)})"
    return replace(report, bench=after, note=note)


def _bench(call: Callable[[], Any], seconds: float) -> BenchView:
    samples = measure(call, WallClock(), budget=seconds)
    p10, q1, q3, p90 = (samples.quantile(q) for q in (0.1, 0.25, 0.75, 0.9))
    reason = "what a function of an MLIR file has to do is not counted"
    return BenchView(samples.median, p10, q1, q3, p90, len(samples.seconds), samples.clock, reason=reason)


def _located(
    passes: Run, caller: Caller, values: dict[str, Any], expected: Result, enter: Callable[[str, str], None]
) -> dict[str, Any]:
    """What each stage makes of the function, up to the first that makes it something else."""
    steps: list[StepView] = []
    outputs: tuple[Any, ...] = ()
    for name in passes.planned[len(READ) :]:
        enter(name, f"running stage '{name}'")
        passes.run(name)
        passes.raise_if_failed()
        enter("run", f"running {caller.signature.name} after stage '{name}'")
        try:
            found = caller.call(caller.library(Module(passes.units[0], passes.bytecode)), values)
        except MytritonError as error:  # half lowered, in a way that `LOWERING` does not go on from
            steps.append(StepView(name, True, f"cannot be run here: {str(error).splitlines()[0]}"))
            continue
        reports = compared(found, expected)
        outputs = tuple(map(output_view, reports))
        wrong = next((o for o in reports if not o.ok), None)
        steps.append(StepView(name, wrong is None, str(wrong) if wrong is not None else ""))
        if wrong is not None:
            return {"ok": False, "outputs": outputs, "steps": tuple(steps)}
    return {"ok": True, "outputs": outputs, "steps": tuple(steps)}
