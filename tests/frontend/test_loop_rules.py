"""What an author is told about run-time loops."""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton import LaunchError, Target, compile_kernel, parse_signature
from mytriton.compile import source_stage
from tests.frontend.support import errors, hints, kernel_from, lowered, rendered

FLOAT = "start with a float: acc = 0.0"

CHANGES = [
    ("acc = 0", "acc += tl.load(x + k)", "`acc` is i32 before the loop, but becomes f32 here", FLOAT),
    ("acc = n", "acc = acc.to(tl.int64)", "`acc` is i32 before the loop, but becomes i64 here", None),
    ("acc = 0.0", "acc = 1", "`acc` is f32 before the loop, but becomes i32 here", None),
    ("acc = n", "acc = tl.arange(0, 4)", "`acc` is i32 before the loop, but becomes vector<4 x i32> here", None),
    ("acc = (0, 1)", "acc = (0, 1.5)", "`acc` is i32 before the loop, but becomes f32 here", FLOAT),
    ("acc = (0, 1)", "acc = (0, 1, 2)", "`acc` is (i32, i32) before the loop, but becomes (i32, i32, i32) here", None),
    ("acc = None", "acc = k", "`acc` is the constexpr None before the loop, but becomes i32 here", None),
    ("acc = x", "acc = n", "`acc` is ptr<f32> before the loop, but becomes i32 here", None),
    ("acc: tl.constexpr = 4", "acc = k", "the constexpr `acc` cannot change in a run-time loop", None),
    ("acc: tl.constexpr = 4", "acc += 1", "the constexpr `acc` cannot change in a run-time loop", None),
    ('acc = "a"', 'acc = "b"', "`acc` is the constexpr 'a' before the loop, but becomes the constexpr 'b' here", None),
]


@pytest.mark.parametrize(("before", "inside", "message", "hint"), CHANGES)
@pytest.mark.parametrize("loop", ["for k in range(n):", "k = 0\n    while k < n:"])
def test_a_carried_name_keeps_its_type(before, inside, message, hint, loop):
    text = f"def k(x, n):\n    {before}\n    {loop}\n        {inside}\n"
    (found,) = errors(text, "*fp32, i32")
    line = 5 if loop.startswith("for") else 6
    assert found.endswith(message) and found.startswith(f"{line}:9 MT14")
    if hint is not None:
        assert hints(text, "*fp32, i32") == [hint]


def test_the_message_for_a_changed_type_shows_both_places():
    text = "def k(x, n):\n    acc = 0\n    for k in range(n):\n        acc += tl.load(x + k)\n    tl.store(x, acc)"
    assert rendered(text, "*fp32, i32") == (
        "kernel.py:8:9: error[MT145]: `acc` is i32 before the loop, but becomes f32 here\n"
        "8 |         acc += tl.load(x + k)\n"
        "  |         ^^^\n"
        "kernel.py:6:5: i32 here\n"
        "6 |     acc = 0\n"
        "  |     ^^^\n"
        "help: start with a float: acc = 0.0"
    )


def test_names_of_a_loop_are_not_defined_after_it_and_not_before_their_first_value():
    text = """
    def k(x, n):
        k = 5
        for k in range(n):
            tl.store(x, later)
            later = k
        tl.store(x, k)
        tl.store(x, later)
    """
    assert errors(text, "*i32, i32") == [
        "5:21 MT130 `later` is not defined here",
        "7:17 MT130 `k` is not defined here",
        "8:17 MT130 `later` is not defined here",
    ]
    message = rendered(text, "*i32, i32")
    assert "kernel.py:9:9: its first value comes only here, later in the loop" in message
    assert "kernel.py:7:9: the loop variable ends with its loop" in message
    assert "kernel.py:9:9: assigned only here, inside a loop" in message


def test_an_inner_loop_variable_is_gone_in_the_next_trip():
    text = """
    def k(x, n):
        j = 1
        for i in range(n):
            tl.store(x, j)
            for j in range(3):
                pass
    """
    assert errors(text, "*i32, i32") == ["5:21 MT130 `j` is not defined here"]


@triton.jit
def counted_by(out, n, step):
    total = 0
    for i in range(0, n, step):
        total += i
    tl.store(out, total)


@pytest.mark.parametrize("backend", ["interp", "cpu"])
def test_a_run_time_step_of_0_is_an_error_with_its_line(backend):
    out = np.zeros(1, np.int32)
    counted_by[1](out, 10, 3, backend=backend)
    assert out[0] == 18
    line = counted_by.kernel.unit.first_line + 3
    with pytest.raises(LaunchError, match=rf":{line}:5: assertion failed .*: the step of a loop must not be 0$"):
        counted_by[1](out, 10, 0, backend=backend)


