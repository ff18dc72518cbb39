"""The compiler and tools children: source text to stages. The user's module is never imported here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from explorer.engine import arguments, reading
from explorer.engine import messages as m
from explorer.engine.child import Channel
from explorer.engine.plain import from_plain
from explorer.engine.subjects import Subject, Subjects, Units
from explorer.engine.views import diagnostic_view, operation_view, stage_view
from explorer.model.paths import is_mlir
from explorer.model.result import LineView, ModuleInfo, StageView
from mytriton.backends.mlir.run import prepare
from mytriton.compile import compile_kernel, source_stage
from mytriton.diagnostics import CompileError, Diagnostic, MytritonError
from mytriton.reproducer import Reproducer, reproducer
from mytriton.stage import Stage
from mytriton.target import Target

_WARM_TEXT = """\
import mytriton
import mytriton.language as tl

@mytriton.jit
def warm(x: "*fp32", n: "i32", BLOCK: tl.constexpr = 256):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n, other=0.0) + 1.0, mask=at < n)
"""


class Worker:
    """Reads and compiles texts. Stages are sent one by one; before each, the client is told what is entered."""

    worn_out = False

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._subjects = Subjects()
        self._pending: list[tuple[str, Stage, Callable[[], StageView]]] = []

    def warm_up(self) -> Iterator[None]:
        """Load each backend's libraries by compiling a small kernel, up to the stages that are slow."""
        (kernel,) = reading.read(_WARM_TEXT, "warm.py").kernels
        specialization = arguments.choose(kernel, {}, "", None)
        for backend in ("cuda", "mlir", "cpu"):
            compilation = compile_kernel(kernel, specialization, Target(backend))
            for name in compilation.planned:
                if name in m.SLOW_STAGES:
                    break
                compilation.run(name)
                yield

    def handle(self, job: m.ReadJob | m.CompileJob | m.ListJob | m.ReproduceJob | m.QueryJob | m.PassesJob) -> None:
        """Do one job; its answers are sent as they are known."""
        if isinstance(job, m.ReadJob):
            self._channel.enter("source", f"reading {job.path}")
            self._channel.send(m.ModuleRead(job.generation, _read(job)))
            return
        if isinstance(job, m.PassesJob):
            self._channel.enter("passes", "listing the passes there are")
            from explorer.engine import mlir_files

            self._channel.send(mlir_files.known(job.generation))
            return
        if isinstance(job, m.QueryJob):
            self._channel.send(self._query(job))
            return
        if isinstance(job, m.ListJob):
            self._list(job)
            return
        if isinstance(job, m.ReproduceJob):
            self._channel.send(self._reproduce(job))
            return
        self._pending.clear()
        # All backends get as far as their source text, which takes milliseconds, before one goes on to the rest.
        compilations = [self._compile(job, backend) for backend in job.request.backends]
        for compilation in compilations:
            next(compilation, None)
        for compilation in compilations:
            for _ in compilation:
                pass
        for backend, stage, view in self._pending:
            self._channel.enter(stage.name, f"listing stage '{stage.name}'", backend)
            self._channel.send(m.StageFinished(job.generation, backend, view()))
        prepare()  # while what was made is looked at

    def _compile(self, job: m.CompileJob, backend: str) -> Iterator[None]:
        """Compile for one backend; pauses once, when the source text is made."""
        request, send = job.request, self._channel.send
        self._channel.enter("source", "running stage 'source'", backend)
        try:
            about = self._subjects.of(job, backend)
        except CompileError as error:
            if not job.slow:
                send(m.CompileStarted(job.generation, backend, request.kernel or "", ("source",)))
                send(m.StageFinished(job.generation, backend, _unreadable(request, error)))
            send(m.CompileFinished(job.generation, backend, False, slow=job.slow))
            return
        compilation, warps = about.compilation, about.compilation.target.num_warps
        planned, passes = compilation.planned, about.passes
        if not job.slow:
            started = m.CompileStarted(job.generation, backend, about.name, planned, about.signature, warps)
            send(replace(started, module_changed=about.changed, passes=passes))
        already = len(compilation.stages) if about.kept else 0
        yield from self._run(job, backend, about, already)
        ok = compilation.failed is None
        seconds = sum(stage.seconds for stage in compilation.stages[already:])
        send(m.CompileFinished(job.generation, backend, ok, round(seconds * 1e3, 3), job.slow))

    def _list(self, job: m.ListJob) -> None:
        """Send stages with their lines; they are known to be good."""
        (backend,), path = job.compile.request.backends, job.compile.request.path
        about = self._subjects.of(job.compile, backend)
        for name in job.stages:
            self._channel.enter(name, f"listing stage '{name}'", backend)
            about.compilation.run(name)
            for stage in about.compilation.stages:
                if stage.name == name:
                    self._channel.send(
                        m.StageFinished(job.generation, backend, _view(stage, about.units(), path, False))
                    )

    def _reproduce(self, job: m.ReproduceJob) -> m.Reproduced:
        backend = job.compile.request.backends[0]
        self._channel.enter("reproducer", f"writing a reproducer of stage '{job.stage}'", backend)
        answer = m.Reproduced(job.generation, job.stage, job.folder)
        try:
            made = self._reproducer(job, self._subjects.of(job.compile, backend))
            shown = made.write(Path(job.folder))
        except FileExistsError:
            return replace(answer, error=f"{job.folder} is there already; nothing is overwritten: name another folder")
        except (MytritonError, OSError) as error:
            return replace(answer, error=str(error))
        return replace(answer, stage=made.stage, command=shown, files=("README.txt", *made.files))

    def _reproducer(self, job: m.ReproduceJob, about: Subject) -> Reproducer:
        if about.kernel is None:
            from mytriton import mlir

            assert isinstance(about.compilation, mlir.Run)
            return mlir.reproducer(about.compilation, job.stage, job.error)
        known = {name: from_plain(value) for name, value in job.compile.names.items()}
        return reproducer(about.compilation, about.kernel, job.stage, text=job.text, known=known, error=job.error)

    def _query(self, job: m.QueryJob) -> m.Answered:
        """The operations of a kernel, or of what passes leave of an MLIR file, that a question is about."""
        from mytriton import mlir

        request = job.compile.request
        self._channel.enter("query", f"looking for {job.question}")
        answer = m.Answered(job.generation, job.question)
        try:
            about = self._subjects.of(job.compile, request.backends[0])
            compilation, stage = about.compilation, job.stage
            if isinstance(compilation, mlir.Run) and not stage:
                stage = compilation.planned[len(mlir.READ) + len(compilation.steps) - 1]
            found = mlir.query(compilation, job.question, stage, about.units())
            among = 0 if found else len(mlir.query(compilation, "*", stage))
        except MytritonError as error:
            return replace(answer, error=str(error))
        shown = tuple(operation_view(o, request.path) for o in found)
        return replace(answer, operations=shown, among=among, stage=stage)

    def _run(self, job: m.CompileJob, backend: str, about: Subject, already: int) -> Iterator[None]:
        compilation = about.compilation
        source = source_stage(compilation.planned)
        sent = 0
        for name in _through(compilation.planned, job.request.until):
            slow = name in m.SLOW_STAGES
            if slow and not (job.slow and name in job.request.wanted):
                if not job.slow:
                    break
                continue
            self._channel.enter(name, f"running stage '{name}'", backend)
            compilation.run(name)
            stages = compilation.stages
            end = next((i + 1 for i, stage in enumerate(stages) if stage.name == name), len(stages))
            for index in range(sent, end):
                stage = stages[index]
                asked = not job.slow or stage.name in job.request.wanted or not stage.ok
                if asked and (stage.name in m.SLOW_STAGES) == job.slow:
                    self._send(job, backend, stage, about, index < already)
            sent = end
            if compilation.failed is not None and sent == len(stages):
                return
            if name == source and not job.slow:
                yield

    def _send(self, job: m.CompileJob, backend: str, stage: Stage, about: Subject, cached: bool) -> None:
        """Send a stage; one that nobody looks at first without its lines, if these have to be made."""
        path, shown, units = job.request.path, job.request.shown, about.units()
        # MLIR keeps bytecode and prints from it, LLVM IR too; what was emitted is text already.
        is_text = stage.kind == "text" and (stage.language not in ("mlir", "llvm") or stage.name.endswith("/emit"))
        later = stage.ok and not is_text and shown is not None and stage.name not in shown
        more = tuple(diagnostic_view(finding, units, path) for finding in about.beside(stage))

        def view(pending: bool) -> StageView:
            made = _view(stage, units, path, cached, pending)
            return replace(made, diagnostics=(*made.diagnostics, *more))

        if later:
            self._pending.append((backend, stage, lambda: view(False)))
        # What is entered next follows.
        self._channel.send(m.StageFinished(job.generation, backend, view(later)), hold=True)


