"""Rows that the next program, or trip, is going to load, fetched while the present one computes.

Memory rests while a program computes what it has loaded, and the program waits while it loads: the processor's own
prefetching ends at each page. So a loop that only computes asks, chunk by chunk, for what comes then: as far from what
was loaded last, twice, as that was from what was loaded before, which is kept in scratch memory. A wrong guess costs
no more than the line that it fetches; a prefetch never faults.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from mytriton.analysis.runs import size_of
from mytriton.backends.cpu.access import Groups
from mytriton.backends.cpu.elementwise import pointee
from mytriton.backends.cpu.host import CACHE_LINE
from mytriton.backends.cpu.places import scratch_address
from mytriton.backends.cpu.plan import Loop, Plan, Run, is_contiguous
from mytriton.backends.cpu.scratch import Lives
from mytriton.backends.cpu.writer import POINTER, Text
from mytriton.ir.core import Op, Value
from mytriton.ir.ops import Load, Store

#: Bytes of a row for which it pays; and how many times ahead: after one, some lines were still on their way.
_LONG, _FAR = 1024, 2

#: LLVM's numbers for where to: the first cache, for rows of which it holds some, or the second.
_FIRST, _SECOND, _FITS = 3, 2, 1 << 13


def fetched_ahead(
    steps: Iterable[Sequence[Op | Run]], loops: Sequence[Loop], groups: Mapping[Value, Groups], lives: Lives
) -> dict[int, list[Load]]:
    """The loads of what each run, by the number of its first loop, is to fetch: a later one than that which loads, if
    possible one that does nothing to memory. Holds memory for where each was."""
    found: dict[int, list[Load]] = {}
    for block in steps:
        runs = [(step, [op for loop in loops[step.first : step.last + 1] for op in loop.accesses])
                for step in block if isinstance(step, Run)]  # fmt: skip
        for number, (run, accesses) in enumerate(runs):
            later = [r for r in runs[number + 1 :] if loops[r[0].first].size == loops[run.first].size]
            if not later or any(isinstance(op, Store) for op in accesses):
                continue
            into = next((run for run, others in later if not others), later[-1][0])
            found.setdefault(into.first, []).extend(
                op for op in accesses
                if isinstance(op, Load) and not op.volatile and is_contiguous(groups, op.pointer)
                and size_of(op.pointer) * pointee(op.pointer).bytes >= _LONG
            )  # fmt: skip
    for op in (op for loads in found.values() for op in loads):
        lives.hold_always(op, 8)
    return found


def write_next(text: Text, plan: Plan, op: Load, address: str) -> None:
    """`%v.next`: where a load at an address is expected some times later."""
    name = text.name(op.result)
    place = scratch_address(text, f"{name}.last", plan.slots[op])
    text.write(f"{name}.now = llvm.ptrtoint {address} : {POINTER} to i64")
    text.write(f"{name}.before = llvm.load {place} : {POINTER} -> i64")
    text.write(f"llvm.store {name}.now, {place} : i64, {POINTER}")
    text.write(f"{name}.step = arith.subi {name}.now, {name}.before : i64")
    text.write(f"{name}.times = arith.constant {_FAR} : i64")
    text.write(f"{name}.far = arith.muli {name}.step, {name}.times : i64")
    text.write(f"{name}.next = llvm.getelementptr {address}[{name}.far] : ({POINTER}, i64) -> {POINTER}, i8")


def write_fetch(text: Text, op: Load, width: int) -> None:
    """Fetch the chunk of a later load into the first cache, or the second if rows are longer than fit there."""
    name, element = text.name(op.result), pointee(op.pointer)
    hint = _FIRST if size_of(op.pointer) * element.bytes <= _FITS else _SECOND
    types = f"({POINTER}, i32) -> {POINTER}, {element.signless}"
    text.write(f"{name}.chunk = llvm.getelementptr {name}.next[%chunk.i] : {types}")
    for line in range(0, width * element.bytes, CACHE_LINE):
        where = f"{name}.line_{line}"
        text.write(f"{where} = llvm.getelementptr {name}.chunk[{line}] : ({POINTER}) -> {POINTER}, i8")
        hints = f"<{{cache = 1 : i32, hint = {hint} : i32, rw = 0 : i32}}>"
        text.write(f'"llvm.intr.prefetch"({where}) {hints} : ({POINTER}) -> ()')
