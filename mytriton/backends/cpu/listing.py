"""The listing of host assembly, each line linked through the object's line table to our MLIR line."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tempfile
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from mytriton.backends.first_use import placed
from mytriton.stage import Line

#: A row of the table of lines: an address and the line that it belongs to from there on, 0 for none.
_TABLE_ROW = re.compile(r"^0x([0-9a-f]{16}) +(\d+) +\d+ ")
_INSTRUCTION = re.compile(r"^ *([0-9a-f]+): +(\S.*)$")
_OPCODE = re.compile(r"    (?:(?:lock|rep\w*) )?(?P<opcode>[a-z]\w*)")
#: A register of x86, by what all its parts have in common, or a place on the stack.
_PLACES = re.compile(
    r"(?P<slot>-?0x[0-9a-f]+\(%rsp\))|%(?:[re]?(?P<old>[abcd]x|[sd]i|[bs]p)|(?P<byte>[abcd])[lh]\b|(?P<low>[sd]i|[bs]p)l\b|"
    r"r(?P<new>\d+)[dwb]?|[xyz]mm(?P<vector>\d+)|k(?P<mask>[0-7]))"
)
#: Instructions of x86 that set nothing, by how their names begin.
_NO_RESULT = ("cmp", "test", "ucomis", "vucomis", "vptest", "kortest", "push", "pop", "j", "call", "ret", "prefetch",
              "nop", "ud2", "vzeroupper")  # fmt: skip
#: Those that read what they set, among those with three operands; and those that do not, with two.
_ADDED = ("vfm", "vfnm", "vpdp")
_MOVED = ("mov", "lea", "set", "cvt", "popcnt", "lzcnt", "tzcnt", "kmov")


@cache
def tool(name: str) -> str | None:
    """The path of one of LLVM's programs, from the package beside the bindings or from PATH; None if there is none."""
    package = importlib.util.find_spec("llvm")
    for folder in (package.submodule_search_locations or ()) if package is not None else ():
        path = Path(folder) / "bin" / name
        if path.exists():
            return str(path)
    return shutil.which(name)


def objdump() -> str | None:
    """The path of `llvm-objdump`; None if there is none."""
    return tool("llvm-objdump")


def asm_lines(objdump: str, code: bytes, source: Sequence[Line]) -> list[Line]:
    """The disassembly of an object file by `llvm-objdump`, with branch targets as labels. Instructions of no line in
    the table of lines are linked through their first use."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.o"
        path.write_bytes(code)
        options = ["-d", "--no-show-raw-insn", "--symbolize-operands"]
        done = subprocess.run([objdump, *options, str(path)], capture_output=True, text=True, check=True)
        # The other program prints nothing where code of no line begins.
        dwarfdump = Path(objdump).with_name("llvm-dwarfdump")
        table = subprocess.run([dwarfdump, "--debug-line", str(path)], capture_output=True, text=True, check=True)
    starts = sorted({int(m[1], 16): int(m[2]) for m in map(_TABLE_ROW.match, table.stdout.splitlines()) if m}.items())
    addresses = [address for address, _ in starts]
    lines: list[Line] = []
    for row in done.stdout.expandtabs(8).splitlines():
        if instruction := _INSTRUCTION.match(row):
            at = bisect_right(addresses, int(instruction[1], 16)) - 1
            number = starts[at][1] if at >= 0 else 0
            origin = source[number - 1] if 1 <= number <= len(source) else Line("")
            lines.append(Line("    " + instruction[2], origin.span, origin.values))
        elif row.endswith(">:"):
            lines.append(Line(row[row.index("<") :]))
    return placed(lines, _names, "LLVM", reused=True)


def _names(text: str) -> tuple[list[str], list[str]] | None:
    """The registers (whatever part of them) and places on the stack that an instruction of x86 sets and reads; of other
    machines none is told."""
    found = _OPCODE.match(text)
    if found is None:
        return None
    opcode, rest = found["opcode"], text[found.end() :].partition("#")[0]
    *first, last = rest.rsplit(",", 1)
    place = _PLACES.fullmatch(last.strip())
    if place is None or opcode.startswith(_NO_RESULT):
        return [], _places(rest)
    added = opcode.startswith(_ADDED) or not (rest.count(",") > 1 or opcode.startswith(("v", *_MOVED)))
    return _places(last), _places(rest if added else "".join(first))


def _places(text: str) -> list[str]:
    return [m["slot"] or f"{m.lastgroup}{m[m.lastgroup]}" for m in _PLACES.finditer(text) if m.lastgroup is not None]
