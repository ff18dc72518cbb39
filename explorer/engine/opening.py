"""What is known of the file that is open: executed once by the runner, or read by the compiler."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from typing import Any

from explorer.engine import messages as m
from explorer.engine.limits import Limits
from explorer.engine.messages import CompileRequest, Event
from explorer.engine.requests import ANY
from explorer.engine.supervisor import Supervisor
from explorer.model.paths import is_mlir
from explorer.model.result import ChildFailure, DiagnosticView, ExampleInfo, ModuleInfo

#: A compilation waits this long for the author's code (the file, an example's inputs); then it does without.
PATIENCE = 1.0


def later(call: Callable[..., None], *args: object) -> None:
    """See again in a fraction of the patience."""
    asyncio.get_running_loop().call_later(PATIENCE / 4, call, *args)


def _key(kernel: str, example: int, values: dict[str, Any], config: int | None) -> str:
    return repr((kernel, example, sorted(values.items()), config))


class Opening:
    """Has the file executed or read. `on_known` is called whenever more is known of it than before, `on_job` after
    something was asked of a child."""

    def __init__(
        self,
        runner: Supervisor,
        compiler: Supervisor,
        limits: Limits,
        on_event: Callable[[Event], None],
        on_known: Callable[[], None],
        on_job: Callable[[], None],
    ) -> None:
        self.generation = 0
        self.loading = False
        self._runner, self._compiler, self._limits = runner, compiler, limits
        self._on_event, self._on_known, self._on_job = on_event, on_known, on_job
        self._import_failure: tuple[DiagnosticView, ...] = ()
        self._module: ModuleInfo | None = None
        self._with_values: dict[str, ExampleInfo] = {}  # examples in a config or with other values than their own

    def open(self, generation: int, path: str, text: str, execute: bool) -> None:
        """The file was opened or saved."""
        self.generation = generation
        if self._module is not None and self._module.path != path:
            self._module = None
        self.loading, self._import_failure = True, ()
        if execute and not is_mlir(path):
            replaces = (m.LoadJob, m.DescribeJob, m.RunJob)
            self._runner.submit(m.LoadJob(generation, path, text), self._limits.import_s, replaces)
            later(self._read_meanwhile, generation, path, text)
        else:
            self._read(generation, path, text)

    def _read(self, generation: int, path: str, text: str) -> None:
        if self._compiler.has(m.ReadJob, generation):
            return  # an `Abandon` names a generation: it would end both
        self._compiler.submit(m.ReadJob(generation, path, text), self._limits.compile_s, (m.ReadJob,))

    def _read_meanwhile(self, generation: int, path: str, text: str) -> None:
        if self.loading and generation == self.generation:
            if self._runner.busy_for < PATIENCE:
                later(self._read_meanwhile, generation, path, text)
                return
            self._read(generation, path, text)
            self._on_job()

    def job(self, generation: int, request: CompileRequest) -> m.CompileJob:
        """The compilation of a request, with what is known of the file; asks for what is not known of its example."""
        if is_mlir(request.path):
            return m.CompileJob(generation, request)
        module = self._module if self._module is not None and self._module.path == request.path else None
        executed, names = (module.text, module.names) if module is not None and module.executed else ("", {})
        return m.CompileJob(generation, request, self._example(module, request), executed, names)

    def _example(self, module: ModuleInfo | None, request: CompileRequest) -> ExampleInfo | None:
        """The example to take types from; asks for its description if nobody has."""
        kernel = module.kernel(request.kernel) if module is not None and module.executed else None
        number = request.example if kernel is None or request.example != ANY else kernel.opening
        if module is None or kernel is None or not 0 <= number < len(kernel.examples):
            return None
        example = kernel.examples[number]
        values = {name: value for name, value in request.values.items() if name in example.values}
        config = request.config
        if values or config is not None:
            key = _key(kernel.name, number, values, config)
            example = self._with_values.get(key, ExampleInfo(example.label))
        if not example.described and not self._runner.has(m.DescribeJob):
            job = m.DescribeJob(self.generation, module.path, module.text, kernel.name, number, values, config)
            self._runner.submit(job, self._limits.import_s)
        return example

    # What the children say

    def read(self, message: m.ModuleRead, final: bool) -> None:
        """`final` is False for what was read while the file is still being executed."""
        if message.generation != self.generation or not self.loading:
            return
        module = message.module
        if not module.executed:
            module = dataclasses.replace(module, diagnostics=(*self._import_failure, *module.diagnostics))
            if self._module is not None and self._module.executed:
                module = self._module.not_reloaded(module)
        self._module, self._with_values = module, {}
        self.loading = not final
        self._on_event(m.ModuleRead(message.generation, module))
        self._on_known()

    def described(self, message: m.Described, announce: bool) -> None:
        """An example's types are known. With `announce` whoever shows the file is told, to ask again."""
        module = self._module
        if module is None or message.generation != self.generation:
            return
        if message.values or message.config is not None:
            key = _key(message.kernel, message.example, message.values, message.config)
            self._with_values[key] = message.info
        else:
            self._module = module = module.with_example(message.kernel, message.example, message.info)
        self._on_event(message)
        if announce:
            self._on_event(m.ModuleRead(self.generation, module))
        self._on_known()

    def reading_failed(self, job: m.ReadJob, failure: ChildFailure) -> None:
        """The compiler died of the file."""
        if job.generation == self.generation:
            finding = DiagnosticView("MT980", "error", failure.cause, job.path, stage=failure.stage)
            self.read(m.ModuleRead(job.generation, ModuleInfo(job.path, diagnostics=(finding,))), True)
            self._on_event(m.ChildFailed(job.generation, failure))

    def loading_failed(self, job: m.LoadJob, failure: ChildFailure) -> None:
        """The runner died of the file: it is only read, then."""
        hint = "mend the file and save it, or open it with --no-exec"
        finding = DiagnosticView("MT981", "error", failure.cause, job.path, hint=hint, stage=failure.stage)
        self._import_failure = (finding,)
        self._read(job.generation, job.path, job.text)
        self._on_job()
