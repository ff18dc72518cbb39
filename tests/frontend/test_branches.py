"""Run-time branches: what names are after them, early returns, and what an author is told."""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from tests.frontend.support import errors, hints, lowered, rendered, ssa

i32 = np.int32


def run(kernel, grid, *args, **constexprs):
    kernel[grid](*args, backend="interp", **constexprs)
    return args


@triton.jit
def choices(out, n):
    p = tl.program_id(0)
    q = out
    if p > n:
        y = p * 2
        t = (p, 1)
        q = out + 16
    elif p == n:
        y = 7
        t = (0, 2)
    else:
        y = n
        t = (3, p)
    tl.store(q + p, y * 100 + t[0] * 10 + t[1])


def test_names_bound_in_every_branch_are_defined_after_it():
    out = np.zeros(32, i32)
    run(choices, 4, out, 2)
    assert out[:4].tolist() == [230, 231, 702, 0]
    assert out[16 + 3] == 600 + 30 + 1


@triton.jit
def returns(out, n, m):
    p = tl.program_id(0)
    if p >= n:
        return
    v = 1
    if p > 1:
        if p == m:
            tl.store(out + p, -1)
            return
        v = 2
        w = p
    else:
        w = 10
        if p == 0:
            v = 3
    for j in range(n, 0, -2):
        v += j
    tl.store(out + p, v * 100 + w)


def returns_reference(p, n, m):
    if p >= n:
        return 0
    v, w = 1, 10
    if p > 1:
        if p == m:
            return -1
        v, w = 2, p
    elif p == 0:
        v = 3
    return (v + sum(range(n, 0, -2))) * 100 + w


@pytest.mark.parametrize("n", [0, 3, 5])
@pytest.mark.parametrize("m", [1, 2, 4])
def test_early_returns(n, m):
    out = np.zeros(6, i32)
    run(returns, 6, out, n, m)
    assert out.tolist() == [returns_reference(p, n, m) for p in range(6)]


@triton.jit
def both_return(out, n):
    p = tl.program_id(0)
    if p < n:
        tl.store(out + p, 1)
        return
    else:  # noqa: RET505 (as authors write it)
        tl.store(out + p, 2)
        return
    tl.store(out + p, undefined)  # noqa: F821 (nothing reaches it)


def test_nothing_follows_two_returns():
    out = np.zeros(4, i32)
    run(both_return, 4, out, 2)
    assert out.tolist() == [1, 1, 2, 2]


@triton.jit
def unrolled_search(x, out, N: tl.constexpr):
    p = tl.program_id(0)
    tl.store(out + p, -1)
    for k in tl.static_range(N):
        if tl.load(x + k) == p:
            tl.store(out + p, k)
            return
    tl.store(out + p, -2)


def test_a_return_in_an_unrolled_loop():
    x, out = np.array([3, 1, 1, 0], i32), np.zeros(5, i32)
    run(unrolled_search, 5, x, out, N=4)
    assert out.tolist() == [3, 1, -2, 0, -2]


def test_the_listing_of_an_early_return():
    text = """
    def k(out, n):
        p = tl.program_id(0)
        if p >= n:
            return
        tl.store(out + p, p)
    """
    assert ssa(text, "*i32, i32").splitlines() == [
        "%0 = program_id {axis=0} : i32",
        "%1 = cmp_ge %0, n : bool",
        "if %1 {",
        "} else {",
        "  %2 = addptr out, %0 : ptr<i32>",
        "  store %2, %0",
        "}",
    ]


def test_a_return_in_a_nested_branch_hands_on_whether_it_returned():
    text = """
    def k(out, n):
        p = out
        if n > 1:
            if n > 2:
                return
            p = out + n
        tl.store(p, n)
    """
    assert ssa(text, "*i32, i32").splitlines() == [
        "%0 = cmp_gt n, 1 : bool",
        "%1, %2 = if %0 : bool, ptr<i32> {",
        "  %3 = cmp_gt n, 2 : bool",
        "  %4, %5 = if %3 : bool, ptr<i32> {",
        "    yield true, out",
        "  } else {",
        "    %6 = addptr out, n : ptr<i32>",
        "    yield false, %6",
        "  }",
        "  yield %4, %5",
        "} else {",
        "  yield false, out",
        "}",
        "if %1 {",
        "} else {",
        "  store %2, n",
        "}",
    ]


