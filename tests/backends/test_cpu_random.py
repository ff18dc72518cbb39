"""Random programs with loops, branches, shapes and reductions do on the cpu backend what they do in the interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mytriton.backends.cpu.backend import BACKEND
from mytriton.backends.mlir.run import mlir_available
from mytriton.ir import interp
from mytriton.target import Target
from tests.backends.cpu_support import compilation, same
from tests.ir.structured_programs import GRID, Writer, arguments

pytestmark = pytest.mark.skipif(mlir_available() is not None, reason=str(mlir_available()))


def copies(args: list[Any]) -> list[Any]:
    """The arguments on memory of their own; what was one array twice still is."""
    made: dict[int, Any] = {}
    return [made.setdefault(id(a), a.copy()) if isinstance(a, np.ndarray) else a for a in args]


@pytest.mark.parametrize("seed", range(40))
def test_random_programs(seed: int) -> None:
    func = Writer(seed).func
    args = arguments(func, seed)
    ours, theirs = copies(args), copies(args)
    BACKEND.load(compilation(func, Target("cpu", enable_fp_fusion=False)))((GRID, 1, 1), ours)
    interp.run(func, theirs, (GRID,))
    for param, mine, expected in zip(func.params, ours, theirs, strict=True):
        if isinstance(mine, np.ndarray):
            same(mine, expected, param.id)
