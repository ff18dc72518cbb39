"""Products of blocks in emitted gpu-dialect MLIR: both factors through workgroup memory, one step of the sum after the
other in every thread. The sums are in a per-thread array, which LLVM keeps in registers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack

from mytriton.backends.mlir.context import MAX_UNROLL_SINGLE, Context
from mytriton.backends.mlir.names import number
from mytriton.backends.mlir.ops import ElementEmitter
from mytriton.backends.mlir.places import THREAD, Positions, place
from mytriton.backends.mlir.shared import Shared
from mytriton.backends.mlir.tensor import Side, TensorCores
from mytriton.backends.mlir.text import ZERO
from mytriton.backends.mlir.warpgroups import Warpgroups
from mytriton.ir import ops
from mytriton.ir.core import Value
from mytriton.ir.printer import Printer
from mytriton.layout.dots import DotPlan, dot_plan, is_staged, mapped, puts
from mytriton.layout.ops import Finish
from mytriton.layout.routes import BitMap
from mytriton.layout.warpgroup import by_warpgroups
from mytriton.types import ScalarType, element_of


class Dots:
    """Writes `Dot`; `emitter` writes operations on elements."""

    def __init__(
        self,
        context: Context,
        printer: Printer,
        positions: Positions,
        shared: Shared,
        emitter: Callable[[int | None], ElementEmitter],
        staged: Mapping[Value, str],
    ) -> None:
        self._context, self._text, self._layouts = context, context.text, context.layouts
        self._printer, self._positions, self._shared, self._emitter = printer, positions, shared, emitter
        self._staged = staged
        self._tensor_cores = TensorCores(context, shared)
        self._warpgroups = Warpgroups(context, shared)
        self.functions = self._warpgroups.functions

    def emit(self, op: ops.Dot) -> None:
        """The operation; its result is in its array."""
        plan = dot_plan(op, self._layouts)
        self._text.at(op.span, self._printer.ids(op))
        with self._each(op.result):
            self._keep(op, self._context.ref(op.acc))
        if plan.rounds == 1:
            self._round(op, plan)
            return
        with self._context.loop(plan.rounds, "%round", most=0):
            # Needless before the first round, unless some still read from an earlier exchange.
            self._text.write("gpu.barrier")
            self._round(op, plan)

    def finish(self, op: Finish) -> None:
        """The result is in the array of what was begun."""
        self._warpgroups.wait(op.source)

    def _round(self, op: ops.Dot, plan: DotPlan) -> None:
        sides = self._sides(op, plan)
        for side in sides:
            if side.which in puts(op):
                self._put(side, plan)
        if by_warpgroups(op) and puts(op):
            self._warpgroups.fence()
        if puts(op):
            self._text.write("gpu.barrier")
        if by_warpgroups(op):
            self._warpgroups.emit(op, plan, sides)
            return
        if op.instruction:
            self._tensor_cores.emit(op, plan, sides)
            return
        if plan.depth == 1:
            self._step(op, plan, sides, self._text.i32(0))
            return
        with self._context.loop(plan.depth, "%step", most=0):
            self._step(op, plan, sides, "%step")

    def _sides(self, op: ops.Dot, plan: DotPlan) -> list[Side]:
        """Both factors, with the slot at which each begins in the buffer."""
        sides = []
        for which, value, factor in (("lhs", op.lhs, plan.lhs), ("rhs", op.rhs, plan.rhs)):
            base = self._staged[value] if is_staged(op, which) else self._text.i32(factor.start)
            sides.append(Side(which, value, factor, base, f"%{which}{number(op.result)}"))
        return sides

    def _put(self, side: Side, plan: DotPlan) -> None:
        """A factor's elements to the buffer, as far as it is their turn; of copies, one."""
        factor, value, stem = side.factor, side.value, side.stem
        text, layout = self._text, self._layouts[value]
        with self._each(value):
            found = self._context.ref(value)
            slot = self._slot(side, self._place(value, factor.slot, text.fresh(f"{stem}_to")), f"{stem}_slot")
            conditions = [owner] if (owner := self._positions.owner(layout)) else []
            if plan.rounds > 1:
                turn = self._place(value, factor.round, text.fresh(f"{stem}_turn")) or text.i32(0)
                now = text.fresh(f"{stem}_now")
                text.write(f"{now} = arith.cmpi eq, {turn}, %round : i32")
                conditions.append(now)
            with ExitStack() as regions:
                for condition in conditions:
                    regions.enter_context(text.region(f"scf.if {condition}"))
                self._shared.put(slot, found, _element(value))

    def _step(self, op: ops.Dot, plan: DotPlan, sides: Sequence[Side], step: str) -> None:
        """Add the products of one column and row."""
        text, stem = self._text, f"%v{number(op.result)}"
        source, total = _element(op.lhs), _element(op.result)
        with self._each(op.result):
            pair: list[str] = []
            for side in sides:
                factor, which = side.factor, side.which
                sources = [(step, tuple(factor.stride << i for i in range(plan.depth.bit_length() - 1)))]
                first = self._place(op.result, factor.needed, text.fresh(f"{stem}_{which}_from"), sources)
                slot = self._slot(side, first, f"{stem}_{which}_slot")
                pair.append(self._cast(self._shared.get(slot, source, text.fresh(f"{stem}_{which}")), source, total))
            # Not as an operand, which would stand for the result from here on: it is about to change.
            home, name = self._context.homes[op.result], text.fresh(f"{stem}_before")
            before = self._context.form.fetch_run(home, total, self._context.chunk, None, name)
            self._keep(op, self._added(total, pair, before, text.fresh(f"{stem}_sum")))

    def _place(self, value: Value, bits: BitMap, name: str, more: list[tuple[str, BitMap]] | None = None) -> str | None:
        """What a bit map of positions makes of the one at hand, plus what other numbers add; None if that is 0."""
        layout = self._layouts[value]
        trip = [("%r", mapped(bits, layout.register))] if self._context.trips > 1 else []
        return place(self._text, [(THREAD, mapped(bits, layout.lane + layout.warp)), *trip, *(more or [])], name)

    def _slot(self, side: Side, place: str | None, stem: str) -> str:
        """The slot at a place of a factor."""
        if side.base == ZERO or place is None:
            return place or side.base
        name = self._text.fresh(stem)
        self._text.write(f"{name} = arith.addi {place}, {side.base} : i32")
        return name

    def _cast(self, name: str, source: ScalarType, to: ScalarType) -> str:
        if source == to:
            return name
        cast = ops.Cast(source=Value("", source), to=to, results=(Value("", to),))
        return self._emitter(None).emit(cast, self._text.fresh(f"{name}_wide"), [name])

    def _added(self, total: ScalarType, pair: list[str], acc: str, name: str) -> str:
        """The product of a pair plus `acc`: floats are rounded once, integers wrap."""
        v, emit = Value("", total), self._emitter(None).emit
        if total.kind == "float":
            return emit(ops.Fma(x=v, y=v, z=v, results=(v,)), name, [*pair, acc])
        product = emit(ops.Mul(lhs=v, rhs=v, results=(v,)), self._text.fresh(f"{name}_product"), pair)
        return emit(ops.Add(lhs=v, rhs=v, results=(v,)), name, [acc, product])

    def _each(self, value: Value) -> AbstractContextManager[None]:
        return self._context.each(self._layouts[value].registers, most=MAX_UNROLL_SINGLE)

    def _keep(self, op: ops.Dot, name: str) -> None:
        home = self._context.homes[op.result]
        self._context.form.keep(home, _element(op.result), self._context.chunk, name)


def _element(value: Value) -> ScalarType:
    element = element_of(value.type)
    assert isinstance(element, ScalarType)
    return element
