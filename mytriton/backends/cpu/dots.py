"""Products of blocks: a function on memory for each shape and type of factors, which adds to what is there.

The function says what is computed, a `linalg.matmul`; how, is a schedule of the transform dialect (`products.mlir`),
which the first pass applies. The function names the tile that is held in registers: the schedules are for those.
"""

from __future__ import annotations

from math import prod
from pathlib import Path

from mytriton.backends.cpu.host import has_avx512
from mytriton.backends.cpu.plan import Plan, Rows
from mytriton.backends.cpu.writer import LANES, POINTER, Text, type_name, width_of
from mytriton.backends.mlir.casts import cast
from mytriton.backends.mlir.ops import ElementEmitter
from mytriton.ir import ops
from mytriton.ir.core import Block, Func, Value
from mytriton.ir.ops.dot import accumulates_in
from mytriton.records import dataclass
from mytriton.types import ScalarType, element_of, shape_of, u8

_EMPTY = Func("", Block((), ()), {})

#: The schedules.
SCHEDULES = Path(__file__).with_name("products.mlir")

#: Rows of the sums held in registers, two vectors each, and steps that are unrolled. With the factors they fill
#: AVX-512's 32 registers, or the 16 of others with their shorter vectors.
_WIDE, _NARROW, _STEPS = 8, 4, 8

_ATTRIBUTES = '{llvm.linkage = #llvm.linkage<internal>, passthrough = ["noinline"]'


@dataclass(frozen=True, slots=True)
class Product:
    """`batches` times [rows, depth] by [depth, columns]. The rows of the first factor are `lhs_row` elements apart; 0
    stands for a number of bytes that the function is told. Those of the second are kept as `rhs` says, those of the
    sums `sums_row` elements apart."""

    factor: ScalarType
    batches: int
    rows: int
    columns: int
    depth: int
    lhs_row: int
    rhs: Rows
    sums_row: int

    @property
    def total(self) -> ScalarType:
        """The type of the sums."""
        return accumulates_in(self.factor)

    @property
    def name(self) -> str:
        """The symbol of its function, without the @."""
        distances, least = (self.lhs_row, self.rhs.row, self.sums_row), (self.depth, self.columns, self.columns)
        apart = "".join(f".{distance}" for distance in distances) * (distances != least)
        panels = f".in_{self.panels}" * (self.panels > 1)
        return f"dot.{self.factor.name}.{self.batches}x{self.rows}x{self.depth}x{self.columns}{apart}{panels}"

    @property
    def panels(self) -> int:
        """In how many panels the second factor is."""
        return self.columns // self.rhs.columns


def product(op: ops.Dot, plan: Plan) -> Product:
    """What a `Dot` needs where values are kept as planned."""
    *batch, rows, depth = shape_of(op.lhs.type)
    factor = element_of(op.lhs.type)
    assert isinstance(factor, ScalarType)
    columns = shape_of(op.rhs.type)[-1]
    values = (op.lhs, depth), (op.rhs, columns), (op.result, columns)
    lhs, rhs, sums = (plan.rows.get(v, Rows(n, n, 0)) for v, n in values)
    lhs_row = 0 if op.lhs in plan.in_place else lhs.row
    return Product(factor, prod(batch), rows, columns, depth, lhs_row, rhs, sums.row)


def dot_function(what: Product) -> list[str]:
    """`@dot.f32.1x16x16x16(lhs, rhs, sums)`."""
    if what.batches == what.panels == 1:
        return _matrices(what, what.name)
    return [*_matrices(what, f"{what.name}.one"), *_several(what)]


def tile_of(what: Product) -> str:
    """The schedule for a product: rows, columns and steps."""
    rows = _WIDE if has_avx512() else _NARROW
    return f"{rows}x{_tile_columns(what.total)}x{_STEPS}"


def panel_columns(factor: Value) -> int:
    """The columns of a panel of a second factor: those of a tile, if a loop can write rows of so many."""
    element = element_of(factor.type)
    assert isinstance(element, ScalarType)
    return max(LANES, _tile_columns(accumulates_in(element)))


def _tile_columns(total: ScalarType) -> int:
    return 2 * (64 if has_avx512() else 32) // total.bytes


