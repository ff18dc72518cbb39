"""Runs of loops: what is tested before them, and the loops in one or two versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mytriton.analysis.runs import size_of
from mytriton.backends.cpu.ahead import write_next
from mytriton.backends.cpu.effects import EffectWriter
from mytriton.backends.cpu.elements import Elements
from mytriton.backends.cpu.elementwise import pointee
from mytriton.backends.cpu.in_place import all_in_place
from mytriton.backends.cpu.library import apart_function
from mytriton.backends.cpu.loops import LoopWriter
from mytriton.backends.cpu.places import slot
from mytriton.backends.cpu.plan import Plan, Run
from mytriton.backends.cpu.scalars import ScalarWriter
from mytriton.backends.cpu.whole import Whole
from mytriton.backends.cpu.writer import POINTER, Text, width_of
from mytriton.backends.mlir.ops import ElementEmitter
from mytriton.ir import ops
from mytriton.ir.core import Func, Op, Value
from mytriton.types import f64, i32, shape_of


class RunWriter:
    """Writes the runs of one function."""

    def __init__(
        self, func: Func, text: Text, plan: Plan, scalars: ScalarWriter, effects: EffectWriter, fusion: bool
    ) -> None:
        self.text, self.plan, self.scalars, self.effects = text, plan, scalars, effects
        self._func, self._fusion = func, fusion
        self._ahead = {op for loads in plan.ahead.values() for op in loads}
        self.whole = Whole(text, plan, scalars)
        self._emitters: dict[int, ElementEmitter] = {}

    def emitter(self, width: int) -> ElementEmitter:
        """The writer of vectors of a width."""
        if width not in self._emitters:
            self._emitters[width] = ElementEmitter(self._func, self.text.write, width=width, fusion=self._fusion)
        return self._emitters[width]

    def run(self, run: Run) -> None:
        """Write all loops of a run."""
        load = self.plan.loops[run.first].ops[0]
        in_place = isinstance(load, ops.Load) and load.result in self.plan.in_place
        if in_place:
            self.text.at(load)
        firsts = Elements(self.text, self.plan, self.scalars, run.first, run.last)
        pointers = dict.fromkeys(op.pointer for op in self.plan.accesses(run) if self.plan.is_contiguous(op.pointer))
        addresses = {p: firsts.get(p) for p in pointers}
        for op in self.plan.accesses(run):
            if isinstance(op, ops.Load) and op in self._ahead:
                write_next(self.text, self.plan, op, addresses[op.pointer])
        conditions = self._conditions(run, firsts)
        fits = self._all(conditions) if conditions else ""
        if isinstance(load, ops.Load) and in_place:
            self._in_place(run, load, firsts.get(load.pointer), fits, addresses)
            return
        whole = self.whole.conditions(run, firsts)
        if not whole:
            self._loops(run, fits, addresses)
            return
        with self.text.block(f"scf.if {self._all([*whole, fits] if fits else whole)}"):
            stores = any(isinstance(op, ops.Store) for op in self.plan.accesses(run))
            self.text.write(f"// No element is masked off{', and what is stored goes past the caches' * stores}.")
            self._version(run, run.fused, True, addresses, True)
        with self.text.otherwise():
            self._loops(run, fits, addresses)

    def _in_place(self, run: Run, load: ops.Load, address: str, fits: str, addresses: Mapping[Value, str]) -> None:
        """`%v.given`: the address of a loaded matrix, and how many bytes its rows are apart: where it is loaded from,
        or kept if some elements are masked off or rows are not at equal distances."""
        text, name = self.text, self.text.name(load.result)
        if not fits:
            fits = f"{name}.always"
            text.write(f"{fits} = arith.constant true")
        emitter, loops = self.emitter(width_of(size_of(load.pointer))), (run.first, run.last)
        with text.block(f"{name}.seen:2 = scf.if {fits} -> (i1, i64)"):
            writer = LoopWriter(text, self.plan, self.scalars, emitter, loops, addresses, True)
            text.write(f"scf.yield {', '.join(all_in_place(writer, load, address, f'{name}.seen'))} : i1, i64")
        with text.otherwise():
            text.write(f"{name}.seen.no = arith.constant false")
            text.write(f"{name}.seen.none = arith.constant 0 : i64")
            text.write(f"scf.yield {name}.seen.no, {name}.seen.none : i1, i64")
        with text.block(f"{name}.given:2 = scf.if {name}.seen#0 -> ({POINTER}, i64)"):
            text.write(f"scf.yield {address}, {name}.seen#1 : {POINTER}, i64")
        with text.otherwise():
            self._loops(run, fits, addresses)
            apart = self.plan.rows[load.result].row * pointee(load.pointer).bytes
            text.write(f"{name}.apart = arith.constant {apart} : i64")
            text.write(f"scf.yield {slot(text, self.plan, load.result)}, {name}.apart : {POINTER}, i64")

    def _loops(self, run: Run, fits: str, addresses: Mapping[Value, str]) -> None:
        """The loops in two versions, unless there is no condition."""
        if not fits:
            self._version(run, run.fused, True, addresses)
            return
        with self.text.block(f"scf.if {fits}"):
            if run.guards:
                self.text.write("// No offset wraps: accesses are of consecutive elements.")
            if run.fused:
                self.text.write("// No access overlaps what an earlier one has yet to touch: one loop.")
            self._version(run, run.fused, True, addresses)
        with self.text.otherwise():
            if run.fused:
                self.text.write("// Each store in a loop of its own; values are kept in between.")
            if run.guards:
                self.text.write("// Offsets may wrap: elements are accessed one by one.")
            self._version(run, False, False, addresses)

    def _version(
        self, run: Run, fused: bool, guarded: bool, addresses: Mapping[Value, str], whole: bool = False
    ) -> None:
        loops = [(run.first, run.last)] if fused else [(n, n) for n in range(run.first, run.last + 1)]
        emitter = self.emitter(width_of(self.plan.loops[run.first].size))
        for pair in loops:
            writer = LoopWriter(self.text, self.plan, self.scalars, emitter, pair, addresses, guarded, whole)
            writer.write(self.effects)

    # --- conditions ---------------------------------------------------------------------------------------------------

    def _conditions(self, run: Run, firsts: Elements) -> list[str]:
        """Names of the i1 values that must all hold for the loops to be fused and their accesses to be vectors."""
        found = [self._no_wrap(value, firsts, f"{self.text.name(value)}.run_{run.first}") for value in run.guards]
        if run.fused:
            for number, (earlier, later) in enumerate(run.pairs or ()):
                found.append(self._apart(earlier, later, firsts, f"%run_{run.first}.pair_{number}"))
        return found

    def _no_wrap(self, value: Value, firsts: Elements, name: str) -> str:
        """Whether no two elements of a contiguous group of a block of i32 have a wrap between them."""
        if self.plan.is_contiguous(value):
            first = firsts.get(value)
            self.text.write(f"{name}.limit = arith.constant {2**31 - size_of(value)} : i32")
            self.text.write(f"{name}.fits = arith.cmpi sle, {first}, {name}.limit : i32")
            return f"{name}.fits"
        bound = _Bounds(self.text, self.plan, self.scalars, name).get(value)
        # Room for the rounding of the bound itself.
        limit = self.scalars.emitter.constant(2.0**31 - 2.0**11, f64, f"{name}.limit")
        return self.scalars.emitter.compare(ops.CmpLe, bound, limit, f64, f"{name}.fits")

    def _apart(self, earlier: Value, later: Value, firsts: Elements, name: str) -> str:
        """Whether no chunk of the block at `later` overlaps a further chunk of the block at `earlier`.

        With elements of one size that is so unless `later` starts within the block at `earlier`, but not at its
        start; with different sizes the blocks must be disjoint.
        """
        high, back = (pointee(v).bytes * size_of(v) for v in (earlier, later))
        low = 0 if high == back else -back
        operands = f"{firsts.get(earlier)}, {firsts.get(later)}, {name}.low, {name}.high"
        self.text.functions["memory.apart"] = apart_function()
        self.text.write(f"{name}.low = arith.constant {low} : i64")
        self.text.write(f"{name}.high = arith.constant {high} : i64")
        self.text.write(f"{name} = func.call @memory.apart({operands}) : ({POINTER}, {POINTER}, i64, i64) -> i1")
        return name

    def _all(self, conditions: Sequence[str]) -> str:
        result = conditions[0]
        for number, condition in enumerate(conditions[1:]):
            name = f"{conditions[0]}.and_{number}"
            self.text.write(f"{name} = arith.andi {result}, {condition} : i1")
            result = name
        return result


class _Bounds:
    """Upper bounds, as f64, of the absolute values that the elements of an i32 block would have if nothing wrapped.

    A block whose bound is below 2**31 has not wrapped anywhere. It is made of ranges and scalars by +, - and *."""

    def __init__(self, text: Text, plan: Plan, scalars: ScalarWriter, stem: str) -> None:
        self.text, self.plan, self.scalars, self.stem = text, plan, scalars, stem
        self._names: dict[Value, str] = {}

    def get(self, value: Value) -> str:
        """The name of the bound."""
        value = self.plan.resolve(value)[0]
        needed: list[Op] = []
        pending, seen = [value], {value}
        while pending:
            needed.append(op := self.plan.definitions[pending.pop()])
            operands = {self.plan.resolve(v)[0] for v in op.operands if shape_of(v.type)} - seen
            pending += operands
            seen |= operands
        for op in sorted(needed, key=lambda op: self.plan.order[op]):
            self._names[op.result] = self._bound(op)
        return self._names[value]

    def _bound(self, op: Op) -> str:
        writer, name = self.scalars.emitter, f"{self.stem}.bound_{len(self._names)}"
        operands = [self._names[self.plan.resolve(v)[0]] for v in op.operands if shape_of(v.type)]
        match op:
            case ops.Arange():
                return writer.constant(float(max(abs(op.start), abs(op.end - 1))), f64, name)
            case ops.Splat() | ops.Reshape():
                wide = writer.convert("arith.sitofp", self.scalars.name(op.source), i32, f64, f"{name}.signed")
                return writer.apply("math.absf", (wide,), f64, name)
        return writer.apply("arith.mulf" if isinstance(op, ops.Mul) else "arith.addf", operands, f64, name)
