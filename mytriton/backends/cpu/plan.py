"""What the plan of a function says: the steps of each of its blocks, and where blocks of elements are kept.

The interpreter finishes each operation on the whole block before the next. A loop runs a chain of operations chunk by
chunk instead, which shows only where memory is written: so a loop that stores does nothing else to memory. Values are
computed in the first loop that can, and kept in scratch memory for later loops and other steps; what only depends on
indices is computed again where it is needed, and what only moves elements is read where they are (`views.py`).

Loops that no other access of memory separates form a *run*. Its loops may be fused into one if no element that one
access writes is touched by another in a different chunk, which is decided at run time from the first addresses.
`planner.py` makes plans.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from math import prod
from typing import ClassVar, TypeGuard

from mytriton.analysis.runs import size_of
from mytriton.backends.cpu.access import Groups
from mytriton.backends.cpu.host import CACHE_LINE
from mytriton.backends.cpu.views import View, compose, identity, view_through
from mytriton.ir import ops
from mytriton.ir.core import Block, Effect, Op, Value, operands
from mytriton.ir.ops import Load, Store
from mytriton.records import dataclass
from mytriton.types import BlockType, PointerType, Type, element_of, shape_of

#: More run-time comparisons than this cost more than fusing gains.
_MAX_PAIRS = 64

#: Bytes of a row from which on others are kept apart from it.
_LONG_ROW = 256

#: What a function does with whole blocks in memory.
WHOLE = (ops.Dot, ops.Pick, ops.Gather, ops.Histogram, ops.Atomic)

#: The loop of what is in scratch memory from the start.
OUTSIDE = -1


@dataclass(frozen=True, eq=False, kw_only=True)
class Move(Op):
    """Keeps `values`, blocks of one size, where `targets` are kept; all are read before one is written."""

    opcode: ClassVar[str] = "move"
    effect: ClassVar[Effect] = Effect.WRITE
    values: tuple[Value, ...] = operands()
    targets: tuple[Value, ...] = ()

    def type_rule(self) -> tuple[Type, ...]:
        return ()


@dataclass(slots=True)
class Loop:
    """A loop over the positions of blocks of `size` elements. `ops` are what is done in it, in the order of the
    function."""

    size: int
    ops: list[Op] = field(default_factory=list)

    @property
    def accesses(self) -> list[Load | Store]:
        """The loads and stores."""
        return [op for op in self.ops if isinstance(op, (Load, Store))]


@dataclass(frozen=True, slots=True)
class Rows:
    """How the rows of a matrix are kept: those of `columns` columns each, `row` elements apart; and `panel` elements
    after the first row of these, those of the next columns."""

    columns: int
    row: int
    panel: int

    def elements(self, shape: Sequence[int]) -> int:
        """The elements for which there must be room."""
        return max(shape[-1] // self.columns * self.panel, prod(shape[:-1]) * self.row)


@dataclass(frozen=True, slots=True)
class Run:
    """Loops `first` to `last`, of one size. `pairs` are the pointer blocks of two accesses, in order, that must not
    overlap ahead of the loop for it to be fused; None if the loops cannot be fused."""

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
    """`steps` are, for each block of the function, single operations and runs, in the order to execute.

    made_in    the loop that makes each value that is made once; OUTSIDE for what is in scratch memory anyway
    last_use   the last loop that needs a value, where that is not the one which makes it; n - 0.5 for what is done
               before loop n
    slots      the byte offsets at which values are kept, and what operations need for themselves
    rows       how the rows are kept of values that are not kept one row after the other
    ahead      what each run, by the number of its first loop, is to fetch for the next program or trip
    past       the stores that may go past the caches
    in_place   loaded values that are kept only if they cannot be read where they are loaded from
    order      the position of each operation in the function
    """

    steps: Mapping[Block, Sequence[Op | Run]]
    loops: Sequence[Loop]
    made_in: Mapping[Value, int]
    last_use: Mapping[Value, float]
    slots: Mapping[Value | Op, int]
    scratch_bytes: int
    rows: Mapping[Value, Rows]
    ahead: Mapping[int, Sequence[Load]]
    past: Collection[Store]
    in_place: Collection[Value]
    groups: Mapping[Value, Groups]
    definitions: Mapping[Value, Op]
    order: Mapping[Op, int]

    def accesses(self, run: Run) -> list[Load | Store]:
        """The loads and stores of a run."""
        return [op for loop in self.loops[run.first : run.last + 1] for op in loop.accesses]

    def resolve(self, value: Value, view: View | None = None) -> tuple[Value, View]:
        """The value whose elements `value` has, and their view in a loop in which that of `value` is `view`."""
        return resolve(self.definitions, value, view)

    def constant_group(self, value: Value) -> int:
        """In every aligned group of so many elements all are equal."""
        known = self.groups.get(value)  # copies of the plan's own have none
        return known.constant if known is not None else 1

    def is_vector_access(self, op: Load | Store, width: int, guarded: bool) -> bool:
        """Whether a load or store touches consecutive elements in each chunk; `guarded` says that guards hold."""
        known = self.groups[op.pointer]
        return known.contiguous >= width > 1 and (guarded or not known.guards)

    def is_contiguous(self, value: Value) -> bool:
        """Whether all elements of a block are consecutive where its guards hold."""
        return is_contiguous(self.groups, value)


def resolve(definitions: Mapping[Value, Op], value: Value, view: View | None = None) -> tuple[Value, View]:
    """See `Plan.resolve`."""
    view = identity(value) if view is None else view
    while (through := view_through(definitions.get(value))) is not None:
        value, view = through[0], compose(through[1], view)
    return value, view


def unshaped(definitions: Mapping[Value, Op], value: Value) -> Value:
    """What a block is another shape of."""
    root, view = resolve(definitions, value)
    return root if size_of(root) == size_of(value) and view == identity(root) else value


def is_contiguous(groups: Mapping[Value, Groups], value: Value) -> bool:
    """See `Plan.is_contiguous`. Consecutive elements are computed from indices; a single one may be anything."""
    return 1 < size_of(value) == groups[value].contiguous


def is_block_op(op: Op) -> bool:
    """Whether the operation is done for each element of a block. Reductions are not, nor is what has regions or is done
    with whole blocks at once."""
    if isinstance(op, Store):
        return isinstance(op.pointer.type, BlockType)
    if isinstance(op, WHOLE) or (isinstance(op, ops.Reduce) and view_through(op) is None):
        return False
    return len(op.results) == 1 and not op.regions and isinstance(op.result.type, BlockType)


def is_spread_scalar(op: Op | None) -> TypeGuard[ops.Splat | ops.Reshape]:
    """Whether the operation makes a block of a scalar."""
    return isinstance(op, (ops.Splat, ops.Reshape)) and not shape_of(op.source.type)


def element_bytes(value: Value) -> int:
    """Bytes one element of a kept value takes; a pointer takes 8, a bool 1."""
    element = element_of(value.type)
    return 8 if isinstance(element, PointerType) else element.bytes


def blocks_among(values: Sequence[Value]) -> list[Value]:
    """The values that are no scalars."""
    return [v for v in values if shape_of(v.type)]


def must_cut(loop: Loop, op: Load | Store) -> bool:
    """Whether an access cannot be in a loop that has accesses already: a store is alone in its loop."""
    return bool(loop.accesses) if isinstance(op, Store) else any(isinstance(a, Store) for a in loop.accesses)


def factor_rows(value: Value, panel: int = 0) -> Rows:
    """How a factor should be kept, in panels of so many columns if there are more. What is a large power of two apart
    would compete for few places in the cache, so there is a cache line between rows, and between panels."""
    *rows, columns = shape_of(value.type)
    size, gap = element_bytes(value), CACHE_LINE // element_bytes(value)
    if 0 < panel < columns and len(rows) == 1:
        return Rows(panel, panel, rows[0] * panel + gap)
    return Rows(columns, columns + (gap if columns * size >= _LONG_ROW else 0), 0)


def make_run(loops: Sequence[Loop], first: int, groups: Mapping[Value, Groups]) -> Run:
    """The run of the loops from `first` on."""
    accesses = [op for loop in loops[first:] for op in loop.accesses]
    guards = tuple(dict.fromkeys(g for op in accesses for g in groups[op.pointer].guards))
    pairs: dict[tuple[Value, Value], None] = {}
    for number, later in enumerate(accesses):
        for earlier in accesses[:number]:
            if not isinstance(earlier, Store) and not isinstance(later, Store):
                continue
            pointers = earlier.pointer, later.pointer
            whole = all(is_contiguous(groups, p) for p in pointers)
            if not whole or len(pairs) >= _MAX_PAIRS:  # they cannot be compared by their first addresses
                return Run(first, len(loops) - 1, None, guards)
            if earlier.pointer is not later.pointer:
                pairs[pointers] = None
    return Run(first, len(loops) - 1, tuple(pairs), guards)
