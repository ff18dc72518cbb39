"""What exchanges do, step by step as the hardware does it; for the laid-out interpreter."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mytriton.ir import ops
from mytriton.ir.arithmetic import EVALUATE, Array
from mytriton.layout.layout import Layout
from mytriton.layout.ops import Convert, Finish, PartialReduce
from mytriton.layout.products import product
from mytriton.layout.program import Exchanged
from mytriton.layout.routes import (
    BitMap,
    gathered_unit,
    number,
    parts,
    picked,
    picked_flip,
    reduction,
    round_elements,
    round_registers,
    route,
)
from mytriton.layout.staging import AsyncCommit, AsyncWait, Staged
from mytriton.layout.swizzle import conversion
from mytriton.layout.warps import LANES, Buffer, Exchanging, agree, bits_of, owner_lanes, positions


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
        return (yield from product(op, rows, layouts, result, warp, buffer, staged))
    if isinstance(op, Finish):
        for sums, multiplied in buffer.begun.pop(warp, ()):
            sums[...] = multiplied()
        return held
    if not (isinstance(op, Convert) and op.owned):
        agree(op, held, held[:, lanes & ~source.free_bits()[1]])
    if isinstance(op, PartialReduce):
        return (yield from _reduce(op, held, source, warp, buffer))
    if isinstance(op, ops.Histogram):
        return (yield from _count(op, rows, source, result, warp, buffer))
    flip = 0
    if isinstance(op, (ops.Pick, ops.Gather)):
        result, flip = picked(op, result), picked_flip(op)
    if isinstance(op, Convert) and op.through == "shared":
        size = buffer.bytes_of(held.dtype)
        slot = conversion(source, result, size, round_elements(source, size))
        return (yield from _through_buffer(op, held, source, positions(result, warp), warp, buffer, slot))
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


def _through_buffer(
    op: Convert | ops.Pick | ops.Gather,
    rows: Array,
    source: Layout,
    wanted: Array,
    warp: int,
    buffer: Buffer,
    slot: BitMap | None = None,
) -> Exchanging:
    """`slot` says where in the buffer an element stands; else they stand in order."""
    cells, held, original = buffer.of(rows.dtype), positions(source, warp), owner_lanes(source, warp)
    moved = np.zeros(wanted.shape, rows.dtype)
    count = round_elements(source, buffer.bytes_of(rows.dtype))

    def slots(elements: Array) -> Array:
        return elements % count if slot is None else bits_of(slot, elements)

    for start in range(0, source.size, count):
        if start:
            yield op
        now = (held // count == start // count) & original
        cells[slots(held[now])] = rows[now]
        yield op
        here = wanted // count == start // count
        moved[here] = cells[slots(wanted[here])]
        ours = held // count == start // count
        if not (isinstance(op, Convert) and op.owned):
            agree(op, rows[ours], cells[slots(held[ours])])
    return moved


def _count(
    op: ops.Histogram, rows: Sequence[Array], source: Layout, result: Layout, warp: int, buffer: Buffer
) -> Exchanging:
    cells, wanted, values = buffer.of(np.dtype(np.int32)), positions(result, warp), rows[0].astype(np.int64)
    counts = np.broadcast_to(owner_lanes(source, warp), values.shape) & (rows[1] if len(rows) > 1 else True)
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
    places = parts(source, step.combined)
    count = round_registers(source, places.count, buffer.bytes_of(rows.dtype))
    cells = buffer.of(rows.dtype)[: count * places.count].reshape(count, places.count)
    threads, writers = warp * LANES + np.arange(LANES), owner_lanes(source, warp)
    written, read = bits_of(places.write, threads)[writers], bits_of(places.read, threads)
    others = np.arange(1 << len(step.combined))[:, None] + read
    done = []
    for start in range(0, source.registers, count):
        if start:
            yield op
        cells[:, written] = rows[start : start + count, writers]
        yield op
        done.append(_combine(op, np.moveaxis(cells[:, others], 1, 0)))
    return np.concatenate(done)


def _combine(op: PartialReduce, parts: Array) -> Array:
    """All of `parts`, by halves."""
    while len(parts) > 1:
        half = len(parts) // 2
        parts = np.asarray(EVALUATE[ops.COMBINE[op.combine]](None, parts[:half], parts[half:]))
    return np.array(parts[0])
