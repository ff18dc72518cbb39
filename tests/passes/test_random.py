"""Random kernels mean the same after every pass."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import pytest
from hypothesis import given, settings

from mytriton.ir.core import Func
from mytriton.ir.interp import run
from mytriton.ir.printer import print_func
from mytriton.ir.verify import verify
from mytriton.passes import PASSES
from tests.ir.memory_programs import MemoryWriter
from tests.ir.programs import GRID, Program, assert_same, programs
from tests.ir.structured_programs import Writer, arguments


def launched(func: Func, args: list[Any]) -> tuple[list[Any], str]:
    """The arguments after a launch, and what it printed."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        run(func, args, (GRID,))
    return args, text.getvalue()


def check(func: Func, args: Any) -> None:
    """Every pass, one after the other, keeps the meaning of a kernel; `args()` makes its arguments anew."""
    verify(func)
    expected, printed = launched(func, args())
    for pass_ in PASSES:
        before = func
        func, changes = pass_.run(before)
        verify(func)
        same_text = [line.text for line in print_func(func)] == [line.text for line in print_func(before)]
        assert func is not before or not changes
        assert same_text or changes, f"{pass_.name} changed the listing without a word"
        actual, text = launched(func, args())
        assert_same(actual, expected)
        assert text == printed


@given(programs())
@settings(max_examples=60)
def test_passes_keep_the_meaning(program: Program) -> None:
    check(program.func, program.args)


@pytest.mark.parametrize("seed", range(60))
def test_passes_keep_the_meaning_of_loops_and_branches(seed: int) -> None:
    func = Writer(seed).func
    check(func, lambda: arguments(func, seed))


@pytest.mark.parametrize("seeds", [range(k, k + 20) for k in range(0, 160, 20)])
def test_passes_keep_the_meaning_of_accesses(seeds: range) -> None:
    for seed in seeds:
        writer = MemoryWriter(seed)
        check(writer.func, lambda w=writer, s=seed: w.args(s))
