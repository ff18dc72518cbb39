"""Inline assembly as `llvm.inline_asm`, on integers and floats of a register's width."""

from __future__ import annotations

from collections.abc import Callable

from mytriton.backends.mlir.context import MAX_UNROLL_SINGLE, Context, View
from mytriton.backends.mlir.names import number
from mytriton.backends.mlir.writer import Writer
from mytriton.ir import ops
from mytriton.ir.assembly import WIDTHS, constraints, per_register
from mytriton.ir.core import Effect, Value
from mytriton.ir.ops.assembly import bits_of
from mytriton.types import PointerType, ScalarType, element_of, f32, f64


class Assembly:
    """Writes `InlineAsm`; `keep` takes a result, the name of one of its registers, and which that is."""

    def __init__(self, context: Context, keep: Callable[[Value, str, str], None]) -> None:
        self._context, self._text, self._keep = context, context.text, keep
        self._writer = Writer(context.text.write)

    def emit(self, op: ops.InlineAsm) -> None:
        """The operation, for each `pack` registers of a thread."""
        registers = self._context.layouts[op.results[0]].registers
        step = min(op.pack, registers)
        with self._context.each(registers // step, most=MAX_UNROLL_SINGLE):
            self._writer.begin(self._text.fresh(f"%asm{number(op.results[0])}"))
            self._once(op, [self._register(n, step) for n in range(step)])

    def _register(self, offset: int, step: int) -> str:
        """The number of a register of the trip."""
        if self._context.trips == 1:
            return self._text.i32(offset)
        first = "%r"
        if step > 1:
            shift = self._text.i32(step.bit_length() - 1)
            first = self._text.once(f"%r_x{step}", lambda n: self._text.write(f"{n} = arith.shli %r, {shift} : i32"))
        if not offset:
            return first
        plus = self._text.i32(offset)
        name = f"{first}_plus{offset}"
        return self._text.once(name, lambda n: self._text.write(f"{n} = arith.addi {first}, {plus} : i32"))

    def _once(self, op: ops.InlineAsm, registers: list[str]) -> None:
        names = constraints(op.constraints)
        letters = iter(r.letter for r in names.inputs)
        inputs = [
            self._word(value, [registers[n % len(registers)] for n in range(first, first + together)], next(letters))
            for value in op.args
            for first, together in _groups(value, op.pack)
        ]
        types = [_type(r.letter) for r in names.outputs]
        result = types[0].signless if len(types) == 1 else f"!llvm.struct<({', '.join(t.signless for t in types)})>"
        made = self._writer.temporary()
        how = ("has_side_effects " if op.effect is not Effect.NONE else "") + "asm_dialect = att"
        # LLVM takes no spaces there.
        texts = f'"{_escaped(op.text)}", "{",".join(part.strip() for part in op.constraints.split(","))}"'
        operands = "".join(f" {name}" for name in [", ".join(name for name, _ in inputs)] if name)
        signature = f"({', '.join(type_.signless for _, type_ in inputs)}) -> {result}"
        self._text.write(f"{made} = llvm.inline_asm {how} {texts}{operands} : {signature}")
        words = [made]
        if len(types) > 1:
            words = [self._writer.temporary() for _ in types]
            for n, word in enumerate(words):
                self._text.write(f"{word} = llvm.extractvalue {made}[{n}] : {result}")
        found = iter(zip(words, types, strict=True))
        for value in op.results:
            for first, together in _groups(value, op.pack):
                word, type_ = next(found)
                for n in range(first, min(first + together, len(registers))):
                    self._keep(value, self._part(value, word, type_, n - first), registers[n])

    def _word(self, value: Value, registers: list[str], letter: str) -> tuple[str, ScalarType]:
        """A register's contents, elements side by side, and its type."""
        type_, element, bits = _type(letter), element_of(value.type), bits_of(element_of(value.type))
        elements = [self._read(value, register) for register in registers]
        if element == type_:
            return elements[0], type_
        wide = _integer(WIDTHS[letter])
        word = ""
        for n, name in enumerate(elements):
            part = self._resized(self._bits(name, element), _integer(bits), wide)
            if n:
                part = self._writer.apply("arith.shli", (part, self._text.constant(n * bits, wide)), wide)
            word = self._writer.apply("arith.ori", (word, part), wide) if word else part
        if type_.kind == "float":
            word = self._writer.convert("arith.bitcast", word, wide, type_)
        return word, type_

    def _read(self, value: Value, register: str) -> str:
        with self._context.through(View(register)):
            name = self._context.ref(value)
        return self._context.form.bits(name, self._writer.temporary()) if _points(value) else name

    def _bits(self, name: str, element: ScalarType | PointerType) -> str:
        if isinstance(element, ScalarType) and element.kind == "float":
            return self._writer.convert("arith.bitcast", name, element, _integer(element.bits))
        return name

    def _part(self, value: Value, word: str, type_: ScalarType, place: int) -> str:
        """An element taken out of a register."""
        element = element_of(value.type)
        assert isinstance(element, ScalarType)
        if element == type_:
            return word
        wide, bits = _integer(type_.bits), _integer(element.bits)
        if type_.kind == "float":
            word = self._writer.convert("arith.bitcast", word, type_, wide)
        if place:
            shift = self._text.constant(place * element.bits, wide)
            word = self._writer.apply("arith.shrui", (word, shift), wide)
        word = self._resized(word, wide, bits)
        return self._writer.convert("arith.bitcast", word, bits, element) if element.kind == "float" else word

    def _resized(self, name: str, old: ScalarType, new: ScalarType) -> str:
        if old.bits == new.bits:
            return name
        return self._writer.convert("arith.extui" if new.bits > old.bits else "arith.trunci", name, old, new)


def _groups(value: Value, pack: int) -> list[tuple[int, int]]:
    """The first element of each register, and how many it holds."""
    together = per_register(bits_of(element_of(value.type)), pack)
    return [(first, together) for first in range(0, pack, together)]


def _type(letter: str) -> ScalarType:
    return {"f": f32, "d": f64}.get(letter) or _integer(WIDTHS[letter])


def _integer(bits: int) -> ScalarType:
    return ScalarType(f"i{bits}", "int", bits)


def _points(value: Value) -> bool:
    return isinstance(element_of(value.type), PointerType)


def _escaped(text: str) -> str:
    """A text in one string of MLIR's."""
    named = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"}
    return "".join(named.get(c, c) for c in text)
