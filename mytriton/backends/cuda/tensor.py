"""Products by tensor cores: each warp reads fragments of both factors from shared memory and multiplies them tile by
tile, one step along the depth after the other (PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions")."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mytriton.backends.cuda.instructions import TYPES, function
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
        parts = [
            _Part(side, reading, element, self._values.own_name(op.result, side.which), op.precision == "tf32")
            for side, reading in zip(sides, readings(op, plan, result), strict=True)
        ]
        for part in parts:
            self._start(part)
        steps = plan.depth // of.depth
        twice = "[2]" if steps > 1 else ""
        declared = ", ".join(f"{part.name}_words{twice}[{part.reading.words}]" for part in parts)
        self._writer.line(f"{TYPES[element][2]} {declared};")
        for part in parts:
            self._read(part, "", "[0]" if twice else "")
        with self._writer.loop(steps, name="kk"):
            if steps > 1:  # what comes next is on its way while this is multiplied
                with self._writer.block(f"if (kk < {steps - 1})"):
                    self._writer.line("int next = kk + 1;")
                    for part in parts:
                        self._read(part, "next", "[next & 1]")
            with self._writer.loop(result.registers, of.sums):
                words = []
                for part, of_tile, count in zip(parts, tiles(op, result), of.words, strict=True):
                    first = bits("r", (*(0,) * (of.sums.bit_length() - 1), *(bit * count for bit in of_tile)))
                    words.append(plus(f"{part.name}_words{'[kk & 1]' if twice else ''}", first))
                sums = f"&{self._values.element(op.result, _r(result.registers, of.sums))}"
                self._writer.line(f"{self._values.prelude.call(function(element, of, op.precision), sums, *words)};")

    def _start(self, part: _Part) -> None:
        """Where a thread's part of a factor begins."""
        self._writer.line(f"int {part.name}_at = {mixed('threadIdx.x', part.counted(part.reading.thread))};")
        if part.reading.matrices:
            address = self._values.prelude.call("mt_shared_address", part.side.name)
            self._writer.line(f"unsigned {part.name}_from = {address};")

    def _read(self, part: _Part, step: str, which: str) -> None:
        """The words of the step named, the first one if none is, to the array `which`."""
        line, call, reading = self._writer.line, self._values.prelude.call, part.reading
        words = f"{part.name}_words{which}"
        if reading.matrices:
            function = f"mt_ldmatrix_x{reading.matrices}{'_trans' if reading.transposed else ''}"
            several = reading.words > reading.matrices
            with self._writer.loop(reading.words, reading.matrices):
                at = plus(f"{part.name}_from", _place(part, step, several))
                line(f"{call(function, plus(words, 'r') if several else words, at)};")
            if part.rounded:
                with self._writer.loop(reading.words):
                    word = f"{words}[{_r(reading.words)}]"
                    line(f"{word} = {call('mt_f32_to_tf32', f'__uint_as_float({word})')};")
            return
        with self._writer.loop(reading.words):
            loaded = []
            for number in range(1 << len(reading.element)):
                further = sum(mask for bit, mask in enumerate(reading.element) if number >> bit & 1)
                loaded.append(f"{part.side.name}[{_place(part, step, reading.words > 1, further)}]")
            if part.element == f32:
                text = call("mt_f32_to_tf32", loaded[0]) if part.rounded else f"__float_as_uint({loaded[0]})"
            elif part.element == f64:
                text = loaded[0]
            else:
                bytes_ = [f"(unsigned char){text}" + (f" << {8 * i}" if i else "") for i, text in enumerate(loaded)]
                text = " | ".join(bytes_)
            line(f"{words}[{_r(reading.words)}] = {text};")


@dataclass(frozen=True)
class _Part:
    """How a factor is read, and the name of what belongs to it."""

    side: Side
    reading: Reading
    element: ScalarType
    name: str
    rounded: bool  # to tf32, as it is read

    def counted(self, masks: BitMap) -> BitMap:
        """Slots in bytes for `ldmatrix`, else as they are."""
        return tuple(mask * (self.element.bytes if self.reading.matrices else 1) for mask in masks)


def _place(part: _Part, step: str, several: bool, further: int = 0) -> str:
    """Where word `r` of a step is. Bits that several numbers have are flipped, all others add up."""
    reading = part.reading
    sources = [(step, part.counted(reading.step))] if step else []
    sources += [("r", part.counted(reading.word))] if several else []
    masks = [part.counted(reading.thread), *(masks for _, masks in sources), (further,)]
    common = 0
    for i, one in enumerate(masks):
        common |= _or(one) & _or([mask for other in masks[:i] + masks[i + 1 :] for mask in other])
    flips = [mixed(name, [mask & common for mask in masks]) for name, masks in sources]
    flips = [text for text in (*flips, str(further & common)) if text != "0"]
    first = " ^ ".join([f"{part.name}_at", *map(_grouped, flips)])
    added = [mixed(name, [mask & ~common for mask in masks]) for name, masks in sources]
    return plus(f"({first})" if flips else first, *map(_grouped, added), str(further & ~common))


def _grouped(text: str) -> str:
    return f"({text})" if " + " in text or " ^ " in text else text


def _r(registers: int, step: int = 1) -> str:
    return "r" if registers > step else "0"


def _or(masks: Iterable[int]) -> int:
    found = 0
    for mask in masks:
        found |= mask
    return found
