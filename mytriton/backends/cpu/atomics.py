"""Atomic operations on the host: functions that go through the elements of a block in memory, one after the other."""

from __future__ import annotations

from math import prod

from mytriton.backends.cpu.writer import POINTER, Text
from mytriton.ir import ops
from mytriton.ir.core import Block, Func
from mytriton.records import dataclass
from mytriton.types import ScalarType, element_of, shape_of

_EMPTY = Func("", Block((), ()), {})

_FLOATS = {"add": "fadd", "max": "fmax", "min": "fmin", "xchg": "xchg"}
_UNSIGNED = {"max": "umax", "min": "umin"}
_BITS = {"and": "_and", "or": "_or", "xor": "_xor"}


def instruction(kind: str, element: ScalarType) -> str:
    """What LLVM calls it (but for `cas`)."""
    if element.kind == "float":
        return _FLOATS[kind]
    return _BITS.get(kind) or (kind if element.signed else _UNSIGNED.get(kind, kind))


def added_in_a_loop(
    stem: str, result: str, operands: tuple[str, str], element: ScalarType, order: str, pointer_type: str
) -> list[str]:
    """Lines that add to a float and leave in `result` what was there, by comparing and swapping until nothing came
    between: the addition is MLIR's own, which later passes widen where the machine has none of that type."""
    s, held, bits, (pointer, value) = stem, element.signless, f"i{element.bits}", operands
    return [
        f"{s}_first = llvm.load volatile {pointer} {{alignment = {element.bytes} : i64}} : {pointer_type} -> {bits}",
        f"{s}_last = scf.while ({s}_seen = {s}_first) : ({bits}) -> {bits} {{",
        f"  {s}_before = arith.bitcast {s}_seen : {bits} to {held}",
        f"  {s}_sum = arith.addf {s}_before, {value} : {held}",
        f"  {s}_new = arith.bitcast {s}_sum : {held} to {bits}",
        f"  {s}_pair = llvm.cmpxchg {pointer}, {s}_seen, {s}_new {order} : {pointer_type}, {bits}",
        f"  {s}_found = llvm.extractvalue {s}_pair[0] : !llvm.struct<({bits}, i1)>",
        f"  {s}_again = arith.cmpi ne, {s}_found, {s}_seen : {bits}",
        f"  scf.condition({s}_again) {s}_found : {bits}",
        "} do {",
        f"^bb0({s}_next: {bits}):",
        f"  scf.yield {s}_next : {bits}",
        "}",
        f"{result} = arith.bitcast {s}_last : {bits} to {held}",
    ]


@dataclass(frozen=True, slots=True)
class AtomicBlock:
    """An atomic operation on `size` elements."""

    kind: str
    element: ScalarType
    size: int
    masked: bool

    @property
    def name(self) -> str:
        """The symbol of its function, without the @."""
        return f"atomic.{self.kind}.{self.element.name}.{self.size}{'.masked' if self.masked else ''}"


def atomic_block(op: ops.Atomic) -> AtomicBlock:
    """What an `Atomic` needs."""
    element = element_of(op.value.type)
    assert isinstance(element, ScalarType)
    return AtomicBlock(op.kind, element, prod(shape_of(op.value.type)), op.mask is not None)


def atomic_function(what: AtomicBlock) -> list[str]:
    """`@atomic.add.f32.256.masked(pointers, values, mask, old)`: everything is ordered as by `acq_rel`."""
    names = ["pointers", "values", *(["mask"] if what.masked else []), *(["compare"] if what.kind == "cas" else [])]
    text, held = Text(_EMPTY), what.element.signless
    params = ", ".join(f"%{name}: {POINTER}" for name in (*names, "old"))
    attributes = 'attributes {llvm.linkage = #llvm.linkage<internal>, passthrough = ["noinline"]}'
    with text.block(f"func.func private @{what.name}({params}) {attributes}"):
        for name, number in (("zero", 0), ("one", 1), ("size", what.size)):
            text.write(f"%{name} = arith.constant {number} : i32")
        with text.block("scf.for %i = %zero to %size step %one : i32", end="} {loop_annotation = #as_written}"):
            _load(text, "address", "pointers", POINTER, 8)
            _load(text, "value", "values", held, what.element.bytes)
            _at(text, "old", held)
            if not what.masked:
                _update(text, what)
                text.write(f"llvm.store %found, %old.at {{alignment = {what.element.bytes} : i64}} : {held}, {POINTER}")
            else:
                _load(text, "byte", "mask", "i8", 1)
                text.write("%no = arith.constant 0 : i8")
                text.write("%done = arith.cmpi ne, %byte, %no : i8")
                with text.block(f"%result = scf.if %done -> ({held})"):
                    _update(text, what)
                    text.write(f"scf.yield %found : {held}")
                with text.otherwise():
                    nothing = "0.0" if what.element.kind == "float" else "0"
                    text.write(f"%nothing = arith.constant {nothing} : {held}")
                    text.write(f"scf.yield %nothing : {held}")
                text.write(
                    f"llvm.store %result, %old.at {{alignment = {what.element.bytes} : i64}} : {held}, {POINTER}"
                )
        text.write("func.return")
    return [line.text for line in text.lines]


def _at(text: Text, base: str, type_: str) -> None:
    text.write(f"%{base}.at = llvm.getelementptr %{base}[%i] : ({POINTER}, i32) -> {POINTER}, {type_}")


def _load(text: Text, name: str, base: str, type_: str, size: int) -> None:
    _at(text, base, type_)
    text.write(f"%{name} = llvm.load %{base}.at {{alignment = {size} : i64}} : {POINTER} -> {type_}")


def _update(text: Text, what: AtomicBlock) -> None:
    """`%found`: what was at `%address`."""
    held, bits = what.element.signless, f"i{what.element.bits}"
    if what.kind == "add" and what.element.bits == 16:
        operands = "%address", "%value"
        for line in added_in_a_loop("%add", "%found", operands, what.element, "acq_rel acquire", POINTER):
            text.write(line)
        return
    if what.kind != "cas":
        name = instruction(what.kind, what.element)
        text.write(f"%found = llvm.atomicrmw {name} %address, %value acq_rel : {POINTER}, {held}")
        return
    _load(text, "expected", "compare", held, what.element.bytes)
    names = ["%expected", "%value"]
    if what.element.kind == "float":
        for n, name in enumerate(names):
            text.write(f"{name}.bits = arith.bitcast {name} : {held} to {bits}")
            names[n] = f"{name}.bits"
    text.write(f"%pair = llvm.cmpxchg %address, {names[0]}, {names[1]} acq_rel acquire : {POINTER}, {bits}")
    found = "%found.bits" if what.element.kind == "float" else "%found"
    text.write(f"{found} = llvm.extractvalue %pair[0] : !llvm.struct<({bits}, i1)>")
    if what.element.kind == "float":
        text.write(f"%found = arith.bitcast {found} : {bits} to {held}")
