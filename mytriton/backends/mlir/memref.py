"""The memref boundary form: `memref<?xf32>` parameters, a pointer being one of them and an index.

The introductory text. It has no pointers of its own, so a kernel that chooses between pointers into different arrays
cannot be written in it; `bases` finds where.
"""

from __future__ import annotations

from mytriton.backends.mlir.memory import Context, MemoryForm, memory_type
from mytriton.backends.mlir.text import INDEX
from mytriton.backends.mlir.writer import PREDICATES
from mytriton.diagnostics import Diagnostic
from mytriton.ir import ops
from mytriton.ir.core import Func, ParamInfo, Value
from mytriton.types import PointerType, Type, element_of, is_bool, is_pointer


def bases(func: Func) -> tuple[dict[Value, Value], list[Diagnostic]]:
    """The parameter each pointer value points into, and a finding for every operation that mixes two."""
    found: dict[Value, Value] = {p: p for p in func.pointer_params()}
    diagnostics = []
    for op in func.walk():
        pointers = [v for v in op.operands if is_pointer(v.type)]
        if not pointers:
            continue
        for value in op.results:
            if is_pointer(value.type):
                found[value] = found[pointers[0]]
        roots = {found[v].id: None for v in pointers}
        if len(roots) > 1:
            names = " and ".join(f"`{name}`" for name in roots)
            does = "chooses between" if isinstance(op, ops.Select) else "compares"
            diagnostics.append(
                Diagnostic(
                    "MT610",
                    f"this {does} pointers into different arrays, {names}, which the memref form cannot say",
                    op.span,
                    hint='compile with abi="pointer"',
                )
            )
    return found, diagnostics


class MemrefForm(MemoryForm):
    """Pointers as (memref parameter, index). The name of a pointer value is its index; a parameter's is 0."""

    def __init__(self, context: Context, func: Func) -> None:
        super().__init__(context)
        self._bases, _ = bases(func)

    def parameter(self, param: Value, info: ParamInfo) -> str:
        return _memref(param)

    def array(self, name: str, type_: Type, trips: int) -> None:
        self.text.write(f"{name} = memref.alloca() : memref<{trips}x{_kept(type_)}>")

    def keep(self, name: str, value: Value) -> None:
        slot, kept = self._slot(), self._index(value) if is_pointer(value.type) else self.context.ref(value)
        if is_bool(value.type):  # MLIR's own lowering takes no store of an i1
            byte = f"{name}_byte"
            self.text.write(f"{byte} = arith.extui {kept} : i1 to i8")
            kept = byte
        self.text.write(f"memref.store {kept}, {name}[{slot}] : {self._array_type(value)}")

    def fetch(self, name: str, value: Value) -> None:
        result, slot = self.context.names[value], self._slot()
        loaded = f"{name}_byte" if is_bool(value.type) else result
        self.text.write(f"{loaded} = memref.load {name}[{slot}] : {self._array_type(value)}")
        if is_bool(value.type):
            self.text.write(f"{result} = arith.trunci {loaded} : i8 to i1")

    def add(self, op: ops.AddPtr, result: str) -> None:
        offset, base = self.context.ref(op.offset), self._index_or_none(op.pointer)
        self.context.names[op.result] = result = result.replace("%v", "%idx")
        moved = result if base is None else f"{result}_offset"
        self.text.write(f"{moved} = arith.index_cast {offset} : {element_of(op.offset.type)} to index")
        if base is not None:
            self.text.write(f"{result} = arith.addi {base}, {moved} : index")

    def select(self, op: ops.Select, result: str) -> None:
        operands = (self.context.ref(op.condition), self._index(op.if_true), self._index(op.if_false))
        self.context.names[op.result] = result = result.replace("%v", "%idx")
        self.text.write(f"{result} = arith.select {', '.join(operands)} : index")

    def compare(self, op: ops.Compare, result: str) -> None:
        signed = PREDICATES[type(op)][0]
        lhs, rhs = self._index(op.lhs), self._index(op.rhs)
        self.text.write(f"{result} = arith.cmpi {signed}, {lhs}, {rhs} : index")

    def read(self, pointer: Value, result: str) -> None:
        self.text.write(f"{result} = memref.load {self._place(pointer)}")

    def put(self, value: str, pointer: Value) -> None:
        self.text.write(f"memref.store {value}, {self._place(pointer)}")

    def _place(self, pointer: Value) -> str:
        base = self._bases[pointer]
        return f"{self.context.names[base]}[{self._index(pointer)}] : {_memref(base)}"

    def _index_or_none(self, pointer: Value) -> str | None:
        op = self.context.definitions.get(pointer)
        if isinstance(op, ops.Splat):
            return self._index_or_none(op.source)
        return self.context.names[pointer] if op is not None else None

    def _index(self, pointer: Value) -> str:
        return self._index_or_none(pointer) or self.text.constant(0, INDEX)

    def _slot(self) -> str:
        return self.text.once("%slot0", lambda n: self.text.write(f"{n} = arith.index_cast %r : i32 to index"))

    def _array_type(self, value: Value) -> str:
        return f"memref<{self.context.trips}x{_kept(value.type)}>"


def _memref(param: Value) -> str:
    pointer = param.type
    assert isinstance(pointer, PointerType), "only pointers are memrefs"
    return f"memref<?x{memory_type(pointer.element).signless}>"


def _kept(type_: Type) -> str:
    element = element_of(type_)
    return "index" if isinstance(element, PointerType) else memory_type(element).signless
