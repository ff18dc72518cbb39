"""Stores that go past the caches.

A store to a line that is not in the caches loads it first, unless it is *nontemporal*: then whole lines go to memory.
That pays where more is stored than the caches hold, and costs where what is stored is soon needed again. So it is done
in launches that store much, with rows that each program stores once. NumPy's arrays begin anywhere in a line: a row is
put together in scratch memory, and then stored line by line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mytriton.analysis.runs import size_of
from mytriton.backends.cpu.access import Groups
from mytriton.backends.cpu.elementwise import pointee
from mytriton.backends.cpu.host import CACHE_LINE
from mytriton.backends.cpu.places import scratch_address
from mytriton.backends.cpu.plan import Loop, Plan, Run, is_contiguous
from mytriton.backends.cpu.scratch import Lives
from mytriton.backends.cpu.writer import POINTER, Text, dense
from mytriton.ir import ops
from mytriton.ir.core import Func, Op, Value
from mytriton.ir.ops import Load, Store

#: Bytes of a row for which it pays, at least and at most: it should stay in the nearest caches.
_LONG, _HUGE = 1 << 10, 1 << 16

#: Elements of type INT, LANES to a line; `count` are stored, of which those of the first and of the last line, which
#: the row need not fill, go through the caches.
_STORE = """\
(%source: PTR, %target: PTR, %count: i64) attributes {llvm.linkage = #llvm.linkage<internal>} {
  %zero = arith.constant 0 : i64
  %address = llvm.ptrtoint %target : PTR to i64
  %back = arith.subi %zero, %address : i64
  %line = arith.constant 63 : i64
  %gap = arith.andi %back, %line : i64
  %size = arith.constant SIZE : i64
  %before = arith.divui %gap, %size : i64
  %step = arith.constant LANES : i64
  %left = arith.subi %count, %before : i64
  %over = arith.remui %left, %step : i64
  %end = arith.subi %count, %over : i64
  %numbers = arith.constant NUMBERS : vector<LANESxi64>
  %all.before = vector.broadcast %before : i64 to vector<LANESxi64>
  %is.before = arith.cmpi ult, %numbers, %all.before : vector<LANESxi64>
  %first = llvm.load %source {alignment = 64 : i64} : PTR -> VECTOR
  llvm.intr.masked.store %first, %target, %is.before {alignment = SIZE : i32} : VECTOR, vector<LANESxi1> into PTR
  scf.for %i = %before to %end step %step : i64 {
    %from = llvm.getelementptr %source[%i] : (PTR, i64) -> PTR, INT
    %to = llvm.getelementptr %target[%i] : (PTR, i64) -> PTR, INT
    %some = llvm.load %from {alignment = SIZE : i64} : PTR -> VECTOR
    llvm.store %some, %to {alignment = 64 : i64, nontemporal} : VECTOR, PTR
  } {loop_annotation = #as_written}
  %last.from = llvm.getelementptr %source[%end] : (PTR, i64) -> PTR, INT
  %last.to = llvm.getelementptr %target[%end] : (PTR, i64) -> PTR, INT
  %all.over = vector.broadcast %over : i64 to vector<LANESxi64>
  %is.over = arith.cmpi ult, %numbers, %all.over : vector<LANESxi64>
  %last = llvm.load %last.from {alignment = SIZE : i64} : PTR -> VECTOR
  llvm.intr.masked.store %last, %last.to, %is.over {alignment = SIZE : i32} : VECTOR, vector<LANESxi1> into PTR
  func.return
}"""


def stores_past(
    func: Func, steps: Sequence[Op | Run], loops: Sequence[Loop], groups: Mapping[Value, Groups], lives: Lives
) -> set[Store]:
    """Which stores of the function's own `steps` may go past the caches. Holds memory for a row of each."""
    if any(isinstance(op, ops.Atomic) for op in func.walk()):  # which may tell other programs of what was stored
        return set()
    definitions = func.definitions
    found: set[Store] = set()
    for run in (step for step in steps if isinstance(step, Run)):
        accesses = [op for loop in loops[run.first : run.last + 1] for op in loop.accesses]
        stores = [op for op in accesses if isinstance(op, Store)]
        at_the_end = accesses[len(accesses) - len(stores) :] == stores  # nothing is loaded after them
        sizes = [size_of(op.pointer) * pointee(op.pointer).bytes for op in stores]
        fits = (is_contiguous(groups, op.pointer) and _depends_on_program(definitions, op.pointer) for op in stores)
        if stores and at_the_end and min(sizes) >= _LONG and max(sizes) <= _HUGE and all(fits):
            found.update(stores)
            for op, size in zip(stores, sizes, strict=True):
                lives.hold(op, size + CACHE_LINE, run.first)
    return found


def _depends_on_program(definitions: Mapping[Value, Op], value: Value) -> bool:
    pending, seen = [value], {value}
    while pending:
        op = definitions.get(pending.pop())
        if isinstance(op, ops.ProgramId):
            return True
        fresh = {*op.operands} - seen if op is not None and not op.regions and not isinstance(op, Load) else set()
        pending += fresh
        seen |= fresh
    return False


def row_address(text: Text, plan: Plan, op: Store) -> str:
    """Where the row of a store is put together."""
    name = f"%row.store_{plan.order[op]}"
    return scratch_address(text, name, plan.slots[op]) if text.once(name) else name


def write_past(text: Text, plan: Plan, op: Store, address: str) -> None:
    """Store a row at its address, past the caches."""
    size, row = pointee(op.pointer).bytes, row_address(text, plan, op)
    text.functions[f"store.past.i{8 * size}"] = _function(size)
    text.write(f"{row}.count = arith.constant {size_of(op.pointer)} : i64")
    types = f"({POINTER}, {POINTER}, i64) -> ()"
    text.write(f"func.call @store.past.i{8 * size}({row}, {address}, {row}.count) : {types}")


def _function(size: int) -> list[str]:
    """`@store.past.i32(source, target, count)`: elements of `size` bytes, from the begin of a line on."""
    lanes = CACHE_LINE // size
    words = {"VECTOR": f"vector<{lanes}xi{8 * size}>", "LANES": str(lanes), "NUMBERS": dense(range(lanes)),
             "SIZE": str(size), "INT": f"i{8 * size}", "PTR": POINTER}  # fmt: skip
    body = _STORE
    for word, meant in words.items():
        body = body.replace(word, meant)
    return f"func.func private @store.past.i{8 * size}{body}".split("\n")
