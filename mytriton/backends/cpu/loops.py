"""One loop over a block: chunks of W elements, each a vector, in the order of the operations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod

from mytriton.backends.cpu.elementwise import elementwise, pointee
from mytriton.backends.cpu.held import from_memory, is_held_as_is, memory_type, to_memory
from mytriton.backends.cpu.plan import Plan
from mytriton.backends.cpu.writer import POINTER, Text, type_name
from mytriton.backends.mlir.ops import ElementEmitter
from mytriton.ir import ops
from mytriton.ir.core import Op, Value
from mytriton.types import PointerType, ScalarType, element_of, i1, i32, shape_of

#: Elements a vector operation handles. 16 f32 fill an AVX-512 register; LLVM splits where registers are shorter. 32
#: were 40 % slower in a vector add, and 8 the same as 16.
LANES = 16

#: What `#as_written` stands for. Loops over chunks are vectors already; unrolling them as well made them no faster, and
#: a kernel of 20 loops four times as slow to compile. In the loop over programs LLVM's vectorizer (22.1,
#: `vputils::isSingleScalar`) takes time exponential in the length of a chain whose values are used twice.
ANNOTATION = "#as_written = #llvm.loop_annotation<vectorize = <disable = true>, unroll = <disable = true>>"


def width_of(size: int) -> int:
    """Lanes used for blocks of `size` elements."""
    return min(LANES, size)


@dataclass
class LoopWriter:
    """Writes loops of blocks of one size. `first` maps contiguous pointer blocks to their first address."""

    text: Text
    plan: Plan
    definitions: Mapping[Value, Op]
    emitter: ElementEmitter
    size: int
    _chunks: set[str] = field(default_factory=set)

    @property
    def width(self) -> int:
        """Lanes."""
        return width_of(self.size)

    def loop(self, first: int, last: int, guarded: bool, addresses: Mapping[Value, str]) -> None:
        """Write loops `first` to `last` of the plan as one."""
        members = self.plan.members(first, last, guarded)
        inside = {v for op in members for v in op.results}
        last_use = {v: max(self.plan.loop_of[u] for u in self.users(v)) for v in self.plan.scratch if v in inside}
        self.text.at(next(op for op in members if isinstance(op, (ops.Load, ops.Store))))
        head = f"scf.for %chunk.i = %size.0 to %size.{self.size} step %size.{self.width} : i32"
        with self.text.block(head, end="} {loop_annotation = #as_written}"):
            self._chunks.clear()
            kept: set[Value] = set()
            for op in members:
                self.text.at(op)
                for value in op.operands:
                    if value in self.plan.scratch and value not in inside and value not in kept:
                        kept.add(value)
                        self._reload(value)
                if self.plan.is_vector_access(op, guarded) and isinstance(op, (ops.Load, ops.Store)):
                    self._access(op, addresses[op.pointer])
                else:
                    self._operation(op)
                if op.results and last_use.get(op.result, -1) > last:
                    self._keep(op.result)

    def users(self, value: Value) -> list[Op]:
        """The block operations that use a value."""
        return [op for op in self.plan.block_ops if value in op.operands]

    def _type(self, element: ScalarType | PointerType) -> str:
        return type_name(element, self.width)

    def _operation(self, op: Op) -> None:
        text, result = self.text, self.text.name(op.result) if op.results else ""
        names = [text.name(v) for v in op.operands]
        match op:
            case ops.Arange():
                vector, start = self._type(i32), "%chunk.i"
                if op.start:
                    text.write(f"{result}.start = arith.constant {op.start} : i32")
                    text.write(f"{result}.at = arith.addi %chunk.i, {result}.start : i32")
                    start = f"{result}.at"
                text.write(f"{result}.base = vector.broadcast {start} : i32 to {vector}")
                text.write(f"{result} = arith.addi {result}.base, %lanes.{self.width} : {vector}")
            case ops.Splat():
                self._splat(op, result)
            case ops.Load() | ops.Store():
                self._access(op, None)
            case _:
                elementwise(text, self.emitter, op, result, names, self.width)

    def _splat(self, op: ops.Splat, result: str) -> None:
        source = self.definitions.get(op.source)
        if isinstance(source, ops.Constant):
            self.emitter.constant(source.value, source.type, result)
            return
        element = element_of(op.source.type)
        scalar = self.text.name(op.source)
        self.text.write(f"{result} = vector.broadcast {scalar} : {type_name(element)} to {self._type(element)}")

    # --- memory -------------------------------------------------------------------------------------------------------

    def _access(self, op: ops.Load | ops.Store, address: str | None) -> None:
        """A load or store: of consecutive elements if `address` is that of the block's first, else element by
        element."""
        element = pointee(op.pointer)
        held = memory_type(element)
        mask = self.text.name(op.mask) if op.mask is not None else ""
        stem = self.text.name(op.result if isinstance(op, ops.Load) else op.value)
        stem = stem if isinstance(op, ops.Load) else f"{stem}.store_{self.plan.loop_of[op]}"
        where = self.text.name(op.pointer)
        if address is not None:
            where = self._chunk(where, address, held)
        elif not mask:
            mask = self.emitter.constant(True, i1, f"{stem}.all")
        if isinstance(op, ops.Load):
            self._load(op, where, mask, element, address is not None)
        else:
            self._store(op, where, mask, element, address is not None, stem)

    def _chunk(self, pointer: str, address: str, held: ScalarType) -> str:
        """The address of the current chunk of a contiguous block of pointers."""
        where = f"{pointer}.chunk"
        if where not in self._chunks:
            self._chunks.add(where)
            self.text.write(
                f"{where} = llvm.getelementptr {address}[%chunk.i] : ({POINTER}, i32) -> {POINTER}, {held.signless}"
            )
        return where

    def _load(self, op: ops.Load, where: str, mask: str, element: ScalarType, vector: bool) -> None:
        held, result = memory_type(element), self.text.name(op.result)
        loaded = result if is_held_as_is(element) else f"{result}.held"
        value, bools = self._type(held), self._type(i1)
        align = f"{{alignment = {held.bytes} : i32}}"
        if vector and not mask:
            align = f"{{alignment = {held.bytes} : i64}}"
            self.text.write(f"{loaded} = llvm.load {where} {align} : {POINTER} -> {value}")
        else:
            other = self._other(op, element, result)
            name, pointers = ("load", POINTER) if vector else ("gather", f"vector<{self.width}x{POINTER}>")
            types = f"({pointers}, {bools}, {value}) -> {value}"
            self.text.write(f"{loaded}.masked = llvm.intr.masked.{name} {where}, {mask}, {other} {align} : {types}")
            # LLVM 22 makes one load of `select mask, (masked load), x` and loses its place among the stores. It does
            # not see through a freeze, which costs no instruction.
            self.text.write(f"{loaded} = llvm.freeze {loaded}.masked : {value}")
        from_memory(self.emitter, loaded, element, result)

    def _other(self, op: ops.Load, element: ScalarType, result: str) -> str:
        """What masked-off elements read as, as it would be held in memory."""
        if op.other is None:
            return self.emitter.constant(0, memory_type(element), f"{result}.other")
        return to_memory(self.emitter, self.text.name(op.other), element, f"{result}.other")

    def _store(self, op: ops.Store, where: str, mask: str, element: ScalarType, vector: bool, stem: str) -> None:
        held = memory_type(element)
        value = to_memory(self.emitter, self.text.name(op.value), element, f"{stem}.held")
        type_, bools = self._type(held), self._type(i1)
        if vector and not mask:
            align = f"{{alignment = {held.bytes} : i64}}"
            self.text.write(f"llvm.store {value}, {where} {align} : {type_}, {POINTER}")
            return
        name, pointers = ("store", POINTER) if vector else ("scatter", f"vector<{self.width}x{POINTER}>")
        align = f"{{alignment = {held.bytes} : i32}}"
        self.text.write(f"llvm.intr.masked.{name} {value}, {where}, {mask} {align} : {type_}, {bools} into {pointers}")

    def _slot(self, value: Value) -> tuple[str, str]:
        """The address at which this chunk of a value is kept, and the type it has there."""
        name, element = self.text.name(value), element_of(value.type)
        held = element if isinstance(element, PointerType) else memory_type(element)
        base, slot = f"{name}.kept", f"{name}.slot"
        self.text.write(f"{name}.offset = arith.constant {self.plan.scratch[value]} : i64")
        self.text.write(f"{base} = llvm.getelementptr %scratch.base[{name}.offset] : ({POINTER}, i64) -> {POINTER}, i8")
        types = f"({POINTER}, i32) -> {POINTER}, {type_name(held)}"
        self.text.write(f"{slot} = llvm.getelementptr {base}[%chunk.i] : {types}")
        return slot, self._type(held)

    def _keep(self, value: Value) -> None:
        name, element = self.text.name(value), element_of(value.type)
        slot, type_ = self._slot(value)
        if not isinstance(element, PointerType):
            name = to_memory(self.emitter, name, element, f"{name}.saved")
        self.text.write(f"llvm.store {name}, {slot} {{alignment = 1 : i64}} : {type_}, {POINTER}")

    def _reload(self, value: Value) -> None:
        name, element = self.text.name(value), element_of(value.type)
        slot, type_ = self._slot(value)
        as_is = isinstance(element, PointerType) or is_held_as_is(element)
        held = name if as_is else f"{name}.reloaded"
        self.text.write(f"{held} = llvm.load {slot} {{alignment = 1 : i64}} : {POINTER} -> {type_}")
        if not isinstance(element, PointerType):
            from_memory(self.emitter, held, element, name)


def size_of(op: ops.Load | ops.Store) -> int:
    """Elements in the block that a load or store handles."""
    return prod(shape_of(op.pointer.type))
