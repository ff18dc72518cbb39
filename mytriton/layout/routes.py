"""Where a thread finds what it needs: which register, of which lane, of which warp.

Layouts only permute bits, so each answer is a permutation of bits as well: for every bit of the wanted register (lane,
warp) number, the mask of the bits that it sets in the number looked for. `number` evaluates one; emitters print it, as
`(r >> 2) & 1` or the like.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from mytriton.ir import ops
from mytriton.layout.layout import Layout, index_bits
from mytriton.records import dataclass
from mytriton.types import shape_of

#: The most that exchanges use of shared memory, in bytes. Up to 48 KB need no launch attribute (CUDA programming guide,
#: "Technical specifications"), and this lets several programs run on a multiprocessor.
SHARED_BYTES = 32 * 1024

#: Per bit of a number, from bit 0: the mask of the bits that it sets in another number; flips, where several have one.
BitMap: TypeAlias = "tuple[int, ...]"


def number(bits: BitMap, of: int) -> int:
    """The number that a bit map gives for `of`."""
    result = 0
    for bit, mask in enumerate(bits):
        if of >> bit & 1:
            result ^= mask
    return result


def broadcast_registers(source: Layout, result: Layout) -> BitMap:
    """The register of the operand that each register of a broadcast's result repeats.

    `source` is the slice of `result` (`Layout.sliced`), so each thread holds what it needs.
    """
    units = (index_bits(result.shape, axis, extent - 1) for axis, extent in enumerate(source.shape))
    kept = sum(units)
    masks, following = [], 1
    for entry in result.register:
        masks.append(following if entry & kept else 0)
        following <<= bool(entry & kept)
    return tuple(masks)


@dataclass(frozen=True, slots=True)
class Reduction:
    """What a `PartialReduce` combines. Across registers: result register r combines the source registers
    `number(kept, r)`, each with all combinations of the register bits `combined`. Across lanes or warps: registers
    keep their numbers, and `combined` are bits of the lane or warp number."""

    kept: BitMap
    combined: tuple[int, ...]

    def sources(self, register: int) -> list[int]:
        """The source registers that one result register combines."""
        first = number(self.kept, register)
        return [first | offset for offset in subsets(self.combined)]


def reduction(source: Layout, axis: int, bits: int, across: str) -> Reduction:
    """How to reduce a block in layout `source` by the bits `bits` of its index along `axis`."""
    masks = source.holders(index_bits(source.shape, axis, bits))
    held = dict(zip(("registers", "lanes", "warps"), masks, strict=True))
    combined = tuple(1 << i for i in range(held[across].bit_length()) if held[across] >> i & 1)
    kept = tuple(1 << i for i in range(len(source.register)) if across != "registers" or 1 << i not in combined)
    return Reduction(kept, combined)


@dataclass(frozen=True, slots=True)
class Parts:
    """Where one register of all threads stands in shared memory for a reduction across warps: `count` places. What is
    combined is side by side, and copies have no place of their own. From the bits of a thread's number: `write` to the
    place of what it holds, if it is the one of the copies that writes, and `read` to the first of the places whose
    elements it combines, 2**k for k `combined` bits."""

    write: BitMap
    read: BitMap
    count: int


def parts(source: Layout, combined: Sequence[int]) -> Parts:
    """The places for a block in layout `source`, whose warps are combined by the bits `combined` of their numbers."""
    entries, first = source.lane + source.warp, len(source.lane)
    together = [bit for bit in range(first, len(entries)) if 1 << bit - first in combined]
    others = [bit for bit, entry in enumerate(entries) if entry and bit not in together]
    places = {bit: 1 << i for i, bit in enumerate([*together, *others])}
    write = tuple(places.get(bit, 0) for bit in range(len(entries)))
    return Parts(write, tuple(0 if bit in together else mask for bit, mask in enumerate(write)), 1 << len(places))


def subsets(masks: Sequence[int]) -> list[int]:
    """All combinations of disjoint masks, in counting order: the first mask counts fastest."""
    found = [0]
    for mask in masks:
        found += [mask | other for other in found]
    return found


@dataclass(frozen=True, slots=True)
class Route:
    """How a conversion or `Pick` finds its elements within a warp: the register is given by that of the result, the
    lane by the register, lane and warp of the result together (the masks are disjoint, so the three numbers add up);
    both then with some bits flipped."""

    register: BitMap
    lane_by_register: BitMap
    lane_by_lane: BitMap
    lane_by_warp: BitMap
    #: Bits of the two numbers that are the other way round.
    flip_register: int = 0
    flip_lane: int = 0

    @property
    def stays(self) -> bool:
        """Whether every thread has what it needs itself: registers are renamed, no more."""
        own = tuple(1 << i for i in range(len(self.lane_by_lane)))
        moves = any(self.lane_by_register) or any(self.lane_by_warp) or self.flip_lane
        return self.lane_by_lane == own and not moves


def picked(op: ops.Pick | ops.Gather, result: Layout) -> Layout:
    """The positions in the source of a `Pick` or `Gather` of what is held where `result` says: but for `picked_flip`,
    or the index along the axis."""
    inner, extent = index_bits(result.shape, op.axis, 1), result.shape[op.axis]
    shape, keep = shape_of(op.source.type), op.keep if isinstance(op, ops.Pick) else 0

    def moved(entry: int) -> int:
        if entry >= inner * extent:
            return entry // extent * shape[op.axis]
        return entry if entry < inner else entry & keep * inner

    return Layout(shape, *(tuple(map(moved, entries)) for entries in result.map))


def picked_flip(op: ops.Pick | ops.Gather) -> int:
    """The position bits that are flipped in the source of a `Pick`."""
    return index_bits(shape_of(op.source.type), op.axis, op.flip) if isinstance(op, ops.Pick) else 0


def gathered_unit(op: ops.Gather) -> int:
    """How far apart elements that follow each other along the axis of a `Gather` are in its source."""
    return index_bits(shape_of(op.source.type), op.axis, 1)


def route(have: Layout, want: Layout, flip: int = 0) -> Route | None:
    """The way from one layout to another inside each warp, if the register to read is the same for all threads; else
    None, and the elements go through shared memory. What is wanted is at the positions of `want` with `flip` flipped.
    """
    registers = {entry: 1 << i for i, entry in enumerate(have.register)}
    lanes = {entry: 1 << i for i, entry in enumerate(have.lane) if entry}
    for bit, entry in enumerate(have.warp):
        if entry and (want.warp[bit] != entry or entry & flip):
            return None
    if any(entry in registers for entry in (*want.lane, *want.warp)):
        return None
    lane_by_lane = [lanes.get(entry, 0) for entry in want.lane]
    for bit, entry in enumerate(want.lane):
        # Of copies a thread takes its own.
        if not entry and not have.lane[bit]:
            lane_by_lane[bit] = 1 << bit
    return Route(
        tuple(registers.get(entry, 0) for entry in want.register),
        tuple(lanes.get(entry, 0) for entry in want.register),
        tuple(lane_by_lane),
        tuple(lanes.get(entry, 0) for entry in want.warp),
        sum(bit for entry, bit in registers.items() if entry & flip),
        sum(bit for entry, bit in lanes.items() if entry & flip),
    )


def through(have: Layout, want: Layout, flip: int = 0) -> str:
    """What a conversion goes through, as `Convert.through` has it."""
    way = route(have, want, flip)
    return "shared" if way is None else "registers" if way.stays else "shuffle"


def round_elements(layout: Layout, element_bytes: int) -> int:
    """How many elements one round of a conversion moves through shared memory."""
    return min(layout.size, SHARED_BYTES // element_bytes)


def round_registers(layout: Layout, places: int, element_bytes: int) -> int:
    """How many registers of each thread one round of a reduction across warps combines, at `Parts.count` places."""
    return min(layout.registers, SHARED_BYTES // (places * element_bytes))
