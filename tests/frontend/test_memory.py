"""Loads and stores: hints, 64-bit offsets, single elements, and what an author may say about values."""

from __future__ import annotations

import numpy as np
import pytest

from tests.frontend.support import errors, hints, interpret, lowered, ssa

HINTS = [
    ("tl.load(p, cache_modifier='.cg')", "load %1 {cache=cg} : vector<8 x f32>"),
    ("tl.load(p, cache_modifier='.ca', eviction_policy='evict_last')", "load %1 {cache=ca, eviction=evict_last} : "),
    ("tl.load(p, eviction_policy='evict_first', volatile=True)", "load %1 {eviction=evict_first, volatile=True} : "),
    ("tl.load(p, cache_modifier='', eviction_policy='', volatile=False)", "load %1 : vector<8 x f32>"),
    ("tl.load(p, cache_modifier=None, boundary_check=(), padding_option='')", "load %1 : vector<8 x f32>"),
    ("tl.load(p, cache_modifier='cg', eviction_policy='evict_normal')", "load %1 {cache=cg} : vector<8 x f32>"),
    ("tl.load(p, cache_modifier=MODE)", "load %1 {cache=cs} : "),
    ("tl.store(p, 1.0, cache_modifier='.wt')", "store %1, 1.0 {cache=wt}"),
    ("tl.store(p, 1.0, eviction_policy='evict_last')", "store %1, 1.0 {eviction=evict_last}"),
    ("p.store(1.0, cache_modifier='.wb')", "store %1, 1.0 {cache=wb}"),
]


@pytest.mark.parametrize(("statement", "line"), HINTS, ids=[s for s, _ in HINTS])
def test_hints_are_kept_on_the_operation(statement, line):
    text = f"def k(x, MODE: tl.constexpr):\n    p = x + tl.arange(0, 8)\n    {statement}"
    assert line in ssa(text, "*fp32", MODE=".cs").splitlines()[-1]


SAID = [
    ("tl.multiple_of(p, 16)", "p"),
    ("tl.multiple_of(x, [16])", "x"),
    ("x + tl.multiple_of(n, 8)", "x + n"),
    ("tl.max_contiguous(p, 8)", "p"),
    ("tl.max_contiguous(tl.multiple_of(p, (8,)), (8,))", "p"),
    ("tl.max_constancy(p[:, None], [4, 1])", "p[:, None]"),
    ("tl.multiple_of(p[None, :], (1, 8))", "p[None, :]"),
]


@pytest.mark.parametrize(("said", "plain"), SAID, ids=[s for s, _ in SAID])
def test_what_is_said_of_a_value_leaves_no_trace(said, plain):
    text = "def k(x, n):\n    p = x + tl.arange(0, 8)\n    tl.store({}, 1.0)"
    assert ssa(text.format(said), "*fp32, i32") == ssa(text.format(plain), "*fp32, i32")


def test_an_assumption_leaves_no_trace():
    text = "def k(x, n):\n    tl.assume(n > 0)\n    tl.assume(True)\n    tl.store(x, n)"
    assert ssa(text, "*i32, i32") == "store x, n\n%0 = cmp_gt n, 0 : bool"  # which nothing uses


def test_offsets_beyond_32_bits():
    far = 2**31 + 5  # elements; the pages between are never touched
    x = np.zeros(far + 8, np.int8)
    x[far : far + 4] = [1, 2, 3, 4]
    out = np.zeros(16, np.int8)
    text = """
    def k(x, out, row, stride, base):
        i = tl.arange(0, 4)
        tl.store(out + i, tl.load(x + row.to(tl.int64) * stride + 5 + i))
        tl.store(out + 4 + i, tl.load(x + (base + i)))
        tl.store(out + 8 + i, tl.load(x + base + i.to(tl.uint64)))
        tl.store(out + 12 + i, tl.load(x + 2147483653 + i))
        tl.store(x + base + 4, 9)
    """
    interpret(text, "*i8, *i8, i32, i32, u32", [x, out, np.int32(2), np.int32(2**30), np.uint32(far)])
    np.testing.assert_array_equal(out, [1, 2, 3, 4] * 4)
    assert x[far + 4] == 9
    # Without the conversion the product wraps, as in Triton.
    text = "def k(x, out, row, stride):\n    tl.store(out, row * stride)"
    wide = np.zeros(1, np.int64)
    interpret(text, "*i8, *i64, i32, i32", [x, wide, np.int32(2), np.int32(2**30)])
    assert wide[0] == -(2**31)


