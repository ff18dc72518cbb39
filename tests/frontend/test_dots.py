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
        ("tl.dot(x, y.to(tl.float32).to(tl.float8e5))", "fp8e4nv", "0.0 : vector<4x2 x f32>"),
        ("tl.dot(x, y, tl.full((4, 2), 1.0, tl.float16))", "fp8e5", "f32(1.0) : vector<4x2 x f32>"),
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
    (
        "tl.dot(x, y.to(tl.float16))",
        "fp8e5",
        f"MT203 tl.dot takes factors of one type, got {X} and {Y}".replace("f32", "f8e5"),
        "convert one: x.to(x.dtype)",
    ),
    (
        "tl.dot_scaled(x, None, 'e4m3', y, None, 'e3m4')",
        "fp8e4nv",
        "MT233 `rhs_format` is 'e3m4'",
        'use one of "e4m3", "e5m2", "fp16", "bf16", "e2m1"',
    ),
    (
        "tl.dot_scaled(x, None, 'e5m2', y, None, 'e4m3')",
        "fp8e4nv",
        "MT203 a block in the format 'e5m2' is of f8e5 or u8, got `x` (vector<4x8 x f8e4nv>)",
        "say what its elements are, or convert them",
    ),
    (
        "tl.dot_scaled(x, None, 'fp16', y, None, 'fp16', rhs_k_pack=False)",
        "fp16",
        "MT233 `rhs_k_pack` is about \"e2m1\", not 'fp16'",
        "leave it out",
    ),
    (
        "tl.dot_scaled(tl.zeros((4, 32), tl.float8e5), z, 'e5m2', tl.zeros((32, 2), tl.float8e5), None, 'e5m2')",
        "fp32",
        f"MT224 `lhs_scale` has (4, 1) or (4, 2), a factor for 32 or 16 numbers, got {Z}",
        "neither scale is transposed: K is the last axis of both",
    ),
    (
        "tl.dot_scaled(tl.zeros((4, 32), tl.float8e5), z[:, None], 'e5m2', tl.zeros((32, 2), tl.uint8), None, 'e5m2')",
        "fp32",
        "MT203 `lhs_scale` is of uint8 (exponents) or float8e4nv, got `z[:, None]` (vector<4x1 x f32>)",
        "load the exponents as uint8: 127 stands for 1",
    ),
    (
        "tl.dot_scaled(x, None, 'fp16', y, None, 'fp16', out_dtype=tl.float16)",
        "fp16",
        "MT203 tl.dot_scaled gives float32, not `tl.float16` (a dtype)",
        "leave `out_dtype` out, and convert the product",
    ),
    (
        "tl.dot_scaled(x, None, 'fp16', z, None, 'fp16')",
        "fp16",
        f"MT224 tl.dot_scaled takes blocks of two axes, or three with a batch, got {Z}".replace("f32", "f16"),
        "tl.load of pointers with two axes makes such a block",
    ),
]


@pytest.mark.parametrize(("expression", "of", "message", "hint"), MISTAKES)
def test_a_mistake_says_what_to_do(expression, of, message, hint):
    text = f"{LOADS}    r = {expression}\n    tl.store(out + i, tl.sum(r, 1))"
    signature = f"*{of}, *{of}, *fp32"
    (found,) = errors(text, signature)
    assert found.split(" ", 1)[1] == message
    assert hints(text, signature) == [hint]
