"""The laid-out interpreter: runs the laid-out program as the threads of a GPU would, on NumPy arrays.

It is the oracle of the layout stage. Every warp has its own registers, holding its 32 lanes as a NumPy axis, and runs
on its own up to the next barrier; between two barriers warps run one after the other, in any order asked for, so what
relies on an order between threads comes out wrong. Loops run over registers as the emitters print them, stores run only
in the copy whose free bits are 0, and exchanges move data by shuffles and through a buffer (`exchanges.py`). Checked is
what must hold: that all threads take the same way, and that copies agree.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np

from mytriton.backends.nvidia.shared import shared_bytes
from mytriton.diagnostics import InternalError, LaunchError
from mytriton.ir import interp, ops
from mytriton.ir.arithmetic import Array
from mytriton.ir.core import Effect, Op, Value
from mytriton.ir.interp import NO_ASSEMBLY, AssertionFailed, Progress, execute, explain, failure, print_element
from mytriton.ir.memory import Memory, OutOfBounds
from mytriton.ir.ops.control import yielded
from mytriton.layout.exchanges import exchange
from mytriton.layout.layout import Layout, replicated
from mytriton.layout.program import Exchange, Exchanged, Item, LaidOut, Nested, Segment
from mytriton.layout.routes import broadcast_registers, number
from mytriton.layout.staging import AsyncCommit, AsyncCopy, AsyncWait, Staged
from mytriton.layout.underway import Underway
from mytriton.layout.warps import LANES, Buffer, Wait
from mytriton.layout.warps import positions as positions  # a warp's elements, also for users of this module
from mytriton.types import shape_of

#: What one warp does: yields at barriers.
Running: TypeAlias = "Generator[Wait, None, None]"


#: The registers of a block that is there.
_NOWHERE = np.empty((0, LANES))


def owned(layout: Layout, warp: int) -> Array:
    """Whether each register of each lane [registers, lanes] is the copy that stores."""
    register, lane, warps = layout.free_bits()
    rows = np.arange(layout.registers)[:, None] & register == 0
    return np.asarray(rows & (np.arange(LANES) & lane == 0) & (warp & warps == 0))


def run(
    laid_out: LaidOut,
    args: Sequence[Any],
    grid: tuple[int, ...],
    warps: Sequence[int] | None = None,
    progress: Progress | None = None,
) -> None:
    """Run the program over the grid (1 to 3 extents), in place on the NumPy arrays among `args`.

    `warps` is the order in which the warps run between barriers (0, 1, 2... if None), `progress` is told of each
    program that is done. Raises `LaunchError` like the interpreter, and `InternalError` if threads take different ways
    or copies differ.
    """
    order = range(laid_out.num_warps) if warps is None else warps
    simulator = _Simulator(laid_out, Memory(laid_out.func, args))
    extents = (*grid, 1, 1)[:3]
    with np.errstate(all="ignore"):
        for z in range(extents[2]):
            for y in range(extents[1]):
                for x in range(extents[0]):
                    simulator.program((x, y, z), extents, order)
                    if progress is not None:
                        progress(1 + x + extents[0] * (y + extents[1] * z), prod(extents))


class _Simulator:
    """What all programs share."""

    def __init__(self, laid_out: LaidOut, memory: Memory) -> None:
        self.laid_out = laid_out
        self.memory = memory
        self.scalar = replicated(laid_out.num_warps)
        self.shared = max(shared_bytes(laid_out), 16)
        self.splats = {op.result: op for op in laid_out.func.walk() if isinstance(op, ops.Splat)}
        self._tables: dict[tuple[Layout, int], tuple[Array, Array]] = {}

    def program(self, program: tuple[int, int, int], grid: tuple[int, ...], order: Sequence[int]) -> None:
        """Run one program: every warp to its next barrier, until all are done."""
        decisions: list[Any] = []
        buffer = Buffer(self.shared)
        running = [_Warp(self, warp, program, grid, decisions, buffer).run() for warp in order]
        while True:
            waiting = [next(warp, None) for warp in running]
            if all(item is None for item in waiting):
                return
            if any(item is not waiting[0] for item in waiting):
                raise InternalError("the warps of a program wait at different barriers")

    def tables(self, layout: Layout, warp: int) -> tuple[Array, Array]:
        """Positions and owned copies."""
        if (layout, warp) not in self._tables:
            self._tables[layout, warp] = positions(layout, warp), owned(layout, warp)
        return self._tables[layout, warp]


class _Warp:
    """One warp of one program. Values are arrays [registers, lanes]; a scalar has one register."""

    def __init__(
        self,
        simulator: _Simulator,
        warp: int,
        program: tuple[int, int, int],
        grid: tuple[int, ...],
        decisions: list[Any],
        buffer: Buffer,
    ) -> None:
        self.simulator, self.warp, self.program, self.grid = simulator, warp, program, grid
        self.layouts, self.memory = simulator.laid_out.layouts, simulator.memory
        self.buffer = buffer
        self.values = {v: np.broadcast_to(a, (1, LANES)) for v, a in self.memory.values.items()}
        self._decisions, self._decided = decisions, 0
        self._copies = Underway(buffer)
        self._places: dict[Value, int] = {}  # in bytes, of blocks that are in shared memory only

    def run(self) -> Running:
        """Run; yields at each barrier what has it."""
        yield from self._items(self.simulator.laid_out.items)
        self._copies.end()
        if self.warp in self.buffer.begun:
            raise InternalError("a product was begun and never finished")

    def _items(self, items: Sequence[Item]) -> Running:
        for item in items:
            if item.barrier:
                yield item
            if isinstance(item, Segment):
                self._segment(item)
            elif isinstance(item, Exchange):
                yield from self._exchange(item.op)
            else:
                yield from self._nested(item)

    def _exchange(self, op: Exchanged) -> Running:
        match op:
            case ops.InlineAsm():
                raise LaunchError(NO_ASSEMBLY)
            case AsyncCommit():
                self._copies.commit()
                return
            case AsyncWait():
                self._copies.wait(op.pending)
                yield op
                return
            case Staged():
                self._places[op.result] = op.ring.start + int(self.values[op.stage][0, 0]) * op.ring.bytes
                return
        layouts, result = [self.layouts[v] for v in op.operands], self.layouts[op.result]
        there = [self._places.get(v) for v in op.operands]
        rows = [_NOWHERE if v in self._places else self._rows(v, slice(self.layouts[v].registers)) for v in op.operands]
        self.values[op.result] = yield from exchange(op, rows, layouts, result, self.warp, self.buffer, there[:2])

    # --- control flow -------------------------------------------------------------------------------------------------

    def _nested(self, item: Nested) -> Running:
        op = item.op
        if isinstance(op, ops.If):
            chosen = 0 if self._uniform(op.condition) else 1
            yield from self._items(item.blocks[chosen])
            self._assign(op.results, yielded(op.regions[chosen]))
            return
        self._assign(op.results, op.initial)
        if isinstance(op, ops.For):
            for value in interp.trips(*(self._uniform(v) for v in (op.lower, op.upper, op.step))):
                self.values[op.induction] = np.broadcast_to(value, (1, LANES))
                self._assign(op.carried, op.results)
                yield from self._items(item.blocks[0])
                self._assign(op.results, yielded(op.body))
            return
        while True:
            self._assign(op.condition.params, op.results)
            yield from self._items(item.blocks[0])
            if not self._uniform(yielded(op.condition)[0]):
                return
            self._assign(op.body.params, op.results)
            yield from self._items(item.blocks[1])
            self._assign(op.results, yielded(op.body))

    def _assign(self, targets: Sequence[Value], sources: Sequence[Value]) -> None:
        self.values.update(zip(targets, self._all(sources), strict=True))

    def _all(self, values: Sequence[Value]) -> list[Array]:
        """All registers of some values."""
        return [self._rows(v, slice(self.layouts[v].registers)) for v in values]

    def _uniform(self, value: Value) -> Array:
        """A scalar that decides which way is taken: all threads must have the same."""
        (row,) = self.values[value]
        if self._decided == len(self._decisions):
            self._decisions.append(row[0])
        if (row != self._decisions[self._decided]).any():
            raise InternalError(f"the threads of a program disagree on {value.id}")
        self._decided += 1
        return np.asarray(row[0])

    # --- segments -----------------------------------------------------------------------------------------------------

    def _segment(self, segment: Segment) -> None:
        """Run the loop over registers. Its trips are made at once where none could notice."""
        layout = segment.layout or self.simulator.scalar
        effects = [op for op in segment.ops if op.effect is not Effect.NONE]
        step = 1 if len(effects) > 1 else segment.registers
        for start in range(0, segment.registers, step):
            registers = slice(start, start + step)
            for op in segment.ops:
                if isinstance(op, ops.Splat):
                    continue  # made again wherever it is used
                result = self._execute(op, registers, layout)
                if result is not None:
                    result = np.broadcast_to(result, (step, LANES))
                    if step == segment.registers:
                        self.values[op.result] = result
                        continue
                    if start == 0:  # not into the array of an earlier trip of an enclosing loop: it may be in use
                        self.values[op.result] = np.empty((segment.registers, LANES), result.dtype)
                    self.values[op.result][registers] = result

    def _rows(self, value: Value, registers: slice | list[int]) -> Array:
        """Some registers of a value."""
        splat = self.simulator.splats.get(value)
        scalar = value if splat is None else splat.source
        if splat is not None or not shape_of(value.type):
            count = len(registers) if isinstance(registers, list) else registers.stop - (registers.start or 0)
            return np.broadcast_to(self.values[scalar], (count, LANES))
        return self.values[value][registers]

    def _execute(self, op: Op, registers: slice, layout: Layout) -> Array | None:
        """Execute an operation for some registers: arrays [registers, lanes]."""
        elements, stores = (table[registers] for table in self.simulator.tables(layout, self.warp))
        reads: slice | list[int] = registers
        if isinstance(op, ops.Broadcast):
            bits = broadcast_registers(self.layouts[op.source], self.layouts[op.result])
            reads = [number(bits, r) for r in range(registers.start, registers.stop)]
        values = {v: self._rows(v, reads) for v in op.operands}
        match op:
            case ops.Arange():
                return (op.start + elements).astype(np.int32)
            case ops.Broadcast() | ops.Reshape() | ops.Transpose():
                return values[op.source]
            case ops.Print():
                self._print(op, values[op.values[0]], elements, stores)
                return None
        try:
            if isinstance(op, AsyncCopy):
                mask = stores if op.mask is None else stores & values[op.mask]
                loaded = self.memory.load(op, values[op.pointer], mask, None)
                self._copies.add(op, loaded, elements, stores, int(values[op.stage][0, 0]))
                return None
            if isinstance(op, ops.Store):
                mask = stores if op.mask is None else stores & values[op.mask]
                self.memory.store(values[op.pointer], values[op.value], mask)
                return None
            if isinstance(op, ops.Atomic):
                mask = stores if op.mask is None else stores & values[op.mask]
                compare = None if op.compare is None else values[op.compare]
                return self.memory.atomic(op, values[op.pointer], values[op.value], mask, compare)
            return execute(op, values, self.memory, self.program, self.grid)
        except OutOfBounds as error:
            error.position = int(elements.reshape(-1)[error.position])
            raise LaunchError(explain(self.simulator.laid_out.func, op, error, self.memory, self.program)) from None
        except AssertionFailed as error:
            error.position = int(elements.reshape(-1)[error.position])
            raise LaunchError(failure(op, error, self.program)) from None

    def _print(self, op: ops.Print, rows: Array, elements: Array, stores: Array) -> None:
        shape = shape_of(op.values[0].type)
        for register, lane in zip(*np.nonzero(stores), strict=True):
            index = np.unravel_index(int(elements[register, lane]), shape)
            print_element(op, self.program, index, rows[register, lane])
