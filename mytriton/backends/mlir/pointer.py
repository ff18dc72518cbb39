"""The pointer boundary form: `!llvm.ptr<1>` parameters, and 16-byte accesses where a thread's elements allow them.

A thread's chunk of W consecutive elements is one `vector<WxT>`. Where the axis analysis proves its addresses
consecutive, and all its lanes are to be accessed, one wide access does it; else each lane is accessed alone.
"""

from __future__ import annotations

from mytriton.backends.mlir.context import Context
from mytriton.backends.mlir.homes import Home
from mytriton.backends.mlir.memory import MemoryForm, memory_type, vector_of
from mytriton.backends.mlir.names import number
from mytriton.backends.mlir.text import I8
from mytriton.ir import ops
from mytriton.ir.core import ParamInfo, Value
from mytriton.layout.orders import Orders
from mytriton.types import PointerType, ScalarType, Type, element_of, i1

_POINTER = "!llvm.ptr<1>"
_PREDICATES = {ops.CmpEq: "eq", ops.CmpNe: "ne", ops.CmpLt: "ult", ops.CmpLe: "ule", ops.CmpGt: "ugt", ops.CmpGe: "uge"}


class PointerForm(MemoryForm):
    """Pointers as addresses in global memory; a chunk of them as a vector of addresses."""

    def __init__(self, context: Context, orders: Orders, attributes: bool) -> None:
        super().__init__(context)
        self._orders = orders
        self._attributes = attributes

    def parameter(self, param: Value, info: ParamInfo) -> str:
        return f"{_POINTER} {{llvm.align = 16 : i64}}" if info.divisible_by_16 and self._attributes else _POINTER

    # --- arrays -------------------------------------------------------------------------------------------------------

    def type_of(self, type_: Type, width: int | None) -> str:
        element = element_of(type_)
        name = _POINTER if isinstance(element, PointerType) else element.signless
        return vector_of(name, None if type_ == element else width)

    def array(self, home: Home, element: Type) -> None:
        count, type_ = self.text.i32(home.chunks), _held(element, home.width)
        # Chunks may be loaded of an array of single elements.
        aligned = " {alignment = 16 : i64}" if home.width is None else ""
        self.text.write(f"{home.array} = llvm.alloca {count} x {type_}{aligned} : (i32) -> !llvm.ptr")

    def keep(self, home: Home, element: Type, chunk: str, value: str) -> None:
        type_ = _held(element, home.width)
        value = self.widened(element, value, home.width, str(home.array))
        self.text.write(f"llvm.store {value}, {self._slot(home, chunk, type_)} : {type_}, !llvm.ptr")

    def fetch(self, home: Home, element: Type, chunk: str, result: str) -> str:
        type_ = _held(element, home.width)
        with self.narrowed(element, result, home.width) as loaded:
            self.text.write(f"{loaded} = llvm.load {self._slot(home, chunk, type_)} : !llvm.ptr -> {type_}")
        return result

    def fetch_run(self, home: Home, element: Type, index: str, width: int | None, result: str) -> str:
        one = _held(element, None)
        aligned = f" {{alignment = {_size(element)} : i64}}" if width is not None else ""
        slot = self._slot(home, index, one)
        with self.narrowed(element, result, width) as loaded:
            self.text.write(f"{loaded} = llvm.load {slot}{aligned} : !llvm.ptr -> {_held(element, width)}")
        return result

    def _slot(self, home: Home, index: str, type_: str) -> str:
        """The address of an entry, of those of `type_`."""
        if (known := self.text.recall((home, index, type_))) is not None:
            return known
        name = str(home.array).replace("%array", "%slot") + ("" if index == "%r" else f"_{index.lstrip('%')}")
        slot = self.text.fresh(name)
        self.text.write(f"{slot} = llvm.getelementptr {home.array}[{index}] : (!llvm.ptr, i32) -> !llvm.ptr, {type_}")
        self.text.remember((home, index, type_), slot)
        return slot

    def _of(self, value: Value) -> str:
        return self.context.type_of(value)

    # --- pointer arithmetic -------------------------------------------------------------------------------------------

    def add(self, op: ops.AddPtr, result: str) -> str:
        pointer, base = op.pointer, self.context.definitions.get(op.pointer)
        if isinstance(base, ops.Splat):  # a scalar address and a vector of offsets give a vector of addresses
            pointer = base.source
        element = memory_type(self.element(pointer)).signless
        operands = f"{self.context.ref(pointer)}[{self.context.ref(op.offset)}]"
        types = f"({self._of(pointer)}, {self._of(op.offset)}) -> {self._of(op.result)}, {element}"
        self.text.write(f"{result} = llvm.getelementptr {operands} : {types}")
        return result

    def select(self, op: ops.Select, result: str) -> str:
        operands = ", ".join(self.context.ref(v) for v in op.operands)
        types = self._of(op.if_true)
        if types != _POINTER:
            types = f"{self._of(op.condition)}, {types}"
        self.text.write(f"{result} = arith.select {operands} : {types}")
        return result

    def compare(self, op: ops.Compare, result: str) -> None:
        lhs, rhs = self.context.ref(op.lhs), self.context.ref(op.rhs)
        self.text.write(f'{result} = llvm.icmp "{_PREDICATES[type(op)]}" {lhs}, {rhs} : {self._of(op.lhs)}')

    def convert(self, op: ops.Bitcast, result: str) -> None:
        how = "inttoptr" if isinstance(op.to, PointerType) else "ptrtoint"
        types = f"{self._of(op.source)} to {self._of(op.result)}"
        self.text.write(f"{result} = llvm.{how} {self.context.ref(op.source)} : {types}")

    def bits(self, pointer: str, result: str) -> str:
        self.text.write(f"{result} = llvm.ptrtoint {pointer} : {_POINTER} to i64")
        return result

    def from_bits(self, bits: str, result: str) -> str:
        self.text.write(f"{result} = llvm.inttoptr {bits} : i64 to {_POINTER}")
        return result

    # --- accesses -----------------------------------------------------------------------------------------------------

    def read(self, op: ops.Load, result: str) -> None:
        element, volatile = memory_type(self.element(op.pointer)).signless, "volatile " if op.volatile else ""
        self.text.write(f"{result} = llvm.load {volatile}{self.context.ref(op.pointer)} : {_POINTER} -> {element}")

    def put(self, value: str, pointer: Value) -> None:
        element = memory_type(self.element(pointer)).signless
        self.text.write(f"llvm.store {value}, {self.context.ref(pointer)} : {element}, {_POINTER}")

    def load(self, op: ops.Load, result: str) -> None:
        if self.context.width is None:
            super().load(op, result)
            return
        chunk = _Chunk(self, op.pointer, op.mask, number(op.result))
        element = self.element(op.pointer)
        loaded = result if element != i1 else f"%bytes{number(op.result)}"
        if chunk.condition is None:
            chunk.read(loaded) if chunk.consecutive else chunk.gather(loaded, self._other(op))
        else:
            other = self._other(op)
            with self.text.region(f"{loaded} = scf.if {chunk.condition} -> ({chunk.type})"):
                chunk.read(f"%loaded{number(op.result)}")
                self.text.write(f"scf.yield %loaded{number(op.result)} : {chunk.type}")
                self.text.otherwise()
                if not chunk.uniform:
                    chunk.gather(f"%loaded{number(op.result)}", other)
                    other = f"%loaded{number(op.result)}"
                self.text.write(f"scf.yield {other} : {chunk.type}")
        if element == i1:
            zero = self.text.constant(0, I8, self.context.width)
            self.text.write(f"{result} = arith.cmpi ne, {loaded}, {zero} : {chunk.type}")

    def _other(self, op: ops.Load) -> str:
        """What masked-off lanes read as, in the type of the memory."""
        element, width = self.element(op.pointer), self.context.width
        if op.other is None:
            memory = memory_type(element)
            return self.text.constant(0.0 if memory.kind == "float" else 0, memory, width)
        other = self.context.ref(op.other)
        if element == i1:
            wide = f"%bytes{number(op.result)}_other"
            self.text.write(f"{wide} = arith.extui {other} : vector<{width}xi1> to vector<{width}xi8>")
            return wide
        return other

    def store(self, op: ops.Store, number_: int, owner: str | None) -> None:
        if self.context.width is None:
            super().store(op, number_, owner)
            return
        if owner is not None:
            with self.text.region(f"scf.if {owner}"):
                self._store_chunk(op, number_)
        else:
            self._store_chunk(op, number_)

    def _store_chunk(self, op: ops.Store, number_: int) -> None:
        chunk = _Chunk(self, op.pointer, op.mask, f"_store{number_}")
        value = self.context.ref(op.value)
        if self.element(op.pointer) == i1:
            self.text.write(f"%bytes_store{number_} = arith.extui {value} : {self._of(op.value)} to {chunk.type}")
            value = f"%bytes_store{number_}"
        if chunk.condition is None:
            chunk.put(value) if chunk.consecutive else chunk.scatter(value)
            return
        with self.text.region(f"scf.if {chunk.condition}"):
            chunk.put(value)
            if not chunk.uniform:
                self.text.otherwise()
                chunk.scatter(value)


