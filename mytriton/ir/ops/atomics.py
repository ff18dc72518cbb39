"""Atomic operations on memory."""

from __future__ import annotations

from typing import ClassVar

from mytriton.ir.core import Effect, Op, TypeRuleError, Value, attribute, operand
from mytriton.ir.ops.memory import check_mask
from mytriton.ir.ops.rules import require
from mytriton.records import dataclass
from mytriton.types import BlockType, PointerType, ScalarType, Type, shape_of, with_element

#: What an atomic operation makes of the old element x and the given one, y: x + y, the larger, the smaller, x & y,
#: x | y, x ^ y, y, and y if x is the one compared with (bits count).
KINDS = ("add", "max", "min", "and", "or", "xor", "xchg", "cas")
#: In which order others see it among what the thread reads and writes otherwise (PTX ISA, "Memory consistency model").
ORDERS = ("acq_rel", "acquire", "release", "relaxed")
SCOPES = ("gpu", "cta", "sys")


@dataclass(frozen=True, eq=False, kw_only=True)
class Atomic(Op):
    """Read the elements at `pointer`, and write what `kind` makes of them and `value`, each in one step that nothing
    can come between; the result is what was read. Elements whose mask is false touch no memory and give 0. It happens
    once for each element, whatever copies threads hold; elements with one address are done one after the other, in any
    order. A scalar is a block of one element here. Integers wrap; of floats `max` and `min` ignore NaN.
    """

    opcode: ClassVar[str] = "atomic"
    effect: ClassVar[Effect] = Effect.WRITE
    kind: str = attribute()
    pointer: Value = operand()
    value: Value = operand()
    mask: Value | None = operand(None)
    compare: Value | None = operand(None)
    order: str = attribute("acq_rel")
    scope: str = attribute("gpu")

    def type_rule(self) -> tuple[Type, ...]:
        if not isinstance(self.pointer.type, BlockType) or not isinstance(self.pointer.type.element, PointerType):
            raise TypeRuleError(f"an atomic operation needs a block of pointers, got {self.pointer.type}")
        element = self.pointer.type.element.element
        require(self.kind in KINDS and self.order in ORDERS and self.scope in SCOPES, "no such atomic operation")
        require(takes(self.kind, element), "there is no atomic {} of {}", self.kind, element)
        type_ = with_element(self.pointer.type, element)
        require(self.value.type == type_, "the value must be {}, got {}", type_, self.value.type)
        require((self.compare is not None) == (self.kind == "cas"), "only `cas` compares")
        require(self.compare is None or self.compare.type == type_, "what is compared must be {}", type_)
        check_mask(self.mask, shape_of(self.pointer.type))
        return (type_,)


def takes(kind: str, element: ScalarType) -> bool:
    """Whether an atomic operation takes elements of a type."""
    if element.bits == 16:
        return kind == "cas" or (kind == "add" and element.kind == "float")
    return element.bits in (32, 64) and (element.kind == "int" or kind not in ("and", "or", "xor"))
