"""Products by tensor cores: each warp reads fragments of both factors from shared memory and multiplies them tile by
tile, one step along the depth after the other (PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions")."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mytriton.backends.cuda.instructions import TYPES
from mytriton.backends.cuda.positions import bits, mixed, plus
from mytriton.backends.cuda.section import Section
from mytriton.ir import ops
from mytriton.ir.core import Value
from mytriton.layout.dots import DotPlan, Factor, Reading, readings
from mytriton.layout.mma import instruction, tiles
from mytriton.layout.routes import BitMap
from mytriton.records import dataclass
from mytriton.types import ScalarType, element_of, f32, f64


@dataclass(frozen=True)
class Side:
    """A factor of a product: which one, the value, its plan, and the pointer from which its slots count."""

    which: str
    value: Value
    factor: Factor
    name: str


class TensorCores(Section):
    """Prints what is done between the barriers of a round."""

    def __call__(self, op: ops.Dot, plan: DotPlan, sides: Sequence[Side]) -> None:
        """Add the products of the columns and rows that are there."""
        result, of = self._facts.laid_out.layouts[op.result], instruction(op)
        element = element_of(op.lhs.type)
        assert isinstance(element, ScalarType)
        read = list(zip(sides, readings(op, plan, result), strict=True))
        for side, reading in read:
            self._start(side, reading, element.bytes)
        with self._writer.loop(plan.depth // of.depth, name="kk"):
            declared = ", ".join(f"{side.name}_words[{reading.words}]" for side, reading in read)
            self._writer.line(f"{TYPES[element][2]} {declared};")
            for side, reading in read:
                self._read(side, reading, element)
            with self._writer.loop(result.registers, of.sums):
                words = []
                for side, of_tile, count in zip(sides, tiles(op, result), of.words, strict=True):
                    first = bits("r", (*(0,) * (of.sums.bit_length() - 1), *(bit * count for bit in of_tile)))
                    words.append(plus(f"{side.name}_words", first))
                sums = f"&{self._values.element(op.result, _r(result.registers, of.sums))}"
                self._writer.line(f"{self._values.prelude.call(f'mt_mma_{element}', sums, *words)};")

    def _start(self, side: Side, reading: Reading, size: int) -> None:
        """Where a thread's part of a factor begins: of what `ldmatrix` reads in bytes."""
        unit = size if reading.matrices else 1
        self._writer.line(f"unsigned {side.name}_at = {mixed('threadIdx.x', _times(reading.thread, unit))};")
        if reading.matrices:
            address = self._values.prelude.call("mt_shared_address", side.name)
            self._writer.line(f"unsigned {side.name}_from = {address};")

    def _read(self, side: Side, reading: Reading, element: ScalarType) -> None:
        """The words of one step."""
        line, call, words = self._writer.line, self._values.prelude.call, f"{side.name}_words"
        if reading.matrices:
            function = f"mt_ldmatrix_x{reading.matrices}{'_trans' if reading.transposed else ''}"
            several = reading.words > reading.matrices
            with self._writer.loop(reading.words, reading.matrices):
                at = plus(f"{side.name}_from", self._place(side, reading, element.bytes, several))
                line(f"{call(function, plus(words, 'r') if several else words, at)};")
            if element == f32:
                with self._writer.loop(reading.words):
                    word = f"{words}[{_r(reading.words)}]"
                    line(f"{word} = {call('mt_f32_to_tf32', f'__uint_as_float({word})')};")
            return
        with self._writer.loop(reading.words):
            loaded = []
            for number in range(1 << len(reading.element)):
                further = sum(mask for bit, mask in enumerate(reading.element) if number >> bit & 1)
                loaded.append(f"{side.name}[{self._place(side, reading, 1, reading.words > 1, further)}]")
            if element == f32:
                text = call("mt_f32_to_tf32", loaded[0])
            elif element == f64:
                text = loaded[0]
            else:
                parts = [f"(unsigned char){text}" + (f" << {8 * i}" if i else "") for i, text in enumerate(loaded)]
                text = " | ".join(parts)
            line(f"{words}[{_r(reading.words)}] = {text};")

    def _place(self, side: Side, reading: Reading, unit: int, several: bool, further: int = 0) -> str:
        """Where word `r` of step `kk` is. Bits that several numbers have are flipped, all others add up."""
        sources = [("kk", _times(reading.step, unit)), ("r", _times(reading.word, unit) if several else ())]
        masks = [_times(reading.thread, unit), *(masks for _, masks in sources), (further,)]
        common = 0
        for i, one in enumerate(masks):
            common |= _or(one) & _or([mask for other in masks[:i] + masks[i + 1 :] for mask in other])
        flips = [mixed(name, [mask & common for mask in masks]) for name, masks in sources]
        flips = [text for text in (*flips, str(further & common)) if text != "0"]
        first = " ^ ".join([f"{side.name}_at", *map(_grouped, flips)])
        added = [mixed(name, [mask & ~common for mask in masks]) for name, masks in sources]
        return plus(f"({first})" if flips else first, *map(_grouped, added), str(further & ~common))


def _grouped(text: str) -> str:
    return f"({text})" if " + " in text or " ^ " in text else text


def _r(registers: int, step: int = 1) -> str:
    return "r" if registers > step else "0"


def _times(masks: BitMap, unit: int) -> BitMap:
    return tuple(mask * unit for mask in masks)


def _or(masks: Iterable[int]) -> int:
    found = 0
    for mask in masks:
        found |= mask
    return found
