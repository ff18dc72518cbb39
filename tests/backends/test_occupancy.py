"""Theoretical occupancy, against figures of NVIDIA's occupancy calculator."""

from __future__ import annotations

import pytest

from mytriton.backends.nvidia.occupancy import occupancy


@pytest.mark.parametrize(
    ("chip", "threads", "registers", "shared", "blocks", "percent", "limits"),
    [
        ("sm_90", 128, 32, 0, 16, 100, ("warps", "registers")),
        ("sm_90", 128, 24, 512, 16, 100, ("warps",)),
        ("sm_90", 32, 16, 0, 32, 50, ("blocks",)),
        ("sm_90", 256, 64, 0, 4, 50, ("registers",)),
        ("sm_90", 128, 255, 0, 2, 12, ("registers",)),
        ("sm_90a", 128, 32, 32768, 6, 38, ("shared memory",)),
        ("sm_80", 1024, 32, 0, 2, 100, ("warps", "registers")),
        ("sm_80", 128, 32, 200_000, 0, 0, ("shared memory",)),
        ("sm_75", 128, 32, 65536, 1, 12, ("shared memory",)),
        ("sm_86", 128, 40, 0, 12, 100, ("warps", "registers")),
        ("sm_120", 1024, 32, 0, 1, 67, ("warps",)),
    ],
)
def test_figures(
    chip: str, threads: int, registers: int, shared: int, blocks: int, percent: int, limits: tuple[str, ...]
) -> None:
    found = occupancy(chip, threads, registers, shared)
    assert found is not None
    assert (found.blocks, found.percent, found.limits) == (blocks, percent, limits)


def test_a_chip_that_is_not_known() -> None:
    assert occupancy("sm_70", 128, 32, 0) is None
