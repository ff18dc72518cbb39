"""Assertions and prints in emitted gpu-dialect MLIR."""

from __future__ import annotations

from contextlib import nullcontext

from mytriton.backends.mlir.casts import cast
from mytriton.backends.mlir.context import Context
from mytriton.backends.mlir.places import AXES, Positions
from mytriton.backends.mlir.writer import Writer
from mytriton.ir import ops
from mytriton.types import ScalarType, element_of, f64, i1, i32, i64, u32, u64


def write_assert(context: Context, positions: Positions, op: ops.Assert, kernel: str) -> None:
    """Stop the launch if the condition does not hold. The driver prints the message and the thread; of those that hold
    copies, one speaks."""
    text, condition = context.text, context.ref(op.condition)
    if context.width is not None:
        name = text.fresh("%all_assert")
        text.write(f"{name} = vector.reduction <and>, {condition} : vector<{context.width}xi1> into i1")
        condition = name
    span = op.span
    while span is not None and span.call_site is not None:  # the line of the kernel, not of a helper
        span = span.call_site
    where = f"line {span.line} of {kernel}: " if span is not None else ""
    owner = positions.owner(context.layouts[op.condition])
    with text.region(f"scf.if {owner}") if owner else nullcontext():
        text.write(f"cf.assert {condition}, {_quoted(where + op.message)}")


def write_print(context: Context, positions: Positions, op: ops.Print) -> None:
    """`pid (0, 0, 0) idx (3) prefix: 1.5` for the element at hand, by one of the threads that hold it."""
    (value,) = op.values
    element, owner = element_of(value.type), positions.owner(context.layouts[value])
    assert isinstance(element, ScalarType), "pointers are not printed"
    with context.text.region(f"scf.if {owner}") if owner else nullcontext():
        _print(context, positions, op, element)


def _print(context: Context, positions: Positions, op: ops.Print, element: ScalarType) -> None:
    (value,) = op.values
    text, shown = context.text, context.ref(value)
    places = [*(f"%block_id_{axis}" for axis in AXES), *positions.index(context.layouts[value])]
    fields = ["%d"] * len(places)
    head = f"pid ({', '.join(fields[:3])}) idx ({', '.join(fields[3:])}) {op.prefix.replace('%', '%%')}: "

    def write(shape: str, arguments: list[str], types: list[str]) -> None:
        line = f"gpu.printf {_quoted(head + shape + chr(10))}, {', '.join([*places, *arguments])}"
        text.write(f"{line} : {', '.join(['i32'] * len(places) + types)}")

    if element == i1:
        with text.region(f"scf.if {shown}"):
            write("True", [], [])
            text.otherwise()
            write("False", [], [])
        return
    wide = _printable(element)
    if wide.signless != element.signless:
        w = Writer(text.write)
        w.begin(text.fresh("%shown"))
        shown = cast(w, shown, element, wide, "", narrows_f64=True)
    write({f64: "%g", i32: "%d", u32: "%u", i64: "%lld", u64: "%llu"}[wide], [shown], [wide.signless])


def _printable(element: ScalarType) -> ScalarType:
    """What C's `printf` takes for it."""
    if element.kind == "float":
        return f64
    if element.bits == 64:
        return element
    return i32 if element.signed else u32


def _quoted(text: str) -> str:
    """A string literal of MLIR."""
    plain = (chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in text.encode())
    return f'"{"".join(plain)}"'
