"""Which line of the PTX each instruction of SASS came from, where the cubin's table does not say or is wrong."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mytriton.backends.first_use import placed
from mytriton.stage import Line

_INSTRUCTION = re.compile(
    r"/\*[0-9a-f]+\*/ (?:\[[^\]]{12,}\] )?(?P<guard>@!?U?P\w+ )?(?P<opcode>[A-Z][\w.]*)(?P<operands>.*)"
)
_REGISTER = re.compile(r"\bU?[RP]\d+\b")
#: Instructions without a result, by how their names begin.
_NO_RESULT = ("ST", "RED", "BRA", "BRX", "EXIT", "BAR", "BSSY", "BSYNC", "MEMBAR", "RET", "CALL", "NOP", "DEPBAR",
              "ERRBAR", "CCTL", "WARPSYNC", "LDGDEPBAR", "LDGSTS", "WARPGROUP", "UCGABAR", "CGAERRBAR")  # fmt: skip
#: Products by warpgroups: where they begin, and they.
_BEGIN, _PRODUCT = "WARPGROUP.ARRIVE", re.compile(r"[A-Z]GMMA\b")
_PTX_PRODUCT = re.compile(r"\s*wgmma\.mma_async")


def products(texts: Sequence[str], rows: Sequence[int], ptx: Sequence[Line]) -> list[int]:
    """The rows of the PTX (from 1; 0: none) that the instructions of a function came from, of which the cubin's table
    says `rows`. Products by warpgroups have no place of their own there and pass for what stands around them; but they
    come in the order of the PTX after the fence that they wait for, which has one."""
    found = list(rows)
    pending: list[int] = []
    for at, text in enumerate(texts):
        if _BEGIN in text:
            pending = [n for n, line in enumerate(ptx, 1) if n > rows[at] and _PTX_PRODUCT.match(line.text)]
        elif _PRODUCT.search(text) and pending:
            found[at] = pending.pop(0)
    return found


def linked(functions: Sequence[Sequence[Line]]) -> list[Line]:
    """The lines of a kernel and the functions that it calls. What loads a constant is there for its first use, and a
    function for its first call; what is left was made by the assembler for no line."""
    kernel, *called = (placed(lines, _names, "the assembler", reused=True) for lines in functions)
    lines = kernel
    for function in called:
        name = function[0].text.removesuffix(":")
        call = next((line for line in lines if f"`({name})" in line.text and line.span is not None), Line(""))
        lines = lines + [Line(x.text, x.span or call.span, x.values or call.values, x.made_by) for x in function]
    return [
        Line(line.text, made_by=line.made_by or "the assembler")
        if line.span is None and _INSTRUCTION.match(line.text)
        else line
        for line in lines
    ]


def _names(text: str) -> tuple[list[str], list[str]] | None:
    """The registers that an instruction sets and reads."""
    found = _INSTRUCTION.match(text)
    if found is None:
        return None
    operands = found["operands"].split(",")
    sets = 0 if found["opcode"].startswith(_NO_RESULT) else 1
    reads = [name for operand in operands[sets:] for name in _REGISTER.findall(operand)]
    return _REGISTER.findall(operands[0]) if sets else [], [*_REGISTER.findall(found["guard"] or ""), *reads]
