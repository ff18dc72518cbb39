"""The listing of host assembly, each line linked through the object's line table to our MLIR line."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from mytriton.stage import Line

_ASM_LINE = re.compile(r"^; -:(\d+)$")


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


def asm_lines(tool: str, code: bytes, source: Sequence[Line]) -> list[Line]:
    """The disassembly of an object file by `llvm-objdump`, with branch targets as labels."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.o"
        path.write_bytes(code)
        options = ["-d", "-l", "--no-show-raw-insn", "--no-leading-addr", "--symbolize-operands"]
        done = subprocess.run([tool, *options, str(path)], capture_output=True, text=True, check=True)
    lines: list[Line] = []
    number: int | None = None
    for row in done.stdout.expandtabs(8).splitlines():
        place = _ASM_LINE.match(row)
        if place:
            number = int(place[1])
        elif row.startswith((";", str(path), "Disassembly")):
            continue
        elif row.endswith(">:"):
            number = None if not row.startswith("<L") else number
            lines.append(Line(row))
        elif row.strip():
            lines.append(_linked("    " + row.strip(), number, source))
    return lines


def _linked(text: str, number: int | None, source: Sequence[Line]) -> Line:
    if number is None or not 1 <= number <= len(source):
        return Line(text)
    origin = source[number - 1]
    return Line(text, origin.span, origin.values)
