"""Elements looked up by others, and counted."""

from __future__ import annotations

from typing import Any

from mytriton.language.kernel_only import kernel_only

__all__ = ["gather", "histogram"]


def gather(src: Any, index: Any, axis: int) -> Any:
    """For each element of `index`, a block of integers, the element of `src` at the same indices, but along `axis` at
    the one that it says. All extents but that of the axis must be equal. An index counts modulo the extent of the axis
    (Triton leaves undefined what is beyond it), so -1 is the last element."""
    kernel_only("gather")


def histogram(input: Any, num_bins: int, mask: Any = None) -> Any:
    """How often each of the numbers 0 to `num_bins` - 1 is in `input`, a block of 32-bit integers along one axis: a
    block of `num_bins` (a power of 2) int32. Other numbers, and elements whose mask is false, do not count."""
    kernel_only("histogram")
