"""`and`, `or`, `not`, chained comparisons and `x if condition else y` on run-time values."""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from tests.frontend.support import errors, hints, ssa

f32, i32 = np.float32, np.int32


@triton.jit
def logic(out, a, b, c, TRUE: tl.constexpr, FALSE: tl.constexpr):
    tl.store(out, a > 1 and b < 3)
    tl.store(out + 1, a > 1 or b < 3)
    tl.store(out + 2, not a)
    tl.store(out + 3, (a > 0 and b > 0) or c > 0)
    tl.store(out + 4, not (a and b))
    tl.store(out + 5, 0 < a < b <= c)
    tl.store(out + 6, TRUE and a)
    tl.store(out + 7, FALSE or b)
    tl.store(out + 8, FALSE and tl.nonsense)
    tl.store(out + 9, a and TRUE and b != c)
    tl.store(out + 10, 1 < 2 < a)
    tl.store(out + 11, not c and (not a or b == 2))


@pytest.mark.parametrize("a", [0, 2, -1])
@pytest.mark.parametrize("b", [0, 2, 5])
@pytest.mark.parametrize("c", [0.0, 2.5, -0.0])
def test_logic_on_scalars(a, b, c):
    out = np.full(12, 9, i32)
    logic[1](out, a, b, c, TRUE=True, FALSE=0, backend="interp")
    assert out.tolist() == [
        a > 1 and b < 3,
        a > 1 or b < 3,
        not a,
        (a > 0 and b > 0) or c > 0,
        not (a and b),
        0 < a < b <= c,
        a,
        b,
        0,
        bool(a and b != c),
        a > 2,
        not c and (not a or b == 2),
    ]


@triton.jit
def blocks(x, y, out, n):
    i = tl.arange(0, 8)
    v, w = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, v and w)
    tl.store(out + 8 + i, v or i < n)
    tl.store(out + 16 + i, not v)
    tl.store(out + 24 + i, -1.0 < v <= w < 2)


def test_logic_on_blocks_is_elementwise():
    x = np.array([0, 1, np.nan, -0.0, 0.5, -1, 2, 1], f32)
    y = np.array([0, 1, 1, 1, 0, 1, 2, np.nan], f32)
    out = np.full(32, 9, i32)
    blocks[1](x, y, out, 3, backend="interp")
    v, w = x != 0, y != 0
    chained = (x > -1) & (x <= y) & (y < 2)
    assert out.reshape(4, 8).tolist() == [
        list(v & w),
        list(v | (np.arange(8) < 3)),
        list(~v),
        list(chained),
    ]


@triton.jit
def ternaries(x, out, n):
    i = tl.arange(0, 4)
    a = n if n > 2 else 7
    b = 1.5 if n > 2 else n
    c = tl.load(x + 1000) if n > 1000 else 0.0
    d = i * 2 if n == 3 else 5
    p = x if n > 2 else x + 4
    q, r = (n, p) if n > 2 else (0, x)
    tl.store(out, a)
    tl.store(out + 1, b)
    tl.store(out + 2, c)
    tl.store(out + 4 + i, d)
    tl.store(out + 8 + i, tl.load(p + i))
    tl.store(out + 12, q + (1 if n < 0 else 2 if n == 3 else 3))
    tl.store(out + 13, tl.load(r))


@pytest.mark.parametrize("n", [-1, 3, 5])
def test_ternaries_compute_only_the_side_that_is_chosen(n):
    x, out = np.arange(1, 9, dtype=f32), np.zeros(16, f32)
    ternaries[1](x, out, n, backend="interp")
    expected = np.zeros(16, f32)
    expected[:3] = n if n > 2 else 7, 1.5 if n > 2 else n, 0
    expected[4:8] = np.arange(4) * 2 if n == 3 else 5
    expected[8:12] = x[:4] if n > 2 else x[4:]
    expected[12:14] = (n if n > 2 else 0) + (1 if n < 0 else 2 if n == 3 else 3), x[0]
    assert out.tolist() == expected.tolist()


def test_the_sides_of_a_ternary_are_promoted():
    text = """
    def k(out, h, n):
        a = h if n > 0 else n
        b = h if n > 0 else 1
        c = n if n > 0 else 0.5
        d = 1 if n > 0 else 2
        tl.static_assert(a.dtype == tl.float16 and b.dtype == tl.float16)
        tl.static_assert(c.dtype == tl.float32 and d.dtype == tl.int32)
        tl.store(out, a + b + c + d)
    """
    assert "yield 1.0" in ssa(text, "*fp32, fp16, i32")


def test_the_listing_of_a_ternary():
    text = "def k(x, n):\n    tl.store(x, tl.load(x + n) if n > 0 else 0.0)"
    assert ssa(text, "*fp32, i32").splitlines() == [
        "%0 = cmp_gt n, 0 : bool",
        "%1 = if %0 : f32 {",
        "  %2 = addptr x, n : ptr<f32>",
        "  %3 = load %2 : f32",
        "  yield %3",
        "} else {",
        "  yield 0.0",
        "}",
        "store x, %1",
    ]


MISUSES = [
    (
        "i if i > 0 else 1",
        "3:14 MT148 the condition of an `if`-`else` must be one number, but `i > 0` (vector<4 x bool>) has many",
    ),
    ("n if n > 0 else None",
     "3:9 MT153 the sides of this `if`-`else` have different types: i32 and the constexpr None"),
    ("(n, 1) if n > 0 else (1.5, 1)",
     "3:9 MT153 the sides of this `if`-`else` have different types: (i32, i32) and (f32, i32)"),
    ("i if n > 0 else tl.arange(0, 8)",
     "3:9 MT204 shapes do not match: `i` (vector<4 x i32>) and `tl.arange(0, 8)` (vector<8 x i32>)"),
    ("i > 0 and tl.arange(0, 8)",
     "3:9 MT204 shapes do not match: `i > 0` (vector<4 x bool>) and `tl.arange(0, 8)` (vector<8 x bool>) "
     "have extents 4 and 8 on axis 0"),
    ("n > 0 or undefined", "3:18 MT131 `undefined` is not defined"),
    ("undefined if n > 0 else n", "3:9 MT131 `undefined` is not defined"),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "message"), MISUSES)
def test_misuse(expression, message):
    text = f"def k(x, n, i=tl.arange(0, 4)):\n    y = {expression}\n    tl.store(x, y)"
    text = text.replace(", i=tl.arange(0, 4)", "").replace("    y", "    i = tl.arange(0, 4); y", 1)
    shift = len("i = tl.arange(0, 4); ")
    line, column = message.split(" ")[0].split(":")
    found = errors(text, "*fp32, i32")
    assert found[0] == message.replace(f"{line}:{column}", f"{line}:{int(column) + shift}", 1)
    assert len(found) == 1


def test_a_block_condition_is_told_of_where():
    text = "def k(x):\n    i = tl.arange(0, 4)\n    tl.store(x + i, 1 if i > 2 else 0)"
    (hint,) = hints(text, "*i32")
    assert "tl.where(condition, x, y)" in hint
