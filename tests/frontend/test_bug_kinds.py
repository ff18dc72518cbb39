"""Bug kinds that are about what a compiler says: block sizes, names of a branch or loop, globals, carried types."""

from __future__ import annotations

import pytest

from mytriton import CompileError, Target
from tests.frontend.support import errors, hints, lowered
from tests.frontend.test_read import written


@pytest.mark.parametrize(
    ("statement", "signature", "message", "hint"),
    [
        (
            "tl.arange(0, N)",
            "*fp32, 20",
            "the length of tl.arange(0, 20) with N = 20 must be a power of 2, got 20",
            "32",
        ),
        ("tl.arange(0, N)", "*fp32, 192", "the length of tl.arange(0, 192) with N = 192 must be a power of 2", "256"),
        ("tl.arange(0, N)", "*fp32, 0", "tl.arange(0, 0) is empty: its end must be above its start", ""),
        ("tl.arange(N, N)", "*fp32, 8", "tl.arange(8, 8) is empty: its end must be above its start", ""),
        ("tl.arange(8, N)", "*fp32, 4", "tl.arange(8, 4) is empty: its end must be above its start", ""),
    ],
)
def test_a_block_that_cannot_be(statement, signature, message, hint):  # triton #3722
    text = f"def k(x, N: tl.constexpr):\n    i = {statement}\n    tl.store(x + i, 0)"
    (found,) = errors(text, signature)
    assert found.startswith("3:9 MT220 " + message)
    assert hint in hints(text, signature)[0]


def test_a_block_of_runtime_length_names_the_parameter():
    text = "def k(x, n):\n    i = tl.arange(0, n)\n    tl.store(x + i, 0)"
    assert errors(text, "*fp32, i32") == ["3:22 MT210 the end of tl.arange must be a constexpr, but `n` (i32) is not"]


@pytest.mark.parametrize(
    "body",
    [
        "if n > 0:\n        y = tl.load(x)",
        "if n > 0:\n        pass\n    else:\n        y = tl.load(x)",
        "for k in range(0, n):\n        y = tl.load(x + k)",
        "while n > 0:\n        y = tl.load(x)\n        n -= 1",
    ],
)
def test_a_name_bound_only_in_a_branch_or_loop(body):  # triton #10672, #1690
    text = f"def k(x, o, n):\n    {body}\n    tl.store(o, y)"
    (found,) = errors(text, "*fp32, *fp32, i32")
    assert found.endswith("MT130 `y` is not defined here")
    assert found.startswith(f"{text.count(chr(10)) + 2}:17 ")
    with pytest.raises(CompileError) as caught:
        lowered(text, "*fp32, *fp32, i32")
    assert "assigned only here" in str(caught.value)


@pytest.mark.parametrize(
    ("before", "inside", "types"),
    [
        ("acc = 0", "acc += tl.load(x + k)", ("i32", "f32")),
        ("acc = n", "acc = acc.to(tl.int64)", ("i32", "i64")),
        ("acc = tl.load(x)", "acc = acc > 0", ("f32", "bool")),
    ],
)
@pytest.mark.parametrize("head", ["for k in range(0, n):", "k = 1\n    if n > 0:"])
def test_a_name_that_changes_its_type(before, inside, types, head):  # triton #9547, fla #1188
    text = f"def k(x, n):\n    {before}\n    {head}\n        {inside}\n    tl.store(x, acc)"
    found = errors(text, "*fp32, i32")[0]
    assert "`acc`" in found
    assert all(t in found for t in types)


def test_globals_that_are_no_constants(tmp_path):  # triton #7322
    module = written(
        tmp_path,
        """
        import mytriton as triton
        import mytriton.language as tl

        TABLE = [1, 2, 3]

        @triton.jit
        def k(x):
            tl.store(x, TABLE)
        """,
    )
    with pytest.raises(CompileError) as caught:
        module.k.compile("*fp32", target=Target(backend="interp")).stage("ssa")
    (found,) = caught.value.diagnostics
    assert found.message == "`TABLE` is a global list; a kernel reads only numbers and tl.constexpr globals"
