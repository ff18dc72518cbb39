"""Checks an example, and puts the compiler's report in plain words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from explorer.engine.messages import RunRequest
from explorer.engine.plain import to_plain
from explorer.engine.views import diagnostic_view, place
from explorer.model.measured import BenchView, TrialView, TuningView
from explorer.model.result import DiagnosticView, OutputReport, RunReport, StepView
from mytriton import check, comparison
from mytriton.backends.nvidia.device import probe
from mytriton.bench import bench_example, tune_example
from mytriton.decorated import Decorated
from mytriton.diagnostics import CompileError, LaunchError
from mytriton.examples import ExampleCase
from mytriton.launch import JITFunction
from mytriton.locate import Step, locate
from mytriton.running import Progress, device_name
from mytriton.target import Target

_GPU = ("cuda", "mlir")


def diagnosed(error: CompileError, path: str) -> tuple[DiagnosticView, ...]:
    """The findings of a compilation that failed."""
    return tuple(diagnostic_view(d, error.units, path) for d in error.diagnostics)


def checked(kernel: JITFunction, case: ExampleCase, request: RunRequest, backend: str, progress: Progress) -> RunReport:
    """Run a case on a backend and compare its outputs; raises what compiling and launching raise."""
    report = check.check_example(kernel, case, _target(request, backend), progress)
    found, compilation = report.origin, report.compilation
    return RunReport(
        report.ok,
        report.backend,
        report.device,
        outputs=tuple(output_view(o) for o in report.outputs),
        seconds=report.seconds,
        reference=report.reference,
        message=_not_outputs(report.outputs),
        origin=str(found) if found is not None else "",
        origin_line=place(found.span, compilation.units, request.path)[0] if found is not None else None,
        chip=compilation.target.chip if backend in _GPU else "",
        num_warps=compilation.target.num_warps,
        constexprs={name: to_plain(value) for name, value in compilation.specialization.constexprs},
    )


def benched(kernel: JITFunction, case: ExampleCase, request: RunRequest, backend: str, progress: Progress) -> BenchView:
    """Time a case on a backend; raises what compiling and launching raise."""
    target = _target(request, backend)
    found = bench_example(kernel, case, target, seconds=request.seconds, progress=progress)
    samples, work, peak = found.samples, found.work, found.peak
    return BenchView(
        median=samples.median,
        p10=samples.quantile(0.1),
        q1=samples.quantile(0.25),
        q3=samples.quantile(0.75),
        p90=samples.quantile(0.9),
        runs=len(samples.seconds),
        clock=samples.clock,
        read=work.read,
        written=work.written,
        flops=dict(work.flops),
        programs=work.programs,
        counted=work.counted,
        reason=work.reason,
        peak_bandwidth=peak.bandwidth,
        peak_flops=found.peak_flops or 0.0,
        peak=peak.source,
        cache=found.cache,
    )


def tuned(kernel: JITFunction, case: ExampleCase, request: RunRequest, backend: str, progress: Progress) -> RunReport:
    """Measure all configs of an autotuned kernel; raises what compiling and launching raise."""
    found = tune_example(kernel, case, _target(request, backend), progress=progress)
    trials = []
    for trial in found.trials:
        values = {name: to_plain(value) for name, value in trial.config.all_kwargs().items()}
        median, p20, p80 = (0.0 if trial.error else ms / 1e3 for ms in trial.milliseconds)
        trials.append(TrialView(values, median, p20, p80, trial.error))
    best = found.trials.index(found.best) if found.best is not None else None
    configs = len(kernel.tuner.configs) if isinstance(kernel, Decorated) and kernel.tuner is not None else len(trials)
    view = TuningView(tuple(map(to_plain, found.key)), tuple(trials), best, configs, found.seconds)
    message = "" if best is not None else "none of its configs compiles"
    return RunReport(best is not None, backend, device_name(backend), message=message, tuning=view)


def _target(request: RunRequest, backend: str) -> Target:
    chip = _chip_here() if backend in _GPU else request.chip
    return Target(backend, chip, mlir_passes=request.pipelines.get(backend))


def located(
    kernel: JITFunction,
    case: ExampleCase,
    request: RunRequest,
    backend: str,
    listener: Callable[[Step], None],
    progress: Progress,
) -> RunReport:
    """Run a case after every stage and find the first that differs; raises what compiling and launching raise."""
    found = locate(kernel, case, _target(request, backend), listener, progress)
    steps = [StepView(step.stage, step.ok, _step_text(step)) for step in found.steps]
    if found.origin is not None:
        lines = place(found.origin.span, found.units, request.path)
        steps[-1] = replace(steps[-1], text=f"{steps[-1].text}; written by {found.origin}", line=lines[0])
    last = found.steps[-1]
    views = tuple(output_view(o) for o in last.outputs)
    reference = "NumPy" if found.has_reference else "the first stage"
    return RunReport(
        found.culprit is None,
        backend,
        outputs=views,
        reference=reference,
        steps=tuple(steps),
        message=_not_outputs(last.outputs),
    )


def _not_outputs(outputs: Sequence[comparison.OutputReport]) -> str:
    """Which arrays should not have changed."""
    changed = [o.name for o in outputs if not o.is_output]
    return f"{', '.join(changed)} should not have changed, not being in `expected`" if changed else ""


def _step_text(step: Step) -> str:
    wrong = next((o for o in step.outputs if not o.ok), None)
    if wrong is None:
        return step.error or step.reason
    first = ", ".join(map(str, wrong.first or ()))
    count = f"{wrong.mismatches} of {wrong.size} differ"
    return f"{wrong.name}[{first}] is {wrong.actual}, expected {wrong.expected}; {count}"


def _chip_here() -> str:
    """A kernel that is run is compiled for the GPU there is, whatever chip is being looked at."""
    device = probe().devices[0]
    if device.chip is None:
        raise LaunchError(f"kernels cannot be compiled for {device.name}; it is too old or too new")
    return device.chip


def output_view(o: comparison.OutputReport) -> OutputReport:
    """A comparison as it is sent."""
    first = (o.first, str(o.actual), str(o.expected)) if o.first is not None else (None, "", "")
    view = OutputReport(o.name, o.ok, o.max_abs, o.max_rel, o.max_ulp, o.mismatches, o.size, *first)
    return replace(view, nans=o.nans, infinities=o.infinities, pattern=o.pattern, picture=o.picture)
