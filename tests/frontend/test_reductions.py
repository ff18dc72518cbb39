"""Reductions in the interpreter against NumPy's: axes, types, NaN, and what is made of them."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.frontend.support import errors, hints, type_of, value_of

M = (np.arange(32, dtype=np.int32) * 37 % 41).reshape(4, 8) - 20
C = (np.arange(64, dtype=np.int32) * 53 % 67).reshape(2, 4, 8) - 30
F = np.random.default_rng(0).standard_normal((4, 8)).astype(np.float32)
X = np.array([3.5, np.nan, -1.0, np.nan], np.float32)
NAN = np.full(4, np.nan, np.float32)


AXES = [
    ("tl.sum(m, axis=0)", M.sum(0)),
    ("tl.sum(m, 1)", M.sum(1)),
    ("tl.sum(m, -1)", M.sum(1)),
    ("tl.sum(m)", M.sum()),
    ("tl.sum(m, None)", M.sum()),
    ("tl.sum(m, axis=0, keep_dims=True)", M.sum(0, keepdims=True)),
    ("tl.sum(m, 1, True)", M.sum(1, keepdims=True)),
    ("tl.sum(m, keep_dims=True)", M.sum(keepdims=True)),
    ("m.sum(axis=1)", M.sum(1)),
    ("m.sum()", M.sum()),
    ("tl.sum(c, 1)", C.sum(1)),
    ("tl.sum(c, axis=2, keep_dims=True)", C.sum(2, keepdims=True)),
    ("tl.sum(tl.sum(c, 2), 0)", C.sum((0, 2))),
    ("tl.max(m, 0)", M.max(0)),
    ("tl.max(m)", M.max()),
    ("m.max(1, keep_dims=True)", M.max(1, keepdims=True)),
    ("tl.max(c, axis=-2)", C.max(1)),
    ("tl.min(m, 1)", M.min(1)),
    ("tl.min(c)", C.min()),
    ("m.min()", M.min()),
    ("tl.xor_sum(m, 0)", np.bitwise_xor.reduce(M, 0)),
    ("m.xor_sum()", np.bitwise_xor.reduce(M, None)),
    ("tl.reduce_or(m, 1)", np.bitwise_or.reduce(M, 1)),
    ("m.reduce_or(axis=0, keep_dims=True)", np.bitwise_or.reduce(M, 0, keepdims=True)),
    ("tl.reduce_or(m > 18, 1)", (M > 18).any(1)),
    ("tl.xor_sum(m > 0, 0)", np.logical_xor.reduce(M > 0, 0)),
    ("m - tl.max(m, 1, keep_dims=True)", M - M.max(1, keepdims=True)),
    ("m - tl.max(m, 1)[:, None]", M - M.max(1)[:, None]),
    ("tl.sum(m[None], 0)", M),
    ("tl.sum(n)", np.int32(7)),
    ("tl.max(n, keep_dims=True) + 1", np.int32(8)),
    ("tl.sum(m[:, :, None] * m.T[None, :, :], axis=1)", M @ M.T),
]


@pytest.mark.parametrize(("expression", "expected"), AXES, ids=[e for e, _ in AXES])
def test_axes(expression, expected):
    expected = np.asarray(expected, bool if np.asarray(expected).dtype == bool else np.int32)
    np.testing.assert_array_equal(value_of(expression, expected, m=M, c=C, n=np.int32(7)), expected)


# The types are Triton 3.9's (`_pick_sum_dtype`, `max` of `standard.py`).
TYPES = {
    "sum": {"i1": "u32", "i8": "i32", "i16": "i32", "i32": "i32", "i64": "i64", "u8": "u32", "u16": "u32",
            "u32": "u32", "u64": "u64", "f16": "f16", "bf16": "bf16", "f32": "f32", "f64": "f64"},
    "max": {"i1": "i32", "i8": "i32", "i16": "i32", "i32": "i32", "i64": "i64", "u8": "i32", "u16": "i32",
            "u32": "u32", "u64": "u64", "f16": "f32", "bf16": "f32", "f32": "f32", "f64": "f64"},
    "xor_sum": {"i1": "bool", "i8": "i8", "i16": "i16", "u8": "u8", "i32": "i32", "u64": "u64"},
}  # fmt: skip
TYPES["min"] = TYPES["max"]
TYPES["reduce_or"] = TYPES["xor_sum"]


@pytest.mark.parametrize(
    ("name", "element", "result"), [(n, e, r) for n, types in TYPES.items() for e, r in types.items()]
)
def test_types_of_results(name, element, result):
    assert type_of(f"tl.{name}(tl.load(x + tl.arange(0, 8)), 0)", f"*{element}", "x") == result


def test_a_sum_converts_to_the_type_it_is_given():
    assert type_of("tl.sum(tl.load(x + tl.arange(0, 8)), dtype=tl.float32)", "*fp16", "x") == "f32"
    small = np.full(8, 100, np.int8)
    assert value_of("tl.sum(x)", np.int32(0), x=small) == 800
    assert value_of("tl.sum(x, dtype=tl.int8)", np.int8(0), x=small) == np.int8(800 - 768)
    assert value_of("tl.sum(x, 0, dtype=tl.int64)", np.int64(0), x=np.full(4, 2**30, np.int32)) == 2**32
    assert value_of("tl.sum(x > 0)", np.uint32(0), x=np.arange(-3, 5, dtype=np.int32)) == 4
    assert value_of("tl.sum(x)", np.uint32(0), x=np.full(2, 200, np.uint8)) == 400


NANS = [
    ("tl.max(x, 0)", np.float32(3.5)),
    ("tl.min(x, 0)", np.float32(-1)),
    ("tl.max(n, 0)", np.float32(np.nan)),
    ("tl.max(x, 0, propagate_nan=tl.PropagateNan.ALL)", np.float32(np.nan)),
    ("tl.min(x, propagate_nan=tl.PropagateNan.ALL)", np.float32(np.nan)),
    ("tl.min(x, propagate_nan=tl.PropagateNan.NONE)", np.float32(-1)),
    ("tl.max(i, propagate_nan=tl.PropagateNan.ALL)", np.float32(20)),
    ("tl.maximum(x, 0.0)", np.array([3.5, 0, 0, 0], np.float32)),
    ("tl.maximum(x, 0.0, propagate_nan=tl.PropagateNan.ALL)", np.array([3.5, np.nan, 0, np.nan], np.float32)),
    ("tl.minimum(0.0, x, tl.PropagateNan.ALL)", np.array([0, np.nan, -1, np.nan], np.float32)),
    ("tl.clamp(x, 0.0, 2.0)", np.array([2, 0, 0, 0], np.float32)),
    ("tl.clamp(x, 0.0, 2.0, propagate_nan=tl.PropagateNan.ALL)", np.array([2, np.nan, 0, np.nan], np.float32)),
]


@pytest.mark.parametrize(("expression", "expected"), NANS, ids=[e for e, _ in NANS])
def test_nan_is_ignored_unless_it_is_to_propagate(expression, expected):
    np.testing.assert_array_equal(value_of(expression, expected, x=X, n=NAN, i=M), expected)


def test_floats_are_summed_as_a_tree():
    # A running sum of float16 ones stops at 2048.
    assert value_of("tl.sum(x)", np.float16(0), x=np.ones(8192, np.float16)) == 8192
    x = np.random.default_rng(1).standard_normal((4, 1024)).astype(np.float32)
    computed = value_of("tl.sum(x, 1)", np.zeros(4, np.float32), x=x)
    np.testing.assert_allclose(computed, x.astype(np.float64).sum(1), rtol=1e-5)
    assert value_of("tl.sum(x, 0)", ml_dtypes.bfloat16(0), x=np.full(64, 3, ml_dtypes.bfloat16)) == 192


def softmax(x, axis):
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


SOFTMAX = [
    ("tl.softmax(f)", softmax(F, 0)),
    ("tl.softmax(f, 0)", softmax(F, 0)),
    ("tl.softmax(f, dim=1)", softmax(F, 1)),
    ("f.softmax(-1, ieee_rounding=True)", softmax(F, 1)),
    ("tl.softmax(f, 1, keep_dims=True)", softmax(F, 1)),
    ("tl.softmax(tl.ravel(f))", softmax(F.ravel(), 0)),
]


@pytest.mark.parametrize(("expression", "expected"), SOFTMAX, ids=[e for e, _ in SOFTMAX])
def test_softmax(expression, expected):
    np.testing.assert_allclose(value_of(expression, expected, f=F), expected, rtol=1e-6)


def test_softmax_of_short_floats_is_a_float32():
    x = F[0].astype(np.float16)
    np.testing.assert_allclose(
        value_of("tl.softmax(x)", np.zeros(8, np.float32), x=x), softmax(x.astype(np.float32), 0), rtol=1e-6
    )
    assert type_of("tl.softmax(tl.load(x + tl.arange(0, 8)))", "*bf16", "x") == "vector<8 x f32>"


WRONG = [
    ("tl.sum(p)", 12, "MT203 tl.sum takes numbers, got `p` (vector<8 x ptr<f32>>)"),
    ("tl.sum(i, 1)", 15, "MT221 axis 1 is out of range of `i` (vector<8 x i32>)"),
    ("tl.sum(n, 0)", 15, "MT221 axis 0 is out of range of `n` (i32)"),
    ("tl.sum(i, axis=n)", 20, "MT210 the axis must be a constexpr, but `n` (i32) is not"),
    ("tl.max(i, n)", 15, "MT211 the axis must be a constexpr integer, got `n` (i32)"),
    ("tl.min(a, 0.0)", 15, "MT211 the axis must be a constexpr integer, got 0.0"),
    ("tl.sum(i, (0, 1))", 15, "MT211 the axis must be an integer, got `(0, 1)` (a tuple)"),
    ("tl.sum(i, 0, dtype=tl.int1)", 24, "MT203 tl.sum does not add bools as bools"),
    ("tl.xor_sum(a)", 16, "MT203 tl.xor_sum takes integers and bools, got `a` (vector<8 x f32>)"),
    ("tl.softmax(i)", 16, "MT203 tl.softmax takes floats, got `i` (vector<8 x i32>)"),
    ("tl.max(i, 0, propagate_nan=1)", 32, "MT211 `propagate_nan` is 1"),
    ("tl.softmax(a, 0, True)", 22, "MT120 `tl.softmax` takes 2 arguments (x, dim), got 3"),
]


@pytest.mark.parametrize(("statement", "column", "message"), WRONG, ids=[w[0] for w in WRONG])
def test_mistakes(statement, column, message):
    text = f"def k(x, n):\n    i = tl.arange(0, 8)\n    p = x + i\n    a = tl.load(p)\n    {statement}"
    assert errors(text, "*fp32, i32") == [f"6:{column} {message}"]


def test_hints_say_what_was_meant():
    def hint(statement):
        (found,) = hints(f"def k(x, n):\n    i = tl.arange(0, 8)\n    {statement}", "*fp32, i32")
        return found

    assert hint("tl.max(i, n)") == "the larger of two values is tl.maximum(x, y)"
    assert hint("tl.min(i, 0.5)") == "the smaller of two values is tl.minimum(x, y)"
    assert hint("tl.sum(i, axis=(0, 1))") == "reduce one axis after the other, or all of them with axis=None"
    assert hint("i.astype(tl.int8)") == "did you mean `.to(dtype)`?"
