"""Loads, stores and pointers in emitted gpu-dialect MLIR: what the two boundary forms have in common.

A form says what a pointer is in the text (an address, or a memref and an index) and how one element is read and
written; masks, copies and i1 (a byte in memory, true if not 0) are the same in both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from mytriton.backends.mlir.names import number
from mytriton.backends.mlir.text import I8, Text
from mytriton.ir import ops
from mytriton.ir.core import Op, ParamInfo, Value
from mytriton.types import PointerType, ScalarType, Type, element_of, i1


@dataclass
class Context:
    """What a form needs of the emitter: the text, operand names, and of the segment at hand the trips of its loop and
    its `width`: None for one element at a time, W for chunks of W consecutive elements of a thread as vectors."""

    text: Text
    names: dict[Value, str]
    definitions: dict[Value, Op]
    width: int | None = None
    trips: int = 1

    def ref(self, value: Value) -> str:
        """`value` as an operand. Constants and splats are made where they are first needed: they may be needed in
        several loops, and are not worth keeping from one to another."""
        op = self.definitions.get(value)
        if isinstance(op, ops.Constant):
            return self.text.constant(op.value, op.type)
        if not isinstance(op, ops.Splat):
            return self.names[value]
        scalar, element = op.source, element_of(value.type)
        if self.width is None:
            return self.ref(scalar)
        source, width = self.definitions.get(scalar), self.width
        if isinstance(source, ops.Constant):
            return self.text.constant(source.value, source.type, width)
        name, text = f"%splat{number(value)}", self.text
        type_ = "!llvm.ptr<1>" if isinstance(element, PointerType) else element.signless
        operand = self.ref(scalar)
        return text.once(
            name, lambda n: text.write(f"{n} = vector.broadcast {operand} : {type_} to vector<{width}x{type_}>")
        )

    def element(self, value: Value) -> ScalarType:
        """What a pointer (or a block of them) points to."""
        pointer = element_of(value.type)
        assert isinstance(pointer, PointerType), "only loads and stores ask"
        return pointer.element


def memory_type(element: ScalarType) -> ScalarType:
    """The type of an element in memory."""
    return I8 if element == i1 else element


class MemoryForm(ABC):
    """One boundary form. Methods that take `result` leave their value in that SSA name."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.text = context.text

    @abstractmethod
    def parameter(self, param: Value, info: ParamInfo) -> str:
        """The type of a pointer parameter, with its attributes."""

    @abstractmethod
    def array(self, name: str, type_: Type, trips: int) -> None:
        """Declare the per-thread array that keeps a value of each trip of a loop; at the function's top level."""

    @abstractmethod
    def keep(self, name: str, value: Value) -> None:
        """Store this trip's `value` in its array."""

    @abstractmethod
    def fetch(self, name: str, value: Value) -> None:
        """Load this trip's `value` from its array; it can be referred to afterwards."""

    @abstractmethod
    def add(self, op: ops.AddPtr, result: str) -> None:
        """A pointer moved by some elements."""

    @abstractmethod
    def select(self, op: ops.Select, result: str) -> None:
        """The choice between two pointers."""

    @abstractmethod
    def compare(self, op: ops.Compare, result: str) -> None:
        """The comparison of two pointers."""

    @abstractmethod
    def read(self, pointer: Value, result: str) -> None:
        """Load one element, as it is in memory."""

    @abstractmethod
    def put(self, value: str, pointer: Value) -> None:
        """Store one element, as it is in memory."""

    def load(self, op: ops.Load, result: str) -> None:
        """A load of one element a thread."""
        element = element_of(op.result.type)
        assert isinstance(element, ScalarType), "pointers to pointers do not exist"
        if op.mask is None:
            self._read_element(op.pointer, element, result)
            return
        mask = self.context.ref(op.mask)
        other = self.context.ref(op.other) if op.other is not None else self.text.constant(_zero(element), element)
        with self.text.region(f"{result} = scf.if {mask} -> ({element.signless})"):
            loaded = f"%loaded{number(op.result)}"
            self._read_element(op.pointer, element, loaded)
            self.text.write(f"scf.yield {loaded} : {element.signless}")
            self.text.otherwise()
            self.text.write(f"scf.yield {other} : {element.signless}")

    def _read_element(self, pointer: Value, element: ScalarType, result: str) -> None:
        if element != i1:
            self.read(pointer, result)
            return
        byte, zero = f"{result}_byte", self.text.constant(0, I8)
        self.read(pointer, byte)
        self.text.write(f"{result} = arith.cmpi ne, {byte}, {zero} : i8")

    def store(self, op: ops.Store, number_: int, owner: str | None) -> None:
        """A store of one element a thread, by the threads whose element is no copy (`owner`, None for all)."""
        conditions = [c for c in (owner, self.context.ref(op.mask) if op.mask is not None else None) if c]
        value = self.context.ref(op.value)
        if self.context.element(op.pointer) == i1:
            byte = f"%bytes_store{number_}"
            self.text.write(f"{byte} = arith.extui {value} : i1 to i8")
            value = byte
        if not conditions:
            self.put(value, op.pointer)
            return
        condition = conditions[0]
        if len(conditions) == 2:
            condition = f"%store{number_}"
            self.text.write(f"{condition} = arith.andi {conditions[0]}, {conditions[1]} : i1")
        with self.text.region(f"scf.if {condition}"):
            self.put(value, op.pointer)


def _zero(element: ScalarType) -> bool | int | float:
    return {"bool": False, "int": 0, "float": 0.0}[element.kind]
