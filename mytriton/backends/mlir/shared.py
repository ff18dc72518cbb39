"""Workgroup memory in emitted gpu-dialect MLIR: the one buffer through which the threads of a program exchange."""

from __future__ import annotations

from mytriton.backends.mlir.memory import memory_type
from mytriton.backends.mlir.text import I8, INDEX, Text
from mytriton.types import ScalarType, i1, i32

_SPACE = "#gpu.address_space<workgroup>"
_NAME = "%shared"


class Shared:
    """A buffer of bytes, seen as one of elements of whatever type is exchanged."""

    def __init__(self, text: Text, size: int) -> None:
        self._text, self._bytes = text, size

    @property
    def attribution(self) -> str:
        """Its place in the head of the function."""
        if not self._bytes:
            return ""
        return f" workgroup({_NAME}: memref<{self._bytes}xi8, {_SPACE}> {{llvm.align = 16 : i64}})"

    def put(self, slot: str, value: str, element: ScalarType) -> None:
        """Store an element at the slot, an i32."""
        if element == i1:
            byte = self._text.fresh(f"{_NAME}_byte")
            self._text.write(f"{byte} = arith.extui {value} : i1 to i8")
            value = byte
        self._text.write(f"memref.store {value}, {self._place(slot, element)}")

    def add(self, slot: str, value: str, before: str) -> None:
        """Add to the i32 at the slot, in one step that nothing can come between; `before` is what was there."""
        place, type_ = self._place(slot, i32).split(" : ")
        self._text.write(f"{before} = memref.atomic_rmw addi {value}, {place} : (i32, {type_}) -> i32")

    def get(self, slot: str, element: ScalarType, result: str) -> str:
        """Load the element at the slot, an i32."""
        place = self._place(slot, element)
        if element != i1:
            self._text.write(f"{result} = memref.load {place}")
            return result
        byte = self._text.fresh(f"{result}_byte")
        self._text.write(f"{byte} = memref.load {place}")
        self._text.write(f"{result} = arith.cmpi ne, {byte}, {self._text.constant(0, I8)} : i8")
        return result

    def _place(self, slot: str, element: ScalarType) -> str:
        text, held = self._text, memory_type(element)
        type_ = f"memref<{self._bytes // held.bytes}x{held.signless}, {_SPACE}>"
        start, whole = text.constant(0, INDEX), f"memref<{self._bytes}xi8, {_SPACE}>"
        view = text.once(
            f"{_NAME}_{held.signless}",
            lambda n: text.write(f"{n} = memref.view {_NAME}[{start}][] : {whole} to {type_}"),
        )
        index = text.once(f"{slot}_index", lambda n: text.write(f"{n} = arith.index_cast {slot} : i32 to index"))
        return f"{view}[{index}] : {type_}"
