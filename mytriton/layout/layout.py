"""Layouts as linear maps over F2: from a register, lane and warp number to a position in a block.

After Zhou et al., "Linear Layouts: Robust Code Generation of Efficient Tensor Computation Using F2" (2025). Extents are
powers of two, so positions and hardware numbers are bit strings, and the element that register r of lane l of warp w
holds is the exclusive or of the entries of the bits set in r, l and w. An entry 0 repeats data: those lanes or warps
hold copies.

All layouts made here have entries of at most one bit, no register entry 0, and hold each position bit once. So
conversions and broadcasts are permutations of bits too (`routes.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import TypeAlias

from mytriton.records import dataclass

#: The register, lane and warp entries: all of a layout but the shape of the block.
Map: TypeAlias = "tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]"


@dataclass(frozen=True, slots=True)
class Layout:
    """`register[i]`, `lane[i]`, `warp[i]` are the (row-major, linear) positions that hardware bit i contributes."""

    shape: tuple[int, ...]
    register: tuple[int, ...]
    lane: tuple[int, ...]
    warp: tuple[int, ...]

    @property
    def map(self) -> Map:
        """The layout without the shape: what blocks share that may be handled in one loop over registers."""
        return self.register, self.lane, self.warp

    @property
    def size(self) -> int:
        """Elements in the block."""
        return prod(self.shape)

    @property
    def registers(self) -> int:
        """Elements each thread holds."""
        return 1 << len(self.register)

    @property
    def step(self) -> int:
        """How far apart the elements are that consecutive registers of a thread hold, from register 0 on: 1 in rows;
        the length of a row in columns, where the lanes go on as the registers have begun."""
        step = self.register[0] if self.register else 1
        return step if step == 1 or step * self._held(step) in self.lane[:1] else 1

    @property
    def vector(self) -> int:
        """Elements, `step` apart, that consecutive registers of a thread hold, from register 0 on."""
        return self._held(self.step)

    def _held(self, step: int) -> int:
        width = 1
        for entry in self.register:
            if entry != step * width:
                break
            width *= 2
        return width

    def run(self, step: int) -> int:
        """Elements, `step` apart, that the lanes of a warp hold in their first registers, from lane 0 on."""
        width = self._held(step)
        while step * width in self.lane:
            width *= 2
        return width

    @property
    def copies(self) -> int:
        """Threads that hold each element."""
        _, lane, warp = self.free_bits()
        return 1 << lane.bit_count() + warp.bit_count()

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

    def holders(self, positions: int) -> tuple[int, int, int]:
        """Masks of the register, lane and warp bits whose entries are in the mask `positions`."""
        register, lane, warp = (
            sum(1 << i for i, entry in enumerate(entries) if entry & positions)
            for entries in (self.register, self.lane, self.warp)
        )
        return register, lane, warp

    def reshaped(self, shape: tuple[int, ...]) -> Layout:
        """The same elements, in row-major order, as a block of another shape."""
        return replace(self, shape=shape)

    def transposed(self, order: Sequence[int]) -> Layout:
        """Axis i is axis `order[i]` of this layout; every register keeps its element."""
        shape = tuple(self.shape[axis] for axis in order)
        old = [b for axis in reversed(order) for b in _bits(self.shape, axis)]
        return self._renamed(shape, dict(zip(old, _all_bits(shape), strict=True)))

    def sliced(self, shape: tuple[int, ...]) -> Layout:
        """The layout in which a block of `shape` is held so that it can be broadcast to this layout with no exchange:
        the bits of the axes whose extent is 1 in `shape` are dropped. Lanes and warps then hold copies; registers do
        not, so the slice may have fewer of them (`routes.broadcast_registers`)."""
        kept = [b for axis in reversed(range(len(shape))) if shape[axis] > 1 for b in _bits(self.shape, axis)]
        return self._renamed(shape, dict(zip(kept, _all_bits(shape), strict=True)))

    def reduced(self, axis: int, bits: int) -> Layout:
        """The layout once the bits of the mask `bits` have left the index along `axis`: lanes and warps that they told
        apart hold copies, registers that they told apart have become one."""
        gone = index_bits(self.shape, axis, bits)
        extent = self.shape[axis] >> bits.bit_count()
        shape = (*self.shape[:axis], extent, *self.shape[axis + 1 :])
        kept = [b for b in _all_bits(self.shape) if not b & gone]
        return self._renamed(shape, dict(zip(kept, _all_bits(shape), strict=True)))

    def without(self, positions: int) -> Layout:
        """The part of this layout that does not depend on the position bits of the mask: their entries are 0."""
        register, lane, warp = (tuple(e & ~positions for e in entries) for entries in self.map)
        return Layout(self.shape, register, lane, warp)

    def _renamed(self, shape: tuple[int, ...], renamed: dict[int, int]) -> Layout:
        """Position bits by their new names; those without one are dropped, and with them the registers they count."""
        register = tuple(renamed[entry] for entry in self.register if entry in renamed)
        lane, warp = (tuple(renamed.get(entry, 0) for entry in entries) for entries in (self.lane, self.warp))
        return Layout(shape, register, lane, warp)

    def __str__(self) -> str:
        parts = (f"{n}={list(getattr(self, n))}" for n in ("register", "lane", "warp"))
        return f"layout<{'x'.join(map(str, self.shape)) or 'scalar'}: {', '.join(parts)}>"


def index_bits(shape: tuple[int, ...], axis: int, bits: int) -> int:
    """The position bits that stand for the bits of the mask `bits` of an index along `axis`."""
    return bits * prod(shape[axis + 1 :])


def _bits(shape: tuple[int, ...], axis: int) -> list[int]:
    """The position bits of an axis, ascending. Those of the last axis are the lowest."""
    return [index_bits(shape, axis, 1 << i) for i in range(_log2(shape[axis]))]


def _all_bits(shape: tuple[int, ...]) -> list[int]:
    return [1 << i for i in range(_log2(prod(shape)))]


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


def by_columns(shape: tuple[int, ...], vector: int, num_warps: int) -> Layout:
    """A block of `shape` as `blocked` has it, but in column-major order."""
    order = range(len(shape))[::-1]
    return blocked(prod(shape), vector, num_warps).reshaped(shape[::-1]).transposed(order)


def replicated(num_warps: int) -> Layout:
    """The layout of a scalar: every thread holds a copy."""
    return Layout((), (), (0,) * 5, (0,) * _log2(num_warps))
