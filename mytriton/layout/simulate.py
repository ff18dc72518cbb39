"""The laid-out interpreter: runs the laid-out program as the threads of a GPU would, on NumPy arrays.

It is the oracle of the layout stage: every warp has its own registers, holding its 32 lanes as a NumPy axis; loops run
over registers as the emitters print them; stores run only in the copy whose free bits are 0. Between two barriers
warps run one after the other, in any order asked for, so what relies on an order between threads comes out wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mytriton.diagnostics import LaunchError
from mytriton.ir import ops
from mytriton.ir.arithmetic import Array
from mytriton.ir.core import Op, Value
from mytriton.ir.interp import execute, explain
from mytriton.ir.memory import Memory, OutOfBounds
from mytriton.layout.layout import Layout, replicated
from mytriton.layout.program import LaidOut, Segment

LANES = 32


def positions(layout: Layout, warp: int) -> Array:
    """The elements that a warp holds, as an array [registers, lanes]."""
    table = np.zeros((layout.registers, LANES), np.int64)
    for numbers, entries in ((np.arange(layout.registers)[:, None], layout.register), (np.arange(LANES), layout.lane)):
        for bit, entry in enumerate(entries):
            table ^= (numbers >> bit & 1) * entry
    return table ^ layout.position(0, 0, warp)


def owned(layout: Layout, warp: int) -> Array:
    """Whether each register of each lane [registers, lanes] is the copy that stores."""
    register, lane, warps = layout.free_bits()
    rows = np.arange(layout.registers)[:, None] & register == 0
    return np.asarray(rows & (np.arange(LANES) & lane == 0) & (warp & warps == 0))


def run(laid_out: LaidOut, args: Sequence[Any], grid: tuple[int, ...], warps: Sequence[int] | None = None) -> None:
    """Run the program over the grid (1 to 3 extents), in place on the NumPy arrays among `args`.

    `warps` is the order in which the warps run between barriers (0, 1, 2... if None). Raises `LaunchError` like the
    interpreter.
    """
    order = range(laid_out.num_warps) if warps is None else warps
    simulator = _Simulator(laid_out, Memory(laid_out.func, args))
    extents = (*grid, 1, 1)[:3]
    with np.errstate(all="ignore"):
        for z in range(extents[2]):
            for y in range(extents[1]):
                for x in range(extents[0]):
                    simulator.program((x, y, z), extents, order)


class _Simulator:
    def __init__(self, laid_out: LaidOut, memory: Memory) -> None:
        self.laid_out = laid_out
        self.memory = memory
        self.scalar = replicated(laid_out.num_warps)
        self.splats = {op.result: op.source for op in laid_out.func.walk() if isinstance(op, ops.Splat)}
        self.tables: dict[tuple[Layout, int], tuple[Array, Array]] = {}
        self.phases: list[list[Segment]] = [[]]
        for segment in laid_out.segments:
            if segment.barrier:
                self.phases.append([])
            self.phases[-1].append(segment)

    def program(self, program: tuple[int, int, int], grid: tuple[int, ...], order: Sequence[int]) -> None:
        """Run one program: phase by phase, warp by warp."""
        start = {v: np.broadcast_to(a, LANES) for v, a in self.memory.values.items()}
        # Per warp: scalars as [lanes]; the kept registers of block values as lists of [lanes].
        scalars = {warp: dict(start) for warp in order}
        kept: dict[int, dict[Value, list[Array]]] = {warp: {} for warp in order}
        for phase in self.phases:
            for warp in order:
                for segment in phase:
                    self._segment(segment, warp, scalars[warp], kept[warp], program, grid)

    def _segment(
        self,
        segment: Segment,
        warp: int,
        scalars: dict[Value, Array],
        kept: dict[Value, list[Array]],
        program: tuple[int, int, int],
        grid: tuple[int, ...],
    ) -> None:
        layout = segment.layout or self.scalar
        if (layout, warp) not in self.tables:
            self.tables[layout, warp] = positions(layout, warp), owned(layout, warp)
        elements, stores = self.tables[layout, warp]
        for value in segment.escaping:
            kept[value] = []
        for register in range(segment.registers):
            values = dict(scalars)
            values.update((v, rows[register]) for v, rows in kept.items() if len(rows) > register)
            for op in segment.ops:
                for value in op.operands:
                    if value not in values and value in self.splats:  # of an earlier segment: made again
                        values[value] = values[self.splats[value]]
                try:
                    result = self._execute(op, values, elements[register], stores[register], program, grid)
                except OutOfBounds as error:
                    error.position = int(elements[register][error.position])
                    raise LaunchError(explain(self.laid_out.func, op, error, self.memory, program)) from None
                if result is not None:
                    values[op.result] = result
            for value in segment.escaping:
                kept[value].append(values[value])
            if segment.layout is None:
                scalars.update((v, values[v]) for op in segment.ops for v in op.results)

    def _execute(
        self,
        op: Op,
        values: dict[Value, Array],
        elements: Array,
        stores: Array,
        program: tuple[int, int, int],
        grid: tuple[int, ...],
    ) -> Array | None:
        match op:
            case ops.Arange():
                return (op.start + elements).astype(np.int32)
            case ops.Splat():
                return values[op.source]
            case ops.Store():
                mask = stores if op.mask is None else stores & values[op.mask]
                self.memory.store(values[op.pointer], values[op.value], mask)
                return None
            case _:
                result = execute(op, values, self.memory, program, grid)
                return None if result is None else np.broadcast_to(result, LANES)
