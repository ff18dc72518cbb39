"""CUDA C++ as emitted: the text, that NVRTC takes it for every chip, and what it computes, emulated on the CPU."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mytriton.backends.cuda.emit import emit
from mytriton.ir.arithmetic import DTYPES
from mytriton.layout.assign import lay_out
from mytriton.target import Target
from mytriton.types import ScalarType
from tests.backends.emulate import build
from tests.backends.gpu_cases import Case, check, every_case


def text_of(case: Case, target: Target) -> str:
    return "\n".join(line.text for line in emit(lay_out(case.func, target), target))


TARGETS = [
    Target(num_warps=1, chip="sm_75"),
    Target(num_warps=4, chip="sm_75"),
    Target(num_warps=2, form="plain", chip="sm_75"),
]


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
@pytest.mark.parametrize("target", TARGETS, ids=lambda t: f"{t.form}-{t.num_warps}")
def test_emulated_kernels_agree_with_the_interpreter(
    target: Target, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    cases = every_case()
    library = build([(text_of(c, target), target.threads) for c in cases], tmp_path)
    for number, case in enumerate(cases):
        args = case.copies()
        types = [DTYPES[p.type] if isinstance(p.type, ScalarType) else None for p in case.func.params]
        library.run(number, case.grid, args, types)
        check(case, args)
    assert "runtime error" not in capfd.readouterr().err
