"""Which element stands where in workgroup memory, and in which round, while the threads of a program exchange.

Elements stand in the order of their positions. A block that does not fit takes several rounds: some position bits then
number the rounds instead of the places, those of registers first, since a thread skips the other registers for free.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mytriton.ir.core import Value
from mytriton.layout import routes
from mytriton.layout.layout import Layout
from mytriton.layout.ops import Convert, PartialReduce
from mytriton.layout.program import SHARED_BYTES, Exchange, LaidOut
from mytriton.layout.routes import BitMap
from mytriton.types import ScalarType, element_of


@dataclass(frozen=True, slots=True)
class Side:
    """How the threads go through the buffer, writing or reading. All are bit maps:

    free      from a number that counts a thread's registers in one round, to registers
    fixed     from the round, to registers
    thread    from the thread, to slots of the buffer
    register  from the register, to slots
    turn      from the thread, to the round in which it takes part; of round bits that are registers, 0
    """

    free: BitMap
    fixed: BitMap
    thread: BitMap
    register: BitMap
    turn: BitMap


@dataclass(frozen=True, slots=True)
class Plan:
    """The two sides of an exchange through a buffer of `slots` elements. `offsets` are the distances of the slots that
    are read for one element."""

    rounds: int
    slots: int
    write: Side
    read: Side
    offsets: tuple[int, ...] = (0,)


def plan_conversion(have: Layout, want: Layout, element_bytes: int) -> Plan:
    """All elements are written in one layout and read in another."""
    rounds = max(1, have.size * element_bytes // SHARED_BYTES)
    bits = [1 << i for i in range(have.size.bit_length() - 1)]
    bits.sort(key=lambda b: ((b in have.register) + (b in want.register), b), reverse=True)
    turns = sorted(bits[: rounds.bit_length() - 1])
    write, read = (_side(layout, turns, layout.lane + layout.warp, {}) for layout in (have, want))
    return Plan(rounds, have.size // rounds, write, read)


def plan_reduction(source: Layout, op: PartialReduce) -> Plan:
    """The results of each warp are written, side by side, and those of all read."""
    combined = routes.reduction(source, op.axis, op.bits, op.across).combined
    layout = source.reduced(op.axis, op.bits)
    rounds = max(1, (layout.size << len(combined)) * _bytes(op) // SHARED_BYTES)
    turns = sorted(sorted(layout.register)[-(rounds.bit_length() - 1) :] if rounds > 1 else [])
    side = layout.size // rounds
    places = {mask: side << i for i, mask in enumerate(combined)}
    threads = layout.lane + layout.warp
    write = _side(layout, turns, threads, {len(layout.lane) + m.bit_length() - 1: p for m, p in places.items()})
    read, offsets = _side(layout, turns, threads, {}), tuple(side * i for i in range(1 << len(combined)))
    return Plan(rounds, side * len(offsets), write, read, offsets)


def plan(op: Convert | PartialReduce, layouts: Mapping[Value, Layout]) -> Plan | None:
    """How an operation uses workgroup memory, if it does."""
    match op:
        case Convert(through="shared"):
            return plan_conversion(layouts[op.source], layouts[op.result], _bytes(op))
        case PartialReduce(across="warps"):
            return plan_reduction(layouts[op.source], op)
    return None


def shared_bytes(laid_out: LaidOut) -> int:
    """The size of the buffer that a program needs."""
    exchanges = [item.op for item in laid_out.walk() if isinstance(item, Exchange)]
    return max((p.slots * _bytes(op) for op in exchanges if (p := plan(op, laid_out.layouts))), default=0)


def _bytes(op: Convert | PartialReduce) -> int:
    element = element_of(op.source.type)
    return element.bytes if isinstance(element, ScalarType) else 8


def _side(layout: Layout, turns: Sequence[int], threads: Sequence[int], more: dict[int, int]) -> Side:
    """`more` are the slots of further thread bits."""
    kept = [b for b in (1 << i for i in range(layout.size.bit_length() - 1)) if b not in turns]
    slots = {b: 1 << i for i, b in enumerate(kept)}
    registers = {entry: 1 << i for i, entry in enumerate(layout.register)}
    return Side(
        free=tuple(register for entry, register in registers.items() if entry not in turns),
        fixed=tuple(registers.get(b, 0) for b in turns),
        thread=tuple(more.get(i, slots.get(entry, 0)) for i, entry in enumerate(threads)),
        register=tuple(slots.get(entry, 0) for entry in layout.register),
        turn=tuple(1 << turns.index(entry) if entry in turns else 0 for entry in threads),
    )
