"""Whether a matrix can be read where it is loaded from, which is decided at run time."""

from __future__ import annotations

from mytriton.backends.cpu.elements import Elements
from mytriton.backends.cpu.elementwise import pointee
from mytriton.backends.cpu.loops import LoopWriter
from mytriton.backends.cpu.places import Positions
from mytriton.backends.cpu.writer import POINTER, type_name
from mytriton.ir import ops
from mytriton.types import i1


def all_in_place(writer: LoopWriter, op: ops.Load, address: str, stem: str) -> tuple[str, str]:
    """Whether all elements of a load, the first at `address`, are loaded from rows at equal distances, and that
    distance in bytes: the names of an i1 and an i64."""
    text, width, size = writer.text, writer.width, pointee(op.pointer).bytes
    for name, number in (("row", writer.row), ("column", 0), ("i", writer.row)):
        text.write(f"%second.{name} = arith.constant {number} : i32")
    positions = Positions(text, writer.size, width, writer.row, "second")
    second = Elements(text, writer.plan, writer.scalars, writer.first, writer.last, positions).get(op.pointer)
    for name, pointer in (("from", address), ("to", second)):
        text.write(f"{stem}.{name} = llvm.ptrtoint {pointer} : {POINTER} to i64")
    text.write(f"{stem}.row = arith.subi {stem}.to, {stem}.from : i64")
    bools, end = type_name(i1, width), "} {loop_annotation = #as_written}"
    text.write(f"{stem}.yes = arith.constant true")
    text.write(f"{stem}.all = arith.constant dense<true> : {bools}")
    for name, number in (("columns", writer.row.bit_length() - 1), ("bytes", size)):
        text.write(f"{stem}.{name} = arith.constant {number} : i64")
    text.write(f"%row.{writer.row} = arith.constant {writer.row} : i32")
    kinds = f"(i1, {bools}) : i32"
    head = f"{stem}.rows:2 = scf.for %chunk.row = %size.0 to %size.{writer.size} step %row.{writer.row}"
    with text.block(f"{head} iter_args({stem}.a = {stem}.yes, {stem}.b = {stem}.all) -> {kinds}", end):
        text.write(f"{stem}.start = arith.extui %chunk.row : i32 to i64")
        text.write(f"{stem}.number = arith.shrui {stem}.start, {stem}.columns : i64")
        text.write(f"{stem}.down = arith.muli {stem}.number, {stem}.row : i64")
        text.write(f"{stem}.begin = arith.addi {stem}.from, {stem}.down : i64")
        head = f"{stem}.chunks:2 = scf.for %chunk.column = %size.0 to %row.{writer.row} step %size.{width}"
        with text.block(f"{head} iter_args({stem}.c = {stem}.a, {stem}.d = {stem}.b) -> {kinds}", end):
            text.write("%chunk.i = arith.addi %chunk.row, %chunk.column : i32")
            where = writer.elements.get(op.pointer)
            mask = writer.vectors([op.mask])[0] if op.mask is not None else f"{stem}.all"
            text.at(op)
            text.write(f"{stem}.where = llvm.ptrtoint {where} : {POINTER} to i64")
            text.write(f"{stem}.right = arith.extui %chunk.column : i32 to i64")
            text.write(f"{stem}.across = arith.muli {stem}.right, {stem}.bytes : i64")
            text.write(f"{stem}.expected = arith.addi {stem}.begin, {stem}.across : i64")
            text.write(f"{stem}.same = arith.cmpi eq, {stem}.where, {stem}.expected : i64")
            text.write(f"{stem}.e = arith.andi {stem}.c, {stem}.same : i1")
            text.write(f"{stem}.f = arith.andi {stem}.d, {mask} : {bools}")
            text.write(f"scf.yield {stem}.e, {stem}.f : i1, {bools}")
        text.write(f"scf.yield {stem}.chunks#0, {stem}.chunks#1 : i1, {bools}")
    text.write(f"{stem}.loaded = vector.reduction <and>, {stem}.rows#1 : {bools} into i1")
    text.write(f"{stem}.found = arith.andi {stem}.rows#0, {stem}.loaded : i1")
    return f"{stem}.found", f"{stem}.row"
