"""What integers of every width and sign mean, on every backend: NumPy's results where NumPy defines them."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from tests.running import on_every_backend

pytestmark = on_every_backend

DTYPES = [np.dtype(t) for t in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")]
FLOATS = [np.dtype(t) for t in (np.float16, ml_dtypes.bfloat16, np.float32, np.float64)]
every_integer = pytest.mark.parametrize("dtype", DTYPES, ids=str)


@pytest.fixture(autouse=True)
def quiet() -> Any:
    with np.errstate(all="ignore"):
        yield


def pairs(dtype: Any) -> tuple[Any, Any]:
    """256 pairs: every combination of 12 edge values, then random ones of every magnitude."""
    info = np.iinfo(dtype)
    edges = [0, 1, 2, 3, 7, info.bits - 1, info.bits, 100, info.max, info.max - 1, info.min, info.max // 2 + 1]
    x, y = (a.reshape(-1) for a in np.meshgrid(np.array(edges, dtype), np.array(edges, dtype)))
    rng = np.random.default_rng(info.bits)
    more = rng.integers(info.min, info.max, (2, 112), dtype, endpoint=True)
    more >>= rng.integers(0, info.bits, (2, 112), dtype)
    return np.concatenate([x, more[0]]), np.concatenate([y, more[1]])


@triton.jit
def arithmetic(x, y, out, flags, B: tl.constexpr):
    i = tl.arange(0, B)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, a + b)
    tl.store(out + B + i, a - b)
    tl.store(out + 2 * B + i, a * b)
    tl.store(out + 3 * B + i, -a)
    tl.store(out + 4 * B + i, ~a)
    tl.store(out + 5 * B + i, tl.abs(a))
    tl.store(out + 6 * B + i, tl.maximum(a, b))
    tl.store(out + 7 * B + i, tl.minimum(a, b))
    tl.store(out + 8 * B + i, (a & b) ^ (a | 3))
    tl.store(flags + i, a < b)
    tl.store(flags + B + i, a <= b)
    tl.store(flags + 2 * B + i, a > 100)
    tl.store(flags + 3 * B + i, (a == b) | (a >= b))


@every_integer
def test_arithmetic_wraps_and_comparisons_know_the_sign(run, dtype):
    x, y = pairs(dtype)
    out, flags = np.zeros((9, 256), dtype), np.zeros((4, 256), np.bool_)
    run(arithmetic, 1, x, y, out, flags, B=256)
    expected = (
        x + y,
        x - y,
        x * y,
        -x,
        ~x,
        np.abs(x),
        np.maximum(x, y),
        np.minimum(x, y),
        (x & y) ^ (x | dtype.type(3)),
    )
    for row, wanted in zip(out, expected, strict=True):
        assert row.tolist() == wanted.tolist()
    for row, wanted in zip(flags, (x < y, x <= y, x > 100, x >= y), strict=True):
        assert row.tolist() == wanted.tolist()


@triton.jit
def widened_results(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i)
    tl.store(out + i, tl.abs(a).to(tl.int64))
    tl.store(out + B + i, (-a).to(tl.int64))
    tl.store(out + 2 * B + i, (a + 1).to(tl.int64))
    tl.store(out + 3 * B + i, (a * 3).to(tl.int64))
    tl.store(out + 4 * B + i, (a << 1).to(tl.int64))
    tl.store(out + 5 * B + i, (~a).to(tl.int64))
    tl.store(out + 7 * B + i, (0 - a).to(tl.int64))
    tl.store(out + 8 * B + i, (-a) < 1)
    tl.store(out + 6 * B + i, tl.abs(a).to(tl.uint64).to(tl.float32) > 1e18)


@every_integer
def test_results_have_wrapped_before_they_are_widened(run, dtype):
    x, _ = pairs(dtype)
    out = np.zeros((9, 256), np.int64)
    run(widened_results, 1, x, out, B=256)
    one, three = dtype.type(1), dtype.type(3)
    large = np.abs(x).astype(np.uint64).astype(np.float32) > 1e18
    for row, wanted in zip(out, (np.abs(x), -x, x + one, x * three, x << one, ~x, large, -x, -x < 1), strict=True):
        assert row.tolist() == wanted.astype(np.int64).tolist()


@triton.jit
def divide(x, y, quotient, remainder, ratio, B: tl.constexpr):
    i = tl.arange(0, B)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(quotient + i, a // b)
    tl.store(remainder + i, a % b)
    tl.store(quotient + B + i, a // 7)
    tl.store(remainder + B + i, a % 7)
    tl.store(ratio + i, a / b)


@every_integer
def test_division_truncates_toward_zero(run, dtype):
    x, y = pairs(dtype)
    y[y == 0] = 5
    y[(y.astype(object) == -1)] = 3
    quotient, remainder, ratio = np.zeros((2, 256), dtype), np.zeros((2, 256), dtype), np.zeros(256, np.float32)
    run(divide, 1, x, y, quotient, remainder, ratio, B=256)
    for row, divisor in enumerate((y, np.full(256, 7, dtype))):
        pairs_ = list(zip(x.tolist(), divisor.tolist(), strict=True))
        assert quotient[row].tolist() == [abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) for a, b in pairs_]
        assert remainder[row].tolist() == np.fmod(x, divisor).tolist()
    assert ratio.tolist() == (x.astype(np.float32) / y.astype(np.float32)).tolist()


def shifted(x: int, amount: int, dtype: Any) -> tuple[int, int]:
    """What `<<` and `>>` of Python integers leave in the type; an amount counts as unsigned."""
    info = np.iinfo(dtype)
    amount = min(amount % 2**info.bits, info.bits)
    left = (x << amount) % 2**info.bits
    return left - 2**info.bits if left > info.max else left, x >> amount


@triton.jit
def shift(x, y, out, B: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, B)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, a << b)
    tl.store(out + B + i, a >> b)
    tl.store(out + 2 * B + i, a << N)
    tl.store(out + 3 * B + i, a >> N)
    a <<= 3
    tl.store(out + 4 * B + i, a)
    a >>= 2
    tl.store(out + 5 * B + i, a)
    tl.store(out + 6 * B, tl.load(x + 5) >> tl.load(y + 20))  # scalars


@every_integer
@pytest.mark.parametrize("amount", ["last", "width"])
def test_shifts_are_defined_for_every_amount(run, dtype, amount):
    x, y = pairs(dtype)
    bits = np.iinfo(dtype).bits
    constant = bits - 1 if amount == "last" else bits
    out = np.zeros(6 * 256 + 1, dtype)
    run(shift, 1, x, y, out, B=256, N=constant)
    by_block = [shifted(a, b, dtype) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    by_constant = [shifted(a, constant, dtype) for a in x.tolist()]
    by_three = [shifted(a, 3, dtype)[0] for a in x.tolist()]
    rows = [[left for left, _ in by_block], [right for _, right in by_block]]
    rows += [[left for left, _ in by_constant], [right for _, right in by_constant]]
    rows += [by_three, [shifted(a, 2, dtype)[1] for a in by_three]]
    assert out[:-1].reshape(6, 256).tolist() == rows
    assert out[-1] == shifted(int(x[5]), int(y[20]), dtype)[1]


@triton.jit
def conversions(x, i8, i16, i32, i64, u8, u16, u32, u64, half, brain, single, double, flag, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i)
    tl.store(i8 + i, a.to(tl.int8))
    tl.store(i16 + i, a.to(tl.int16))
    tl.store(i32 + i, a.to(tl.int32))
    tl.store(i64 + i, a.to(tl.int64))
    tl.store(u8 + i, a.to(tl.uint8))
    tl.store(u16 + i, a.to(tl.uint16))
    tl.store(u32 + i, a.to(tl.uint32))
    tl.store(u64 + i, a.to(tl.uint64))
    tl.store(half + i, a.to(tl.float16))
    tl.store(brain + i, a.to(tl.bfloat16))
    tl.store(single + i, a.to(tl.float32))
    tl.store(double + i, a.to(tl.float64))
    tl.store(flag + i, a.to(tl.int1))


@every_integer
def test_integers_convert_by_wrapping_and_to_floats_by_rounding_once(run, dtype):
    x, _ = pairs(dtype)
    x[:3] = np.array([2**24 + 1, 2**40 + 2**32 + 1, 2**30 + 2**22 + 1], object).astype(np.int64).astype(dtype)
    outs = [np.zeros(256, t) for t in (*DTYPES, *FLOATS, np.bool_)]
    run(conversions, 1, x, *outs, B=256)
    for out in outs[:8]:
        assert out.tolist() == x.astype(out.dtype).tolist()
    for out in (outs[8], outs[10], outs[11]):
        assert out.tolist() == x.astype(out.dtype).tolist()
    assert outs[12].tolist() == (x != 0).tolist()
    # bfloat16: the nearest of the number found and its neighbours, in exact arithmetic
    bits = outs[9].view(np.int16)
    for value, found, steps in zip(
        x.tolist(), outs[9].tolist(), bits[:, None] + np.array([-1, 1], np.int16), strict=True
    ):
        others = [v for v in steps.view(ml_dtypes.bfloat16).astype(np.float64).tolist() if np.isfinite(v)]
        assert all(abs(int(found) - value) <= abs(v - value) for v in others)


def saturated(x: float, dtype: Any) -> int:
    info = np.iinfo(dtype)
    return (
        0 if x != x else int(min(max(x, info.min), info.max)) if abs(x) < 2.0**70 else info.max if x > 0 else info.min
    )


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_floats_saturate_and_negative_ones_are_zero_in_unsigned_types(run, dtype):
    limits = [s * 2.0**b + d for b in (7, 8, 15, 16, 31, 32, 63, 64) for s in (-1, 1) for d in (-1, 0, 0.5)]
    special = [0.0, -0.0, 0.5, -0.5, -1.0, 1e30, -1e30, np.inf, -np.inf, np.nan, 254.9, 255.9, 127.9, -128.9]
    ordinary = np.random.default_rng(1).standard_normal(256 - len(limits) - len(special)) * 300
    x = np.concatenate([limits, special, ordinary]).astype(dtype)
    outs = [np.zeros(256, t) for t in (*DTYPES, *FLOATS, np.bool_)]
    run(conversions, 1, x, *outs, B=256)
    for out in outs[:8]:
        assert out.tolist() == [saturated(v, out.dtype) for v in x.astype(np.float64).tolist()]


@triton.jit
def divide_by_zero(x, y, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, tl.where(b != 0, a // b + a % b, 9))


@every_integer
def test_division_by_zero_never_traps(run, dtype):
    x, y = np.array([1, 0, 7, np.iinfo(dtype).min], dtype), np.array([0, 0, 2, 0], dtype)
    out = np.zeros(4, dtype)
    run(divide_by_zero, 1, x, y, out, 0, B=4)
    assert out.tolist() == [9, 9, 4, 9]
