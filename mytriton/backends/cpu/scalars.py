"""Operations on scalars, done once a program."""

from __future__ import annotations

from collections.abc import Sequence

from mytriton.backends.cpu.elementwise import elementwise
from mytriton.backends.cpu.held import from_memory, is_held_as_is, memory_type, to_memory
from mytriton.backends.cpu.writer import POINTER, Text, type_name
from mytriton.backends.mlir.ops import ElementEmitter
from mytriton.diagnostics import InternalError
from mytriton.ir import ops
from mytriton.ir.core import Func, Op, Value, definitions
from mytriton.types import PointerType, ScalarType, bf16, element_of, shape_of


class ScalarWriter:
    """Writes the scalars of one function."""

    def __init__(self, func: Func, text: Text, fusion: bool) -> None:
        self.text = text
        self.emitter = ElementEmitter(func, text.write, fusion=fusion)
        self._definitions = definitions(func)
        self._written: set[Value] = set()
        self._stores = 0

    def name(self, value: Value) -> str:
        """The name of a scalar; a constant is written when it is first wanted."""
        op = self._definitions.get(value)
        if isinstance(op, ops.Constant) and value not in self._written:
            self._written.add(value)
            self.emitter.constant(op.value, op.type, self.text.name(value))
        return self.text.name(value)

    def write(self, op: Op) -> None:
        """Write one operation on scalars."""
        text = self.text
        text.at(op)
        names = [self.name(v) for v in op.operands]
        result = text.name(op.result) if op.results else ""
        match op:
            case ops.ProgramId():
                index = self._program_index(op.axis, result)
                text.write(f"{result} = arith.trunci {index} : i64 to i32")
            case ops.NumPrograms():
                text.write(f"{result} = arith.trunci %grid.{'xyz'[op.axis]} : i64 to i32")
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

    def _load(self, op: ops.Load, names: Sequence[str], result: str) -> None:
        element = scalar_type(op.result)
        if op.mask is None:
            self._load_element(names[0], element, result)
            return
        name = type_name(element)
        with self.text.block(f"{result} = scf.if {names[1]} -> ({name})"):
            self._load_element(names[0], element, f"{result}.loaded")
            self.text.write(f"scf.yield {result}.loaded : {name}")
        with self.text.otherwise():
            assert isinstance(element, ScalarType)
            other = names[2] if op.other is not None else self.emitter.constant(0, element, f"{result}.other")
            self.text.write(f"scf.yield {other} : {name}")

    def _load_element(self, pointer: str, element: ScalarType | PointerType, result: str) -> None:
        assert isinstance(element, ScalarType)
        held = memory_type(element)
        name = result if is_held_as_is(element) else f"{result}.held"
        self.text.write(
            f"{name} = llvm.load {pointer} {{alignment = {held.bytes} : i64}} : {POINTER} -> {held.signless}"
        )
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
