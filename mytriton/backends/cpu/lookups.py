"""`Gather` and `Histogram` on the host: functions that go through the elements of a block in memory."""

from __future__ import annotations

from math import prod

from mytriton.backends.cpu.plan import element_bytes
from mytriton.backends.cpu.writer import POINTER, Text
from mytriton.ir import ops
from mytriton.ir.core import Block, Func
from mytriton.records import dataclass
from mytriton.types import shape_of

_EMPTY = Func("", Block((), ()), {})
_ATTRIBUTES = 'attributes {llvm.linkage = #llvm.linkage<internal>, passthrough = ["noinline"]}'
_END = "} {loop_annotation = #as_written}"


@dataclass(frozen=True, slots=True)
class Gathering:
    """Elements of `bytes`; the axis has `outer` positions before it and `inner` after it, `old` in the source."""

    bytes: int
    outer: int
    old: int
    extent: int
    inner: int

    @property
    def name(self) -> str:
        """The symbol of its function, without the @."""
        return f"gather.{self.bytes}.{self.outer}x{self.old}.{self.extent}x{self.inner}"


def gathering(op: ops.Gather) -> Gathering:
    """What a `Gather` needs."""
    old, new = shape_of(op.source.type), shape_of(op.index.type)
    inner = prod(old[op.axis + 1 :])
    return Gathering(element_bytes(op.source), prod(old[: op.axis]), old[op.axis], new[op.axis], inner)


def gather_function(what: Gathering) -> list[str]:
    """`@gather.4.1x16.8x1(source, index, target)`."""
    text, held = Text(_EMPTY), f"i{8 * what.bytes}"
    with text.block(f"func.func private @{what.name}({_params('source', 'index', 'target')}) {_ATTRIBUTES}"):
        row, inner = what.extent * what.inner, what.inner
        numbers = {"zero": 0, "one": 1, "size": what.outer * row, "row": row, "old": what.old * inner, "inner": inner}
        for name, value in numbers.items():
            text.write(f"%{name} = arith.constant {value} : i32")
        with text.block("scf.for %i = %zero to %size step %one : i32", end=_END):
            _load(text, "along", "index", "i", "i32", 4)
            for line in (
                "%outer = arith.divui %i, %row",
                "%first = arith.muli %outer, %old",
                "%offset = arith.muli %along, %inner",
                "%rest = arith.remui %i, %inner",
                "%partly = arith.addi %first, %offset",
                "%from = arith.addi %partly, %rest",
            ):
                text.write(f"{line} : i32")
            _load(text, "found", "source", "from", held, what.bytes)
            _store(text, "found", "target", "i", held, what.bytes)
        text.write("func.return")
    return [line.text for line in text.lines]


@dataclass(frozen=True, slots=True)
class Counting:
    """How often the numbers below `bins` are among `size` others."""

    size: int
    bins: int
    masked: bool

    @property
    def name(self) -> str:
        """The symbol of its function, without the @."""
        return f"histogram.{self.size}.{self.bins}{'.masked' if self.masked else ''}"


def counting(op: ops.Histogram) -> Counting:
    """What a `Histogram` needs."""
    return Counting(prod(shape_of(op.source.type)), op.bins, op.mask is not None)


def histogram_function(what: Counting) -> list[str]:
    """`@histogram.256.16.masked(source, mask, target)`."""
    text, masked = Text(_EMPTY), ["mask"] if what.masked else []
    with text.block(f"func.func private @{what.name}({_params('source', *masked, 'target')}) {_ATTRIBUTES}"):
        for name, value in {"zero": 0, "one": 1, "size": what.size, "bins": what.bins}.items():
            text.write(f"%{name} = arith.constant {value} : i32")
        with text.block("scf.for %bin = %zero to %bins step %one : i32", end=_END):
            _store(text, "zero", "target", "bin", "i32", 4)
        with text.block("scf.for %i = %zero to %size step %one : i32", end=_END):
            _load(text, "value", "source", "i", "i32", 4)
            text.write("%inside = arith.cmpi ult, %value, %bins : i32")
            counts = "%inside"
            if what.masked:
                _load(text, "byte", "mask", "i", "i8", 1)
                text.write("%no = arith.constant 0 : i8")
                text.write("%on = arith.cmpi ne, %byte, %no : i8")
                text.write("%counts = arith.andi %inside, %on : i1")
                counts = "%counts"
            with text.block(f"scf.if {counts}"):
                _load(text, "before", "target", "value", "i32", 4)
                text.write("%after = arith.addi %before, %one : i32")
                text.write(f"llvm.store %after, %before.at {{alignment = 4 : i64}} : i32, {POINTER}")
        text.write("func.return")
    return [line.text for line in text.lines]


def _params(*names: str) -> str:
    return ", ".join(f"%{name}: {POINTER}" for name in names)


def _at(text: Text, name: str, base: str, index: str, type_: str) -> None:
    text.write(f"%{name}.at = llvm.getelementptr %{base}[%{index}] : ({POINTER}, i32) -> {POINTER}, {type_}")


def _load(text: Text, name: str, base: str, index: str, type_: str, size: int) -> None:
    _at(text, name, base, index, type_)
    text.write(f"%{name} = llvm.load %{name}.at {{alignment = {size} : i64}} : {POINTER} -> {type_}")


def _store(text: Text, value: str, base: str, index: str, type_: str, size: int) -> None:
    _at(text, base, base, index, type_)
    text.write(f"llvm.store %{value}, %{base}.at {{alignment = {size} : i64}} : {type_}, {POINTER}")
