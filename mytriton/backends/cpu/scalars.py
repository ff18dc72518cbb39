"""Operations on scalars, done once a program."""

from __future__ import annotations

from collections.abc import Sequence

from mytriton.backends.cpu.elementwise import elementwise
from mytriton.backends.cpu.held import from_memory, is_held_as_is, memory_type, to_memory
from mytriton.backends.cpu.places import held_type, slot
from mytriton.backends.cpu.plan import Plan
from mytriton.backends.cpu.writer import POINTER, Text, type_name
from mytriton.backends.mlir.ops import ElementEmitter
from mytriton.diagnostics import InternalError
from mytriton.ir import ops
from mytriton.ir.core import Func, Op, Value
from mytriton.types import PointerType, ScalarType, bf16, element_of, shape_of


class ScalarWriter:
    """Writes the scalars of one function."""

    def __init__(self, func: Func, text: Text, plan: Plan, fusion: bool) -> None:
        self.text, self.plan = text, plan
        self.emitter = ElementEmitter(func, text.write, fusion=fusion)
        self._definitions = func.definitions
        self._stores = 0

    def name(self, value: Value) -> str:
        """The name of a scalar; a constant is written where it is first wanted, once in a region."""
        op = self._definitions.get(value)
        name = self.text.name(value)
        if isinstance(op, ops.Constant) and self.text.once(name):
            self.emitter.constant(op.value, op.type, name)
        return name

    def constant(self, value: Value) -> bool | int | float | None:
        """The value of a scalar that is a constant."""
        op = self._definitions.get(value)
        return op.value if isinstance(op, ops.Constant) else None

    def write(self, op: Op) -> None:
        """Write one operation on scalars."""
        text = self.text
        text.at(op)
        names = [self.name(v) for v in op.operands if not shape_of(v.type)]
        result = text.name(op.result) if op.results else ""
        match op:
            case ops.ProgramId():
                index = self._program_index(op.axis, result)
                text.write(f"{result} = arith.trunci {index} : i64 to i32")
            case ops.NumPrograms():
                text.write(f"{result} = arith.trunci %grid.{'xyz'[op.axis]} : i64 to i32")
            case ops.Reshape() if shape_of(op.source.type):  # the element of a block of one
                self.reload(slot(text, self.plan, op.source), op.source, result)
            case ops.Reshape() | ops.Broadcast() | ops.Transpose():  # no axis, nothing to do
                self._same(op, result, names[0])
            case ops.Load():
                self._load(op, names, result)
            case ops.Store():
                self._store(op, names)
            case _:
                elementwise(text, self.emitter, op, result, names)

    def _program_index(self, axis: int, result: str) -> str:
        """The position along an axis of program `%program.i` of the linear order, in which axis 0 runs fastest."""
        index = "%program.i"
        for before in "xyz"[:axis]:
            self.text.write(f"{result}.after_{before} = arith.divui {index}, %grid.{before} : i64")
            index = f"{result}.after_{before}"
        if axis < 2:
            self.text.write(f"{result}.index = arith.remui {index}, %grid.{'xyz'[axis]} : i64")
            index = f"{result}.index"
        return index

    def parameter(self, value: Value) -> str:
        """How a parameter is declared. A bf16 comes as its bits; see `write_parameters`."""
        element = scalar_type(value)
        if element == bf16:
            return f"{self.text.name(value)}.bits: {memory_type(bf16).name}"
        return f"{self.text.name(value)}: {type_name(element)}"

    def write_parameters(self, params: Sequence[Value]) -> None:
        """Turn parameters that come in another form into values."""
        for value in params:
            if value.type == bf16:
                from_memory(self.emitter, f"{self.text.name(value)}.bits", bf16, self.text.name(value))

    def _same(self, op: Op, result: str, source: str) -> None:
        name = type_name(scalar_type(op.result))
        self.text.write(f"{result} = llvm.bitcast {source} : {name} to {name}")

    def _load(self, op: ops.Load, names: Sequence[str], result: str) -> None:
        element = scalar_type(op.result)
        if op.mask is None:
            self._load_element(names[0], element, result, op.volatile)
            return
        name = type_name(element)
        with self.text.block(f"{result} = scf.if {names[1]} -> ({name})"):
            self._load_element(names[0], element, f"{result}.loaded", op.volatile)
            self.text.write(f"scf.yield {result}.loaded : {name}")
        with self.text.otherwise():
            assert isinstance(element, ScalarType)
            other = names[2] if op.other is not None else self.emitter.constant(0, element, f"{result}.other")
            self.text.write(f"scf.yield {other} : {name}")

    def _load_element(self, pointer: str, element: ScalarType | PointerType, result: str, volatile: bool) -> None:
        assert isinstance(element, ScalarType)
        held = memory_type(element)
        name = result if is_held_as_is(element) else f"{result}.held"
        where = f"volatile {pointer}" if volatile else pointer
        self.text.write(f"{name} = llvm.load {where} {{alignment = {held.bytes} : i64}} : {POINTER} -> {held.signless}")
        from_memory(self.emitter, name, element, result)

    def reload(self, where: str, value: Value, result: str) -> None:
        """Write the load of one element of a kept value to `result`."""
        element, held = element_of(value.type), held_type(value)
        as_is = isinstance(element, PointerType) or is_held_as_is(element)
        name = result if as_is else f"{result}.held"
        self.text.write(f"{name} = llvm.load {where} {{alignment = 1 : i64}} : {POINTER} -> {type_name(held)}")
        if not isinstance(element, PointerType):
            from_memory(self.emitter, name, element, result)

    def _store(self, op: ops.Store, names: Sequence[str]) -> None:
        if op.mask is not None:
            with self.text.block(f"scf.if {names[2]}"):
                self._store_element(op, names)
        else:
            self._store_element(op, names)

    def _store_element(self, op: ops.Store, names: Sequence[str]) -> None:
        element = scalar_type(op.value)
        assert isinstance(element, ScalarType)
        self._stores += 1
        held = memory_type(element)
        value = to_memory(self.emitter, names[1], element, f"{names[1]}.held_{self._stores}")
        self.text.write(
            f"llvm.store {value}, {names[0]} {{alignment = {held.bytes} : i64}} : {held.signless}, {POINTER}"
        )


def scalar_type(value: Value) -> ScalarType | PointerType:
    """The type of a scalar value."""
    if shape_of(value.type):
        raise InternalError(f"{value.id} is a block; a scalar was expected")
    return element_of(value.type)
