"""What a kernel means, continued: memory and its order, loops, arguments, globals and grids, on every backend.

Rules of what does not compile are tested where the messages are (tests/frontend/test_errors.py), and those of arrays
that a backend cannot take in test_seed_api.py.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from tests.running import on_every_backend

pytestmark = on_every_backend

f32 = np.float32


# --- memory -----------------------------------------------------------------------------------------------------------


@triton.jit
def masked(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n), mask=i < n + 1)


def test_masked_elements_read_as_zero_and_touch_nothing(run):
    # x has exactly n elements, and the GPU arrays of these tests no room for more.
    x, out = np.arange(1, 6, dtype=f32), np.full(6, 9, f32)
    run(masked, 1, x, out, 5, B=8)
    assert out.tolist() == [1, 2, 3, 4, 5, 0]


@triton.jit
def far_away(x, out, far, B: tl.constexpr):
    i = tl.arange(0, B)
    inside = i < 3
    there = tl.where(inside, i, far + i)
    tl.store(out + there, tl.load(x + there, mask=inside, other=7.5), mask=inside)
    tl.store(out + 3, tl.load(x + far, mask=far < 0, other=2.5))
    tl.store(out + far, 1.0, mask=far < 0)


def test_addresses_that_a_mask_keeps_off_may_be_anything(run):
    x, out = np.array([1, 2, 3], f32), np.zeros(4, f32)
    run(far_away, 1, x, out, 2**40, B=8)
    assert out.tolist() == [1, 2, 3, 2.5]


@triton.jit
def count(c, out, B: tl.constexpr):
    tl.store(out + tl.arange(0, B), 1.0)
    tl.store(c, tl.load(c) + 1.0)


def test_a_scalar_update_happens_once_a_program(run):
    c, out = np.zeros(1, f32), np.zeros(64, f32)
    run(count, 1, c, out, B=64)
    assert c[0] == 1


@triton.jit
def collide(out, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i // 4, i)
    tl.store(out + B + (i & 0), i + 100)


def test_of_several_elements_stored_to_one_address_one_wins(run):
    out = np.full(65, -1, np.int32)
    run(collide, 1, out, B=64)
    assert [v // 4 for v in out[:16].tolist()] == list(range(16))
    assert out[64] in range(100, 164)
    assert out[16:64].tolist() == [-1] * 48


@triton.jit
def in_order(x, out, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    first = tl.load(x + i)
    tl.store(x + i, first * 2)
    second = tl.load(x + i)
    tl.store(x + i, second + first)
    tl.store(out + i, tl.load(x + i) - second)


@pytest.mark.parametrize("block", [1, 8, 256])
def test_statements_act_in_order_on_each_element(run, block):
    x, out = np.arange(2 * block, dtype=f32), np.zeros(2 * block, f32)
    run(in_order, 2, x, out, B=block)
    assert x.tolist() == (np.arange(2 * block) * 3).tolist()
    assert out.tolist() == np.arange(2 * block).tolist()


# --- loops, arguments and globals -------------------------------------------------------------------------------------


@triton.jit
def zero_trips(x, out, N: tl.constexpr):
    acc = 1.0
    acc: float
    for k in tl.static_range(0, N):
        acc = acc + tl.load(x + k)
    for k in range(N, 0, -1):
        acc = acc + tl.load(x + k)
    tl.store(out, acc)


@pytest.mark.parametrize(("n", "expected"), [(0, 1), (3, 10)])
def test_zero_trips_keep_initial_values(run, n, expected):
    out = np.zeros(1, f32)
    run(zero_trips, 1, np.arange(8, dtype=f32), out, N=n)
    assert out[0] == expected


@triton.jit
def multiply_wide(x, out, mul):
    tl.store(out, tl.load(x) * mul.to(tl.int64))


@pytest.mark.parametrize(("mul", "expected"), [(2, 42), (1, 21), (0, 0), (True, 21), (16, 336), (2**40, 21 * 2**40)])
def test_every_value_of_a_scalar_argument_behaves_alike(run, mul, expected):
    out = np.zeros(1, np.int64)
    run(multiply_wide, 1, np.array([21], np.int64), out, mul)
    assert out[0] == expected


@triton.jit
def flag_argument(out, flag, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.where(flag, i, -i), mask=(i < 3) & flag)


@pytest.mark.parametrize(("flag", "expected"), [(True, [0, 1, 2, 9]), (False, [9, 9, 9, 9])])
def test_a_bool_argument_is_a_bool(run, flag, expected):
    out = np.full(4, 9, np.int32)
    run(flag_argument, 1, out, flag, B=4)
    assert out.tolist() == expected


SCALE = tl.constexpr(3)
PLAIN = 3


@triton.jit
def scaled_by_globals(x, out):
    tl.store(out, tl.load(x) * SCALE + PLAIN)


def test_a_changed_global_is_seen(run, monkeypatch):
    x, out = np.array([10], f32), np.zeros(1, f32)
    results = []
    for scale, plain in ((3, 3), (4, 3), (4, 5), (3, 3)):
        monkeypatch.setitem(globals(), "SCALE", tl.constexpr(scale))
        monkeypatch.setitem(globals(), "PLAIN", plain)
        run(scaled_by_globals, 1, x, out)
        results.append(out[0])
    assert results == [33, 43, 45, 33]


# --- types of arrays --------------------------------------------------------------------------------------------------


@triton.jit
def half_precision(x, y, out, B: tl.constexpr):
    i = tl.arange(0, B)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, a / b)
    tl.store(out + B + i, a + 1)
    tl.store(out + 2 * B + i, a * b)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_half_precision_divides_in_float32(run, dtype):
    x, y, out = np.array([1, 2, 5, 10]).astype(dtype), np.array([3, 7, 3, 3]).astype(dtype), np.zeros((3, 4), f32)
    run(half_precision, 1, x, y, out, B=4)
    assert out[0].tolist() == (x.astype(f32) / y.astype(f32)).tolist()
    assert out[1].tolist() == (x + dtype(1)).astype(f32).tolist()
    assert out[2].tolist() == (x * y).astype(f32).tolist()


@triton.jit
def narrow_integers(x, out, flag, loaded, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(out + i, v.to(tl.int32))
    tl.store(out + B + i, tl.load(flag + i))
    tl.store(loaded + i, v.to(tl.int1))


def test_integers_wrap_when_narrowed_and_any_non_zero_byte_is_true(run):
    x = np.array([2**32 + 5, -(2**31) - 1, 2**31, 0], np.int64)
    out, loaded = np.zeros(8, np.int32), np.array([2, 2, 2, 2], np.uint8).view(np.bool_)
    run(narrow_integers, 1, x, out, np.array([0, 1, 2, 255], np.uint8).view(np.bool_), loaded, B=4)
    assert out.tolist() == [5, 2**31 - 1, -(2**31), 0, 0, 1, 1, 1]
    assert loaded.view(np.uint8).tolist() == [1, 1, 1, 0]


# --- grids ------------------------------------------------------------------------------------------------------------


@triton.jit
def place(out):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    across, down = tl.num_programs(0), tl.num_programs(1)
    tl.store(out + (z * down + y) * across + x, x + 10 * y + 100 * z + 1000 * tl.num_programs(2))


def test_every_program_runs_once_and_knows_its_place(run):
    out = np.zeros((4, 3, 2), np.int32)
    run(place, (2, 3, 4), out)
    z, y, x = np.indices((4, 3, 2))
    assert out.tolist() == (x + 10 * y + 100 * z + 4000).tolist()


@triton.jit
def write(out):
    tl.store(out, 1.0)


@pytest.mark.parametrize("grid", [0, (0,), (3, 0), (1, 1, 0)])
def test_a_grid_without_programs_launches_nothing(run, grid):
    out = np.zeros(1, f32)
    run(write, grid, out)
    assert out[0] == 0


def test_empty_arrays_are_legal(run):
    out = np.zeros(0, f32)
    run(masked, 1, out, out, -1, B=8)
