"""Atomic operations on memory, which other programs may be at as well.

Each reads the elements at `pointer`, writes something made of them and of what is given, and returns what it read; a
scalar pointer means once a program. Nothing comes between reading and writing an element; elements with one address are
done one after the other, in any order. Elements whose `mask` is false touch no memory and give 0. Elements have 32 or
64 bits; those of 16 bits can be compared and swapped, and floats of 16 bits be added. `sem` ("acq_rel" by default,
"acquire", "release", "relaxed") orders it among the other accesses of the thread, and `scope` ("gpu" by default, "cta",
"sys") says for whom; a backend may order more.
"""

from __future__ import annotations

from typing import Any

from mytriton.language.kernel_only import kernel_only

__all__ = [
    "atomic_add",
    "atomic_and",
    "atomic_cas",
    "atomic_max",
    "atomic_min",
    "atomic_or",
    "atomic_xchg",
    "atomic_xor",
]


def atomic_add(pointer: Any, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None) -> Any:
    """Add. In which order floats are added by several programs is anyone's guess, and so is the last bit."""
    kernel_only("atomic_add")


def atomic_max(pointer: Any, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None) -> Any:
    """Keep the larger one; of floats NaN is ignored."""
    kernel_only("atomic_max")


def atomic_min(pointer: Any, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None) -> Any:
    """Keep the smaller one; of floats NaN is ignored."""
    kernel_only("atomic_min")


def atomic_and(pointer: Any, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None) -> Any:
    """Bitwise and with what is there, of integers."""
    kernel_only("atomic_and")


def atomic_or(pointer: Any, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None) -> Any:
    """Bitwise or with what is there, of integers."""
    kernel_only("atomic_or")


def atomic_xor(pointer: Any, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None) -> Any:
    """Bitwise exclusive or with what is there, of integers."""
    kernel_only("atomic_xor")


def atomic_xchg(pointer: Any, val: Any, mask: Any = None, sem: str | None = None, scope: str | None = None) -> Any:
    """Exchange: store `val`, return what was there."""
    kernel_only("atomic_xchg")


def atomic_cas(pointer: Any, cmp: Any, val: Any, sem: str | None = None, scope: str | None = None) -> Any:
    """Compare and swap: store `val` where `cmp` was, to the bit."""
    kernel_only("atomic_cas")
