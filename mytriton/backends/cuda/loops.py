"""Cuts segments into the loops that are printed: elementwise ones, and ones that access memory in wide chunks.

A thread's registers hold runs of consecutive elements (`Layout.vector`). Where the addresses of a run are proven to be
consecutive and aligned, one access of up to 16 bytes does for several registers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import groupby

from mytriton.analysis.axis import AxisInfo
from mytriton.ir import ops
from mytriton.ir.core import Op, Value, definitions
from mytriton.layout.assign import VECTOR_BYTES
from mytriton.layout.program import LaidOut
from mytriton.types import PointerType, element_of, shape_of


@dataclass(frozen=True, eq=False)
class Loop:
    """Operations printed together, in order, for registers 0, `step`, 2 `step`, ...; with a step above 1 all of them
    are memory accesses of `step` elements. `barrier`: the threads meet before it."""

    ops: tuple[Op, ...]
    registers: int
    step: int = 1
    barrier: bool = False
    results: frozenset[Value] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "results", frozenset(v for op in self.ops for v in op.results))


def cut(laid_out: LaidOut, printed: Callable[[Op], bool], widths: Mapping[Op, int]) -> list[Loop]:
    """The loops of a program, over the operations that are `printed`."""
    loops = []
    for segment in laid_out.segments:
        barrier = segment.barrier
        for step, group in groupby(filter(printed, segment.ops), lambda op: widths.get(op, 1)):
            loops.append(Loop(tuple(group), segment.registers, step, barrier))
            barrier = False
    return loops


def access_widths(laid_out: LaidOut, axis: Mapping[Value, AxisInfo]) -> dict[Op, int]:
    """How many elements one access of a load or store may move, where it is more than one: a power of two."""
    widths: dict[Op, int] = {}
    defined = definitions(laid_out.func)
    for segment in laid_out.segments:
        layout = segment.layout
        if layout is None or layout.vector == 1 or layout.free_bits()[0]:
            continue
        for op in segment.ops:
            if not isinstance(op, (ops.Load, ops.Store)):
                continue
            element = element_of(op.pointer.type)
            assert isinstance(element, PointerType)
            pointer, most = axis[op.pointer], VECTOR_BYTES // element.element.bytes
            width = min(layout.vector, pointer.contiguous, pointer.divisible, most)
            if width > 1 and (isinstance(op, ops.Store) or op.other is None or is_scalar(op.other, defined)):
                widths[op] = width
    return widths


def is_scalar(value: Value, defined: Mapping[Value, Op]) -> bool:
    """Whether all elements of a value are one scalar by its making, so that it prints as a scalar."""
    while shape_of(value.type):
        op = defined.get(value)
        if not isinstance(op, (ops.Splat, ops.Cast)):
            return False
        value = op.source
    return True
