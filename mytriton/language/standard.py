"""Triton's module of functions that are written in its own language: some kernels import them from here."""

from __future__ import annotations

from mytriton.language.compile_time import constexpr_function
from mytriton.language.elementwise import cdiv, swizzle2d
from mytriton.language.math import sigmoid
from mytriton.language.orders import bitonic_merge, flip, interleave, sort, topk
from mytriton.language.reductions import argmax, argmin, max, min, reduce_or, softmax, sum, xor_sum
from mytriton.language.scans import cumprod, cumsum
from mytriton.language.shapes import ravel, squeeze, unsqueeze, zeros, zeros_like

__all__ = [
    "_log2",
    "argmax",
    "argmin",
    "bitonic_merge",
    "cdiv",
    "cumprod",
    "cumsum",
    "flip",
    "interleave",
    "max",
    "min",
    "ravel",
    "reduce_or",
    "sigmoid",
    "softmax",
    "sort",
    "squeeze",
    "sum",
    "swizzle2d",
    "topk",
    "unsqueeze",
    "xor_sum",
    "zeros",
    "zeros_like",
]


@constexpr_function
def _log2(i: int) -> int:
    """The logarithm to base 2 of a constexpr, rounded down; 0 for what is below 1."""
    return i.bit_length() - 1 if i > 0 else 0
