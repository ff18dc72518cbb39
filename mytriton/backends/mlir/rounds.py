"""Which element stands where in workgroup memory, and in which round, while the threads of a program exchange: what
`layout.program.Exchange` says, as bit maps that can be printed."""

from __future__ import annotations

from collections.abc import Mapping

from mytriton.ir import ops
from mytriton.ir.core import Value
from mytriton.layout.dots import mapped
from mytriton.layout.layout import Layout
from mytriton.layout.ops import Convert, PartialReduce
from mytriton.layout.routes import BitMap, parts, reduction, round_elements, round_registers
from mytriton.layout.swizzle import conversion
from mytriton.records import dataclass
from mytriton.types import ScalarType, element_of


@dataclass(frozen=True, slots=True)
class Side:
    """How the threads go through the buffer, writing or reading:

    free      from a number that counts a thread's registers in one round, to registers
    fixed     from the round, to registers
    thread    from the thread, to slots of the buffer
    register  from the register, to slots
    turn      from the thread, to the round in which it takes part, as far as registers do not say it
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


def plan(op: Convert | PartialReduce, layouts: Mapping[Value, Layout]) -> Plan | None:
    """How an operation uses workgroup memory, if it does."""
    match op:
        case Convert(through="shared"):
            return _conversion(layouts[op.source], layouts[op.result], exchanged_bytes(op))
        case PartialReduce(across="warps"):
            return _reduction(layouts[op.source], op)
    return None


def exchanged_bytes(op: Convert | PartialReduce | ops.Pick | ops.Gather) -> int:
    """The bytes of one element that an exchange moves."""
    element = element_of(op.source.type)
    return element.bytes if isinstance(element, ScalarType) else 8


def _conversion(have: Layout, want: Layout, element_bytes: int) -> Plan:
    slots = round_elements(have, element_bytes)
    rounds, places = have.size // slots, conversion(have, want, element_bytes, slots)

    def side(layout: Layout) -> Side:
        threads, registers = layout.lane + layout.warp, _bits(layout.registers)
        of_entry = dict(zip(layout.register, registers, strict=True))
        return Side(
            free=tuple(register for entry, register in of_entry.items() if entry < slots),
            fixed=tuple(of_entry.get(slots * turn, 0) for turn in _bits(rounds)),
            thread=mapped(places, threads),
            register=mapped(places, layout.register),
            turn=tuple(entry // slots for entry in threads),
        )

    return Plan(rounds, slots, side(have), side(want))


def _reduction(layout: Layout, op: PartialReduce) -> Plan:
    combined = reduction(layout, op.axis, op.bits, op.across).combined
    places = parts(layout, combined)
    each = round_registers(layout, places.count, exchanged_bytes(op))
    rounds = layout.registers // each
    fixed = tuple(each * turn for turn in _bits(rounds))
    register = tuple(places.count * bit if bit < each else 0 for bit in _bits(layout.registers))
    write, read = (Side(_bits(each), fixed, of, register, ()) for of in (places.write, places.read))
    return Plan(rounds, each * places.count, write, read, tuple(range(1 << len(combined))))


def _bits(extent: int) -> BitMap:
    return tuple(1 << i for i in range(extent.bit_length() - 1))
