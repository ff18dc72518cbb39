"""Cuts items into the parts that are printed: loops over registers, exchanges, and structured operations with theirs.

A thread's registers hold runs of consecutive elements (`Layout.vector`). Where the addresses of a run are proven to be
consecutive and aligned, one access of up to 16 bytes does for several registers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from itertools import groupby
from typing import TypeAlias

from mytriton.ir import ops
from mytriton.ir.core import Op, Value
from mytriton.layout.assign import VECTOR_BYTES
from mytriton.layout.layout import Layout
from mytriton.layout.orders import Orders
from mytriton.layout.program import Exchange, Item, LaidOut, Nested, Segment
from mytriton.layout.staging import AsyncCopy
from mytriton.records import dataclass
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


@dataclass(frozen=True, eq=False)
class Structure:
    """A structured operation and the parts of its blocks."""

    op: ops.For | ops.While | ops.If
    blocks: tuple[tuple[Part, ...], ...]
    barrier: bool = False


Part: TypeAlias = "Loop | Exchange | Structure"


def cut(
    items: Sequence[Item],
    printed: Callable[[Op], bool],
    widths: Mapping[Op, int],
    layouts: Mapping[Value, Layout],
) -> tuple[Part, ...]:
    """The parts of a program, or of a block, over the operations that are `printed`."""
    parts: list[Part] = []
    for item in items:
        if isinstance(item, Nested):
            # Recursion follows the nesting of loops in the kernel, not its length.
            parts.append(Structure(item.op, tuple(cut(b, printed, widths, layouts) for b in item.blocks), item.barrier))
            continue
        if isinstance(item, Exchange):
            parts.append(item)
            continue
        barrier = item.barrier

        def kind(op: Op, item: Segment = item) -> tuple[int, int]:
            among_scalars = item.layout is None and op.results  # a block of one scalar is a loop of its own
            return widths.get(op, 1), layouts[op.results[0]].registers if among_scalars else item.registers

        for (step, registers), group in groupby(filter(printed, item.ops), kind):
            parts.append(Loop(tuple(group), registers, step, barrier))
            barrier = False
    return tuple(parts)


def access_widths(laid_out: LaidOut, orders: Orders) -> dict[Op, int]:
    """How many elements one access of a load or store may move, where it is more than one: a power of two."""
    widths: dict[Op, int] = {}
    defined = laid_out.func.definitions
    for segment in laid_out.segments:
        if segment.registers == 1:
            continue
        for op in segment.ops:
            if isinstance(op, AsyncCopy) and op.width > 1:
                widths[op] = op.width
            if not isinstance(op, (ops.Load, ops.Store)) or (isinstance(op, ops.Load) and op.volatile):
                continue
            layout, element = laid_out.layouts[op.pointer], element_of(op.pointer.type)
            assert isinstance(element, PointerType)
            pointer, most = orders.along(layout).get(op.pointer), VECTOR_BYTES // element.element.bytes
            width = 1 if pointer is None else min(layout.vector, pointer.contiguous, pointer.divisible, most)
            copies = layout.free_bits()[0]
            if width > 1 and not copies and (isinstance(op, ops.Store) or _is_simple(op.other, defined)):
                widths[op] = width
    return widths


def _is_simple(other: Value | None, defined: Mapping[Value, Op]) -> bool:
    return other is None or is_scalar(other, defined)


def is_scalar(value: Value, defined: Mapping[Value, Op]) -> bool:
    """Whether all elements of a value are one scalar by its making, so that it prints as a scalar."""
    while shape_of(value.type):
        op = defined.get(value)
        if not isinstance(op, (ops.Splat, ops.Cast, ops.Reshape, ops.Transpose, ops.Broadcast)):
            return False
        value = op.source
    return True
