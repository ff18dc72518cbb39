"""The explorer without a screen: `--stages`, `--print`, `--check` and `--json`.

They go through the same engine and child processes as the UI, so they say the same, and a compiler that crashes is a
line of output and an exit code instead of the end of the command.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from typing import Any, TypeVar

from explorer.cli import BadInput, Options, unknown
from explorer.engine import messages as m
from explorer.engine.client import SLOW_STAGES, Engine
from explorer.model.codec import to_json
from explorer.model.failure import brief, full_text, sentence
from explorer.model.result import NOT_IMPORTED, DiagnosticView, KernelInfo, ModuleInfo, RunReport, StageView
from mytriton.stage import FAMILIES

T = TypeVar("T")

#: Findings about what was asked for rather than about the kernel (see `engine.compiling` and `engine.reading`).
_WRONG_QUESTION = ("MT970", "MT971", "MT972")

#: A backend that has the stages of a family which not all have.
_BACKEND_WITH = {"layout": "cuda", "ptx": "cuda", "sass": "cuda", "llvm": "mlir", "asm": "cpu"} | {
    name: name for name in ("cuda", "mlir", "cpu")
}


def run(options: Options) -> int:
    """Do what the command line asks for; returns the exit code."""
    return asyncio.run(_Session(options).run())


class _Session:
    def __init__(self, options: Options) -> None:
        self._options = options
        self._events: asyncio.Queue[m.Event] = asyncio.Queue()
        self._engine = Engine(self._events.put_nowait, once=True)
        self._at_line_start = True

    async def run(self) -> int:
        mode = self._options.mode
        try:
            if mode == "check":
                return await self._check()
            return await self._compile()
        finally:
            await self._engine.close()
            while not self._events.empty():  # the last words of the children
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
        if isinstance(event, m.Log) and event.text:
            sys.stderr.write(event.text)
            self._at_line_start = event.text.endswith("\n")

    # The file

    async def _open(self) -> ModuleInfo:
        options = self._options
        self._engine.open(options.path, options.text, options.execute)
        while True:
            module = (await self._next(m.ModuleRead)).module
            errors = [d for d in module.diagnostics if d.severity == "error"]
            not_imported = [d for d in module.diagnostics if d.code == NOT_IMPORTED]
            if module.executed or errors or not_imported or not options.execute:
                break  # else it was read while it is still being executed
        for finding in not_imported:
            print(_text(finding), file=sys.stderr)
        if errors:
            raise BadInput(f"{options.path} cannot be used\n" + "\n".join(map(_text, errors)))
        if not module.kernels:
            raise BadInput(f"{options.path} has no kernel in it; a kernel is a function decorated with @jit")
        return module

    def _kernel(self, module: ModuleInfo) -> KernelInfo:
        name = self._options.kernel
        names = [k.name for k in module.kernels]
        found = module.kernel(name)
        if found is None:
            raise unknown("kernel", name or "", names)
        names = [k.name for k in module.kernels if not k.helper]
        if name is None and len(names) > 1:
            raise BadInput(f"{self._options.path} has several kernels: {', '.join(names)}; choose one with --kernel")
        return found

    def _examples(self, kernel: KernelInfo) -> Sequence[int]:
        """The examples asked for: the one of `--example`, else all."""
        wanted, labels = self._options.example, [e.label for e in kernel.examples]
        if wanted is None:
            return range(len(labels))
        if wanted in labels:
            return [labels.index(wanted)]
        if wanted.isdigit() and int(wanted) < len(labels):
            return [int(wanted)]
        if not labels:
            raise BadInput(f"{kernel.name} has no examples; declare one with @{kernel.name}.example")
        raise unknown("example", wanted, [f"{i} ({label})" for i, label in enumerate(labels)])

    # Compiling

    async def _compile(self) -> int:
        options = self._options
        await self._engine.start(("compiler",))
        module = await self._open()
        kernel = self._kernel(module)
        examples = self._examples(kernel)
        wanted, stage_wanted = self._wanted(), options.stage
        request = options.compile_request(options.text, kernel.name, examples[0] if examples else 0, wanted)
        self._engine.compile(request)
        started = m.CompileStarted(0, options.backend, kernel.name, ())
        stages: list[StageView] = []
        while True:
            event: Any = await self._next(m.CompileStarted, m.StageFinished, m.CompileFinished)
            if isinstance(event, m.CompileStarted):
                started = event
                stage_wanted = self._planned_stage(event.planned)
            elif isinstance(event, m.StageFinished):
                stages.append(event.stage)
            elif event.slow or not event.ok or not any(name in started.planned for name in wanted):
                break
        wrong = [d for s in stages for d in s.diagnostics if d.code in _WRONG_QUESTION]
        if wrong:
            raise BadInput("\n".join(f"{d.message}; {d.hint}" if d.hint else d.message for d in wrong))
        if options.mode == "json":
            print(json.dumps(self._everything(module, started, stages), indent=1))
        elif options.mode == "stages":
            _print_stages(stages)
        elif options.mode == "reproduce":
            return await self._reproduce(request, stage_wanted, stages)
        else:
            return self._print_listing(stage_wanted, stages)
        return 0 if all(_good(s) for s in stages) else 1

    @property
    def _named(self) -> bool:
        """Whether the command line is about one stage."""
        return self._options.mode == "print" or (self._options.mode == "reproduce" and self._options.stage != "")

    def _wanted(self) -> tuple[str, ...]:
        if not self._named:
            return SLOW_STAGES
        return tuple(name for name in SLOW_STAGES if self._options.stage in SLOW_STAGES)

    def _planned_stage(self, planned: Sequence[str]) -> str:
        """The stage that `--print` or `--stage` names, itself or by its family."""
        name = self._options.stage
        if not self._named:
            return ""
        matching = [p for p in planned if p == name] or [p for p in planned if p.split("/")[0] == name]
        # A file that cannot be read has the stage `source` alone, which says why: no others are known then.
        if matching or set(planned) <= {"source"}:
            return matching[-1] if matching else name
        families = [f for f in FAMILIES if any(p.split("/")[0] == f for p in planned)]
        where = f" on backend {self._options.backend}"
        if name in FAMILIES:
            raise BadInput(f"there is no stage {name!r}{where}; give --backend {_BACKEND_WITH[name]}")
        raise unknown("stage", name, list(dict.fromkeys([*planned, *families])), where)

    def _print_listing(self, name: str, stages: Sequence[StageView]) -> int:
        found = next((s for s in stages if s.name == name), None)
        failed = next((s for s in stages if not _good(s)), None)
        for stage in stages:
            for finding in stage.diagnostics:
                print(_text(finding), file=sys.stderr)
        if found is not None and found.ok:
            print(found.text)
            return 0
        culprit = found or failed
        if culprit is not None and culprit.reason:
            print(f"stage {culprit.name!r} {culprit.status}: {culprit.reason}", file=sys.stderr)
        return 1

    async def _reproduce(self, request: m.CompileRequest, name: str, stages: Sequence[StageView]) -> int:
        """Write a reproducer of the stage called `name`; of the failing one if it is ''."""
        failed = next((s for s in stages if not _good(s)), None)
        if failed is None and not name:
            raise BadInput("no stage failed; to reproduce one all the same, name it with --stage")
        about = failed if failed is not None and name in ("", failed.name) else None
        error = full_text(about) if about is not None else ""
        name = name or (failed.name if failed is not None else "")
        self._engine.reproduce(m.ReproduceRequest(request, name, self._options.folder, error))
        done = await self._next(m.Reproduced)
        if done.error:
            raise BadInput(f"no reproducer of stage {name!r}: {done.error}")
        if about is not None:
            print(f"stage {about.name!r} {about.status}: {brief(about)}", file=sys.stderr)
        print(done.command)
        return 0

    def _everything(self, module: ModuleInfo, started: m.CompileStarted, stages: Sequence[StageView]) -> Any:
        return {
            "file": self._options.path,
            "backend": started.backend,
            "chip": self._options.chip,
            "num_warps": started.num_warps,
            "kernel": started.kernel,
            "signature": started.signature,
            "planned": list(started.planned),
            "ok": all(_good(s) for s in stages),
            "stages": [to_json(s) for s in stages],
            "kernels": [to_json(k) for k in module.kernels],
        }

    # Checking

    async def _check(self) -> int:
        options = self._options
        module = await self._open()
        if not module.executed:
            raise BadInput(f"{options.path} could not be executed")
        kernels = [self._kernel(module)] if options.kernel is not None else module.kernels
        cases = [(k, number) for k in kernels for number in self._examples(k)]
        if not cases:
            raise BadInput(
                f"no kernel of {options.path} has an example to check; declare one with @{kernels[0].name}.example"
            )
        worst = 0
        for kernel, number in cases:
            self._engine.run(options.run_request(options.text, kernel.name, number, fallback=False))
            report = (await self._next(m.RunFinished)).report
            if report.unavailable:
                instead = "; --backend cpu checks on the CPU" if options.backend in ("cuda", "mlir") else ""
                print(f"backend {options.backend} cannot run here: {report.message}{instead}", file=sys.stderr)
                return 3
            _print_report(kernel.name, kernel.examples[number].label, report)
            worst = max(worst, 0 if report.ok else 1)
        return worst


def _good(stage: StageView) -> bool:
    return stage.ok or stage.status == "skipped"


def _text(finding: DiagnosticView) -> str:
    hint = f"\nhelp: {finding.hint}" if finding.hint else ""
    return finding.rendered or f"{finding.path}: {finding.severity}: {finding.message}{hint}"


def _print_stages(stages: Sequence[StageView]) -> None:
    width = max((len(s.name) for s in stages), default=0)
    for stage in stages:
        errors = [sentence(d) for d in stage.diagnostics if d.severity == "error"]
        cause = stage.reason or "; ".join(errors)
        print(f"{stage.name:{width}}  {stage.status:9}  {stage.ms:8.2f} ms  {cause}".rstrip())
    for stage in stages:
        for finding in stage.diagnostics:
            print(_text(finding), file=sys.stderr)


def _print_report(kernel: str, label: str, report: RunReport) -> None:
    head = f"{'PASS' if report.ok else 'FAIL'}  {kernel}  {label}  {report.backend}"
    if report.device:
        head += f" ({report.device})"
    parts = [
        f"{o.name}: max abs {o.max_abs:.3g}, rel {o.max_rel:.3g}, {o.max_ulp:g} ulp, {o.mismatches}/{o.size} wrong"
        + (f", first at {list(o.first_index)}: {o.actual}, expected {o.expected}" if o.first_index is not None else "")
        for o in report.outputs
    ]
    if report.seconds:
        parts.append(f"{report.seconds * 1e3:.2f} ms")
    if report.reference and report.reference != "NumPy":
        parts.append(f"reference: {report.reference}")
    parts += [text for text in (report.note, report.message.strip()) if text]
    print("  ".join([head, "; ".join(parts)]))
    for step in report.steps:
        where = f"  line {step.line}" if step.line is not None else ""
        print(f"      {'ok' if step.ok else 'FAIL':<6}{step.stage}{where}  {step.text}".rstrip())
    for finding in report.diagnostics:
        print(_text(finding), file=sys.stderr)
