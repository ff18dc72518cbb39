"""The interpreter: a kernel's meaning, executed on NumPy arrays, one program after the other.

It is the oracle for every backend and a backend itself. Arithmetic is `arithmetic.py`; here are memory, the grid, and
errors that name the program, the element and the line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from mytriton.diagnostics import InternalError, LaunchError, Stopped, location
from mytriton.ir import ops
from mytriton.ir.arithmetic import ANY_BASE, Array, evaluate
from mytriton.ir.core import Block, Func, Op, Value
from mytriton.ir.memory import Memory, OutOfBounds
from mytriton.ir.printer import Printer
from mytriton.layout.staging import AsyncCommit, AsyncCopy, AsyncWait, Staged
from mytriton.source import SourceUnit
from mytriton.types import PointerType, element_of, shape_of

#: Called after every operation but structured ones with the program's position, the operation and its result (None if
#: it has none).
Observer = Callable[[tuple[int, int, int], Op, "Array | None"], None]


#: Called after every program with how many are done, and of how many.
Progress = Callable[[int, int], None]


#: Why a program with inline assembly cannot be interpreted.
NO_ASSEMBLY = "inline assembly runs on NVIDIA's GPUs only: nothing else knows what its instructions do"


class AssertionFailed(Exception):
    """An assertion that does not hold, at a position in its block."""

    def __init__(self, position: int) -> None:
        self.position = position


def run(
    func: Func,
    args: Sequence[Any],
    grid: tuple[int, ...],
    observe: Observer | None = None,
    units: Sequence[SourceUnit] = (),
    memory: Memory | None = None,
    progress: Progress | None = None,
) -> None:
    """Run the kernel over the grid (1 to 3 extents, 0 runs nothing), in place on the NumPy arrays among `args`.

    `args` are the runtime arguments in parameter order. Raises `LaunchError` for an argument that does not fit and for
    an access outside an array, with the line if `units` (the compilation's) are given.
    """
    memory = memory or Memory(func, args)
    total = prod(grid)
    for number in range(total):
        run_program(func, memory, number, grid, observe, units)
        if progress is not None:
            progress(number + 1, total)


def run_program(
    func: Func,
    memory: Memory,
    number: int,
    grid: tuple[int, ...],
    observe: Observer | None = None,
    units: Sequence[SourceUnit] = (),
) -> None:
    """Run one program by its number, axis 0 counting fastest."""
    x, y, z = (*grid, 1, 1)[:3]
    position = number % x, number // x % y, number // (x * y)
    with np.errstate(all="ignore"):
        _Program(func, memory, position, (x, y, z), observe, units).run()


def execute(
    op: Op,
    values: Mapping[Value, Array],
    memory: Memory,
    program: tuple[int, int, int],
    grid: tuple[int, ...],
) -> Array | None:
    """Execute one operation of one program; the result, or None if it has none."""
    match op:
        case ops.ProgramId():
            return np.array(program[op.axis], np.int32)
        case ops.NumPrograms():
            return np.array(grid[op.axis], np.int32)
        case ops.Load():
            return memory.load(op, values[op.pointer], _get(values, op.mask), _get(values, op.other))
        case ops.Store():
            memory.store(values[op.pointer], values[op.value], _get(values, op.mask))
            return None
        case ops.Atomic():
            mask, compare = _get(values, op.mask), _get(values, op.compare)
            return memory.atomic(op, values[op.pointer], values[op.value], mask, compare)
        case ops.Assert():
            if not values[op.condition].all():
                raise AssertionFailed(int(np.argmin(values[op.condition])))
            return None
        case ops.InlineAsm():
            raise LaunchError(NO_ASSEMBLY)
        case AsyncCopy():
            memory.copy(op, values[op.pointer], int(values[op.stage]), _get(values, op.mask))
            return None
        case Staged():
            return memory.staged(op, int(values[op.stage]))
        case ops.Barrier() | AsyncCommit() | AsyncWait():
            return None  # operations are done one after the other, on all lanes
        case ops.Print():
            print_elements(op, [values[v] for v in op.values], program)
            return None
        case _:
            return evaluate(op, [values[v] for v in op.operands])


def _get(values: Mapping[Value, Array], value: Value | None) -> Array | None:
    return None if value is None else values[value]


def trips(lower: Array, upper: Array, step: Array) -> list[Array]:
    """The values of a loop's variable, in its type; none for a step of 0."""
    dtype = lower.dtype.type
    numbers = range(int(lower), int(upper), int(step)) if int(step) else ()
    return [np.asarray(dtype(n)) for n in numbers]


class _Program:
    """One program of a launch."""

    def __init__(
        self,
        func: Func,
        memory: Memory,
        program: tuple[int, int, int],
        grid: tuple[int, ...],
        observe: Observer | None,
        units: Sequence[SourceUnit],
    ) -> None:
        self.func, self.memory, self.program, self.grid = func, memory, program, grid
        self.observe, self.units = observe, units
        self.values = dict(memory.values)

    def run(self) -> None:
        self._block(self.func.body, ())

    def _block(self, block: Block, arguments: Sequence[Array]) -> tuple[Array, ...]:
        """Run a block; what it yields. Recursion follows the nesting of regions, not the length of the kernel."""
        self.values.update(zip(block.params, arguments, strict=False))  # a function's parameters are there already
        for op in block.ops:
            if isinstance(op, ops.Yield):
                return self._all(op.values)
            if op.regions:
                self.values.update(zip(op.results, self._structured(op), strict=True))
                continue
            try:
                result = execute(op, self.values, self.memory, self.program, self.grid)
            except OutOfBounds as error:
                text = explain(self.func, op, error, self.memory, self.program, self.units)
                raise Stopped(text, op.span, self.units) from None
            except AssertionFailed as error:
                raise Stopped(failure(op, error, self.program, self.units), op.span, self.units) from None
            if result is not None:
                self.values[op.result] = result
            if self.observe is not None:
                self.observe(self.program, op, result)
        return ()

    def _all(self, values: Sequence[Value]) -> tuple[Array, ...]:
        return tuple(self.values[v] for v in values)

    def _structured(self, op: Op) -> tuple[Array, ...]:
        match op:
            case ops.If():
                return self._block(op.then if self.values[op.condition] else op.orelse, ())
            case ops.For():
                carried = self._all(op.initial)
                for number in trips(*self._all((op.lower, op.upper, op.step))):
                    carried = self._block(op.body, (number, *carried))
                return carried
            case ops.While():
                carried = self._all(op.initial)
                while self._block(op.condition, carried)[0]:
                    carried = self._block(op.body, carried)
                return carried
        raise InternalError(f"the interpreter does not know `{op.opcode}`")


def print_elements(op: ops.Print, arrays: Sequence[Array], program: tuple[int, int, int]) -> None:
    """One line an element, on standard output."""
    for array in arrays:
        for index in np.ndindex(array.shape):
            print_element(op, program, index, array[index])


def print_element(op: ops.Print, program: tuple[int, int, int], index: tuple[Any, ...], value: Any) -> None:
    """`pid (0, 0, 0) idx (3) prefix: 1.5`; a scalar has no index."""
    place = ", ".join(map(str, index))
    print(f"pid ({', '.join(map(str, program))}) idx ({place}) {op.prefix}: {value}")


def explain(
    func: Func,
    op: Op,
    error: OutOfBounds,
    memory: Memory,
    program: tuple[int, int, int],
    units: Sequence[SourceUnit] = (),
) -> str:
    """The sentence for an access outside an array."""
    where = place_of(op, units)
    pointer = element_of(op.operands[0].type)
    assert isinstance(pointer, PointerType)
    if error.parameter == ANY_BASE:
        what = f"at the address {error.index:#x}, which lies in none of the kernel's arrays"
    else:
        size = memory.buffers[error.parameter].flat.nbytes // pointer.element.bytes
        what = f"outside of `{func.params[error.parameter].id}`: element {error.index} of {size}"
    lane = f"lane {error.position} of program {program}, in `{Printer(func).op(op)}`"
    return f"{where + ': ' if where else ''}{op.opcode} {what}, {lane}"


def failure(op: Op, error: AssertionFailed, program: tuple[int, int, int], units: Sequence[SourceUnit] = ()) -> str:
    """The sentence for an assertion that does not hold."""
    assert isinstance(op, ops.Assert)
    where = place_of(op, units)
    lane = f"lane {error.position} of " if shape_of(op.condition.type) else ""
    return f"{where + ': ' if where else ''}assertion failed in {lane}program {program}: {op.message}"


def place_of(op: Op, units: Sequence[SourceUnit]) -> str:
    """Where an operation stands, for people."""
    where = location(op.span, units)
    if not where and op.span is not None:
        where = f"line {op.span.line} of the kernel, column {op.span.column}"
    site = op.span.call_site if op.span is not None else None
    while site is not None:
        where, site = f"{where}, called from {location(site, units)}", site.call_site
    return where
