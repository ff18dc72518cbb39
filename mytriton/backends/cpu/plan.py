"""How the operations on blocks are cut into loops.

The interpreter finishes each operation on the whole block before the next. A loop runs a chain of operations chunk by
chunk instead, which shows only where memory is written: so a loop that stores does nothing else to memory. Values that
depend on loaded ones are computed in the first loop that can, and kept in scratch memory for later loops; what only
depends on indices is computed again where it is needed.

Loops that no scalar access of memory separates form a *run*. Its loops may be fused into one if no element that one
access writes is touched by another in a different chunk, which is decided at run time from the first addresses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from mytriton.backends.cpu.access import Contiguous, contiguous
from mytriton.ir.core import Func, Op, Value
from mytriton.ir.ops import Load, Store
from mytriton.types import BlockType, element_of, shape_of

#: More run-time comparisons than this cost more than fusing gains.
_MAX_PAIRS = 64

_CACHE_LINE = 64


@dataclass(frozen=True, slots=True)
class Run:
    """Loops `first` to `last`. `pairs` are the pointer blocks of two accesses, in order, that must not overlap ahead
    of the loop for it to be fused; None if the loops cannot be fused."""

    first: int
    last: int
    pairs: tuple[tuple[Value, Value], ...] | None
    guards: tuple[Value, ...]

    @property
    def fused(self) -> bool:
        """Whether there are several loops that may be one."""
        return self.pairs is not None and self.last > self.first


@dataclass(frozen=True, slots=True)
class Plan:
    """`steps` are scalar operations and runs, in the order to execute; `loop_of` is the loop of each operation on
    blocks, -1 for those to compute wherever they are needed. `scratch` gives each kept value its byte offset."""

    steps: tuple[Op | Run, ...]
    block_ops: tuple[Op, ...]
    loop_of: Mapping[Op, int]
    contiguous: Mapping[Value, Contiguous]
    scratch: Mapping[Value, int]
    scratch_bytes: int

    def is_vector_access(self, op: Op, guarded: bool) -> bool:
        """Whether a load or store touches consecutive elements; `guarded` says that the guards are known to hold."""
        if not isinstance(op, (Load, Store)) or op.pointer not in self.contiguous:
            return False
        return guarded or not self.contiguous[op.pointer].guards

    def members(self, first: int, last: int, guarded: bool) -> list[Op]:
        """The operations of one loop made of loops `first` to `last`, with all they need, in order.

        A vector access needs its first address only, which is computed outside of the loop."""
        chosen: list[Op] = []
        needed: set[Value] = set()
        for op in reversed(self.block_ops):
            inside = first <= self.loop_of[op] <= last
            if inside or (self.loop_of[op] < 0 and op.result in needed):
                chosen.append(op)
                needed.update(v for v in op.operands if not self._is_address(op, v, guarded))
        return chosen[::-1]

    def _is_address(self, op: Op, value: Value, guarded: bool) -> bool:
        return self.is_vector_access(op, guarded) and isinstance(op, (Load, Store)) and value is op.pointer


def is_block_op(op: Op) -> bool:
    """Whether the operation is done for each element of a block."""
    type_ = op.pointer.type if isinstance(op, Store) else op.result.type
    return isinstance(type_, BlockType)


def bytes_in_scratch(value: Value) -> int:
    """Bytes one element of a kept value takes; a pointer takes 8, a bool 1."""
    element = element_of(value.type)
    return getattr(element, "bytes", 8)


def make_plan(func: Func) -> Plan:
    """Cut a function, whose body has no nested regions, into loops."""
    layout = contiguous(func)
    steps: list[Op | Run] = []
    loop_of: dict[Op, int] = {}
    known_from: dict[Value, int] = {}
    accesses: list[list[Load | Store]] = []  # of each loop
    start = 0  # the first loop of the run that is open

    def close() -> None:
        nonlocal start
        if start < len(accesses):
            steps.append(_run(start, accesses[start:], layout))
            start = len(accesses)

    for op in func.body.ops:
        if isinstance(op, (Load, Store)) and is_block_op(op):
            if len(accesses) == start or _must_cut(accesses[-1], op):
                accesses.append([])
            accesses[-1].append(op)
            loop_of[op] = len(accesses) - 1
        elif not is_block_op(op):
            stored = any(isinstance(a, Store) for loop in accesses[start:] for a in loop)
            if isinstance(op, Store) or (isinstance(op, Load) and stored):
                close()
            steps.append(op)
            known_from.update(dict.fromkeys(op.results, start))
    close()
    block_ops = tuple(op for op in func.body.ops if is_block_op(op))
    shapes = [shape_of(loop[0].pointer.type) for loop in accesses]
    made_in = _place(block_ops, loop_of, known_from, shapes)
    scratch, size = _scratch(block_ops, loop_of, made_in)
    return Plan(tuple(steps), block_ops, loop_of, layout, scratch, size)


def _place(
    block_ops: Sequence[Op], loop_of: dict[Op, int], known_from: dict[Value, int], shapes: Sequence[tuple[int, ...]]
) -> dict[Value, int]:
    """Adds to `loop_of` the operations that are no accesses; returns the loop that makes each value.

    `known_from` is the first loop that runs after each scalar is known: later than the loop that loads a block that
    is combined with it, if a scalar access stands between.
    """
    made_in: dict[Value, int] = {}
    for op in block_ops:
        known = max((known_from.get(v, 0) for v in op.operands), default=0)
        if op not in loop_of:
            made = max((made_in.get(v, -1) for v in op.operands), default=-1)
            if -1 < made < known:
                shape = shape_of(op.result.type)
                # Without such a loop nothing uses the operation: what would is a store in one.
                made = next((i for i in range(known, len(shapes)) if shapes[i] == shape), len(shapes))
            loop_of[op] = made
        made_in.update(dict.fromkeys(op.results, loop_of[op]))
        known_from.update(dict.fromkeys(op.results, known))
    return made_in


def _must_cut(loop: Sequence[Load | Store], op: Load | Store) -> bool:
    if shape_of(loop[0].pointer.type) != shape_of(op.pointer.type):
        return True
    return isinstance(op, Store) or any(isinstance(a, Store) for a in loop)


def _run(first: int, loops: Sequence[Sequence[Load | Store]], layout: Mapping[Value, Contiguous]) -> Run:
    accesses = [op for loop in loops for op in loop]
    pointers = [op.pointer for op in accesses]
    guards = tuple(dict.fromkeys(g for p in pointers if p in layout for g in layout[p].guards))
    pairs: list[tuple[Value, Value]] | None = []
    if len({shape_of(p.type) for p in pointers}) > 1:
        pairs = None
    else:
        for number, later in enumerate(accesses):
            for earlier in accesses[:number]:
                if pairs is not None and (isinstance(earlier, Store) or isinstance(later, Store)):
                    pairs = _with_pair(pairs, earlier.pointer, later.pointer, layout)
    return Run(first, first + len(loops) - 1, None if pairs is None else tuple(dict.fromkeys(pairs)), guards)


def _with_pair(
    pairs: list[tuple[Value, Value]], earlier: Value, later: Value, layout: Mapping[Value, Contiguous]
) -> list[tuple[Value, Value]] | None:
    """`pairs` with one more to compare; None if these two cannot be compared by their first addresses."""
    if earlier not in layout or later not in layout or len(pairs) >= _MAX_PAIRS:
        return None
    return pairs if earlier is later else [*pairs, (earlier, later)]


def _scratch(
    block_ops: Sequence[Op], loop_of: Mapping[Op, int], made_in: Mapping[Value, int]
) -> tuple[dict[Value, int], int]:
    """Offsets of the values that another loop uses than the one that computes them, and the bytes they take."""
    offsets: dict[Value, int] = {}
    size = 0
    for op in block_ops:
        for value in op.operands:
            if value not in offsets and -1 < made_in.get(value, -1) < loop_of[op]:
                offsets[value] = size
                needed = bytes_in_scratch(value) * prod(shape_of(value.type))
                size += -(-needed // _CACHE_LINE) * _CACHE_LINE
    return offsets, size
