"""What exchanges do, step by step as the hardware does it; for the laid-out interpreter."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import numpy as np

from mytriton.diagnostics import InternalError
from mytriton.ir import ops
from mytriton.ir.arithmetic import DTYPES, EVALUATE, POINTER, Array
from mytriton.ir.core import Op
from mytriton.layout.dots import DotPlan, dot_plan, factor_bytes
from mytriton.layout.layout import Layout
from mytriton.layout.mma import fragments, instruction, tiles
from mytriton.layout.ops import Convert, Finish, PartialReduce
from mytriton.layout.program import Exchanged, Item
from mytriton.layout.routes import (
    BitMap,
    gathered_unit,
    number,
    picked,
    picked_flip,
    reduction,
    round_elements,
    round_registers,
    route,
    subsets,
)
from mytriton.layout.staging import AsyncCommit, AsyncWait, Staged
from mytriton.layout.warpgroup import by_warpgroups, matrices
from mytriton.types import ScalarType, element_of

LANES = 32

#: A barrier, by what has it: an item before which, or an operation in which, threads wait.
Wait: TypeAlias = "Item | Op"
#: An exchange of one warp: yields at barriers, returns the result.
Exchanging: TypeAlias = "Generator[Wait, None, Array]"


def positions(layout: Layout, warp: int) -> Array:
    """The elements that a warp holds, as an array [registers, lanes]."""
    table = np.zeros((layout.registers, LANES), np.int64)
    for numbers, entries in ((np.arange(layout.registers)[:, None], layout.register), (np.arange(LANES), layout.lane)):
        for bit, entry in enumerate(entries):
            table ^= (numbers >> bit & 1) * entry
    return table ^ layout.position(0, 0, warp)


class Buffer:
    """The shared memory of one program, `size` bytes. Pointers, which are 8 bytes on a GPU but carry their base here,
    have one of their own. `begun` are the products of each warp that are not finished: their sums, and what adds to
    them."""

    def __init__(self, size: int) -> None:
        self.begun: dict[int, list[tuple[Array, Callable[[], Array]]]] = {}
        self._data = np.zeros(-(-size // 16) * 16, np.uint8)
        self._pointers = np.zeros(size // 8, POINTER)

    def of(self, dtype: np.dtype[np.generic]) -> Array:
        """The buffer as an array of one type."""
        return self._pointers if dtype == POINTER else self._data.view(dtype)

    @staticmethod
    def bytes_of(dtype: np.dtype[np.generic]) -> int:
        """The bytes that one element takes on a GPU."""
        return 8 if dtype == POINTER else dtype.itemsize


def exchange(
    op: Exchanged,
    rows: Sequence[Array],
    layouts: Sequence[Layout],
    result: Layout,
    warp: int,
    buffer: Buffer,
    staged: Sequence[int | None] = (None, None),
) -> Exchanging:
    """Run an exchange for one warp, whose operands and result are arrays [registers, lanes]. `staged` are the bytes at
    which the factors of a product begin that stand in shared memory already; these have no arrays."""
    assert not isinstance(op, (ops.InlineAsm, AsyncCommit, AsyncWait, Staged)), "these are the simulator's"
    lanes, held, source = np.arange(LANES), rows[0], layouts[0]
    if isinstance(op, ops.Dot):
        return (yield from _product(op, rows, layouts, result, warp, buffer, staged))
    if isinstance(op, Finish):
        for sums, multiplied in buffer.begun.pop(warp, ()):
            sums[...] = multiplied()
        return held
    if not (isinstance(op, Convert) and op.owned):
        _agree(op, held, held[:, lanes & ~source.free_bits()[1]])
    if isinstance(op, PartialReduce):
        return (yield from _reduce(op, held, source, warp, buffer))
    if isinstance(op, ops.Histogram):
        return (yield from _count(op, rows, source, result, warp, buffer))
    flip = 0
    if isinstance(op, (ops.Pick, ops.Gather)):
        result, flip = picked(op, result), picked_flip(op)
    if isinstance(op, ops.Gather) or op.through == "shared":
        wanted = positions(result, warp) ^ flip
        wanted = wanted + rows[1] * gathered_unit(op) if isinstance(op, ops.Gather) else wanted
        return (yield from _through_buffer(op, held, source, wanted, warp, buffer))
    way = route(source, result, flip)
    assert way is not None
    registers = range(result.registers)
    reads = np.array([number(way.register, r) for r in registers])[:, None]
    by_register = np.array([number(way.lane_by_register, r) for r in registers])[:, None]
    by_lane = np.array([number(way.lane_by_lane, lane) for lane in range(LANES)])
    from_lane = (by_register + by_lane + number(way.lane_by_warp, warp)) ^ way.flip_lane
    return np.asarray(held[reads ^ way.flip_register, from_lane])


def _product(
    op: ops.Dot,
    rows: Sequence[Array],
    layouts: Sequence[Layout],
    result: Layout,
    warp: int,
    buffer: Buffer,
    staged: Sequence[int | None],
) -> Exchanging:
    """`rows` and `layouts` are of both factors and of what is added."""
    plan, lanes = dot_plan(op, dict(zip((op.lhs, op.rhs), layouts, strict=False))), np.arange(LANES)
    element = element_of(op.lhs.type)
    assert isinstance(element, ScalarType)
    cells = buffer.of(DTYPES[element])
    total, at = np.array(rows[2]), positions(result, warp)
    lhs, rhs = (
        f if there is None else replace(f, start=there // element.bytes)
        for f, there in zip((plan.lhs, plan.rhs), staged, strict=True)
    )
    plan = replace(plan, lhs=lhs, rhs=rhs)
    factors = zip((lhs, rhs), rows[:2], layouts[:2], staged, strict=True)
    put = [(f, held, layout) for f, held, layout, there in factors if there is None]
    for _, held, layout in put:
        _agree(op, held, held[:, lanes & ~layout.free_bits()[1]])
    for turn in range(plan.rounds):
        if turn:
            yield op
        for factor, held, layout in put:
            where = positions(layout, warp)
            now = (bits_of(factor.round, where) == turn) & _original(layout, warp)
            cells[factor.start + bits_of(factor.slot, where)[now]] = held[now]
        if put:
            yield op
        if op.begun:
            sums = np.full_like(total, np.nan if total.dtype.kind == "f" else -1)  # nothing to be relied on
            later = partial(_multiplied_together, op, plan, result, cells, total, warp)
            buffer.begun.setdefault(warp, []).append((sums, later))
            return sums
        if by_warpgroups(op):
            total = _multiplied_together(op, plan, result, cells, total, warp)
            continue
        if op.instruction:
            total = _multiplied(op, plan, result, cells, total, warp)
            continue
        for step in range(plan.depth):
            pair = [cells[f.start + bits_of(f.needed, at) + step * f.stride].astype(total.dtype) for f in (lhs, rhs)]
            total = np.asarray(total + pair[0] * pair[1])
    return total


def _multiplied(op: ops.Dot, plan: DotPlan, result: Layout, cells: Array, total: Array, warp: int) -> Array:
    """What the tensor cores add for one warp: each instruction multiplies the fragments as they are held, by the places
    that its own tables give to registers and lanes."""
    of, steps = instruction(op), plan.depth // instruction(op).depth
    parts: list[Array] = []
    for factor, held in zip((plan.lhs, plan.rhs), fragments(op, result, plan.depth), strict=True):
        read = cells[factor.start + bits_of(factor.slot, positions(held, warp))]
        parts.append(read.reshape(steps, -1, of.word * of.words[len(parts)], LANES))
    left, right, place = (positions(table, 0) for table in of.tables)
    total = total.reshape(-1, of.sums, LANES)
    for tile in range(len(total)):
        first, second = (number(bits, tile) for bits in tiles(op, result))
        for step in range(steps):
            lhs, rhs = np.zeros((of.rows, of.depth), total.dtype), np.zeros((of.depth, of.columns), total.dtype)
            lhs.reshape(-1)[left] = _rounded(parts[0][step, first])
            rhs.reshape(-1)[right] = _rounded(parts[1][step, second])
            total[tile] += (lhs @ rhs).reshape(-1)[place]
    return total.reshape(-1, LANES)


def _multiplied_together(op: ops.Dot, plan: DotPlan, result: Layout, cells: Array, total: Array, warp: int) -> Array:
    """What a warpgroup adds for one of its warps: matrices are where descriptors say, the sums where its table does."""
    of, size = instruction(op), factor_bytes(op)
    sides = list(zip((plan.lhs, plan.rhs), matrices(op, plan, result), (of.rows, of.columns), strict=True))
    total, held = total.reshape(-1, of.sums, LANES), positions(of.tables[2], warp % of.warps)
    for tile in range(len(total)):
        for step in range(plan.depth // of.depth):
            pair = []
            for factor, matrix, others in sides:
                start = number(matrix.thread, warp * LANES) + number(matrix.tile, tile) + number(matrix.step, step)
                places = matrix.places(factor.start * size + start, size, others, of.depth)
                pair.append(_cut_off(cells[places // size]).astype(total.dtype))
            total[tile] += (pair[0] @ pair[1].T).reshape(-1)[held]
    return total.reshape(-1, LANES)


def _cut_off(numbers: Array) -> Array:
    """Factors as warpgroups take them: float32 without all but 10 bits of mantissa."""
    return (numbers.view(np.uint32) & 0xFFFFE000).view(np.float32) if numbers.dtype == np.float32 else numbers


def _rounded(numbers: Array) -> Array:
    """Factors as the instruction takes them: float32 with 10 bits of mantissa, nearest, ties away from zero."""
    if numbers.dtype != np.float32:
        return numbers
    bits = numbers.view(np.uint32)
    return np.where(np.isfinite(numbers), ((bits + 0x1000) & 0xFFFFE000).view(np.float32), numbers)


def bits_of(bits: BitMap, numbers: Array) -> Array:
    """The numbers that a bit map gives for some."""
    found = np.zeros_like(numbers)
    for bit, mask in enumerate(bits):
        found ^= (numbers >> bit & 1) * mask
    return found


def _original(layout: Layout, warp: int) -> Array:
    """The lanes that, of copies, hold the one that is written."""
    _, free_lanes, free_warps = layout.free_bits()
    return np.asarray((np.arange(LANES) & free_lanes == 0) & (warp & free_warps == 0))


def _through_buffer(
    op: Convert | ops.Pick | ops.Gather, rows: Array, source: Layout, wanted: Array, warp: int, buffer: Buffer
) -> Exchanging:
    cells, held, original = buffer.of(rows.dtype), positions(source, warp), _original(source, warp)
    moved = np.zeros(wanted.shape, rows.dtype)
    count = round_elements(source, buffer.bytes_of(rows.dtype))
    for start in range(0, source.size, count):
        if start:
            yield op
        now = (held // count == start // count) & original
        cells[held[now] - start] = rows[now]
        yield op
        here = wanted // count == start // count
        moved[here] = cells[wanted[here] - start]
        ours = held // count == start // count
        if not (isinstance(op, Convert) and op.owned):
            _agree(op, rows[ours], cells[held[ours] - start])
    return moved


def _count(
    op: ops.Histogram, rows: Sequence[Array], source: Layout, result: Layout, warp: int, buffer: Buffer
) -> Exchanging:
    cells, wanted, values = buffer.of(np.dtype(np.int32)), positions(result, warp), rows[0].astype(np.int64)
    counts = np.broadcast_to(_original(source, warp), values.shape) & (rows[1] if len(rows) > 1 else True)
    found = np.zeros((result.registers, LANES), np.int32)
    size, warps = round_elements(result, 4), 1 << len(result.warp)
    for start in range(0, op.bins, size):
        if start:
            yield op
        cells[:size].reshape(-1, min(size, LANES))[warp::warps] = 0
        yield op
        np.add.at(cells, values[counts & (values >= start) & (values < start + size)] - start, 1)
        yield op
        here = wanted // size == start // size
        found[here] = cells[wanted[here] - start]
    return found


def _reduce(op: PartialReduce, rows: Array, source: Layout, warp: int, buffer: Buffer) -> Exchanging:
    step = reduction(source, op.axis, op.bits, op.across)
    if op.across == "registers":
        result = source.reduced(op.axis, op.bits)
        return _combine(op, np.moveaxis(rows[[step.sources(r) for r in range(result.registers)]], 1, 0))
    if op.across == "lanes":
        for mask in reversed(step.combined):
            rows = _combine(op, np.stack([rows, rows[:, np.arange(LANES) ^ mask]]))
        return rows
    warps = 1 << len(source.warp)
    count = round_registers(source, buffer.bytes_of(rows.dtype))
    cells = buffer.of(rows.dtype)[: count * warps * LANES].reshape(count, warps, LANES)
    others = [warp & ~sum(step.combined) | offset for offset in subsets(step.combined)]
    done = []
    for start in range(0, source.registers, count):
        if start:
            yield op
        cells[:, warp] = rows[start : start + count]
        yield op
        done.append(_combine(op, np.moveaxis(cells[:, others], 1, 0)))
    return np.concatenate(done)


def _combine(op: PartialReduce, parts: Array) -> Array:
    """All of `parts`, by halves."""
    while len(parts) > 1:
        half = len(parts) // 2
        parts = np.asarray(EVALUATE[ops.COMBINE[op.combine]](None, parts[:half], parts[half:]))
    return np.array(parts[0])


def _agree(op: Op, copies: Array, originals: Array) -> None:
    """Copies of an element must be equal; two NaNs are, and two zeros."""
    same = copies == originals
    if copies.dtype != POINTER:
        same |= (copies != copies) & (originals != originals)
    if not same.all():
        raise InternalError(f"threads hold different copies of an element that `{op.opcode}` moves")
