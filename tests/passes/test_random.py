"""Random kernels mean the same after every pass."""

from __future__ import annotations

from hypothesis import given, settings

from mytriton.ir.interp import run
from mytriton.ir.verify import verify
from mytriton.passes import PASSES
from tests.ir.programs import GRID, Program, assert_same, programs


@given(programs())
@settings(max_examples=60)
def test_passes_keep_the_meaning(program: Program) -> None:
    func = program.func
    verify(func)
    expected = program.args()
    run(func, expected, (GRID,))
    for pass_ in PASSES:
        before = func
        func, changes = pass_.run(before)
        verify(func)
        assert func is not before or not changes
        actual = program.args()
        run(func, actual, (GRID,))
        assert_same(actual, expected)
