"""Reductions: the elements along an axis, or all of them, combined to one.

`axis` is a constexpr, counted from the end if negative; None reduces all elements to a scalar. The axis goes away
unless `keep_dims`, which leaves it with extent 1. The order in which floats are combined is unspecified; it is a tree,
so a sum loses no more than one loses, and not what a running sum does.
"""

from __future__ import annotations

from typing import Any

from mytriton.language.kernel_only import kernel_only
from mytriton.language.math import PropagateNan

__all__ = ["argmax", "argmin", "max", "min", "reduce_or", "softmax", "sum", "xor_sum"]


def sum(input: Any, axis: int | None = None, keep_dims: bool = False, dtype: Any = None) -> Any:
    """The sum. `input` is converted to `dtype` first; without it signed integers of fewer than 32 bits become int32,
    unsigned ones and bools uint32 (so a sum of bools counts), and other types stay. Integers wrap at their width."""
    kernel_only("sum")


def max(
    input: Any,
    axis: int | None = None,
    return_indices: bool = False,
    return_indices_tie_break_left: bool = True,
    keep_dims: bool = False,
    propagate_nan: PropagateNan = PropagateNan.NONE,
) -> Any:
    """The largest element. As in Triton, floats of 16 bits become float32 and smaller integers and bools int32; other
    types stay. NaN elements are ignored, unless `propagate_nan` is `tl.PropagateNan.ALL`; the result is NaN if all
    are. Which of -0.0 and +0.0 is returned is unspecified. With `return_indices` a pair: the largest element, in the
    elements' own type, and `argmax`."""
    kernel_only("max")


def min(
    input: Any,
    axis: int | None = None,
    return_indices: bool = False,
    return_indices_tie_break_left: bool = True,
    keep_dims: bool = False,
    propagate_nan: PropagateNan = PropagateNan.NONE,
) -> Any:
    """The smallest element; types, NaN, zeros and `return_indices` as for `max`."""
    kernel_only("min")


def argmax(input: Any, axis: int | None, tie_break_left: bool = True, keep_dims: bool = False) -> Any:
    """The index (int32) along `axis` of the largest element, the first of equals even if `tie_break_left` is False.
    NaN elements are ignored; where all are, it is 0. `axis` may be None for a block with one axis."""
    kernel_only("argmax")


def argmin(input: Any, axis: int | None, tie_break_left: bool = True, keep_dims: bool = False) -> Any:
    """The index (int32) along `axis` of the smallest element; ties and NaN as for `argmax`."""
    kernel_only("argmin")


def xor_sum(input: Any, axis: int | None = None, keep_dims: bool = False) -> Any:
    """The exclusive or of integers or bools, whose type stays."""
    kernel_only("xor_sum")


def reduce_or(input: Any, axis: int | None, keep_dims: bool = False) -> Any:
    """The bitwise or of integers or bools, whose type stays: whether any bool is true."""
    kernel_only("reduce_or")


def softmax(x: Any, dim: int | None = None, *, keep_dims: bool | None = None, ieee_rounding: bool = False) -> Any:
    """exp(x - max) / sum(exp(x - max)) of floats, max and sum being those along `dim`, which is 0 (not the last axis)
    if it is left out, as in Triton. The shape stays; float16 and bfloat16 give float32. Each step is rounded, the
    division correctly with or without `ieee_rounding`; `keep_dims` has no meaning and is there for older kernels."""
    kernel_only("softmax")
