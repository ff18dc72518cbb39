"""Schedules of the transform dialect, kept apart from what they transform (MLIR, "Transform Dialect")."""

from __future__ import annotations

from typing import Any

from mytriton.backends.mlir.run import native_stderr
from mytriton.diagnostics import CompileError, Diagnostic, MytritonError
from mytriton.mlir.module import Module

#: The sequence that is applied if none is named.
MAIN = "__transform_main"


def apply(module: Module, schedule: Module, sequence: str = MAIN) -> Module:
    """The module as a named sequence of a schedule leaves it. Raises `MytritonError` if there is no such sequence, and
    `CompileError` with the line of the schedule, or of the module, where a transformation cannot be done."""
    from mlir import ir
    from mlir.dialects.transform.interpreter import apply_named_sequence

    reported: list[tuple[str, str]] = []
    context = ir.Context()
    context.enable_multithreading(False)
    context.emit_error_diagnostics = True
    handler = context.attach_diagnostic_handler(lambda d: _note(d, reported))
    with context:
        # Locations of both are rows of a text called "-": those of the schedule get another name first.
        payload, script = ir.Module.parse(module.bytecode), ir.Module.parse(schedule.bytecode)
        found = [op.operation for op in script.body.operations if _symbol(op.operation) == sequence]
        if not found:
            names = [name for op in script.body.operations if (name := _symbol(op.operation))]
            raise MytritonError(f"the schedule has no sequence @{sequence}; it has {', '.join(names) or 'none'}")
        error = ""
        with native_stderr() as stderr:
            try:
                apply_named_sequence(payload.operation, found[0], script.operation)
            except (ir.MLIRError, ValueError, RuntimeError) as raised:
                error = str(raised)
        handler.detach()
        if error or reported:
            rows = [f"{message} ({where})" for where, message in reported] or [error or stderr()]
            raise CompileError([Diagnostic("MT606", "the schedule failed:\n" + "\n".join(rows), stage=sequence)])
        return module.with_native(payload)


def _note(diagnostic: Any, reported: list[tuple[str, str]]) -> bool:
    if diagnostic.severity.name == "ERROR":
        notes = [f"  {note.message}" for note in diagnostic.notes]
        reported.append((str(diagnostic.location), "\n".join([diagnostic.message, *notes])))
    return True


def _symbol(op: Any) -> str:
    return str(op.attributes["sym_name"]).strip('"') if "sym_name" in op.attributes else ""
