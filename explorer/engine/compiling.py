"""The compiler and tools children: source text to stages. The user's module is never imported here."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from explorer.engine import arguments, reading
from explorer.engine import messages as m
from explorer.engine.child import Channel
from explorer.engine.configs import filled_in
from explorer.engine.plain import from_plain
from explorer.engine.views import diagnostic_view, stage_view
from explorer.model.result import ExampleInfo, LineView, StageView
from explorer.model.settings import CHOICES
from mytriton.backends.mlir.run import prepare
from mytriton.compile import compile_kernel, source_stage
from mytriton.diagnostics import CompileError, Diagnostic, LaunchError, MytritonError
from mytriton.frontend.kernel import Kernel
from mytriton.frontend.module import Module
from mytriton.keys import code_key
from mytriton.reproducer import reproducer
from mytriton.source import SourceUnit
from mytriton.specialize import Specialization
from mytriton.stage import Compilation, Stage
from mytriton.target import Target

#: Compilations kept, so that what is typed and taken back, and every edit outside the kernel, costs nothing.
_KEPT = 16

#: The code of the warning that nobody said what to compile for.
GUESSED = "MT973"

Units = Sequence[SourceUnit]

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
        self._kept: OrderedDict[Any, Compilation] = OrderedDict()
        self._module: tuple[Any, Module] | None = None
        self._guessed: Diagnostic | None = None
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

    def handle(self, job: m.ReadJob | m.CompileJob | m.ListJob | m.ReproduceJob) -> None:
        """Do one job; its answers are sent as they are known."""
        if isinstance(job, m.ReadJob):
            self._channel.enter("source", f"reading {job.path}")
            self._channel.send(m.ModuleRead(job.generation, reading.module_info(job.text, job.path)))
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
            module = self._read(job)
            kernel = reading.choose_kernel(module, request.kernel)
            job = filled_in(kernel, job)
            specialization, self._guessed = self._specialization(kernel, job)
        except CompileError as error:
            if not job.slow:
                send(m.CompileStarted(job.generation, backend, request.kernel or "", ("source",)))
                send(m.StageFinished(job.generation, backend, _unreadable(request, error)))
            send(m.CompileFinished(job.generation, backend, False, slow=job.slow))
            return
        target = _target(job, backend)
        num_warps = target.num_warps
        compilation, cached = self._compilation(kernel, specialization, target)
        if not job.slow:
            signature = arguments.signature_text(kernel, specialization)
            changed = bool(job.executed) and reading.changed_outside(job.executed, request.text, module)
            planned = compilation.planned
            send(m.CompileStarted(job.generation, backend, kernel.name, planned, signature, num_warps, changed))
        already = len(compilation.stages) if cached else 0
        yield from self._run(job, backend, kernel, compilation, already)
        ok = compilation.failed is None
        seconds = sum(stage.seconds for stage in compilation.stages[already:])
        send(m.CompileFinished(job.generation, backend, ok, round(seconds * 1e3, 3), job.slow))

    def _list(self, job: m.ListJob) -> None:
        """Send stages with their lines; they are known to be good."""
        kernel, compilation = self._prepared(job.compile)
        (backend,), path = job.compile.request.backends, job.compile.request.path
        for name in job.stages:
            self._channel.enter(name, f"listing stage '{name}'", backend)
            compilation.run(name)
            for stage in compilation.stages:
                if stage.name == name:
                    view = _view(stage, self._units(kernel, compilation), path, False)
                    self._channel.send(m.StageFinished(job.generation, backend, view))

    def _reproduce(self, job: m.ReproduceJob) -> m.Reproduced:
        backend = job.compile.request.backends[0]
        self._channel.enter("reproducer", f"writing a reproducer of stage '{job.stage}'", backend)
        answer = m.Reproduced(job.generation, job.stage, job.folder)
        try:
            kernel, compilation = self._prepared(job.compile)
            known = {name: from_plain(value) for name, value in job.compile.names.items()}
            made = reproducer(compilation, kernel, job.stage, text=job.text, known=known, error=job.error)
            shown = made.write(Path(job.folder))
        except FileExistsError:
            return replace(answer, error=f"{job.folder} is there already; nothing is overwritten: name another folder")
        except (MytritonError, OSError) as error:
            return replace(answer, error=str(error))
        return replace(answer, stage=made.stage, command=shown, files=("README.txt", *made.files))

    def _prepared(self, job: m.CompileJob) -> tuple[Kernel, Compilation]:
        """The kernel of a job, and its compilation for the job's first backend."""
        kernel = reading.choose_kernel(self._read(job), job.request.kernel)
        job = filled_in(kernel, job)
        specialization, _ = self._specialization(kernel, job)
        return kernel, self._compilation(kernel, specialization, _target(job, job.request.backends[0]))[0]

    def _read(self, job: m.CompileJob) -> Module:
        # Once for all backends of a job, and again only for another text.
        key = (job.request.path, job.request.text, repr(job.names))
        if self._module is None or self._module[0] != key:
            self._module = key, reading.read(job.request.text, job.request.path, job.names)
        return self._module[1]

    def _specialization(self, kernel: Kernel, job: m.CompileJob) -> tuple[Specialization, Diagnostic | None]:
        """What to compile for, and the warning if that had to be guessed."""
        request = job.request
        try:
            return arguments.choose(kernel, request.defines, request.signature, job.example, request.types), None
        except LaunchError as error:
            if request.signature.strip() or job.example is not None:
                raise CompileError([Diagnostic("MT970", str(error), stage="source")]) from None
        try:
            specialization = arguments.guess(kernel, request.defines, request.types)
        except LaunchError as error:
            raise CompileError([Diagnostic("MT970", str(error), stage="source")]) from None
        message = f"the types are guessed from names and uses: {arguments.signature_text(kernel, specialization)}"
        hint = "give them with --signature, or declare an example"
        return specialization, Diagnostic(GUESSED, message, severity="warning", hint=hint, stage="source")

    def _compilation(self, kernel: Kernel, specialization: Specialization, target: Target) -> tuple[Compilation, bool]:
        """A compilation of the kernel, and whether it was made earlier: one whose text stood elsewhere in the file
        serves as well, since nothing that is compiled depends on the place."""
        key = (code_key(kernel), specialization.key, target)
        found = self._kept.pop(key, None)
        like = next((c for other, c in self._kept.items() if other[:2] == key[:2]), None)
        compilation = found or compile_kernel(kernel, specialization, target, like=like)
        self._kept[key] = compilation
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return compilation, found is not None

    def _run(
        self, job: m.CompileJob, backend: str, kernel: Kernel, compilation: Compilation, already: int
    ) -> Iterator[None]:
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
                if (stage.name in m.SLOW_STAGES) == job.slow:
                    self._send(job, backend, stage, self._units(kernel, compilation), index < already)
            sent = end
            if compilation.failed is not None and sent == len(stages):
                return
            if name == source and not job.slow:
                yield

    def _units(self, kernel: Kernel, compilation: Compilation) -> Units:
        """The sources of a compilation at the places where they stand now, if it was made of an earlier text."""
        assert self._module is not None
        now = {(k.unit.path, k.unit.text): k.unit for k in self._module[1].kernels}
        return (kernel.unit, *(now.get((u.path, u.text), u) for u in compilation.units[1:]))

    def _send(self, job: m.CompileJob, backend: str, stage: Stage, units: Units, cached: bool) -> None:
        """Send a stage; one that nobody looks at first without its lines, if these have to be made."""
        path, shown = job.request.path, job.request.shown
        # MLIR keeps bytecode and prints from it, LLVM IR too; what was emitted is text already.
        is_text = stage.kind == "text" and (stage.language not in ("mlir", "llvm") or stage.name.endswith("/emit"))
        later = stage.ok and not is_text and shown is not None and stage.name not in shown
        if later:
            self._pending.append((backend, stage, lambda: _view(stage, units, path, cached)))
        view = _view(stage, units, path, cached, later)
        if self._guessed is not None and stage.name == "source":
            view = replace(view, diagnostics=(*view.diagnostics, diagnostic_view(self._guessed, units, path)))
        self._channel.send(m.StageFinished(job.generation, backend, view))


def _target(job: m.CompileJob, backend: str) -> Target:
    request, example = job.request, job.example or ExampleInfo("")
    options = {**{name: v for name, v in example.options.items() if name in CHOICES}, **request.options}
    return Target(backend, request.chip, request.num_warps or example.num_warps or 4, **options)


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
