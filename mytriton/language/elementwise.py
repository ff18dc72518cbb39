"""Functions that act on each element by itself and take integers as well as floats; those of floats are in `math`."""

from __future__ import annotations

from typing import Any

from mytriton.language.kernel_only import kernel_only
from mytriton.language.math import PropagateNan

__all__ = [
    "add",
    "cast",
    "cdiv",
    "map_elementwise",
    "maximum",
    "minimum",
    "mul",
    "sub",
    "swizzle2d",
    "to_tensor",
    "where",
]


def maximum(x: Any, y: Any, propagate_nan: PropagateNan = PropagateNan.NONE) -> Any:
    """The larger of two numbers, elementwise, after the promotion of `+`. A NaN operand is ignored (`np.fmax`), as in
    Triton, and the result is NaN only if both are; with `tl.PropagateNan.ALL` it is NaN if either is (`np.maximum`).
    Which of -0.0 and +0.0 is returned is unspecified."""
    kernel_only("maximum")


def minimum(x: Any, y: Any, propagate_nan: PropagateNan = PropagateNan.NONE) -> Any:
    """The smaller of two numbers, elementwise, after the promotion of `+`; NaN and zeros as for `maximum`."""
    kernel_only("minimum")


def where(condition: Any, x: Any, y: Any) -> Any:
    """`x` where `condition` is true, else `y`, elementwise; x and y are promoted as by `+`, and all three broadcast to
    one shape. A condition that is not bool is true where it is not 0, with a warning. Both sides are computed, so mask
    a load whose address may be invalid. Two pointers of one type are chosen from as well."""
    kernel_only("where")


def map_elementwise(scalar_fn: Any, *args: Any, pack: int = 1) -> Any:
    """What `scalar_fn`, a `@jit` function, returns for each element: a block, or a tuple of blocks. The blocks among
    `args` broadcast to one shape, and the function is given their elements; a scalar is the same for all. It may have
    branches and loops that elements go through differently, load and store: elements that do not take a way have no
    effect there. It is compiled on blocks, so all ways that some element takes are computed, and a loop lasts as long
    as the longest. With `pack` a call is given that many consecutive elements of each block, and returns as many of
    each result, those of the first result first."""
    kernel_only("map_elementwise")


def cast(input: Any, dtype: Any, fp_downcast_rounding: str | None = None, bitcast: bool = False) -> Any:
    """`input.to(dtype)`: float to integer truncates toward zero, saturates, and NaN gives 0; integers wrap; to bool is
    `!= 0`. A narrower float rounds to nearest, ties to even ("rtne"), or toward zero ("rtz"), as
    `fp_downcast_rounding` says; to float8e4nv and float8e5 it saturates, to the largest number, from infinity too (but
    toward zero an infinity stays one in float8e5), and NaN stays NaN.

    With `bitcast` the bits stay and are read as a type of the same width. A pointer goes to another pointer type
    (`tl.pointer_type(dtype)`), with or without `bitcast`: the same address, holding other elements. To int64 and
    uint64 it is its address in bytes, to bool whether that is not 0; such a number goes to a pointer type, too."""
    kernel_only("cast")


def to_tensor(x: Any) -> Any:
    """A constexpr number as a run-time scalar: bool, int32 (int64 or uint64 if it does not fit) or float32 (float64
    if its magnitude needs it). What is computed at run time already stays."""
    kernel_only("to_tensor")


def add(x: Any, y: Any, sanitize_overflow: bool = True) -> Any:
    """`x + y`. Integers wrap; overflow is not checked, whatever `sanitize_overflow` says."""
    kernel_only("add")


def sub(x: Any, y: Any, sanitize_overflow: bool = True) -> Any:
    """`x - y`. Integers wrap; overflow is not checked, whatever `sanitize_overflow` says."""
    kernel_only("sub")


def mul(x: Any, y: Any, sanitize_overflow: bool = True) -> Any:
    """`x * y`. Integers wrap; overflow is not checked, whatever `sanitize_overflow` says."""
    kernel_only("mul")


def cdiv(x: Any, div: Any) -> Any:
    """x / div rounded up, for non-negative integers. Works in ordinary Python too: `cdiv(1000, 256)` is 4."""
    return -(-x // div)


def swizzle2d(i: Any, j: Any, size_i: Any, size_j: Any, size_g: Any) -> Any:
    """The tuple of new indices of element (i, j) of a row-major `size_i` x `size_j` matrix of which each group of
    `size_g` rows is walked column by column: programs that run at the same time then share columns. Integers."""
    kernel_only("swizzle2d")
