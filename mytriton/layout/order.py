"""Where the threads of a program must wait for each other, so that memory is accessed in the order of the statements.

What one lane does to one address is ordered, and lanes are ordered across a reduction (SEMANTICS "order"). A lane's
element is with one thread as long as the layout stays. So threads meet between two accesses, one of which writes:

- to a scalar, by either: it belongs to every lane; each thread loads it for itself, one stores it;
- to blocks of one size whose layouts differ, or of which the one that is loaded is held in copies: one thread stores
  what the others have to read before. Stores of copies are made by one thread, in order;
- across a reduction, where no exchange has made them wait.

Copies that are loaded while lanes of another block store to their addresses may differ, as those lanes are not ordered.
But where such a value decides the way that is taken, all threads must take the same; so they meet there, too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import TypeAlias

from mytriton.ir import ops
from mytriton.ir.core import Block, Func, Op, Value
from mytriton.ir.ops.control import yielded
from mytriton.layout.layout import Layout
from mytriton.layout.ops import Convert, PartialReduce


@dataclass(frozen=True, slots=True)
class _Access:
    """An access since the last barrier, by its layout; `reduced`: a reduction came after it; `decides`: what is loaded
    decides a way. `layout` is None for the reads of the exchange buffer."""

    layout: Layout | None
    writes: bool = False
    reduced: bool = False
    decides: bool = False


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
    return _Order(layouts, reductions, _deciding(func)).block(func.body, frozenset())[1]


def _deciding(func: Func) -> set[Value]:
    """The values that a condition or a bound is made from."""
    sources: dict[Value, list[Value]] = {}
    found: list[Value] = []
    for op in func.walk():
        inner = [v for block in op.regions for v in yielded(block)]
        made = [*op.results, *(p for block in op.regions for p in block.params)]
        sources.update((v, [*op.operands, *inner]) for v in made)
        match op:
            case ops.While():
                found += yielded(op.condition)
            case ops.For():
                found += (op.lower, op.upper, op.step)
            case ops.If():
                found.append(op.condition)
    deciding: set[Value] = set()
    while found:
        value = found.pop()
        if value not in deciding:
            deciding.add(value)
            found += sources.get(value, ())
    return deciding


class _Order:
    def __init__(
        self, layouts: Mapping[Value, Layout], reductions: Collection[Op], deciding: AbstractSet[Value]
    ) -> None:
        self._layouts = layouts
        self._reductions = reductions
        self._deciding = deciding
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
                access = self._access(op)
                if any(_must_wait(access, earlier) for earlier in state):
                    return frozenset({access}), frozenset({op})
                return state | {access}, frozenset()
        if isinstance(op, PartialReduce) or op in self._reductions:
            state = frozenset(replace(a, reduced=a.layout is not None) for a in state)
        return state, frozenset()

    def _access(self, op: ops.Load | ops.Store) -> _Access:
        layout = self._layouts[op.pointer]
        layout = layout.reshaped((layout.size,)) if layout.shape else layout
        return _Access(layout, isinstance(op, ops.Store), decides=any(v in self._deciding for v in op.results))

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
    copied = [a for a in (earlier, access) if not a.writes and a.layout is not None and a.layout.copies > 1]
    if first.size == second.size:
        return bool(copied) or first != second
    return any(a.decides for a in copied)
