"""Atomic operations: mistakes, and that no pass takes them for something else."""

from __future__ import annotations

import pytest

from tests.frontend.support import errors, hints

LOADS = """
def k(a, b, f, n):
    i = tl.arange(0, 8)
"""
MISTAKES = [
    (
        "tl.atomic_add(n, 1)",
        "MT230 tl.atomic_add needs a pointer, got `n` (i32)",
        "pass an array as the kernel's argument and add offsets to it: pointer + offsets",
    ),
    (
        "tl.atomic_add(b, 1)",
        "MT228 tl.atomic_add takes elements of 32 or 64 bits, and float16 and bfloat16, not i16: `b` (ptr<i16>)",
        "keep an array of float32 or int32 for it",
    ),
    (
        "tl.atomic_max(b, 1)",
        "MT228 tl.atomic_max takes elements of 32 or 64 bits, not i16: `b` (ptr<i16>)",
        "use an array of 32 or 64 bits",
    ),
    (
        "tl.atomic_and(f, 1)",
        "MT228 tl.atomic_and takes integers, not f32: `f` (ptr<f32>)",
        "cast the pointer: pointer.to(tl.pointer_type(tl.int32))",
    ),
    (
        "tl.atomic_add(a, i)",
        "MT204 the value `i` (vector<8 x i32>) is a block, but the pointer `a` (ptr<i32>) is a scalar",
        "add a block of offsets to the pointer: a + offsets",
    ),
    (
        "tl.atomic_add(a + i, tl.arange(0, 4)[:, None])",
        "MT204 `tl.arange(0, 4)[:, None]` (vector<4x1 x i32>) does not broadcast to the shape of the pointer `a + i` "
        "(vector<8 x ptr<i32>>)",
        "add offsets of that shape to the pointer",
    ),
    (
        "tl.atomic_add(a, 1, sem='seq_cst')",
        "MT233 `sem` is 'seq_cst'",
        'use one of "acq_rel", "acquire", "release", "relaxed", or leave it out',
    ),
    (
        "tl.atomic_cas(a, 0, 1, scope='block')",
        "MT233 `scope` is 'block'",
        'use one of "gpu", "cta", "sys", or leave it out',
    ),
    (
        "tl.atomic_add(a, 1, mask=n)",
        "MT231 a mask must be bool, got `n` (i32)",
        "compare it: n != 0",
    ),
]


@pytest.mark.parametrize(("statement", "message", "hint"), MISTAKES)
def test_a_mistake_says_what_to_do(statement, message, hint):
    text, signature = f"{LOADS}    {statement}", "*i32, *i16, *fp32, i32"
    (found,) = errors(text, signature)
    assert found.split(" ", 1)[1] == message
    assert hints(text, signature) == [hint]
