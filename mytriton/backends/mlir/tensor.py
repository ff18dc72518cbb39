"""Products by tensor cores in emitted gpu-dialect MLIR, as operations of the nvvm dialect: each warp reads fragments of
both factors from workgroup memory and multiplies them tile by tile, one step along the depth after the other.

Fragments and sums are in per-thread arrays, which LLVM keeps in registers when it has unrolled the loops over them.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from mytriton.backends.mlir.context import MAX_UNROLL_SINGLE, Context
from mytriton.backends.mlir.homes import Home, fragment
from mytriton.backends.mlir.names import number
from mytriton.backends.mlir.places import THREAD, onto, place
from mytriton.backends.mlir.shared import POINTER, Shared
from mytriton.backends.mlir.text import ZERO
from mytriton.ir import ops
from mytriton.ir.core import Value
from mytriton.layout.dots import DotPlan, Factor, Reading, readings
from mytriton.layout.mma import instruction, tiles
from mytriton.layout.routes import BitMap
from mytriton.records import dataclass
from mytriton.types import ScalarType, bf16, element_of, f16, f32, f64, i8, i32, u8

#: The type of a factor's register as the operation takes it, and how it is told what is in it.
_WORDS = {f16: ("vector<2xf16>", ""), bf16: ("i32", "bf16"), f32: ("i32", "tf32"), i8: ("i32", "s8"),
          u8: ("i32", "u8"), f64: ("f64", "")}  # fmt: skip
_MATRIX = "shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>"
_LAYOUTS = "layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>"


@dataclass(frozen=True)
class Side:
    """A factor of a product: which one, the value, its plan, the slot at which it begins (the name of an i32), and the
    stem of the names of what is about it."""

    which: str
    value: Value
    factor: Factor
    base: str
    stem: str


@dataclass(frozen=True)
class _Fragment:
    """How a side is read into `home`: from `base`, a pointer for `ldmatrix` and else a slot, the part of this thread
    begins `at` so many times `unit`."""

    side: Side
    reading: Reading
    element: ScalarType
    home: Home
    rounded: bool  # to tf32, as it is read
    base: str = ""
    at: str = ""

    @property
    def unit(self) -> int:
        """Bytes for `ldmatrix`, else elements."""
        return self.element.bytes if self.reading.matrices else 1

    @property
    def held(self) -> ScalarType:
        """What its registers are."""
        return f64 if self.element == f64 else i32


class TensorCores:
    """Writes what is done between the barriers of a round."""

    def __init__(self, context: Context, shared: Shared) -> None:
        self._context, self._text, self._shared = context, context.text, shared

    def emit(self, op: ops.Dot, plan: DotPlan, sides: Sequence[Side]) -> None:
        """Add the products of the columns and rows that are there."""
        result, of = self._context.layouts[op.result], instruction(op)
        read = zip(sides, readings(op, plan, result), strict=True)
        fragments = [self._begin(op, side, reading) for side, reading in read]
        steps, trips = plan.depth // of.depth, result.registers // of.sums
        self._read_all(fragments, ZERO)
        if steps > 1:  # what comes next is on its way while this is multiplied
            with self._context.loop(steps - 1, "%step", MAX_UNROLL_SINGLE):
                one, following = self._text.i32(1), self._text.fresh("%step_next")
                self._text.write(f"{following} = arith.addi %step, {one} : i32")
                self._read_all(fragments, following)
                with self._loop(trips, "%r"):
                    self._multiply(op, fragments, "%step", trips > 1)
        with self._loop(trips, "%r"):
            self._multiply(op, fragments, self._text.i32(steps - 1), trips > 1)

    def _loop(self, trips: int, counter: str) -> AbstractContextManager[None]:
        return self._context.loop(trips, counter, MAX_UNROLL_SINGLE) if trips > 1 else nullcontext()

    def _begin(self, op: ops.Dot, side: Side, reading: Reading) -> _Fragment:
        element = element_of(op.lhs.type)
        assert isinstance(element, ScalarType)
        part, text = (
            _Fragment(side, reading, element, fragment(op, side.which, reading.words), op.precision == "tf32"),
            self._text,
        )
        masks = _times(reading.thread, part.unit)
        at = place(text, [(THREAD, masks)], text.fresh(f"{side.stem}_at")) or ZERO
        return replace(part, at=at, base=self._pointer(part) if reading.matrices else side.base)

    def _pointer(self, part: _Fragment) -> str:
        """Where a factor begins."""
        text, side = self._text, part.side
        if side.base == ZERO:
            return self._shared.pointer()
        distance, base = text.fresh(f"{side.stem}_from"), text.fresh(f"{side.stem}_base")
        text.write(f"{distance} = arith.muli {side.base}, {text.i32(part.element.bytes)} : i32")
        whole = self._shared.pointer()
        text.write(f"{base} = llvm.getelementptr {whole}[{distance}] : ({POINTER}, i32) -> {POINTER}, i8")
        return base

    # --- reading ------------------------------------------------------------------------------------------------------

    def _read_all(self, fragments: Sequence[_Fragment], step: str) -> None:
        for part in fragments:
            trips = part.reading.words // (part.reading.matrices or 1)
            with self._loop(trips, "%r"):
                self._read(part, step, trips > 1)

    def _read(self, part: _Fragment, step: str, in_words: bool) -> None:
        """The words of a trip of a step, to the half of the array whose turn it is."""
        text, reading, stem = self._text, part.reading, part.side.stem
        together = reading.matrices or 1
        trip = [("%r", _times(reading.word[together.bit_length() - 1 :], part.unit))] if in_words else []
        sources = [*self._at(step, _times(reading.step, part.unit)), *trip]
        at = onto(text, part.at, _times(reading.thread, part.unit), sources, text.fresh(f"{stem}_word"))
        words = self._matrices(part, at) if reading.matrices else [self._elements(part, at)]
        counted = [("%r", tuple(together << i for i in range(len(reading.word))))] if in_words else []
        first = place(text, [*self._half(part, step), *counted], text.fresh(f"{stem}_register")) or ZERO
        for i, word in enumerate(words):
            if part.rounded:
                value = self._cast(word, f"{stem}_float_{i}", "i32 to f32") if reading.matrices else word
                word = self._rounded(value, f"{stem}_tf32_{i}")
            elif part.element == f32 and not reading.matrices:
                word = self._cast(word, f"{stem}_bits_{i}", "f32 to i32")
            self._context.form.keep(part.home, part.held, self._plus(first, i), word)

    def _at(self, step: str, masks: BitMap) -> list[tuple[str, BitMap]]:
        return [] if step == ZERO else [(step, masks)]

    def _half(self, part: _Fragment, step: str) -> list[tuple[str, BitMap]]:
        """What the number of a step adds to that of a register."""
        return self._at(step, (part.reading.words, *(0,) * (len(part.reading.step) - 1)))

    def _matrices(self, part: _Fragment, at: str) -> list[str]:
        """The words that one `ldmatrix` brings."""
        text, stem, count = self._text, part.side.stem, part.reading.matrices
        pointer, loaded = text.fresh(f"{stem}_pointer"), text.fresh(f"{stem}_matrices")
        text.write(f"{pointer} = llvm.getelementptr {part.base}[{at}] : ({POINTER}, i32) -> {POINTER}, i8")
        layout = f"layout = #nvvm.mma_layout<{'col' if part.reading.transposed else 'row'}>"
        how, type_ = f"{{num = {count} : i32, {layout}, {_MATRIX}}}", _struct("i32", count)
        text.write(f"{loaded} = nvvm.ldmatrix {pointer} {how} : ({POINTER}) -> {type_}")
        return self._parts(loaded, type_, count)

    def _elements(self, part: _Fragment, at: str) -> str:
        """A word, element by element."""
        text, stem, reading = self._text, part.side.stem, part.reading
        word = ""
        for i in range(1 << len(reading.element)):
            further = sum(mask for bit, mask in enumerate(reading.element) if i >> bit & 1)
            slot = at
            if further:
                slot = text.fresh(f"{stem}_element_{i}")
                text.write(f"{slot} = arith.xori {at}, {text.i32(further)} : i32")
            if part.base != ZERO:
                there, slot = slot, text.fresh(f"{stem}_slot_{i}")
                text.write(f"{slot} = arith.addi {there}, {part.base} : i32")
            found = self._shared.get(slot, part.element, text.fresh(f"{stem}_{i}"))
            if part.element.bytes > 1:
                return found
            wide, moved = text.fresh(f"{stem}_wide_{i}"), text.fresh(f"{stem}_moved_{i}")
            text.write(f"{wide} = arith.extui {found} : i8 to i32")
            if not i:
                word = wide
                continue
            text.write(f"{moved} = arith.shli {wide}, {text.i32(8 * i)} : i32")
            sofar, word = word, text.fresh(f"{stem}_packed_{i}")
            text.write(f"{word} = arith.ori {sofar}, {moved} : i32")
        return word

    def _cast(self, word: str, stem: str, types: str) -> str:
        name = self._text.fresh(stem)
        self._text.write(f"{name} = arith.bitcast {word} : {types}")
        return name

    def _rounded(self, value: str, stem: str) -> str:
        """A float32 as tf32, in an i32."""
        name = self._text.fresh(stem)
        self._text.write(f"{name} = nvvm.convert.float.to.tf32 {value} {{rnd = #nvvm.fp_rnd_mode<rna>}}")
        return name

    # --- multiplying --------------------------------------------------------------------------------------------------

    def _multiply(self, op: ops.Dot, fragments: Sequence[_Fragment], step: str, in_tiles: bool) -> None:
        """One tile of one step."""
        text, of, form = self._text, instruction(op), self._context.form
        total = element_of(op.result.type)
        assert isinstance(total, ScalarType)
        factors = []
        for part, bits, count in zip(fragments, tiles(op, self._context.layouts[op.result]), of.words, strict=True):
            tile = [("%r", tuple(bit * count for bit in bits))] if in_tiles else []
            first = place(text, [*self._half(part, step), *tile], text.fresh(f"{part.side.stem}_tile")) or ZERO
            factors.append([self._word(part, self._plus(first, i), i) for i in range(count)])
        home, stem = self._context.homes[op.result], f"%v{number(op.result)}"
        first = self._times_trip(of.sums) if in_tiles else ZERO
        places = [self._plus(first, i) for i in range(of.sums)]
        sums = [form.fetch_run(home, total, p, None, text.fresh(f"{stem}_before_{i}")) for i, p in enumerate(places)]
        if op.precision == "tf32x3":
            high, low = zip(*(self._split(words, f"{stem}_{side}") for words, side in zip(factors, "ab", strict=True)),
                            strict=True)  # fmt: skip
            sums = self._product(op, low[0], high[1], sums, f"{stem}_low_high")
            sums = self._product(op, high[0], low[1], sums, f"{stem}_high_low")
            factors = list(high)
        for at, made in zip(places, self._product(op, factors[0], factors[1], sums, f"{stem}_sums"), strict=True):
            form.keep(home, total, at, made)

    def _product(
        self, op: ops.Dot, lhs: Sequence[str], rhs: Sequence[str], sums: Sequence[str], stem: str
    ) -> list[str]:
        """The sums after one instruction."""
        of, factor, total = instruction(op), element_of(op.lhs.type), element_of(op.result.type)
        assert isinstance(factor, ScalarType)
        assert isinstance(total, ScalarType)
        type_, name = _WORDS[factor]
        how = [_LAYOUTS, f"shape = #nvvm.shape<m = {of.rows}, n = {of.columns}, k = {of.depth}>"]
        if name:
            how += [f"multiplicand{which}PtxType = #nvvm.mma_type<{name}>" for which in "AB"]
        if total == i32:
            how.append("intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>")
        made, struct = self._text.fresh(stem), _struct(total.signless, of.sums)
        self._text.write(
            f"{made} = nvvm.mma.sync A[{', '.join(lhs)}] B[{', '.join(rhs)}] C[{', '.join(sums)}] "
            f"{{{', '.join(how)}}} : ({type_}, {type_}, {total.signless}) -> {struct}"
        )
        return self._parts(made, struct, of.sums)

    def _split(self, words: Sequence[str], stem: str) -> tuple[list[str], list[str]]:
        """Float32 as tf32, and what rounding leaves of them; of infinities nothing."""
        text, high, low = self._text, list[str](), list[str]()
        for i, word in enumerate(words):
            value = self._cast(word, f"{stem}{i}", "i32 to f32")
            high.append(self._rounded(value, f"{stem}{i}_high"))
            near = self._cast(high[-1], f"{stem}{i}_near", "i32 to f32")
            rest, finite, left = (text.fresh(f"{stem}{i}_{what}") for what in ("rest", "finite", "left"))
            text.write(f"{rest} = arith.subf {value}, {near} : f32")
            text.write(f"{finite} = arith.cmpf oeq, {rest}, {rest} : f32")
            text.write(f"{left} = arith.select {finite}, {rest}, {text.constant(0.0, f32)} : f32")
            low.append(self._rounded(left, f"{stem}{i}_low"))
        return high, low

    def _word(self, part: _Fragment, index: str, i: int) -> str:
        text, type_ = self._text, _WORDS[part.element][0]
        name = self._context.form.fetch_run(part.home, part.held, index, None, text.fresh(f"{part.side.stem}_word_{i}"))
        if type_ == part.held.signless:
            return name
        cast = text.fresh(f"{name}_pair")
        text.write(f"{cast} = llvm.bitcast {name} : i32 to {type_}")
        return cast

    # --- names --------------------------------------------------------------------------------------------------------

    def _parts(self, struct: str, type_: str, count: int) -> list[str]:
        if count == 1:
            return [struct]
        names = [self._text.fresh(f"{struct}_{i}") for i in range(count)]
        for i, name in enumerate(names):
            self._text.write(f"{name} = llvm.extractvalue {struct}[{i}] : {type_}")
        return names

    def _times_trip(self, count: int) -> str:
        """The number of the first of `count` registers of a trip."""
        shift = count.bit_length() - 1
        if not shift:
            return "%r"
        constant, name = self._text.i32(shift), f"%r_x{count}"
        return self._text.once(name, lambda n: self._text.write(f"{n} = arith.shli %r, {constant} : i32"))

    def _plus(self, first: str, offset: int) -> str:
        if not offset or first == ZERO:
            return self._text.i32(offset) if first == ZERO else first
        constant, name = self._text.i32(offset), f"{first}_plus{offset}"
        return self._text.once(name, lambda n: self._text.write(f"{n} = arith.addi {first}, {constant} : i32"))


def _struct(element: str, count: int) -> str:
    return element if count == 1 else f"!llvm.struct<({', '.join([element] * count)})>"


def _times(masks: BitMap, unit: int) -> BitMap:
    return tuple(mask * unit for mask in masks)
