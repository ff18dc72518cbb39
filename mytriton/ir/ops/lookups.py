"""Operations in which the elements of a block say where others are, or what is counted."""

from __future__ import annotations

from typing import ClassVar

from mytriton.ir.core import Op, Value, attribute, operand
from mytriton.ir.ops.memory import check_mask
from mytriton.ir.ops.rules import require
from mytriton.records import dataclass
from mytriton.types import BlockType, Type, element_of, i32, shape_of, u32, with_element


@dataclass(frozen=True, eq=False, kw_only=True)
class Gather(Op):
    """Each element of the result is one of the source: at the same indices, but along `axis` at the one that `index`
    says there, an i32 below the extent of the source's axis. The other extents are the same."""

    opcode: ClassVar[str] = "gather"
    source: Value = operand()
    index: Value = operand()
    axis: int = attribute()

    def type_rule(self) -> tuple[Type, ...]:
        source, index = shape_of(self.source.type), shape_of(self.index.type)
        require(0 <= self.axis < len(source), "axis {} is out of range of {}", self.axis, self.source.type)
        others = [(*shape[: self.axis], *shape[self.axis + 1 :]) for shape in (source, index)]
        require(len(index) == len(source) and others[0] == others[1], "{} cannot be looked up in {}",
                self.index.type, self.source.type)  # fmt: skip
        require(element_of(self.index.type) == i32, "an index must be i32, got {}", self.index.type)
        return (with_element(self.index.type, element_of(self.source.type)),)


@dataclass(frozen=True, eq=False, kw_only=True)
class Histogram(Op):
    """How often each number below `bins` is among the elements of the source, an i32 each; elements whose mask is false
    and those that are no such number do not count."""

    opcode: ClassVar[str] = "histogram"
    source: Value = operand()
    mask: Value | None = operand(None)
    bins: int = attribute()

    def type_rule(self) -> tuple[Type, ...]:
        shape = shape_of(self.source.type)
        integers = element_of(self.source.type) in (i32, u32)
        require(len(shape) == 1 and integers, "a histogram is one of 32-bit integers along one axis, got {}",
                self.source.type)  # fmt: skip
        require(self.bins > 0 and not self.bins & (self.bins - 1), "{} bins are not a power of 2", self.bins)
        check_mask(self.mask, shape)
        return (BlockType((self.bins,), i32),)
