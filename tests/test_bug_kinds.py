"""One kernel for each kind of bug that authors of kernels reported about such compilers, as they would write it, and
once more with the order turned around. Each runs on every backend. Minimal kernels of the others: test_regressions.py.
"""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from tests.running import on_every_backend

pytestmark = on_every_backend

f32 = np.float32


# --- integers and offsets ---------------------------------------------------------------------------------------------


@triton.jit
def divide_by_argument(x, out, d, A: tl.constexpr, D: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(out + i, v // d)
    tl.store(out + B + i, v % d)
    tl.store(out + 2 * B + i, A // D + 0 * v)
    tl.store(out + 3 * B + i, A % D + 0 * v)


@triton.jit
def divide_argument(x, out, d, A: tl.constexpr, D: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    quotient = A // D
    tl.store(out + 3 * B + i, A - quotient * D)
    tl.store(out + 2 * B + i, quotient)
    remainder = v % d
    tl.store(out + B + i, remainder)
    tl.store(out + i, (v - remainder) // d)


@pytest.mark.parametrize("kernel", [divide_by_argument, divide_argument])
def test_runtime_division_truncates_and_constexpr_division_floors(run, kernel):  # triton #619, #955
    x, out = np.array([-7, -1, 1, 7], np.int32), np.zeros((4, 4), np.int32)
    run(kernel, 1, x, out, 2, A=-7, D=2, B=4)
    assert out.tolist() == [[-3, 0, 0, 3], [-1, -1, 1, 1], [-4] * 4, [1] * 4]


@triton.jit
def float_remainder(x, out, d, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(x + i) % 2.0)
    tl.store(out + B + i, tl.load(x + i) % d)


def test_the_remainder_of_floats_has_the_sign_of_the_dividend(run):
    x, out = np.array([-7.5, -1, 1, 7.5], f32), np.zeros((2, 4), f32)
    run(float_remainder, 1, x, out, 2, B=4)
    assert out.tolist() == [[-1.5, -1, 1, 1.5]] * 2


@triton.jit
def wide_arguments(out, stride, far):
    p = tl.program_id(0)
    tl.store(out + 3 * p, stride * p)
    tl.store(out + 3 * p + 1, stride * p.to(tl.int64))
    tl.store(out + 3 * p + 2, far + p)


def test_offsets_wrap_as_int32_and_a_large_argument_is_int64(run):  # triton #6748
    out = np.zeros((4, 3), np.int64)
    run(wide_arguments, 4, out, 1 << 30, 1 << 31)
    assert out[:, 0].tolist() == [0, 2**30, -(2**31), -(2**30)]
    assert out[:, 1].tolist() == [p << 30 for p in range(4)]
    assert out[:, 2].tolist() == [2**31 + p for p in range(4)]


# --- masked loads -----------------------------------------------------------------------------------------------------


@triton.jit
def masked_sum(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out, tl.sum(tl.load(x + i, mask=i < n), axis=0))


@triton.jit
def masked_sums(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    mask = i < n
    both = tl.load(x + i, mask) + tl.load(x + B - 1 - i, mask=B - 1 - i < n)
    tl.store(out, tl.sum(both) / 2)


@pytest.mark.parametrize("kernel", [masked_sum, masked_sums])
@pytest.mark.parametrize("dtype", [f32, np.int32, np.float16])
def test_what_a_mask_leaves_out_adds_nothing_to_a_sum(run, kernel, dtype):  # triton #9917, #10448
    # An array of exactly n elements: what lies beyond may not be touched.
    out = np.zeros(1, f32)
    run(kernel, 1, np.ones(5, dtype), out, 5, B=8)
    assert out[0] == 5


# --- carried values ---------------------------------------------------------------------------------------------------


@triton.jit
def sum_of_elements(x, out, n):
    acc = 0.0
    for k in range(n):
        acc += tl.load(x + k)
    tl.store(out, acc)


@triton.jit
def sum_backwards(x, out, n):
    acc = 0.0
    for k in range(n - 1, -1, -1):
        acc = tl.load(x + k) + acc
    tl.store(out, acc)


@pytest.mark.parametrize("kernel", [sum_of_elements, sum_backwards])
@pytest.mark.parametrize(("n", "expected"), [(3, 18), (1, 5), (0, 0), (-3, 0)])
def test_a_loop_of_any_length_keeps_its_accumulator(run, kernel, n, expected):  # triton #9547, #3307
    out = np.full(1, -1, f32)
    run(kernel, 1, np.array([5, 6, 7], f32), out, n)
    assert out[0] == expected


@triton.jit
def one_branch_at_compile_time(x, out, FLAG: tl.constexpr):
    if FLAG > 0:
        y = tl.load(x)
    else:
        y = "never typed" + tl.arange(0, 3)
    tl.store(out, y)


def test_a_name_bound_in_the_branch_that_is_taken(run):  # triton #1690, #1591
    out = np.zeros(1, f32)
    run(one_branch_at_compile_time, 1, np.array([4], f32), out, FLAG=1)
    assert out[0] == 4


# --- arguments and globals --------------------------------------------------------------------------------------------


@triton.jit
def repeat(x, out, mul):
    total = tl.load(x) * 0
    for _ in range(mul.to(tl.int64)):
        total += tl.load(x)
    tl.store(out, total)


@triton.jit
def power(x, out, mul):
    wide = mul.to(tl.int64)
    tl.store(out, tl.load(x) * wide if wide != 1 else tl.load(x))


@pytest.mark.parametrize("kernel", [repeat, power])
@pytest.mark.parametrize(("mul", "expected"), [(2, 42), (1, 21), (0, 0), (16, 336)])
def test_an_argument_of_1_is_like_any_other(run, kernel, mul, expected):  # triton #2939, ROCm/triton #412
    out = np.zeros(1, np.int64)
    run(kernel, 1, np.array([21], np.int64), out, mul)
    assert out[0] == expected


ANNOTATED: tl.constexpr = 3
WRAPPED = tl.constexpr(3)


@triton.jit
def scaled_by_helper(value):
    return value * WRAPPED


@triton.jit
def uses_globals(x, out):
    tl.store(out, scaled_by_helper(tl.load(x)))
    tl.store(out + 1, ANNOTATED + tl.load(x))


def test_a_changed_global_of_a_helper_is_seen(run, monkeypatch):  # triton #7322
    results = []
    for value in (3, 4, 3):
        monkeypatch.setitem(globals(), "WRAPPED", tl.constexpr(value))
        monkeypatch.setitem(globals(), "ANNOTATED", value)
        out = np.zeros(2, f32)
        run(uses_globals, 1, np.array([10], f32), out)
        results.append(out.tolist())
    assert results == [[30, 13], [40, 14], [30, 13]]


# --- reductions that share memory -------------------------------------------------------------------------------------


@triton.jit
def three_reductions(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    m = tl.max(v, axis=0)
    s = tl.sum(v - m, axis=0)
    t = tl.min(v + s, axis=0)
    tl.store(out + i, v + m + s + t)


@triton.jit
def three_reductions_in_a_loop(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    result = v
    for _ in range(n):
        m = tl.max(v, axis=0)
        s = tl.sum(v - m, axis=0)
        t = tl.min(v + s, axis=0)
        result = v + m + s + t
    tl.store(out + i, result)


@triton.jit
def three_reductions_in_a_branch(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    if tl.program_id(0) == 0:
        m = tl.max(v, axis=0)
        s = tl.sum(v - m, axis=0)
        t = tl.min(v + s, axis=0)
        tl.store(out + i, v + m + s + t)


@pytest.mark.parametrize("kernel", [three_reductions, three_reductions_in_a_loop, three_reductions_in_a_branch])
@pytest.mark.parametrize(("block", "num_warps"), [(32, 4), (64, 1), (256, 4), (1024, 8)])
def test_reductions_one_after_another(run, kernel, block, num_warps):  # NVIDIA/Fuser #489, tilelang #2628
    x, out = np.arange(block, dtype=f32), np.zeros(block, f32)
    run(kernel, 1, x, out, 3, B=block, num_warps=num_warps)
    m, s = block - 1, -block * (block - 1) // 2
    assert out.tolist() == (np.arange(block) + m + s + s).tolist()
    if block == 64:
        assert out[:2].tolist() == [-3969, -3968]


@triton.jit
def reductions_of_programs(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    for row in range(tl.program_id(0), n, tl.num_programs(0)):
        total = tl.sum(tl.load(x + row * B + i), axis=0)
        if total > 0:
            total += tl.max(tl.load(x + row * B + i), axis=0)
        tl.store(out + row, total)


@pytest.mark.parametrize("block", [32, 256])
def test_reductions_inside_loops_and_branches_that_differ_between_programs(run, block):
    x = np.random.default_rng(0).integers(-9, 10, (20, block), dtype=np.int32)
    out = np.zeros(20, np.int32)
    run(reductions_of_programs, 3, x, out, 20, B=block)
    total = x.sum(axis=1)
    assert out.tolist() == np.where(total > 0, total + x.max(axis=1), total).tolist()
