"""MLIR modules as values: read from files, run through passes, looked at and handed on, without a context to care for.

A `Module` is bytecode and the text it was read from, so it can be kept, compared and sent to another process. Native
objects exist only inside `with module.native()`: they belong to a context of their own, and no reference to one of
their operations may be used after it.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from mytriton import checked
from mytriton.backends.mlir.listing import Listings, link_lines, places
from mytriton.backends.mlir.run import ModuleRun, mlir_available, native_stderr
from mytriton.diagnostics import BackendUnavailable, MytritonError
from mytriton.mlir import assembler
from mytriton.mlir.code import CODE, TO_BINARY, code
from mytriton.mlir.rows import without_locations
from mytriton.mlir.schedule import ScheduleError, Transform, expanded, place
from mytriton.mlir.targets import unknown
from mytriton.pipelines import Step, steps
from mytriton.records import dataclass
from mytriton.source import SourceUnit, Span
from mytriton.stage import Compilation, Line, Stage
from mytriton.target import Target

_WORD = re.compile(r"[%@!#^]?[\w.$-]+")
_NAME = re.compile(r'"([\w.$-]+)"')
#: The first stages of a run; those of the passes follow.
READ = ("source", "mlir/parse")


@dataclass(frozen=True, slots=True)
class Module:
    """A verified module; `unit` is the text that its locations point into."""

    unit: SourceUnit
    bytecode: bytes

    def __repr__(self) -> str:
        return f"<Module of {self.unit.path}, {len(self.bytecode)} bytes of bytecode>"

    @property
    def text(self) -> str:
        """The module as MLIR prints it, without locations."""
        return "\n".join(line.text for line in self.lines)

    @property
    def lines(self) -> list[Line]:
        """The listing, each line with the span of the text it came from."""
        return link_lines(Listings().text(self.bytecode), source_lines(self.unit.text))

    @contextmanager
    def native(self) -> Iterator[Any]:
        """A `mlir.ir.Module` in a new context, which is current inside the `with`."""
        with Listings().module(self.bytecode) as module:
            yield module

    def with_native(self, native: Any) -> Module:
        """What a native module, such as one that was changed inside `with self.native()`, is now; raises
        `mlir.ir.MLIRError` if it does not verify."""
        native.operation.verify()
        out = io.BytesIO()
        native.operation.write_bytecode(out)
        return Module(self.unit, out.getvalue())

    def run(self, pipeline: str | Sequence[str | Step | Transform], schedule: Module | None = None) -> Run:
        """Run passes one by one on this module, and the steps of a schedule; see `Run`."""
        return Run(self.unit, pipeline, self.bytecode, schedule)


class _Passes(ModuleRun):
    """Findings stand at the column that MLIR says, as the text it read is the author's; `unit` 1 is the schedule."""

    _before_schedule = b""
    #: Whether the rows of the text count, whatever locations stand in it.
    rows = False

    def _text(self) -> str:
        return without_locations(super()._text()) if self.rows else super()._text()

    def _span(self, where: str) -> Span | None:
        if found := span_of(where, self.source):
            return found
        if at := place(where):
            return Span(*at, at[0], at[1] + 1, unit=1)
        return None

    def _refused(self, name: str) -> bool:
        problem = unknown(self.module) if name.startswith(TO_BINARY) else None
        if problem is not None:
            self.reported.append(("ERROR", problem[1], problem[0]))
        return problem is not None

    def _told(self, where: str, message: str) -> tuple[str, str]:
        if message.startswith("operation being parsed with an unregistered dialect"):
            return self._unregistered(where, message)
        return assembler.place(message, self.bytecode, self.listings) or where, message

    def _unregistered(self, where: str, message: str) -> tuple[str, str]:
        """MLIR speaks of an option of its own tool, at the end of the name."""
        for row, column in places(where, {}):
            if names := [*_NAME.finditer(self.source[row - 1].text[: column - 1])]:
                name = names[-1][1]
                at = f'loc("-":{row}:{names[-1].start(1) + 1})'
                return at, f"MLIR has no dialect `{name.partition('.')[0]}`, and so no operation '{name}'"
        return where, message

    def transform(self, step: Transform) -> None:
        """Have the first steps of a schedule done, of which this is the last. All of them anew: the operations that
        later steps are about are known to the schedule's handles only."""
        from mlir import ir

        if step.number == 0:
            self._before_schedule = self.bytecode
        module = ir.Module.parse(self._before_schedule)
        try:
            step.apply(module)
        except ScheduleError as error:
            self.reported.append(("ERROR", error.where, str(error)))
            return
        self.module = module
        module.operation.verify()


