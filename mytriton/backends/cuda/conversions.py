"""Conversions of layouts through shared memory: as many neighbours at once as both a thread and the buffer hold."""

from __future__ import annotations

from mytriton.backends.cuda.positions import bits, owner, placed, plus
from mytriton.backends.cuda.section import Section
from mytriton.ir.core import Value
from mytriton.layout.buffer import Rounds
from mytriton.layout.dots import mapped
from mytriton.layout.layout import Layout
from mytriton.layout.ops import Convert
from mytriton.layout.routes import BitMap
from mytriton.layout.swizzle import PIECE_BYTES, conversion


class Conversions(Section):
    """Prints one round: all put what they have, wait for each other, and take what they want."""

    def __call__(self, op: Convert, way: Rounds, buffer: str) -> None:
        """Through the elements at the pointer `buffer`."""
        have, want = (self._facts.laid_out.layouts[v] for v in (op.source, op.result))
        size = way.bytes // way.size
        slot = conversion(have, want, size, way.size)
        self._move(op.source, have, way, slot, buffer, writes=True)
        self._writer.line("__syncthreads();")
        self._move(op.result, want, way, slot, buffer, writes=False)

    def _move(self, value: Value, layout: Layout, way: Rounds, slot: BitMap, buffer: str, writes: bool) -> None:
        """The registers of a thread whose turn it is, to their slots or from there."""
        size, call = way.bytes // way.size, self._values.prelude.call
        thread, register = (tuple(e // way.size for e in held) for held in (layout.lane + layout.warp, layout.register))
        width = self._width(value, layout, slot, size)
        inside = layout.register[: width.bit_length() - 1]
        first = tuple(0 if 1 << bit in inside else mask for bit, mask in enumerate(slot))
        owners = owner(layout, self._facts.target.threads) if writes else []
        outside = [*self._turn("threadIdx.x", thread), *(text for text in owners if "threadIdx" in text)]
        each = [*self._turn("r", register), *(text for text in owners if "threadIdx" not in text)]
        with self._under(outside), self._values.loop(layout.registers, width), self._under(each):
            place = placed(layout, first)
            if width > 1:
                chunk, at = self._values.chunk(value), plus(buffer, place)
                text = call("mt_store", at, chunk, width=width) if writes else call("mt_load", chunk, at, width=width)
                self._writer.line(f"{text};")
            elif writes:
                self._writer.line(f"{buffer}[{place}] = {self._element(value)};")
            else:
                self._set(value, f"{buffer}[{place}]")

    def _turn(self, name: str, masks: BitMap) -> list[str]:
        """The condition that it is the turn of a number's bits."""
        taken = sum(set(masks))
        return [f"{bits(name, masks)} == (round & {taken})"] if taken else []

    def _width(self, value: Value, layout: Layout, slot: BitMap, size: int) -> int:
        """How many registers hold neighbours in the buffer."""
        if self._facts.named(value) not in self._facts.arrays or layout.free_bits()[0]:
            return 1
        width = 1
        for place in mapped(slot, layout.register):
            if place != width or 2 * width * size > PIECE_BYTES:
                break
            width *= 2
        return width
