"""Random kernels mean the same after every pass."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from mytriton.ir.core import Func
from mytriton.ir.interp import run
from mytriton.ir.printer import print_func
from mytriton.ir.verify import verify
from mytriton.passes import PASSES
from tests.ir.programs import GRID, Program, assert_same, programs
from tests.ir.structured_programs import Writer, arguments


def check(func: Func, args: Any) -> None:
    """Every pass, one after the other, keeps the meaning of a kernel; `args()` makes its arguments anew."""
    verify(func)
    expected = args()
    run(func, expected, (GRID,))
    for pass_ in PASSES:
        before = func
        func, changes = pass_.run(before)
        verify(func)
        same_text = [line.text for line in print_func(func)] == [line.text for line in print_func(before)]
        assert func is not before or not changes
        assert same_text or changes, f"{pass_.name} changed the listing without a word"
        actual = args()
        run(func, actual, (GRID,))
        assert_same(actual, expected)


@given(programs())
@settings(max_examples=60)
def test_passes_keep_the_meaning(program: Program) -> None:
    check(program.func, program.args)


@pytest.mark.parametrize("seed", range(100))
def test_passes_keep_the_meaning_of_loops_and_branches(seed: int) -> None:
    func = Writer(seed).func
    check(func, lambda: arguments(func, seed))
