"""The profiler's build: the same code, whose line table is that of the kernel's file."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from mytriton import Compilation
from mytriton.backends.mlir.run import mlir_available
from mytriton.backends.nvidia.line_table import with_kernel_lines
from mytriton.backends.nvidia.tools import find_program
from mytriton.source import SourceUnit, Span
from mytriton.stage import Line
from tests.backends import distinct_lines
from tests.backends.distinct_lines import MARKS, SIGNATURE, distinct

_INSTRUCTION = re.compile(r"\s*/\*[0-9a-f]+\*/\s+(.*?) ?;")
_PLACE = re.compile(r'"([^"]*)", line (\d+)')
TEXT = Path(distinct_lines.__file__).read_text().split("\n")


def compiled(backend: str, line_info: bool) -> Compilation:
    if backend == "mlir" and (reason := mlir_available()):
        pytest.skip(reason)
    return distinct.compile(SIGNATURE, backend=backend, chip="sm_90", line_info=line_info)


def table(cubin: bytes, folder: Path) -> list[tuple[str, list[tuple[str, int]]]]:
    """The instructions of a cubin, each with its places as profilers read them: from the innermost function out."""
    path = folder / "kernel.cubin"
    path.write_bytes(cubin)
    listing = subprocess.run([find_program("nvdisasm"), "-gi", "-c", path], capture_output=True, text=True, check=True)
    found, where, complete = [], [], True
    for row in listing.stdout.split("\n"):
        if "//## File" in row:
            where = [] if complete else where
            where += [(path, int(line)) for path, line in _PLACE.findall(row)][: 1 if where else None]
            complete = False
        elif instruction := _INSTRUCTION.match(row):
            found.append((instruction[1], list(dict.fromkeys(where))))
            complete = True
    return found


@pytest.mark.parametrize("backend", ["cuda", "mlir"])
def test_the_cubin_s_line_table_names_the_kernel_s_file(backend: str, tmp_path: Path) -> None:
    rows = table(compiled(backend, True).stage("cubin").artifact, tmp_path)
    assert {path for _, places in rows for path, _ in places} == {distinct_lines.__file__}
    lines = {what: [TEXT[line - 1].strip() for _, line in places] for what, places in rows}

    def of(opcode: str) -> list[str]:
        return next(lines[what] for what in lines if re.search(opcode, what))

    assert of("STG") == ["tl.store(out + offs, e + b)"]
    assert of("ATOMG|REDG") == ["tl.atomic_add(sums, total)"]
    assert of("SHFL") == ["total = tl.sum(d)"]
    assert of("MUFU.RSQ") == ["d = tl.rsqrt(a) + 7.5"]
    assert of(r"FMUL.* 3\.25") == ["return x * 3.25", "total = tripled(total)"]  # inlined at


@pytest.mark.parametrize("backend", ["cuda", "mlir"])
def test_only_directives_differ(backend: str) -> None:
    usual, profiled = compiled(backend, False), compiled(backend, True)
    assert profiled.stage("sass").text == usual.stage("sass").text
    assert [line.span for line in profiled.stage("sass").lines] == [line.span for line in usual.stage("sass").lines]
    assert profiled.stage("ptx").text == profiled.stage("ptx").artifact


def test_a_call_in_a_call_is_inlined_in_what_is_inlined() -> None:
    units = [SourceUnit("/a.py", name, first, "") for name, first in (("kernel", 10), ("outer", 20), ("inner", 30))]
    call = Span(3, 5, 3, 9)
    outer = Span(2, 7, 2, 8, unit=1, call_site=call)
    ptx = [Line("add.s32 %r1, %r2, %r3;", Span(2, 1, 2, 2, unit=2, call_site=outer)), Line("ret;", Span(1, 1, 1, 2))]
    assert [line.text.strip() for line in with_kernel_lines(ptx, units)] == [
        ".loc\t1 12 5",
        ".loc\t1 21 7, function_name $L__function0, inlined_at 1 12 5",
        ".loc\t1 31 1, function_name $L__function1, inlined_at 1 21 7",
        "add.s32 %r1, %r2, %r3;",
        ".loc\t1 10 1",
        "ret;",
        '.file\t1 "/a.py"',
        ".section\t.debug_str",
        "{",
        "$L__function0:",
        ".b8 111,117,116,101,114,0",
        "$L__function1:",
        ".b8 105,110,110,101,114,0",
        "}",
    ]


def test_the_environment_asks_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYTRITON_LINE_INFO", "1")
    made = {b: distinct.compile(SIGNATURE, backend=b).target.line_info for b in ("cuda", "mlir", "interp")}
    assert made == {"cuda": True, "mlir": True, "interp": False}


@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("backend", ["cuda", "mlir"])
def test_each_line_has_the_instructions_that_only_it_asks_for(backend: str, chip: str) -> None:
    if backend == "mlir" and (reason := mlir_available()):
        pytest.skip(reason)
    made = distinct.compile(SIGNATURE, backend=backend, chip=chip)
    for number, stage in enumerate(("ptx", "sass")):
        lines = made.stage(stage).lines
        for start, marks in MARKS.items():
            marked = [line for line in lines if re.search(marks[number], line.text)]
            texts = {text_of(line, made) for line in marked}
            assert {text.startswith(start) for text in texts} == {True}, (stage, start, texts)


def text_of(line: Line, made: Compilation) -> str:
    return made.units[line.span.unit].line(line.span.line).strip() if line.span is not None else ""
