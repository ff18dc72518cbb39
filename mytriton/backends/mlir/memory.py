"""Loads, stores and pointers in emitted gpu-dialect MLIR: what the two boundary forms have in common.

A form says what a pointer is in the text (an address, or a memref and an index) and how one element is read and
written; masks, copies and i1 (a byte in memory, true if not 0) are the same in both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager

from mytriton.backends.mlir.context import Context
from mytriton.backends.mlir.homes import Home
from mytriton.backends.mlir.names import number
from mytriton.backends.mlir.text import I8
from mytriton.ir import ops
from mytriton.ir.core import ParamInfo, Value
from mytriton.types import PointerType, ScalarType, Type, element_of, i1


def memory_type(element: ScalarType) -> ScalarType:
    """The type of an element in memory."""
    return I8 if element == i1 else element


def vector_of(name: str, width: int | None) -> str:
    """`vector<4xf32>`; one element if `width` is None."""
    return name if width is None else f"vector<{width}x{name}>"


class MemoryForm(ABC):
    """One boundary form. Methods that take `result` leave their value in that SSA name."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.text = context.text

    @abstractmethod
    def parameter(self, param: Value, info: ParamInfo) -> str:
        """The type of a pointer parameter, with its attributes."""

    @abstractmethod
    def type_of(self, type_: Type, width: int | None) -> str:
        """The MLIR type of a value, in chunks of `width` if it is a block."""

    @abstractmethod
    def array(self, home: Home, element: Type) -> None:
        """Declare a per-thread array; at the function's top level."""

    @abstractmethod
    def keep(self, home: Home, element: Type, chunk: str, value: str) -> None:
        """Store one of an array's chunks."""

    @abstractmethod
    def fetch(self, home: Home, element: Type, chunk: str, result: str) -> str:
        """Load one of an array's chunks."""

    @abstractmethod
    def fetch_run(self, home: Home, element: Type, index: str, width: int | None, result: str) -> str:
        """Load `width` elements of an array, from element `index` on; a single one if None."""

    @abstractmethod
    def add(self, op: ops.AddPtr, result: str) -> str:
        """A pointer moved by some elements; its name."""

    @abstractmethod
    def select(self, op: ops.Select, result: str) -> str:
        """The choice between two pointers; its name."""

    @abstractmethod
    def compare(self, op: ops.Compare, result: str) -> None:
        """The comparison of two pointers."""

    @abstractmethod
    def convert(self, op: ops.Bitcast, result: str) -> None:
        """A pointer's address as a number, or a pointer made of one."""

    @abstractmethod
    def bits(self, pointer: str, result: str) -> str:
        """A pointer as an i64."""

    @abstractmethod
    def from_bits(self, bits: str, result: str) -> str:
        """The pointer that `bits` has made an i64 of."""

    @abstractmethod
    def read(self, op: ops.Load, result: str) -> None:
        """Load one element, as it is in memory."""

    @abstractmethod
    def put(self, value: str, pointer: Value) -> None:
        """Store one element, as it is in memory."""

    def element(self, value: Value) -> ScalarType:
        """What a pointer (or a block of them) points to."""
        pointer = element_of(value.type)
        assert isinstance(pointer, PointerType), "only loads and stores ask"
        return pointer.element

    def widened(self, element: Type, value: str, width: int | None, stem: str) -> str:
        """What an array holds of a value: an i1 is a byte there, since vectors of i1 would be packed."""
        if element != i1:
            return value
        byte = self.text.fresh(f"{stem}_byte")
        self.text.write(f"{byte} = arith.extui {value} : {vector_of('i1', width)} to {vector_of('i8', width)}")
        return byte

    def scalar(self, value: Value) -> str:
        """A scalar as an operand."""
        return self.context.names[value]

    @contextmanager
    def narrowed(self, element: Type, result: str, width: int | None) -> Iterator[str]:
        """Yields the name to load into; after that, makes `result` of it."""
        if element != i1:
            yield result
            return
        byte = self.text.fresh(f"{result}_byte")
        yield byte
        self.text.write(f"{result} = arith.trunci {byte} : {vector_of('i8', width)} to {vector_of('i1', width)}")

    def load(self, op: ops.Load, result: str) -> None:
        """A load of one element a thread."""
        element = element_of(op.result.type)
        assert isinstance(element, ScalarType), "pointers to pointers do not exist"
        if op.mask is None:
            self._read_element(op, element, result)
            return
        mask = self.context.ref(op.mask)
        other = self.context.ref(op.other) if op.other is not None else self.text.constant(_zero(element), element)
        with self.text.region(f"{result} = scf.if {mask} -> ({element.signless})"):
            loaded = f"%loaded{number(op.result)}"
            self._read_element(op, element, loaded)
            self.text.write(f"scf.yield {loaded} : {element.signless}")
            self.text.otherwise()
            self.text.write(f"scf.yield {other} : {element.signless}")

    def _read_element(self, op: ops.Load, element: ScalarType, result: str) -> None:
        if element != i1:
            self.read(op, result)
            return
        byte, zero = f"{result}_byte", self.text.constant(0, I8)
        self.read(op, byte)
        self.text.write(f"{result} = arith.cmpi ne, {byte}, {zero} : i8")

    def store(self, op: ops.Store, number_: int, owner: str | None) -> None:
        """A store of one element a thread, by the threads whose element is no copy (`owner`, None for all)."""
        conditions = [c for c in (owner, self.context.ref(op.mask) if op.mask is not None else None) if c]
        value = self.context.ref(op.value)
        if self.element(op.pointer) == i1:
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
