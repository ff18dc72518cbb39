"""Asynchronous copies of one warp that are under way, for the laid-out interpreter: they land as late as they may."""

from __future__ import annotations

import numpy as np

from mytriton.diagnostics import InternalError
from mytriton.ir.arithmetic import Array
from mytriton.layout.staging import AsyncCopy
from mytriton.layout.warps import Buffer, bits_of
from mytriton.records import dataclass


@dataclass(frozen=True)
class _Landing:
    """Numbers, and where they go among the cells of their type."""

    cells: Array
    places: Array
    values: Array


class Underway:
    """The copies of one warp to the shared memory of its program. What a copy will overwrite is lost when it begins."""

    def __init__(self, buffer: Buffer) -> None:
        self._buffer = buffer
        self._groups: list[list[_Landing]] = [[]]

    def add(self, op: AsyncCopy, values: Array, elements: Array, copied: Array, stage: int) -> None:
        """Begin to copy some registers [registers, lanes], those in which `copied` is true."""
        cells = self._buffer.of(values.dtype)
        start = (op.ring.start + stage * op.ring.bytes) // values.itemsize
        places = start + bits_of(op.place, elements)[copied]
        if not 0 <= stage < op.ring.stages:
            raise InternalError(f"a ring of {op.ring.stages} buffers has no buffer {stage}")
        cells.view(np.uint8).reshape(-1, values.itemsize)[places] = 0xAB
        self._groups[-1].append(_Landing(cells, places, values[copied]))

    def commit(self) -> None:
        """What was begun since the last time is a group."""
        self._groups.append([])

    def wait(self, pending: int) -> None:
        """All groups but the last `pending` have landed."""
        while len(self._groups) - 1 > pending:
            for landing in self._groups.pop(0):
                landing.cells[landing.places] = landing.values

    def end(self) -> None:
        """The program ends: whatever is under way now could have overwritten what others use."""
        if any(self._groups):
            raise InternalError("a copy to shared memory was never waited for")