def test_scalars_load_and_store_single_elements():
    x, out = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    text = """
    def k(x, out, n):
        tl.store(out, tl.load(x + 3))
        tl.store(out + 1, tl.load(x + 100, mask=n > 5, other=7.0))
        tl.store(out + 2, 1.0, mask=n > 5)
        tl.store(out + 3, tl.load(x + n, mask=n < 4, other=0), mask=True)
    """
    interpret(text, "*fp32, *fp32, i32", [x, out, np.int32(2)])
    assert out.tolist() == [3, 7, 0, 2]


WRONG = [
    ("tl.load(p, cache_modifier='.wb')", 31, "MT233 `cache_modifier` is '.wb'",
     'use one of ".ca", ".cg", ".cs", ".cv", or leave it out'),
    ("tl.store(p, 1, cache_modifier='.ca')", 35, "MT233 `cache_modifier` is '.ca'",
     'use one of ".wb", ".cg", ".cs", ".wt", or leave it out'),
    ("tl.load(p, eviction_policy='last')", 32, "MT233 `eviction_policy` is 'last'",
     'use one of "evict_first", "evict_last", or leave it out'),
    ("tl.load(p, volatile=n)", 25, "MT210 `volatile` must be a constexpr, but `n` (i32) is not", None),
    ("tl.load(p, boundary_check=(0,))", 31,
     "MT225 `boundary_check` belongs to block pointers (tl.make_block_ptr)",
     "give a mask: tl.load(pointer + offsets, mask=offsets < n, other=0)"),
    ("tl.load(p, padding_option='zero')", 31,
     "MT225 `padding_option` belongs to block pointers (tl.make_block_ptr)", None),
    ("tl.load(p, i < n, 0, '')", 26, "MT120 `tl.load` takes 3 arguments (pointer, mask, other), got 4",
     "give boundary_check, padding_option, cache_modifier, eviction_policy, volatile by name"),
    ("tl.store(x, i)", 17, "MT204 the stored value `i` (vector<8 x i32>) is a block, but the pointer `x` (ptr<f32>) is "
     "a scalar", "add a block of offsets to the pointer: x + offsets"),
    ("tl.load(x, mask=i < n, other=0)", 21, "MT204 the mask `i < n` (vector<8 x bool>) is a block, but the pointer `x` "
     "(ptr<f32>) is a scalar", None),
    ("tl.load(x, mask=n > 0, other=i)", 34, "MT204 the `other` value `i` (vector<8 x i32>) is a block, but the pointer "
     "`x` (ptr<f32>) is a scalar", None),
    ("tl.multiple_of(i, n)", 23, "MT210 a value of tl.multiple_of must be a constexpr, but `n` (i32) is not", None),
    ("tl.multiple_of(i, 0)", 23, "MT212 tl.multiple_of takes positive numbers, got 0", None),
    ("tl.max_contiguous(i, (4, 4))", 26,
     "MT212 tl.max_contiguous takes a number for each axis: `i` (vector<8 x i32>) has 1, got 2", None),
    ("tl.assume(n)", 15, "MT231 tl.assume takes a scalar bool, got `n` (i32)", None),
    ("tl.assume(2 > 3)", 15, "MT212 tl.assume says what is false: 2 > 3", None),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "column", "message", "hint"), WRONG, ids=[w[0] for w in WRONG])
def test_mistakes(statement, column, message, hint):
    text = f"def k(x, n):\n    i = tl.arange(0, 8)\n    p = x + i\n    {statement}"
    assert errors(text, "*fp32, i32") == [f"5:{column} {message}"]
    if hint:
        assert hints(text, "*fp32, i32") == [hint]


def test_a_mask_without_other_warns_once_and_reads_as_zero():
    text = "def k(x, n):\n    i = tl.arange(0, 8)\n    tl.store(x + 8, tl.sum(tl.load(x + i, mask=i < n)))"
    _, (warning,) = lowered(text, "*fp32, i32")
    assert (warning.code, warning.span.column) == ("MT290", 28)
    x = np.array([1, 1, 1, 1, 1, 99, 99, 99, 0], np.float32)
    interpret(text, "*fp32, i32", [x, np.int32(5)])
    assert x[8] == 5
