"""What a request is about: a kernel of a Python file, or an MLIR module, and its compilation."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from explorer.engine import arguments, reading
from explorer.engine import messages as m
from explorer.engine.configs import filled_in
from explorer.model.paths import is_mlir
from explorer.model.result import ExampleInfo
from explorer.model.settings import CHOICES
from mytriton import backends
from mytriton.compile import compile_kernel
from mytriton.diagnostics import CompileError, Diagnostic, LaunchError
from mytriton.frontend.kernel import Kernel
from mytriton.frontend.module import Module
from mytriton.keys import code_key
from mytriton.options import with_environment
from mytriton.records import dataclass
from mytriton.source import SourceUnit
from mytriton.specialize import Specialization
from mytriton.stage import Compilation, Stage
from mytriton.target import Target

#: Compilations kept, so that what is typed and taken back, and every edit outside the kernel, costs nothing.
_KEPT = 16

#: The code of the warning that nobody said what to compile for.
GUESSED = "MT973"

Units: TypeAlias = Sequence[SourceUnit]


@dataclass(frozen=True, slots=True)
class Subject:
    """What a job is about: a compilation (`kept` from an earlier job), its kernel if it is of one, and the sources that
    its places are in; `passes` are the pipelines of its backend, and `guessed` warns that its types are."""

    name: str
    compilation: Compilation
    kept: bool
    units: Callable[[], Units]
    signature: str = ""
    changed: bool = False
    kernel: Kernel | None = None
    passes: tuple[str, ...] = ()
    guessed: Diagnostic | None = None

    def beside(self, stage: Stage) -> tuple[Diagnostic, ...]:
        """What is to be said of a stage that it does not say itself: of the source that types were guessed, of the last
        one what a backend without stages of its own refuses."""
        if stage.name == "source" and self.guessed is not None:
            return (self.guessed,)
        if stage.ok and stage.name == self.compilation.planned[-1]:
            failed = self.compilation.run().failed
            return failed.diagnostics if failed is not None and failed.name not in self.compilation.planned else ()
        return ()


class Subjects:
    """Those of the jobs of a child; compilations are kept from one to the next."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Any, Compilation] = OrderedDict()
        self._module: tuple[Any, Module] | None = None

    def of(self, job: m.CompileJob, backend: str) -> Subject:
        """What a job is about; raises `CompileError` if the text does not say."""
        return self._module_of(job) if is_mlir(job.request.path) else self._kernel_of(job, backend)

    def _module_of(self, job: m.CompileJob) -> Subject:
        from explorer.engine import mlir_files  # which kernels do without, as in `compiling`

        request = job.request
        info = mlir_files.module_info(request.text, request.path).kernel(request.kernel)
        key = (
            "mlir",
            request.path,
            request.text,
            request.pipelines.get("mlir"),
            request.schedule,
            request.schedule_text,
        )
        compilation, kept = self._keep(key, lambda: mlir_files.run(request))
        name = info.name if info is not None else Path(request.path).stem
        return Subject(name, compilation, kept, lambda: compilation.units, mlir_files.signature(info))

    def _kernel_of(self, job: m.CompileJob, backend: str) -> Subject:
        module = self._read(job)
        kernel = reading.choose_kernel(module, job.request.kernel)
        job = filled_in(kernel, job)
        specialization, guessed = self._specialization(kernel, job)
        target = _target(job, backend)
        compilation, kept = self._compilation(kernel, specialization, target)
        return Subject(
            kernel.name,
            compilation,
            kept,
            lambda: _units(module, kernel, compilation),
            arguments.signature_text(kernel, specialization),
            bool(job.executed) and reading.changed_outside(job.executed, job.request.text, module),
            kernel,
            tuple(pipeline for _, pipeline in backends.get(backend).passes(target)),
            guessed,
        )

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
        serves as well, since nothing that is compiled depends on the place, but for the lines in a profiler's build."""
        module = self._module[1] if self._module is not None and target.line_info else None
        place = tuple(k.unit.first_line for k in module.kernels) if module is not None else ()
        key = (code_key(kernel), specialization.key, target, place)
        like = next((c for other, c in self._kept.items() if other[:2] == key[:2]), None)
        return self._keep(key, lambda: compile_kernel(kernel, specialization, target, like=like))

    def _keep(self, key: Any, make: Callable[[], Compilation]) -> tuple[Compilation, bool]:
        """The compilation that is kept under a key, made if there is none, and whether there was."""
        found = self._kept.pop(key, None)
        self._kept[key] = compilation = found or make()
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return compilation, found is not None


def _units(module: Module, kernel: Kernel, compilation: Compilation) -> Units:
    """The sources of a compilation at the places where they stand now, if it was made of an earlier text."""
    now = {(k.unit.path, k.unit.text): k.unit for k in module.kernels}
    return (kernel.unit, *(now.get((u.path, u.text), u) for u in compilation.units[1:]))


def _target(job: m.CompileJob, backend: str) -> Target:
    request, example = job.request, job.example or ExampleInfo("")
    options = {**{name: v for name, v in example.options.items() if name in CHOICES}, **request.options}
    warps = request.num_warps or example.num_warps or 4
    given = with_environment({"backend": backend, **options})
    return Target(chip=request.chip, num_warps=warps, **given, mlir_passes=request.pipelines.get(backend))
