"""A laid-out program as gpu-dialect MLIR.

Each thread runs the text. A segment of one register (or one chunk) a thread is straight lines; one of more is an
`scf.for` over them, and what later segments need of it is kept in a per-thread array, which LLVM turns back into
registers when it unrolls the loop. There is no `loc(...)`: MLIR then gives every operation the line it stands at.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

from mytriton.analysis.axis import axis_info
from mytriton.analysis.ranges import value_ranges
from mytriton.backends.mlir.memory import Context, MemoryForm
from mytriton.backends.mlir.memref import MemrefForm
from mytriton.backends.mlir.names import entry_name, parameter_names, result_name
from mytriton.backends.mlir.ops import ElementEmitter
from mytriton.backends.mlir.places import Positions, write_indices
from mytriton.backends.mlir.pointer import PointerForm
from mytriton.backends.mlir.text import Text
from mytriton.ir import ops
from mytriton.ir.core import Func, Op, ParamInfo, Value, definitions
from mytriton.ir.printer import Printer
from mytriton.layout.layout import replicated
from mytriton.layout.program import LaidOut, Segment
from mytriton.stage import Line
from mytriton.target import Target
from mytriton.types import BlockType, ScalarType, is_float, is_pointer

#: Loops up to this many trips are unrolled in full, so that the arrays between them become registers; left to itself
#: LLVM does not when the body has branches, and the arrays then stay in (slow) local memory.
MAX_UNROLL = 64
_UNROLL = " {loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}"


def cheap(func: Func) -> dict[Value, int]:
    """Block values that take at most `_CHEAP` integer operations from scalars and the thread's position, with their
    number: offsets, the masks made of them, addresses. Keeping these would cost more registers than it saves time."""
    costs: dict[Value, int] = {}
    for op in func.walk():
        if isinstance(op, (ops.Splat, ops.Arange)):
            costs[op.result] = 0
        elif isinstance(op, _CHEAP_OPERATIONS) and not any(is_float(v.type) for v in op.operands):
            blocks = [v for v in op.operands if isinstance(v.type, BlockType)]
            cost = 1 + sum(costs.get(v, _CHEAP) for v in blocks)
            if blocks and cost <= _CHEAP:
                costs[op.result] = cost
    return costs


_CHEAP = 4
_CHEAP_OPERATIONS = (ops.Add, ops.Sub, ops.Mul, ops.And, ops.Or, ops.Compare, ops.AddPtr)


def emit(laid_out: LaidOut, target: Target) -> list[Line]:
    """The module: one `gpu.module @kernels` with one kernel, in the boundary form `target.abi`."""
    return _Emitter(laid_out, target).module()


class _Emitter:
    def __init__(self, laid_out: LaidOut, target: Target) -> None:
        self.laid_out, self.target, self.func = laid_out, target, laid_out.func
        self.text = Text()
        self.printer = Printer(self.func)
        names = parameter_names(self.func.params)
        self.context = Context(self.text, names, definitions(self.func))
        self.positions = Positions(self.text)
        self.form = self._form()
        self._emitters: dict[int | None, ElementEmitter] = {}
        self._stores = 0
        self._cheap = cheap(self.func)
        self._kept = self._arrays()

    def _form(self) -> MemoryForm:
        if self.target.abi == "memref":
            return MemrefForm(self.context, self.func)
        axes = axis_info(self.func, value_ranges(self.func, self.target))
        return PointerForm(self.context, axes, attributes=self.target.form == "tuned")

    # --- the frame ----------------------------------------------------------------------------------------------------

    def module(self) -> list[Line]:
        text, none = self.text, ParamInfo()
        params = ", ".join(
            f"{self.context.names[p]}: "
            + (self.form.parameter(p, self.func.info.get(p.id, none)) if is_pointer(p.type) else _name(p))
            for p in self.func.params
        )
        threads = f"nvvm.reqntid = array<i32: {self.target.threads}>"
        attributes = f" attributes {{{threads}}}" if self.target.form == "tuned" else ""
        with text.region("module attributes {gpu.container_module}"), text.region("gpu.module @kernels"):
            text.at(self.func.span)
            with text.region(f"gpu.func @{entry_name(self.func.name)}({params}) kernel{attributes}"):
                self._body()
                text.at(None)
                text.write("gpu.return")
        return text.lines

    def _body(self) -> None:
        write_indices(self.text, self.laid_out)
        self.text.at(None)
        for segment in self.laid_out.segments:
            if segment.layout is not None and any(isinstance(op, ops.Arange) for op in segment.ops):
                self.positions.write_thread(segment.layout)
        for segment in self.laid_out.segments:
            self.context.width = self._width(segment)
            for value in segment.escaping:
                if value in self._kept:
                    self.form.array(self._kept[value], value.type, self._trips(segment))
        for segment in self.laid_out.segments:
            self._segment(segment)

    # --- segments -----------------------------------------------------------------------------------------------------

    def _width(self, segment: Segment) -> int | None:
        """Elements handled together as a vector; None for one at a time."""
        vector = segment.layout.vector if segment.layout is not None else 1
        return vector if vector > 1 and self.target.abi == "pointer" else None

    def _trips(self, segment: Segment) -> int:
        return segment.registers // (self._width(segment) or 1)

    def _arrays(self) -> dict[Value, str]:
        """The array of each value that one loop makes and another needs, unless it is as cheap to make again."""
        return {
            value: f"%array{result_name(self.context.definitions[value]).lstrip('%v')}"
            for segment in self.laid_out.segments
            for value in segment.escaping
            if self._trips(segment) > 1 and value not in self._cheap
        }

    def _segment(self, segment: Segment) -> None:
        text, trips = self.text, self._trips(segment)
        text.at(None)
        if segment.barrier:
            text.write("gpu.barrier")
        self.context.width, self.context.trips = self._width(segment), trips
        with ExitStack() as stack:
            if trips > 1:
                zero, end, one = text.i32(0), text.i32(trips), text.i32(1)
                head = f"scf.for %r = {zero} to {end} step {one} : i32"
                stack.enter_context(text.region(head, _UNROLL if trips <= MAX_UNROLL else ""))
            made = {value for op in segment.ops for value in op.results}
            for op in segment.ops:
                for value in op.operands:
                    self._fetch(value, made, segment)
                text.at(op.span, self.printer.ids(op))
                self._op(op, segment)
            for value in segment.escaping:
                if value in self._kept:
                    text.at(None, (value.id,))
                    self.form.keep(self._kept[value], value)

    def _fetch(self, value: Value, made: set[Value], segment: Segment) -> None:
        """Make a value that an earlier loop made available in this trip: from its array, or once more."""
        if segment.layout is None or value in made:
            return
        if value in self._kept:
            made.add(value)
            self.text.at(None, (value.id,))
            self.form.fetch(self._kept[value], value)
        elif value in self._cheap and self._trips(segment) > 1:
            made.add(value)
            op = self.context.definitions[value]
            for operand in op.operands:
                self._fetch(operand, made, segment)
            self.text.at(op.span, self.printer.ids(op))
            self._op(op, segment)

    # --- operations ---------------------------------------------------------------------------------------------------

    def _op(self, op: Op, segment: Segment) -> None:
        if isinstance(op, (ops.Constant, ops.Splat)):
            return
        if isinstance(op, ops.Store):
            self._store(op)
            return
        names, result = self.context.names, result_name(op)
        if isinstance(op, ops.ProgramId):
            names[op.result] = f"%block_id_{'xyz'[op.axis]}"
        elif isinstance(op, ops.NumPrograms):
            names[op.result] = f"%grid_dim_{'xyz'[op.axis]}"
        elif isinstance(op, ops.Arange):
            names[op.result] = self._arange(op, segment, result)
        else:
            names[op.result] = result
            self._value(op, result)

    def _value(self, op: Op, result: str) -> None:
        pointers = any(is_pointer(v.type) for v in op.operands)
        if isinstance(op, ops.AddPtr):
            self.form.add(op, result)
        elif isinstance(op, ops.Load):
            self.form.load(op, result)
        elif isinstance(op, ops.Select) and pointers:
            self.form.select(op, result)
        elif isinstance(op, ops.Compare) and pointers:
            self.form.compare(op, result)
        else:
            self._emitter().emit(op, result, [self.context.ref(v) for v in op.operands])

    def _emitter(self) -> ElementEmitter:
        width = self.context.width
        if width not in self._emitters:
            fusion = self.target.enable_fp_fusion
            self._emitters[width] = ElementEmitter(self.func, self.text.write, width=width, fusion=fusion, gpu=True)
        return self._emitters[width]

    def _arange(self, op: ops.Arange, segment: Segment, result: str) -> str:
        layout, width = segment.layout, self.context.width
        assert layout is not None, "a range is a block"
        place: Callable[..., str] = self.positions.first if width is None else self.positions.vector
        position = place(layout, width or 1, self._trips(segment) > 1)
        if op.start == 0:
            return position
        type_ = ScalarType("i32", "int", 32)
        return self._emitter().apply(
            "arith.addi", (position, self.text.constant(op.start, type_, width)), type_, result
        )

    def _store(self, op: ops.Store) -> None:
        layout = self.laid_out.layouts[op.pointer] if isinstance(op.pointer.type, BlockType) else None
        owner = self.positions.owner(layout or replicated(self.laid_out.num_warps))
        self.form.store(op, self._stores, owner)
        self._stores += 1


def _name(param: Value) -> str:
    assert isinstance(param.type, ScalarType), "a parameter is a scalar or a pointer"
    return param.type.signless