@pytest.mark.parametrize(("backend", "check"), [("cuda", "__assertfail("), ("mlir", "cf.assert %")])
def test_the_step_is_checked_by_what_is_compiled(backend, check):
    kernel = kernel_from("def k(out, n, s):\n    for i in range(0, n, s):\n        tl.store(out, i)")
    compilation = compile_kernel(kernel, parse_signature(kernel, "*i32, i32, i32", {}), Target(backend))
    assert check in compilation.stage(source_stage(compilation.planned)).text


@pytest.mark.parametrize(("step", "checked"), [("tl.num_programs(0)", False), ("tl.num_programs(0) * 2", True)])
def test_a_step_that_cannot_be_0_is_not_checked_at_run_time(step, checked):
    kernel = kernel_from(
        f"def k(out, n):\n    for i in range(tl.program_id(0), n, {step}):\n        tl.store(out + i, i)"
    )
    compilation = compile_kernel(kernel, parse_signature(kernel, "*i32, i32", {}), Target("interp"))
    assert ("assert" in compilation.stage("ssa").text) == checked
    if not checked:
        assert "cmp_ne" not in compilation.stage("ssa").text


MISUSES = [
    ("for k in range(0.5): pass", 20, "MT211 a loop bound must be an integer, got 0.5"),
    ("for k in range(v): pass", 20, "MT211 a loop bound must be an integer, got `v` (f32)"),
    ("for k in range(i): pass", 20, "MT211 a loop bound must be an integer, got `i` (vector<4 x i32>)"),
    ("for k in range(x): pass", 20, "MT211 a loop bound must be an integer, got `x` (ptr<f32>)"),
    ("for k in range(0, n, 0): pass", 26, "MT144 the step of a loop must not be 0"),
    ("for k in tl.range(0, n, step=0): pass", 34, "MT144 the step of a loop must not be 0"),
    ("for k in range(0, n, step=1): pass", 14, "MT120 `range` takes (end), (start, end) or (start, end, step)"),
    ("for k in range(): pass", 14, "MT120 `range` takes (end), (start, end) or (start, end, step)"),
    ("for k in tl.range(n, num_stages=n): pass", 37, "MT210 `num_stages` must be a constexpr, but `n` (i32) is not"),
    ("for k in tl.range(n, num_stages=-1): pass", 37, "MT143 `num_stages` is a number of buffers, got -1"),
    ("for k in tl.range(n, stages=2): pass", 14, "MT120 `tl.range` takes (end), (start, end) or (start, end, step)"),
    ("for k in range(u, 0, -1): pass", 26,
     "MT144 a loop that counts in uint64 cannot use -1, which may be negative"),
    ("for k in range(0, u, n): pass", 26,
     "MT144 a loop that counts in uint64 cannot use `n` (i32), which may be negative"),
    ("while i < 3: pass", 11,
     "MT148 the condition of a `while` must be one number, but `i < 3` (vector<4 x bool>) has many"),
    ("while 1 < 2: pass", 11, "MT151 the condition of this `while` is always true"),
    ("for k in range(n): return", 24, "MT141 `return` in a run-time loop is not part of the kernel language"),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "column", "message"), MISUSES)
def test_misuse(statement, column, message):
    text = "def k(x, n, v, u):\n    i = tl.arange(0, 4)\n    " + statement
    (found,) = errors(text, "*fp32, i32, fp32, u64")
    assert found == f"4:{column} {message}".replace("cannot use -1", "cannot use `-1` (-1)")


def test_a_condition_that_is_false_at_compile_time_leaves_no_loop():
    func, _ = lowered("def k(x, F: tl.constexpr):\n    while F:\n        undefined()", "*fp32, 0")
    assert func.body.ops == ()


def test_what_only_looks_like_a_constexpr_says_why():
    text = (
        "def k(x, n):\n    w = 4\n    for j in range(n):\n        tl.store(x + tl.arange(0, w), j)\n        w = w * 2"
    )
    assert hints(text, "*i32, i32") == ["the loop assigns `w`, so it is not known at compile time"]
    text = "def k(x):\n    for j in range(2):\n        tl.store(x, (1, 2)[j])"
    assert hints(text, "*i32") == ["write tl.static_range, which unrolls the loop: its variable is a constexpr"]
