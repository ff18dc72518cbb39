"""A session without a screen: asks an engine, or a bundle, and gathers what comes back."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from explorer.cli import Options
from explorer.engine import messages as m
from explorer.engine.client import SLOW_STAGES, Engine
from explorer.engine.git import NotThere, last_commit
from explorer.given import defines
from explorer.model.configs import numbered
from explorer.model.paths import is_mlir
from explorer.model.pin import Variant
from explorer.model.result import NOT_IMPORTED, DiagnosticView, KernelInfo, ModuleInfo, RunReport
from explorer.model.session import BACKENDS, Session
from explorer.reading import BadInput, is_bundle, unknown
from explorer.share.bundle import NoBundle, read
from explorer.share.record import complete
from explorer.share.replay import ONLY_SHOWN, Replay, restore_runs, restored
from mytriton.stage import FAMILIES
from mytriton.target import CHIPS

T = TypeVar("T")

#: Findings about what was asked for rather than about the kernel (see `engine.compiling` and `engine.reading`).
_WRONG_QUESTION = ("MT970", "MT971", "MT972")

#: A backend that has the stages of a family which not all have.
_BACKEND_WITH = {"layout": "cuda", "ptx": "cuda", "sass": "cuda", "llvm": "mlir", "asm": "cpu"} | {
    name: name for name in ("cuda", "mlir", "cpu")
}


class CannotRun(Exception):
    """The backend cannot run on this machine; a sentence says why, and what can be done."""


class Gathering:
    """What the command line is about, compiled. `session` holds what came of it."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._events: asyncio.Queue[m.Event] = asyncio.Queue()
        bundle = options.bundle
        self.engine: Engine | Replay = (
            Replay(bundle.b, self._events.put_nowait)
            if bundle is not None
            else Engine(self._events.put_nowait, once=True)
        )
        settings = replace(options, example=None).settings()  # the example may be a label: see `select`
        self.session = Session(settings, options.text)
        if bundle is not None:
            self.session.log.extend(bundle.b.log)
            restore_runs(self.session, bundle.b)
            self.session.pinned = restored(bundle.a) if bundle.a is not None else None
        self._at_line_start = True

    async def close(self) -> None:
        """End the children, and pass on their last words."""
        await self.engine.close()
        while not self._events.empty():
            self._pass_on(self._events.get_nowait())
        if not self._at_line_start:
            sys.stderr.write("\n")

    async def _next(self, *kinds: type[T]) -> T:
        """The next event of these kinds; logs are passed on to standard error."""
        while True:
            event: Any = await self._events.get()
            self._pass_on(event)
            if isinstance(event, kinds):
                return event

    def _pass_on(self, event: m.Event) -> None:
        if isinstance(event, m.Log):
            self.session.handle(event)
            sys.stderr.write(event.text)
            self._at_line_start = event.text.endswith("\n") or (not event.text and self._at_line_start)
        elif sys.stderr.isatty() and self._at_line_start and isinstance(event, (m.StillRunning, m.RunFinished)):
            far = f"{event.progress}  {event.seconds:.0f} s" if isinstance(event, m.StillRunning) else ""
            sys.stderr.write(f"\r{far}\x1b[K")  # over what was told before, and nothing at the end
            sys.stderr.flush()

    # The file

    async def open(self) -> ModuleInfo:
        """What is in the file; raises `BadInput` if no kernel is."""
        options = self.options
        generation = self.engine.open(options.path, options.text, options.execute)
        self.session.opened(generation)
        while True:
            event = await self._next(m.ModuleRead)
            self.session.handle(event)
            module = event.module
            errors = [d for d in module.diagnostics if d.severity == "error"]
            not_imported = [d for d in module.diagnostics if d.code == NOT_IMPORTED]
            if module.executed or errors or not_imported or not options.execute or options.bundle is not None:
                break  # else it was read while it is still being executed
        for finding in not_imported:
            print(finding_text(finding), file=sys.stderr)
        if errors and options.bundle is None:
            raise BadInput(f"{options.path} cannot be used\n" + "\n".join(map(finding_text, errors)))
        if not module.kernels and options.bundle is None and not is_mlir(options.path):
            raise BadInput(f"{options.path} has no kernel in it; a kernel is a function decorated with @jit")
        return module

    def kernel(self, module: ModuleInfo) -> KernelInfo:
        """The kernel of `--kernel`, or the only one."""
        name = self.options.kernel
        found = module.kernel(name)
        if found is None and self.options.bundle is not None:  # of a file that could not be read
            return KernelInfo(name or "", 1)
        if is_mlir(self.options.path) and (found or name is None):  # it is compiled as a whole
            return found or KernelInfo("", 1)
        if found is None:
            what = "function" if is_mlir(self.options.path) else "kernel"
            raise unknown(what, name or "", [k.name for k in module.kernels])
        names = [k.name for k in module.kernels if not k.helper]
        if name is None and len(names) > 1:
            raise BadInput(f"{self.options.path} has several kernels: {', '.join(names)}; choose one with --kernel")
        return found

    def examples(self, kernel: KernelInfo) -> Sequence[int]:
        """The examples asked for: the one of `--example`, else all."""
        wanted, labels = self.options.example, [e.label for e in kernel.examples]
        if self.options.bundle is not None:
            return [self.options.bundle.b.example]
        if wanted is None:
            return range(len(labels))
        if wanted in labels:
            return [labels.index(wanted)]
        if wanted.isdigit() and int(wanted) < len(labels):
            return [int(wanted)]
        if not labels:
            raise BadInput(f"{kernel.name} has no examples; declare one with @{kernel.name}.example")
        raise unknown("example", wanted, [f"{i} ({label})" for i, label in enumerate(labels)])

    def example(self, kernel: KernelInfo) -> int:
        """The example asked for, else the one that the kernel opens with."""
        chosen = self.options.example is not None or self.options.bundle is not None
        return next(iter(self.examples(kernel)), 0) if chosen else kernel.opening

    def select(self, kernel: KernelInfo, example: int) -> None:
        """Be about that kernel and example. Raises `BadInput` if it has no such config."""
        choice = self.options.choice
        if choice is not None and choice >= len(kernel.configs) and self.options.bundle is None:
            if not kernel.configs:
                raise BadInput(
                    f"--config {choice}: {kernel.name} is not autotuned; put @autotune(configs, key) above @jit"
                )
            raise unknown("config", str(choice), numbered(kernel.configs))
        self.session.kernel, self.session.chosen_example = kernel.name or None, example

    # Compiling

    async def compile(self, backends: Sequence[str] = (), wanted: Sequence[str] = SLOW_STAGES, until: str = "") -> None:
        """Compile the kernel for the selected backend and these."""
        request = self.request(self.session, backends, wanted, until)
        await self._compile(self.session, request)

    def request(
        self, session: Session, backends: Sequence[str] = (), wanted: Sequence[str] = SLOW_STAGES, until: str = ""
    ) -> m.CompileRequest:
        """What to ask the engine for."""
        made = session.compile_request(backends, tuple(wanted))
        return replace(made, until=until, background={}, shown=None)

    async def _compile(self, session: Session, request: m.CompileRequest) -> None:
        session.compiling(self.engine.compile(request))
        while not complete(session, request):
            event: Any = await self._next(m.CompileStarted, m.StageFinished, m.CompileFinished)
            session.handle(event)
            if isinstance(event, m.CompileStarted) and request.until and session is self.session:
                self.planned_stage(event.planned, request.until)
        stages = [s for backend in request.backends for s in session.results[backend].stages.values()]
        if wrong := [d for s in stages for d in s.diagnostics if d.code in _WRONG_QUESTION]:
            said = dict.fromkeys(f"{d.message}; {d.hint}" if d.hint else d.message for d in wrong)
            raise BadInput("\n".join(said))

    def planned_stage(self, planned: Sequence[str], name: str) -> str:
        """The stage called `name`, or the last of that family."""
        matching = [p for p in planned if p == name] or [p for p in planned if p.split("/")[0] == name]
        # A file that cannot be read has the stage `source` alone, which says why: no others are known then.
        if matching or set(planned) <= {"source"}:
            return matching[-1] if matching else name
        families = [f for f in FAMILIES if any(p.split("/")[0] == f for p in planned)]
        where = f" on backend {self.options.backend}" if not is_mlir(self.options.path) else ""
        if name in FAMILIES and where:
            raise BadInput(f"there is no stage {name!r}{where}; give --backend {_BACKEND_WITH[name]}")
        raise unknown("stage", name, list(dict.fromkeys([*planned, *families])), where)

    async def query(self, request: m.QueryRequest) -> m.Answered:
        """Look for operations."""
        assert isinstance(self.engine, Engine)
        self.engine.query(request)
        return await self._next(m.Answered)

    async def reproduce(self, request: m.ReproduceRequest) -> m.Reproduced:
        """Write a reproducer."""
        self.engine.reproduce(request)
        return await self._next(m.Reproduced)

    # Running

    async def run(
        self, session: Session, fallback: bool, every_stage: bool = False, bench: bool = False, tune: bool = False
    ) -> RunReport:
        """Run the example of a session; with `bench` time it, too, and with `tune` time all its configs instead."""
        request = session.run_request(every_stage, bench)
        request = replace(request, fallback=fallback, seconds=self.options.seconds, tune=tune)
        session.ran(self.engine.run(request))
        event = await self._next(m.RunFinished)
        session.handle(event)
        report = event.report
        if report.unavailable and not fallback:
            does = "benches" if bench else "tunes" if tune else "checks"
            instead = f"; --backend cpu {does} on the CPU" if session.backend in ("cuda", "mlir") else ""
            raise CannotRun(f"backend {session.backend} cannot run here: {report.message}{instead}")
        return report

    # Comparing

    async def pin(self, wanted: Sequence[str] = SLOW_STAGES, until: str = "") -> None:
        """Have the build of `--compare` as A."""
        spec, bundle = self.options.compare, self.options.bundle
        if not spec or (spec == "pinned" and bundle is not None and bundle.a is not None):
            return
        variant, pinned = await self._variant(spec)
        if pinned is None:
            pinned = variant.of(self.session)
            if isinstance(self.engine, Replay):
                if variant.text is not None or variant.chip or variant.defines:
                    raise BadInput(f"--compare {spec}: {ONLY_SHOWN}")
                if self.engine.record.build(variant.backend) is None:
                    made = [build.backend for build in self.engine.record.builds]
                    raise unknown("build of backend", variant.backend, made, f" in {self.options.bundle_path}")
            await self._compile(pinned, self.request(pinned, (), wanted, until))
        self.session.pinned = pinned

    async def _variant(self, spec: str) -> tuple[Variant, Session | None]:
        """What `--compare` names; with its session if that is recorded."""
        if spec == "commit":
            try:
                return Variant("last commit", await last_commit(self.options.path)), None
            except NotThere as reason:
                raise BadInput(f"--compare commit: there is no last commit to compare with: {reason}") from None
        if spec in BACKENDS:
            return Variant(f"backend {spec}", backend=spec), None
        if spec in CHIPS:
            return Variant(spec, chip=spec), None
        name, equals, _ = spec.partition("=")
        if equals and name.isidentifier():
            return Variant(spec, defines=defines([spec])), None
        if is_bundle(spec):
            try:
                a = read(spec).b
            except NoBundle as error:
                raise BadInput(f"--compare: {error}") from None
            return Variant(spec, a.text, a.backend), restored(replace(a, label=spec))
        known = ["commit", *BACKENDS, *CHIPS]
        raise unknown("build to compare with", spec, known, ", nor is it NAME=VALUE or a bundle")


def finding_text(finding: DiagnosticView) -> str:
    """A finding as a terminal prints it."""
    hint = f"\nhelp: {finding.hint}" if finding.hint else ""
    return finding.rendered or f"{finding.path}: {finding.severity}: {finding.message}{hint}"
