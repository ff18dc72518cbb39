"""Workgroup memory in emitted gpu-dialect MLIR: the one buffer through which the threads of a program exchange."""

from __future__ import annotations

from mytriton.backends.mlir.memory import memory_type
from mytriton.backends.mlir.text import I8, INDEX, Text
from mytriton.backends.nvidia.shared import STATIC_BYTES
from mytriton.types import ScalarType, i1, i32

_SPACE = "#gpu.address_space<workgroup>"
POINTER = "!llvm.ptr<3>"
_NAME, _GLOBAL = "%shared", "mt_shared"


class Shared:
    """A buffer of bytes, seen as one of elements of whatever type is exchanged."""

    def __init__(self, text: Text, size: int, alignment: int) -> None:
        self._text, self._bytes, self._alignment = text, size, alignment
        self._is_static = size <= STATIC_BYTES
        self._type = f"memref<{size if self._is_static else '?'}xi8, {_SPACE}>"

    @property
    def attribution(self) -> str:
        """Its place in the head of the function."""
        if not self._bytes or not self._is_static:
            return ""
        return f" workgroup({_NAME}: {self._type} {{llvm.align = {self._alignment} : i64}})"

    def declare(self) -> None:
        """Declare the buffer outside of the function, if its size is only known to the launch: of no size, elsewhere.
        (That of `gpu.dynamic_shared_memory` is internal, so LLVM may assume that nothing is behind its end.)"""
        if not self._is_static:
            self._text.write(
                f"memref.global @{_GLOBAL} : memref<0xi8, {_SPACE}> {{alignment = {self._alignment} : i64}}"
            )

    def begin(self) -> None:
        """Name that buffer in the function."""
        if not self._is_static:
            whole, name = f"memref<0xi8, {_SPACE}>", self._text.fresh(f"{_NAME}_begin")
            self._text.write(f"{name} = memref.get_global @{_GLOBAL} : {whole}")
            self._text.write(f"{_NAME} = memref.cast {name} : {whole} to {self._type}")

    def pointer(self) -> str:
        """Its address."""
        text = self._text
        if not text.defined(f"{_NAME}_pointer"):
            begin, number, name = f"{_NAME}_address", f"{_NAME}_address_i64", f"{_NAME}_pointer"
            text.write(f"{begin} = memref.extract_aligned_pointer_as_index {_NAME} : {self._type} -> index")
            text.write(f"{number} = arith.index_cast {begin} : index to i64")
            text.write(f"{name} = llvm.inttoptr {number} : i64 to {POINTER}")
        return f"{_NAME}_pointer"

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
        start = text.constant(0, INDEX)
        view = text.once(
            f"{_NAME}_{held.signless}",
            lambda n: text.write(f"{n} = memref.view {_NAME}[{start}][] : {self._type} to {type_}"),
        )
        index = text.once(f"{slot}_index", lambda n: text.write(f"{n} = arith.index_cast {slot} : i32 to index"))
        return f"{view}[{index}] : {type_}"
