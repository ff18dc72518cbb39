"""A few instructions of PTX as those of the host, so that kernels with inline assembly run in emulation."""

from __future__ import annotations

import re

#: Instructions in AT&T's notation, by that of PTX; {0} is the first operand.
_INSTRUCTIONS = {
    "xor.b32": "movl {1}, {0}; xorl {2}, {0}",
    "and.b32": "movl {1}, {0}; andl {2}, {0}",
    "add.s32": "movl {1}, {0}; addl {2}, {0}",
    "sub.s32": "movl {1}, {0}; subl {2}, {0}",
    "add.s16": "movw {1}, {0}; addw {2}, {0}",
    "add.s64": "movq {1}, {0}; addq {2}, {0}",
    "mul.f64": "movsd {1}, {0}; mulsd {2}, {0}",
    "fma.rn.f32": "mulss {2}, {0}; addss {3}, {0}",  # with the first factor in the result's register
    "mov.b32": "movd {1}, {0}",
    "mov.u32": "movl {1}, {0}",
    "ld.global.b32": "movl {1}, {0}",
    "st.global.b32": "movl {1}, {0}",
}
_REGISTERS = {"r": "r", "l": "r", "h": "r", "f": "x", "d": "x"}
_STATEMENT = re.compile(r'asm(?: volatile)?\((?P<text>(?:"(?:[^"\\]|\\.)*"\s*)+)(?P<operands>(?::[^;]*)?)\);\n')
_OPERATION = re.compile(r'llvm\.inline_asm (?P<how>[^"]*)"(?P<text>(?:[^"\\]|\\.)*)", "(?P<constraints>[^"]*)"')


def _translated(text: str, dollar: str) -> str:
    """Instructions of PTX for the host; `dollar` is how the notation at hand has a dollar sign."""
    made = []
    for instruction in filter(None, (part.strip() for part in text.replace("\\n", " ").split(";"))):
        name, _, operands = instruction.partition(" ")
        places = [_operand(o.strip(), dollar) for o in operands.split(",")]
        made.append(_INSTRUCTIONS[name].format(*places))
    return "; ".join(made)


def _operand(text: str, dollar: str) -> str:
    if text[0] in "0123456789":
        return f"{dollar}{text}"
    return f"({text[1:-1]})" if text[0] == "[" else text


def in_cpp(text: str) -> str:
    """The `asm` statements of C++ for the host. What PTX has registers enough for is marked: no output stands where an
    input is still needed."""

    def statement(found: re.Match[str]) -> str:
        pieces = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', found["text"]))
        operands = re.sub(
            r'"([=+]?)([rlhfd])"',
            lambda m: f'"{m[1]}{"&" if m[1] == "=" else ""}{_REGISTERS[m[2]]}"',
            found["operands"],
        )
        return f'asm volatile("{_translated(pieces, "$")}" {operands});\n'

    return _STATEMENT.sub(statement, text)


def in_mlir(text: str) -> str:
    """The same of MLIR."""

    def operation(found: re.Match[str]) -> str:
        parts = [
            re.sub(r"^(=?)&?([rlhfd])$", lambda m: f"{m[1]}{'&' if m[1] else ''}{_REGISTERS[m[2]]}", part)
            for part in found["constraints"].split(",")
        ]
        return f'llvm.inline_asm {found["how"]}"{_translated(found["text"], "$$")}", "{",".join(parts)}"'

    return _OPERATION.sub(operation, text)
