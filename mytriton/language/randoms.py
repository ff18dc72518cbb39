"""Random numbers that are a function of a seed and an element's offset: the same on every backend and in every order,
and made again rather than kept.

The generator is Philox (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011), as in Triton: the counter
is (offset, 0, 0) with an offset of 64 bits, the key the seed, also of 64 bits. Integers are those of Triton, bit for
bit.
Offsets may be scalars or blocks; `n_rounds` is a constexpr.
"""

from __future__ import annotations

from typing import Any

from mytriton.language.kernel_only import kernel_only

__all__ = [
    "pair_uniform_to_normal",
    "philox",
    "philox_impl",
    "rand",
    "rand4x",
    "randint",
    "randint4x",
    "randn",
    "randn4x",
    "uint_to_uniform_float",
]


def philox_impl(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any, n_rounds: int = 10) -> Any:
    """The four counters after `n_rounds` rounds with the key (k0, k1): all uint32, or all uint64."""
    kernel_only("philox_impl")


def philox(seed: Any, c0: Any, c1: Any, c2: Any, c3: Any, n_rounds: int = 10) -> Any:
    """`philox_impl` with a seed of 64 bits as the key; the counters are integers of 32 or 64 bits."""
    kernel_only("philox")


def randint4x(seed: Any, offset: Any, n_rounds: int = 10) -> Any:
    """Four random uint32 for each offset, of which `randint` gives the first."""
    kernel_only("randint4x")


def randint(seed: Any, offset: Any, n_rounds: int = 10) -> Any:
    """A random uint32 for each offset: the first of `randint4x`."""
    kernel_only("randint")


def uint_to_uniform_float(x: Any) -> Any:
    """Random bits of 32 or 64 bits as a float32 in [0, 1)."""
    kernel_only("uint_to_uniform_float")


def rand(seed: Any, offset: Any, n_rounds: int = 10) -> Any:
    """A random float32 in [0, 1) for each offset."""
    kernel_only("rand")


def rand4x(seed: Any, offsets: Any, n_rounds: int = 10) -> Any:
    """Four random float32 in [0, 1) for each offset."""
    kernel_only("rand4x")


def pair_uniform_to_normal(u1: Any, u2: Any) -> Any:
    """Two independent normal numbers of two uniform ones in [0, 1) (the transform of Box and Muller)."""
    kernel_only("pair_uniform_to_normal")


def randn(seed: Any, offset: Any, n_rounds: int = 10) -> Any:
    """A normal float32, of mean 0 and variance 1, for each offset."""
    kernel_only("randn")


def randn4x(seed: Any, offset: Any, n_rounds: int = 10) -> Any:
    """Four normal float32 for each offset, made of those of `rand4x`."""
    kernel_only("randn4x")
