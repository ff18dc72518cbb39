"""What products do, step by step as the hardware does it; for the laid-out interpreter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from mytriton.ir import ops
from mytriton.ir.arithmetic import DTYPES, Array
from mytriton.layout.dots import DotPlan, dot_plan, factor_bytes, puts
from mytriton.layout.layout import Layout
from mytriton.layout.mma import Instruction, fragments, instruction, tiles
from mytriton.layout.routes import number
from mytriton.layout.warpgroup import by_warpgroups, matrices
from mytriton.layout.warps import LANES, Buffer, Exchanging, agree, bits_of, owner_lanes, positions
from mytriton.types import ScalarType, element_of


def product(
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
    names = puts(op)
    put = [it[:3] for which, it in zip(("lhs", "rhs"), factors, strict=True) if which in names]
    for _, held, layout in put:
        agree(op, held, held[:, lanes & ~layout.free_bits()[1]])
    for turn in range(plan.rounds):
        if turn:
            yield op
        for factor, held, layout in put:
            where = positions(layout, warp)
            now = (bits_of(factor.round, where) == turn) & owner_lanes(layout, warp)
            cells[factor.start + bits_of(factor.slot, where)[now]] = held[now]
        if put:
            yield op
        if op.begun:
            sums = np.full_like(total, np.nan if total.dtype.kind == "f" else -1)  # nothing to be relied on
            later = partial(_multiplied_together, op, plan, result, cells, total, warp)
            buffer.begun.setdefault(warp, []).append((sums, later))
            return sums
        if by_warpgroups(op):
            first = (rows[0], layouts[0]) if op.held else None
            total = _multiplied_together(op, plan, result, cells, total, warp, first)
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
            lhs.reshape(-1)[left] = parts[0][step, first]
            rhs.reshape(-1)[right] = parts[1][step, second]
            high = _rounded(lhs), _rounded(rhs)
            if op.precision == "tf32x3":  # with what rounding leaves of either factor
                low = [_rounded(np.where(np.isfinite(h), x - h, h * 0)) for x, h in zip((lhs, rhs), high, strict=True)]
                total[tile] += (low[0] @ high[1]).reshape(-1)[place]
                total[tile] += (high[0] @ low[1]).reshape(-1)[place]
            total[tile] += (high[0] @ high[1]).reshape(-1)[place]
    return total.reshape(-1, LANES)


def _multiplied_together(
    op: ops.Dot,
    plan: DotPlan,
    result: Layout,
    cells: Array,
    total: Array,
    warp: int,
    first: tuple[Array, Layout] | None = None,
) -> Array:
    """What a warpgroup adds for one of its warps: matrices are where descriptors say, or the `first` in registers, a
    layout's; the sums are where the instruction's table has them."""
    of, size = instruction(op), factor_bytes(op)
    sides = list(zip((plan.lhs, plan.rhs), matrices(op, plan, result), (of.rows, of.columns), strict=True))
    total, held = total.reshape(-1, of.sums, LANES), positions(of.tables[2], warp % of.warps)
    lhs_of, _ = tiles(op, result)
    for tile in range(len(total)):
        for step in range(plan.depth // of.depth):
            pair = []
            for factor, matrix, others in sides:
                if first is not None and factor is plan.lhs:
                    pair.append(_fragment(first, of, warp, number(lhs_of, tile), step, total.dtype))
                    continue
                start = number(matrix.thread, warp * LANES) + number(matrix.tile, tile) + number(matrix.step, step)
                places = matrix.places(factor.start * size + start, size, others, of.depth)
                pair.append(_cut_off(cells[places // size]).astype(total.dtype))
            total[tile] += (pair[0] @ pair[1].T).reshape(-1)[held]
    return total.reshape(-1, LANES)


def _fragment(
    first: tuple[Array, Layout], of: Instruction, warp: int, tile: int, step: int, dtype: np.dtype[np.generic]
) -> Array:
    """The rows of a matrix that a warp holds, for one instruction: by its table of as many sums."""
    rows, layout = first
    depth, each = layout.shape[-1], of.rows * of.depth // (LANES * of.warps)
    start = tile * (of.rows * depth // (LANES * of.warps)) + step * each
    table = positions(replace(of, columns=of.depth).tables[2], warp % of.warps)
    matrix = np.zeros((of.rows, of.depth), dtype)
    matrix.reshape(-1)[table] = rows[start : start + each].astype(dtype)
    return matrix


def _cut_off(numbers: Array) -> Array:
    """Factors as warpgroups take them: float32 without all but 10 bits of mantissa."""
    return (numbers.view(np.uint32) & 0xFFFFE000).view(np.float32) if numbers.dtype == np.float32 else numbers


def _rounded(numbers: Array) -> Array:
    """Factors as the instruction takes them: float32 with 10 bits of mantissa, nearest, ties away from zero."""
    if numbers.dtype != np.float32:
        return numbers
    bits = numbers.view(np.uint32)
    return np.where(np.isfinite(numbers), ((bits + 0x1000) & 0xFFFFE000).view(np.float32), numbers)
