"""Reductions: functions on memory, one for each shape and way to combine.

The order is the interpreter's: halves of the axis are combined until one element is left. Three halvings at a time, so
that a pass over the memory reads eight parts and writes one; in row-major order the halves are runs of elements, of
which a vector takes as many as it can.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, prod

from mytriton.backends.cpu.elementwise import elementwise
from mytriton.backends.cpu.held import from_memory, is_held_as_is, memory_type, to_memory
from mytriton.backends.cpu.host import CACHE_LINE
from mytriton.backends.cpu.plan import element_bytes
from mytriton.backends.cpu.writer import POINTER, Text, width_of
from mytriton.backends.mlir.ops import ElementEmitter
from mytriton.backends.mlir.writer import literal
from mytriton.ir import ops
from mytriton.ir.core import Block, Func, Value
from mytriton.records import dataclass
from mytriton.types import ScalarType, element_of, f32, f64, shape_of

_EMPTY = Func("", Block((), ()), {})

#: Parts that one pass combines.
_PARTS = 8


@dataclass(frozen=True, slots=True)
class Reduction:
    """The axis, of `extent`, has `outer` positions before it and `inner` after it."""

    combine: str
    element: ScalarType
    outer: int
    extent: int
    inner: int

    @property
    def name(self) -> str:
        """The symbol of its function, without the @."""
        return f"reduce.{self.combine}.{self.element.name}.{self.outer}x{self.extent}x{self.inner}"

    def passes(self) -> Iterator[tuple[int, int]]:
        """(number of parts, elements of each) of each pass over the elements of one outer position."""
        extent = self.extent
        while extent > 1:
            parts = min(_PARTS, extent)
            extent //= parts
            yield parts, extent * self.inner

    @property
    def partial_bytes(self) -> int:
        """Memory for what the passes but the last leave."""
        sizes = [size for _, size in self.passes()]
        size = self.outer * sizes[0] * self.element.bytes if len(sizes) > 1 else 0
        return -(-size // CACHE_LINE) * CACHE_LINE


def reduction(op: ops.Reduce) -> Reduction:
    """What a `Reduce` needs."""
    shape, element = shape_of(op.source.type), element_of(op.source.type)
    assert isinstance(element, ScalarType)
    return Reduction(op.combine, element, prod(shape[: op.axis]), shape[op.axis], prod(shape[op.axis + 1 :]))


def step_bytes(op: ops.Reduce) -> int:
    """Scratch memory for a reduction itself: partial results and, after these, a scalar result."""
    return reduction(op).partial_bytes + (0 if shape_of(op.result.type) else element_bytes(op.result))


def reduce_function(what: Reduction) -> list[str]:
    """`@reduce.add.f32.1x1024x1(source, partial, target)`."""
    return _ReduceWriter(what).function()


class _ReduceWriter:
    def __init__(self, what: Reduction) -> None:
        self.what = what
        self.text = Text(_EMPTY)
        self.held = memory_type(what.element)
        ordered = what.outer == what.inner == 1 and what.element in (f32, f64)
        #: What every number is larger than, or smaller; 0 for other reductions.
        self._extreme = {"maximum": -inf, "minimum": inf}.get(what.combine, 0.0) if ordered else 0.0
        self._fast = False

    def function(self) -> list[str]:
        text = self.text
        params = ", ".join(f"%{name}: {POINTER}" for name in ("source", "partial", "target"))
        attributes = 'attributes {llvm.linkage = #llvm.linkage<internal>, passthrough = ["noinline"]}'
        with text.block(f"func.func private @{self.what.name}({params}) {attributes}"):
            if self._extreme:
                self._unless_nan()
            else:
                self._passes("pass")
            text.write("func.return")
        return [line.text for line in text.lines]

    def _unless_nan(self) -> None:
        """The largest of all numbers, or the least, by comparisons that pass over NaN: a single instruction, where one
        that asks both operands takes three or four. If it is the first to compare with, all may be NaN: then ask."""
        text, element = self.text, self.what.element
        text.write(f"%none = arith.constant {literal(self._extreme, element)} : {element}")
        self._fast = True
        self._passes("fast")
        self._fast = False
        text.write(f"%found = llvm.load %target {{alignment = {element.bytes} : i64}} : {POINTER} -> {element}")
        text.write(f"%is_none = arith.cmpf oeq, %found, %none : {element}")
        with text.block("scf.if %is_none"):
            self._passes("pass")

    def _passes(self, stem: str) -> None:
        passes = list(self.what.passes())
        for number, (parts, size) in enumerate(passes):
            source = "%source" if number == 0 else "%partial"
            target = "%target" if number == len(passes) - 1 else "%partial"
            self._pass(f"%{stem}_{number}", parts, size, source, target)

    def _pass(self, stem: str, parts: int, size: int, source: str, target: str) -> None:
        """For each outer position, of `parts` runs of `size` elements make one."""
        text, total, width = self.text, self.what.outer * size, width_of(size)
        for name, number in (("first", 0), ("last", total), ("step", width)):
            text.write(f"{stem}.{name} = arith.constant {number} : i32")
        if total == width:
            self._chunk(stem, f"{stem}.first", parts, size, width, source, target)
            return
        head = f"scf.for {stem}.i = {stem}.first to {stem}.last step {stem}.step : i32"
        with text.block(head, end="} {loop_annotation = #as_written}"):
            self._chunk(stem, f"{stem}.i", parts, size, width, source, target)

    def _chunk(self, stem: str, at: str, parts: int, size: int, width: int, source: str, target: str) -> None:
        writer = ElementEmitter(_EMPTY, self.text.write, width=width)
        held = self.held.signless
        begin = at if self.what.outer == 1 else self._source_position(stem, at, parts, size)
        self._address(f"{stem}.from_0", source, begin)
        for part in range(1, parts):
            types = f"({POINTER}) -> {POINTER}, {held}"
            self.text.write(f"{stem}.from_{part} = llvm.getelementptr {stem}.from_0[{part * size}] : {types}")
        names = [self._load(writer, f"{stem}.part_{part}", f"{stem}.from_{part}", width) for part in range(parts)]
        if self._fast:
            names = [self._foremost(writer, names, stem)]
        while len(names) > 1:
            half = len(names) // 2
            names = [self._combine(writer, names[n], names[n + half], f"{names[n]}.{half}", width) for n in range(half)]
        self._address(f"{stem}.to", target, at)
        value = to_memory(writer, names[0], self.what.element, f"{stem}.saved")
        align = f"{{alignment = {self.held.bytes} : i64}}"
        self.text.write(f"llvm.store {value}, {stem}.to {align} : vector<{width}x{held}>, {POINTER}")

    def _source_position(self, stem: str, at: str, parts: int, size: int) -> str:
        """Where the elements are that are combined at a position: each outer position takes `parts` times as many."""
        self.text.write(f"{stem}.mask = arith.constant {-size} : i32")
        self.text.write(f"{stem}.more = arith.constant {parts - 1} : i32")
        self.text.write(f"{stem}.outer = arith.andi {at}, {stem}.mask : i32")
        self.text.write(f"{stem}.moved = arith.muli {stem}.outer, {stem}.more : i32")
        self.text.write(f"{stem}.at = arith.addi {at}, {stem}.moved : i32")
        return f"{stem}.at"

    def _address(self, name: str, base: str, at: str) -> None:
        self.text.write(
            f"{name} = llvm.getelementptr {base}[{at}] : ({POINTER}, i32) -> {POINTER}, {self.held.signless}"
        )

    def _load(self, writer: ElementEmitter, name: str, where: str, width: int) -> str:
        loaded = name if is_held_as_is(self.what.element) else f"{name}.held"
        align = f"{{alignment = {self.held.bytes} : i64}}"
        self.text.write(f"{loaded} = llvm.load {where} {align} : {POINTER} -> vector<{width}x{self.held.signless}>")
        from_memory(writer, loaded, self.what.element, name)
        return name

    def _foremost(self, writer: ElementEmitter, names: list[str], stem: str) -> str:
        """The largest, or least, of the numbers among each lane's elements."""
        element, before = self.what.element, ops.CmpGt if self.what.combine == "maximum" else ops.CmpLt
        result = writer.constant(self._extreme, element, f"{stem}.none")
        for name in names:
            is_before = writer.compare(before, name, result, element, f"{name}.is_before")
            result = writer.select(is_before, name, result, element, f"{name}.foremost")
        return result

    def _combine(self, writer: ElementEmitter, lhs: str, rhs: str, result: str, width: int) -> str:
        element = self.what.element
        value = Value(result, element)
        op = ops.COMBINE[self.what.combine](lhs=value, rhs=value, results=(value,))
        elementwise(self.text, writer, op, result, [lhs, rhs], width)
        return result
