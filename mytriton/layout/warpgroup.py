"""Products by warpgroups: four warps together multiply matrices that stand in shared memory, while they go on with
something else (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions").

An instruction is told by a *descriptor* where a matrix begins and how its rows lie: eight of them, of up to 128 bytes,
are one *atom*, in which pieces of 16 bytes are swizzled as `dots.py` does it. The sums are in registers, and the first
factor may be.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from mytriton.ir import ops
from mytriton.layout.dots import DotPlan, Factor, factor_bytes, mapped
from mytriton.layout.layout import Layout
from mytriton.layout.mma import WARPGROUP_ROWS, Instruction, factor_bits, instruction, of_warpgroup
from mytriton.layout.routes import SHARED_BYTES, BitMap
from mytriton.records import dataclass
from mytriton.target import Target
from mytriton.types import ScalarType, bf16, element_of, f16, f32, i8, shape_of, u8

if TYPE_CHECKING:
    from mytriton.ir.arithmetic import Array

#: The chip that has the instructions, and only it.
CHIP = "sm_90a"

#: What an atom's beginning is a multiple of, so that the swizzle of its addresses is that of its rows.
ALIGNED_BYTES = 1024

#: A descriptor counts in these.
UNIT_BYTES = 16

#: The types of factors there are instructions for; those of which the neighbours along either axis may be side by side,
#: while of the others those along the depth are.
_FACTORS, _TURNED = (f16, bf16, f32, i8, u8), (f16, bf16)
_LEAST_COLUMNS, _MOST_COLUMNS = 16, 256


def depends(op: ops.Dot, target: Target) -> bool:
    """Whether it depends on the layouts of the factors if there is an instruction."""
    return target.chip == CHIP and element_of(op.lhs.type) not in _TURNED


def chosen(op: ops.Dot, target: Target, along: bool) -> Instruction | None:
    """The instruction that computes a product on the target; None where there is none, or the blocks are smaller. Its
    columns are as many as a warpgroup has when these have shared out the batch, then the rows, then the columns.
    `along` says whether neighbours along the depth are side by side in both factors."""
    element, (*batch, rows, depth) = element_of(op.lhs.type), shape_of(op.lhs.type)
    columns, groups = shape_of(op.rhs.type)[-1], target.num_warps // 4
    if target.chip != CHIP or element not in _FACTORS or not groups or op.precision == "tf32x3":
        return None
    if not (along or element in _TURNED):
        return None
    assert isinstance(element, ScalarType)
    of = of_warpgroup(element, _LEAST_COLUMNS)
    if rows < of.rows or columns < of.columns or depth < of.depth:
        return None
    blocks = prod(batch) * rows // WARPGROUP_ROWS
    share = columns // max(1, groups // blocks)
    return of_warpgroup(element, max(_LEAST_COLUMNS, min(share, _MOST_COLUMNS)))


def by_warpgroups(op: ops.Dot) -> bool:
    """Whether warpgroups compute a product."""
    return bool(op.instruction) and instruction(op).warps > 1


def held(op: ops.Dot, of: Instruction, result: Layout) -> Layout:
    """How threads hold the first factor of a product with `result` if instructions take it from registers: as they hold
    the sums of one that has as many columns. Registers count those of an instruction first, then the steps."""
    names, (*_, rows, depth) = factor_bits(op, True), shape_of(op.lhs.type)
    k, m = ([unit << i for i in range(extent.bit_length() - 1)] for unit, extent in ((1, depth), (depth, rows)))
    tiles = [names[e] for e in result.register[of.sums.bit_length() - 1 :] if names[e]]
    warp = tuple(names[entry] for entry in result.warp)
    return Layout(shape_of(op.lhs.type), (k[0], m[3], *k[3:], *tiles), (k[1], k[2], *m[:3]), warp)


def holds(op: ops.Dot, of: Instruction, lhs: Layout, result: Layout) -> bool:
    """Whether instructions take the first factor from registers, where it is in layout `lhs`."""
    size, depth, columns = factor_bytes(op), *shape_of(op.rhs.type)[-2:]
    room = prod(shape_of(op.rhs.type)[:-2]) * depth * columns * size <= SHARED_BYTES
    return of.warps > 1 and size == 2 and room and lhs == held(op, of, result)


@dataclass(frozen=True, slots=True)
class Matrix:
    """How instructions find their parts of a factor. The byte at which one begins, counted from where the factor does,
    is given by bit maps of the thread's number, of the number of the instruction's tile in the thread's sums, and of
    that of the step along the depth. Rows are of `row` bytes and run along the depth (`along`), or count it; eight of
    them, an atom, are followed by the next eight after `stride` bytes, and by the next line of eight after `leading`.
    """

    thread: BitMap
    tile: BitMap
    step: BitMap
    row: int
    along: bool
    stride: int
    leading: int

    @property
    def descriptor(self) -> int:
        """By which an instruction finds a matrix that begins at byte 0; one `UNIT_BYTES` later has a number 1 more."""
        swizzle = {128: 1, 64: 2, 32: 3}[self.row]
        return self.leading // UNIT_BYTES << 16 | self.stride // UNIT_BYTES << 32 | swizzle << 62

    def places(self, start: int, size: int, others: int, depth: int) -> Array:
        """The bytes where the elements of a matrix stand that begins at `start`, as the hardware finds them: an array
        [others, depth] for elements of `size` bytes."""
        import numpy as np  # for the laid-out interpreter: what compiles does without

        other, k = np.arange(others)[:, None], np.arange(depth)
        counted, byte = (other, k * size) if self.along else (k, other * size)
        place = start + counted % 8 * self.row + counted // 8 * self.stride
        place = place + byte % self.row + byte // self.row * self.leading
        return np.asarray(place ^ (place >> 3 & self.row - 16))


def matrices(op: ops.Dot, plan: DotPlan, result: Layout) -> tuple[Matrix, Matrix]:
    """How instructions find both factors of a product with `result`."""
    return _matrix(op, plan, result, plan.lhs), _matrix(op, plan, result, plan.rhs)


def _matrix(op: ops.Dot, plan: DotPlan, result: Layout, factor: Factor) -> Matrix:
    of, names, size = instruction(op), factor_bits(op, factor is plan.lhs), factor_bytes(op)

    def places(entries: Sequence[int]) -> BitMap:
        return tuple(slot * size for slot in mapped(factor.slot, entries))

    def needed(entries: Sequence[int]) -> BitMap:
        return places([names[entry] for entry in entries])

    unit = 1 if factor is plan.lhs else shape_of(op.rhs.type)[-1]
    steps = [unit << i for i in range(of.depth.bit_length() - 1, plan.depth.bit_length() - 1)]
    inside = len(result.lane) + of.warps.bit_length() - 1
    thread = (*(0,) * inside, *needed(result.warp[of.warps.bit_length() - 1 :]))
    tile = needed(result.register[of.sums.bit_length() - 1 :])
    leading = 16 if factor.along else plan.depth * factor.row  # an instruction takes no more than a row along the depth
    return Matrix(thread, tile, places(steps), factor.row, factor.along, 8 * factor.row, leading)
