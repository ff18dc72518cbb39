"""What pipelined loops are in PTX: copies of 16 bytes, one barrier a trip, nothing in local memory."""

from __future__ import annotations

import re

import pytest

from mytriton.stage import Stage
from mytriton.target import Target
from tests import feature_kernels_pipelines as kernels

SIGNATURE = "*fp16:16, *fp16:16, *fp32:16, i32:16, i32:16, i32:16, i32:16, 32, 32, 32, True, False"


def made(backend: str, chip: str, name: str, stages: int = 3) -> Stage:
    """A stage of a product of which each trip takes 32 x 32 numbers of both factors."""
    target = Target(backend, chip, num_warps=1, num_stages=stages)
    found = kernels.tiled_kernel.compile(SIGNATURE, target=target).find(name)
    if found is None or found.status == "skipped":
        pytest.skip(found.reason if found is not None else f"there is no stage {name}")
    assert found.ok
    return found


@pytest.mark.parametrize("chip", ["sm_80", "sm_90"])
@pytest.mark.parametrize("backend", ["cuda", "mlir"])
def test_copies_and_waits(backend: str, chip: str) -> None:
    ptx = made(backend, chip, "ptx").text
    # Two trips before the loop and one in it; of each factor 1024 numbers in copies of 8 by 32 threads.
    assert len(re.findall(r"cp\.async\.cg\.shared\.global *\[.*\], *\[.*\], 16,", ptx)) == 3 * 2 * 4
    assert "cp.async.ca" not in ptx
    assert len(re.findall(r"cp\.async\.commit_group", ptx)) == 3
    assert re.findall(r"cp\.async\.wait_group\s*(\d)", ptx) == ["1"]
    assert "st.shared" not in ptx[: ptx.index("cp.async.wait_group")], "factors do not go through registers"
    used = made(backend, chip, "cubin").stats
    assert used["stack"] == used["spill_stores"] == 0
    assert used["shared"] in (3 * 2 * 2048, 3 * 2 * 2048 + 1024)  # the driver's part is counted for some chips


def test_one_barrier_a_trip() -> None:
    text = made("cuda", "sm_80", "cuda").text
    loop = text[text.index("for (int i = ") :].partition("mt_mma_f16(")[0]
    assert loop.count("__syncthreads") == loop.count("mt_async_wait_1") == 1
    assert loop.index("mt_async_wait_1();") < loop.index("__syncthreads();") < loop.index("mt_async_copy_16")
    assert "mt_async" not in made("cuda", "sm_80", "cuda", stages=1).text
