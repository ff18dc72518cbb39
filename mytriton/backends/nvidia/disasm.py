"""SASS: the machine code of a cubin as nvdisasm lists it, each instruction with the source it came from."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Sequence

from mytriton.backends.nvidia.tools import ToolFailed, find_program
from mytriton.stage import Line

# A cubin made with line information refers to the lines of the PTX it was made from under this name.
_WHERE = re.compile(r'\s*//## File "[^"]*\.nv_debug_ptx_txt[^"]*", line (?P<line>\d+)')
_INSTRUCTION = re.compile(r"\s*/\*(?P<address>[0-9a-f]{4,})\*/\s+(?P<text>.*?;)")
_LABEL = re.compile(r"\.L_x_\d+:")


def disassemble(cubin: bytes) -> str:
    """nvdisasm's listing of a cubin's code with line information. Takes about half a second whatever the kernel; raises
    `ToolMissing` or `ToolFailed`."""
    program = find_program("nvdisasm")
    with tempfile.NamedTemporaryFile(prefix="mytriton-", suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        command = [program, "-g", "-gp", "-c", file.name]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise ToolFailed(f"nvdisasm failed with exit code {done.returncode}", done.stderr.replace(file.name, "cubin"))
    return done.stdout


def sass_lines(listing: str, ptx: Sequence[Line]) -> list[Line]:
    """The instructions and labels of an nvdisasm listing, linked through the PTX line each came from (both nvJitLink
    and ptxas record it). Padding after the last branch is left out."""
    lines: list[Line] = []
    origin = Line("")
    for text in listing.split("\n"):
        if where := _WHERE.match(text):
            number = int(where["line"])
            origin = ptx[number - 1] if 1 <= number <= len(ptx) else Line("")
        elif instruction := _INSTRUCTION.match(text):
            lines.append(Line(f"/*{instruction['address']}*/ {instruction['text']}", origin.span, origin.values))
        elif _LABEL.match(text):
            lines.append(Line(text.strip()))
    while lines and (lines[-1].text.endswith("NOP;") or lines[-1].text.startswith(".L_x_")):
        lines.pop()
    return lines
