"""When all elements of a run are accessed, which is decided at run time: then it needs no masks, and what it stores may
go past the caches (`past.py`)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from mytriton.analysis.runs import size_of
from mytriton.backends.cpu.elements import Elements
from mytriton.backends.cpu.elementwise import pointee
from mytriton.backends.cpu.plan import Plan, Run, is_spread_scalar
from mytriton.backends.cpu.scalars import ScalarWriter
from mytriton.backends.cpu.writer import Text
from mytriton.ir import ops
from mytriton.ir.core import Value
from mytriton.ir.ops import Load, Store
from mytriton.types import PointerType, element_of, shape_of

#: Bytes that a launch must store somewhere for them to go past the caches: some times what the cache of one core holds.
#: A softmax of 16 MB took 0.8 of the time, though the last cache was larger.
_MANY = 8 << 20


class Whole:
    """Writes the conditions of one function."""

    def __init__(self, text: Text, plan: Plan, scalars: ScalarWriter) -> None:
        self.text, self.plan, self.scalars = text, plan, scalars
        #: Whether anything is stored past the caches, which ends in order only after a fence.
        self.streams = False

    def conditions(self, run: Run, firsts: Elements) -> list[str]:
        """Names of the i1 values that must all hold, besides those for the run to be fused; none if there is nothing to
        gain or no such condition. `firsts` writes first elements."""
        accesses = self.plan.accesses(run)
        stores = [op for op in accesses if isinstance(op, Store)]
        tests = [self._tests(op.mask, run) for op in accesses if op.mask is not None]
        if not (tests or stores) or not all(tests) or not all(op in self.plan.past for op in stores):
            return []
        if any(isinstance(op, Load) and op.volatile for op in accesses):
            return []
        found: list[str] = []
        stem = f"%run_{run.first}.whole"
        for number, test in enumerate(dict.fromkeys(chain.from_iterable(tests))):
            found += self._holds(*test, firsts, f"{stem}_{number}")
        for number, op in enumerate(stores):
            self.streams = True
            found.append(self._stores_much(op, f"{stem}.store_{number}"))
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

    def _stores_much(self, op: Store, name: str) -> str:
        text = self.text
        if text.once("%programs.all"):
            text.write("%programs.plane = arith.muli %grid.x, %grid.y : i64")
            text.write("%programs.all = arith.muli %programs.plane, %grid.z : i64")
        least = -(-_MANY // (size_of(op.pointer) * pointee(op.pointer).bytes))
        text.write(f"{name}.least = arith.constant {least} : i64")
        text.write(f"{name}.many = arith.cmpi uge, %programs.all, {name}.least : i64")
        return f"{name}.many"


#: What compares the same with its operands exchanged.
_MIRRORED: dict[type[ops.Compare], type[ops.Compare]] = {
    ops.CmpLt: ops.CmpGt,
    ops.CmpLe: ops.CmpGe,
    ops.CmpGt: ops.CmpLt,
    ops.CmpGe: ops.CmpLe,
}
