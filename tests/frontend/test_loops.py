"""Run-time loops: carried values of every kind, bounds of every type and sign, and what an author is told."""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton import LaunchError, Target, compile_kernel, parse_signature
from mytriton.compile import source_stage
from tests.frontend.support import errors, hints, kernel_from, lowered, rendered, ssa

f32, i32, i64 = np.float32, np.int32, np.int64


def run(kernel, grid, *args, **constexprs):
    kernel[grid](*args, backend="interp", **constexprs)
    return args


@triton.jit
def sums(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    total = tl.zeros((B,), tl.float32)
    pointer = x
    trips = 0.0
    for k in range(n):
        total += tl.load(pointer + i)
        pointer += B
        trips = trips + k
    tl.store(out + i, total + trips)


@pytest.mark.parametrize("n", [0, 1, 4, -3])
def test_blocks_pointers_and_numbers_are_carried(n):
    x, out = np.arange(32, dtype=f32), np.zeros(8, f32)
    run(sums, 1, x, out, n, B=8)
    trips = max(n, 0)
    assert out.tolist() == (x.reshape(4, 8)[:trips].sum(0) + sum(range(trips))).tolist()


def test_the_listing_of_a_loop():
    text = """
    def k(x, out, n):
        i = tl.arange(0, 8)
        total = 0.0
        same = n * 2
        for j in range(1, n, 2):
            total += tl.load(x + j) * same
            same = same
        tl.store(out, total)
    """
    assert ssa(text, "*fp32, *fp32, i32").splitlines() == [
        "%0 = mul n, 2 : i32",
        "%1 = for %2 = 1 to n step 2 with %3 = 0.0 : f32 {",
        "  %4 = addptr x, %2 : ptr<f32>",
        "  %5 = load %4 : f32",
        "  %6 = mul %5, f32(%0) : f32",
        "  %7 = add %3, %6 : f32",
        "  yield %7",
        "}",
        "store out, %1",
        "%8 = arange {start=0, end=8} : vector<8 x i32>",
    ]


@triton.jit
def rotations(out, n):
    a, b, c = 1, 2, 3
    t = (10, 20)
    for _ in range(n):
        a, b, c = b, c, a
        t = (t[1], t[0] + 1)
    tl.store(out, a * 100 + b * 10 + c)
    tl.store(out + 1, t[0] * 100 + t[1])


@pytest.mark.parametrize("n", range(5))
def test_swaps_and_rotations(n):
    out = np.zeros(2, i32)
    run(rotations, 1, out, n)
    a, b, c, t = 1, 2, 3, (10, 20)
    for _ in range(n):
        a, b, c, t = b, c, a, (t[1], t[0] + 1)
    assert out.tolist() == [a * 100 + b * 10 + c, t[0] * 100 + t[1]]


@triton.jit
def exchanges(x, y, out, n):
    i = tl.arange(0, 4)
    p, q = x, y
    older = newer = tl.zeros((4,), tl.float32)
    for k in range(n):
        older = newer
        newer = tl.load(p + i) + k
        p, q = q, p
    tl.store(out + i, older)
    tl.store(out + 4 + i, newer)


@pytest.mark.parametrize("n", range(4))
def test_pointers_swap_and_values_follow_each_other(n):
    x, y, out = np.arange(4, dtype=f32), np.arange(10, 14, dtype=f32), np.zeros(8, f32)
    run(exchanges, 1, x, y, out, n)
    rows = [np.zeros(4), np.zeros(4), *((x, y)[k % 2] + k for k in range(n))]
    assert out.tolist() == [*rows[-2], *rows[-1]]


@triton.jit
def steps(out, start, end, step):
    zero = (0).to(tl.int64)
    count, last, total = 0, zero - 99, zero
    for k in range(start, end, step):
        count += 1
        last = k.to(tl.int64)
        total += k
    tl.store(out, count)
    tl.store(out + 1, last)
    tl.store(out + 2, total)


BOUNDS = [
    (0, 10, 3),
    (10, 0, -3),
    (0, 10, -1),
    (10, 0, 1),
    (5, 5, 1),
    (-4, 4, 2),
    (3, -8, -5),
    (2**31 - 3, 2**31 - 1, 5),
]


@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("types", [(i32, i32, i32), (i64, i32, np.int16), (np.int8, i64, i32)])
def test_runtime_steps_of_either_sign(bounds, types):
    if max(bounds) > 100 and np.int8 in types:
        bounds = (100, 120, 7)
    out = np.zeros(3, i64)
    run(steps, 1, out, *(t(b) for t, b in zip(types, bounds, strict=True)))
    values = range(*bounds)
    assert out.tolist() == [len(values), values[-1] if values else -99, sum(values)]


@triton.jit
def known_steps(out, n, START: tl.constexpr, STEP: tl.constexpr):
    k = 7
    total = 0
    for j in tl.range(START, n, STEP, num_stages=3, loop_unroll_factor=2, flatten=True, warp_specialize=False):
        total = total * 10 + j
    tl.store(out, total)
    tl.store(out + 1, k)


@pytest.mark.parametrize("bounds", [(0, 4, 1), (1, 6, 2), (5, 0, -1), (5, 0, -2), (5, -1, -5), (0, 5, -1), (3, 3, 1)])
def test_constexpr_steps_of_either_sign(bounds):
    start, end, step = bounds
    out = np.zeros(2, i32)
    run(known_steps, 1, out, end, START=start, STEP=step)
    assert out.tolist() == [int("".join(map(str, range(*bounds))) or 0), 7]


@triton.jit
def unsigned(out, n, STEP: tl.constexpr):
    for k in range(n, 0, STEP):
        tl.store(out + k, k)


def test_an_unsigned_bound_counts_down():
    for dtype in (np.uint8, np.uint16, np.uint32):
        out = np.zeros(6, i64)
        run(unsigned, 1, out, dtype(5), STEP=-2)
        assert out.tolist() == [0, 1, 0, 3, 0, 5]


@triton.jit
def nested(out, n, m):
    total = 0
    for i in range(n):
        row = 0
        j = i
        while j < m:
            if (i + j) % 2 == 0:
                for k in range(j, -1, -1):
                    row += k
            else:
                row -= 1
            j += 1
        total = total * 3 + row
    tl.store(out, total)


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("m", [0, 2, 5])
def test_loops_and_branches_nest_in_any_order(n, m):
    out = np.zeros(1, i32)
    run(nested, 1, out, n, m)
    total = 0
    for i in range(n):
        row = 0
        for j in range(i, m):
            row = row + sum(range(j + 1)) if (i + j) % 2 == 0 else row - 1
        total = total * 3 + row
    assert out[0] == total


@triton.jit
def collatz(x, out):
    p = tl.program_id(0)
    v = tl.load(x + p)
    steps = 0
    while (v != 1) & (steps < 1000):
        if v % 2 == 0:
            v = v // 2
        else:
            v = 3 * v + 1
        steps += 1
    tl.store(out + p, steps)


def test_while_tests_before_each_trip():
    x, out = np.array([1, 2, 6, 27, 97], i32), np.zeros(5, i32)
    run(collatz, 5, x, out)
    assert out.tolist() == [0, 1, 8, 111, 118]


@triton.jit
def stores(x, n):
    i = tl.arange(0, 4)
    for k in range(n):
        tl.store(x + i, tl.load(x + i) * 2 + k)


def test_loads_and_stores_of_a_loop_act_in_order():
    x = np.ones(4, i32)
    run(stores, 1, x, 4)
    v = 1
    for k in range(4):
        v = v * 2 + k
    assert x.tolist() == [v] * 4


def test_static_range_unrolls_and_its_variable_is_a_constexpr():
    text = """
    def k(x, N: tl.constexpr):
        for j in tl.static_range(N):
            if j % 2:
                tl.store(x + (5, 6, 7)[j], j)
    """
    assert ssa(text, "*i32, 3") == "%0 = addptr x, 6 : ptr<i32>\nstore %0, 1"


def test_the_variable_of_a_range_over_constexprs_is_computed_at_run_time():
    text = "def k(x, N: tl.constexpr):\n    for j in range(N):\n        tl.store(x, (1, 2)[j])"
    assert errors(text, "*i32, 2") == ["4:28 MT210 an index must be a constexpr, but `j` (i32) is not"]


def test_what_a_loop_does_not_change_stays_known():
    text = """
    def k(x, n, B: tl.constexpr):
        width = B
        dtype = tl.float16
        for j in range(n):
            width = B
            dtype = tl.float16
            tl.store(x + tl.arange(0, width), j)
        tl.store(x + tl.arange(0, width), 1)
    """
    assert "yield" not in ssa(text, "*i32, i32, 8")


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
