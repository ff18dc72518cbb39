"""Loads and stores of one chunk: vectors of consecutive elements, gathers and scatters."""

from __future__ import annotations

from mytriton.backends.cpu.elementwise import pointee
from mytriton.backends.cpu.held import from_memory, is_held_as_is, memory_type, to_memory
from mytriton.backends.cpu.writer import POINTER, Text, type_name
from mytriton.backends.mlir.ops import ElementEmitter
from mytriton.ir import ops
from mytriton.types import ScalarType, i1


class VectorMemory:
    """Writes accesses to the kernel's arrays. `where` is the address of the chunk's first element if the access is one
    of consecutive elements (`vector`), else a vector of addresses; `mask` is empty if all are touched."""

    def __init__(self, text: Text, emitter: ElementEmitter, width: int) -> None:
        self.text, self.emitter, self.width = text, emitter, width

    def load(self, op: ops.Load, result: str, where: str, mask: str, other: str, vector: bool) -> None:
        """Leave the loaded chunk in `result`. `other`, empty for 0, is what masked-off elements read as."""
        element = pointee(op.pointer)
        held = memory_type(element)
        loaded = result if is_held_as_is(element) else f"{result}.held"
        value, bools = self._type(held), self._type(i1)
        if vector and not mask:
            volatile = "volatile " if op.volatile else ""
            align = f"{{alignment = {held.bytes} : i64}}"
            self.text.write(f"{loaded} = llvm.load {volatile}{where} {align} : {POINTER} -> {value}")
            from_memory(self.emitter, loaded, element, result)
            return
        other = self._other(other, element, result)
        mask = mask or self.emitter.constant(True, i1, f"{result}.all")
        if op.volatile:
            self._one_by_one(loaded, where, mask, other, held, vector)
        else:
            name, pointers = ("load", POINTER) if vector else ("gather", self._pointers)
            types = f"({pointers}, {bools}, {value}) -> {value}"
            align = f"{{alignment = {held.bytes} : i32}}"
            self.text.write(f"{loaded}.masked = llvm.intr.masked.{name} {where}, {mask}, {other} {align} : {types}")
            # LLVM 22 makes one load of `select mask, (masked load), x` and loses its place among the stores. It does
            # not see through a freeze, which costs no instruction.
            self.text.write(f"{loaded} = llvm.freeze {loaded}.masked : {value}")
        from_memory(self.emitter, loaded, element, result)

    def _one_by_one(self, result: str, where: str, mask: str, other: str, held: ScalarType, vector: bool) -> None:
        """A volatile load of each element whose mask is true; there is no such vector operation."""
        text, lane, value = self.text, f"{result}.lane", self._type(held)
        for number in (0, 1, self.width):
            text.write(f"{lane}.{number} = arith.constant {number} : i32")
        head = f"{result} = scf.for {lane} = {lane}.0 to {lane}.{self.width} step {lane}.1"
        head += f" iter_args({lane}.before = {other}) -> ({value}) : i32"
        with text.block(head, end="} {loop_annotation = #as_written}"):
            text.write(f"{lane}.on = llvm.extractelement {mask}[{lane} : i32] : {self._type(i1)}")
            with text.block(f"{lane}.after = scf.if {lane}.on -> ({value})"):
                if vector:
                    types = f"({POINTER}, i32) -> {POINTER}, {held.signless}"
                    text.write(f"{lane}.where = llvm.getelementptr {where}[{lane}] : {types}")
                else:
                    text.write(f"{lane}.where = llvm.extractelement {where}[{lane} : i32] : {self._pointers}")
                align = f"{{alignment = {held.bytes} : i64}}"
                text.write(f"{lane}.element = llvm.load volatile {lane}.where {align} : {POINTER} -> {held.signless}")
                text.write(f"{lane}.new = llvm.insertelement {lane}.element, {lane}.before[{lane} : i32] : {value}")
                text.write(f"scf.yield {lane}.new : {value}")
            with text.otherwise():
                text.write(f"scf.yield {lane}.before : {value}")
            text.write(f"scf.yield {lane}.after : {value}")

    def _other(self, other: str, element: ScalarType, result: str) -> str:
        """What masked-off elements read as, as it would be held in memory."""
        if not other:
            return self.emitter.constant(0, memory_type(element), f"{result}.other")
        return to_memory(self.emitter, other, element, f"{result}.other")

    def store(self, where: str, value: str, mask: str, element: ScalarType, vector: bool, stem: str) -> None:
        """Store a chunk; names are made of `stem`."""
        held = memory_type(element)
        value = to_memory(self.emitter, value, element, f"{stem}.held")
        type_ = self._type(held)
        if vector and not mask:
            align = f"{{alignment = {held.bytes} : i64}}"
            self.text.write(f"llvm.store {value}, {where} {align} : {type_}, {POINTER}")
            return
        mask = mask or self.emitter.constant(True, i1, f"{stem}.all")
        name, pointers = ("store", POINTER) if vector else ("scatter", self._pointers)
        align = f"{{alignment = {held.bytes} : i32}}"
        types = f"{type_}, {self._type(i1)} into {pointers}"
        self.text.write(f"llvm.intr.masked.{name} {value}, {where}, {mask} {align} : {types}")

    def _type(self, element: ScalarType) -> str:
        return type_name(element, self.width)

    @property
    def _pointers(self) -> str:
        return f"vector<{self.width}x{POINTER}>"
