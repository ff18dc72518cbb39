"""What wrote a wrong element: the program, the position in its block, the thread that holds it, and the source line."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from mytriton.diagnostics import MytritonError
from mytriton.ir import interp, ops
from mytriton.ir.arithmetic import Array
from mytriton.ir.core import Func, Op, Value
from mytriton.ir.memory import Memory
from mytriton.layout.program import LaidOut
from mytriton.source import Span
from mytriton.types import is_pointer, shape_of


@dataclass(frozen=True, slots=True)
class Holder:
    """Which thread of a program holds an element: its number, and which of its registers for the block."""

    thread: int
    register: int

    def __str__(self) -> str:
        return f"thread {self.thread} (warp {self.thread // 32}, lane {self.thread % 32}), register {self.register}"


@dataclass(frozen=True, slots=True)
class Origin:
    """What wrote an element: the program, the position in the block that it stores, where the store stands in the
    kernel, and on a GPU the thread."""

    program: tuple[int, int, int]
    lane: int
    span: Span | None
    holder: Holder | None = None

    def __str__(self) -> str:
        held = f": {self.holder}" if self.holder is not None else ""
        return f"program {self.program}, lane {self.lane} of its block{held}"


def find_origin(
    func: Func,
    args: Mapping[str, Any],
    grid: tuple[int, int, int],
    name: str,
    index: Sequence[int],
    laid_out: LaidOut | None = None,
    seconds: float = float("inf"),
    progress: interp.Progress | None = None,
) -> Origin | None:
    """The last store to an element of the array `name`, as the interpreter does it on `args` (by name; they are
    written to). None if nothing is found to write it before `seconds` are over; the programs that probably do are
    looked at first. `progress` is told how many are done, and may raise."""
    array = args[name]
    address = array.__array_interface__["data"][0] + sum(i * s for i, s in zip(index, array.strides, strict=True))
    watch = _Watch(func, [args[p.id] for p in func.params], address, time.monotonic() + seconds)
    total, linear = prod(grid), int(np.ravel_multi_index(tuple(index), array.shape)) if array.ndim else 0
    start = min(total - 1, linear // stored_blocks(func).get(name, 1)) if total else 0
    for count in range(total):
        try:
            watch.run(func, (start + count) % total, grid)
        except MytritonError:
            pass  # what was stored before the failing access counts
        except _Late:
            break
        if progress is not None:
            progress(count + 1, total)
    if watch.found is None or watch.store_op is None:
        return None
    program, lane = watch.found
    holder = _holder(laid_out, watch.store_op, lane) if laid_out is not None else None
    return Origin(program, lane, watch.store_op.span, holder)


class _Late(Exception):
    """The time is over."""


class _Watch(Memory):
    """Memory that remembers who wrote to one address last, by the number of the program."""

    def __init__(self, func: Func, args: list[Any], address: int, deadline: float) -> None:
        super().__init__(func, args)
        self.found: tuple[tuple[int, int, int], int] | None = None
        self.store_op: ops.Store | None = None
        self._address, self._deadline = address, deadline
        self._number, self._last = 0, -1
        self._lane: int | None = None

    def run(self, func: Func, number: int, grid: tuple[int, int, int]) -> None:
        """Run one program; raises `_Late` if it takes too long."""
        self._number = number
        interp.run_program(func, self, number, grid, self._observe)

    def store(self, pointer: Array, value: Array, mask: Array | None) -> None:
        """Store, and see whether the address is among those written."""
        super().store(pointer, value, mask)
        hit = pointer["address"] == self._address
        lanes = np.flatnonzero(hit if mask is None else hit & mask)
        self._lane = int(lanes[-1]) if lanes.size else None

    def _observe(self, program: tuple[int, int, int], op: Op, result: Array | None) -> None:
        """Called after each operation: the one that stored is the last one that did."""
        if isinstance(op, ops.Store):
            if self._lane is not None and self._number >= self._last:
                self.found, self.store_op, self._last = (program, self._lane), op, self._number
            self._lane = None
            if time.monotonic() > self._deadline:
                raise _Late


def _holder(laid_out: LaidOut, store: ops.Store, lane: int) -> Holder | None:
    """The thread that does the store; None unless the laid-out program has it as one store of that block."""
    shape = shape_of(store.pointer.type)
    found = set()
    for op in laid_out.func.walk():
        if isinstance(op, ops.Store) and op.span == store.span and shape_of(op.pointer.type) == shape:
            register, thread, warp = laid_out.layouts[op.pointer].holders(lane)
            found.add(Holder(32 * warp + thread, register))
    return found.pop() if len(found) == 1 else None


def stored_blocks(func: Func) -> dict[str, int]:
    """How many elements the largest block has that is stored through each pointer parameter, as far as the parameter
    can be told from the store."""
    made = func.definitions
    sizes: dict[str, int] = {}
    for op in func.walk():
        if isinstance(op, ops.Store):
            pointer: Value | None = op.pointer
            while pointer is not None and pointer in made:
                pointer = next((v for v in made[pointer].operands if is_pointer(v.type)), None)
            if pointer in func.params:
                size = prod(shape_of(op.pointer.type))
                sizes[pointer.id] = max(sizes.get(pointer.id, 1), size)
    return sizes
