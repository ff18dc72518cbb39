"""`tl.dot`: types of products, what they are added to, and mistakes."""

from __future__ import annotations

import pytest

from tests.frontend.support import errors, hints, ssa

LOADS = """
def k(a, b, out):
    i = tl.arange(0, 4)
    x = tl.load(a + i[:, None] * 8 + tl.arange(0, 8)[None, :])
    y = tl.load(b + tl.arange(0, 8)[:, None] * 2 + tl.arange(0, 2)[None, :])
    z = tl.load(b + i)
"""


def product(expression: str, of: str = "fp32") -> str:
    """The operation that `expression` becomes, without its number and operands' numbers."""
    text = ssa(
        f"{LOADS}    r = {expression}\n    tl.store(out + i[:, None] + tl.arange(0, 2)[None, :], r)",
        f"*{of}, *{of}, *fp32",
    )
    (line,) = [line for line in text.splitlines() if " = dot " in line]
    return line.split(", ", 2)[2]


@pytest.mark.parametrize(
    ("expression", "of", "text"),
    [
        ("tl.dot(x, y)", "fp32", "0.0 {precision=tf32} : vector<4x2 x f32>"),
        ("tl.dot(x, y, input_precision='ieee')", "fp32", "0.0 {precision=ieee} : vector<4x2 x f32>"),
        ("tl.dot(x, y, allow_tf32=False)", "fp32", "0.0 {precision=ieee} : vector<4x2 x f32>"),
        ("tl.dot(x, y, input_precision='bf16x3')", "fp32", "0.0 {precision=ieee} : vector<4x2 x f32>"),
        ("tl.dot(x, y)", "fp16", "0.0 : vector<4x2 x f32>"),
        ("tl.dot(x, y, out_dtype=tl.float16)", "fp16", "0.0 : vector<4x2 x f32>"),
        ("tl.dot(x, y, tl.full((4, 2), 1.0, tl.float16))", "fp16", "f32(1.0) : vector<4x2 x f32>"),
        ("tl.dot(x, y)", "bf16", "0.0 : vector<4x2 x f32>"),
        ("tl.dot(x, y, out_dtype=tl.float32)", "fp64", "0.0 : vector<4x2 x f64>"),
        ("tl.dot(x, y)", "i8", "0 : vector<4x2 x i32>"),
    ],
)
def test_the_type_of_a_product(expression, of, text):
    assert product(expression, of) == text


X, Y, Z = "`x` (vector<4x8 x f32>)", "`y.to(tl.float16)` (vector<8x2 x f16>)", "`z` (vector<4 x f32>)"
NOT_BATCHES = "`x[None]` (vector<1x4x8 x f32>) and `tl.broadcast_to(y[None], 2, 8, 2)` (vector<2x8x2 x f32>)"
MISTAKES = [
    (
        "tl.dot(x, z)",
        "fp32",
        f"MT224 tl.dot takes blocks of two axes, or three with a batch of matrices, got {Z}",
        "give it a second axis: z[None, :] or [:, None]",
    ),
    (
        "tl.dot(x, x)",
        "fp32",
        f"MT224 {X} has 8 columns, but {X} has 4 rows: they have no product",
        "transpose one: tl.trans(x)",
    ),
    (
        "tl.dot(x[None], tl.broadcast_to(y[None], 2, 8, 2))",
        "fp32",
        f"MT224 {NOT_BATCHES} are not batches of equally many matrices",
        "both have the shape (batch, rows, columns)",
    ),
    (
        "tl.dot(x, y.to(tl.float16))",
        "fp32",
        f"MT203 tl.dot takes factors of one type, got {X} and {Y}",
        "convert one: x.to(x.dtype)",
    ),
    (
        "tl.dot(x, y)",
        "i32",
        "MT203 tl.dot takes blocks of floats or int8, got `x` (vector<4x8 x i32>)",
        "convert it first: x.to(tl.float32)",
    ),
    (
        "tl.dot(a, y)",
        "fp32",
        "MT203 tl.dot takes blocks of floats or int8, got `a` (ptr<f32>)",
        "load what it points to: tl.load(pointers)",
    ),
    (
        "tl.dot(x, y, tl.full((4, 4), 0, tl.float32))",
        "fp32",
        "MT224 the product is a block of f32 with the shape (4, 2), but `acc` is "
        "`tl.full((4, 4), 0, tl.float32)` (vector<4x4 x f32>)",
        "start with tl.zeros((4, 2), tl.float32)",
    ),
    (
        "tl.dot(x, y, tl.full((4, 2), 0, tl.float16))",
        "bf16",
        "MT224 the product is a block of f32 with the shape (4, 2), but `acc` is "
        "`tl.full((4, 2), 0, tl.float16)` (vector<4x2 x f16>)",
        "start with tl.zeros((4, 2), tl.float32)",
    ),
    (
        "tl.dot(x, y, input_precision='fp8')",
        "fp32",
        "MT233 `input_precision` is 'fp8'",
        'use one of "ieee", "tf32", "tf32x3", or leave it out',
    ),
    (
        "tl.dot(x, y, input_precision='ieee', allow_tf32=False)",
        "fp32",
        "MT233 `input_precision` and `allow_tf32` say the same thing",
        "leave out `allow_tf32`, the older name",
    ),
    (
        "tl.dot(x, y, out_dtype=tl.bfloat16)",
        "bf16",
        "MT203 tl.dot gives float32, or float16 if `out_dtype` says so, not bfloat16",
        "leave `out_dtype` out and convert: .to(tl.bfloat16)",
    ),
]


@pytest.mark.parametrize(("expression", "of", "message", "hint"), MISTAKES)
def test_a_mistake_says_what_to_do(expression, of, message, hint):
    text = f"{LOADS}    r = {expression}\n    tl.store(out + i, tl.sum(r, 1))"
    signature = f"*{of}, *{of}, *fp32"
    (found,) = errors(text, signature)
    assert found.split(" ", 1)[1] == message
    assert hints(text, signature) == [hint]
