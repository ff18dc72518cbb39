"""What a running kernel tells Python: that an assertion failed, and what it prints."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from mytriton.backends.cpu.checked import Inside
from mytriton.diagnostics import Stopped
from mytriton.ir import interp, ops
from mytriton.ir.arithmetic import DTYPES, Array
from mytriton.records import dataclass
from mytriton.source import SourceUnit
from mytriton.types import PointerType, Type, element_of, shape_of

Grid = tuple[int, int, int]

#: Three numbers, and a C `jmp_buf`: the largest of a Linux host, AArch64's, has 312 bytes.
FAILURE_BYTES = 512

#: Number of the print, program, scratch memory.
_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)


@dataclass(frozen=True, slots=True)
class Feedback:
    """The assertions and prints of a kernel by number; for each print, where in scratch memory its values are."""

    assertions: tuple[ops.Assert, ...] = ()
    prints: tuple[tuple[ops.Print, tuple[int, ...]], ...] = ()

    def raise_if_failed(self, memory: Any, grid: Grid, units: Sequence[SourceUnit]) -> None:
        """Raise `Stopped` if an assertion has left its number in the memory of a call."""
        number, program, lane = (ctypes.c_int64 * 3).from_buffer(memory)
        if number:
            op, position = self.assertions[number - 1], _position(program, grid)
            if isinstance(op, Inside):
                where = interp.place_of(op, units)
                found = f"{op.message}, lane {lane} of program {position}, in `{op.text}`"
                raise Stopped(f"{where + ': ' if where else ''}{found}", op.span, units)
            failed = interp.failure(op, interp.AssertionFailed(lane), position, units)
            raise Stopped(failed, op.span, units)

    def printer(self, grid: Grid) -> Printer:
        """A printer for one launch."""
        return Printer(self, grid)


class Printer:
    """Prints what a launch of programs, one after the other, hands over."""

    def __init__(self, feedback: Feedback, grid: Grid) -> None:
        self._feedback, self._grid = feedback, grid
        self._callback = _CALLBACK(self._print)
        self.error: BaseException | None = None  # an exception cannot pass through the kernel

    @property
    def address(self) -> int:
        """Of the function to call."""
        return ctypes.cast(self._callback, ctypes.c_void_p).value or 0

    def _print(self, number: int, program: int, scratch: int) -> None:
        if self.error is not None:
            return
        try:
            op, offsets = self._feedback.prints[number]
            arrays = [_array(v.type, scratch + offset) for v, offset in zip(op.values, offsets, strict=True)]
            interp.print_elements(op, arrays, _position(program, self._grid))
        except BaseException as error:  # noqa: BLE001  raised when the launch is over
            self.error = error


def _array(type_: Type, address: int) -> Array:
    element, shape = element_of(type_), shape_of(type_)
    assert not isinstance(element, PointerType)
    dtype = DTYPES[element]
    memory = ctypes.string_at(address, prod(shape) * dtype.itemsize)
    return np.frombuffer(memory, dtype).reshape(shape)


def _position(program: int, grid: Grid) -> Grid:
    return program % grid[0], program // grid[0] % grid[1], program // (grid[0] * grid[1])
