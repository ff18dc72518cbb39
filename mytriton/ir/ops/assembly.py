"""Inline assembly."""

from __future__ import annotations

from typing import ClassVar

from mytriton.ir.assembly import EXACT, WIDTHS, NotationError, Register, constraints, per_register, pieces
from mytriton.ir.core import Effect, Op, TypeRuleError, Value, attribute, operands
from mytriton.ir.ops.rules import require
from mytriton.records import dataclass
from mytriton.types import BlockType, PointerType, ScalarType, Type, element_of, is_pointer, shape_of


@dataclass(frozen=True, eq=False, kw_only=True)
class InlineAsm(Op):
    """The instructions `text` on each `pack` elements of the blocks `args` that one thread holds together; which these
    are is not said. Elements below 32 bits share registers. Where threads hold copies of elements each of them runs it;
    where one holds fewer than `pack`, some are given more than once. The same text on the same elements gives the same,
    and does nothing else."""

    opcode: ClassVar[str] = "asm"
    args: tuple[Value, ...] = operands(())
    text: str = attribute()
    constraints: str = attribute()
    elements: tuple[ScalarType, ...] = attribute()
    shape: tuple[int, ...] = attribute()
    pack: int = attribute(1)

    @property
    def touches_memory(self) -> bool:
        """Whether it is told addresses, or says that memory changes."""
        return any(is_pointer(v.type) for v in self.args) or constraints(self.constraints).memory

    def type_rule(self) -> tuple[Type, ...]:
        for value in self.args:
            require(shape_of(value.type) == self.shape, "an operand of assembly has another shape: {}", value.type)
        try:
            check(self.text, self.constraints, [element_of(v.type) for v in self.args], self.elements, self.pack)
        except NotationError as error:
            raise TypeRuleError(str(error)) from None
        return tuple([BlockType(self.shape, element) for element in self.elements])


class VolatileAsm(InlineAsm):
    """The same of instructions that may do anything to memory and to what is seen outside: they are run where they are
    written, as often as they are written."""

    opcode = "asm_volatile"
    effect = Effect.WRITE


def bits_of(element: ScalarType | PointerType) -> int:
    """The bits of an element in registers."""
    return element.bits if isinstance(element, ScalarType) else 64


def check(
    text: str,
    constraints_: str,
    inputs: list[ScalarType | PointerType],
    outputs: tuple[ScalarType, ...],
    pack: int,
) -> None:
    """Raise `NotationError` where a text, its constraints and what it is applied to do not fit together."""
    found = constraints(constraints_)
    for what, registers, elements in (("output", found.outputs, outputs), ("input", found.inputs, inputs)):
        needed = [e for e in elements for _ in range(pack // per_register(bits_of(e), pack))]
        if len(registers) != len(needed):
            types = ", ".join(map(str, elements)) or "nothing"
            each = f"{pack} elements of each of {types}" if pack > 1 else types
            wanted = _count(len(needed), what)
            raise NotationError(f"{each} takes {wanted}, but the constraints name {len(registers)}")
        for register, element in zip(registers, needed, strict=True):
            _fits(register, element, pack)
    count = len(found.outputs) + len(found.inputs)
    for piece in pieces(text):
        if isinstance(piece, int) and piece >= count:
            message = f"the text names `${piece}`, but the constraints name {_count(count, 'operand')}"
            raise NotationError(message, in_text=True)


def _fits(register: Register, element: ScalarType | PointerType, pack: int) -> None:
    together = per_register(bits_of(element), pack)
    bits, width = bits_of(element) * together, WIDTHS[register.letter]
    if bits > width or (register.letter in EXACT and bits != width):
        what = f"{together} elements of {element}" if together > 1 else f"an element of {element}"
        raise NotationError(f"a register `{register.letter}` holds {width} bits, but {what} takes {bits}")


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
