"""What a kernel takes of a GPU: the same figures in the API, the explorer's strip and `--json`, with no GPU."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import mytriton as triton
from explorer.__main__ import main
from explorer.model.resources import figures
from explorer.model.result import LineView, StageView

SOURCE = """\
import mytriton as triton
import mytriton.language as tl


@triton.jit
def total(x: "*fp32", y: "*fp32", n: "i32", BLOCK: tl.constexpr = 1024):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + tl.program_id(0), tl.sum(tl.sin(tl.load(x + offs, mask=offs < n, other=0.0)), 0))
"""


def compiled(**target: Any) -> triton.Compilation:
    kernel = triton.read_module(SOURCE, "total.py").kernels[0]
    return triton.compile_kernel(kernel, triton.parse_signature(kernel), triton.Target(**target))


@pytest.mark.parametrize("chip", ["sm_80", "sm_90"])
@pytest.mark.parametrize("backend", ["cuda", "mlir"])
def test_api_strip_and_json_have_the_same_figures(backend, chip, tmp_path: Path, capsys: Any) -> None:
    compilation = compiled(backend=backend, chip=chip)
    found = compilation.resources()
    cubin = compilation.stage("cubin")
    lines = tuple(LineView(line.text) for line in cubin.lines)
    shown = figures(StageView("cubin", "binary", "text", lines=lines, stats=cubin.stats), None)
    filled = found.occupancy
    assert filled is not None
    mine = (found.registers, found.shared, found.spill_stores + found.spill_loads, found.stack, found.constant)
    wanted = (*mine, filled.percent, " and ".join(filled.limits))
    assert wanted == (
        shown.registers, shown.shared, shown.spills, shown.stack, shown.constant, shown.occupancy, shown.limits,
    )  # fmt: skip
    assert 16 <= found.registers <= 64 and 16 <= found.shared <= 512
    assert found.stack in (0, 32)  # of the sine, for large x; ptxas inlines what nvJitLink does not
    assert found.constant > 3 * 8 and found.spill_stores == found.spill_loads == 0 < found.barriers
    assert f"{found.registers}" in str(found) and "limited by" in str(found)
    path = tmp_path / "total.py"
    path.write_text(SOURCE)
    assert main([str(path), "--json", "--show", "resources", "--backend", backend, "--chip", chip]) == 0
    told = json.loads(capsys.readouterr().out)["resources"]
    names = ("registers", "shared", "spills", "stack", "constant", "occupancy", "limits")
    assert tuple(told[name] for name in names) == wanted


def test_what_has_no_resources_says_so() -> None:
    with pytest.raises(triton.BackendUnavailable, match="the interp backend makes no code for GPUs"):
        compiled(backend="interp").resources()
