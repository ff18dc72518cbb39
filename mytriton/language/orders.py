"""Elements in another order, and blocks put together and taken apart."""

from __future__ import annotations

from typing import Any

from mytriton.language.kernel_only import kernel_only

__all__ = ["bitonic_merge", "cat", "flip", "interleave", "join", "sort", "split", "topk"]


def flip(x: Any, dim: int | None = None) -> Any:
    """The elements in reverse along `dim`, by default the last axis."""
    kernel_only("flip")


def sort(x: Any, dim: int | None = None, descending: bool = False) -> Any:
    """The elements sorted along `dim`, by default the last axis. NaN compares to nothing, so where it ends up, and what
    becomes of the order around it, is unspecified; no element is lost."""
    kernel_only("sort")


def topk(x: Any, k: int, dim: int | None = None, descending: bool = True) -> Any:
    """The `k` (a power of 2) largest elements along `dim`, by default the last axis, the largest first; the smallest,
    smallest first, unless `descending`."""
    kernel_only("topk")


def bitonic_merge(x: Any, dim: int | None = None, descending: bool = False) -> Any:
    """The elements sorted along `dim`, by default the last axis, if they rise and then fall, or fall and then rise."""
    kernel_only("bitonic_merge")


def join(a: Any, b: Any) -> Any:
    """Two blocks, broadcast to one shape, along a new last axis of extent 2; of scalars a block of two."""
    kernel_only("join")


def split(a: Any) -> Any:
    """The two blocks, or scalars, along a last axis of extent 2: `join` undone."""
    kernel_only("split")


def interleave(a: Any, b: Any) -> Any:
    """The elements of two blocks in turn along the last axis, which grows to twice its extent."""
    kernel_only("interleave")


def cat(input: Any, other: Any, can_reorder: bool = False, dim: int = 0) -> Any:
    """Two blocks of one shape one after the other along `dim`. The order is kept, `can_reorder` or not."""
    kernel_only("cat")