def _size(element: Type) -> int:
    return element.bytes if isinstance(element, ScalarType) else 8


def _held(element: Type, width: int | None) -> str:
    """The type of what an array holds."""
    name = memory_type(element).signless if isinstance(element, ScalarType) else _POINTER
    return vector_of(name, width)


class _Chunk:
    """One access to a thread's W elements: whether they are consecutive, and when all of them are accessed.

    condition   an i1 that is true if every lane is accessed; None if there is no mask, or lanes go alone anyway
    uniform     the mask is the same for all lanes: if not all are accessed, none is
    """

    def __init__(self, form: PointerForm, pointer: Value, mask: Value | None, name: str) -> None:
        context, axes = form.context, form._orders.along(form.context.layouts[pointer])
        assert context.width is not None, "a chunk has a width"
        self._text, self._context, self._width, self._name = form.text, context, context.width, name
        self._pointers = context.ref(pointer)
        self._mask = context.ref(mask) if mask is not None else None
        self._element: ScalarType = memory_type(form.element(pointer))
        self.type = f"vector<{self._width}x{self._element.signless}>"
        axis = axes.get(pointer)
        self.consecutive = axis is not None and axis.contiguous >= self._width
        aligned = axis.divisible if axis is not None else 1
        self._alignment = min(self._width, aligned) * self._element.bytes
        self.uniform = mask is not None and mask in axes and axes[mask].constant >= self._width
        self._first = ""
        self.condition: str | None = None
        if self.consecutive:
            self._first = f"%ptr{name}"
            zero, pointers = form.text.i32(0), f"vector<{self._width}x{_POINTER}>"
            self._text.write(f"{self._first} = llvm.extractelement {self._pointers}[{zero} : i32] : {pointers}")
        if self.consecutive and mask is not None:
            self.condition = f"%all{name}"
            bits = f"vector<{self._width}xi1>"
            take = (
                f"vector.extract {self._mask}[0] : i1 from"
                if self.uniform
                else f"vector.reduction <and>, {self._mask} :"
            )
            self._text.write(f"{self.condition} = {take} {bits}{'' if self.uniform else ' into i1'}")

    def read(self, result: str) -> None:
        """All lanes in one access."""
        self._text.write(
            f"{result} = llvm.load {self._first} {{alignment = {self._alignment} : i64}} : {_POINTER} -> {self.type}"
        )

    def put(self, value: str) -> None:
        """All lanes in one access."""
        first = self._first
        self._text.write(
            f"llvm.store {value}, {first} {{alignment = {self._alignment} : i64}} : {self.type}, {_POINTER}"
        )

    def _lane_mask(self) -> str:
        return self._mask or self._text.constant(True, i1, self._width)

    def gather(self, result: str, other: str) -> None:
        """Each lane alone, where the mask is set."""
        mask, bits = self._lane_mask(), f"vector<{self._width}xi1>"
        if self.consecutive:  # one address and fixed distances from it
            access, types = f"load {self._first}, {mask}, {other}", f"({_POINTER}, {bits}, {self.type})"
        else:
            access = f"gather {self._pointers}, {mask}, {other}"
            types = f"(vector<{self._width}x{_POINTER}>, {bits}, {self.type})"
        aligned = f"{{alignment = {self._element.bytes} : i32}}"
        self._text.write(f"{result} = llvm.intr.masked.{access} {aligned} : {types} -> {self.type}")

    def scatter(self, value: str) -> None:
        """Each lane alone, where the mask is set."""
        mask, types = self._lane_mask(), f"{self.type}, vector<{self._width}xi1> into"
        if self.consecutive:
            access, to = f"store {value}, {self._first}, {mask}", _POINTER
        else:
            access, to = f"scatter {value}, {self._pointers}, {mask}", f"vector<{self._width}x{_POINTER}>"
        aligned = f"{{alignment = {self._element.bytes} : i32}}"
        self._text.write(f"llvm.intr.masked.{access} {aligned} : {types} {to}")
