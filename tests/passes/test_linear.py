"""The passes do work in proportion to a kernel's length: counted in calls, since times depend on the machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from mytriton.analysis.axis import axis_info
from mytriton.analysis.ranges import value_ranges
from mytriton.ir.core import Func, count_ops
from mytriton.ir.verify import verify
from mytriton.passes import PASSES
from mytriton.target import Target
from tests.ir.long_kernels import LONG


def calls(function: Callable[[], Any]) -> tuple[Any, int]:
    """What a function returns, and how many calls of Python and built-in functions it makes."""
    count = 0

    def event(frame: Any, what: str, argument: Any) -> None:
        nonlocal count
        if what in ("call", "c_call"):
            count += 1

    sys.setprofile(event)
    try:
        result = function()
    finally:
        sys.setprofile(None)
    return result, count


def work(func: Func) -> dict[str, int]:
    """Calls made by each pass, the verifier and the analyses, and the changes logged."""
    _, verifying = calls(lambda: verify(func))
    ranges, ranging = calls(lambda: value_ranges(func, Target()))
    _, lining = calls(lambda: axis_info(func, ranges))
    found = {"operations": count_ops(func), "verify": verifying, "ranges": ranging, "axis": lining}
    for pass_ in PASSES:
        (func, changes), found[pass_.name] = calls(lambda p=pass_, f=func: p.run(f))  # type: ignore[misc]
        found[f"{pass_.name} log"] = sum(len(c.before) + len(c.after) + len(c.why) for c in changes)
    return found


@pytest.mark.parametrize("name", LONG)
def test_twice_the_operations_are_twice_the_work(name: str) -> None:
    short, long = work(LONG[name](2500)), work(LONG[name](5000))
    assert 2300 < short["operations"] < 2700
    assert 1.9 < long["operations"] / short["operations"] < 2.1
    assert {what: f"{long[what] / short[what]:.1f}" for what in short if long[what] > 2.2 * short[what]} == {}


def test_every_pass_has_something_to_do_in_these_kernels() -> None:
    func = LONG["nested loops and branches"](250)
    for pass_ in PASSES:
        func, changes = pass_.run(func)
        assert changes, pass_.name
