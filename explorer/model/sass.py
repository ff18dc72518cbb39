"""Which registers an instruction of SASS sets and reads. By name: what nvdisasm prints does not say which value one
holds, so a register is followed from where it is set to where it is set again, in the order of the listing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from explorer.model.names import Name, Role

_INSTRUCTION = re.compile(r"(?:/\*[0-9a-f]+\*/ )?(?:\[[^\]]{12,}\] )?(?:@!?(?P<guard>U?P\w+) )?(?P<opcode>[A-Z][\w.]*)")
_REGISTER = re.compile(r"(?<![\w`])U?[RP]\d+(?P<wide>\.64)?\b")
#: Instructions without a result, by how their names begin.
_NO_RESULT = ("ST", "RED", "BRA", "BRX", "EXIT", "BAR", "BSSY", "BSYNC", "MEMBAR", "RET", "CALL", "NOP", "DEPBAR",
              "ERRBAR", "YIELD", "WARPSYNC", "JMP", "CCTL", "KILL", "BREAK", "BMOV", "NANOSLEEP")  # fmt: skip
#: Instructions whose results are predicates only.
_PREDICATES = ("SETP", "PLOP3", "FCHK", "R2P")


def guarded(line: str) -> bool:
    """Whether an instruction is carried out under a predicate: then it may leave its results as they were."""
    match = _INSTRUCTION.match(line)
    return match is not None and match["guard"] is not None


def scan(line: str) -> Iterator[Name]:
    """The registers of an instruction: its guard, its results, its operands."""
    match = _INSTRUCTION.match(line)
    if match is None:
        return
    opcode = match["opcode"]
    if (guard := match["guard"]) is not None:
        yield Name(guard, match.start("guard"), match.end("guard"))
    end = line.find(";", match.end())
    end = len(line) if end < 0 else end
    operands = _split(line, match.end(), end)
    results = _results(opcode, [line[a:b].strip() for a, b in operands])
    width = _width(opcode)
    for number, (start, stop) in enumerate(operands):
        stored = opcode.startswith("ST") and number == len(operands) - 1
        pair = opcode.startswith("IMAD.WIDE") and number == 3
        for found in _REGISTER.finditer(line, start, stop):
            name = found.group().removesuffix(".64")
            role: Role = "writes" if number in results else "reads"
            wide = 2 if found["wide"] or pair else width if role == "writes" or stored else 1
            wide = 2 if opcode[0] == "D" and opcode not in ("DEPBAR",) and name[0] == "R" else wide
            yield Name(name, found.start(), found.start() + len(name), role, _covered(name, wide))


def _split(line: str, start: int, end: int) -> list[tuple[int, int]]:
    """The columns of the operands."""
    parts, depth, at = [], 0, start
    for i in range(start, end):
        depth += (line[i] in "[(") - (line[i] in "])")
        if line[i] == "," and depth == 0:
            parts.append((at, i))
            at = i + 1
    return [*parts, (at, end)]


def _results(opcode: str, operands: list[str]) -> set[int]:
    """Which operands are set: the first, with the predicates beside it, which take a carry or say if it is valid."""
    if opcode.startswith(_NO_RESULT):
        return set()
    predicate = [re.fullmatch(r"U?P(?:\d|T)", operand) is not None for operand in operands]
    leading = next((i for i, p in enumerate(predicate) if not p), len(operands))
    if any(word in opcode for word in _PREDICATES):
        return set(range(min(leading, 2)))
    after = next((i for i in range(leading + 1, len(operands)) if not predicate[i]), leading + 1)
    return set(range(after)) if after < len(operands) else set(range(leading + 1))


def _width(opcode: str) -> int:
    """How many registers the result (or what is stored) takes."""
    if ".128" in opcode:
        return 4
    wide = ".64" in opcode or opcode.startswith(("IMAD.WIDE", "UIMAD.WIDE")) or opcode == "CS2R"
    return 2 if wide else 1


def covering(name: str) -> list[str]:
    """The registers as which an operand may be written that a register is part of: R3 also stands where R2.64 does."""
    letters = name.rstrip("0123456789")
    if "P" in letters or letters == name:
        return [name]
    last = int(name[len(letters) :])
    return [f"{letters}{number}" for number in range(max(0, last - 3), last + 1)]


def _covered(name: str, wide: int) -> tuple[str, ...]:
    if wide == 1 or "P" in name:
        return ()
    letters = name.rstrip("0123456789")
    first = int(name[len(letters) :])
    return tuple(f"{letters}{first + i}" for i in range(wide))
