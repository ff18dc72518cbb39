"""Constants, conversions and indices. Constants, casts and splats print inside their user."""

from __future__ import annotations

from typing import ClassVar

from mytriton.ir.core import Op, TypeRuleError, Value, attribute, operand
from mytriton.ir.ops.rules import require
from mytriton.records import dataclass
from mytriton.types import (
    BlockType,
    PointerType,
    ScalarType,
    Type,
    element_of,
    i32,
    i64,
    is_pointer,
    with_element,
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Constant(Op):
    """A scalar known at compile time: bool for i1, int for integers, float (exact in `type`) for floats."""

    opcode: ClassVar[str] = "constant"
    inline: ClassVar[bool] = True
    value: bool | int | float = attribute()
    type: ScalarType = attribute()

    def type_rule(self) -> tuple[Type, ...]:
        python = {"bool": bool, "int": int, "float": float}[self.type.kind]
        require(type(self.value) is python, "a constant of type {} cannot be {!r}", self.type, self.value)
        if isinstance(self.value, int) and self.type.kind == "int":
            require(self.type.low <= self.value <= self.type.high, "{} does not fit {}", self.value, self.type)
        return (self.type,)


@dataclass(frozen=True, eq=False, kw_only=True)
class Cast(Op):
    """Element conversion. Float to integer truncates toward zero, saturates, and NaN gives 0; integer narrowing wraps;
    float narrowing rounds to nearest even, and to a float8 saturates, infinity too, with one NaN (PTX's `satfinite`);
    to i1 is `!= 0` (NaN is true); i1 to a number is 0 or 1."""

    opcode: ClassVar[str] = "cast"
    inline: ClassVar[bool] = True
    source: Value = operand()
    to: ScalarType = attribute()

    def type_rule(self) -> tuple[Type, ...]:
        require(not is_pointer(self.source.type), "a pointer cannot be cast to a number")
        return (with_element(self.source.type, self.to),)


@dataclass(frozen=True, eq=False, kw_only=True)
class Bitcast(Op):
    """The same bits as another type of the same width; between pointers, the same address, whose bits are an i64. i1
    has no bits to keep."""

    opcode: ClassVar[str] = "bitcast"
    source: Value = operand()
    to: ScalarType | PointerType = attribute()

    def type_rule(self) -> tuple[Type, ...]:
        old = element_of(self.source.type)
        if isinstance(old, PointerType) or isinstance(self.to, PointerType):
            fits = all(isinstance(t, PointerType) or t == i64 for t in (old, self.to))
            require(fits, "the bits of a pointer are an i64: {} to {}", old, self.to)
        else:
            require(old.bits == self.to.bits, "{} and {} have different widths", old, self.to)
        return (with_element(self.source.type, self.to),)


@dataclass(frozen=True, eq=False, kw_only=True)
class Splat(Op):
    """A block all of whose elements are one scalar."""

    opcode: ClassVar[str] = "splat"
    inline: ClassVar[bool] = True
    source: Value = operand()
    shape: tuple[int, ...] = attribute()

    def type_rule(self) -> tuple[Type, ...]:
        element = self.source.type
        if isinstance(element, BlockType):
            raise TypeRuleError("only a scalar can be splat to a block")
        return (BlockType(self.shape, element),)


@dataclass(frozen=True, eq=False, kw_only=True)
class ProgramId(Op):
    """This program's position along an axis (0, 1 or 2) of the launch grid, an i32."""

    opcode: ClassVar[str] = "program_id"
    axis: int = attribute()

    def type_rule(self) -> tuple[Type, ...]:
        require(self.axis in (0, 1, 2), "axis must be 0, 1 or 2, got {}", self.axis)
        return (i32,)


@dataclass(frozen=True, eq=False, kw_only=True)
class NumPrograms(Op):
    """The extent of an axis (0, 1 or 2) of the launch grid, an i32."""

    opcode: ClassVar[str] = "num_programs"
    axis: int = attribute()

    def type_rule(self) -> tuple[Type, ...]:
        require(self.axis in (0, 1, 2), "axis must be 0, 1 or 2, got {}", self.axis)
        return (i32,)


@dataclass(frozen=True, eq=False, kw_only=True)
class Arange(Op):
    """The i32 block start, start + 1, ..., end - 1; its length is a power of two."""

    opcode: ClassVar[str] = "arange"
    start: int = attribute()
    end: int = attribute()

    def type_rule(self) -> tuple[Type, ...]:
        length = self.end - self.start
        power = length > 0 and length & (length - 1) == 0
        require(power, "the length of a range must be a power of 2, got {}", length)
        return (BlockType((length,), i32),)
