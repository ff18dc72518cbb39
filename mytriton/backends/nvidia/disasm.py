"""SASS: the machine code of a cubin as nvdisasm lists it, each instruction with the source it came from."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mytriton.backends.nvidia.control import control_code
from mytriton.backends.nvidia.sass_links import linked, products
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
    functions: list[tuple[list[str], list[int]]] = []
    kernel = ""
    number = 0
    for text in listing.split("\n"):
        if entry := _ENTRY.match(text):
            kernel = f"{entry['name']}:"
        elif where := _WHERE.match(text):
            number = int(where["line"])
        elif _FUNCTION.match(text):
            functions.append(([text], [0]))
            number = 0
        elif functions and (instruction := _INSTRUCTION.match(text)):
            texts, rows = functions[-1]
            texts.append(f"/*{instruction['address']}*/ {instruction['text']}")
            rows.append(number)
        elif functions and (encoded := _UPPER.match(text)):
            texts, _ = functions[-1]
            address, _, code = texts[-1].partition(" ")
            texts[-1] = f"{address} {control_code(int(encoded['upper'], 16))} {code}"
        elif functions and _LABEL.match(text):
            texts, rows = functions[-1]
            texts.append(text.strip())
            rows.append(0)
    functions.sort(key=lambda function: function[0][0] != kernel)
    return linked([_lines(_without_padding(texts), rows, ptx) for texts, rows in functions]) if functions else []


def _without_padding(texts: list[str]) -> list[str]:
    while texts[-1].endswith("NOP;") or texts[-1].startswith(".L_x_"):
        texts.pop()
    return texts


def _lines(texts: Sequence[str], rows: Sequence[int], ptx: Sequence[Line]) -> list[Line]:
    """The lines of a function."""
    made = [ptx[row - 1] if 1 <= row <= len(ptx) else Line("") for row in products(texts, rows, ptx)]
    return [Line(text, origin.span, origin.values, origin.made_by) for text, origin in zip(texts, made, strict=False)]
