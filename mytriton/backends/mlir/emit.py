"""A laid-out program as gpu-dialect MLIR.

Each thread runs the text. A segment of one register (or one chunk) a thread is straight lines; one of more is an
`scf.for` over them, and what other items need of it is kept in a per-thread array, which LLVM turns back into
registers when it unrolls the loop. There is no `loc(...)`: MLIR then gives every operation the line it stands at.
"""

from __future__ import annotations

from collections.abc import Sequence

from mytriton.analysis.ranges import value_ranges
from mytriton.backends.mlir.atomics import write_atomic
from mytriton.backends.mlir.context import Context, View
from mytriton.backends.mlir.control import Control
from mytriton.backends.mlir.debug_locations import CALLS
from mytriton.backends.mlir.effects import write_assert, write_print
from mytriton.backends.mlir.exchange import Exchanges
from mytriton.backends.mlir.homes import Homes, Widths
from mytriton.backends.mlir.inherited import inherited
from mytriton.backends.mlir.memory import MemoryForm
from mytriton.backends.mlir.memref import MemrefForm
from mytriton.backends.mlir.names import entry_name, number, parameter_names
from mytriton.backends.mlir.ops import ElementEmitter
from mytriton.backends.mlir.places import AXES, Positions, place, write_indices
from mytriton.backends.mlir.pointer import PointerForm
from mytriton.backends.mlir.shared import Shared
from mytriton.backends.mlir.text import Text
from mytriton.backends.nvidia.shared import alignment, shared_bytes
from mytriton.ir import ops
from mytriton.ir.core import Op, ParamInfo, Value
from mytriton.ir.printer import Printer
from mytriton.layout import routes
from mytriton.layout.live import programs_together
from mytriton.layout.orders import Orders
from mytriton.layout.program import Exchange, Item, LaidOut, Nested, Segment
from mytriton.layout.staging import AsyncCopy
from mytriton.layout.warpgroup import by_warpgroups
from mytriton.stage import Line
from mytriton.target import Target
from mytriton.types import PointerType, ScalarType, is_pointer


def emit(laid_out: LaidOut, target: Target) -> list[Line]:
    """The module: one `gpu.module @kernels` with one kernel, in the boundary form `target.abi`."""
    return inherited(_Emitter(laid_out, target).module(), laid_out.func.span)


