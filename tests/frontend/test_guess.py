"""Guessed signatures: pointers by their use, numbers by their names."""

from __future__ import annotations

from textwrap import dedent

from mytriton import read_module
from mytriton.frontend.guess import guessed_signature


def guessed(text: str) -> dict[str, str]:
    (kernel,) = read_module("import triton\nimport triton.language as tl\n" + dedent(text), "f.py").kernels
    return guessed_signature(kernel)


def test_pointers_are_what_addresses_begin_with() -> None:
    text = """
        @triton.jit
        def kernel(A, B, out, positions, lens, n, stride, unused_ptr):
            row = A + tl.program_id(0) * stride
            moved = row
            for k in range(0, n):
                moved += lens
                tl.store(out - 1 + k, tl.load(moved + k) + tl.load((B + k).to(tl.pointer_type(tl.int8))))
            tl.atomic_add(positions, 1)
        """
    assert guessed(text) == {
        "A": "*fp32:16",
        "B": "*fp32:16",
        "out": "*fp32:16",
        "positions": "*fp32:16",
        "lens": "i32",
        "n": "i32",
        "stride": "i32",
        "unused_ptr": "*fp32:16",
    }


def test_numbers_go_by_their_names_and_what_is_written_wins() -> None:
    text = """
        @triton.jit
        def kernel(block_table_ptr, eps, sm_scale, n: tl.int64, BLOCK_M: tl.constexpr, BT: tl.constexpr,
                   HAS_BIAS: tl.constexpr, out_dtype: tl.constexpr, GROUPS: tl.constexpr, p=0.5,
                   act: tl.constexpr = "relu"):
            tl.store(block_table_ptr, 1)
        """
    assert guessed(text) == {
        "block_table_ptr": "*i32:16",
        "eps": "fp32",
        "sm_scale": "fp32",
        "n": "i64",
        "BLOCK_M": "64",
        "BT": "64",
        "HAS_BIAS": "True",
        "out_dtype": "fp32",
        "GROUPS": "16",
        "p": "0.5",
        "act": "'relu'",
    }


def test_what_is_loaded_for_an_address_or_a_bound_is_whole() -> None:
    text = """
        @triton.jit
        def kernel(x, rows, starts, groups, values, out):
            row = tl.load(rows + tl.program_id(0)).to(tl.int64)
            start = tl.load(starts)
            for k in range(start, tl.load(groups) // 2):
                tl.store(out + k, tl.load(x + row * 4) + tl.load(values + k))
        """
    assert ", ".join(guessed(text).values()) == "*fp32:16, *i32:16, *i32:16, *i32:16, *fp32:16, *fp32:16"


def test_what_helpers_and_moved_pointers_say() -> None:
    text = """
        @triton.jit
        def kernel(X, Y, rows, counts, n, p_stride):
            X += tl.load(rows) * n
            at = tl.load(counts)
            helper(Y, at, width=n)
            tl.store(X, n)

        @triton.jit
        def helper(place, at, width):
            tl.store(place + at // width, at)
            helper(place, at, width)
        """
    source = "import triton\nimport triton.language as tl\n" + dedent(text)
    kernel = read_module(source, "f.py").kernel("kernel")
    assert kernel is not None
    assert ", ".join(guessed_signature(kernel).values()) == "*fp32:16, *fp32:16, *i32:16, *i32:16, i32, i32"


def test_a_pointer_is_chosen_and_a_counter_is_whole() -> None:
    text = """
        @triton.jit
        def kernel(A, B, C, counter, n):
            p = A + n if n > 3 else A
            at = tl.atomic_add(counter, 1)
            rows = C + tl.arange(0, 8) * n
            tl.store(B + at, tl.load(p) + tl.load(rows[:, None] + n))
        """
    assert ", ".join(guessed(text).values()) == "*fp32:16, *fp32:16, *fp32:16, *i32:16, i32"


def test_constexprs_that_are_compared_with_strings_or_options_are_strings() -> None:
    text = """
        @triton.jit
        def kernel(x, ACT: tl.constexpr, DOT_PRECISION: tl.constexpr, KIND: tl.constexpr, dot_out_dtype: tl.constexpr):
            if ACT == "silu" or KIND in ("a", "b"):
                tl.store(x, tl.dot(x, x, input_precision=DOT_PRECISION), eviction_policy=KIND)
        """
    assert list(guessed(text).values()) == ["*fp32:16", "'silu'", "'tf32'", "'a'", "fp32"]
