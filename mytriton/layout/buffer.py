"""How much of the buffer in shared memory an exchange needs, and in how many rounds it goes through it."""

from __future__ import annotations

from collections.abc import Mapping

from mytriton.ir import ops
from mytriton.ir.core import Op, Value
from mytriton.layout.dots import dot_plan, factor_bytes
from mytriton.layout.layout import Layout
from mytriton.layout.ops import Convert, PartialReduce
from mytriton.layout.routes import parts, reduction, round_elements, round_registers
from mytriton.records import dataclass
from mytriton.types import PointerType, element_of


@dataclass(frozen=True)
class Rounds:
    """How an exchange goes through the buffer: `count` times with `size` elements of the block (a conversion), numbers
    (a histogram), registers of each thread (a reduction) or steps (a product)."""

    size: int
    count: int
    bytes: int


def rounds(op: Op, layouts: Mapping[Value, Layout]) -> Rounds | None:
    """The rounds of an exchange; None if it needs no shared memory, as any other operation."""
    if isinstance(op, ops.Dot):
        plan = dot_plan(op, layouts)
        return Rounds(plan.depth, plan.rounds, plan.slots * factor_bytes(op)) if plan.slots else None
    if not isinstance(op, (Convert, PartialReduce, ops.Pick, ops.Gather, ops.Histogram)):
        return None
    held = op.result if isinstance(op, ops.Histogram) else op.source
    layout, element = layouts[held], element_of(held.type)
    unit = 8 if isinstance(element, PointerType) else element.bytes
    if isinstance(op, (ops.Gather, ops.Histogram)) or (isinstance(op, (Convert, ops.Pick)) and op.through == "shared"):
        size = round_elements(layout, unit)
        return Rounds(size, layout.size // size, size * unit)
    if isinstance(op, PartialReduce) and op.across == "warps":
        places = parts(layout, reduction(layout, op.axis, op.bits, op.across).combined).count
        size = round_registers(layout, places, unit)
        return Rounds(size, layout.registers // size, size * places * unit)
    return None