def _matrices(what: Product, name: str) -> list[str]:
    """The function for one product, or for the columns of one panel."""
    if 1 in (what.rows, what.rhs.columns, what.depth):
        return _slender(what, name)
    text = Text(_EMPTY)
    blocks = {
        "lhs": (what.rows, what.depth, what.lhs_row, what.factor),
        "rhs": (what.depth, what.rhs.columns, what.rhs.row, what.factor),
        "sums": (what.rows, what.rhs.columns, what.sums_row, what.total),
    }
    with text.block(f'func.func private @{name}({_params(what)}) attributes {_ATTRIBUTES}, tile = "{tile_of(what)}"}}'):
        numbers = {number for shape in blocks.values() for number in shape[:3]}
        for number in sorted({0, 1} | numbers):
            text.write(f"%n.{number} = arith.constant {number} : i64")
        if not what.lhs_row:
            text.write(f"%element = arith.constant {what.factor.bytes} : i64")
            text.write("%lhs.row = arith.divsi %lhs.distance, %element : i64")
        types = {block: _view(text, block, *shape) for block, shape in blocks.items()}
        tensors = {b: f"tensor<{rows}x{columns}x{type_name(t)}>" for b, (rows, columns, _, t) in blocks.items()}
        for block, type_ in types.items():
            how = "restrict writable" if block == "sums" else "restrict"
            text.write(f"%{block}.given = bufferization.to_tensor %{block}.view {how} : {type_} to {tensors[block]}")
        signed = " {cast = #linalg.type_fn<cast_unsigned>}" if what.factor == u8 else ""
        text.write(
            f"%made = linalg.matmul{signed} ins(%lhs.given, %rhs.given : {tensors['lhs']}, {tensors['rhs']})"
            f" outs(%sums.given : {tensors['sums']}) -> {tensors['sums']}"
        )
        put = f"({tensors['sums']}, {types['sums']}) -> ()"
        text.write(f"bufferization.materialize_in_destination %made in restrict writable %sums.view : {put}")
        text.write("func.return")
    return [line.text for line in text.lines]


def _slender(what: Product, name: str) -> list[str]:
    """The same with one row, column or step, in vectors: with a schedule for it MLIR 22 may not come to an end."""
    text, total, width = Text(_EMPTY), what.total, width_of(what.rhs.columns)
    writer = ElementEmitter(_EMPTY, text.write, width=width)
    factor, vector, end = type_name(what.factor), type_name(total, width), "} {loop_annotation = #as_written}"
    sizes = {"rows": what.rows, "columns": what.rhs.columns, "depth": what.depth, "width": width, "zero": 0, "one": 1}
    sizes |= {"lhs.given": what.lhs_row, "rhs.row": what.rhs.row, "sums.row": what.sums_row, "bytes": what.factor.bytes}
    with text.block(f"func.func private @{name}({_params(what)}) attributes {_ATTRIBUTES}}}"):
        for size, number in sizes.items():
            text.write(f"%{size} = arith.constant {number} : i64")
        if not what.lhs_row:
            text.write("%lhs.told = arith.divsi %lhs.distance, %bytes : i64")
        lhs_row = "%lhs.given" if what.lhs_row else "%lhs.told"
        with (
            text.block("scf.for %row = %zero to %rows step %one : i64", end),
            text.block("scf.for %column = %zero to %columns step %width : i64", end),
        ):
            text.write(f"%lhs.begin = arith.muli %row, {lhs_row} : i64")
            text.write("%sums.begin = arith.muli %row, %sums.row : i64")
            text.write("%sums.at = arith.addi %sums.begin, %column : i64")
            _load(text, "%begun", "%sums", "%sums.at", total, width)
            head = f"%made = scf.for %k = %zero to %depth step %one iter_args(%sum = %begun) -> ({vector}) : i64"
            with text.block(head, end):
                text.write("%lhs.at = arith.addi %lhs.begin, %k : i64")
                text.write("%rhs.begin = arith.muli %k, %rhs.row : i64")
                text.write("%rhs.at = arith.addi %rhs.begin, %column : i64")
                _load(text, "%left", "%lhs", "%lhs.at", what.factor)
                _load(text, "%some", "%rhs", "%rhs.at", what.factor, width)
                text.write(f"%lefts = vector.broadcast %left : {factor} to {type_name(what.factor, width)}")
                lhs, rhs = (cast(writer, v, what.factor, total, f"{v}.wide", False) for v in ("%lefts", "%some"))
                if total.kind == "float":
                    text.write(f"%next = math.fma {lhs}, {rhs}, %sum : {vector}")
                else:
                    text.write(f"%product = arith.muli {lhs}, {rhs} : {vector}")
                    text.write(f"%next = arith.addi %sum, %product : {vector}")
                text.write(f"scf.yield %next : {vector}")
            text.write(f"llvm.store %made, %begun.from {{alignment = {total.bytes} : i64}} : {vector}, {POINTER}")
        text.write("func.return")
    return [line.text for line in text.lines]


