"""Loops, branches, shapes and exchanges of emitted gpu-dialect MLIR: PTX, code, and names."""

from __future__ import annotations

import re

import pytest

from mytriton.backends.mlir.backend import pipeline
from mytriton.backends.mlir.emit import emit
from mytriton.backends.mlir.names import GENERATED
from mytriton.backends.mlir.run import ModuleRun
from mytriton.backends.nvidia.nvjitlink import link
from mytriton.mlir.objects import objects_of
from mytriton.target import Target
from tests.backends.gpu_programs import programs
from tests.backends.mlir_support import ptx_of
from tests.layout.tiles import softmax

pytest.importorskip("mlir.ir", reason="needs the MLIR bindings", exc_type=ImportError)


@pytest.mark.parametrize(
    ("chip", "abi", "form"),
    [("sm_75", "pointer", "plain"), ("sm_80", "memref", "tuned"), ("sm_90", "pointer", "tuned")],
)
def test_every_program_becomes_ptx_and_code_without_local_memory(chip: str, abi: str, form: str) -> None:
    target = Target("mlir", chip=chip, abi=abi, form=form, num_warps=2)
    lines = [emit(program, target) for program in programs(target)]
    joined = [*lines[0][:2], *(line for text in lines for line in text[2:-2]), *lines[0][-2:]]
    run = ModuleRun(joined, prefix="mlir")
    for stage in run.stages(pipeline(target)):
        assert stage.ok, (stage.name, stage.diagnostics)
        if stage.name == "mlir/debug-info":
            assert "unrealized_conversion_cast" not in stage.text
    with run.context:
        ptx = objects_of(run.module)[0].code.decode()
    entries = ptx.split(".visible .entry ")[1:]
    assert len(entries) == len(lines)
    # Only what is printed lies in memory, where `vprintf` finds it.
    assert [entry.split("(")[0] for entry in entries if ".local" in entry] == ["kernel7"]
    for instruction in ("shfl.sync.bfly", "shfl.sync.idx", "bar.sync", "ld.shared", "vprintf"):
        assert instruction in ptx


def test_code_of_a_softmax() -> None:
    ptx = ptx_of(softmax((8, 256), 1), Target("mlir"))
    assert ptx.count("shfl.sync.bfly.b32") == 2 * 4 * 5  # two reductions of 4 rows a thread, over 32 lanes
    assert ptx.count("bar.sync") == 3  # two to exchange, one between them
    assert ".shared .align 16" in ptx
    linked = link(ptx, "sm_90")
    assert linked.resources["stack"] == linked.resources["spill_stores"] == 0
    assert linked.resources["shared"] == 4 * 4 * 4


@pytest.mark.parametrize("abi", ["pointer", "memref"])
def test_every_name_we_make_is_one_we_reserve(abi: str) -> None:
    target = Target("mlir", abi=abi, num_warps=2)
    for program in programs(target):
        text = re.sub('"[^"]*"', "", "\n".join(line.text for line in emit(program, target)))
        made = set(re.findall(r"%(\w+)", text)) - {p.id for p in program.func.params}
        assert [n for n in made if not GENERATED.fullmatch(n)] == []
