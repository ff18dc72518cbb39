"""Run-time loops: carried values of every kind, bounds of every type and sign."""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from tests.frontend.support import errors, ssa

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
