"""What of shared memory the listing of a laid-out program tells: where rings and exchanges are, how elements are
swizzled there, and how often all threads wait for each other."""

from __future__ import annotations

from collections.abc import Mapping

from mytriton.ir import ops
from mytriton.ir.core import Func, Value
from mytriton.layout.buffer import rounds
from mytriton.layout.dots import dot_plan, puts
from mytriton.layout.layout import Layout
from mytriton.layout.ops import Convert
from mytriton.layout.program import Exchange
from mytriton.layout.routes import BitMap
from mytriton.layout.staging import AsyncCopy, AsyncWait, Ring, Staged
from mytriton.layout.swizzle import PIECE_BYTES, conversion
from mytriton.stage import Line
from mytriton.types import ScalarType, element_of


def ring_lines(func: Func) -> list[Line]:
    """Two lines for each ring of buffers, linked to the load that it is for: where they are, and how elements stand in
    them."""
    rings = {op.ring.number: op for op in func.walk() if isinstance(op, (AsyncCopy, Staged))}
    return [Line(text, op.span) for _, op in sorted(rings.items()) for text in _ring(op.ring)]


def _ring(ring: Ring) -> tuple[str, str]:
    starts = ", ".join(str(ring.start + stage * ring.bytes) for stage in range(ring.stages))
    element = element_of(ring.type)
    assert isinstance(element, ScalarType)  # no pointers are multiplied
    head = f"ring #{ring.number} = {ring.stages} buffers of {ring.bytes} bytes for {ring.type}"
    at = f"  at bytes {starts} of shared memory, {_swizzle(ring.slot, element.bytes)}"
    return head, f"{at}, slot=[{', '.join(map(str, ring.slot))}]"


def _swizzle(slot: BitMap, size: int) -> str:
    """In words, what a map of positions to slots for elements of `size` bytes does to pieces of 16 bytes."""
    flips = [entry - (1 << entry.bit_length() - 1) for entry in slot if entry.bit_count() > 1]
    if not flips:
        return "not swizzled"
    line = size << max(flips).bit_length()
    return f"swizzled: pieces of {PIECE_BYTES} bytes change places within {line} bytes"


def about(exchange: Exchange, layouts: Mapping[Value, Layout]) -> str:
    """What an exchange takes of shared memory and how often threads wait in it, behind its line; "" if neither."""
    op = exchange.op
    if isinstance(op, AsyncWait):
        return "  // then a barrier"
    way = rounds(op, layouts)
    if way is None:
        return ""
    waits, swizzled = 2 if isinstance(op, ops.Histogram) else 1, False
    if isinstance(op, ops.Dot):
        plan = dot_plan(op, layouts)
        sides = [getattr(plan, side) for side in puts(op)]
        waits, swizzled = int(bool(sides)), any(e.bit_count() > 1 for side in sides for e in side.slot)
    elif isinstance(op, Convert):
        have, want = layouts[op.source], layouts[op.result]
        swizzled = any(e.bit_count() > 1 for e in conversion(have, want, way.bytes // way.size, way.size))
    if way.count > 1:  # between two rounds, too; the one before the first has a line of its own if it is needed anyway
        waits = way.count * (waits + 1) - exchange.barrier
    often = f"{waits} barriers" if waits > 1 else "a barrier inside" if waits else ""
    in_rounds = f" in {way.count} rounds" if way.count > 1 else ""
    return "  // " + ", ".join(filter(None, [f"bytes 0 to {way.bytes - 1}{in_rounds}", swizzled * "swizzled", often]))
