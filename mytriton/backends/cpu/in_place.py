"""Whether a matrix can be read where it is loaded from, which is decided at run time."""

from __future__ import annotations

from mytriton.backends.cpu.elements import Elements
from mytriton.backends.cpu.loops import LoopWriter
from mytriton.backends.cpu.places import Positions
from mytriton.backends.cpu.writer import POINTER, type_name
from mytriton.ir import ops
from mytriton.types import i1


def all_in_place(writer: LoopWriter, op: ops.Load, address: str, stem: str) -> tuple[str, str]:
    """Whether all elements of a load, the first at `address`, are loaded from rows at equal distances, and that
    distance in bytes: the names of an i1 and an i64. The elements of a row follow each other where the guards hold."""
    text, bools, end = writer.text, type_name(i1, writer.width), "} {loop_annotation = #as_written}"
    text.write(f"%row.{writer.row} = arith.constant {writer.row} : i32")
    second = _row_address(writer, op, "second", f"%row.{writer.row}")
    for name, pointer in (("from", address), ("to", second)):
        text.write(f"{stem}.{name} = llvm.ptrtoint {pointer} : {POINTER} to i64")
    text.write(f"{stem}.row = arith.subi {stem}.to, {stem}.from : i64")
    text.write(f"{stem}.yes = arith.constant true")
    text.write(f"{stem}.all = arith.constant dense<true> : {bools}")
    kinds = f"(i64, i1, {bools}) : i32"
    head = f"{stem}.rows:3 = scf.for %chunk.row = %size.0 to %size.{writer.size} step %row.{writer.row}"
    first = f"{stem}.expected = {stem}.from, {stem}.a = {stem}.yes, {stem}.b = {stem}.all"
    with text.block(f"{head} iter_args({first}) -> {kinds}", end):
        text.write(f"{stem}.begin = llvm.ptrtoint {_row_address(writer, op, 'start', '%chunk.row')} : {POINTER} to i64")
        text.write(f"{stem}.same = arith.cmpi eq, {stem}.begin, {stem}.expected : i64")
        text.write(f"{stem}.c = arith.andi {stem}.a, {stem}.same : i1")
        text.write(f"{stem}.next = arith.addi {stem}.expected, {stem}.row : i64")
        loaded = _all_loaded(writer, op, stem, bools, end) if op.mask is not None else f"{stem}.b"
        text.write(f"scf.yield {stem}.next, {stem}.c, {loaded} : i64, i1, {bools}")
    text.write(f"{stem}.loaded = vector.reduction <and>, {stem}.rows#2 : {bools} into i1")
    text.write(f"{stem}.found = arith.andi {stem}.rows#1, {stem}.loaded : i1")
    return f"{stem}.found", f"{stem}.row"


def _row_address(writer: LoopWriter, op: ops.Load, name: str, row: str) -> str:
    """The address of the first element of the row that begins at a position."""
    text = writer.text
    text.write(f"%{name}.column = arith.constant 0 : i32")
    for part in ("row", "i"):
        text.write(f"%{name}.{part} = arith.addi {row}, %{name}.column : i32")
    positions = Positions(text, writer.size, writer.width, writer.row, name)
    return Elements(text, writer.plan, writer.scalars, writer.first, writer.last, positions).get(op.pointer)


def _all_loaded(writer: LoopWriter, op: ops.Load, stem: str, bools: str, end: str) -> str:
    """Which lanes are masked off in no chunk of the row, nor of those before it, `{stem}.b`."""
    assert op.mask is not None
    text = writer.text
    head = f"{stem}.chunks = scf.for %chunk.column = %size.0 to %row.{writer.row} step %size.{writer.width}"
    with text.block(f"{head} iter_args({stem}.d = {stem}.b) -> ({bools}) : i32", end):
        text.write("%chunk.i = arith.addi %chunk.row, %chunk.column : i32")
        mask = writer.vectors([op.mask])[0]
        text.at(op)
        text.write(f"{stem}.e = arith.andi {stem}.d, {mask} : {bools}")
        text.write(f"scf.yield {stem}.e : {bools}")
    return f"{stem}.chunks"
