"""The meaning of operations, against references that do not use the code under test."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from mytriton.ir import ops
from mytriton.ir.arithmetic import convert, evaluate
from mytriton.ir.builder import parameter
from mytriton.ir.core import Op
from mytriton.types import ScalarType, bf16, f16, f32, f64, i1, i32, i64

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")

I32 = np.iinfo(np.int32)
I64 = np.iinfo(np.int64)


def apply(cls: type[Op], x: Any, y: Any = None) -> np.ndarray[Any, Any]:
    fields = {"source": parameter("x", f32)} if y is None else {"lhs": parameter("x", f32), "rhs": parameter("y", f32)}
    with np.errstate(all="ignore"):
        return evaluate(cls(**fields), [np.asarray(x)] if y is None else [np.asarray(x), np.asarray(y)])


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_integers_wrap_at_their_width(dtype: type[np.signedinteger[Any]]) -> None:
    bits = np.dtype(dtype).itemsize * 8
    numbers = np.array([0, 1, -1, 7, -7, np.iinfo(dtype).max, np.iinfo(dtype).min, 123456789], dtype)
    x, y = np.repeat(numbers, numbers.size), np.tile(numbers, numbers.size)
    for cls, function in ((ops.Add, int.__add__), (ops.Sub, int.__sub__), (ops.Mul, int.__mul__)):
        exact = [function(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
        wrapped = [(e + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1) for e in exact]
        result = apply(cls, x, y)
        assert result.dtype == dtype
        assert result.tolist() == wrapped
    assert apply(ops.Neg, numbers)[-2] == np.iinfo(dtype).min
    assert apply(ops.Abs, numbers)[-2] == np.iinfo(dtype).min


def test_division_truncates_and_the_remainder_has_the_dividends_sign() -> None:
    x = np.array([7, -7, 7, -7, 6, -6, I32.max, I32.min, I32.min], np.int32)
    y = np.array([2, 2, -2, -2, 3, -3, -1, 2, 3], np.int32)
    quotient = [int(Fraction(a, b)) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    assert apply(ops.FloorDiv, x, y).tolist() == quotient == [3, -3, -3, 3, 2, 2, -I32.max, -(2**30), -715827882]
    assert apply(ops.Mod, x, y).tolist() == [1, -1, 1, -1, 0, 0, 0, 0, -2]


def test_integer_division_never_traps_or_warns() -> None:
    x = np.array([5, I64.min, 0, I64.min], np.int64)
    y = np.array([0, -1, 0, 0], np.int64)
    for cls in (ops.FloorDiv, ops.Mod):
        assert evaluate(cls(lhs=parameter("x", i64), rhs=parameter("y", i64)), [x, y]).dtype == np.int64


def test_float_remainder_is_fmod() -> None:
    for dtype in (np.float16, ml_dtypes.bfloat16, np.float32, np.float64):
        x, y = np.array([5.5, -5.5, 1e4, -0.0], dtype), np.array([2.0, 2.0, -3.0, 1.0], dtype)
        result = apply(ops.Mod, x, y)
        assert result.dtype == dtype
        assert result.tolist() == [math.fmod(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
        assert math.copysign(1, result[3]) == -1


def _nearest(value: Fraction, precision: int, exponent: int) -> Fraction:
    """Round a positive number to `precision` bits, ties to even, by integer arithmetic; least exponent `exponent`."""
    e = max(math.floor(math.log2(value)) - precision + 1, exponent)
    while value / Fraction(2) ** e >= 2**precision:
        e += 1
    scaled = value / Fraction(2) ** e
    whole = math.floor(scaled)
    rest = scaled - whole
    whole += rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2 == 1)
    return whole * Fraction(2) ** e


@pytest.mark.parametrize(("to", "precision", "exponent"), [(bf16, 8, -133), (f16, 11, -24), (f32, 24, -149)])
def test_f64_is_rounded_once(to: ScalarType, precision: int, exponent: int) -> None:
    rng = np.random.default_rng(0)
    # Just above and below the midpoints of `to`, by less than float32 can tell: rounding twice gets these wrong.
    ties = 1 + (2 * rng.integers(0, 2 ** (precision - 1), 200) + 1) * 2.0**-precision
    ties = ties * 2.0 ** rng.integers(-8, 8, 200)
    x = np.concatenate([ties, ties * (1 + 2.0**-45), ties * (1 - 2.0**-45), rng.random(200), rng.random(50) * 1e-5])
    result = convert(x, to)
    assert [Fraction(float(v)) for v in result] == [_nearest(Fraction(v), precision, exponent) for v in x.tolist()]


@pytest.mark.parametrize("to", [bf16, f16, f32])
def test_integers_are_rounded_once(to: ScalarType) -> None:
    precision = {"bf16": 8, "f16": 11, "f32": 24}[to.name]
    top = 15 if to == f16 else 62
    rng = np.random.default_rng(1)
    x = rng.integers(1, 2**top, 300)
    ties = (2 * rng.integers(2 ** (precision - 1), 2**precision, 300) + 1) << max(0, top - precision - 2)
    x = np.concatenate([x, ties, ties + 1, ties - 1]).astype(np.int64)
    expected = [_nearest(Fraction(v), precision, -200) for v in x.tolist()]
    assert [Fraction(float(v)) for v in convert(x, to)] == expected
    assert [-Fraction(float(v)) for v in convert(-x, to)] == expected
    small = (x % 2**31).astype(np.int32)
    small = small[small > 0]
    if to != f16:
        assert [Fraction(float(v)) for v in convert(small, to)] == [
            _nearest(Fraction(v), precision, -200) for v in small.tolist()
        ]


def test_the_extremes_convert_to_bf16() -> None:
    x = np.array([np.inf, -np.inf, 1e300, 1e-300, -0.0, np.nan], np.float64)
    result = convert(x, bf16).astype(np.float64)
    assert result[:4].tolist() == [np.inf, -np.inf, np.inf, 0.0]
    assert math.copysign(1, result[4]) == -1
    assert math.isnan(result[5])
    assert convert(np.array([I64.min, I64.max], np.int64), bf16).astype(np.float64).tolist() == [-(2.0**63), 2.0**63]


@pytest.mark.parametrize("source", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_float_to_integer_truncates_and_saturates(source: Any) -> None:
    x = np.array([1.75, -1.75, 0.5, np.nan, np.inf, -np.inf], source)
    assert convert(x, i32).tolist() == [1, -1, 0, 0, I32.max, I32.min]
    assert convert(x, i64).tolist() == [1, -1, 0, 0, I64.max, I64.min]


def test_float_to_integer_at_the_limits() -> None:
    x = np.array([2147483647.5, 2147483648.0, -2147483648.9, -2147483649.0, 2.0**63, -(2.0**63), 2.0**62])
    assert convert(x, i32).tolist() == [I32.max, I32.max, I32.min, I32.min, I32.max, I32.min, I32.max]
    assert convert(x, i64).tolist()[4:] == [I64.max, I64.min, 2**62]


def test_narrowing_wraps_and_bool_is_not_zero() -> None:
    assert convert(np.array([2**32 + 5, 2**31, -1], np.int64), i32).tolist() == [5, I32.min, -1]
    assert convert(np.array([0.0, -0.0, 0.25, np.nan], np.float32), i1).tolist() == [False, False, True, True]
    assert convert(np.array([256, 0], np.int32), i1).tolist() == [True, False]
    assert convert(np.array([True, False]), f16).tolist() == [1.0, 0.0]


def test_maximum_and_minimum_ignore_nan() -> None:
    for dtype in (np.float16, ml_dtypes.bfloat16, np.float32, np.float64):
        x, y = np.array([np.nan, 1, 2], dtype), np.array([3, np.nan, 1], dtype)
        assert apply(ops.Maximum, x, y).tolist() == [3.0, 1.0, 2.0]
        assert apply(ops.Minimum, x, y).tolist() == [3.0, 1.0, 1.0]
    assert apply(ops.Maximum, np.array([-1, 4], np.int32), np.array([2, 3], np.int32)).tolist() == [2, 4]


def test_negation_and_abs_act_on_the_sign_bit() -> None:
    for dtype in (np.float16, ml_dtypes.bfloat16, np.float32, np.float64):
        zero = np.array([0.0, -0.0], dtype)
        assert [math.copysign(1, v) for v in apply(ops.Neg, zero)] == [-1, 1]
        assert [math.copysign(1, v) for v in apply(ops.Abs, zero)] == [1, 1]


def test_comparisons_with_nan() -> None:
    nan, one = np.array(np.nan, np.float32), np.array(1, np.float32)
    for cls in (ops.CmpEq, ops.CmpLt, ops.CmpLe, ops.CmpGt, ops.CmpGe):
        assert not apply(cls, nan, one)
    assert apply(ops.CmpNe, nan, nan)


def test_short_floats_round_after_every_operation() -> None:
    for dtype, step in ((np.float16, 2.0**-10), (ml_dtypes.bfloat16, 2.0**-7)):
        one, half_step = np.array(1, dtype), np.array(step / 2, dtype)
        assert apply(ops.Add, one, half_step) == one  # a tie goes to the even neighbour
        assert apply(ops.Add, one, half_step).dtype == dtype
        assert apply(ops.Exp, one) == np.float32(math.e).astype(dtype)
        assert apply(ops.Sqrt, np.array(2, dtype)) == np.float32(math.sqrt(2)).astype(dtype)


def test_exp_and_log_are_within_half_an_ulp_in_f32() -> None:
    x = np.linspace(-80, 80, 1001, dtype=np.float32)
    exact = np.array([math.exp(v) for v in x.tolist()])
    assert np.all(np.abs(apply(ops.Exp, x) - exact) <= 0.5001 * np.spacing(exact.astype(np.float32)))
    assert apply(ops.Log, np.array([1, 0, -1], np.float64)).tolist()[:2] == [0.0, -np.inf]


def test_f64_keeps_its_precision() -> None:
    assert convert(np.array(0.1), f64) == 0.1
    assert apply(ops.Div, np.array(1.0), np.array(3.0)) == 1 / 3
