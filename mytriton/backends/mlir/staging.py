"""Asynchronous copies to workgroup memory in emitted gpu-dialect MLIR, as operations of the nvvm dialect."""

from __future__ import annotations

from contextlib import nullcontext

from mytriton.backends.mlir.context import Context
from mytriton.backends.mlir.names import number
from mytriton.backends.mlir.places import THREAD, Positions, place
from mytriton.backends.mlir.shared import POINTER, Shared
from mytriton.backends.mlir.text import ZERO
from mytriton.ir.core import Value
from mytriton.layout import routes
from mytriton.layout.dots import mapped
from mytriton.layout.staging import AsyncCommit, AsyncCopy, AsyncWait, Staged
from mytriton.types import ScalarType, element_of


class Staging:
    """Writes copies, and what waits for them. `bases` are the slots at which blocks begin that are in a ring: names of
    i32, which count elements."""

    def __init__(self, context: Context, positions: Positions, shared: Shared) -> None:
        self._context, self._text, self._positions, self._shared = context, context.text, positions, shared
        self.bases: dict[Value, str] = {}

    def emit(self, op: AsyncCommit | AsyncWait | Staged) -> None:
        """What is about copies under way."""
        match op:
            case AsyncCommit():
                self._text.write("nvvm.cp.async.commit.group")
            case AsyncWait():
                self._text.write(f"nvvm.cp.async.wait.group {op.pending}")
                self._text.write("gpu.barrier")
            case Staged():
                size, name = _element(op).bytes, self._text.fresh(f"%staged{number(op.result)}")
                self.bases[op.result] = self._place(op, size, name)

    def copy(self, op: AsyncCopy) -> None:
        """The copies of the registers at hand."""
        context, text = self._context, self._text
        layout, element, together = context.layouts[op.pointer], _element(op), context.width or 1
        places = tuple(mask * element.bytes for mask in op.place)
        chunk = together.bit_length() - 1
        thread, register = mapped(places, layout.lane + layout.warp), mapped(places, layout.register)
        inside, trip = register[:chunk], register[chunk:]
        owner = self._positions.owner(layout)
        with text.region(f"scf.if {owner}") if owner else nullcontext():
            base = self._place(op, 1, text.fresh("%shared_ring"))
            sources = [(THREAD, thread), *([("%r", trip)] if context.trips > 1 else [])]
            at = place(text, sources, text.fresh("%shared_place")) or ZERO
            seen = 0
            for _, masks in sources:
                for mask in masks:
                    seen |= mask
            for first in range(0, together, op.width):
                self._one(op, first, (at, seen, routes.number(inside, first)), base, op.width * element.bytes)

    def _one(self, op: AsyncCopy, first: int, at: tuple[str, int, int], base: str, moved: int) -> None:
        """One copy, from register `first` of the chunk. Its place is a number, some bits of which may be flipped by
        another, behind the base."""
        text, (place_, seen, other) = self._text, at
        if other:
            name = text.fresh("%shared_flipped")
            text.write(f"{name} = arith.{'xori' if other & seen else 'addi'} {place_}, {text.i32(other)} : i32")
            place_ = name
        to, whole, distance = text.fresh("%shared_to"), self._shared.pointer(), text.fresh("%shared_at")
        text.write(f"{distance} = arith.addi {place_}, {base} : i32")
        text.write(f"{to} = llvm.getelementptr {whole}[{distance}] : ({POINTER}, i32) -> {POINTER}, i8")
        source = self._context.ref(op.pointer)
        width = self._context.width
        if width is not None:
            pointers, source = source, text.fresh("%shared_from")
            text.write(f"{source} = llvm.extractelement {pointers}[{text.i32(first)} : i32] : "
                       f"vector<{width}x!llvm.ptr<1>>")  # fmt: skip
        size, types = "", f"{POINTER}, !llvm.ptr<1>"
        if op.mask is not None:
            mask, bytes_ = self._context.ref(op.mask), text.fresh("%shared_bytes")
            if width is not None:
                masks, mask = mask, text.fresh("%shared_mask")
                text.write(f"{mask} = vector.extract {masks}[{first}] : i1 from vector<{width}xi1>")
            text.write(f"{bytes_} = arith.select {mask}, {text.i32(moved)}, {text.i32(0)} : i32")
            size, types = f", {bytes_}", f"{types}, i32"
        cache = "cg" if moved == 16 else "ca"
        text.write(f"nvvm.cp.async.shared.global {to}, {source}, {moved}, cache = {cache}{size} : {types}")

    def _place(self, op: AsyncCopy | Staged, unit: int, name: str) -> str:
        """Where the buffer of an operation begins, in units of some bytes."""
        text, ring = self._text, op.ring
        stage, turn = self._context.ref(op.stage), text.fresh(f"{name}_turn")
        text.write(f"{turn} = arith.muli {stage}, {text.i32(ring.bytes // unit)} : i32")
        text.write(f"{name} = arith.addi {turn}, {text.i32(ring.start // unit)} : i32")
        return name


def _element(op: AsyncCopy | Staged) -> ScalarType:
    element = element_of(op.ring.type)
    assert isinstance(element, ScalarType)
    return element
