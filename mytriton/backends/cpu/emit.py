"""Tile SSA as MLIR for the host: one function that runs a range of the programs of a grid.

    @KERNEL.programs(arguments..., scratch, first, last, extents of the grid)

Scalars are computed once a program; blocks in strip-mined loops over vectors (`loops.py`), cut where the order of
memory effects demands it (`planner.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from mytriton.analysis.runs import size_of
from mytriton.backends.cpu.atomics import atomic_block, atomic_function
from mytriton.backends.cpu.control import ControlWriter
from mytriton.backends.cpu.dots import dot_function, product
from mytriton.backends.cpu.effects import EffectWriter
from mytriton.backends.cpu.feedback import Feedback
from mytriton.backends.cpu.lookups import counting, gather_function, gathering, histogram_function
from mytriton.backends.cpu.picks import pick_function, picking
from mytriton.backends.cpu.places import scratch_address, slot
from mytriton.backends.cpu.plan import WHOLE, Plan, Run, element_bytes
from mytriton.backends.cpu.planner import make_plan
from mytriton.backends.cpu.reduce import reduce_function, reduction
from mytriton.backends.cpu.runs import RunWriter
from mytriton.backends.cpu.scalars import ScalarWriter
from mytriton.backends.cpu.writer import POINTER, Text, dense, symbol, type_name, width_of
from mytriton.backends.mlir.debug_locations import CALLS
from mytriton.backends.mlir.inherited import inherited
from mytriton.diagnostics import InternalError
from mytriton.ir import ops
from mytriton.ir.core import Block, Func, Op
from mytriton.records import dataclass
from mytriton.stage import Line
from mytriton.target import Target
from mytriton.types import i32, shape_of

#: What the emitter takes besides unary, binary and comparison operations.
SUPPORTED = (
    ops.Constant,
    ops.Cast,
    ops.Bitcast,
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
    ops.For,
    ops.While,
    ops.If,
    ops.Yield,
    ops.Reshape,
    ops.Broadcast,
    ops.Transpose,
    ops.Reduce,
    *WHOLE,
    ops.Assert,
    ops.Print,
    ops.Barrier,
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

#: What `#as_written` stands for. Loops over chunks are vectors already; unrolling them as well made them no faster, and
#: a kernel of 20 loops four times as slow to compile. In the loop over programs LLVM's vectorizer (22.1,
#: `vputils::isSingleScalar`) takes time exponential in the length of a chain whose values are used twice. `scf.while`
#: loses the annotation in canonicalization; a function with one is marked `noimplicitfloat`, which keeps the vectorizer
#: out of it.
ANNOTATION = "#as_written = #llvm.loop_annotation<vectorize = <disable = true>, unroll = <disable = true>>"


#: Loops that only load and keep a row stay loops: a call of `memcpy` for a row that begins within a cache line took
#: twice as long.
NO_COPIES = "no-builtin-memcpy"

#: For guessing whether a launch is worth several threads.
_USUAL_TRIPS = 16


@dataclass(frozen=True, slots=True)
class Emitted:
    """`lines` are the module; a call of its function needs `scratch_bytes`, and handles about so many `elements`."""

    lines: list[Line]
    scratch_bytes: int
    elements: int
    feedback: Feedback


def emit(func: Func, target: Target) -> Emitted:
    """The function as a module."""
    emitter = _Emitter(func, target)
    lines = inherited(emitter.run(), func.span)
    return Emitted(lines, emitter.plan.scratch_bytes, _work(emitter.plan, func.body), emitter.feedback())


def _function(op: Op, plan: Plan) -> tuple[str, Callable[[], list[str]]]:
    """The function for an operation on whole blocks: its symbol, and what writes it."""
    match op:
        case ops.Dot():
            return (multiplied := product(op, plan)).name, partial(dot_function, multiplied)
        case ops.Pick():
            return (taken := picking(op)).name, partial(pick_function, taken)
        case ops.Gather():
            return (found := gathering(op)).name, partial(gather_function, found)
        case ops.Histogram():
            return (counted := counting(op)).name, partial(histogram_function, counted)
        case ops.Atomic():
            return (updated := atomic_block(op)).name, partial(atomic_function, updated)
    raise InternalError(f"no function does `{op.opcode}`")


def _work(plan: Plan, block: Block) -> int:
    """About how many elements a program handles."""
    most = 1
    for step in plan.steps[block]:
        if isinstance(step, Run):
            most = max(most, plan.loops[step.first].size)
        elif step.regions:
            trips = 1 if isinstance(step, ops.If) else _USUAL_TRIPS
            most = max(most, trips * max(_work(plan, region) for region in step.regions))
    return most


class _Emitter:
    def __init__(self, func: Func, target: Target) -> None:
        self.func = func
        self.plan: Plan = make_plan(func)
        self.text = Text(func)
        self._scalars = ScalarWriter(func, self.text, self.plan, target.enable_fp_fusion)
        self._effects = EffectWriter(func, self.text, self.plan, self._scalars)
        self._runs = RunWriter(func, self.text, self.plan, self._scalars, self._effects, target.enable_fp_fusion)
        self._control = ControlWriter(self.text, self._scalars, self._steps)

    def run(self) -> list[Line]:
        """All lines."""
        text = self.text
        params = [*map(self._scalars.parameter, self.func.params), *EXTRA, *self._effects.parameters]
        text.write(ANNOTATION)
        name = symbol(self.func.name)
        attributes = [CALLS, NO_COPIES]
        if any(isinstance(op, ops.While) for op in self.func.walk()):
            attributes.append("noimplicitfloat")
        if self._effects.assertions:
            inner = symbol(self.func.name, "checked")
            self._effects.entry(name, inner, params)
            name = inner
            attributes.append("noinline")
        listed = ", ".join(f'"{attribute}"' for attribute in attributes)
        with text.block(f"func.func {name}({', '.join(params)}) attributes {{passthrough = [{listed}]}}"):
            self._shared_constants()
            self._scalars.write_parameters(self.func.params)
            text.write("%programs.step = arith.constant 1 : i64")
            head = "scf.for %program.i = %programs.first to %programs.last step %programs.step : i64"
            with text.block(head, end="} {loop_annotation = #as_written}"):
                self._steps(self.func.body)
            text.at(None)
            if self._runs.whole.streams:
                text.write("llvm.fence seq_cst")
            text.write("func.return")
        for function in text.functions.values():
            for line in function:
                text.write(line)
        return text.lines

    def feedback(self) -> Feedback:
        """What the function, once written, tells Python."""
        slots = self.plan.slots
        prints = tuple(
            (op, tuple(slots[v] if shape_of(v.type) else slots[op] + 8 * n for n, v in enumerate(op.values)))
            for op in self._effects.prints
        )
        return Feedback(tuple(self._effects.assertions), prints)

    def _shared_constants(self) -> None:
        sizes = {loop.size for loop in self.plan.loops}
        widths = {width_of(size) for size in sizes}
        for size in sorted({0, *sizes, *widths}) if sizes else ():
            self.text.write(f"%size.{size} = arith.constant {size} : i32")
        for width in sorted(widths):
            vector = type_name(i32, width)
            self.text.write(f"%lanes.{width} = arith.constant {dense(range(width))} : {vector}")

    def _steps(self, block: Block) -> None:
        """The steps of a block. Recursion follows the nesting of regions."""
        for step in self.plan.steps[block]:
            if isinstance(step, Run):
                self._runs.run(step)
            elif step.regions:
                self._control.write(step)
            elif isinstance(step, ops.Assert):
                self._effects.assert_scalar(step)
            elif isinstance(step, ops.Print):
                self._effects.print(step)
            elif isinstance(step, ops.Reduce):
                self._reduce(step)
            elif isinstance(step, WHOLE):
                self._whole(step, *_function(step, self.plan))
            elif not isinstance(step, ops.Constant):
                self._scalars.write(step)

    def _reduce(self, op: ops.Reduce) -> None:
        text, scalar, what = self.text, not shape_of(op.result.type), reduction(op)
        text.at(op)
        source = slot(text, self.plan, op.source)
        if what.extent == 1:
            self._scalars.reload(source, op.result, text.name(op.result))
            return
        stem = text.name(op.result)
        partial = scratch_address(text, f"{stem}.partial", self.plan.slots[op])
        at = self.plan.slots[op] + what.partial_bytes
        target = scratch_address(text, f"{stem}.target", at) if scalar else slot(text, self.plan, op.result)
        text.functions.setdefault(what.name, reduce_function(what))
        types = f"({POINTER}, {POINTER}, {POINTER}) -> ()"
        text.write(f"func.call @{what.name}({source}, {partial}, {target}) : {types}")
        if scalar:
            self._scalars.reload(target, op.result, stem)

    def _whole(self, op: Op, name: str, function: Callable[[], list[str]]) -> None:
        """An operation on whole blocks: a call of a function on their memory."""
        text = self.text
        text.at(op)
        if name not in text.functions:
            text.functions[name] = function()
        places = [slot(text, self.plan, v) for v in (*op.operands, op.result)]
        if isinstance(op, ops.Dot):
            self._begin(op, *places[2:])
            del places[2]
        types = [POINTER] * len(places)
        if isinstance(op, ops.Dot) and op.lhs in self.plan.in_place:
            given = f"{text.name(op.lhs)}.given"
            places, types = [f"{given}#0", *places[1:], f"{given}#1"], [*types, "i64"]
        text.write(f"func.call @{name}({', '.join(places)}) : ({', '.join(types)}) -> ()")

    def _begin(self, op: ops.Dot, acc: str, sums: str) -> None:
        """Put what a product is added to where its sums are, unless it is there."""
        if self.plan.slots[op.acc] != self.plan.slots[op.result]:
            rows, types = self.plan.rows.get(op.result), f"({POINTER}, {POINTER}, i64) -> ()"
            size = element_bytes(op.acc) * (rows.elements(shape_of(op.acc.type)) if rows else size_of(op.acc))
            self.text.write(f"{sums}.bytes = arith.constant {size} : i64")
            self.text.write(f'"llvm.intr.memcpy"({sums}, {acc}, {sums}.bytes) <{{isVolatile = false}}> : {types}')
