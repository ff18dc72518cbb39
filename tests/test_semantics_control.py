"""What a kernel means, continued: ranges, names, arguments and the effects of run-time control flow, on every backend.

What does not compile is in tests/frontend.
"""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from tests.running import on_every_backend

pytestmark = on_every_backend

f32 = np.float32


@triton.jit
def numbers_of_a_range(out, start, end, step):
    place = 0
    for k in range(start, end, step):
        tl.store(out + place, k)
        place = place + 1


RANGES = [(0, 5, 1), (0, 5, 2), (5, 0, 1), (0, 0, 1), (-3, 4, 3), (7, 8, 100), (2**31 - 4, 2**31 - 1, 2)]


@pytest.mark.parametrize("bounds", RANGES)
def test_a_range_has_pythons_numbers_and_never_wraps(run, bounds):
    out = np.full(8, -77, np.int32)
    run(numbers_of_a_range, 1, out, *bounds)
    numbers = list(range(*bounds))
    assert out.tolist() == numbers + [-77] * (8 - len(numbers))


@pytest.mark.parametrize("bounds", [(5, 0, -1), (5, -5, -3), (0, 5, -1), (-(2**31) + 3, -(2**31), -2)])
def test_a_negative_step_counts_down(run, bounds):
    out = np.full(8, -77, np.int32)
    run(numbers_of_a_range, 1, out, *bounds)
    numbers = list(range(*bounds))
    assert out.tolist() == numbers + [-77] * (8 - len(numbers))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint32", "int64", "uint64"])
def test_bounds_of_every_integer_type(run, dtype):
    top = int(np.iinfo(dtype).max)
    bounds = np.array([top - 3, top], dtype)
    out = np.zeros(4, np.uint64)
    run(bounds_from_memory, 1, bounds, out)
    assert out.tolist() == [3, top - 3, top - 2, top - 1]


@triton.jit
def bounds_from_memory(bounds, out):
    place = 0
    for k in range(tl.load(bounds), tl.load(bounds + 1)):
        place += 1
        tl.store(out + place, k)
    tl.store(out, place)


@triton.jit
def carried_of_every_kind(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    scalar, block, flag, tile = 0, tl.zeros((B,), tl.float32), False, tl.zeros((2, B), tl.int64)
    pointer, pointers, pair = x, y + i, (1, 2.0)
    for k in range(n):
        scalar += k
        block += tl.load(pointers)
        flag = block.to(tl.int32).dtype == tl.int32 and not flag
        tile += scalar
        pointer += 1
        pointers += B
        pair = (pair[0] * 2, pair[1] + tl.load(pointer))
    tl.store(out + i, block)
    tl.store(out + B, scalar)
    tl.store(out + B + 1, flag)
    tl.store(out + B + 2, tl.max(tile))
    tl.store(out + B + 3, tl.load(pointer))
    tl.store(out + B + 4, pair[0])
    tl.store(out + B + 5, pair[1])


@pytest.mark.parametrize("n", [0, 1, 3])
def test_values_of_every_kind_are_carried(run, n):
    x, y = np.arange(10, 26, dtype=f32), np.arange(16, dtype=f32)
    out = np.zeros(10, f32)
    run(carried_of_every_kind, 1, x, y, out, n, B=4)
    block = y.reshape(4, 4)[:n].sum(axis=0)
    scalars = np.cumsum(range(n))
    tail = [sum(range(n)), n % 2, scalars.sum(), x[n], 2**n, 2 + x[1 : n + 1].sum()]
    assert out.tolist() == [*block.tolist(), *tail]


@triton.jit
def only_the_taken_branch(x, out, n):
    if n > 0:
        tl.store(out, tl.load(x + n))
    else:
        tl.store(out, -1.0)


def test_a_branch_that_is_not_taken_touches_no_memory(run):
    x, out = np.array([1, 2], f32), np.zeros(1, f32)
    run(only_the_taken_branch, 1, x, out, -(2**30))  # an address far outside, if it were loaded
    assert out[0] == -1
    run(only_the_taken_branch, 1, x, out, 1)
    assert out[0] == 2


@triton.jit
def logic(x, out, n):
    if n >= 0 and tl.load(x + n, mask=(n >= 0) & (n < 2), other=0.0) > 1.0:
        tl.store(out, 1.0)  # both sides are computed: `and` guards no load
    if n < 0 or tl.load(x + n, mask=(n >= 0) & (n < 2), other=0.0) > 1.0:
        tl.store(out + 1, 1.0)


@pytest.mark.parametrize(("n", "expected"), [(0, [0, 0]), (1, [1, 1]), (5, [0, 0]), (-1, [0, 1])])
def test_run_time_logic(run, n, expected):
    out = np.zeros(2, f32)
    run(logic, 1, np.array([1, 2], f32), out, n)
    assert out.tolist() == expected


@triton.jit
def stores_before_a_return(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, 1.0)
    if n == 0:
        return
    tl.store(out + i, 2.0)
    if n == 1:
        tl.store(out, 3.0)
        return
    for k in range(n):
        tl.store(out + k, tl.load(x + k))


@pytest.mark.parametrize(("n", "expected"), [(0, [1, 1, 1, 1]), (1, [3, 2, 2, 2]), (3, [5, 6, 7, 2])])
def test_a_return_ends_the_program_and_keeps_what_was_stored(run, n, expected):
    out = np.zeros(4, f32)
    run(stores_before_a_return, 1, np.array([5, 6, 7], f32), out, n, B=4)
    assert out.tolist() == expected


@triton.jit
def optional_arguments(x, y, out, scale, B: tl.constexpr):
    i = tl.arange(0, B)
    value = tl.load(x + i)
    if y is not None:
        value += tl.load(y + i)
    if scale is None:
        scale = 10.0
    tl.store(out + i, value * scale)


@pytest.mark.parametrize("y", [True, False])
@pytest.mark.parametrize("scale", [2.0, None])
def test_none_is_known_while_compiling(run, y, scale):
    x, out = np.arange(4, dtype=f32), np.zeros(4, f32)
    run(optional_arguments, 1, x, np.ones(4, f32) if y else None, out, scale, B=4)
    assert out.tolist() == ((x + y) * (scale or 10)).tolist()


@triton.jit
def far_rows(x, out, row, stride, B: tl.constexpr):
    i = tl.arange(0, B)
    start = x + row.to(tl.int64) * stride
    tl.store(out + i, tl.load(start - row.to(tl.int64) * stride + i))
    tl.store(out + B + i, (row.to(tl.int64) * stride).to(tl.float32))


def test_offsets_of_64_bits(run):
    x, out = np.arange(4, dtype=f32), np.zeros((2, 4), f32)
    run(far_rows, 1, x, out, 3, 2**30, B=4)
    assert out.tolist() == [[0, 1, 2, 3], [3.0 * 2**30] * 4]


@triton.jit
def wide_scatter(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + (i // 8), i, mask=i % 8 == n)


def test_where_one_lane_stores_the_others_do_not(run):
    out = np.full(16, -1, np.int32)
    run(wide_scatter, 1, np.zeros(1, f32), out, 5, B=128)
    assert out.tolist() == [8 * k + 5 for k in range(16)]
