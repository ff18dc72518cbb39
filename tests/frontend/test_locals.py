"""Numbers that are given names: their values stay known, and they have types, as in Triton."""

from __future__ import annotations

import pytest

from tests.frontend.support import errors, lowered, ssa

# In a kernel of blocks b (i8), h (f16) and d (f64) and a constexpr B = 8, after the assignment.
TYPES = [
    ("a = 100", "b * a", "int32"),
    ("a = 100", "b * 100", "int8"),
    ("a: tl.constexpr = 100", "b * a", "int8"),
    ("a = 0.5", "h * a", "float32"),
    ("a = 0.5", "h * 0.5", "float16"),
    ("a: tl.constexpr = 0.5", "h * a", "float16"),
    ("a = B * 2", "h + a", "float16"),
    ("a = B * 2", "b + a", "int32"),
    ("a, c = 1, (2, 0.5)", "h * c[1]", "float32"),
    ("a, c = 1, (2, 0.5)", "b * (a + c[0])", "int32"),
    ("a = 1\n    a += 1", "b * a", "int32"),
    ("a = 2**40", "b * a", "int64"),
    ("a = 2**63", "b * a", "uint64"),
    ("a = 1e300", "h * a", "float64"),
    ("a = True", "b * a", "int8"),
    ("a = -float('inf')", "tl.maximum(h, a)", "float32"),
    ("a = 3", "a / 2", "float32"),
    ("a = 3", "a", "int32"),
    ("a = 1.5", "a", "float32"),
    ("a = 3", "a.to(tl.float64)", "float64"),
]


@pytest.mark.parametrize(("assignment", "expression", "dtype"), TYPES)
def test_a_number_with_a_name_takes_part_in_promotion(assignment, expression, dtype):
    lowered(
        f"""
def k(x, y, z, B: tl.constexpr):
    i = tl.arange(0, B)
    b, h, d = tl.load(x + i), tl.load(y + i), tl.load(z + i)
    {assignment}
    result = {expression}
    tl.static_assert(result.dtype == tl.{dtype})
""",
        "*i8, *fp16, *fp64, 8",
    )


VALUES = [
    ("a = -7", "a // 2", "-3"),
    ("a = -7", "a % 4", "-3"),
    ("a: tl.constexpr = -7", "a // 2", "-4"),
    ("a: tl.constexpr = -7", "a % 4", "1"),
    ("a = 2**31 - 1", "a + 1", "-2147483648"),
    ("a = 2**31 - 1", "a * 2 + 2", "0"),
    ("a = 7", "-a // 2 + (a >> 1) + (a << 3) + (a & 3) + (a | 8) + (a ^ 1) + ~a", "72"),
    ("a = 7", "(a > 3) + (a < 9.5) + (a == 7) + (not a)", "3"),
    ("a = 7", "(a, 2)[a - 7]", "7"),
    ("a = 7", "5 if a > 3 else undefined", "5"),
]


@pytest.mark.parametrize(("assignment", "expression", "value"), VALUES)
def test_its_value_stays_known_and_is_computed_as_at_run_time(assignment, expression, value):
    assert ssa(f"def k(x):\n    {assignment}\n    tl.store(x, {expression})", "*i32") == f"store x, {value}"


def test_floats_round_to_their_type():
    assert ssa("def k(x):\n    a = 0.1\n    tl.store(x, a)", "*fp64") == "store x, 0.10000000149011612"
    assert ssa("def k(x):\n    a: tl.constexpr = 0.1\n    tl.store(x, a)", "*fp64") == "store x, 0.1"
    text = "def k(x):\n    a = 16777216.0\n    tl.store(x, a + 1.0)"
    assert ssa(text, "*fp64") == "store x, 16777216.0"


def test_a_known_number_serves_where_a_constexpr_is_needed():
    text = """
    def k(x, B: tl.constexpr):
        half = B // 2
        quarter = half // 2
        if quarter > 1:
            for j in tl.static_range(quarter):
                tl.store(x + tl.arange(0, half) + j, quarter)
    """
    assert ssa(text, "*i32, 8").count("store") == 2


def test_mistakes():
    assert errors("def k(x):\n    a = 1.5\n    b = a // 2", "*i32") == [
        "4:9 MT203 `//` takes integers, not floats: a // 2",
    ]
    assert errors("def k(x):\n    a = 2**70\n    tl.store(x, a)", "*i32") == [
        "4:17 MT207 1180591620717411303424 does not fit in i32",
    ]
