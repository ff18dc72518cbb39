"""What exchanges do, step by step as the hardware does it; for the laid-out interpreter."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TypeAlias

import numpy as np

from mytriton.diagnostics import InternalError
from mytriton.ir import ops
from mytriton.ir.arithmetic import EVALUATE, POINTER, Array
from mytriton.ir.core import Op
from mytriton.layout.dots import dot_plan
from mytriton.layout.layout import Layout
from mytriton.layout.ops import Convert, PartialReduce
from mytriton.layout.program import Item
from mytriton.layout.routes import (
    SHARED_BYTES,
    BitMap,
    number,
    picked,
    picked_flip,
    reduction,
    round_elements,
    round_registers,
    route,
    subsets,
)

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
    """The shared memory of one program. Pointers are 8 bytes on a GPU, but carry their base here."""

    def __init__(self, size: int = 2 * SHARED_BYTES) -> None:
        self._data = np.zeros(size, np.uint8)

    def of(self, dtype: np.dtype[np.generic]) -> Array:
        """The buffer as an array of one type."""
        return self._data.view(dtype)

    @staticmethod
    def bytes_of(dtype: np.dtype[np.generic]) -> int:
        """The bytes that one element takes on a GPU."""
        return 8 if dtype == POINTER else dtype.itemsize


def product(
    op: ops.Dot, rows: Sequence[Array], layouts: Sequence[Layout], result: Layout, warp: int, buffer: Buffer
) -> Exchanging:
    """Run a product for one warp: `rows` and `layouts` of both factors and of what is added."""
    plan, lanes = dot_plan(op), np.arange(LANES)
    cells = buffer.of(rows[0].dtype)
    total, at = np.array(rows[2]), positions(result, warp)
    factors = list(zip((plan.lhs, plan.rhs), rows[:2], layouts[:2], strict=True))
    for _, held, layout in factors:
        _agree(op, held, held[:, lanes & ~layout.free_bits()[1]])
    for turn in range(plan.rounds):
        if turn:
            yield op
        for factor, held, layout in factors:
            _, free_lanes, free_warps = layout.free_bits()
            where = positions(layout, warp)
            now = (_bits_of(factor.round, where) == turn) & (lanes & free_lanes == 0) & (warp & free_warps == 0)
            cells[factor.start + _bits_of(factor.slot, where)[now]] = held[now]
        yield op
        for step in range(plan.depth):
            pair = [
                cells[f.start + _bits_of(f.needed, at) + step * f.stride].astype(total.dtype) for f, _, _ in factors
            ]
            total = np.asarray(total + pair[0] * pair[1])
    return total


def _bits_of(bits: BitMap, numbers: Array) -> Array:
    found = np.zeros_like(numbers)
    for bit, mask in enumerate(bits):
        found |= (numbers >> bit & 1) * mask
    return found


def exchange(
    op: Convert | PartialReduce | ops.Pick, rows: Array, source: Layout, result: Layout, warp: int, buffer: Buffer
) -> Exchanging:
    """Run an exchange for one warp, whose operand and result are arrays [registers, lanes]."""
    lanes = np.arange(LANES)
    if not (isinstance(op, Convert) and op.owned):
        _agree(op, rows, rows[:, lanes & ~source.free_bits()[1]])
    if isinstance(op, PartialReduce):
        return (yield from _reduce(op, rows, source, warp, buffer))
    flip = 0
    if isinstance(op, ops.Pick):
        result, flip = picked(op, result), picked_flip(op)
    if op.through == "shared":
        return (yield from _through_buffer(op, rows, source, result, flip, warp, buffer))
    way = route(source, result, flip)
    assert way is not None
    registers = range(result.registers)
    reads = np.array([number(way.register, r) for r in registers])[:, None]
    by_register = np.array([number(way.lane_by_register, r) for r in registers])[:, None]
    by_lane = np.array([number(way.lane_by_lane, lane) for lane in range(LANES)])
    from_lane = (by_register + by_lane + number(way.lane_by_warp, warp)) ^ way.flip_lane
    return np.asarray(rows[reads ^ way.flip_register, from_lane])


def _through_buffer(
    op: Convert | ops.Pick, rows: Array, source: Layout, result: Layout, flip: int, warp: int, buffer: Buffer
) -> Exchanging:
    cells, held, wanted = buffer.of(rows.dtype), positions(source, warp), positions(result, warp) ^ flip
    _, free_lanes, free_warps = source.free_bits()
    original = (np.arange(LANES) & free_lanes == 0) & (warp & free_warps == 0)
    moved = np.zeros((result.registers, LANES), rows.dtype)
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