class Run(Compilation):
    """A module on its way through passes: stages `source`, `mlir/parse` and `mlir/<pass>`, each with its time, listing,
    operations and diagnostics, made as far as they are read. A failed pass ends them and keeps what came before.

    The operations of a `schedule` are stages, too, in the place of the pass `transform-interpreter`, or else before all
    passes. With `code` stages with the code that LLVM makes of the module follow (`mytriton.mlir.code`).

    A pass that kills the process kills this one: `isolated.run` does the same in another.
    """

    def __init__(
        self,
        unit: SourceUnit,
        pipeline: str | Sequence[str | Step | Transform],
        given: bytes = b"",
        schedule: Module | None = None,
        code: bool = False,
        rows: bool = False,
    ) -> None:
        """`given` is the module if it is not just what the text says. With `rows` operations have the places at which
        they stand in the text, also where it says that they came from another file. Raises `PipelineError` for a text
        that is no list of passes, and `BackendUnavailable` without MLIR."""
        if reason := mlir_available():
            raise BackendUnavailable(reason)
        parts = _steps(pipeline)
        if schedule is not None:
            checked.module(schedule, "the schedule of a run")
            parts = expanded([step for step in parts if isinstance(step, Step)], schedule)
        self.steps: tuple[Step | Transform, ...] = parts
        self.given, self._bytecode = given, given
        names = stage_names(self.steps)
        self._native = _Passes(source_lines(unit.text), prefix="mlir", first="parse", given=given)
        self._native.rows = rows
        scheduled = next((step.schedule for step in parts if isinstance(step, Transform)), None)
        units = (unit,) if scheduled is None else (unit, scheduled.unit)
        planned = (*READ, *names, *(CODE if code else ()))
        super().__init__(unit.name, units, None, Target(backend="mlir"), planned, self._made(unit, names, code))

    def __repr__(self) -> str:
        """What was done, without doing more."""
        done = ", ".join(f"{stage.name} {stage.status}" for stage in self.stages)
        return f"<Run of {self.units[0].path}: {done or 'nothing yet'} of {len(self.planned)} stages>"

    def _made(self, unit: SourceUnit, names: Sequence[str], with_code: bool = False) -> Iterator[Stage]:
        lines = self._native.source
        yield Stage("source", "source", "mlir", artifact=unit.text, make_lines=lambda: lines)
        passes = [(n.removeprefix("mlir/"), self._doer(s)) for n, s in zip(names, self.steps, strict=True)]
        before: dict[str, int] = {}
        codes: list[bytes] = []
        for stage in self._native.stages(passes):
            after = operations(self._native.module) if stage.ok else before
            stage.stats = {"ops": sum(after.values()), "ops before": sum((before or after).values())}
            before, self._bytecode = after, self._native.bytecode
            codes.append(self._bytecode)
            yield stage
        if with_code and not self._native.failed:
            yield from code(codes, lines, self._native.listings)

    def _doer(self, step: Step | Transform) -> str | Callable[[], None]:
        return step.pipeline if isinstance(step, Step) else partial(self._native.transform, step)

    @property
    def bytecode(self) -> bytes:
        """The module after the last stage that worked; empty if the text could not be read."""
        return self._bytecode

    @property
    def result(self) -> Module:
        """The module after all passes; raises `CompileError` if one failed."""
        self.run()
        self.raise_if_failed()
        return Module(self.units[0], self._bytecode)


def read(path: str | Path) -> Module:
    """The module in a file, text or bytecode; raises `OSError`, `CompileError` with the line at fault, or
    `MytritonError` for a file that is neither."""
    checked.expect(path, (str, Path), "mlir.read", "the path of a file")
    path = Path(path)
    content = path.read_bytes()
    if content.startswith(b"ML\xefR"):
        return _of_bytecode(path, content)
    try:
        return parse(content.decode(), str(path))
    except UnicodeDecodeError as error:
        raise MytritonError(f"{path} is neither MLIR as text (UTF-8) nor as bytecode: {error}") from None


def _of_bytecode(path: Path, content: bytes) -> Module:
    from mlir import ir

    with native_stderr():
        try:
            text = Listings().text(content)
        except (ir.MLIRError, ValueError) as error:
            why = str(error).strip().splitlines()[-1].rpartition('"-":0:0: ')[2]
        else:
            return Module(SourceUnit(str(path), path.stem, 1, text), content)
    raise MytritonError(f"{path} is no bytecode that this MLIR can read: {why}")


def _steps(pipeline: str | Sequence[str | Step | Transform]) -> tuple[Step | Transform, ...]:
    if isinstance(pipeline, str):
        return steps(pipeline)
    what = 'passes: "canonicalize,func.func(cse)", or a list of such texts and of steps'
    checked.expect_all(pipeline, (str, Step, Transform), "a run", what)
    return tuple(step for part in pipeline for step in (steps(part) if isinstance(part, str) else (part,)))


def parse(text: str, path: str = "<text>") -> Module:
    """The module that a text describes; raises `CompileError` with the line at fault."""
    checked.expect(text, str, "mlir.parse", "the text of a module")
    return Run(SourceUnit(path, Path(path).stem, 1, text), "").result


def operations(native: Any) -> dict[str, int]:
    """How many operations of each name a native module holds, itself not counted."""
    from mlir import ir

    counts: dict[str, int] = {}

    def visit(op: Any) -> Any:
        counts[op.name] = counts.get(op.name, 0) + 1
        return ir.WalkResult.ADVANCE

    with native.context:
        native.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    counts["builtin.module"] -= 1
    return {name: count for name, count in counts.items() if count}


def source_lines(text: str) -> list[Line]:
    """The rows of a text, each with the span of what stands in it."""
    rows = text.split("\n")
    return [Line(row, _span(row, number)) for number, row in enumerate(rows, 1)]


def span_of(where: str, source: Sequence[Line]) -> Span | None:
    """The word of the text with these rows that a location of MLIR names."""
    for row, column in places(where, {}):
        if row < 1:  # what MLIR says of no place in particular
            continue
        text = source[row - 1].text if row <= len(source) else ""
        word = _WORD.match(text, column - 1)
        return Span(row, column, row, word.end() + 1 if word else column + 1)
    return None


def stage_names(passes: Sequence[Step | Transform], prefix: str = "mlir") -> tuple[str, ...]:
    """The stage of each pass: `mlir/` and where it runs; the second of one name is `... (2)`."""
    names: list[str] = []
    for step in passes:
        name = base = f"{prefix}/{step.title}"
        count = 1
        while name in names:
            count += 1
            name = f"{base} ({count})"
        names.append(name)
    return tuple(names)


def _span(row: str, number: int) -> Span | None:
    stripped = row.strip()
    start = len(row) - len(row.lstrip()) + 1
    return Span(number, start, number, start + len(stripped)) if stripped else None
