"""SASS: the machine code of a cubin as nvdisasm lists it, each instruction with the source it came from."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mytriton.backends.nvidia.control import control_code
from mytriton.backends.nvidia.tools import ToolFailed, find_program
from mytriton.cache import Entry
from mytriton.stage import Line

# A cubin made with line information refers to the lines of the PTX it was made from under this name.
_WHERE = re.compile(r'\s*//## File "[^"]*\.nv_debug_ptx_txt[^"]*", line (?P<line>\d+)')
_INSTRUCTION = re.compile(r"\s*/\*(?P<address>[0-9a-f]{4,})\*/\s+(?P<text>.*?;)")
# With `-hex` each instruction is followed by the upper half of its encoding, alone on a line.
_UPPER = re.compile(r"\s*/\* 0x(?P<upper>[0-9a-f]{16}) \*/$")
_LABEL = re.compile(r"\.L_x_\d+:")
_FUNCTION = re.compile(r"[\w$]+:$")
_ENTRY = re.compile(r"\s*\.global\s+(?P<name>[\w$]+)$")


def kept_disassembly(cubin: bytes) -> tuple[str, bool]:
    """What `disassemble` gives, from the disk if it was asked for earlier; and whether it was."""
    entry = Entry("sass", (cubin,), (find_program("nvdisasm"),), (__file__,))
    parts = entry.read()
    if parts is not None:
        return parts["listing"].decode(), True
    listing = disassemble(cubin)
    entry.write({"listing": listing.encode()})
    return listing, False


def disassemble(cubin: bytes) -> str:
    """nvdisasm's listing of a cubin's code with encodings and line information. Takes about half a second whatever the
    kernel; raises `ToolMissing` or `ToolFailed`."""
    import subprocess  # here, since these take as long to import as a kernel to compile
    import tempfile

    program = find_program("nvdisasm")
    with tempfile.NamedTemporaryFile(prefix="mytriton-", suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        command = [program, "-g", "-gp", "-hex", "-c", file.name]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise ToolFailed(f"nvdisasm failed with exit code {done.returncode}", done.stderr.replace(file.name, "cubin"))
    return done.stdout


def sass_lines(listing: str, ptx: Sequence[Line]) -> list[Line]:
    """The instructions, each after its control code, and the labels of an nvdisasm listing, linked through the PTX line
    each came from (both nvJitLink and ptxas record it). The kernel comes before the functions it calls, such as a
    division's slow path; padding after the last branch of each is left out."""
    functions: list[list[Line]] = []
    kernel = ""
    origin: Line | None = None
    for text in listing.split("\n"):
        if entry := _ENTRY.match(text):
            kernel = f"{entry['name']}:"
        elif where := _WHERE.match(text):
            number = int(where["line"])
            origin = ptx[number - 1] if 1 <= number <= len(ptx) else None
        elif _FUNCTION.match(text):
            functions.append([Line(text)])
            origin = None
        elif functions and (instruction := _INSTRUCTION.match(text)):
            span, values = (origin.span, origin.values) if origin is not None else (None, ())
            functions[-1].append(Line(f"/*{instruction['address']}*/ {instruction['text']}", span, values))
        elif functions and (encoded := _UPPER.match(text)):
            last = functions[-1][-1]
            address, _, code = last.text.partition(" ")
            code = f"{address} {control_code(int(encoded['upper'], 16))} {code}"
            functions[-1][-1] = Line(code, last.span, last.values)
        elif functions and _LABEL.match(text):
            functions[-1].append(Line(text.strip()))
    functions.sort(key=lambda lines: lines[0].text != kernel)
    return [line for lines in functions for line in _without_padding(lines)]


def _without_padding(lines: list[Line]) -> list[Line]:
    while lines[-1].text.endswith("NOP;") or lines[-1].text.startswith(".L_x_"):
        lines.pop()
    return lines
