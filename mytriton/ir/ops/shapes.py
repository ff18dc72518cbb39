"""Operations that move the elements of a block, or combine those along an axis. Elements are in row-major order."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import ClassVar

from mytriton.ir.core import Op, TypeRuleError, Value, attribute, operand
from mytriton.ir.ops.elementwise import (
    Add,
    And,
    Binary,
    Maximum,
    MaximumNan,
    Minimum,
    MinimumNan,
    Mul,
    Or,
    Xor,
)
from mytriton.ir.ops.rules import require
from mytriton.records import dataclass
from mytriton.types import BlockType, Type, element_of, shape_of


@dataclass(frozen=True, eq=False, kw_only=True)
class Reshape(Op):
    """The same elements, in row-major order, as a block of another shape with as many elements; extents of 1 may
    come and go (`x[:, None]`). A scalar reshapes to and from a block of one element."""

    opcode: ClassVar[str] = "reshape"
    source: Value = operand()
    shape: tuple[int, ...] = attribute()

    def type_rule(self) -> tuple[Type, ...]:
        old = shape_of(self.source.type)
        require(prod(old) == prod(self.shape), "shapes {} and {} hold different numbers of elements", old, self.shape)
        return (_block(self.shape, self.source.type),)


@dataclass(frozen=True, eq=False, kw_only=True)
class Transpose(Op):
    """Axis i of the result is axis `order[i]` of the source."""

    opcode: ClassVar[str] = "trans"
    source: Value = operand()
    order: tuple[int, ...] = attribute()

    def type_rule(self) -> tuple[Type, ...]:
        shape = shape_of(self.source.type)
        require(sorted(self.order) == list(range(len(shape))), "{} is no order of {} axes", self.order, len(shape))
        return (_block(tuple(shape[axis] for axis in self.order), self.source.type),)


@dataclass(frozen=True, eq=False, kw_only=True)
class Broadcast(Op):
    """Axes of extent 1 repeated to the extents of `shape`; the rank stays."""

    opcode: ClassVar[str] = "broadcast"
    source: Value = operand()
    shape: tuple[int, ...] = attribute()

    def type_rule(self) -> tuple[Type, ...]:
        old = shape_of(self.source.type)
        fits = len(old) == len(self.shape) and all(o in (1, n) for o, n in zip(old, self.shape, strict=False))
        require(fits, "shape {} does not broadcast to {}", old, self.shape)
        return (_block(self.shape, self.source.type),)


@dataclass(frozen=True, eq=False, kw_only=True)
class Pick(Op):
    """Element i along `axis`, of `extent` elements, is element `(i & keep) ^ flip` of the source: a half, the elements
    in reverse, each other one's neighbour, and other affine maps over F2. Scans, sorts and reductions with the author's
    functions are made of it."""

    opcode: ClassVar[str] = "pick"
    source: Value = operand()
    axis: int = attribute()
    extent: int = attribute()
    keep: int = attribute()
    flip: int = attribute()
    through: str = attribute(default="")

    def type_rule(self) -> tuple[Type, ...]:
        shape = shape_of(self.source.type)
        require(0 <= self.axis < len(shape), "axis {} is out of range of {}", self.axis, self.source.type)
        old = shape[self.axis]
        require(1 <= self.extent <= old, "extent {} is not one of 1 to {}", self.extent, old)
        require(
            0 <= self.keep < self.extent and 0 <= self.flip < old, "bits {} or {} are too many", self.keep, self.flip
        )
        return (_block((*shape[: self.axis], self.extent, *shape[self.axis + 1 :]), self.source.type),)


#: What a reduction may combine with: associative and commutative (for floats up to rounding).
COMBINE: Mapping[str, type[Binary]] = {
    cls.opcode: cls for cls in (Add, Mul, Maximum, MaximumNan, Minimum, MinimumNan, And, Or, Xor)
}


@dataclass(frozen=True, eq=False, kw_only=True)
class Reduce(Op):
    """The elements along `axis` combined by the operation whose opcode is `combine`, in the elements' own type; the
    axis goes away (a block of rank 1 gives a scalar). The order is that of a balanced tree, unspecified beyond that.
    Like a barrier it orders what lanes do to memory, if its result is used: passes keep its place among writes."""

    opcode: ClassVar[str] = "reduce"
    source: Value = operand()
    axis: int = attribute()
    combine: str = attribute()

    def type_rule(self) -> tuple[Type, ...]:
        shape = shape_of(self.source.type)
        require(0 <= self.axis < len(shape), "axis {} is out of range of {}", self.axis, self.source.type)
        require(self.combine in COMBINE, "no reduction combines with `{}`", self.combine)
        COMBINE[self.combine](lhs=self.source, rhs=self.source).type_rule()
        return (_block(shape[: self.axis] + shape[self.axis + 1 :], self.source.type),)


def _block(shape: tuple[int, ...], source: Type) -> Type:
    for extent in shape:
        if extent < 1 or extent & (extent - 1):
            raise TypeRuleError(f"the extents of a block must be powers of 2, got {extent}")
    return BlockType(shape, element_of(source)) if shape else element_of(source)