def test_what_both_branches_leave_alike_is_no_result():
    text = """
    def k(out, n, B: tl.constexpr):
        a, b = n, B
        if n > 0:
            a, c, d = n, 3, tl.float32
        else:
            b, c, d = B, 3, tl.float32
        tl.store(out + tl.arange(0, b), (a + c).to(d))
    """
    assert "yield" not in ssa(text, "*fp32, i32, 8")


def test_conditions_are_numbers_that_are_not_zero():
    text = """
    def k(out, n, v):
        if n:
            tl.store(out, 1)
        if v:
            tl.store(out, 2)
        if tl.arange(0, 1) < n:
            tl.store(out, 3)
    """
    listing = ssa(text, "*i32, i32, fp32")
    assert "if bool(n) {" in listing
    assert "if bool(v) {" in listing
    assert "reshape" in listing


def test_a_branch_decided_at_compile_time_is_not_typed():
    text = """
    def k(out, n, F: tl.constexpr):
        if n > 0:
            if F:
                tl.store(out, n)
            elif undefined:
                nonsense
            else:
                more.nonsense()
    """
    lowered(text, "*i32, i32, 1")


ONE_SIDE = "assigned only here, in one branch of a run-time `if`"
BINDINGS = [
    ("y = 1", "pass", f"kernel.py:7:9: {ONE_SIDE}"),
    ("pass", "y = 1", f"kernel.py:9:9: {ONE_SIDE}"),
    ("y = 1", "y = 1.5", "kernel.py:9:9: f32 here, but i32 in the other branch of the `if`"),
    ("y = x", "y = n", "kernel.py:9:9: i32 here, but ptr<i32> in the other branch of the `if`"),
    ("for y in range(3): pass", "y = 1", f"kernel.py:9:9: {ONE_SIDE}"),
]


@pytest.mark.parametrize(("then", "orelse", "label"), BINDINGS)
def test_names_that_are_not_defined_after_a_branch(then, orelse, label):
    text = f"def k(x, n):\n    if n > 0:\n        {then}\n    else:\n        {orelse}\n    tl.store(x, y)"
    assert errors(text, "*i32, i32") == ["7:17 MT130 `y` is not defined here"]
    assert label in rendered(text, "*i32, i32")


CHANGES = [
    ("y = 1", "y = 1.5", "pass", "5:9 MT146 `y` becomes f32 here, but is i32 before the `if`"),
    ("y = 1", "pass", "y = n > 0", "7:9 MT146 `y` becomes bool here, but is i32 before the `if`"),
    ("y = 1.5", "y = n", "y = x", "7:9 MT146 `y` becomes ptr<i32> here, but is i32 in the other branch"),
    ("y = None", "y = n", "pass", "5:9 MT146 `y` becomes i32 here, but is the constexpr None before the `if`"),
    ("y: tl.constexpr = 1", "y = n", "pass", "5:9 MT149 the constexpr `y` cannot change in a run-time `if`"),
    ("y: tl.constexpr = 1", "y = 2", "pass", "5:9 MT149 the constexpr `y` cannot change in a run-time `if`"),
]


@pytest.mark.parametrize(("before", "then", "orelse", "message"), CHANGES)
def test_a_name_keeps_its_type(before, then, orelse, message):
    text = f"def k(x, n):\n    {before}\n    if n > 0:\n        {then}\n    else:\n        {orelse}\n    tl.store(x, y)"
    assert errors(text, "*i32, i32") == [message]


def test_a_changed_type_is_no_mistake_where_nobody_looks():
    text = """
    def k(x, n):
        if n > 0:
            y = 1
            tl.store(x, y)
        else:
            y = 2.5
            tl.store(x, y)
        z = 0
        if n > 3:
            z = 0.5
            tl.store(x, z)
            return
        tl.store(x, z)
    """
    lowered(text, "*i32, i32")


def test_branches_that_nest_too_deep():
    text = "def k(x, n):\n    if n == 0:\n        pass\n"
    text += "".join(f"    elif n == {i}:\n        tl.store(x, {i})\n" for i in range(1, 130))
    (found,) = errors(text, "*i32, i32")
    assert found.endswith("MT147 branches and loops nest more than 100 deep")
    assert hints(text, "*i32, i32") != [""]
