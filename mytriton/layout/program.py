"""The laid-out program: what both GPU emitters print.

An operation on blocks is done once for each register of a thread, so the emitters print loops over registers. Fusing
all operations into one loop would let a thread store before it has loaded everything, and one loop an operation reads
badly; a *segment* is a run of operations that may share one loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mytriton.ir.core import Func, Op, Value
from mytriton.layout.layout import Layout


@dataclass(frozen=True, slots=True)
class Segment:
    """Operations done together, in order, for each of `registers` registers of one layout; 1 register needs no loop.

    `layout` is None for scalar operations. `escaping` are the block values that later segments use, but for splats,
    which are made again from their scalar; with more than one register these are kept in per-thread arrays. If
    `barrier`, all threads of the program wait for each other (`__syncthreads`, `gpu.barrier`) before they enter the
    segment.
    """

    layout: Layout | None
    ops: tuple[Op, ...]
    escaping: tuple[Value, ...] = ()
    barrier: bool = False

    @property
    def registers(self) -> int:
        """Trips of the loop over registers."""
        return self.layout.registers if self.layout is not None else 1


@dataclass(frozen=True, slots=True)
class LaidOut:
    """A function with a layout for every value, cut into segments.

    Every operation stands in one segment, inline ones (constants, casts, splats) too, after its operands; scalars that
    depend on no load stand in the first. Operations that touch memory keep their order.
    """

    func: Func
    layouts: Mapping[Value, Layout]
    segments: tuple[Segment, ...]
    num_warps: int
