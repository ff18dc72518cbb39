"""Random programs with loops, branches, shapes and reductions do on the cpu backend what they do in the interpreter."""

from __future__ import annotations

import pytest

from mytriton.backends.mlir.run import mlir_available
from mytriton.target import Target
from tests.backends.carried_programs import CarriedProgram
from tests.backends.cpu_support import agree
from tests.ir.structured_programs import GRID, Writer, arguments

pytestmark = pytest.mark.skipif(mlir_available() is not None, reason=str(mlir_available()))


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed: int) -> None:
    func = Writer(seed).func
    agree(func, arguments(func, seed), (GRID,), Target("cpu", enable_fp_fusion=False))


@pytest.mark.parametrize("seed", range(40))
def test_random_carried_blocks(seed: int) -> None:
    program = CarriedProgram(seed)
    agree(program.func, program.arguments(), (1,), Target("cpu", enable_fp_fusion=False))
