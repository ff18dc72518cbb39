"""Where the threads of a program must wait for each other, so that memory is accessed in the order of the statements.

A scalar belongs to every lane: each thread loads it for itself, one stores it. Blocks smaller than the threads, and
slices, are loaded in copies. So the threads meet between such an access and another one of which one writes: else a
thread might be ahead of the others and change what they still have to read, and copies would differ. Stores of copies
are made by one thread, in order. Two accesses to blocks of one size also meet if their layouts differ, since a lane's
element then is another thread's. What different lanes of blocks do to one address is not ordered, except across a
reduction (SEMANTICS "order").
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from mytriton.ir import ops
from mytriton.ir.core import Block, Effect, Func, Op, Value
from mytriton.layout.layout import Layout
from mytriton.layout.ops import Convert, PartialReduce


@dataclass(frozen=True, slots=True)
class _Access:
    """An access since the last barrier, by its layout; `reduced`: a reduction came after it. `layout` is None for the
    reads of the exchange buffer."""

    layout: Layout | None
    writes: bool = False
    reduced: bool = False


_State: TypeAlias = "frozenset[_Access]"
_Found: TypeAlias = "tuple[_State, frozenset[Op]]"
_BUFFER = _Access(None)


def uses_shared_memory(op: Op) -> bool:
    """Whether an operation moves data through the exchange buffer, and so waits for all threads inside."""
    return (isinstance(op, Convert) and op.through == "shared") or (
        isinstance(op, PartialReduce) and op.across == "warps"
    )


def barriers(func: Func, layouts: Mapping[Value, Layout], reductions: Collection[Op]) -> frozenset[Op]:
    """The operations before which all threads wait. `reductions` end a reduction each."""
    return _Order(layouts, reductions).block(func.body, frozenset())[1]


class _Order:
    def __init__(self, layouts: Mapping[Value, Layout], reductions: Collection[Op]) -> None:
        self._layouts = layouts
        self._reductions = reductions
        self._known: dict[tuple[Block, _State], _Found] = {}

    def block(self, block: Block, state: _State) -> _Found:
        """What is not ordered yet after the block, given what is not before it, and the barriers in it. Kept, since a
        loop looks at its body until nothing new comes from the end to the beginning."""
        before = state
        if (block, before) not in self._known:
            found: set[Op] = set()
            for op in block.ops:
                state, more = self._op(op, state)
                found |= more
            self._known[block, before] = state, frozenset(found)
        return self._known[block, before]

    def _op(self, op: Op, state: _State) -> _Found:
        match op:
            case ops.If():
                ends = [self.block(b, state) for b in op.regions]
                return frozenset[_Access]().union(*(e for e, _ in ends)), frozenset[Op]().union(*(f for _, f in ends))
            case ops.For():
                return self._loop((op.body,), state)
            case ops.While():
                return self._loop((op.condition, op.body), state)
            case Convert() | PartialReduce() if uses_shared_memory(op):
                return frozenset({_BUFFER}), frozenset({op} if _BUFFER in state else ())
            case ops.Load() | ops.Store():
                layout = self._layouts[op.pointer]
                access = _Access(layout.reshaped((layout.size,)) if layout.shape else layout, op.effect is Effect.WRITE)
                if any(_must_wait(access, earlier) for earlier in state):
                    return frozenset({access}), frozenset({op})
                return state | {access}, frozenset()
        if isinstance(op, PartialReduce) or op in self._reductions:
            state = frozenset(replace(a, reduced=a.layout is not None) for a in state)
        return state, frozenset()

    def _loop(self, blocks: tuple[Block, ...], state: _State) -> _Found:
        """A loop, whose last block may be left out the last time, or every time."""
        while True:
            after, found = state, frozenset[Op]()
            for block in blocks:
                end, (after, more) = after, self.block(block, after)
                found |= more
            if after <= state:
                return end, found
            state |= after


def _must_wait(access: _Access, earlier: _Access) -> bool:
    first, second = earlier.layout, access.layout
    if first is None or second is None or not (earlier.writes or access.writes):
        return False
    if earlier.reduced:
        return True
    scalars = (not first.shape, not second.shape)
    if any(scalars):
        return not (all(scalars) and earlier.writes and access.writes)
    copied = (not earlier.writes and first.copies > 1) or (not access.writes and second.copies > 1)
    return copied or (first.size == second.size and first != second)
