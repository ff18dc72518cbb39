"""Where elements are: positions within blocks, and addresses in scratch memory."""

from __future__ import annotations

from mytriton.backends.cpu.held import memory_type
from mytriton.backends.cpu.plan import Plan, Rows
from mytriton.backends.cpu.views import View, lane_positions, log2, pieces
from mytriton.backends.cpu.writer import POINTER, Text, dense, type_name
from mytriton.ir.core import Value
from mytriton.types import PointerType, ScalarType, element_of, i32


def held_type(value: Value) -> ScalarType | PointerType:
    """The type that the elements of a value have in memory."""
    element = element_of(value.type)
    return element if isinstance(element, PointerType) else memory_type(element)


def scratch_address(text: Text, name: str, offset: int) -> str:
    """An address in scratch memory, as `name`."""
    text.write(f"{name}.offset = arith.constant {offset} : i64")
    types = f"({POINTER}, i64) -> {POINTER}, i8"
    text.write(f"{name} = llvm.getelementptr %scratch.base[{name}.offset] : {types}")
    return name


def slot(text: Text, plan: Plan, value: Value) -> str:
    """The address at which a value is kept."""
    name = text.name(value)
    if text.once(f"{name}.kept"):
        text.write(f"{name}.offset = arith.constant {plan.slots[value]} : i64")
        types = f"({POINTER}, i64) -> {POINTER}, i8"
        text.write(f"{name}.kept = llvm.getelementptr %scratch.base[{name}.offset] : {types}")
    return f"{name}.kept"


class Positions:
    """The positions of the chunk that a loop is at, of `width` of `size` elements, in the sources of views.

    With a `row` of elements the loop is two: `%chunk.row` is where the row begins, `%chunk.column` where the chunk is
    in it. What depends on one of them only is then computed where only that changes. Another `stem` than "chunk" stands
    for another place."""

    def __init__(self, text: Text, size: int, width: int, row: int = 0, stem: str = "chunk") -> None:
        self.text, self.stem = text, stem
        self._mark = "" if stem == "chunk" else f".{stem}"
        self.row_bit = log2(row) if row else None
        self.bits, self.lane_bits = log2(size), log2(width)
        self.width = width
        self._views: dict[View, str] = {tuple(range(self.bits)): ""}
        self._firsts: dict[View, str] = {}

    def suffix(self, view: View) -> str:
        """What tells the names of elements in one view from those in another; empty for the loop's own order."""
        return self._mark + self._views.setdefault(view, f".view_{len(self._views) - 1}")

    def first(self, view: View) -> str:
        """The position of the chunk's first element."""
        if view not in self._firsts:
            stem = f"%{self.stem}{self.suffix(view)}"
            total = f"%{self.stem}.i" if not self._views[view] else ""
            for number, piece in enumerate(pieces(view, self.lane_bits) if not total else ()):
                term = self._piece(f"{stem}.{number}", *piece)
                total = self._sum(f"{stem}.sum_{number}", total, term) if total else term
            self._firsts[view] = total or "%size.0"
        return self._firsts[view]

    def _piece(self, name: str, bit: int, at: int, count: int) -> str:
        """Some bits of the chunk's position, moved to where they are in the source."""
        value, bits = f"%{self.stem}.i", self.bits
        if self.row_bit is not None and at >= self.row_bit:
            value = f"%{self.stem}.row"
        elif self.row_bit is not None and at + count <= self.row_bit:
            value, bits = f"%{self.stem}.column", self.row_bit
        mask = ((1 << count) - 1) << at
        if at + count < bits or (at > self.lane_bits and bit > 0):
            value = self._apply(f"{name}.bits", "arith.andi", value, mask)
        if at > bit:
            value = self._apply(f"{name}.down", "arith.shrui", value, at - bit)
        if at < bit:
            value = self._apply(f"{name}.up", "arith.shli", value, bit - at)
        return value

    def _apply(self, name: str, operation: str, value: str, number: int) -> str:
        self.text.write(f"{name}.by = arith.constant {number} : i32")
        self.text.write(f"{name} = {operation} {value}, {name}.by : i32")
        return name

    def among(self, rows: Rows, columns: int) -> str:
        """Where the chunk is in a matrix of so many columns whose rows are kept so."""
        name, split = f"%{self.stem}.among_{columns}_{rows.columns}_{rows.row}", self.row_bit == log2(columns)
        if not self.text.once(name):
            return name
        row, column = (f"%{self.stem}.row", f"%{self.stem}.column") if split else (f"%{self.stem}.i", "")
        row = self._apply(f"{name}.row", "arith.shrui", row, log2(columns))
        column = column or self._apply(f"{name}.column", "arith.andi", f"%{self.stem}.i", columns - 1)
        down = self._apply(f"{name}.down", "arith.muli", row, rows.row)
        if rows.columns < columns:
            panel = self._apply(f"{name}.panel", "arith.shrui", column, log2(rows.columns))
            right = self._apply(f"{name}.right", "arith.muli", panel, rows.panel)
            down = self._sum(f"{name}.begin", down, right)
            column = self._apply(f"{name}.within", "arith.andi", column, rows.columns - 1)
        return self._sum(name, down, column)

    def _sum(self, name: str, lhs: str, rhs: str) -> str:
        self.text.write(f"{name} = arith.addi {lhs}, {rhs} : i32")
        return name

    def lane_offsets(self, view: View) -> str:
        """Where each lane is from the first one, a vector."""
        suffix = self.suffix(view)
        if not suffix:
            return f"%lanes.{self.width}"
        name = f"%chunk{suffix}.offsets"
        if self.text.once(name):
            offsets = dense(lane_positions(view, self.width))
            self.text.write(f"{name} = arith.constant {offsets} : {type_name(i32, self.width)}")
        return name

    def lanes(self, view: View) -> str:
        """The positions of all of the chunk's elements, a vector."""
        return self.vector(self.first(view), self.lane_offsets(view), f"%{self.stem}{self.suffix(view)}.lanes")

    def vector(self, first: str, offsets: str, name: str) -> str:
        """`first` in all lanes plus `offsets`."""
        if self.text.once(name):
            vector = type_name(i32, self.width)
            self.text.write(f"{name}.base = vector.broadcast {first} : i32 to {vector}")
            self.text.write(f"{name} = arith.addi {name}.base, {offsets} : {vector}")
        return name
