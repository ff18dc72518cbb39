"""What a kernel means: one test for each rule on numbers, the same on every backend, NumPy's where NumPy has them."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.comparison import ulp_distance
from tests.running import on_every_backend

pytestmark = on_every_backend

f16, f32, f64, bf16 = np.float16, np.float32, np.float64, ml_dtypes.bfloat16
FLOATS = [f16, bf16, f32, f64]


@pytest.fixture(autouse=True)
def quiet() -> Any:
    with np.errstate(all="ignore"):
        yield


def patterns(dtype: Any, size: int = 4096, seed: int = 0) -> Any:
    """Random bits: every exponent is as likely, denormals, infinities and NaNs among them."""
    bits = np.random.default_rng(seed).integers(0, 256, size * np.dtype(dtype).itemsize, np.uint8)
    return bits.view(dtype)


def same(actual: Any, expected: Any) -> None:
    """Equal to the last bit, but for the sign and payload of NaNs."""
    nan = np.isnan(expected.astype(f64))
    np.testing.assert_array_equal(np.isnan(actual.astype(f64)), nan)
    assert actual[~nan].tobytes() == expected[~nan].tobytes()


# --- integers ---------------------------------------------------------------------------------------------------------


@triton.jit
def integer_arithmetic(x, y, out, B: tl.constexpr):
    i = tl.arange(0, B)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, a + b)
    tl.store(out + B + i, a - b)
    tl.store(out + 2 * B + i, a * b)
    tl.store(out + 3 * B + i, -a)
    tl.store(out + 4 * B + i, tl.abs(a))


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_integers_wrap_at_their_width(run, dtype):
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    x = np.array([low, low, high, high, -1, 3, high // 2 + 1, 7], dtype)
    y = np.array([-1, low, 1, high, low, -5, 2, high], dtype)
    out = np.zeros((5, 8), dtype)
    run(integer_arithmetic, 1, x, y, out, B=8)
    assert out.tolist() == [(x + y).tolist(), (x - y).tolist(), (x * y).tolist(), (-x).tolist(), np.abs(x).tolist()]
    assert out[3][0] == out[4][0] == low


@triton.jit
def divide(x, y, quotient, remainder, ratio, A: tl.constexpr, D: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(quotient + i, a // b)
    tl.store(remainder + i, a % b)
    tl.store(ratio + i, a / b)
    tl.store(quotient + B, A // D)
    tl.store(remainder + B, A % D)
    tl.store(ratio + B, A / D)


def test_division_truncates_between_integers_and_floors_between_constexprs(run):
    x = np.array([-7, -7, 7, 7, 2**31 - 1, -(2**31), -(2**31), 0], np.int32)
    y = np.array([2, -2, -2, 2, -3, 2, 2**31 - 1, 5], np.int32)
    quotient, remainder, ratio = np.zeros(9, np.int32), np.zeros(9, np.int32), np.zeros(9, f32)
    run(divide, 1, x, y, quotient, remainder, ratio, A=-7, D=2, B=8)
    truncated = np.trunc(x / y.astype(f64)).astype(np.int64)
    assert quotient.tolist() == [*truncated.tolist(), -4]
    assert remainder.tolist() == [*(x - truncated * y).tolist(), 1]
    assert ratio.tolist() == [*(x.astype(f32) / y.astype(f32)).tolist(), -3.5]


@triton.jit
def float_remainder(x, y, out, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(x + i) % tl.load(y + i))


@pytest.mark.parametrize("dtype", [f32, f64])
def test_remainders_of_floats_are_fmod(run, dtype):
    x = np.array([-7.5, 7.5, -1, 1e10, 5e-324, np.inf, np.nan, -0.0], dtype)
    y = np.array([2, -2, np.inf, 3.7, 1, 2, 2, 3], dtype)
    out = np.zeros(8, dtype)
    run(float_remainder, 1, x, y, out, B=8)
    same(out, np.fmod(x, y))


@triton.jit
def divide_by_anything(x, y, out, n, d, B: tl.constexpr):
    i = tl.arange(0, B)
    a, b = tl.load(x + i, mask=i < n, other=-2147483648), tl.load(y + i, mask=i < n, other=0)
    tl.store(out + i, (a // b) ^ (a % b), mask=i < n)
    harmless = (b != 0) & (b != -1)
    tl.store(out + i, tl.where(harmless, a // b, 9), mask=i < n)
    tl.store(out + B, n // d, mask=d != 0)


def test_division_by_zero_and_of_the_least_integer_by_minus_one_never_traps(run):
    x = np.array([1, -(2**31), 7, 0, 8, 5], np.int32)
    y = np.array([0, -1, 2, 0, -3, -1], np.int32)
    out = np.full(9, 5, np.int32)
    run(divide_by_anything, 1, x, y, out, 6, 0, B=8)
    assert out.tolist() == [9, 9, 3, 9, -2, 9, 5, 5, 5]


# --- types ------------------------------------------------------------------------------------------------------------


@triton.jit
def promotions(narrow, wide, half, brain, flag, out, big, x, B: tl.constexpr):
    i = tl.arange(0, B)
    n, w, h, b, t = (
        tl.load(narrow + i), tl.load(wide + i), tl.load(half + i), tl.load(brain + i), tl.load(flag + i)
    )  # fmt: skip
    tl.store(out + i, n * n)  # int32: wraps
    tl.store(out + B + i, n * w)  # int64
    tl.store(out + 2 * B + i, n * 65536)  # a Python number does not widen
    tl.store(out + 3 * B + i, t + t)  # bools count as int32
    tl.store(out + 4 * B + i, n * big)  # an int argument beyond int32 is an int64
    tl.store(x + i, h + 0.1)  # float16
    tl.store(x + B + i, h + b)  # float32
    tl.store(x + 2 * B + i, b * n)  # bfloat16 with an integer: float32
    tl.store(x + 3 * B + i, n / 3)  # float32


def test_promotion_is_by_kind_then_width_and_numbers_do_not_widen(run):
    narrow, wide = np.array([65536, -3, 65537, 1], np.int32), np.array([65536, 2, 2**40, -1], np.int64)
    half, brain = np.array([0.1, 1, 2.5, 2048], f16), np.array([0.1, 3, 1 / 3, 1], bf16)
    flag, out, x = np.array([True, False, True, False]), np.zeros((5, 4), np.int64), np.zeros((4, 4), f32)
    run(promotions, 1, narrow, wide, half, brain, flag, out, 2**33, x, B=4)
    assert out[0].tolist() == (narrow * narrow).tolist()
    assert out[1].tolist() == (narrow * wide).tolist()
    assert out[2].tolist() == (narrow * np.int32(65536)).tolist()
    assert out[3].tolist() == [2, 0, 2, 0]
    assert out[4].tolist() == (narrow.astype(np.int64) * 2**33).tolist()
    assert x[0].tolist() == (half + f16(0.1)).astype(f32).tolist()
    assert x[1].tolist() == (half.astype(f32) + brain.astype(f32)).tolist()
    assert x[2].tolist() == (brain.astype(f32) * narrow.astype(f32)).tolist()
    assert x[3].tolist() == (narrow.astype(f32) / f32(3)).tolist()


@triton.jit
def convert(x, i32, i64, half, brain, single, flag, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(i32 + i, v.to(tl.int32))
    tl.store(i64 + i, v.to(tl.int64))
    tl.store(half + i, v.to(tl.float16))
    tl.store(brain + i, v.to(tl.bfloat16))
    tl.store(single + i, v.to(tl.float32))
    tl.store(flag + i, v.to(tl.int1))


def to_integer(x: Any, dtype: Any) -> list[int]:
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    return [0 if v != v else high if v >= high else low if v <= low else int(v) for v in x.astype(f64).tolist()]


@pytest.mark.parametrize("dtype", FLOATS)
def test_floats_saturate_to_integers_and_round_to_nearest_even(run, dtype):
    edges = [
        0.5,
        -0.5,
        -1.5,
        2.5,
        2.0**31,
        -(2.0**31) - 1,
        2.0**63,
        -(2.0**63),
        1e300,
        65519.9,
        65520,
        1 + 2**-8,
        1e-40,
    ]
    x = np.concatenate([np.array(edges).astype(dtype), patterns(dtype, 499)])
    outs = [np.zeros(512, t) for t in (np.int32, np.int64, f16, bf16, f32, np.bool_)]
    run(convert, 2, x, *outs, B=256)
    assert outs[0].tolist() == to_integer(x, np.int32)
    assert outs[1].tolist() == to_integer(x, np.int64)
    same(outs[2], x.astype(f16))
    same(outs[4], x.astype(f32))
    assert outs[5].tolist() == (x != 0).tolist()
    # A bfloat16 is the upper half of a float32; rounding float64 in two steps could be wrong, to odd first it is not.
    exact = np.abs(x.astype(f64)[:, None] - neighbours(outs[3]).astype(f64))
    finite = np.isfinite(exact).all(axis=1)
    assert (exact[finite, 1] <= exact[finite].min(axis=1)).all()


def neighbours(values: Any) -> Any:
    """Each bfloat16 between the ones before and after it in magnitude."""
    bits = values.view(np.int16)[:, None] + np.array([-1, 0, 1], np.int16)
    return bits.view(bf16)


# --- floats -----------------------------------------------------------------------------------------------------------


@triton.jit
def float_arithmetic(x, y, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, a + b)
    tl.store(out + n + i, a - b)
    tl.store(out + 2 * n + i, a * b)
    tl.store(out + 3 * n + i, (a / b).to(a.dtype))
    tl.store(out + 4 * n + i, tl.sqrt(tl.abs(a)))


@pytest.mark.parametrize("dtype", FLOATS)
def test_arithmetic_is_correctly_rounded_denormals_included(run, dtype):
    n = 4096
    x, y, out = patterns(dtype, n, 1), patterns(dtype, n, 2), np.zeros((5, n), dtype)
    y[: n // 2] = (x * (1 + patterns(dtype, n, 3).astype(f32) % 1).astype(dtype))[: n // 2]  # of like magnitude
    run(float_arithmetic, 4, x, y, out, n, B=1024)
    # Rounding twice is harmless from a format of more than twice the digits (Figueroa 1995).
    wide = {f16: f32, bf16: f32}.get(dtype, dtype)
    a, b = x.astype(wide), y.astype(wide)
    for row, expected in zip(out, (a + b, a - b, a * b, a / b, np.sqrt(np.abs(a))), strict=True):
        same(row, expected.astype(dtype))


@triton.jit
def multiply_add(x, y, z, out, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(x + i) * tl.load(y + i) + tl.load(z + i))


@pytest.mark.parametrize("fused", [True, False])
def test_a_product_and_a_sum_round_once_with_fusion_and_twice_without(run, fused):
    k = np.arange(1, 65)
    x, y, z = (1 + k * 2.0**-16).astype(f32), (1 - k * 2.0**-17).astype(f32), np.full(64, -1, f32)
    out = np.zeros(64, f32)
    run(multiply_add, 1, x, y, z, out, B=64, enable_fp_fusion=fused)
    once, twice = (x.astype(f64) * y.astype(f64) - 1).astype(f32), x * y - f32(1)
    assert (once != twice).any()
    assert out.tolist() == (once if fused and run.backend != "interp" else twice).tolist()


@triton.jit
def exponentials(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(out + i, tl.exp(v))
    tl.store(out + n + i, tl.log(v))


@pytest.mark.parametrize(("dtype", "bound"), [(f16, 1), (bf16, 1), (f32, 2), (f64, 4)])
def test_exp_and_log_stay_within_their_bounds(run, dtype, bound):
    n = 8192
    edges = [0, -0.0, 1, np.inf, -np.inf, np.nan, -1, 88.72, 88.73, -87.4, -103.9, -104, 709.78, 709.79, -745.1, -746]
    spread = np.random.default_rng(4).uniform(-750, 750, n // 2 - 16) * np.tile([1, 0.1], n // 4 - 8)
    near_one = np.random.default_rng(5).uniform(0.5, 2, n // 4)
    x = np.concatenate([edges, spread, near_one, patterns(dtype, n // 4).astype(f64)]).astype(dtype)
    out = np.zeros((2, n), dtype)
    run(exponentials, 8, x, out, n, B=1024)
    wide = np.longdouble if dtype == f64 else f64
    for row, function in zip(out, (np.exp, np.log), strict=True):
        expected = function(x.astype(wide)).astype(dtype)
        np.testing.assert_array_equal(np.isnan(row.astype(f64)), np.isnan(expected.astype(f64)))
        number = ~np.isnan(expected.astype(f64))
        assert ulp_distance(row[number], expected[number]).max() <= bound


@triton.jit
def extremes(x, y, out, B: tl.constexpr):
    i = tl.arange(0, B)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, tl.maximum(a, b))
    tl.store(out + B + i, tl.minimum(a, b))


@pytest.mark.parametrize("dtype", FLOATS)
def test_maximum_and_minimum_ignore_nan(run, dtype):
    x = np.array([np.nan, 1, np.nan, -np.inf, 2, np.inf, -1, 5], dtype)
    y = np.array([1, np.nan, np.nan, np.nan, 3, 1, -2, 5], dtype)
    out = np.zeros((2, 8), dtype)
    run(extremes, 1, x, y, out, B=8)
    same(out[0], np.fmax(x, y))
    same(out[1], np.fmin(x, y))
