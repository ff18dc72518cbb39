"""What a warp holds, and the shared memory of its program, for the laid-out interpreter."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TypeAlias

import numpy as np

from mytriton.diagnostics import InternalError
from mytriton.ir.arithmetic import POINTER, Array
from mytriton.ir.core import Op
from mytriton.layout.layout import Layout
from mytriton.layout.program import Item
from mytriton.layout.routes import BitMap

LANES = 32

#: A barrier, by what has it: an item before which, or an operation in which, threads wait.
Wait: TypeAlias = "Item | Op"
#: An exchange of one warp: yields at barriers, returns the result.
Exchanging: TypeAlias = "Generator[Wait, None, Array]"


def positions(layout: Layout, warp: int) -> Array:
    """The elements that a warp holds, as an array [registers, lanes]."""
    table = np.zeros((layout.registers, LANES), np.int64)
    for numbers, entries in ((np.arange(layout.registers)[:, None], layout.register), (np.arange(LANES), layout.lane)):
        for bit, entry in enumerate(entries):
            table ^= (numbers >> bit & 1) * entry
    return table ^ layout.position(0, 0, warp)


class Buffer:
    """The shared memory of one program, `size` bytes. Pointers, which are 8 bytes on a GPU but carry their base here,
    have one of their own. `begun` are the products of each warp that are not finished: their sums, and what adds to
    them."""

    def __init__(self, size: int) -> None:
        self.begun: dict[int, list[tuple[Array, Callable[[], Array]]]] = {}
        self._data = np.zeros(-(-size // 16) * 16, np.uint8)
        self._pointers = np.zeros(size // 8, POINTER)

    def of(self, dtype: np.dtype[np.generic]) -> Array:
        """The buffer as an array of one type."""
        return self._pointers if dtype == POINTER else self._data.view(dtype)

    @staticmethod
    def bytes_of(dtype: np.dtype[np.generic]) -> int:
        """The bytes that one element takes on a GPU."""
        return 8 if dtype == POINTER else dtype.itemsize


def bits_of(bits: BitMap, numbers: Array) -> Array:
    """The numbers that a bit map gives for some."""
    found = np.zeros_like(numbers)
    for bit, mask in enumerate(bits):
        found ^= (numbers >> bit & 1) * mask
    return found


def owner_lanes(layout: Layout, warp: int) -> Array:
    """The lanes that, of copies, hold the one that is written."""
    _, free_lanes, free_warps = layout.free_bits()
    return np.asarray((np.arange(LANES) & free_lanes == 0) & (warp & free_warps == 0))


def agree(op: Op, copies: Array, originals: Array) -> None:
    """Copies of an element must be equal; two NaNs are, and two zeros."""
    same = copies == originals
    if copies.dtype != POINTER:
        same |= (copies != copies) & (originals != originals)
    if not same.all():
        raise InternalError(f"threads hold different copies of an element that `{op.opcode}` moves")
