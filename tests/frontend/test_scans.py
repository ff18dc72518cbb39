"""Scans and orders: what they become, and mistakes."""

from __future__ import annotations

import pytest

from tests.frontend.support import errors, hints, ssa

KERNELS = """
@triton.jit
def two(a, b):
    return a, b


@triton.jit
def wide(a, b):
    return (a + b).to(tl.float64)


@triton.jit
def branch(a, b):
    if a > b:
        return a
    return b
"""


def kernel(statements: str) -> str:
    """A file whose first kernel has these statements."""
    loads = "x, y = tl.load(p + tl.arange(0, 8)), tl.load(p + tl.arange(0, 4))"
    head = "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef k(p, n):\n"
    return f"{head}    {loads}\n    {statements}\n\n{KERNELS}"


def test_a_scan_is_made_of_steps_that_each_double_what_is_scanned():
    text = ssa("def k(p):\n    i = tl.arange(0, 4)\n    tl.store(p + i, tl.cumsum(tl.load(p + i)))", "*fp32")
    assert [line.split(" = ")[1] for line in text.splitlines() if "pick" in line or "select" in line] == [
        "pick %2 {axis=0, extent=4, keep=2, flip=0} : vector<4 x f32>",
        "select %8, %10, %2 : vector<4 x f32>",
        "pick %11 {axis=0, extent=4, keep=0, flip=1} : vector<4 x f32>",
        "select %5, %13, %11 : vector<4 x f32>",
    ]


MISTAKES = [
    (
        "tl.reduce(x, 0, two)",
        "MT226 `two` must return 1 value, but returns 2",
        "return what it combines: one value for each block",
    ),
    (
        "tl.reduce(x, 0, wide)",
        "MT226 `wide` combines f32, but returns f64",
        "convert its result to the type of its parameters",
    ),
    (
        "tl.associative_scan((x, y), 0, two)",
        "MT226 the blocks have different shapes: `x` (vector<8 x f32>) and `y` (vector<4 x f32>)",
        "broadcast them first: tl.broadcast(a, b)",
    ),
    (
        "tl.associative_scan((), 0, two)",
        "MT226 there is nothing to combine",
        "tl.reduce and tl.associative_scan take one block, or a tuple of blocks of one shape",
    ),
    ("tl.cumsum(x, 1)", "MT221 axis 1 is out of range of `x` (vector<8 x f32>)", "use -1 to 0"),
    (
        "tl.cumsum(n)",
        "MT221 `n` (i32) has no axis to go along",
        "a scan takes a block: tl.arange and tl.load make such",
    ),
    (
        "tl.topk(x, 3)",
        "MT227 tl.topk gives a power of 2 of elements, up to the 8 there are, not 3",
        "take more and mask those beyond",
    ),
    (
        "tl.split(x)",
        "MT227 the last axis of what tl.split takes has extent 2, not `x` (vector<8 x f32>)",
        "reshape it first: x.reshape(..., 2)",
    ),
    (
        "tl.flip(n)",
        "MT227 tl.flip takes a block, got `n` (i32)",
        "tl.arange and tl.load of a block of pointers make blocks",
    ),
    (
        "tl.cat(x, y)",
        "MT204 tl.cat takes blocks of one shape, got `x` (vector<8 x f32>) and `y` (vector<4 x f32>)",
        "extents are powers of 2, so only equal ones can be put together",
    ),
    (
        "tl.join(x, x.to(tl.int32))",
        "MT203 tl.join takes blocks of one type, got `x` (vector<8 x f32>) and `x.to(tl.int32)` (vector<8 x i32>)",
        "convert one: x.to(x.dtype)",
    ),
    (
        "tl.argmax(x[None], None)",
        "MT221 the index of tl.argmax needs an axis: `x[None]` (vector<1x8 x f32>) has 2",
        "name the axis, or make it one axis first: x.ravel()",
    ),
    (
        "tl.sort(p + tl.arange(0, 8))",
        "MT203 tl.sort takes numbers, got `p + tl.arange(0, 8)` (vector<8 x ptr<f32>>)",
        "read what it points to with tl.load(...)",
    ),
]


@pytest.mark.parametrize(("expression", "message", "hint"), MISTAKES)
def test_a_mistake_says_what_to_do(expression, message, hint):
    text = kernel(f"r = {expression}\n    tl.store(p, n)")
    (found,) = errors(text, "*fp32, i32")
    assert found.split(" ", 1)[1] == message
    assert hints(text, "*fp32, i32") == [hint]


def test_a_function_may_branch():
    text = ssa(kernel("tl.store(p, tl.reduce(y, 0, branch))"), "*fp32, i32").split("\n")
    assert [line.split(" = ")[1] for line in text if "cmp" in line or "select" in line] == [
        "cmp_gt %6, %7 : vector<2 x bool>",
        "select %8, %6, %7 : vector<2 x f32>",
        "cmp_gt %10, %11 : vector<1 x bool>",
        "select %12, %10, %11 : vector<1 x f32>",
    ]
