"""NVIDIA's tools as both GPU backends use them: links, cubins, SASS, and what happens without one of them."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from mytriton.backends.cuda.backend import BACKEND
from mytriton.backends.nvidia import device, disasm, nvjitlink, nvrtc, stages, tools
from mytriton.backends.nvidia.lines import ptx_lines
from mytriton.backends.nvidia.tools import ToolFailed, ToolMissing
from mytriton.source import Span
from mytriton.stage import Line
from mytriton.target import Target
from tests.backends.gpu_memory_cases import scalar_update

SOURCE = """\
__device__ __forceinline__ float twice(float x) {
    return x * 2.0f + 1.0f;
}
extern "C" __global__ void kernel(float* x, int n) {
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) {
        x[i] = twice(x[i]);
    }
}
"""
EMITTED = [Line(text, Span(n, 1, n, 2), (f"%{n}",)) for n, text in enumerate(SOURCE.split("\n"), 1)]


def ptx(chip: str = "90") -> str:
    return nvrtc.compile_ptx(SOURCE, [f"-arch=compute_{chip}", "-lineinfo"]).ptx


def line_of(lines: list[Line] | tuple[Line, ...], text: str) -> int:
    span = next(line.span for line in lines if text in line.text)
    assert span is not None
    return span.line


def test_ptx_lines_are_the_text_and_point_to_the_line_that_calls_a_helper() -> None:
    text = ptx()
    lines = ptx_lines(text, EMITTED)
    assert "\n".join(line.text for line in lines) == text
    assert line_of(lines, "%ctaid.x") == line_of(lines, "%tid.x") == 5
    assert line_of(lines, "setp.ge.s32") == 6
    assert line_of(lines, "ld.global.f32") == line_of(lines, "fma.rn.f32") == line_of(lines, "st.global.f32") == 7
    assert all(line.span is None for line in lines if line.text.startswith((".visible", "$L__", "}", "//")))
    assert next(line.values for line in lines if "ld.global.f32" in line.text) == ("%7",)


def test_an_instruction_of_several_lines_is_linked_as_a_whole() -> None:
    text = "\t.loc\t1 7 3\n\tmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32\n\t{%r1},\n\t{%r2};\n$L__BB0_2:\n\tret;"
    lines = ptx_lines(text, EMITTED)
    assert [line.span.line if line.span else None for line in lines] == [7, 7, 7, 7, None, 7]


def test_a_cubin_comes_from_the_very_ptx_with_its_resources() -> None:
    ptx_stage, cubin, sass = stages.finish(ptx(), lambda: EMITTED, Target(chip="sm_90"))
    assert cubin.artifact[:4] == b"\x7fELF"
    assert cubin.stats["occupancy"] == 100
    assert cubin.stats["registers"] >= 6 and cubin.stats["spill_stores"] == cubin.stats["shared"] == 0
    assert line_of(sass.lines, "LDG.E") == line_of(sass.lines, "FFMA") == line_of(sass.lines, "STG.E") == 7
    assert line_of(sass.lines, "SR_CTAID.X") == 5
    assert not sass.lines[-1].text.endswith("NOP;")
    assert ptx_stage.text == ptx_stage.artifact == ptx().rstrip("\n")


def test_compiled_bytes_do_not_depend_on_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = nvjitlink.link(ptx(), "sm_90").cubin
    monkeypatch.chdir(tmp_path)
    assert nvjitlink.link(ptx(), "sm_90").cubin == here


def test_the_assembler_log_gives_the_resources() -> None:
    log = (
        "ptxas info    : Compiling entry function 'k' for 'sm_90'\n"
        "ptxas         .     8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n"
        "ptxas info    : Used 255 registers, used 1 barriers, 512 bytes smem\n"
    )
    found = nvjitlink.resources(log)
    assert found == {
        "registers": 255, "barriers": 1, "shared": 512, "stack": 8, "spill_stores": 4, "spill_loads": 12,
    }  # fmt: skip


def test_ptx_that_is_refused_names_its_line() -> None:
    broken = ptx().replace("fma.rn.f32", "fmaa.rn.f32")
    _, cubin = stages.finish(broken, lambda: EMITTED, Target(chip="sm_90"))
    (diagnostic,) = cubin.diagnostics
    assert cubin.status == "failed" and diagnostic.code == "MT502"
    assert "Not a name of any known instruction: 'fmaa'" in diagnostic.message
    assert diagnostic.span is not None and diagnostic.span.line == 7


def test_cuda_that_is_refused_names_its_line() -> None:
    with pytest.raises(ToolFailed, match=r"kernel.cu\(2\): error: identifier \"w\" is undefined"):
        nvrtc.compile_ptx('extern "C" __global__ void k(int* x) {\nx[0] = w;\n}', ["-arch=compute_90"])


def lowered(**target: Any) -> list[Any]:
    return list(BACKEND.lower(scalar_update().func, Target(**target)))


def test_a_missing_tool_skips_its_stages_and_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ToolMissing(f"{name} is not installed; try: pip install x")

    monkeypatch.setattr(disasm, "find_program", missing)
    assert [(s.name, s.status) for s in lowered()][-2:] == [("cubin", "ok"), ("sass", "skipped")]
    monkeypatch.setattr(nvjitlink, "find_program", missing)
    monkeypatch.setattr(nvjitlink, "library_path", missing)
    last = lowered()[-2:]
    assert [(s.name, s.status) for s in last] == [("cubin", "skipped"), ("sass", "skipped")]
    assert last[0].reason == "nvJitLink is not installed; try: pip install x"
    monkeypatch.setattr(nvrtc, "load_library", missing)
    made = lowered()
    assert [(s.name, s.status) for s in made][1:] == [
        ("cuda", "ok"), ("ptx", "skipped"), ("cubin", "skipped"), ("sass", "skipped"),
    ]  # fmt: skip


def test_ptxas_assembles_if_it_is_of_the_same_cuda(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    major = nvjitlink.library_path("nvJitLink").name.rpartition(".")[2]
    for number, (release, taken) in enumerate(((f"{major}.9", True), ("11.8", False), ("nothing", False))):
        program = tmp_path / f"ptxas{number}"
        program.write_text(f"#!/bin/sh\necho Cuda compilation tools, release {release}, V{release}.1\n")
        program.chmod(0o755)
        monkeypatch.setattr(nvjitlink, "find_program", lambda name, found=program: str(found))
        assert (nvjitlink.assembler_path() == program) is taken


def test_a_chip_the_installed_nvrtc_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvrtc, "supports", lambda chip: False)
    stage = lowered(chip="sm_120")[2]
    assert stage.status == "skipped" and "does not know sm_120" in stage.reason


def test_tools_come_from_wheels_and_a_cuda_12_driver_prefers_cuda_12(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "site-packages" in tools.load_library("nvrtc")._name
    assert "site-packages" in tools.find_program("nvdisasm")
    monkeypatch.setattr(tools, "probe", lambda: device.Probe("ready", driver=(12, 4)))
    assert tools._majors() == (12, 13)
    assert str(tools._missing("nvrtc")).endswith("pip install 'nvidia-cuda-nvrtc-cu12'")


def test_the_assembler_is_looked_for_once_and_beside_others(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def missing() -> Path:
        asked.append(threading.current_thread().name)
        raise ToolMissing("no assembler")

    monkeypatch.setattr(nvjitlink, "assembler_path", missing)
    nvjitlink.look_early.cache_clear()
    for _ in range(2):
        nvjitlink.look_early()
    for thread in threading.enumerate():
        if thread.name == "mytriton-assembler":
            thread.join()
    assert asked == ["mytriton-assembler"]
    nvjitlink.look_early.cache_clear()
