"""Block pointers and tensor descriptors: what they become, and mistakes."""

from __future__ import annotations

import pytest

from tests.frontend.support import errors, hints, ssa

HEAD = """
def k(a, out, n):
    p = tl.make_block_ptr(a, (n, 8), (8, 1), (4, 0), (4, 8), (1, 0))
    d = tl.make_tensor_descriptor(a, [n, 8], [8, 1], [4, 8])
    x = tl.load(p)
"""


def test_only_the_offsets_of_an_advanced_pointer_are_carried():
    text = ssa(
        """
        def k(a, out, n):
            p = tl.make_block_ptr(a, (n,), (1,), (0,), (8,), (0,))
            for i in range(n):
                tl.store(out + tl.arange(0, 8), tl.load(p, boundary_check=(0,)))
                p = tl.advance(p, (8,))
        """,
        "*fp32, *fp32, i32",
    )
    (loop,) = [line for line in text.splitlines() if " for " in line]
    assert loop.strip().endswith("= 0 to n step 1 with %2 = 0 : i32 {")


def test_an_access_that_is_not_checked_has_no_mask():
    text = ssa(f"{HEAD}    tl.store(p, x + 1)", "*fp32, *fp32, i32")
    assert [line.split("= ")[-1] for line in text.splitlines() if "load" in line or "store" in line] == [
        "load %13 : vector<4x8 x f32>",
        "store %29, %15",
    ]


MISTAKES = [
    (
        "tl.make_block_ptr(x, (n,), (1,), (0,), (8,), (0,))",
        "MT230 tl.make_block_ptr needs a scalar pointer, got `x` (vector<4x8 x f32>)",
        "give the pointer to the tensor's first element; a block pointer makes the block of addresses itself",
    ),
    (
        "tl.make_block_ptr(a, (n, 8), (1,), (0, 0), (8, 8), (1, 0))",
        "MT225 `strides` has 1 items, but the block has 2 axes",
        "give a tuple of 2",
    ),
    (
        "tl.make_block_ptr(a, (n,), (1.5,), (0,), (8,), (0,))",
        "MT225 `strides` must consist of scalar integers, got 1.5",
        "one number for each axis of the block",
    ),
    (
        "tl.make_block_ptr(a, (n,), (1,), (0,), (6,), (0,))",
        "MT220 the extent of a block must be a power of 2, got 6",
        "use 8 and a mask for the elements beyond 6",
    ),
    (
        "tl.make_block_ptr(a, (n, 8), (8, 1), (0, 0), (8, 8), (1, 1))",
        "MT225 `order` must name each of the axes 0 to 1 once, got (1, 1)",
        "the fastest axis comes first: (1, 0) for rows in memory",
    ),
    ("tl.load(p, boundary_check=(0, 2))", "MT225 `boundary_check` names axis 2 of a block with 2 axes", "use 0 to 1"),
    (
        "tl.load(p, mask=x > 0)",
        "MT225 an access through a block pointer takes no mask and no `other`",
        "name the axes to check: boundary_check=(0, 1)",
    ),
    ("tl.load(p, padding_option='one')", "MT233 `padding_option` is 'one'", 'use "zero", "nan" or leave it out'),
    (
        "tl.load(a + tl.arange(0, 4), boundary_check=(0,))",
        "MT225 `boundary_check` belongs to block pointers (tl.make_block_ptr)",
        "give a mask: tl.load(pointer + offsets, mask=offsets < n, other=0)",
    ),
    (
        "tl.store(p, tl.arange(0, 4))",
        "MT204 the stored value `tl.arange(0, 4)` (vector<4 x i32>) does not broadcast to the block of "
        "`p` (block pointer<4x8 x f32>)",
        "store a block with the shape (4, 8)",
    ),
    ("p + 1", "MT201 an operand of `+` must be a number or block, got `p` (block pointer<4x8 x f32>)", "tl.load(p)"),
    (
        "tl.advance(a, (1,))",
        "MT225 tl.advance takes a block pointer, got `a` (ptr<f32>)",
        "add offsets to a plain pointer: pointer + offsets",
    ),
    (
        "tl.load(d)",
        "MT225 tl.load takes no tensor descriptor: `d` (tensor descriptor<4x8 x f32>)",
        "write d.load(offsets)",
    ),
    ("d.load([n])", "MT225 `offsets` has 1 items, but the block has 2 axes", "give a tuple of 2"),
    (
        "d.strides",
        "MT134 `d` (tensor descriptor<4x8 x f32>) has no `.strides`",
        "it has .dtype, .block_shape, .load(...), .store(...)",
    ),
    (
        "tl.make_tensor_descriptor(a, [n], [2], [8])",
        "MT225 the last axis of a tensor descriptor must have the stride 1, got 2",
        "tl.make_block_ptr takes any strides",
    ),
]


@pytest.mark.parametrize(("statement", "message", "hint"), MISTAKES)
def test_a_mistake_says_what_to_do(statement, message, hint):
    text = f"{HEAD}    {statement}\n    tl.store(out, n)"
    (found,) = errors(text, "*fp32, *fp32, i32")
    assert found.split(" ", 1)[1] == message
    assert hints(text, "*fp32, *fp32, i32") == [hint]


def test_a_loop_keeps_the_shape_of_a_block_pointer():
    text = """
    def k(a, out, n):
        p = tl.make_block_ptr(a, (n,), (1,), (0,), (8,), (0,))
        for i in range(n):
            p = tl.make_block_ptr(a, (n,), (1,), (0,), (4,), (0,))
        tl.store(out, n)
    """
    assert errors(text, "*fp32, *fp32, i32") == [
        "5:9 MT145 `p` is block pointer<8 x f32> before the loop, but becomes block pointer<4 x f32> here"
    ]
