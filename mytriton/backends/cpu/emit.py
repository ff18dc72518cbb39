"""Tile SSA as MLIR for the host: one function that runs a range of the programs of a grid.

    @KERNEL.programs(arguments..., scratch, first, last, extents of the grid)

Scalars are computed once a program; blocks in strip-mined loops over vectors (`loops.py`), cut where the order of
memory effects demands it (`plan.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from mytriton.backends.cpu.elementwise import elementwise
from mytriton.backends.cpu.library import apart_function
from mytriton.backends.cpu.loops import ANNOTATION, LoopWriter, size_of, width_of
from mytriton.backends.cpu.plan import Plan, Run, make_plan
from mytriton.backends.cpu.scalars import ScalarWriter
from mytriton.backends.cpu.writer import POINTER, Text, dense, symbol, type_name
from mytriton.backends.mlir.ops import ElementEmitter
from mytriton.ir import ops
from mytriton.ir.core import Func, Op, Value, definitions
from mytriton.stage import Line
from mytriton.target import Target
from mytriton.types import PointerType, element_of, i32, shape_of

#: What the emitter takes besides unary, binary and comparison operations.
SUPPORTED = (
    ops.Constant,
    ops.Cast,
    ops.Splat,
    ops.ProgramId,
    ops.NumPrograms,
    ops.Arange,
    ops.AddPtr,
    ops.Load,
    ops.Store,
    ops.Unary,
    ops.Binary,
    ops.Fma,
    ops.Compare,
    ops.Select,
)

#: The arguments after the kernel's own.
EXTRA = (
    f"%scratch.base: {POINTER} {{llvm.noalias}}",
    "%programs.first: i64",
    "%programs.last: i64",
    "%grid.x: i64",
    "%grid.y: i64",
    "%grid.z: i64",
)


@dataclass(frozen=True, slots=True)
class Emitted:
    """`lines` are the module; a call of its function needs `scratch_bytes`; the largest block has `elements`."""

    lines: list[Line]
    scratch_bytes: int
    elements: int


def emit(func: Func, target: Target) -> Emitted:
    """The function as a module."""
    emitter = _Emitter(func, target)
    sizes = [size_of(op) for op in emitter.plan.block_ops if isinstance(op, (ops.Load, ops.Store))]
    return Emitted(emitter.run(), emitter.plan.scratch_bytes, max(sizes, default=1))


class _Emitter:
    def __init__(self, func: Func, target: Target) -> None:
        self.func = func
        self.plan: Plan = make_plan(func)
        self.text = Text(func)
        self._definitions = definitions(func)
        self._first: dict[Value, str] = {}
        self._fusion = target.enable_fp_fusion
        self._scalars = ScalarWriter(func, self.text, self._fusion)
        self._loops: dict[int, LoopWriter] = {}

    def run(self) -> list[Line]:
        """All lines."""
        text = self.text
        params = [self._scalars.parameter(p) for p in self.func.params]
        text.write(ANNOTATION)
        with text.block(f"func.func {symbol(self.func.name)}({', '.join([*params, *EXTRA])})"):
            sizes = {size_of(op) for op in self.plan.block_ops if isinstance(op, (ops.Load, ops.Store))}
            widths = {width_of(size) for size in sizes}
            for size in sorted({0, *sizes, *widths}) if sizes else ():
                text.write(f"%size.{size} = arith.constant {size} : i32")
            for width in sorted(widths):
                vector = type_name(i32, width)
                text.write(f"%lanes.{width} = arith.constant {dense(range(width))} : {vector}")
            self._scalars.write_parameters(self.func.params)
            text.write("%programs.step = arith.constant 1 : i64")
            head = "scf.for %program.i = %programs.first to %programs.last step %programs.step : i64"
            with text.block(head, end="} {loop_annotation = #as_written}"):
                for step in self.plan.steps:
                    if isinstance(step, Run):
                        self._run(step)
                    elif not isinstance(step, ops.Constant):
                        self._scalars.write(step)
            text.at(None)
            text.write("func.return")
        for function in text.functions.values():
            for line in function:
                text.write(line)
        return text.lines

    # --- runs of loops ------------------------------------------------------------------------------------------------

    def _run(self, run: Run) -> None:
        accesses = [
            op
            for op in self.plan.block_ops
            if isinstance(op, (ops.Load, ops.Store)) and run.first <= self.plan.loop_of[op] <= run.last
        ]
        addresses = self._first_elements([op.pointer for op in accesses if op.pointer in self.plan.contiguous])
        conditions = self._conditions(run)
        if not conditions:
            self._version(run, run.fused, True, addresses)
            return
        with self.text.block(f"scf.if {self._all(conditions)}"):
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

    def _version(self, run: Run, fused: bool, guarded: bool, addresses: dict[Value, str]) -> None:
        if fused:
            self._writer(run.first).loop(run.first, run.last, guarded, addresses)
        else:
            for number in range(run.first, run.last + 1):
                self._writer(number).loop(number, number, guarded, addresses)

    def _writer(self, loop: int) -> LoopWriter:
        """The writer for the block size of a loop."""
        size = next(
            size_of(op)
            for op in self.plan.block_ops
            if self.plan.loop_of[op] == loop and isinstance(op, (ops.Load, ops.Store))
        )
        if size not in self._loops:
            vector = ElementEmitter(self.func, self.text.write, width=width_of(size), fusion=self._fusion)
            self._loops[size] = LoopWriter(self.text, self.plan, self._definitions, vector, size)
        return self._loops[size]

    def _conditions(self, run: Run) -> list[str]:
        """Names of the i1 values that must all hold for the loops to be fused and their accesses to be vectors."""
        found = []
        if run.guards:
            firsts = self._first_elements(run.guards)
            for value in run.guards:
                name = f"{self.text.name(value)}.run_{run.first}"
                limit = 2**31 - prod(shape_of(value.type))
                self.text.write(f"{name}.limit = arith.constant {limit} : i32")
                self.text.write(f"{name}.fits = arith.cmpi sle, {firsts[value]}, {name}.limit : i32")
                found.append(f"{name}.fits")
        if run.fused:
            for number, (earlier, later) in enumerate(run.pairs or ()):
                found.append(self._apart(earlier, later, f"%run_{run.first}.pair_{number}"))
        return found

    def _apart(self, earlier: Value, later: Value, name: str) -> str:
        """Whether no chunk of the block at `later` overlaps a further chunk of the block at `earlier`.

        With elements of one size that is so unless `later` starts within the block at `earlier`, but not at its
        start; with different sizes the blocks must be disjoint.
        """
        high, back = (_pointee_bytes(v) * prod(shape_of(v.type)) for v in (earlier, later))
        low = 0 if high == back else -back
        firsts = self._first_elements([earlier, later])
        self.text.functions["memory.apart"] = apart_function()
        self.text.write(f"{name}.low = arith.constant {low} : i64")
        self.text.write(f"{name}.high = arith.constant {high} : i64")
        operands = f"{firsts[earlier]}, {firsts[later]}, {name}.low, {name}.high"
        self.text.write(f"{name} = func.call @memory.apart({operands}) : ({POINTER}, {POINTER}, i64, i64) -> i1")
        return name

    def _all(self, conditions: Sequence[str]) -> str:
        result = conditions[0]
        for number, condition in enumerate(conditions[1:]):
            name = f"{conditions[0]}.and_{number}"
            self.text.write(f"{name} = arith.andi {result}, {condition} : i1")
            result = name
        return result

    def _first_elements(self, values: Sequence[Value]) -> dict[Value, str]:
        """Names of the first elements of blocks that are contiguous or uniform, computed as scalars."""
        wanted = {v for v in values if v not in self._first}
        chosen = []
        for op in reversed(self.plan.block_ops):
            if op.results and op.result in wanted:
                chosen.append(op)
                wanted.update(v for v in _kept_operands(op, self._definitions) if v not in self._first)
        for op in reversed(chosen):
            self.text.at(op)
            self._first[op.result] = self._first_element(op)
        return {v: self._first[v] for v in values}

    def _first_element(self, op: Op) -> str:
        if isinstance(op, ops.Splat):
            return self._scalars.name(op.source)
        result = f"{self.text.name(op.result)}.first"
        if isinstance(op, ops.Arange):
            self.text.write(f"{result} = arith.constant {op.start} : i32")
            return result
        operands = _kept_operands(op, self._definitions)
        if len(operands) < len(op.operands):
            return self._first[operands[0]]
        elementwise(self.text, self._scalars.emitter, op, result, [self._first[v] for v in operands])
        return result


def _kept_operands(op: Op, made_by: Mapping[Value, Op]) -> list[Value]:
    """The operands that matter to the first element: a range from 0 adds nothing to it."""
    if not isinstance(op, (ops.Add, ops.AddPtr)):
        return list(op.operands)
    ranges = [v for v in op.operands if isinstance(made_by[v], ops.Arange) and made_by[v].attributes["start"] == 0]
    return [v for v in op.operands if v not in ranges]


def _pointee_bytes(pointer: Value) -> int:
    element = element_of(pointer.type)
    assert isinstance(element, PointerType)
    return element.element.bytes
