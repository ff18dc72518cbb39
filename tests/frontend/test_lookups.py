"""`tl.gather` and `tl.histogram`: what they become, and mistakes."""

from __future__ import annotations

import pytest

from tests.frontend.support import errors, hints, ssa


def kernel(statements: str) -> str:
    """A kernel with a block of floats, one of integers and a scalar."""
    loads = "x, y, i = tl.load(p + tl.arange(0, 8)), tl.load(q + tl.arange(0, 8)), tl.arange(0, 4)"
    return f"def k(p, q, n):\n    {loads}\n    {statements}\n"


def test_an_index_counts_modulo_the_extent():
    text = ssa(kernel("tl.store(p + i, tl.gather(x, i.to(tl.int64) - n, 0))"), "*fp32, *i32, i32")
    index, gathered = (line.split(" = ")[1] for line in text.splitlines() if " = and" in line or " = gather" in line)
    assert (index, gathered) == ("and i32(%7), 7 : vector<4 x i32>", "gather %2, %8 {axis=0} : vector<4 x f32>")


def test_what_a_histogram_becomes():
    text = ssa(kernel("tl.store(q + i, y.histogram(4, mask=x > 0.0))"), "*fp32, *i32, i32")
    (line,) = [line for line in text.splitlines() if "histogram" in line]
    assert line == "%7 = histogram %5, %6 {bins=4} : vector<4 x i32>"


X, Y = "`x` (vector<8 x f32>)", "`y` (vector<8 x i32>)"
MISTAKES = [
    ("tl.gather(x, n, 0)", "MT227 tl.gather takes a block, got `n` (i32)", "tl.arange and tl.load of a block of"),
    (
        "tl.gather(x, x, 0)",
        f"MT203 the indices of tl.gather must be integers, not {X}",
        "convert it with .to(tl.int32)",
    ),
    ("tl.gather(x, i, 1)", f"MT221 axis 1 is out of range of {X}", "use -1 to 0"),
    (
        "tl.gather(x[None], i, 0)",
        "MT204 tl.gather cannot look up `i` (vector<4 x i32>) in `x[None]` (vector<1x8 x f32>) along axis 0",
        "both need as many axes: x[:, None] adds one",
    ),
    (
        "tl.gather(x[None], i[:, None], 1)",
        "MT204 tl.gather cannot look up `i[:, None]` (vector<4x1 x i32>) in `x[None]` (vector<1x8 x f32>) along axis 1",
        "their extents on axis 0 must be equal: tl.broadcast_to repeats an axis of extent 1",
    ),
    ("tl.histogram(n, 8)", "MT227 tl.histogram takes a block, got `n` (i32)", "tl.arange and tl.load of a block of"),
    ("tl.histogram(x, 8)", f"MT203 the elements of tl.histogram must be integers, not {X}", "convert it with .to("),
    (
        "tl.histogram(y.to(tl.int8), 8)",
        "MT203 tl.histogram takes 32-bit integers, not `y.to(tl.int8)` (vector<8 x i8>)",
        "convert it: y.to(tl.int8).to(tl.int32)",
    ),
    (
        "tl.histogram(y[None], 8)",
        "MT204 tl.histogram takes a block of one axis, not `y[None]` (vector<1x8 x i32>)",
        "make one of it: tl.ravel(x)",
    ),
    ("y.histogram(12)", "MT227 the number of bins must be a power of 2, not 12", "give more; those beyond stay 0"),
    ("y.histogram(n)", "MT210 the number of bins must be a constexpr, but `n` (i32) is not", ""),
    ("y.histogram(2**21)", "MT220 a block has at most 1048576 elements, got 2097152", ""),
    ("y.histogram(8, mask=y)", f"MT231 a mask must be bool, got {Y}", "compare it: y != 0"),
    (
        "y.histogram(8, mask=(x > 0)[:, None])",
        "MT204 the mask `(x > 0)[:, None]` (vector<8x1 x bool>) does not broadcast to `y` (vector<8 x i32>)",
        "give it one axis of as many elements",
    ),
]


@pytest.mark.parametrize(("expression", "message", "hint"), MISTAKES)
def test_a_mistake_says_what_to_do(expression, message, hint):
    text = kernel(f"r = {expression}\n    tl.store(p, n)")
    (found,) = errors(text, "*fp32, *i32, i32")
    assert found.split(" ", 1)[1] == message
    assert hints(text, "*fp32, *i32, i32")[0].startswith(hint)
