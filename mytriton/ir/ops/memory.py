"""Pointers, loads and stores."""

from __future__ import annotations

from typing import ClassVar

from mytriton.ir.core import Effect, Op, TypeRuleError, Value, attribute, operand
from mytriton.ir.ops.rules import require
from mytriton.records import dataclass
from mytriton.types import (
    PointerType,
    Type,
    element_of,
    i32,
    i64,
    is_bool,
    is_pointer,
    shape_of,
    with_element,
)


@dataclass(frozen=True, eq=False, kw_only=True)
class AddPtr(Op):
    """A pointer moved by `offset` elements, an i32 or i64 that is sign-extended to 64 bits; the address wraps."""

    opcode: ClassVar[str] = "addptr"
    pointer: Value = operand()
    offset: Value = operand()

    def type_rule(self) -> tuple[Type, ...]:
        require(is_pointer(self.pointer.type), "the base must be a pointer, got {}", self.pointer.type)
        wide = element_of(self.offset.type) in (i32, i64)
        require(wide, "a pointer offset must be an integer, i32 or i64, got {}", self.offset.type)
        require(
            shape_of(self.pointer.type) == shape_of(self.offset.type),
            "shapes of pointer and offset differ: {} and {}",
            self.pointer.type,
            self.offset.type,
        )
        return (self.pointer.type,)


def check_mask(mask: Value | None, shape: tuple[int, ...]) -> None:
    """A mask is a bool for each element of an access."""
    if mask is not None:
        require(is_bool(mask.type), "a mask must be bool, got {}", mask.type)
        require(shape_of(mask.type) == shape, "the mask's shape {} differs from {}", shape_of(mask.type), shape)


@dataclass(frozen=True, eq=False, kw_only=True)
class Load(Op):
    """The elements at `pointer`. Masked-off elements touch no memory and read as `other` (0 if it is absent).

    `cache` (ca cg cv cs wb wt) and `eviction` (evict_first, evict_last) are the author's hints; no result depends on
    them. A `volatile` load is done where it is written, as often as it is written.
    """

    opcode: ClassVar[str] = "load"
    effect: ClassVar[Effect] = Effect.READ
    pointer: Value = operand()
    mask: Value | None = operand(None)
    other: Value | None = operand(None)
    cache: str = attribute("")
    eviction: str = attribute("")
    volatile: bool = attribute(False)

    def type_rule(self) -> tuple[Type, ...]:
        pointer = element_of(self.pointer.type)
        if not isinstance(pointer, PointerType):
            raise TypeRuleError(f"a load needs a pointer, got {self.pointer.type}")
        check_mask(self.mask, shape_of(self.pointer.type))
        type_ = with_element(self.pointer.type, pointer.element)
        require(self.other is None or self.mask is not None, "`other` without a mask")
        require(self.other is None or self.other.type == type_, "`other` must have the type of the loaded elements")
        return (type_,)


@dataclass(frozen=True, eq=False, kw_only=True)
class Store(Op):
    """Write `value` to `pointer` where `mask` is true. Of several elements with one address, one wins; a scalar store
    happens once a program. `cache` and `eviction` as for a load."""

    opcode: ClassVar[str] = "store"
    effect: ClassVar[Effect] = Effect.WRITE
    pointer: Value = operand()
    value: Value = operand()
    mask: Value | None = operand(None)
    cache: str = attribute("")
    eviction: str = attribute("")

    def type_rule(self) -> tuple[Type, ...]:
        pointer = element_of(self.pointer.type)
        if not isinstance(pointer, PointerType):
            raise TypeRuleError(f"a store needs a pointer, got {self.pointer.type}")
        require(
            self.value.type == with_element(self.pointer.type, pointer.element),
            "cannot store {} through {}",
            self.value.type,
            self.pointer.type,
        )
        check_mask(self.mask, shape_of(self.pointer.type))
        return ()
