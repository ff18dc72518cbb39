"""Chooses layouts and cuts a function into segments.

Layouts: every scalar is replicated; every block of one size has one blocked layout, whose chunks are as wide as the
widest memory access (16 bytes) holds of the smallest element loaded or stored at that size.

Segments: operations that touch memory stay in order; the others go where they cost least: a scalar as early as its
operands allow (it is computed once), an operation on blocks in the first segment that uses it (so fewer values live
from one loop over registers to the next).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mytriton.ir.core import Effect, Func, Op, Value
from mytriton.ir.ops import Load, Splat, Store
from mytriton.layout.layout import Layout, blocked, replicated
from mytriton.layout.program import LaidOut, Segment
from mytriton.target import Target
from mytriton.types import BlockType, PointerType, element_of

#: The widest access a thread makes, in bytes (PTX ISA, "Vectors": .v4.b32).
VECTOR_BYTES = 16


def choose_layouts(func: Func, target: Target) -> dict[Value, Layout]:
    """The layout of every value; a thread's elements are not consecutive where there are no vectors:
    with `form="plain"`, and in the memref form, whose accesses are of one element."""
    values = [*func.params, *(v for op in func.walk() for v in op.results)]
    smallest: dict[int, int] = {}
    for op in func.walk():
        if isinstance(op, (Load, Store)) and isinstance(op.pointer.type, BlockType):
            element = element_of(op.pointer.type)
            assert isinstance(element, PointerType)
            size = op.pointer.type.shape[0]
            smallest[size] = min(smallest.get(size, VECTOR_BYTES), element.element.bytes)
    scalar = replicated(target.num_warps)
    by_size: dict[int, Layout] = {}
    layouts: dict[Value, Layout] = {}
    for value in values:
        if not isinstance(value.type, BlockType):
            layouts[value] = scalar
            continue
        (size,) = value.type.shape
        if size not in by_size:
            single = target.form == "plain" or target.abi == "memref"
            vector = 1 if single else VECTOR_BYTES // smallest.get(size, VECTOR_BYTES)
            by_size[size] = blocked(size, vector, target.num_warps)
        layouts[value] = by_size[size]
    return layouts


@dataclass
class _Draft:
    """A segment being filled; `members` are positions in the function."""

    layout: Layout | None
    members: list[int] = field(default_factory=list)
    loads: bool = False
    stores: bool = False
    barrier: bool = False


def _kind(op: Op, layouts: dict[Value, Layout]) -> Layout | None:
    """The layout an operation works in; None for a scalar."""
    layout = layouts[(op.results or op.operands)[0]]
    return layout if layout.shape else None


def _place_memory(ops: Sequence[Op], layouts: dict[Value, Layout]) -> list[_Draft]:
    """The segments, holding the operations that touch memory.

    With several registers, one loop may not mix stores with earlier loads or other stores: a thread would store
    before it has loaded all.

    A scalar belongs to every lane: each thread loads it for itself, one stores it. So the threads meet between a
    scalar access and any other access, one of which writes: else a thread might be ahead of the others and change what
    they still have to read. Two scalar stores are made by one thread, in order. What different lanes of blocks do to
    one address is not ordered (SEMANTICS "order").
    """
    drafts = [_Draft(None)]
    seen: set[tuple[bool, bool]] = set()  # (scalar, writes) of the accesses since the last barrier
    for position, op in enumerate(ops):
        if op.effect is Effect.NONE:
            continue
        kind = _kind(op, layouts)
        writes = op.effect is Effect.WRITE
        access = (kind is None, writes)
        barrier = any(_must_wait(access, earlier) for earlier in seen)
        if barrier:
            seen.clear()
        seen.add(access)
        last = drafts[-1]
        several = kind is not None and kind.registers > 1
        mixes = several and (last.stores or (writes and last.loads))
        if barrier or mixes or kind != last.layout:
            last = _Draft(kind, barrier=barrier)
            drafts.append(last)
        last.members.append(position)
        last.loads |= not writes
        last.stores |= writes
    return drafts


def _must_wait(access: tuple[bool, bool], earlier: tuple[bool, bool]) -> bool:
    (scalar, writes), (earlier_scalar, earlier_writes) = access, earlier
    one_thread = scalar and earlier_scalar and writes and earlier_writes
    return (scalar or earlier_scalar) and (writes or earlier_writes) and not one_thread


def _place_scalars(
    ops: Sequence[Op], layouts: dict[Value, Layout], drafts: list[_Draft], home: dict[Value, int]
) -> None:
    for position, op in enumerate(ops):
        if op.effect is Effect.NONE and _kind(op, layouts) is None:
            segment = max((home[v] for v in op.operands if v in home), default=0)
            drafts[segment].members.append(position)
            home.update((v, segment) for v in op.results)


def _place_blocks(
    ops: Sequence[Op], layouts: dict[Value, Layout], drafts: list[_Draft], home: dict[Value, int]
) -> None:
    first_use: dict[Value, int] = {}
    for number, draft in enumerate(drafts):
        for position in draft.members:
            for value in ops[position].operands:
                first_use.setdefault(value, number)
    for position in range(len(ops) - 1, -1, -1):
        op = ops[position]
        kind = _kind(op, layouts)
        if op.effect is not Effect.NONE or kind is None:
            continue
        segment = min((first_use[v] for v in op.results if v in first_use), default=None)
        if segment is None:  # nothing uses it: dead code, which only a skipped DCE leaves
            segment = len(drafts)
            drafts.append(_Draft(kind))
        drafts[segment].members.append(position)
        home.update((v, segment) for v in op.results)
        for value in op.operands:
            first_use[value] = min(first_use.get(value, segment), segment)


def lay_out(func: Func, target: Target) -> LaidOut:
    """Layouts for every value, and the segments the emitters print."""
    layouts = choose_layouts(func, target)
    ops = func.body.ops
    drafts = _place_memory(ops, layouts)
    home = {v: number for number, d in enumerate(drafts) for position in d.members for v in ops[position].results}
    _place_scalars(ops, layouts, drafts, home)
    _place_blocks(ops, layouts, drafts, home)
    last_use = {v: number for number, d in enumerate(drafts) for position in d.members for v in ops[position].operands}
    segments = []
    for number, draft in enumerate(drafts):
        members = tuple(ops[position] for position in sorted(draft.members))
        results = [v for op in members if not isinstance(op, Splat) for v in op.results]
        escaping = tuple(v for v in results if layouts[v].shape and last_use.get(v, number) > number)
        if members:
            segments.append(Segment(draft.layout, members, escaping, draft.barrier))
    return LaidOut(func, layouts, tuple(segments), target.num_warps)
