"""Loads, stores, and what an author may tell the compiler about the values they use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mytriton.language.kernel_only import kernel_only

__all__ = ["assume", "debug_barrier", "load", "max_constancy", "max_contiguous", "multiple_of", "store"]


def load(
    pointer: Any,
    mask: Any = None,
    other: Any = None,
    *,
    boundary_check: Any = (),
    padding_option: str = "",
    cache_modifier: str = "",
    eviction_policy: str = "",
    volatile: bool = False,
) -> Any:
    """The elements at `pointer`: a scalar for a scalar pointer, a block for a block of pointers.

    Where `mask` (bool) is false no memory is touched and the element is `other`, converted to the element type; if
    `other` is left out it is 0, and the compiler warns, since Triton leaves those elements undefined. `mask`, `other`
    and a block of pointers broadcast to one shape. A bool element is true for any non-zero byte. Loads and stores
    happen in the order they are written, but between different elements of one program a load and a later store of
    the same address are not ordered.

    `cache_modifier` (".ca", ".cg", ".cs", ".cv") and `eviction_policy` ("evict_first", "evict_last") are hints that
    change no result. A `volatile` load is done where it is written, as often as it is written. `boundary_check` and
    `padding_option` belong to block pointers, which are not supported yet.
    """
    kernel_only("load")


def store(
    pointer: Any,
    value: Any,
    mask: Any = None,
    *,
    boundary_check: Any = (),
    cache_modifier: str = "",
    eviction_policy: str = "",
) -> Any:
    """Write `value`, converted to the element type, to `pointer` where `mask` (bool) is true.

    `value` and `mask` broadcast to the shape of `pointer`; a block through a scalar pointer is an error. A scalar
    store happens once a program. Of several elements stored to one address, one wins.

    `cache_modifier` (".wb", ".cg", ".cs", ".wt") and `eviction_policy` are hints as for `load`.
    """
    kernel_only("store")


def multiple_of(input: Any, values: int | Sequence[int]) -> Any:
    """`input`, of which the author says that along axis d its elements (the first of each contiguous group) are
    multiples of `values[d]`. It changes no result."""
    kernel_only("multiple_of")


def max_contiguous(input: Any, values: int | Sequence[int]) -> Any:
    """`input`, of which the author says that along axis d its elements come in contiguous groups of `values[d]`. It
    changes no result."""
    kernel_only("max_contiguous")


def max_constancy(input: Any, values: int | Sequence[int]) -> Any:
    """`input`, of which the author says that along axis d its elements come in equal groups of `values[d]`. It
    changes no result."""
    kernel_only("max_constancy")


def assume(cond: Any) -> None:
    """Says that the bool `cond` is true wherever the kernel is launched. It changes no result."""
    kernel_only("assume")


def debug_barrier() -> None:
    """Orders memory between the elements of a program: what any of them loaded or stored before is done after it."""
    kernel_only("debug_barrier")
