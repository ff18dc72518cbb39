"""Scans, and reductions with a function of the author's.

`combine_fn` takes the elements of each block that come first, then those that come after them, and returns what they
combine to: for one block `f(a, b)`, for a tuple of two `f(a0, a1, b0, b1)`. It must be associative, for `reduce`
commutative too, and is given single elements, as that of `map_elementwise` is: it may branch.
"""

from __future__ import annotations

from typing import Any

from mytriton.language.kernel_only import kernel_only

__all__ = ["associative_scan", "cumprod", "cumsum", "reduce"]


def reduce(input: Any, axis: int | None, combine_fn: Any, keep_dims: bool = False) -> Any:
    """The elements along `axis` (None: all) combined by `combine_fn`, halves first. `input` is a block or a tuple of
    blocks of one shape, and so is the result."""
    kernel_only("reduce")


def associative_scan(input: Any, axis: int, combine_fn: Any, reverse: bool = False) -> Any:
    """Each element combined with all before it along `axis`; with `reverse`, with all after it, from the end on.
    `input` is a block or a tuple of blocks of one shape, and so is the result."""
    kernel_only("associative_scan")


def cumsum(input: Any, axis: int = 0, reverse: bool = False, dtype: Any = None) -> Any:
    """The sums of each element and all before it along `axis` (after it, if `reverse`); types as for `sum`. The order
    in which floats are added is unspecified, and the same on every backend."""
    kernel_only("cumsum")


def cumprod(input: Any, axis: int = 0, reverse: bool = False, dtype: Any = None) -> Any:
    """The products of each element and all before it along `axis` (after it, if `reverse`); types as for `sum`."""
    kernel_only("cumprod")
