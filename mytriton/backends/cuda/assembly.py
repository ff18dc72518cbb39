"""Inline assembly as `asm` statements (CUDA's "Inline PTX Assembly"): a text of LLVM's notation in C++'s."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mytriton.backends.cuda.literals import c_type
from mytriton.backends.cuda.positions import plus
from mytriton.backends.cuda.section import Section
from mytriton.ir import ops
from mytriton.ir.assembly import Constraints, constraints, per_register, pieces
from mytriton.ir.core import Effect, Value
from mytriton.ir.ops.assembly import bits_of
from mytriton.types import element_of, f32, f64

#: The C++ type of a register's variable.
_TYPES = {"h": "unsigned short", "c": "unsigned short", "r": "unsigned", "l": "unsigned long long"}
_TYPES |= {"f": "float", "d": "double"}
#: Up to here a statement stands on one line.
_WIDE = 100
#: C++ types whose variables are registers as they are.
_SAME = {
    "h": ("short", "unsigned short"),
    "c": ("short", "unsigned short"),
    "r": ("int", "unsigned"),
    "l": ("long long", "unsigned long long"),
    "f": ("float",),
    "d": ("double",),
}


class Assembly(Section):
    """Prints the inline assembly of one kernel."""

    def __call__(self, op: ops.InlineAsm) -> None:
        """Write a statement for each `pack` registers, with what puts elements into registers and takes them out."""
        for result in op.results:
            self._values.declare(result)
        registers = self._facts.registers(op.results[0])
        with self._writer.loop(registers, min(op.pack, registers)):
            self._statement(op, registers, constraints(op.constraints))

    def _statement(self, op: ops.InlineAsm, registers: int, names: Constraints) -> None:
        inputs: list[str] = []
        for register, (value, held) in zip(names.inputs, self._held(op, op.args), strict=True):
            elements = [self._element(value, self._place(op, registers, n % registers)) for n in held]
            same = len(held) == 1 and c_type(value.type) in _SAME[register.letter]
            text = elements[0] if same else self._word(value, elements, register.letter)
            if not same:
                variable = self._values.own_name(op.results[0], f"in{len(inputs)}")
                self._writer.line(f"{_TYPES[register.letter]} {variable} = {text};")
                text = variable
            inputs.append(text)
        tied = {r.tied: text for r, text in zip(names.inputs, inputs, strict=True) if r.tied is not None}
        outputs: list[str] = []
        taken: list[tuple[str, str]] = []
        for number, (value, held) in enumerate(self._held(op, op.results)):
            letter, own = names.outputs[number].letter, [n for n in held if n < registers]
            targets = [self._element(value, self._place(op, registers, n)) for n in own]
            if number not in tied and len(held) == len(own) == 1 and c_type(value.type) in _SAME[letter]:
                outputs.append(targets[0])
                continue
            variable = self._values.own_name(op.results[0], f"out{number}")
            start = f" = {tied[number]}" if number in tied else ""
            self._writer.line(f"{_TYPES[letter]} {variable}{start};")
            outputs.append(variable)
            taken += [(target, _part(value, variable, letter, n)) for n, target in enumerate(targets)]
        self._write(op, names, outputs, inputs)
        for target, text in taken:
            self._writer.line(f"{target} = {text};")

    @staticmethod
    def _held(op: ops.InlineAsm, values: Sequence[Value]) -> Iterator[tuple[Value, range]]:
        """For each register of the assembly, the value it is of and which of `pack` elements it holds."""
        for value in values:
            together = per_register(bits_of(element_of(value.type)), op.pack)
            yield from ((value, range(first, first + together)) for first in range(0, op.pack, together))

    @staticmethod
    def _place(op: ops.InlineAsm, registers: int, number: int) -> str:
        """Where an element of those at work is among all that a thread holds."""
        return plus("r", str(number)) if registers > op.pack else str(number)

    @staticmethod
    def _word(value: Value, elements: Sequence[str], letter: str) -> str:
        """A register's contents: elements side by side, the first in the lowest bits."""
        bits = bits_of(element_of(value.type))
        parts = [_bits(value, text) for text in elements]
        text = " | ".join(f"{part} << {n * bits}" if n else part for n, part in enumerate(parts))
        if letter == "f":
            return f"__uint_as_float({text})"
        return f"__longlong_as_double({text})" if letter == "d" else text

    def _write(self, op: ops.InlineAsm, names: Constraints, outputs: Sequence[str], inputs: Sequence[str]) -> None:
        """The statement, a line of it for each line of the text."""
        volatile = op.effect is not Effect.NONE
        numbers = list(range(len(outputs)))
        free = iter(range(len(outputs), len(outputs) + len(inputs)))
        numbers += [next(free) if r.tied is None else r.tied for r in names.inputs]
        tied = {r.tied for r in names.inputs}
        made = [
            f'"{"+" if n in tied else "="}{_letter(r.letter)}"({text})'
            for n, (r, text) in enumerate(zip(names.outputs, outputs, strict=True))
        ]
        read = [f'"{_letter(r.letter)}"({t})' for r, t in zip(names.inputs, inputs, strict=True) if r.tied is None]
        parts = [", ".join(made), ", ".join(read)] + (['"memory"'] if volatile or names.memory else [])
        while not parts[-1]:
            parts.pop()
        text = "".join(f"%{numbers[p]}" if isinstance(p, int) else p.replace("%", "%%") for p in pieces(op.text))
        lines = _strings(text)
        head = "asm volatile(" if volatile else "asm("
        operands = " ".join(f": {part}".rstrip() for part in parts)
        if len(lines) == 1 and len(lines[0]) + len(operands) <= _WIDE:
            lines = [f"{lines[0]} {operands}"]
        else:
            lines += [f": {part}".rstrip() for part in parts]
        for n, line in enumerate(lines):
            self._writer.line((" " * len(head) if n else head) + line + (");" if n == len(lines) - 1 else ""))


def _bits(value: Value, text: str) -> str:
    """An element as an unsigned integer of its bits, in 32 or 64."""
    element, type_ = element_of(value.type), c_type(value.type)
    if element in (f32, f64):
        return f"__float_as_uint({text})" if element == f32 else f"(unsigned long long)__double_as_longlong({text})"
    narrow = {8: "unsigned char", 16: "unsigned short"}.get(bits_of(element))
    wide = "unsigned long long" if bits_of(element) == 64 else "unsigned"
    return f"({wide}){f'({narrow})' if narrow not in (None, type_) else ''}{text}"


def _part(value: Value, register: str, letter: str, number: int) -> str:
    """An element taken out of a register."""
    element, type_ = element_of(value.type), c_type(value.type)
    if type_ in _SAME[letter]:
        return register
    if letter in ("f", "d"):
        register = f"__float_as_uint({register})" if letter == "f" else f"__double_as_longlong({register})"
    if shift := number * bits_of(element):
        register = f"({register} >> {shift})"
    if element in (f32, f64):
        return f"__uint_as_float({register})" if element == f32 else f"__longlong_as_double({register})"
    return f"({type_}){register}"


def _letter(letter: str) -> str:
    return "h" if letter == "c" else letter


def _strings(text: str) -> list[str]:
    """C++ literals of the lines of a text, which follow each other as one."""
    lines = text.split("\n")
    return [f'"{_escaped(line)}\\n"' for line in lines[:-1]] + [f'"{_escaped(lines[-1])}"']


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
