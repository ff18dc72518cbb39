"""When all elements of a run are accessed, which is decided at run time: then it needs no masks, and what it stores may
go past the caches.

A store to a line that is not in the caches loads it first, unless it is *nontemporal*: then whole lines go to memory.
That pays where more is stored than the caches hold, and costs where what is stored is soon needed again.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from mytriton.analysis.runs import size_of
from mytriton.backends.cpu.elements import Elements
from mytriton.backends.cpu.elementwise import pointee
from mytriton.backends.cpu.plan import CACHE_LINE, Plan, Run, is_spread_scalar
from mytriton.backends.cpu.scalars import ScalarWriter
from mytriton.backends.cpu.writer import LANES, POINTER, Text
from mytriton.ir import ops
from mytriton.ir.core import Func, Value
from mytriton.ir.ops import Load, Store
from mytriton.types import PointerType, element_of, shape_of

#: Bytes that a launch must store somewhere for them to go past the caches: some times what the cache of one core holds.
#: A softmax of 16 MB took 0.8 of the time, though the last cache was larger.
_MANY = 8 << 20


class Whole:
    """Writes the conditions of one function."""

    def __init__(self, func: Func, text: Text, plan: Plan, scalars: ScalarWriter) -> None:
        self.text, self.plan, self.scalars = text, plan, scalars
        #: Whether anything is stored past the caches, which ends in order only after a fence.
        self.streams = False
        # Where each program stores something else, once; and not where an atomic operation may tell others of it.
        atomic = any(isinstance(op, ops.Atomic) for op in func.walk())
        self._once = set() if atomic else {step.first for step in plan.steps[func.body] if isinstance(step, Run)}

    def conditions(self, run: Run, firsts: Elements) -> list[str]:
        """Names of the i1 values that must all hold, besides those for the run to be fused; none if there is nothing to
        gain or no such condition. `firsts` writes first elements."""
        accesses = self.plan.accesses(run)
        stores = [op for op in accesses if isinstance(op, Store)]
        tests = [self._tests(op.mask, run) for op in accesses if op.mask is not None]
        if not (tests or stores) or not all(tests) or not all(self._can_stream(op, run) for op in stores):
            return []
        if any(isinstance(op, Load) and op.volatile for op in accesses):
            return []
        found: list[str] = []
        stem = f"%run_{run.first}.whole"
        for number, test in enumerate(dict.fromkeys(chain.from_iterable(tests))):
            found += self._holds(*test, firsts, f"{stem}_{number}")
        for number, op in enumerate(stores):
            self.streams = True
            found += self._streams(op, firsts, f"{stem}.store_{number}")
        return found

    def _tests(self, mask: Value, run: Run) -> list[tuple[type[ops.Compare], Value, Value]]:
        """Comparisons of consecutive numbers, in order, with a scalar, which are all true only if the mask is; none if
        it is made in another way."""
        found: list[tuple[type[ops.Compare], Value, Value]] = []
        pending = [mask]
        while pending:
            value = self.plan.resolve(pending.pop())[0]
            op = self.plan.definitions.get(value)
            if isinstance(op, ops.And):
                pending += op.operands
            elif isinstance(op, ops.Compare) and (test := self._test(op, run)) is not None:
                found.append(test)
            else:
                return []
        return found

    def _test(self, op: ops.Compare, run: Run) -> tuple[type[ops.Compare], Value, Value] | None:
        lhs, rhs = (self.plan.resolve(v)[0] for v in op.operands)
        kind = type(op)
        if kind in _MIRRORED and self._is_scalar(lhs):
            kind, lhs, rhs = _MIRRORED[kind], rhs, lhs
        element = element_of(lhs.type)
        if kind not in _MIRRORED or not self._is_scalar(rhs) or isinstance(element, PointerType):
            return None
        in_order = element.kind == "int" and element.signed and shape_of(lhs.type) and self.plan.is_contiguous(lhs)
        return (kind, lhs, rhs) if in_order and {*self.plan.groups[lhs].guards} <= {*run.guards} else None

    def _is_scalar(self, value: Value) -> bool:
        return is_spread_scalar(self.plan.definitions.get(value))

    def _holds(
        self, kind: type[ops.Compare], numbers: Value, scalar: Value, firsts: Elements, name: str
    ) -> Iterator[str]:
        """That no number wraps, and that the one which is the closest to the scalar compares as all should."""
        text, writer, element = self.text, self.scalars.emitter, element_of(numbers.type)
        spread = self.plan.definitions[scalar]
        assert is_spread_scalar(spread) and not isinstance(element, PointerType)
        first = firsts.get(numbers)
        text.write(f"{name}.more = arith.constant {size_of(numbers) - 1} : {element.signless}")
        text.write(f"{name}.last = arith.addi {first}, {name}.more : {element.signless}")
        yield writer.compare(ops.CmpLe, first, f"{name}.last", element, f"{name}.in_order")
        closest = f"{name}.last" if kind in (ops.CmpLt, ops.CmpLe) else first
        yield writer.compare(kind, closest, self.scalars.name(spread.source), element, f"{name}.holds")

    # --- stores past the caches ---------------------------------------------------------------------------------------

    def _can_stream(self, op: Store, run: Run) -> bool:
        """Whether chunks of a store are halves of cache lines at least, one after the other, and elsewhere in each
        program."""
        chunk = LANES * pointee(op.pointer).bytes
        fits = 2 * chunk >= CACHE_LINE and self.plan.is_contiguous(op.pointer)
        return run.first in self._once and fits and self._depends_on_program(op.pointer)

    def _depends_on_program(self, value: Value) -> bool:
        pending, seen = [value], {value}
        while pending:
            op = self.plan.definitions.get(pending.pop())
            if isinstance(op, ops.ProgramId):
                return True
            fresh = {*op.operands} - seen if op is not None and not op.regions else set()
            pending += fresh
            seen |= fresh
        return False

    def _streams(self, op: Store, firsts: Elements, name: str) -> Iterator[str]:
        """That the launch stores much there, and that chunks are cache lines, or halves."""
        text, size = self.text, size_of(op.pointer) * pointee(op.pointer).bytes
        if text.once("%programs.all"):
            text.write("%programs.plane = arith.muli %grid.x, %grid.y : i64")
            text.write("%programs.all = arith.muli %programs.plane, %grid.z : i64")
        text.write(f"{name}.least = arith.constant {-(-_MANY // size)} : i64")
        text.write(f"{name}.many = arith.cmpi uge, %programs.all, {name}.least : i64")
        yield f"{name}.many"
        text.write(f"{name}.address = llvm.ptrtoint {firsts.get(op.pointer)} : {POINTER} to i64")
        text.write(f"{name}.low = arith.constant {CACHE_LINE - 1} : i64")
        text.write(f"{name}.zero = arith.constant 0 : i64")
        text.write(f"{name}.rest = arith.andi {name}.address, {name}.low : i64")
        text.write(f"{name}.aligned = arith.cmpi eq, {name}.rest, {name}.zero : i64")
        yield f"{name}.aligned"


#: What compares the same with its operands exchanged.
_MIRRORED: dict[type[ops.Compare], type[ops.Compare]] = {
    ops.CmpLt: ops.CmpGt,
    ops.CmpLe: ops.CmpGe,
    ops.CmpGt: ops.CmpLt,
    ops.CmpGe: ops.CmpLe,
}
