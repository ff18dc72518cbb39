"""Structured control flow, shapes and reductions as CUDA C++: what random programs compute, emulated on the CPU."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mytriton.backends.cuda.emit import emit
from mytriton.ir.arithmetic import DTYPES
from mytriton.layout.assign import lay_out
from mytriton.layout.program import LaidOut
from mytriton.target import Target
from mytriton.types import ScalarType
from tests.backends.emulate import build
from tests.backends.gpu_case import check
from tests.backends.private_programs import private_case
from tests.backends.scattered import scatter

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")


def text(laid_out: LaidOut, target: Target) -> str:
    return "\n".join(line.text for line in emit(laid_out, target))


@needs_compiler
@pytest.mark.parametrize("lay", [lambda func, target, seed: lay_out(func, target), scatter], ids=["good", "scattered"])
def test_random_programs(lay: Callable[..., LaidOut], tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    cases: list[Any] = []
    for seed in range(40):
        target = Target(num_warps=(1, 2, 4)[seed % 3], form="tuned" if seed % 2 else "plain", chip="sm_75")
        case = private_case(seed)
        cases.append((case, text(lay(case.func, target, seed), target), target.threads))
    library = build([(text, threads) for _, text, threads in cases], tmp_path)
    for number, (case, _, _) in enumerate(cases):
        args = case.copies()
        types = [DTYPES[p.type] if isinstance(p.type, ScalarType) else None for p in case.func.params]
        library.run(number, case.grid, args, types)
        check(case, args)
    assert "runtime error" not in capfd.readouterr().err
