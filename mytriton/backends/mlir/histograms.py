"""Histograms in emitted gpu-dialect MLIR: counted in workgroup memory."""

from __future__ import annotations

from contextlib import ExitStack

from mytriton.backends.mlir.context import MAX_UNROLL_SINGLE, Context
from mytriton.backends.mlir.names import number
from mytriton.backends.mlir.picks import Picks
from mytriton.backends.mlir.places import THREAD, Positions
from mytriton.backends.mlir.shared import Shared
from mytriton.ir import ops
from mytriton.layout.layout import Layout
from mytriton.layout.routes import round_elements
from mytriton.types import i32


class Histograms:
    """Writes `Histogram`; `picks` reads what was counted."""

    def __init__(self, context: Context, positions: Positions, shared: Shared, picks: Picks) -> None:
        self._context, self._text, self._layouts = context, context.text, context.layouts
        self._positions, self._shared, self._picks = positions, shared, picks

    def emit(self, op: ops.Histogram) -> None:
        """The operation."""
        size = round_elements(self._layouts[op.result], i32.bytes)
        if op.bins == size:
            self._round(op, size, "")
            return
        with self._context.loop(op.bins // size, "%round", most=0):
            # Needless before the first round, unless some still read from an earlier exchange.
            self._text.write("gpu.barrier")
            self._round(op, size, "%round")

    def _round(self, op: ops.Histogram, size: int, turn: str) -> None:
        """Zeros first; then all count the elements they hold, wait, and read."""
        have = self._layouts[op.source]
        self._clear(f"%slot{number(op.result)}", size, 1 << len(have.lane + have.warp))
        self._text.write("gpu.barrier")
        with self._context.each(have.registers, most=MAX_UNROLL_SINGLE):
            self._count(op, have, size, turn)
        self._text.write("gpu.barrier")
        self._picks.receive(op, self._layouts[op.result], size, turn)

    def _clear(self, slot: str, size: int, threads: int) -> None:
        text = self._text
        zero, end, step = text.i32(0), text.i32(size), text.i32(threads)
        with text.region(f"scf.for {slot} = {THREAD} to {end} step {step} : i32", arguments=(slot,)):
            self._shared.put(slot, zero, i32)

    def _count(self, op: ops.Histogram, have: Layout, size: int, turn: str) -> None:
        """One element, if it is one of this round's numbers."""
        text, context = self._text, self._context
        at, stem = context.ref(op.source), text.fresh(f"%to{number(op.result)}")
        if turn:
            text.write(f"{stem}_first = arith.muli {turn}, {text.i32(size)} : i32")
            text.write(f"{stem} = arith.subi {at}, {stem}_first : i32")
            at = stem
        text.write(f"{stem}_now = arith.cmpi ult, {at}, {text.i32(size)} : i32")
        conditions = [f"{stem}_now", self._positions.owner(have)]
        conditions += [context.ref(op.mask)] if op.mask is not None else []
        one = text.i32(1)
        with ExitStack() as regions:
            for condition in filter(None, conditions):
                regions.enter_context(text.region(f"scf.if {condition}"))
            self._shared.add(at, one, f"{stem}_before")
