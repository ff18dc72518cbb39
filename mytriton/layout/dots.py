"""How a product of blocks is computed: both factors stand in shared memory, and each thread adds up the products for
the elements of the result that it holds.

The factors stand there in row-major order, [batch, M, depth] and behind it [batch, depth, N], as many of the K columns
and rows at a time as the buffer holds. Layouts permute bits, so what stands where is a bit map of positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from mytriton.ir import ops
from mytriton.layout.routes import SHARED_BYTES, BitMap
from mytriton.records import dataclass
from mytriton.types import ScalarType, element_of, shape_of


@dataclass(frozen=True, slots=True)
class Factor:
    """One factor in the buffer. For each bit of a position in its block: the bit that it sets in the slot, and in the
    number of the round in which it is there; and for each bit of a position in the result: the bit that it sets in the
    slot of what is needed for it in the first step of a round. Step s is `stride` slots further per step."""

    start: int
    slot: BitMap
    round: BitMap
    needed: BitMap
    stride: int

    @property
    def rounds_apart(self) -> bool:
        """Whether only a part of the factor is in the buffer at a time."""
        return any(self.round)


@dataclass(frozen=True, slots=True)
class DotPlan:
    """`rounds` times, `depth` steps each; the buffer has `slots` elements of the factors' type. A factor that is staged
    is in none of them: it is whole where it stands, and its slots count from there."""

    rounds: int
    depth: int
    slots: int
    lhs: Factor
    rhs: Factor


def factor_bytes(op: ops.Dot) -> int:
    """The bytes of one element of a factor."""
    element = element_of(op.lhs.type)
    assert isinstance(element, ScalarType)
    return element.bytes


def dot_plan(op: ops.Dot) -> DotPlan:
    """How a product goes through the buffer. In the last resort one column and one row at a time are there; if these
    are larger than the buffer is meant to be, it becomes larger (`shared_bytes`)."""
    *batch, rows, depth = shape_of(op.lhs.type)
    columns, batches, whole = shape_of(op.rhs.type)[-1], prod(batch), depth
    while not op.staged and depth > 1 and batches * (rows + columns) * depth * factor_bytes(op) > SHARED_BYTES:
        depth //= 2
    low, high = _bits(depth), tuple(1 << i for i in range((whole // depth).bit_length() - 1))
    row_bits, column_bits, batch_bits = _bits(rows), _bits(columns), _bits(batches)
    lhs = Factor(
        start=0,
        slot=(*low, *_none(high), *_times(row_bits, depth), *_times(batch_bits, rows * depth)),
        round=(*_none(low), *high, *_none(row_bits), *_none(batch_bits)),
        needed=(*_none(column_bits), *_times(row_bits, depth), *_times(batch_bits, rows * depth)),
        stride=1,
    )
    rhs = Factor(
        start=0 if op.staged else batches * rows * depth,
        slot=(*column_bits, *_times(low, columns), *_none(high), *_times(batch_bits, depth * columns)),
        round=(*_none(column_bits), *_none(low), *high, *_none(batch_bits)),
        needed=(*column_bits, *_none(row_bits), *_times(batch_bits, depth * columns)),
        stride=columns,
    )
    put = sum(side for name, side in (("lhs", rows), ("rhs", columns)) if not is_staged(op, name))
    return DotPlan(whole // depth, depth, batches * put * depth, lhs, rhs)


def is_staged(op: ops.Dot, side: str) -> bool:
    """Whether the factor on that side, `lhs` or `rhs`, stands in shared memory already."""
    return op.staged in (side, "both")


def mapped(bits: BitMap, entries: Sequence[int]) -> BitMap:
    """The entries of a layout, single position bits, sent through a bit map of positions."""
    return tuple(bits[entry.bit_length() - 1] if entry else 0 for entry in entries)


def _bits(extent: int) -> BitMap:
    return tuple(1 << i for i in range(extent.bit_length() - 1))


def _none(bits: BitMap) -> BitMap:
    return (0,) * len(bits)


def _times(bits: Sequence[int], factor: int) -> BitMap:
    return tuple(bit * factor for bit in bits)