class _Emitter:
    def __init__(self, laid_out: LaidOut, target: Target) -> None:
        self.laid_out, self.target, self.func = laid_out, target, laid_out.func
        self.text = Text()
        self.printer = Printer(self.func)
        self.widths = Widths(self.func, target)
        self.homes = Homes(laid_out, self.widths)
        names = parameter_names(self.func.params)
        self.context = Context(self.text, names, self.func.definitions, laid_out.layouts, self.homes)
        self.context.write_op = self._op
        self.ranges = value_ranges(self.func, target)
        self.form = self.context.form = self._form()
        self.positions = Positions(self.context)
        self.shared = Shared(self.text, shared_bytes(laid_out), alignment(laid_out))
        self._emitters: dict[int | None, ElementEmitter] = {}
        self._stores = 0
        self.control = Control(self.context, self.printer, self._items, self.ranges)
        self.exchanges = Exchanges(self.context, self.printer, self.positions, self.shared, self._emitter)

    def _form(self) -> MemoryForm:
        if self.target.abi == "memref":
            return MemrefForm(self.context, self.func)
        return PointerForm(self.context, Orders(self.func, self.ranges), attributes=self.target.form == "tuned")

    # --- the frame ----------------------------------------------------------------------------------------------------

    def module(self) -> list[Line]:
        text, none = self.text, ParamInfo()
        names = self.context.names
        params = ", ".join(
            f"{names[p]}: "
            + (self.form.parameter(p, self.func.info.get(p.id, none)) if is_pointer(p.type) else _name(p))
            for p in self.func.params
        )
        threads = f"nvvm.reqntid = array<i32: {self.target.threads}>"
        together = programs_together(self.laid_out, self.target)
        threads += f", nvvm.minctasm = {together} : i32" if together > 1 else ""
        said = [threads] if self.target.form == "tuned" else []
        if any(isinstance(op, ops.Dot) and by_warpgroups(op) for op in self.func.walk()):
            said.append(f'passthrough = ["{CALLS}"]')
        attributes = f" attributes {{{', '.join(said)}}}" if said else ""
        head = f"gpu.func @{entry_name(self.func.name)}({params}){self.shared.attribution} kernel{attributes}"
        with text.region("module attributes {gpu.container_module}"), text.region("gpu.module @kernels"):
            text.at(self.func.span)
            self.shared.declare()
            with text.region(head, arguments=tuple(names.values())):
                self._body()
                text.at(None)
                text.write("gpu.return")
            self.exchanges.functions()
        return text.lines

    def _body(self) -> None:
        write_indices(self.text, self.laid_out)
        self.shared.begin()
        if any(isinstance(op, AsyncCopy) for op in self.func.walk()):
            self.shared.pointer()
        self.text.at(None)
        layouts = self.laid_out.layouts
        for segment in self.laid_out.segments:
            for op in segment.ops:
                if isinstance(op, ops.Arange):
                    self.positions.write_thread(layouts[op.result])
                elif isinstance(op, ops.Print):
                    self.positions.write_thread(layouts[op.values[0]])
        for home, element in self.homes.arrays.items():
            self.form.array(home, element)
        self._items(self.laid_out.items)

    def _items(self, items: Sequence[Item]) -> None:
        for item in items:
            self.text.at(None)
            if item.barrier:
                self.text.write("gpu.barrier")
            match item:
                case Segment():
                    self._segment(item)
                case Exchange():
                    self.exchanges.emit(item.op)
                case Nested():
                    self.control.emit(item)

    def _segment(self, segment: Segment) -> None:
        width, homes = self.widths.of_segment(segment), self.homes
        trips = segment.registers // (width or 1)
        # In a loop, what is cheap is made where it is used, as in later loops.
        members = [op for op in segment.ops if not (trips > 1 and homes.cheap.issuperset(op.results) and op.results)]
        members = [op for op in members if not homes.is_moved(op)]
        kept = [v for v in segment.escaping if v in homes and any(v in op.results for op in members)]
        if not members:
            return
        with self.context.each(trips, width):
            for op in members:
                self._op(op)
            for value in kept:
                self.context.keep(value)

    # --- operations ---------------------------------------------------------------------------------------------------

    def _op(self, op: Op) -> None:
        """One operation, for the registers at hand."""
        if isinstance(op, (ops.Constant, ops.Splat)):
            return
        if not isinstance(op, ops.Broadcast):
            self.context.prepare(op)
        self.text.at(op.span, self.printer.ids(op))
        match op:
            case ops.Store():
                self._store(op)
            case AsyncCopy():
                self.exchanges.staging.copy(op)
            case ops.Print():
                write_print(self.context, self.positions, op)
            case ops.Assert():
                write_assert(self.context, self.positions, op, self.func.name)
            case _:
                self.context.bind(op.result, self._value(op))

    def _value(self, op: Op) -> str:
        """The name of the result."""
        pointers, ref = any(is_pointer(v.type) for v in op.operands), self.context.ref
        match op:
            case ops.ProgramId():
                return f"%block_id_{AXES[op.axis]}"
            case ops.NumPrograms():
                return f"%grid_dim_{AXES[op.axis]}"
            case ops.Arange():
                return self._arange(op)
            case ops.Reshape() | ops.Transpose():  # the elements stay where they are
                return ref(op.source)
            case ops.Broadcast():
                return self._broadcast(op)
            case ops.Bitcast(to=PointerType()) if pointers:
                return ref(op.source)
        result = self.context.result(op)
        match op:
            case ops.Atomic():
                write_atomic(
                    self.context, op, result, self.positions.owner(self.laid_out.layouts[op.pointer]), self.target
                )
                return result
            case ops.AddPtr():
                return self.form.add(op, result)
            case ops.Bitcast() if pointers or isinstance(op.to, PointerType):
                self.form.convert(op, result)
            case ops.Load():
                self.form.load(op, result)
            case ops.Select() if pointers:
                return self.form.select(op, result)
            case ops.Compare() if pointers:
                self.form.compare(op, result)
            case _:
                self._emitter(self.context.width).emit(op, result, [ref(v) for v in op.operands])
        return result

    def _emitter(self, width: int | None) -> ElementEmitter:
        if width not in self._emitters:
            # sm_89 has the instruction from PTX 8.1 on, which is newer than what is asked for.
            fusion, float8 = self.target.enable_fp_fusion, self.target.generation >= 90
            self._emitters[width] = ElementEmitter(
                self.func, self.text.write, width=width, fusion=fusion, gpu=True, float8=float8
            )
        return self._emitters[width]

    def _arange(self, op: ops.Arange) -> str:
        layout, width = self.laid_out.layouts[op.result], self.context.width
        position = self.positions.first(layout) if width is None else self.positions.vector(layout, width)
        if op.start == 0:
            return position
        type_ = ScalarType("i32", "int", 32)
        operands = (position, self.text.constant(op.start, type_, width))
        return self._emitter(width).apply("arith.addi", operands, type_, self.context.result(op))

    def _broadcast(self, op: ops.Broadcast) -> str:
        """The operand's registers that the registers at hand repeat."""
        layouts, context = self.laid_out.layouts, self.context
        bits = routes.broadcast_registers(layouts[op.source], layouts[op.result])
        view, chunk = context.view, (context.width or 1).bit_length() - 1
        if view is None:
            index, high, low = "%r", bits[chunk:] if context.trips > 1 else (), bits[:chunk]
        else:
            index, high, low = view.index, bits, tuple(routes.number(bits, mask) for mask in view.low)
        name = self.text.fresh(f"%src{number(op.result)}")
        read = place(self.text, [(index, high)], name) or self.text.i32(0)
        with context.through(View(read, low)):
            return context.ref(op.source)

    def _store(self, op: ops.Store) -> None:
        owner = self.positions.owner(self.laid_out.layouts[op.pointer])
        self.form.store(op, self._stores, owner)
        self._stores += 1


def _name(param: Value) -> str:
    assert isinstance(param.type, ScalarType), "a parameter is a scalar or a pointer"
    return param.type.signless
