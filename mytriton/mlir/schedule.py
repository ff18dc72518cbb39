"""Schedules of the transform dialect, kept apart from what they transform (MLIR, "Transform Dialect").

A schedule is applied as a whole, or step by step: step `n` is what the first `n` operations of its sequence make of the
module, so that every one of them can be looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from mytriton import checked
from mytriton.backends.mlir.run import native_stderr
from mytriton.diagnostics import CompileError, Diagnostic, MytritonError
from mytriton.mlir.symbols import symbol
from mytriton.pipelines import Step
from mytriton.records import dataclass

if TYPE_CHECKING:
    from mytriton.mlir.module import Module

#: The sequence that is applied if none is named.
MAIN = "__transform_main"
#: The pass in whose place a schedule is applied.
INTERPRETER = "transform-interpreter"
#: What the rows of a schedule are called in locations; those of the module are rows of "-".
FILE = "schedule"

_PLACE = re.compile(rf'"{FILE}":(\d+):(\d+)')
_SAID = re.compile(r"^(?:Diagnostic message )?at (loc\(.*?\)): (.*)$")


@dataclass(frozen=True, slots=True)
class Transform:
    """One step of a schedule: the operation `name`, which is number `number` (from 0) of `sequence`."""

    name: str
    number: int
    schedule: Module
    sequence: str = MAIN

    @property
    def title(self) -> str:
        """What its stage is called."""
        return self.name

    @property
    def pipeline(self) -> str:
        """The pass of which it is a part."""
        return INTERPRETER if self.sequence == MAIN else f"{INTERPRETER}{{entry-point={self.sequence}}}"

    @property
    def text(self) -> str:
        """The schedule up to here, as `_apply` reads it."""
        return _text(self.schedule, self.sequence, self.number + 1)

    def apply(self, payload: Any) -> None:
        """Do it, and what stands before it, to a native module of the current context; raises `ScheduleError`."""
        _apply(payload, self.schedule, self.sequence, self.number + 1)


class ScheduleError(MytritonError):
    """A transformation that cannot be done: `where` is the location of the operation that it is about, as MLIR prints
    it, or of the transformation."""

    def __init__(self, message: str, where: str) -> None:
        super().__init__(message)
        self.where = where


def place(where: str) -> tuple[int, int] | None:
    """The row and column (from 1) of the schedule that a location names."""
    found = _PLACE.search(where)
    return (int(found[1]), int(found[2])) if found else None


def transforms(schedule: Module, sequence: str = MAIN) -> tuple[Transform, ...]:
    """The steps of a schedule; raises `MytritonError` if it has no such sequence."""
    with schedule.native() as native:
        names = [op.name for op in _operations(_sequence(native, sequence))]
    return tuple(Transform(name, number, schedule, sequence) for number, name in enumerate(names))


def expanded(passes: Sequence[Step], schedule: Module) -> tuple[Step | Transform, ...]:
    """The passes with a schedule's steps in the place of `transform-interpreter`; before all others without one."""
    made: list[Step | Transform] = []
    for step in passes:
        if step.name == INTERPRETER:
            found = re.search(r"entry-point=(\S+)", step.options)
            made += transforms(schedule, found[1] if found else MAIN)
        elif step.name != "transform-preload-library":  # which says where the schedule is
            made.append(step)
    if not any(isinstance(step, Transform) for step in made):
        made[:0] = transforms(schedule)
    return tuple(made)


def apply(module: Module, schedule: Module, sequence: str = MAIN) -> Module:
    """The module as a named sequence of a schedule leaves it. Raises `MytritonError` if there is no such sequence, and
    `CompileError` with the line of the module, or of the schedule, where a transformation cannot be done."""
    checked.module(module, "mlir.apply")
    checked.module(schedule, "mlir.apply")
    with module.native() as native:
        try:
            _apply(native, schedule, sequence)
        except ScheduleError as error:
            units = (module.unit, schedule.unit)
            raise CompileError([Diagnostic("MT606", f"the schedule failed:\n{error}", stage=sequence)], units) from None
        return module.with_native(native)


def _text(schedule: Module, sequence: str, count: int | None = None) -> str:
    """A schedule with the first `count` operations of the sequence. Its locations are rows of `FILE`: its text and that
    of what is transformed were both read under the name "-"."""
    with schedule.native() as native:
        operations = [*_operations(_sequence(native, sequence))]
        for op in reversed(operations[len(operations) if count is None else count :]):
            op.erase()
        text = str(native.operation.get_asm(enable_debug_info=True))
    return text.replace('loc("-":', f'loc("{FILE}":')


def _apply(payload: Any, schedule: Module, sequence: str, count: int | None = None) -> None:
    from mlir import ir
    from mlir.dialects.transform.interpreter import apply_named_sequence

    with payload.context:
        script = ir.Module.parse(_text(schedule, sequence, count))
        with native_stderr() as stderr:
            try:
                apply_named_sequence(payload.operation, _sequence(script, sequence), script.operation)
                return
            except (ir.MLIRError, ValueError, RuntimeError) as error:
                said = str(error)
    raise _error(said if "Diagnostic message" in said else f"{said}\n{stderr()}", schedule)


def _error(said: str, schedule: Module) -> ScheduleError:
    """What the interpreter says, with the schedule's places in its file."""
    rows: list[str] = []
    wheres: list[str] = []
    for row in said.splitlines():
        if found := _SAID.match(row):
            at = place(found[1])
            rows.append(f"{found[2]} ({schedule.unit.path}:{at[0]}:{at[1]})" if at else found[2])
            wheres.append(found[1])
        elif row.strip() and not row.startswith("Failed to apply named transform sequence"):
            rows.append(row.strip())
    target = next((where for where in wheres if place(where) is None), "")
    return ScheduleError("\n".join(rows) or said.strip(), target or next(iter(wheres), ""))


def _sequence(native: Any, sequence: str) -> Any:
    """The sequence of that name in a native schedule."""
    operations = [op.operation for op in native.body.operations if op.operation.name == "transform.named_sequence"]
    named = {symbol(op): op for op in operations}
    if sequence not in named:
        hint = f"; in a pipeline, {INTERPRETER}{{entry-point={next(iter(named))}}} names one" if named else ""
        raise MytritonError(f"the schedule has no sequence @{sequence}; it has {', '.join(named) or 'none'}{hint}")
    return named[sequence]


def _operations(sequence: Any) -> Iterator[Any]:
    """The operations of a sequence but the one that ends it."""
    operations = [op.operation for op in sequence.regions[0].blocks[0].operations]
    yield from operations[:-1]
