"""The runner child: executes the user's file, builds examples, runs and checks them."""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from explorer.engine import messages as m
from explorer.engine import reading
from explorer.engine.child import Abandoned, Channel
from explorer.engine.loading import Loaded, LoadFailed, described, load, print_own_frames
from explorer.engine.redefining import Redefined, in_config, info, with_values
from explorer.engine.reporting import benched, checked, diagnosed, located, tuned
from explorer.engine.views import place
from explorer.model.paths import is_mlir
from explorer.model.result import ExampleInfo, ModuleInfo, RunReport
from mytriton import backends
from mytriton.diagnostics import CompileError, MytritonError, Stopped
from mytriton.examples import ExampleCase
from mytriton.launch import JITFunction
from mytriton.locate import Step
from mytriton.stage import Clock

_GPU = ("cuda", "mlir")
#: What runs instead where a backend cannot: machine code, else (no MLIR for this machine) the interpreter.
_FALLBACK = ("cpu", "interp")


class Worker:
    """Holds the file as it was executed last. After a fault on the GPU the process is worn out: nothing on the device
    can be trusted any more."""

    def __init__(self, channel: Channel) -> None:
        self.worn_out = False
        self._channel = channel
        self._loaded: Loaded | None = None

    def warm_up(self) -> Iterator[None]:
        """Load what every file and check needs."""
        for name in ("numpy", "ml_dtypes", "mytriton.check", "mytriton.frontend.lower"):
            importlib.import_module(name)
            yield

    def handle(self, job: Any) -> None:
        """Do one job and send its answer."""
        if isinstance(job, m.LoadJob):
            self._channel.send(m.ModuleRead(job.generation, self._load(job)))
        elif isinstance(job, m.DescribeJob):
            info = self._describe(job)
            self._channel.send(m.Described(job.generation, job.kernel, job.example, info, job.values, job.config))
        else:
            run = self._run_module if is_mlir(job.request.path) else self._run
            self._channel.send(m.RunFinished(job.generation, run(job.request)))

    # Loading

    def _load(self, job: m.LoadJob) -> ModuleInfo:
        self._channel.enter("import", f"reading {job.path}")
        read = reading.module_info(job.text, job.path)
        if read.diagnostics:
            return read
        with Clock() as clock:
            try:
                loaded = self._execute(job.path, job.text)
            except LoadFailed as failure:
                return replace(read, diagnostics=(failure.finding,))
        kernels = tuple(
            replace(k, examples=loaded.examples(k.name), tuned=loaded.tuned(k.name), configs=loaded.configs(k.name))
            for k in read.kernels
        )
        return replace(read, kernels=kernels, executed=True, seconds=clock.seconds, names=loaded.names(), text=job.text)

    def _execute(self, path: str, text: str) -> Loaded:
        self._loaded = None
        self._channel.enter("import", f"importing {Path(path).name}")
        self._loaded = load(path, text)
        return self._loaded

    def _at_hand(self, path: str, text: str) -> Loaded:
        loaded = self._loaded
        if loaded is not None and (loaded.path, loaded.text) == (path, text):
            return loaded
        reading.read(text, path)  # a mistake in what is being typed is told as the compiler tells it
        return self._execute(path, text)

    # Examples

    def _describe(self, job: m.DescribeJob) -> ExampleInfo:
        """Types, constexprs and grid of an example, from its inputs."""
        label = ""
        try:
            kernel = self._at_hand(job.path, job.text).kernel(job.kernel)
            if kernel is None or job.example >= len(kernel.examples):
                return ExampleInfo("", error="the file has no such example when it is executed")
            case = kernel.examples[job.example]
            case = in_config(kernel, with_values(case, job.values), job.config)
            label = case.label
            self._channel.enter("inputs", f"building the inputs of {label}")
            return info(kernel, case, case.build())
        except (LoadFailed, MytritonError) as error:
            return ExampleInfo(label, error=str(error))
        except Abandoned:
            raise
        except BaseException as error:  # noqa: BLE001 (the author's function may raise anything)
            return ExampleInfo(label, error=described(error))

    # Running

    def _run(self, request: m.RunRequest) -> RunReport:
        report = RunReport(False, request.backend, kernel=request.kernel or "")
        try:
            kernel = self._at_hand(request.path, request.text).kernel(request.kernel)
            if kernel is None:
                return replace(report, message=f"there is no kernel {request.kernel or ''!r} in the executed file")
            report = replace(report, kernel=kernel.name)
            if not 0 <= request.example < len(kernel.examples):
                hint = f"declare an example with @{kernel.name}.example"
                return replace(report, message=f"{kernel.name} has no example to run; {hint}")
            return self._check(kernel, request, report)
        except LoadFailed as failure:
            return replace(report, message="the file cannot be executed", diagnostics=(failure.finding,))
        except CompileError as error:
            return replace(report, message="it does not compile", diagnostics=diagnosed(error, request.path))
        except MytritonError as error:
            return replace(report, message=str(error))
        except Abandoned:
            raise
        except BaseException as error:  # noqa: BLE001 (the author's function or the device may raise anything)
            self.worn_out = report.backend in _GPU
            print_own_frames(error, request.path)
            return replace(report, message=described(error))

    def _run_module(self, request: m.RunRequest) -> RunReport:
        from explorer.engine import mlir_running  # which kernels do without

        return mlir_running.run(request, self._channel.enter)

    def _after(self, step: Step) -> None:
        self._channel.enter("run", f"running the example after stage '{step.stage}'")

    def _check(self, kernel: JITFunction, request: m.RunRequest, report: RunReport) -> RunReport:
        backend, note = request.backend, ""
        reason = backends.get(backend).available()
        if reason is not None:
            backend = next((b for b in _FALLBACK if request.fallback and not backends.get(b).available()), "")
            if not backend:
                return replace(report, message=reason, unavailable=True)
            note = f"ran on the {backend} backend, not on {request.backend}: {reason}"
        again = Redefined(kernel, request, in_config(kernel, kernel.examples[request.example], request.config))
        try:
            found = self._launch(kernel, again.case, request, backend)
        except Stopped as stopped:
            line = place(stopped.span, stopped.units, request.path)[0]
            found = RunReport(False, backend, message=str(stopped), began=True, line=line)
        notes = "; ".join(text for text in (note, again.note) if text)
        return replace(found, kernel=kernel.name, example=again.case.label, note=notes)

    def _launch(self, kernel: JITFunction, case: ExampleCase, request: m.RunRequest, backend: str) -> RunReport:
        told = f"{kernel.name}, {case.label}, on backend {backend}"
        if request.tune:
            return tuned(kernel, case, request, backend, Told(self._channel, f"tuning {told}", backend))
        running = Told(self._channel, f"running {told}", backend)
        if request.every_stage:
            return located(kernel, case, request, backend, self._after, running)
        found = checked(kernel, case, request, backend, running)
        if not request.bench:
            return found
        progress = Told(self._channel, f"benching {told}", backend)
        try:
            return replace(found, bench=benched(kernel, case, request, backend, progress))
        except MytritonError as error:  # launched again on what it made of its arrays: the check stands
            return replace(found, message=f"the bench failed: {error}")


#: Seconds between two words about how far a run has got.
_TELL_EVERY = 0.25


class Told:
    """Passes on how far something has got, not too often; raises `Abandoned` once nobody wants it any more."""

    def __init__(self, channel: Channel, doing: str, backend: str) -> None:
        self._channel, self._doing, self._backend = channel, doing, backend
        self._next = 0.0
        channel.enter("run", doing, backend)

    def __call__(self, what: str, done: int, total: int) -> None:
        """`done` of `total`."""
        self._channel.wanted()
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _TELL_EVERY
            self._channel.enter("run", self._doing, self._backend, f"{done} of {total} {what}")
