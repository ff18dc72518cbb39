"""Products of blocks: functions on memory, one for each shape and type of factors.

A few rows by a few vectors of columns are added up in registers at a time, over all steps: each step loads the vectors
of one row of the second factor, and multiplies them by one element of each row of the first.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from math import prod

from mytriton.backends.cpu.held import from_memory, is_held_as_is, memory_type
from mytriton.backends.cpu.writer import POINTER, Text, type_name, width_of
from mytriton.backends.mlir.ops import ElementEmitter
from mytriton.ir import ops
from mytriton.ir.core import Block, Func, Value
from mytriton.ir.ops.dot import accumulates_in
from mytriton.records import dataclass
from mytriton.types import ScalarType, element_of, shape_of

_EMPTY = Func("", Block((), ()), {})

#: Rows and vectors of the sums that are in registers at a time: with the factors they fill AVX-512's 32, or AVX2's 16
#: with its shorter vectors.
_ROWS, _VECTORS = 4, 2


@dataclass(frozen=True, slots=True)
class Product:
    """`batches` times [rows, depth] by [depth, columns]."""

    factor: ScalarType
    batches: int
    rows: int
    columns: int
    depth: int

    @property
    def total(self) -> ScalarType:
        """The type of the sums."""
        return accumulates_in(self.factor)

    @property
    def name(self) -> str:
        """The symbol of its function, without the @."""
        return f"dot.{self.factor.name}.{self.batches}x{self.rows}x{self.depth}x{self.columns}"


def product(op: ops.Dot) -> Product:
    """What a `Dot` needs."""
    *batch, rows, depth = shape_of(op.lhs.type)
    factor = element_of(op.lhs.type)
    assert isinstance(factor, ScalarType)
    return Product(factor, prod(batch), rows, shape_of(op.rhs.type)[-1], depth)


def dot_function(what: Product) -> list[str]:
    """`@dot.f32.1x16x16x16(lhs, rhs, acc, target)`."""
    return _DotWriter(what).function()


class _DotWriter:
    def __init__(self, what: Product) -> None:
        self.what = what
        self.text = Text(_EMPTY)
        self.width = width_of(what.columns)
        self.rows = min(_ROWS, what.rows)
        self.vectors = min(_VECTORS, what.columns // self.width)
        self.held = memory_type(what.factor)
        self._scalar = ElementEmitter(_EMPTY, self.text.write)
        self._vector = ElementEmitter(_EMPTY, self.text.write, width=self.width)

    def function(self) -> list[str]:
        text, what = self.text, self.what
        params = ", ".join(f"%{name}: {POINTER}" for name in ("lhs", "rhs", "acc", "target"))
        attributes = 'attributes {llvm.linkage = #llvm.linkage<internal>, passthrough = ["noinline"]}'
        with text.block(f"func.func private @{what.name}({params}) {attributes}"):
            self._constants(0, 1, what.rows, what.depth, what.columns, what.batches, self.rows, self._tile)
            with (
                self._loop("batch", what.batches, 1),
                self._loop("row", what.rows, self.rows),
                self._loop("column", what.columns, self._tile),
            ):
                self._sums()
            text.write("func.return")
        return [line.text for line in text.lines]

    @property
    def _tile(self) -> int:
        return self.width * self.vectors

    def _constants(self, *numbers: int) -> None:
        for number in sorted(set(numbers)):
            self.text.write(f"%n.{number} = arith.constant {number} : i32")

    def _loop(self, name: str, extent: int, step: int) -> AbstractContextManager[None]:
        head = f"scf.for %{name} = %n.0 to %n.{extent} step %n.{step} : i32"
        return self.text.block(head, end="} {loop_annotation = #as_written}")

    def _sums(self) -> None:
        """All steps for one tile."""
        what, text = self.what, self.text
        tile = [(r, v) for r in range(self.rows) for v in range(self.vectors)]
        type_ = type_name(what.total, self.width)
        self._linear("%first", "%batch", what.rows, "%row")
        for r in range(self.rows):
            self._linear(f"%at.{r}", self._plus("%first", r), what.columns, "%column")
            self._linear(f"%from.{r}", self._plus("%first", r), what.depth)
        self._linear("%above", "%batch", what.depth)
        for r, v in tile:
            self._address(f"%acc.{r}.{v}", "%acc", self._plus(f"%at.{r}", v * self.width), what.total)
            text.write(f"%start.{r}.{v} = llvm.load %acc.{r}.{v} {self._align(what.total)} : {POINTER} -> {type_}")
        names = ", ".join(f"%sum.{r}.{v} = %start.{r}.{v}" for r, v in tile)
        types = ", ".join([type_] * len(tile))
        results = ", ".join(f"%total.{r}.{v}" for r, v in tile)
        head = f"{results} = scf.for %k = %n.0 to %n.{what.depth} step %n.1 iter_args({names}) -> ({types}) : i32"
        with text.block(head):
            self._step(tile)
            text.write(f"scf.yield {', '.join(f'%next.{r}.{v}' for r, v in tile)} : {types}")
        for r, v in tile:
            self._address(f"%to.{r}.{v}", "%target", self._plus(f"%at.{r}", v * self.width), what.total)
            text.write(f"llvm.store %total.{r}.{v}, %to.{r}.{v} {self._align(what.total)} : {type_}, {POINTER}")

    def _step(self, tile: list[tuple[int, int]]) -> None:
        what, text = self.what, self.text
        text.write("%line = arith.addi %above, %k : i32")
        self._linear("%right", "%line", what.columns, "%column")
        for v in range(self.vectors):
            self._load(self._vector, f"%rhs.{v}", "%rhs", self._plus("%right", v * self.width), self.width)
        for r in range(self.rows):
            text.write(f"%left.{r} = arith.addi %from.{r}, %k : i32")
            self._load(self._scalar, f"%one.{r}", "%lhs", f"%left.{r}", None)
            types = f"{type_name(what.total)} to {type_name(what.total, self.width)}"
            text.write(f"%lhs.{r} = vector.broadcast %one.{r} : {types}")
        value = Value("", what.total)
        for r, v in tile:
            operands = [f"%lhs.{r}", f"%rhs.{v}"]
            if what.total.kind == "float":
                fused = ops.Fma(x=value, y=value, z=value, results=(value,))
                self._vector.emit(fused, f"%next.{r}.{v}", [*operands, f"%sum.{r}.{v}"])
                continue
            self._vector.emit(ops.Mul(lhs=value, rhs=value, results=(value,)), f"%product.{r}.{v}", operands)
            added = ops.Add(lhs=value, rhs=value, results=(value,))
            self._vector.emit(added, f"%next.{r}.{v}", [f"%sum.{r}.{v}", f"%product.{r}.{v}"])

    # --- memory -------------------------------------------------------------------------------------------------------

    def _load(self, writer: ElementEmitter, name: str, base: str, at: str, width: int | None) -> None:
        """Elements of a factor, in the type of the sums."""
        what, text = self.what, self.text
        self._address(f"{name}.at", base, at, self.held)
        narrow = what.factor != what.total
        taken = f"{name}.narrow" if narrow else name
        loaded = taken if is_held_as_is(what.factor) else f"{name}.held"
        type_ = type_name(self.held, width)
        text.write(f"{loaded} = llvm.load {name}.at {self._align(self.held)} : {POINTER} -> {type_}")
        from_memory(writer, loaded, what.factor, taken)
        if narrow:
            cast = ops.Cast(source=Value("", what.factor), to=what.total, results=(Value("", what.total),))
            writer.emit(cast, name, [taken])

    def _address(self, name: str, base: str, at: str, element: ScalarType) -> None:
        types = f"({POINTER}, i32) -> {POINTER}, {element.signless}"
        self.text.write(f"{name} = llvm.getelementptr {base}[{at}] : {types}")

    @staticmethod
    def _align(element: ScalarType) -> str:
        return f"{{alignment = {element.bytes} : i64}}"

    # --- positions ----------------------------------------------------------------------------------------------------

    def _linear(self, name: str, outer: str, extent: int, inner: str = "") -> None:
        """`outer * extent + inner`."""
        if self.text.once(f"%extent.{extent}"):
            self.text.write(f"%extent.{extent} = arith.constant {extent} : i32")
        product = f"{name}.rows" if inner else name
        self.text.write(f"{product} = arith.muli {outer}, %extent.{extent} : i32")
        if inner:
            self.text.write(f"{name} = arith.addi {product}, {inner} : i32")

    def _plus(self, name: str, offset: int) -> str:
        if offset and self.text.once(f"{name}.plus.{offset}"):
            self.text.write(f"{name}.by.{offset} = arith.constant {offset} : i32")
            self.text.write(f"{name}.plus.{offset} = arith.addi {name}, {name}.by.{offset} : i32")
        return f"{name}.plus.{offset}" if offset else name
