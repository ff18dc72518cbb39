"""The operations that the layout step adds to a function: data moving between registers, lanes and warps.

All are defined on blocks, whoever holds the elements, so the interpreter runs them as well.
"""

from __future__ import annotations

from typing import ClassVar

from mytriton.ir.core import Op, Value, attribute, operand
from mytriton.ir.ops.rules import require
from mytriton.ir.ops.shapes import COMBINE
from mytriton.records import dataclass
from mytriton.types import BlockType, Type, element_of, shape_of


@dataclass(frozen=True, eq=False, kw_only=True)
class Convert(Op):
    """The same block in another layout, that of the result. `through` says how: `registers` (each thread holds what it
    needs), `shuffle` (each warp does), or `shared` memory."""

    opcode: ClassVar[str] = "convert"
    source: Value = operand()
    through: str = attribute()
    #: Copies hold nothing yet: only the one whose free bits are 0 has the element.
    owned: bool = attribute(False)

    def type_rule(self) -> tuple[Type, ...]:
        require(self.through in ("registers", "shuffle", "shared"), "no conversion goes through {}", self.through)
        return (self.source.type,)


@dataclass(frozen=True, eq=False, kw_only=True)
class Finish(Op):
    """The result of a product that was only begun. All that were are done now."""

    opcode: ClassVar[str] = "finish"
    source: Value = operand()

    def type_rule(self) -> tuple[Type, ...]:
        return (self.source.type,)


@dataclass(frozen=True, eq=False, kw_only=True)
class PartialReduce(Op):
    """A step of a reduction: the elements whose index along `axis` differs only in the bits of `bits` are combined;
    these bits leave the index, so the extent of the axis shrinks to its 2**k-th part (k bits; never below 1: the last
    step is followed by a reshape that drops the axis).

    `across` names what holds the elements that are combined: `registers` of one thread, `lanes` of a warp (by
    butterfly shuffles, after which all of them hold the result), or `warps` (through shared memory, after which all
    of them hold it).
    """

    opcode: ClassVar[str] = "reduce"
    source: Value = operand()
    axis: int = attribute()
    combine: str = attribute()
    across: str = attribute()
    bits: int = attribute()

    def type_rule(self) -> tuple[Type, ...]:
        shape = shape_of(self.source.type)
        require(0 <= self.axis < len(shape), "axis {} is out of range of {}", self.axis, self.source.type)
        require(self.combine in COMBINE, "no reduction combines with `{}`", self.combine)
        require(self.across in ("registers", "lanes", "warps"), "nothing is reduced across {}", self.across)
        inside = 0 < self.bits < shape[self.axis]
        require(inside, "bits {} are not all of an index below {}", self.bits, shape[self.axis])
        extent = shape[self.axis] >> self.bits.bit_count()
        return (BlockType((*shape[: self.axis], extent, *shape[self.axis + 1 :]), element_of(self.source.type)),)
