"""Where the threads of a program must wait for each other, so that memory is accessed in the order of the statements.

What one lane does to one address is ordered, and lanes are ordered across a reduction or a `Barrier` (SEMANTICS
"order"). A lane's element is with one thread as long as the layout stays. So threads meet between two accesses, one of
which writes:

- to a scalar, by either: it belongs to every lane; each thread loads it for itself, one stores it;
- to blocks of one size whose layouts differ, or of which the one that is loaded is held in copies that are used: one
  thread stores what the others have to read before. Stores of copies are made by one thread, in order, but assembly
  is run by all who hold copies;
- across a reduction or a `Barrier`, where no exchange has made them wait.

Copies that are loaded while lanes of another block store to their addresses may differ, as those lanes are not ordered.
But where such a value decides the way that is taken, all threads must take the same; so they meet there, too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TypeAlias

from mytriton.ir import ops
from mytriton.ir.core import Block, Func, Op, Value, walk
from mytriton.ir.ops.control import yielded
from mytriton.layout.dots import puts
from mytriton.layout.layout import Layout
from mytriton.layout.ops import Convert, Finish, PartialReduce
from mytriton.layout.staging import AsyncCopy, AsyncWait
from mytriton.records import dataclass
from mytriton.types import shape_of


@dataclass(frozen=True, slots=True)
class _Access:
    """An access since the threads last met, by its layout; `fenced`: a reduction or `Barrier` came after it;
    `spreads`: copies of what is loaded, if there are some, are used by more than the thread that stores such a block;
    `decides`: they decide a way; `everyone`: it is assembly, which all who hold copies run. `layout` is None for reads
    of shared memory: of the exchange buffer, or `staged`, of what was copied there ahead."""

    layout: Layout | None
    writes: bool = False
    fenced: bool = False
    spreads: bool = False
    decides: bool = False
    everyone: bool = False
    staged: bool = False


_State: TypeAlias = "frozenset[_Access]"
#: The accesses that are not ordered yet, and the barriers: before what, and why.
_Found: TypeAlias = "tuple[_State, dict[Op, str]]"
_BUFFER, _RINGS = _Access(None), _Access(None, staged=True)
_BUFFER_READ = "the buffer in shared memory may still be read"


def uses_shared_memory(op: Op) -> bool:
    """Whether an operation moves data through the exchange buffer, and so waits for all threads inside."""
    match op:
        case ops.Dot():
            return bool(puts(op))
        case ops.Gather() | ops.Histogram():
            return True
        case ops.Pick(through="shared") | Convert(through="shared") | PartialReduce(across="warps"):
            return True
    return False


def barriers(func: Func, layouts: Mapping[Value, Layout], reductions: Collection[Op]) -> dict[Op, str]:
    """The operations before which all threads wait, and why. `reductions` end a reduction each."""
    return _Order(func, layouts, reductions).block(func.body, frozenset())[1]


def _deciding(func: Func) -> list[Value]:
    """Conditions and bounds."""
    found: list[Value] = []
    for op in func.walk():
        match op:
            case ops.While():
                found += yielded(op.condition)
            case ops.For():
                found += (op.lower, op.upper, op.step)
            case ops.If():
                found.append(op.condition)
    return found


def _spread(func: Func) -> list[Value]:
    """What threads take from each other, or from copies that are not those of a block they store."""
    found: list[Value] = []
    for op in func.walk():
        match op:
            case Convert() | PartialReduce() | ops.Pick() | ops.Gather() | ops.Broadcast():
                found.append(op.source)
            case ops.Dot():
                found += (op.lhs, op.rhs)
            case ops.Reshape() if not shape_of(op.result.type):
                found.append(op.source)
    return found


def _origins(func: Func, values: list[Value]) -> set[Value]:
    """The values that any of `values` is made from, and these."""
    sources: dict[Value, list[Value]] = {}
    for op in func.walk():
        inner = [v for block in op.regions for v in yielded(block)]
        made = [*op.results, *(p for block in op.regions for p in block.params)]
        sources.update((v, [*op.operands, *inner]) for v in made)
    found: set[Value] = set()
    while values:
        value = values.pop()
        if value not in found:
            found.add(value)
            values += sources.get(value, ())
    return found


class _Order:
    def __init__(self, func: Func, layouts: Mapping[Value, Layout], reductions: Collection[Op]) -> None:
        self._layouts = layouts
        self._reductions = reductions
        self._func = func
        self._known: dict[tuple[Block, _State], _Found] = {}
        # Rings lie behind what the exchanges of their own loop need of the buffer; others have it all.
        loops = (op.body for op in func.walk() if isinstance(op, ops.For))
        pipelined = (body for body in loops if any(isinstance(inner, AsyncWait) for inner in body.ops))
        self._beside_rings = {inner for body in pipelined for inner in walk(body)}

    @cached_property
    def _spread(self) -> set[Value]:
        return _origins(self._func, [*_spread(self._func), *_deciding(self._func)])

    @cached_property
    def _decides(self) -> set[Value]:
        return _origins(self._func, _deciding(self._func))

    def block(self, block: Block, state: _State) -> _Found:
        """What is not ordered yet after the block, given what is not before it, and the barriers in it. Kept, since a
        loop looks at its body until nothing new comes from the end to the beginning."""
        before = state
        if (block, before) not in self._known:
            found: dict[Op, str] = {}
            for op in block.ops:
                state, more = self._op(op, state)
                found |= more
            self._known[block, before] = state, found
        return self._known[block, before]

    def _op(self, op: Op, state: _State) -> _Found:
        match op:
            case ops.If() | AsyncCopy() if self._copies(op) and self._overwrites(op, state):
                after, found = self._op(op, frozenset())
                return after, {op: _BUFFER_READ, **found}
            case ops.If():
                (after, found), (other, more) = (self.block(b, state) for b in op.regions)
                return after | other, found | more
            case ops.For():
                return self._loop((op.body,), state)
            case ops.While():
                return self._loop((op.condition, op.body), state)
            case AsyncWait():  # all threads meet in it
                return frozenset(), {}
            case ops.Dot(begun=True):  # until it is finished
                return state, {}
            case Finish():
                return state | {_RINGS}, {}
            case ops.Dot() if not puts(op):
                return state | {_RINGS}, {}
            case _ if uses_shared_memory(op):
                after = frozenset({_BUFFER, _RINGS} if isinstance(op, ops.Dot) and op.staged else {_BUFFER})
                return after, {op: _BUFFER_READ} if self._overwrites(op, state) else {}
            case AsyncCopy() | ops.Load() | ops.Store() | ops.Atomic() | ops.InlineAsm(touches_memory=True):
                access = self._access(op)
                reasons = sorted({why for earlier in state if (why := _conflict(access, earlier))})
                if reasons:
                    return frozenset({access}), {op: reasons[0]}
                return state | {access}, {}
        if isinstance(op, (PartialReduce, ops.Barrier)) or op in self._reductions:
            state = frozenset(replace(a, fenced=a.layout is not None) for a in state)
        return state, {}

    def _copies(self, op: Op) -> bool:
        """Whether an operation, or what it decides about, copies something to a ring."""
        within = op.then.ops if isinstance(op, ops.If) else (op,)
        return any(isinstance(inner, AsyncCopy) for inner in within)

    def _overwrites(self, op: Op, state: _State) -> bool:
        """Whether an operation writes what may still be read in shared memory."""
        if op not in self._beside_rings:
            return _BUFFER in state or _RINGS in state
        return (_RINGS if self._copies(op) else _BUFFER) in state

    def _access(self, op: AsyncCopy | ops.Load | ops.Store | ops.Atomic | ops.InlineAsm) -> _Access:
        layout = self._layouts[op.results[0] if isinstance(op, ops.InlineAsm) else op.pointer]
        layout = layout.reshaped((layout.size,)) if layout.shape else layout
        if isinstance(op, (ops.Atomic, ops.InlineAsm)) and layout.size == 1:  # a scalar: it belongs to every lane
            layout = layout.reshaped(())
        if isinstance(op, AsyncCopy):  # for all threads
            return _Access(layout, spreads=True)
        if not isinstance(op, ops.Load):  # what assembly does is not known, so it may write
            return _Access(layout, writes=True, everyone=isinstance(op, ops.InlineAsm) and layout.copies > 1)
        if layout.copies == 1:
            return _Access(layout)
        spreads, decides = (op.result in found for found in (self._spread, self._decides))
        return _Access(layout, spreads=spreads, decides=decides)

    def _loop(self, blocks: tuple[Block, ...], state: _State) -> _Found:
        """A loop, whose last block may be left out the last time, or every time."""
        while True:
            after, found = state, dict[Op, str]()
            for block in blocks:
                end, (after, more) = after, self.block(block, after)
                found |= more
            if after <= state:
                return end, found
            state |= after


def _conflict(access: _Access, earlier: _Access) -> str:
    """Why the threads must meet between two accesses; "" if they need not."""
    first, second = earlier.layout, access.layout
    if first is None or second is None or not (earlier.writes or access.writes):
        return ""
    if earlier.fenced:
        return "a reduction or a barrier of the author's orders the accesses before and after it"
    scalars = (not first.shape, not second.shape)
    if any(scalars):
        stores = all(scalars) and earlier.writes and access.writes
        return "" if stores else "every thread loads the scalar, and one stores it"
    copied = [a for a in (earlier, access) if not a.writes and a.layout is not None and a.layout.copies > 1]
    if first.size == second.size and any(a.spreads for a in copied):
        return "several threads load each element, and one stores it"
    if first.size == second.size and (earlier.everyone or access.everyone):
        return "several threads run the assembly for each element"
    if first.size == second.size and first != second:
        return "the elements were with other threads before"
    return "all threads must see one value to take one way" if any(a.decides for a in copied) else ""
