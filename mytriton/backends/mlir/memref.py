"""The memref boundary form: `memref<?xf32>` parameters, a pointer being one of them and an index.

The introductory text. It has no pointers of its own, so a kernel that chooses between pointers into different arrays
cannot be written in it; `bases` finds where.
"""

from __future__ import annotations

from mytriton.backends.mlir.bases import bases
from mytriton.backends.mlir.context import Context
from mytriton.backends.mlir.homes import Home
from mytriton.backends.mlir.memory import MemoryForm, memory_type
from mytriton.backends.mlir.text import INDEX
from mytriton.backends.mlir.writer import PREDICATES
from mytriton.ir import ops
from mytriton.ir.core import Func, ParamInfo, Value
from mytriton.types import PointerType, ScalarType, Type, element_of


class MemrefForm(MemoryForm):
    """Pointers as (memref parameter, index). The name of a pointer value is its index; a parameter's is 0."""

    def __init__(self, context: Context, func: Func) -> None:
        super().__init__(context)
        self._bases, _ = bases(func)
        self._arrays = {param: context.names[param] for param in func.pointer_params()}

    def parameter(self, param: Value, info: ParamInfo) -> str:
        return _memref(param)

    def type_of(self, type_: Type, width: int | None) -> str:
        element = element_of(type_)
        return "index" if isinstance(element, PointerType) else element.signless

    def array(self, home: Home, element: Type) -> None:
        self.text.write(f"{home.array} = memref.alloca() : {_array(home, element)}")

    def keep(self, home: Home, element: Type, chunk: str, value: str) -> None:
        slot, value = self._slot(chunk), self.widened(element, value, None, str(home.array))
        self.text.write(f"memref.store {value}, {home.array}[{slot}] : {_array(home, element)}")

    def fetch(self, home: Home, element: Type, chunk: str, result: str) -> str:
        slot = self._slot(chunk)
        with self.narrowed(element, result, None) as loaded:
            self.text.write(f"{loaded} = memref.load {home.array}[{slot}] : {_array(home, element)}")
        return result

    def fetch_run(self, home: Home, element: Type, index: str, width: int | None, result: str) -> str:
        return self.fetch(home, element, index, result)  # there are no chunks here

    def add(self, op: ops.AddPtr, result: str) -> str:
        source, offset = self.context.definitions.get(op.pointer), self.context.ref(op.offset)
        is_start = (source.source if isinstance(source, ops.Splat) else op.pointer) in self._arrays
        base = None if is_start else self.context.ref(op.pointer)
        result = self._index(result)
        moved = result if base is None else f"{result}_offset"
        self.text.write(f"{moved} = arith.index_cast {offset} : {element_of(op.offset.type)} to index")
        if base is not None:
            self.text.write(f"{result} = arith.addi {base}, {moved} : index")
        return result

    def select(self, op: ops.Select, result: str) -> str:
        operands = (self.context.ref(op.condition), self.context.ref(op.if_true), self.context.ref(op.if_false))
        result = self._index(result)
        self.text.write(f"{result} = arith.select {', '.join(operands)} : index")
        return result

    def compare(self, op: ops.Compare, result: str) -> None:
        signed = PREDICATES[type(op)][0]
        lhs, rhs = self.context.ref(op.lhs), self.context.ref(op.rhs)
        self.text.write(f"{result} = arith.cmpi {signed}, {lhs}, {rhs} : index")

    def convert(self, op: ops.Bitcast, result: str) -> None:
        base, start, bytes_ = self._bases[op.source], self.text.fresh(f"{result}_array"), f"{result}_bytes"
        array = f"{self._arrays[base]} : {_memref(base)} -> index"
        self.text.write(f"{start} = memref.extract_aligned_pointer_as_index {array}")
        size = self.text.constant(_element(base).bytes, INDEX)
        self.text.write(f"{bytes_} = arith.muli {self.context.ref(op.source)}, {size} : index")
        self.text.write(f"{result}_index = arith.addi {start}, {bytes_} : index")
        self.text.write(f"{result} = arith.index_cast {result}_index : index to i64")

    def bits(self, pointer: str, result: str) -> str:
        self.text.write(f"{result} = arith.index_cast {pointer} : index to i64")
        return result

    def from_bits(self, bits: str, result: str) -> str:
        self.text.write(f"{result} = arith.index_cast {bits} : i64 to index")
        return result

    def read(self, op: ops.Load, result: str) -> None:
        self.text.write(f"{result} = memref.load {self._place(op.pointer)}")

    def put(self, value: str, pointer: Value) -> None:
        self.text.write(f"memref.store {value}, {self._place(pointer)}")

    def scalar(self, value: Value) -> str:
        return self.text.constant(0, INDEX) if value in self._arrays else super().scalar(value)

    def _place(self, pointer: Value) -> str:
        base = self._bases[pointer]
        return f"{self._arrays[base]}[{self.context.ref(pointer)}] : {_memref(base)}"

    def _index(self, result: str) -> str:
        """The name of a pointer's index, from that of the pointer."""
        return self.text.fresh(result.replace("%v", "%idx"))

    def _slot(self, index: str) -> str:
        name = "%slot0" if index == "%r" else f"%slot0_{index.lstrip('%')}"
        return self.text.once(name, lambda n: self.text.write(f"{n} = arith.index_cast {index} : i32 to index"))


def _element(param: Value) -> ScalarType:
    pointer = param.type
    assert isinstance(pointer, PointerType), "only pointers are memrefs"
    return memory_type(pointer.element)


def _memref(param: Value) -> str:
    return f"memref<?x{_element(param).signless}>"


def _array(home: Home, element: Type) -> str:
    type_ = memory_type(element).signless if isinstance(element, ScalarType) else "index"
    return f"memref<{home.registers}x{type_}>"
