"""`Pick` and `Gather` in emitted gpu-dialect MLIR: through shuffles within a warp, or through workgroup memory."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from mytriton.backends.mlir.context import MAX_UNROLL_SINGLE, Context, View
from mytriton.backends.mlir.names import number
from mytriton.backends.mlir.places import THREAD, Positions, place
from mytriton.backends.mlir.rounds import exchanged_bytes
from mytriton.backends.mlir.shared import Shared
from mytriton.backends.mlir.shuffle import shuffle
from mytriton.backends.mlir.writer import Writer
from mytriton.ir import ops
from mytriton.ir.core import Value
from mytriton.layout.layout import Layout
from mytriton.layout.program import Exchanged
from mytriton.layout.routes import gathered_unit, picked, picked_flip, round_elements, route
from mytriton.types import PointerType, ScalarType, element_of, i64


class Picks:
    """Writes them; `finish` takes the name of what is one register of the result."""

    def __init__(
        self,
        context: Context,
        positions: Positions,
        shared: Shared,
        finish: Callable[[Exchanged, str], None],
    ) -> None:
        self._context, self._text, self._layouts = context, context.text, context.layouts
        self._positions, self._shared, self._finish = positions, shared, finish

    def emit(self, op: ops.Pick | ops.Gather) -> None:
        """The operation."""
        have, want = self._layouts[op.source], picked(op, self._layouts[op.result])
        if isinstance(op, ops.Pick) and op.through != "shared":
            self._within_warps(op, have, want)
            return
        size = round_elements(have, exchanged_bytes(op))
        if have.size == size:
            self._round(op, have, want, size, "")
            return
        with self._context.loop(have.size // size, "%round", most=0):
            # Needless before the first round, unless some still read from an earlier exchange.
            self._text.write("gpu.barrier")
            self._round(op, have, want, size, "%round")

    def _within_warps(self, op: ops.Pick, have: Layout, want: Layout) -> None:
        way, text = route(have, want, picked_flip(op)), self._text
        assert way is not None, "the layout step would have gone through shared memory"
        with self._each(want):
            several = self._context.trips > 1
            registers = [("%r", way.register)] if several else []
            register = place(text, registers, text.fresh(f"%src{number(op.result)}"))
            found = self._source(op, self._flipped(register, way.flip_register))
            if not way.stays:
                more = [("%r", way.lane_by_register)] if several else []
                thread = (THREAD, way.lane_by_lane + way.lane_by_warp)
                lane = place(text, [thread, *more], text.fresh(f"%lane{number(op.result)}"))
                writer = Writer(text.write)
                writer.begin(f"%v{number(op.result)}_lane")
                found = shuffle(
                    writer, "idx", found, self._flipped(lane, way.flip_lane), text.i32(32), _element(op.source)
                )
            self._finish(op, found)

    def _round(self, op: ops.Pick | ops.Gather, have: Layout, want: Layout, size: int, turn: str) -> None:
        """All write what has its turn, wait, and read what is there."""
        text, element = self._text, _element(op.source)
        with self._each(have):
            found = self._source(op, self._context.chunk)
            at = self.position(have, f"%to{number(op.result)}")
            owner = self._positions.owner(have)
            slot, now = self.slot(at, size, turn)
            with self._under(now), self._under(owner):
                self._shared.put(slot, found, element)
        text.write("gpu.barrier")
        self.receive(op, want, size, turn)

    def receive(self, op: Exchanged, want: Layout, size: int, turn: str) -> None:
        """What has its turn, from the positions `want` in the buffer."""
        text, stem = self._text, number(op.result)
        with self._each(want):
            along = self._along(op) if isinstance(op, ops.Gather) else ""
            flip = picked_flip(op) if isinstance(op, ops.Pick) else 0
            at = self.position(want, f"%{'place' if along else 'from'}{stem}", flip)
            if along:
                at, first = text.fresh(f"%from{stem}"), at
                text.write(f"{at} = arith.addi {first}, {along} : i32")
            slot, now = self.slot(at, size, turn)
            with self._under(now):
                self._finish(op, self._shared.get(slot, _element(op.result), text.fresh(f"%v{stem}")))

    def _along(self, op: ops.Gather) -> str:
        """How far along the axis what is wanted is."""
        index, unit = self._context.ref(op.index), gathered_unit(op)
        if unit == 1:
            return index
        name = self._text.fresh(f"%along{number(op.result)}")
        self._text.write(f"{name} = arith.shli {index}, {self._text.i32(unit.bit_length() - 1)} : i32")
        return name

    def position(self, layout: Layout, name: str, flip: int = 0) -> str:
        """The position of the register at hand, with some bits flipped."""
        trip = [("%r", layout.register)] if self._context.trips > 1 else []
        found = place(self._text, [(THREAD, layout.lane + layout.warp), *trip], self._text.fresh(name))
        return self._flipped(found, flip)

    def slot(self, at: str, size: int, turn: str) -> tuple[str, str]:
        """The slot of a position, and whether its turn is now; "" if it always is."""
        if not turn:
            return at, ""
        text = self._text
        slot, its, now = (text.fresh(f"{at}_{what}") for what in ("slot", "turn", "now"))
        text.write(f"{slot} = arith.andi {at}, {text.i32(size - 1)} : i32")
        text.write(f"{its} = arith.shrui {at}, {text.i32(size.bit_length() - 1)} : i32")
        text.write(f"{now} = arith.cmpi eq, {its}, {turn} : i32")
        return slot, now

    def _flipped(self, name: str | None, flip: int) -> str:
        if name is None or not flip:
            return name or self._text.i32(flip)
        flipped = self._text.fresh(f"{name.replace('%r', '%register')}_flipped")
        self._text.write(f"{flipped} = arith.xori {name}, {self._text.i32(flip)} : i32")
        return flipped

    def _under(self, condition: str | None) -> AbstractContextManager[None]:
        return self._text.region(f"scf.if {condition}") if condition else nullcontext()

    def _each(self, layout: Layout) -> AbstractContextManager[None]:
        return self._context.each(layout.registers, most=MAX_UNROLL_SINGLE)

    def _source(self, op: ops.Pick | ops.Gather, register: str) -> str:
        with self._context.through(View(register)):
            value = self._context.ref(op.source)
        if isinstance(element_of(op.source.type), PointerType):
            return self._context.form.bits(value, self._text.fresh(f"%v{number(op.result)}_bits"))
        return value


def _element(value: Value) -> ScalarType:
    """The type of what is exchanged: of a pointer, its bits."""
    element = element_of(value.type)
    return element if isinstance(element, ScalarType) else i64
