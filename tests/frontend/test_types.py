"""Conversions, bit casts and pointers of other types, what kernels ask of types, and functions of integers."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.frontend.support import errors, hints, interpret, lowered, ssa, type_of, value_of

bf16 = ml_dtypes.bfloat16
F = np.array([1.5, -2.7, 3e9, -3e9, np.nan, np.inf, -0.0, 300.5], np.float32)
with np.errstate(all="ignore"):
    HALVES = np.where(np.isnan(F), np.float32(0), F).astype(np.float16)
I32 = np.array([0, -1, 2**31 - 1, -(2**31), 0x3F800000, 7, 256, -129], np.int32)


with np.errstate(all="ignore"):
    CASTS = [
        ("f.to(tl.int32)", np.array([1, -2, 2**31 - 1, -(2**31), 0, 2**31 - 1, 0, 300], np.int32)),
        ("f.cast(tl.uint8)", np.array([1, 0, 255, 0, 0, 255, 0, 255], np.uint8)),
        ("tl.cast(f, tl.int1)", np.array([1, 1, 1, 1, 1, 1, 0, 1], bool)),
        ("tl.cast(i, tl.int8)", I32.astype(np.int8)),
        ("i.to(tl.uint64)", I32.astype(np.uint64)),
        ("i.to(tl.float16)", I32.astype(np.float16)),
        ("i.to(tl.uint32, bitcast=True)", I32.view(np.uint32)),
        ("tl.cast(i, tl.float32, bitcast=True)", I32.view(np.float32)),
        ("f.to(tl.int32, bitcast=True)", F.view(np.int32)),
        ("f.to(tl.uint32, None, True) >> 31", F.view(np.uint32) >> 31),
        # Which bits a NaN has is nobody's promise.
        (
            "tl.where(f == f, f, 0.0).to(tl.float16).to(tl.int16, bitcast=True)",
            HALVES.view(np.int16),
        ),
        ("f.to(tl.bfloat16).to(tl.float16, bitcast=True)", F.astype(bf16).view(np.float16)),
        ("tl.cast(1, tl.float32)[None]", np.ones(1, np.float32)),
        ("tl.cast(300, tl.int8)[None]", np.array([44], np.int8)),
        ("tl.cast(0x3F800000, tl.float32, bitcast=True)[None]", np.ones(1, np.float32)),
        ("tl.to_tensor(3)[None] + i", I32 + 3),
    ]


@pytest.mark.parametrize(("expression", "expected"), CASTS, ids=[e for e, _ in CASTS])
def test_conversions(expression, expected):
    with np.errstate(all="ignore"):
        actual = value_of(expression, expected, f=F, i=I32)
    assert actual.tobytes() == expected.tobytes()


def toward_zero(x: np.ndarray, to: np.dtype) -> np.ndarray:
    """NumPy rounds to nearest: take the neighbour where that went too far."""
    y = x.astype(to)
    bits = y.view(f"u{y.itemsize}")
    return np.where(np.abs(y.astype(x.dtype)) > np.abs(x), bits - 1, bits).astype(bits.dtype).view(to)


@pytest.mark.parametrize(("source", "to", "name"), [
    (np.float32, np.dtype(np.float16), "float16"),
    (np.float32, np.dtype(bf16), "bfloat16"),
    (np.float64, np.dtype(np.float32), "float32"),
    (np.float64, np.dtype(np.float16), "float16"),
])  # fmt: skip
def test_narrower_floats_round_as_asked(source, to, name):
    rng = np.random.default_rng(2)
    x = (rng.standard_normal(64) * 2.0 ** rng.integers(-30, 20, 64)).astype(source)
    x[:8] = [65519.9, 65520, 65536, 1e-8, -1e-8, -np.inf, 0.0, -0.0]
    with np.errstate(all="ignore"):
        actual = value_of(f'x.to(tl.{name}, fp_downcast_rounding="rtz")', np.zeros(64, to), x=x)
        np.testing.assert_array_equal(actual.view(f"u{to.itemsize}"), toward_zero(x, to).view(f"u{to.itemsize}"))
        assert (np.abs(actual.astype(np.float64)) <= np.abs(x)).all()
        nearest = value_of(f'x.to(tl.{name}, "rtne")', np.zeros(64, to), x=x)
        assert nearest.tobytes() == x.astype(to).tobytes()
    if name == "float16":
        assert actual[:3].tolist() == [65504, 65504, 65504]


def test_a_pointer_to_other_elements_keeps_its_address():
    text = """
    def k(x, out):
        halves = x.to(tl.pointer_type(tl.uint16), bitcast=True)
        i = tl.arange(0, 8)
        tl.store(out + i, tl.load(halves + i))
        words = tl.cast(out + 8 + i * 2, tl.pointer_type(tl.uint32))
        tl.store(words, 0x00020001)
    """
    x, out = np.array([0x00010002, 0x00030004, -1, 5], np.int32), np.zeros(24, np.uint16)
    interpret(text, "*i32, *u16", [x, out])
    np.testing.assert_array_equal(out[:8], x.view(np.uint16))
    np.testing.assert_array_equal(out[8:], [1, 2] * 8)


INTEGERS = [
    ("tl.umulhi(x, y)", "u32"),
    ("tl.umulhi(x, y)", "i32"),
    ("tl.umulhi(x, y)", "u64"),
    ("tl.umulhi(x, y)", "i64"),
    ("tl.math.umulhi(x, 0x7F4A7C15)", "u64"),
]


@pytest.mark.parametrize(("expression", "element"), INTEGERS)
def test_the_upper_half_of_a_product(expression, element):
    bits = int(element[1:])
    raw = np.random.default_rng(3).integers(0, 2**64, (2, 16), np.uint64, endpoint=False)
    raw[0, :4] = raw[1, :4] = [2**64 - 1, 0, 1, 2**32 - 1]
    x, y = (v.astype(f"u{bits // 8}").view(f"{element[0]}{bits // 8}") for v in raw)
    other = [0x7F4A7C15] * 16 if "0x" in expression else [int(v) for v in y.astype(f"u{bits // 8}")]
    expected = [int(a) * b >> bits for a, b in zip(x.astype(f"u{bits // 8}"), other, strict=True)]
    actual = value_of(expression, x, x=x, y=y)
    assert actual.astype(f"u{bits // 8}").tolist() == expected


with np.errstate(all="ignore"):
    FUNCTIONS = [
        ("tl.add(i, 1)", I32 + 1),
        ("tl.sub(1, i)", 1 - I32),
        ("tl.mul(i, i, sanitize_overflow=False)", I32 * I32),
        ("tl.fdiv(f, 3.0)", F / np.float32(3)),
        ("tl.fdiv(i, f, ieee_rounding=True)", I32.astype(np.float32) / F),
        ("tl.div_rn(f, f)", F / F),
        ("(i > 0).logical_and(f > 0)", (I32 > 0) & (F > 0)),
        ("(i > 0).logical_or(f > 0)", (I32 > 0) | (F > 0)),
        ("i.abs()", np.abs(I32)),
        ("f.abs().sqrt()", np.sqrt(np.abs(F))),
        ("f.floor()", np.floor(F)),
        ("(i & 255).cdiv(7)", -(-(I32 & 255) // 7)),
        ("abs(f)", np.abs(F)),
        ("min(i, 5, -3)", np.minimum(np.minimum(I32, 5), -3)),
        ("max(f, 1.0)", np.fmax(F, np.float32(1))),
        ("tl.where(i, f, 0.0)", np.where(I32 != 0, F, np.float32(0))),
        ("tl.where(i > 0, i, f)", np.where(I32 > 0, I32.astype(np.float32), F)),
        ("tl.where(i > 0, f, 2)", np.where(I32 > 0, F, np.float32(2))),
    ]


@pytest.mark.parametrize(("expression", "expected"), FUNCTIONS, ids=[e for e, _ in FUNCTIONS])
def test_functions_and_methods(expression, expected):
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(value_of(expression, expected, f=F, i=I32), expected)


def test_a_condition_that_is_not_bool_warns():
    _, (warning,) = lowered("def k(x, n):\n    tl.store(x, tl.where(n & 1, 1.0, 2.0))", "*fp32, i32")
    assert (warning.code, warning.span.column, warning.hint) == ("MT291", 26, "say so: n & 1 != 0")
    assert warning.message == "the condition of tl.where is not bool: `n & 1` (i32) counts as true where it is not 0"


@pytest.mark.parametrize("element", ["i8", "i16", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f64", "i1"])
def test_scalars_and_pointers_of_every_type(element):
    from mytriton.ir.arithmetic import DTYPES
    from mytriton.types import SCALARS

    dtype = DTYPES[SCALARS[element]]
    x, out = np.array([1, 0, 3, 100], dtype), np.zeros(4, dtype)
    text = """
    def k(x, n, out):
        i = tl.arange(0, 4)
        tl.store(out + i, tl.where(i < 3, tl.load(x + i), n))
    """
    interpret(text, f"*{element}, {element}, *{element}", [x, x[0], out])
    np.testing.assert_array_equal(out, [x[0], x[1], x[2], x[0]])


WRONG = [
    ("x.to(tl.int32)", 5, "MT203 `x` (ptr<f32>) cannot become i32: an address has 64 bits"),
    ("x.to(tl.float64, bitcast=True)", 5, "MT203 `x` (ptr<f32>) cannot become f64: an address has 64 bits"),
    ("n.to(tl.pointer_type(tl.int8))", 5, "MT203 `n` (i32) cannot become ptr<i8>: an address has 64 bits"),
    ("n.to(tl.float16, bitcast=True)", 5, "MT203 a bit cast keeps the width: `n` (i32) has 32 bits, f16 16"),
    ("(n > 0).to(tl.int8, bitcast=True)", 5, "MT203 a bit cast keeps the width: `n > 0` (bool) has 1 bits, i8 8"),
    ('f.to(tl.float16, "up")', 22, "MT211 `fp_downcast_rounding` is 'up'"),
    ('n.to(tl.float16, "rtz")', 5, "MT203 `fp_downcast_rounding` is for narrower floats, not for `n` (i32) to f16"),
    ("tl.zeros((4,), x.dtype)", 20, "MT211 a dtype of numbers is needed here, got `x.dtype` (a dtype)"),
    ("tl.full((4,), 0, 32)", 22, "MT211 a dtype is needed here, got 32"),
    ("f.dtype.element_ty", 5, "MT134 `f.dtype` (a dtype) has no `.element_ty`"),
    ("n.dtype.is_flaoting()", 5, "MT134 `n.dtype` (a dtype) has no `.is_flaoting`"),
    ("f[None].type.is_floating()", 5, "MT134 `.is_floating()` is for element types, not `f[None].type` (a dtype)"),
    ("f.dtype.get_int_max_value()", 5, "MT134 `.get_int_max_value()` is for integers, not `f.dtype` (a dtype)"),
    ("n.is_int()", 5, "MT134 `n` (i32) has no `.is_int`"),
    ('tl.dtype("float")', 14, "MT211 'float' names no dtype"),
    ("tl.pointer_type(tl.int8, 3)", 30, "MT211 pointers point to global memory, not to 3"),
    ("tl.umulhi(n, f)", 5, "MT203 tl.umulhi takes integers of 32 or 64 bits, got `n` (i32) and `f` (f32)"),
    ("tl.fdiv(n, 2)", 5, "MT203 tl.fdiv takes floats, got `n` (i32) and 2"),
    ("n.logical_and(f > 0)", 5, "MT231 `.logical_and` takes bools, got `n` (i32)"),
    ("f ** 2", 5, "MT202 `**` works on constexprs only"),
    ("float(n)", 11, "MT213 `float` works on constexprs only, but `n` (i32) is computed at run time"),
    ("len(n)", 9, "MT210 the argument of `len` must be a constexpr, but `n` (i32) is not"),
    ("tl.float16(n)", 5, "MT136 `tl.float16` (a dtype) cannot be called in a kernel"),
    ("tl.float16.T", 5, "MT134 `tl.float16` (a dtype) has no `.T`"),
]


@pytest.mark.parametrize(("statement", "column", "message"), WRONG, ids=[w[0] for w in WRONG])
def test_mistakes(statement, column, message):
    assert errors(f"def k(x, n, f):\n    {statement}", "*fp32, i32, fp32") == [f"3:{column} {message}"]


def test_hints_say_what_to_write():
    def hint(statement):
        (found,) = hints(f"def k(x, n, f):\n    {statement}", "*fp32, i32, fp32")
        return found

    assert hint("f ** 2") == "write x * x, or tl.pow(x, y) of floats"
    assert hint("tl.float16(n)") == "write tl.cast(x, tl.float16)"
    assert hint("float(n)") == "convert with .to(tl.float32)"
    assert hint("tl.zeros((4,), x.dtype)") == "the type of what it points to is x.dtype.element_ty"
    assert hint("f.dtype.element_ty") == "it is the element type of a pointer: pointer.dtype.element_ty"
    assert hint("f[None].type.is_fp32()") == "ask the element type: f[None].dtype.is_fp32()"
    assert hint("n.dtype.is_flaoting()") == "did you mean `.is_floating`?"
    assert hint("n.dtype.zzz") == "a type has .scalar, .name, .primitive_bitwidth, .itemsize, .int_bitwidth"
    assert hint("f.dtype.get_int_max_value()") == "no float is larger than float('inf'), or smaller than float('-inf')"
    assert hint("(1, 2).shape") == "take an item first: [1] is the last"
    assert hint("tl.PropagateNan.SOME") == "it has NONE, ALL"
    assert hint("n.to.shape") == "call it first: n.to(...).shape"
    assert hint("(2).too(tl.int8)") == "did you mean `.to`?"


def test_python_arithmetic_of_constexprs():
    assert type_of("n + float('-inf')", "i32", "n") == "f32"
    assert type_of("n * int(2.7)", "i64", "n") == "i64"
    text = "def k(x):\n    tl.store(x, float('inf') if min(3, 2) ** 3 == 8 else max(1, 2.5))"
    lowered(text, "*fp32")


def test_swizzle2d_walks_groups_of_rows_by_columns():
    rows, columns, group = 5, 4, 2
    out = np.zeros((8, 8, 2), np.int32)
    text = """
    def k(out, rows, columns, G: tl.constexpr):
        i, j = tl.arange(0, 8)[:, None], tl.arange(0, 8)[None, :]
        a, b = tl.swizzle2d(i, j, rows, columns, G)
        place = out + (i * 8 + j) * 2
        mask = (i < rows) & (j < columns)
        tl.store(place, a, mask)
        tl.store(place + 1, b, mask)
    """
    interpret(text, "*i32, i32, i32, 2", [out.reshape(-1), np.int32(rows), np.int32(columns)])
    walked = [
        (i, j) for top in range(0, rows, group) for j in range(columns) for i in range(top, min(top + group, rows))
    ]
    assert [tuple(p) for p in out[:rows, :columns].reshape(-1, 2)] == walked


def test_the_only_element_of_a_block():
    assert value_of("tl.sum(i, keep_dims=True).item() + n.item()", np.int32(0), i=I32[5:7], n=np.int32(4)) == 267
    (message,) = errors("def k(x):\n    tl.arange(0, 2).item()", "*i32")
    assert message == "3:5 MT223 `.item()` is for blocks of one element, not `tl.arange(0, 2)` (vector<2 x i32>)"


def test_a_product_of_masks_is_a_mask():
    text = """
    def k(x, n):
        i = tl.arange(0, 8)
        both = (i < n)[:, None] * (i > 2)[None, :]
        tl.store(x + i[:, None] + i[None, :], 1.0, mask=both)
    """
    (product,) = [line for line in ssa(text, "*fp32, i32").splitlines() if " = and " in line]
    assert product.endswith(": vector<8x8 x bool>")
