"""Inline assembly, for NVIDIA's GPUs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mytriton.language.kernel_only import kernel_only

__all__ = ["inline_asm_elementwise"]


def inline_asm_elementwise(
    asm: str, constraints: str, args: Sequence[Any], dtype: Any, is_pure: bool, pack: int
) -> Any:
    """Instructions of PTX on `pack` elements at a time: on `cuda` and `mlir`; the others say that they cannot.

    `args` broadcast together. `dtype` is the type of the result, or a tuple of types for a tuple of results.
    `constraints` name a register for each operand, outputs first (`=r,=r,f`): h has 16 bits, r 32, l 64, f is a
    float32, d a float64; a number is an input in the register of that output, `~{memory}` says that memory changes.
    Elements below 32 bits share registers of 32, the first in the lowest bits, as far as `pack` elements fill them. In
    `asm` operands are `$0`, `$1`, and `$$` is a dollar sign. What is not `is_pure` is run where it is written, whether
    its results are used or not.

    Which elements come together is not said, and a thread that holds less than `pack` of them gives some more than
    once. Each thread that holds a copy of an element runs it, and all of a program run what has scalars only; where
    such a scalar is not the same in all threads (a clock), a branch on it is an error that nobody finds.
    """
    kernel_only("inline_asm_elementwise")
