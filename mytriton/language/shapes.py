"""Functions that make blocks or change their shape. Elements are in row-major order, extents are powers of two.

Every one but `arange`, `full` and `zeros` moves elements only: it takes blocks of any type, pointers included.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mytriton.language.kernel_only import kernel_only

__all__ = [
    "arange",
    "broadcast",
    "broadcast_to",
    "expand_dims",
    "full",
    "permute",
    "ravel",
    "reshape",
    "squeeze",
    "trans",
    "unsqueeze",
    "view",
    "zeros",
    "zeros_like",
]


def arange(start: int, end: int) -> Any:
    """The int32 block start, start + 1, ..., end - 1. Both ends are constexprs and `end - start` is a power of two."""
    kernel_only("arange")


def full(shape: Sequence[int], value: Any, dtype: Any) -> Any:
    """A block of `shape` (a tuple or list of constexpr powers of two) all of whose elements are the scalar `value`
    converted to `dtype`. The shape () gives a scalar."""
    kernel_only("full")


def zeros(shape: Sequence[int], dtype: Any) -> Any:
    """A block of `shape` (a tuple or list of constexpr powers of two) of zeros of `dtype`."""
    kernel_only("zeros")


def zeros_like(input: Any) -> Any:
    """Zeros of the shape and dtype of `input`, a block or scalar."""
    kernel_only("zeros_like")


def broadcast(input: Any, other: Any) -> Any:
    """The tuple of both operands in the shape they have in common, as `+` brings them to it: a scalar goes to every
    element, missing axes are added in front, and axes of extent 1 repeat. Types stay."""
    kernel_only("broadcast")


def broadcast_to(input: Any, *shape: Any) -> Any:
    """`input` with its axes of extent 1 repeated to the extents of `shape`, which has as many axes; a scalar goes to
    every element. The shape is a tuple, or its extents are arguments of their own."""
    kernel_only("broadcast_to")


def expand_dims(input: Any, axis: int | Sequence[int]) -> Any:
    """`input` with an axis of extent 1 at position `axis` of the result, or at each of several positions. A negative
    one counts from the end. `x[:, None]` is `expand_dims(x, 1)`."""
    kernel_only("expand_dims")


def reshape(input: Any, *shape: Any, can_reorder: bool = False) -> Any:
    """The elements of `input`, in row-major order, as a block of another shape with as many; () gives a scalar. The
    shape is a tuple, or its extents are arguments of their own. The order is kept with `can_reorder` too."""
    kernel_only("reshape")


def view(input: Any, *shape: Any) -> Any:
    """`reshape`, by its older name; the order of the elements is kept here, which Triton does not promise."""
    kernel_only("view")


def ravel(x: Any, can_reorder: bool = False) -> Any:
    """The elements of `x`, in row-major order, as a block of rank 1. The order is kept with `can_reorder` too."""
    kernel_only("ravel")


def permute(input: Any, *dims: Any) -> Any:
    """Axis i of the result is axis `dims[i]` of `input`. `dims` is a tuple, or they are arguments of their own."""
    kernel_only("permute")


def trans(input: Any, *dims: Any) -> Any:
    """`permute`; without `dims` the last two axes change places. `x.T` is `trans(x)` of a block of rank 2."""
    kernel_only("trans")


def squeeze(x: Any, dim: int) -> Any:
    """`x` without its axis `dim`, whose extent must be 1."""
    kernel_only("squeeze")


def unsqueeze(x: Any, dim: int) -> Any:
    """`x` with an axis of extent 1 at position `dim` of the result: `expand_dims` of one axis."""
    kernel_only("unsqueeze")