def _read(job: m.ReadJob) -> ModuleInfo:
    if not is_mlir(job.path):
        return reading.module_info(job.text, job.path)
    from explorer.engine import mlir_files

    return mlir_files.module_info(job.text, job.path)


def _through(planned: Sequence[str], until: str) -> Sequence[str]:
    """The stages through the one called `until`, or the last of that family; all of them if there is none."""
    matching = [n for n in planned if n == until] or [n for n in planned if n.split("/")[0] == until]
    return planned[: planned.index(matching[-1]) + 1] if matching else planned


def _view(stage: Stage, units: Units, path: str, cached: bool, pending: bool = False) -> StageView:
    try:
        return stage_view(stage, units, path, cached, pending)
    except Exception as error:  # noqa: BLE001 (a listing that cannot be printed is a fault of ours, in one stage)
        message = f"internal error while listing stage {stage.name!r}: {type(error).__name__}: {error}"
        finding = diagnostic_view(Diagnostic("MT999", message, stage=stage.name), units, path)
        return StageView(stage.name, stage.kind, stage.language, "failed", diagnostics=(finding,))


def _unreadable(request: m.CompileRequest, error: CompileError) -> StageView:
    findings = tuple(
        replace(diagnostic_view(d, error.units, request.path), path=request.path) for d in error.diagnostics
    )
    lines = tuple(
        LineView(text, number, 1, number, len(text) + 1) for number, text in enumerate(request.text.split("\n"), 1)
    )
    return StageView("source", "source", "python", "failed", lines=lines, diagnostics=findings)