def _load(text: Text, name: str, base: str, at: str, element: ScalarType, width: int | None = None) -> None:
    text.write(f"{name}.from = llvm.getelementptr {base}[{at}] : ({POINTER}, i64) -> {POINTER}, {element.signless}")
    align = f"{{alignment = {element.bytes} : i64}}"
    text.write(f"{name} = llvm.load {name}.from {align} : {POINTER} -> {type_name(element, width)}")


def _view(text: Text, block: str, rows: int, columns: int, row: int, element: ScalarType) -> str:
    """The elements at a pointer as a matrix, `%block.view`; its type."""
    words = "!llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>"
    text.write(f"%{block}.0 = llvm.mlir.poison : {words}")
    fields = {"0": f"%{block}", "1": f"%{block}", "2": "%n.0", "3, 0": f"%n.{rows}", "3, 1": f"%n.{columns}",
              "4, 0": f"%n.{row}" if row else "%lhs.row", "4, 1": "%n.1"}  # fmt: skip
    for number, (place, value) in enumerate(fields.items()):
        text.write(f"%{block}.{number + 1} = llvm.insertvalue {value}, %{block}.{number}[{place}] : {words}")
    strides = f", strided<[{row or '?'}, 1]>" if row != columns else ""
    type_ = f"memref<{rows}x{columns}x{type_name(element)}{strides}>"
    text.write(f"%{block}.view = builtin.unrealized_conversion_cast %{block}.{len(fields)} : {words} to {type_}")
    return type_


def _several(what: Product) -> list[str]:
    """The function for the products of a batch, or for all panels, one after the other."""
    text = Text(_EMPTY)
    steps = {"lhs": 0, "rhs": what.rhs.panel * what.factor.bytes, "sums": what.rhs.columns * what.total.bytes}
    if what.batches > 1:
        steps = {
            "lhs": what.rows * what.lhs_row * what.factor.bytes,
            "rhs": what.depth * what.rhs.row * what.factor.bytes,
            "sums": what.rows * what.sums_row * what.total.bytes,
        }
    count = max(what.batches, what.panels)
    with text.block(f"func.func private @{what.name}({_params(what)}) attributes {_ATTRIBUTES}}}"):
        for number in sorted({0, 1, count, *steps.values()}):
            text.write(f"%n.{number} = arith.constant {number} : i64")
        with text.block(f"scf.for %one = %n.0 to %n.{count} step %n.1 : i64", end="} {loop_annotation = #as_written}"):
            for block, size in steps.items():
                text.write(f"%{block}.offset = arith.muli %one, %n.{size} : i64")
                types = f"({POINTER}, i64) -> {POINTER}, i8"
                text.write(f"%{block}.at = llvm.getelementptr %{block}[%{block}.offset] : {types}")
            places = [f"%{block}.at" for block in steps] + ["%lhs.distance"] * (not what.lhs_row)
            types = ", ".join([POINTER] * len(steps) + ["i64"] * (not what.lhs_row))
            text.write(f"func.call @{what.name}.one({', '.join(places)}) : ({types}) -> ()")
        text.write("func.return")
    return [line.text for line in text.lines]


def _params(what: Product) -> str:
    given = [f"%{block}: {POINTER}" for block in ("lhs", "rhs", "sums")]
    return ", ".join(given + ["%lhs.distance: i64"] * (not what.lhs_row))
