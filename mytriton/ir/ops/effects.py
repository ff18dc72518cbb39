"""Operations done for their place among others: barriers, and what a kernel shows to the outside while it runs."""

from __future__ import annotations

from typing import ClassVar

from mytriton.ir.core import Effect, Op, Value, attribute, operand, operands
from mytriton.ir.ops.rules import require
from mytriton.records import dataclass
from mytriton.types import Type, is_bool, is_pointer


@dataclass(frozen=True, eq=False, kw_only=True)
class Assert(Op):
    """Stops the launch with `message` if the condition, or one of its elements, is false."""

    opcode: ClassVar[str] = "assert"
    effect: ClassVar[Effect] = Effect.OUTPUT
    condition: Value = operand()
    message: str = attribute()

    def type_rule(self) -> tuple[Type, ...]:
        require(is_bool(self.condition.type), "an assertion takes bools, got {}", self.condition.type)
        return ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Barrier(Op):
    """Orders memory between the lanes of a program: what they did before it is done when one passes it."""

    opcode: ClassVar[str] = "barrier"
    effect: ClassVar[Effect] = Effect.OUTPUT

    def type_rule(self) -> tuple[Type, ...]:
        return ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Print(Op):
    """Prints `prefix` and, for each operand, its elements, with the program they are of."""

    opcode: ClassVar[str] = "print"
    effect: ClassVar[Effect] = Effect.OUTPUT
    values: tuple[Value, ...] = operands(())
    prefix: str = attribute()

    def type_rule(self) -> tuple[Type, ...]:
        for value in self.values:
            require(not is_pointer(value.type), "pointers cannot be printed")
        return ()
