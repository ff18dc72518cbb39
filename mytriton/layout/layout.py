"""Layouts as linear maps over F2: from a register, lane and warp number to a position in a block.

After Zhou et al., "Linear Layouts: Robust Code Generation of Efficient Tensor Computation Using F2" (2025). Extents are
powers of two, so positions and hardware numbers are bit strings, and the element that register r of lane l of warp w
holds is the exclusive or of the entries of the bits set in r, l and w. An entry 0 repeats data: those registers,
lanes or warps hold copies.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod


@dataclass(frozen=True, slots=True)
class Layout:
    """`register[i]`, `lane[i]`, `warp[i]` are the (row-major, linear) positions that hardware bit i contributes."""

    shape: tuple[int, ...]
    register: tuple[int, ...]
    lane: tuple[int, ...]
    warp: tuple[int, ...]

    @property
    def size(self) -> int:
        """Elements in the block."""
        return prod(self.shape)

    @property
    def registers(self) -> int:
        """Elements each thread holds."""
        return 1 << len(self.register)

    @property
    def vector(self) -> int:
        """Consecutive elements that consecutive registers of a thread hold, from register 0 on."""
        width = 1
        for entry in self.register:
            if entry != width:
                break
            width *= 2
        return width

    def position(self, register: int, lane: int, warp: int) -> int:
        """The element held by one register of one thread."""
        position = 0
        for number, entries in ((register, self.register), (lane, self.lane), (warp, self.warp)):
            for bit, entry in enumerate(entries):
                if number >> bit & 1:
                    position ^= entry
        return position

    def free_bits(self) -> tuple[int, int, int]:
        """Masks of the register, lane and warp bits that only repeat data; a store runs where all of them are 0."""
        register, lane, warp = (
            sum(1 << i for i, entry in enumerate(entries) if entry == 0)
            for entries in (self.register, self.lane, self.warp)
        )
        return register, lane, warp

    def __str__(self) -> str:
        parts = (f"{n}={list(getattr(self, n))}" for n in ("register", "lane", "warp"))
        return f"layout<{'x'.join(map(str, self.shape)) or 'scalar'}: {', '.join(parts)}>"


def _log2(n: int) -> int:
    return n.bit_length() - 1


def blocked(size: int, vector: int, num_warps: int) -> Layout:
    """A 1-D block of `size` elements in chunks of `vector` consecutive ones a thread, threads in order; what is left
    over repeats the pattern in further registers. A block smaller than the threads is repeated in the upper ones."""
    bits = [1 << i for i in range(_log2(size))]
    vector = min(vector, max(1, size // (32 * num_warps)))
    register, rest = bits[: _log2(vector)], bits[_log2(vector) :]
    lane, rest = rest[:5], rest[5:]
    warp, rest = rest[: _log2(num_warps)], rest[_log2(num_warps) :]
    lane += [0] * (5 - len(lane))
    warp += [0] * (_log2(num_warps) - len(warp))
    return Layout((size,), tuple(register + rest), tuple(lane), tuple(warp))


def replicated(num_warps: int) -> Layout:
    """The layout of a scalar: every thread holds a copy."""
    return Layout((), (), (0,) * 5, (0,) * _log2(num_warps))
