"""Reductions and conversions in emitted gpu-dialect MLIR: across the registers of a thread, through shuffles within a
warp, and through workgroup memory.

They work on single elements, in loops over registers; LLVM unrolls the loops and keeps the elements in registers.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from itertools import count

from mytriton.backends.mlir.assembly import Assembly
from mytriton.backends.mlir.context import MAX_UNROLL_SINGLE, Context, View
from mytriton.backends.mlir.dots import Dots
from mytriton.backends.mlir.histograms import Histograms
from mytriton.backends.mlir.homes import partial_results
from mytriton.backends.mlir.names import number
from mytriton.backends.mlir.ops import ElementEmitter
from mytriton.backends.mlir.picks import Picks
from mytriton.backends.mlir.places import THREAD, Positions, onto, place
from mytriton.backends.mlir.rounds import Plan, Side, plan
from mytriton.backends.mlir.shared import Shared
from mytriton.backends.mlir.shuffle import shuffle
from mytriton.backends.mlir.staging import Staging
from mytriton.backends.mlir.writer import Writer
from mytriton.diagnostics import InternalError
from mytriton.ir import ops
from mytriton.ir.core import Value
from mytriton.ir.printer import Printer
from mytriton.layout import routes
from mytriton.layout.ops import Convert, Finish, PartialReduce
from mytriton.layout.program import Exchanged
from mytriton.layout.routes import BitMap
from mytriton.layout.staging import AsyncCommit, AsyncWait, Staged
from mytriton.types import PointerType, ScalarType, element_of, i64


class Exchanges:
    """Writes all exchanges; `emitter` writes operations on elements."""

    def __init__(
        self,
        context: Context,
        printer: Printer,
        positions: Positions,
        shared: Shared,
        emitter: Callable[[int | None], ElementEmitter],
    ) -> None:
        self._context, self._text, self._layouts = context, context.text, context.layouts
        self._printer, self._positions, self._shared, self._emitter = printer, positions, shared, emitter
        self.staging = Staging(context, positions, shared)
        self._dots = Dots(context, printer, positions, shared, emitter, self.staging.bases)
        self.functions = self._dots.functions
        self._assembly = Assembly(context, self._keep)
        self._picks = Picks(context, positions, shared, self._finish)
        self._histograms = Histograms(context, positions, shared, self._picks)

    def emit(self, op: Exchanged) -> None:
        """The operation; its result is where its home says."""
        if isinstance(op, ops.InlineAsm):
            self._text.at(op.span, self._printer.ids(op))
            self._assembly.emit(op)
            return
        if isinstance(op, ops.Dot):
            self._dots.emit(op)
            return
        if isinstance(op, Finish):
            self._text.at(op.span, self._printer.ids(op))
            self._dots.finish(op)
            return
        self._text.at(op.span, self._printer.ids(op))
        match op:
            case AsyncCommit() | AsyncWait() | Staged():
                self.staging.emit(op)
            case ops.Pick() | ops.Gather():
                self._picks.emit(op)
            case ops.Histogram():
                self._histograms.emit(op)
            case Convert(through="shared") | PartialReduce(across="warps"):
                self._exchange(op)
            case Convert():
                self._convert(op)
            case PartialReduce(across="registers"):
                self._reduce_registers(op)
            case PartialReduce():
                self._reduce_lanes(op)

    # --- reductions ---------------------------------------------------------------------------------------------------

    def _reduce_registers(self, op: PartialReduce) -> None:
        """Register bit after register bit: each pass combines the halves of what the one before has left, so that an
        element goes through as few operations as there are passes."""
        layout, context = self._layouts[op.source], self._context
        combined = routes.reduction(layout, op.axis, op.bits, op.across).combined
        left = layout.registers
        partial = partial_results(op, left // 2)
        element = _element(op)
        for step, bit in enumerate(reversed(combined)):
            left //= 2
            with self._each(left):
                low = self._spread(op, bit, left)
                high = self._sum(low, bit, left)
                if step == 0:
                    pair = [self._source(op, register) for register in (low, high)]
                else:
                    names = [self._text.fresh(f"%v{number(op.result)}_{half}") for half in ("low", "high")]
                    pair = [
                        context.form.fetch_run(partial, element, register, None, name)
                        for register, name in zip((low, high), names, strict=True)
                    ]
                total = self._combine(op, pair[0], pair[1], bit == combined[0])
                if bit == combined[0]:
                    self._finish(op, total)
                else:
                    context.form.keep(partial, element, context.chunk, total)

    def _spread(self, op: PartialReduce, bit: int, left: int) -> str:
        """The register whose number is that at hand with a 0 put in at `bit`."""
        if left == 1:
            return self._context.chunk
        entries = [1 << i + (1 << i >= bit) for i in range(left.bit_length() - 1)]
        name = self._text.fresh(f"%low{number(op.result)}")
        return place(self._text, [("%r", entries)], name) or self._context.chunk

    def _sum(self, register: str, bit: int, left: int) -> str:
        constant = self._text.i32(bit)
        if left == 1:
            return constant
        name = self._text.fresh(f"{register}_plus{bit}")
        self._text.write(f"{name} = arith.addi {register}, {constant} : i32")
        return name

    def _reduce_lanes(self, op: PartialReduce) -> None:
        """By butterflies: after each, twice as many lanes hold the same."""
        layout, context = self._layouts[op.source], self._context
        combined = routes.reduction(layout, op.axis, op.bits, op.across).combined
        with self._each(layout.registers):
            total = context.ref(op.source)
            self._text.at(op.span, self._printer.ids(op))
            for lane in reversed(combined):
                other = self._shuffled(op, "xor", total, self._text.i32(lane), f"_lane{lane}")
                total = self._combine(op, total, other, lane == combined[0])
            self._finish(op, total)

    def _combine(self, op: PartialReduce, lhs: str, rhs: str, last: bool) -> str:
        operation = ops.COMBINE[op.combine](lhs=op.source, rhs=op.source, results=op.results)
        name = self._name(op) if last else self._numbered(f"%v{number(op.result)}_part")
        return self._emitter(None).emit(operation, name, [lhs, rhs])

    def _numbered(self, stem: str) -> str:
        return next(name for i in count() if not self._text.defined(name := f"{stem}{i}"))

    # --- conversions --------------------------------------------------------------------------------------------------

    def _convert(self, op: Convert) -> None:
        have, want = (self._layouts[v] for v in (op.source, op.result))
        way, context = routes.route(have, want), self._context
        if way is None:
            raise InternalError(f"no way inside a warp leads from {have} to {want}")
        with self._each(want.registers):
            registers = [("%r", way.register)] if context.trips > 1 else []
            name = self._text.fresh(f"%src{number(op.result)}")
            found = self._source(op, place(self._text, registers, name) or self._text.i32(0))
            if not way.stays:
                thread = (THREAD, way.lane_by_lane + way.lane_by_warp)
                more = [("%r", way.lane_by_register)] if context.trips > 1 else []
                lane = place(self._text, [thread, *more], self._text.fresh(f"%lane{number(op.result)}"))
                found = self._shuffled(op, "idx", found, lane or self._text.i32(0), "_lane")
            self._finish(op, found)

    # --- workgroup memory ---------------------------------------------------------------------------------------------

    def _exchange(self, op: Convert | PartialReduce) -> None:
        """All write, wait, and read; in several rounds where the buffer does not hold everything."""
        way = plan(op, self._layouts)
        assert way is not None, "only what goes through workgroup memory has a plan"
        if way.rounds == 1:
            self._round(op, way)
            return
        with self._context.loop(way.rounds, "%round"):
            # Needless before the first round, unless some still read from an earlier exchange.
            self._text.write("gpu.barrier")
            self._round(op, way)

    def _round(self, op: Convert | PartialReduce, way: Plan) -> None:
        element = _element(op)

        def send(register: str, slot: str) -> None:
            owner = self._positions.owner(self._layouts[op.source])  # of copies, one is written
            with self._text.region(f"scf.if {owner}") if owner else nullcontext():
                self._shared.put(slot, self._source(op, register), element)

        def receive(register: str, slot: str) -> None:
            if isinstance(op, Convert):
                self._finish(op, self._shared.get(slot, element, self._name(op)), register)
                return
            slots = [self._offset(slot, offset) for offset in way.offsets]
            found = [self._shared.get(s, element, self._numbered(f"%v{number(op.result)}_warp")) for s in slots]
            while (half := len(found) // 2) > 0:
                pairs = zip(found[:half], found[half:], strict=True)
                found = [self._combine(op, a, b, half == 1) for a, b in pairs]
            self._finish(op, found[0], register)

        self._registers(op, way.write, "to", send)
        self._text.write("gpu.barrier")
        self._registers(op, way.read, "from", receive)

    def _registers(self, op: Convert | PartialReduce, side: Side, stem: str, use: Callable[[str, str], None]) -> None:
        """For each register that takes part in the round, call `use` with its number and its slot in the buffer."""
        text, context, stem = self._text, self._context, f"%{stem}{number(op.result)}"
        with self._each(1 << len(side.free)):
            trip = [("%r", side.free)] if context.trips > 1 else []
            turn = [("%round", side.fixed)] if side.fixed else []
            register = place(text, [*trip, *turn], text.fresh(f"{stem}_register")) or text.i32(0)
            sources = [(register, side.register)] if trip or turn else []
            slot = self._slot(side, sources, text.fresh(stem))
            if not any(side.turn):
                use(register, slot)
                return
            mine = place(text, [(THREAD, side.turn)], text.fresh(f"{stem}_turn"))
            text.write(f"{stem}_round = arith.andi %round, {text.i32(sum(side.turn))} : i32")
            text.write(f"{stem}_now = arith.cmpi eq, {mine}, {stem}_round : i32")
            with text.region(f"scf.if {stem}_now"):
                use(register, slot)

    def _slot(self, side: Side, sources: list[tuple[str, BitMap]], name: str) -> str:
        """Where an element is in the buffer. Bits of the register that flip none of the thread's are added at last: the
        slots of neighbours are seen to be neighbours then."""
        flipped = any(mask & held for _, masks in sources for mask in masks for held in side.thread)
        if flipped and (base := place(self._text, [(THREAD, side.thread)], self._text.fresh(f"{name}_thread"))):
            return onto(self._text, base, side.thread, sources, name)
        return place(self._text, [(THREAD, side.thread), *sources], name) or self._text.i32(0)

    def _each(self, registers: int) -> AbstractContextManager[None]:
        return self._context.each(registers, most=MAX_UNROLL_SINGLE)

    # --- elements -----------------------------------------------------------------------------------------------------

    def _source(self, op: Convert | PartialReduce, register: str) -> str:
        """One register of the operand."""
        with self._context.through(View(register)):
            value = self._context.ref(op.source)
        if isinstance(element_of(op.source.type), PointerType):
            return self._context.form.bits(value, self._numbered(f"%v{number(op.result)}_bits"))
        return value

    def _finish(self, op: Exchanged, name: str, register: str | None = None) -> None:
        """One register of the result is there: that at hand, unless another is named."""
        if isinstance(element_of(op.result.type), PointerType):
            name = self._context.form.from_bits(name, self._numbered(f"%v{number(op.result)}_pointer"))
        self._keep(op.result, name, register or self._context.chunk)

    def _keep(self, value: Value, name: str, register: str) -> None:
        """A register of a result, where it lives."""
        home = self._context.homes.get(value)
        if home is not None and home.array is not None:
            self._context.form.keep(home, element_of(value.type), register, name)
        else:
            self._context.bind(value, name)

    def _shuffled(self, op: Convert | PartialReduce, mode: str, value: str, lane: str, suffix: str) -> str:
        w = Writer(self._text.write)
        w.begin(f"%v{number(op.result)}{suffix}")
        return shuffle(w, mode, value, lane, self._text.i32(32), _element(op))

    def _offset(self, slot: str, offset: int) -> str:
        if not offset:
            return slot
        name, constant = self._text.fresh(f"{slot}_plus{offset}"), self._text.i32(offset)
        self._text.write(f"{name} = arith.addi {slot}, {constant} : i32")
        return name

    def _name(self, op: Convert | PartialReduce) -> str:
        return self._text.fresh(f"%v{number(op.result)}")


def _element(op: Convert | PartialReduce) -> ScalarType:
    """The type of what is exchanged: of a pointer, its bits."""
    element = element_of(op.source.type)
    return element if isinstance(element, ScalarType) else i64
