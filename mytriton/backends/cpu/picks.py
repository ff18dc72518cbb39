"""`Pick` on the host: functions on memory, one for each shape. Positions are affine maps of positions, so each aligned
chunk of the result comes from one of the source, in an order that is the same for all."""

from __future__ import annotations

from math import prod

from mytriton.backends.cpu.plan import element_bytes
from mytriton.backends.cpu.writer import LANES, POINTER, Text
from mytriton.ir import ops
from mytriton.ir.core import Block, Func
from mytriton.records import dataclass
from mytriton.types import shape_of

_EMPTY = Func("", Block((), ()), {})


@dataclass(frozen=True, slots=True)
class Picking:
    """Elements of `bytes`; the axis has `outer` positions before it and `inner` after it, `old` in the source."""

    bytes: int
    outer: int
    old: int
    extent: int
    inner: int
    keep: int
    flip: int

    @property
    def name(self) -> str:
        """The symbol of its function, without the @."""
        shape = f"{self.outer}x{self.old}.{self.extent}x{self.inner}"
        return f"pick.{self.bytes}.{shape}.{self.keep}.{self.flip}"

    @property
    def width(self) -> int:
        """The elements of a chunk: no more than one outer position has."""
        return min(LANES, self.extent * self.inner)

    def lanes(self) -> list[int]:
        """Where each element of a chunk is in the chunk of the source, or, if it repeats, in it."""
        return [self.source(lane) % self.width for lane in range(self.width)]

    def source(self, position: int) -> int:
        """The position in the source of one in the result, within an outer position."""
        return ((position // self.inner & self.keep) ^ self.flip) * self.inner + position % self.inner


def picking(op: ops.Pick) -> Picking:
    """What a `Pick` needs."""
    shape = shape_of(op.source.type)
    outer, inner = prod(shape[: op.axis]), prod(shape[op.axis + 1 :])
    return Picking(element_bytes(op.source), outer, shape[op.axis], op.extent, inner, op.keep, op.flip)


def pick_function(what: Picking) -> list[str]:
    """`@pick.4.1x16.8x1.7.8(source, target)`."""
    text, width, held = Text(_EMPTY), what.width, f"i{8 * what.bytes}"
    attributes = 'attributes {llvm.linkage = #llvm.linkage<internal>, passthrough = ["noinline"]}'
    chunk = f"vector<{width}x{held}>"
    # The chunks of the source that chunks of the result come from: bits of a position above a chunk's.
    keep, flip = (bits * what.inner & ~(width - 1) for bits in (what.keep, what.flip))
    keep |= what.inner - 1 & ~(width - 1)
    with text.block(f"func.func private @{what.name}(%source: {POINTER}, %target: {POINTER}) {attributes}"):
        numbers = {"zero": 0, "one": 1, "outers": what.outer, "new": what.extent * what.inner, "width": width}
        for name, value in {**numbers, "old": what.old * what.inner, "keep": keep, "flip": flip}.items():
            text.write(f"%{name} = arith.constant {value} : i32")
        end = "} {loop_annotation = #as_written}"
        with (
            text.block("scf.for %outer = %zero to %outers step %one : i32", end=end),
            text.block("scf.for %i = %zero to %new step %width : i32", end=end),
        ):
            text.write("%kept = arith.andi %i, %keep : i32")
            text.write("%inside = arith.xori %kept, %flip : i32")
            for name, extent, inside in (("from", "%old", "%inside"), ("to", "%new", "%i")):
                text.write(f"%{name}.outer = arith.muli %outer, {extent} : i32")
                text.write(f"%{name} = arith.addi %{name}.outer, {inside} : i32")
            types, align = f"({POINTER}, i32) -> {POINTER}, {held}", f"{{alignment = {what.bytes} : i64}}"
            text.write(f"%from.at = llvm.getelementptr %source[%from] : {types}")
            text.write(f"%found = llvm.load %from.at {align} : {POINTER} -> {chunk}")
            order = ", ".join(map(str, what.lanes()))
            text.write(f"%moved = vector.shuffle %found, %found [{order}] : {chunk}, {chunk}")
            text.write(f"%to.at = llvm.getelementptr %target[%to] : {types}")
            text.write(f"llvm.store %moved, %to.at {align} : {chunk}, {POINTER}")
        text.write("func.return")
    return [line.text for line in text.lines]
