"""Cuts the blocks of a laid-out function into items.

Operations that touch memory, exchanges and structured operations stay in order. The others go where they cost least: a
scalar as early as its operands allow (it is computed once), an operation on blocks in the first segment that uses it
(so fewer values live from one loop over registers to the next), or in one before the item that uses it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import field
from typing import TypeAlias

from mytriton.ir import ops
from mytriton.ir.core import Block, Effect, Func, Op, Value
from mytriton.layout.layout import Layout, Map
from mytriton.layout.ops import Convert, Finish, PartialReduce
from mytriton.layout.program import Exchange, Item, Nested, Segment
from mytriton.layout.staging import AsyncCommit, AsyncWait, Staged
from mytriton.records import dataclass
from mytriton.types import shape_of

_Moves = (Convert, PartialReduce, ops.Dot, Finish, ops.Pick, ops.Gather, ops.Histogram, ops.InlineAsm)
_Exchange = (*_Moves, AsyncCommit, AsyncWait, Staged)
_Structured = (ops.For, ops.While, ops.If)

#: The place of a draft among those of its block; a scalar segment that follows one adds a number to its place.
_Order: TypeAlias = "tuple[float, ...]"
_END: _Order = (float("inf"),)


def cut(func: Func, layouts: Mapping[Value, Layout], barriers: AbstractSet[Op]) -> tuple[Item, ...]:
    """The items of a function; there is a barrier before the operations in `barriers`."""
    return _Cutter(func.body, layouts, barriers, _used(func)).items()


def _used(func: Func) -> dict[Op, Sequence[Value]]:
    """What each operation uses; a structured one also what its blocks use and do not make."""
    found: dict[Op, Sequence[Value]] = {}
    for op in reversed(list(func.walk())):  # inner ones before outer ones
        if not op.regions:
            found[op] = op.operands
            continue
        inside = [inner for block in op.regions for inner in block.ops]
        made = {v for inner in inside for v in inner.results} | {p for block in op.regions for p in block.params}
        inner_uses = dict.fromkeys(v for inner in inside for v in found[inner] if v not in made)
        found[op] = [*op.operands, *inner_uses]
    return found


@dataclass(eq=False)
class _Draft:
    """An item being made. `members` are positions in the block; that of an exchange or structured operation has one.

    `distance` is 0 for what has a fixed place; what is made for it stands before it, the farther the larger.
    """

    order: _Order
    layout: Layout | None
    members: list[int] = field(default_factory=list)
    distance: int = 0
    alone: bool = False
    barrier: bool = False
    loads: bool = False
    effects: bool = False

    @property
    def map(self) -> Map | None:
        return self.layout.map if self.layout is not None else None


@dataclass(frozen=True)
class _Ready:
    """When a value may be there: in the draft at `order`, or only `after` it. A value from outside is at ()."""

    order: _Order = ()
    after: bool = False


class _Cutter:
    def __init__(
        self,
        block: Block,
        layouts: Mapping[Value, Layout],
        barriers: AbstractSet[Op],
        used: Mapping[Op, Sequence[Value]],
    ) -> None:
        self._used = used
        self._ops = [op for op in block.ops if not isinstance(op, (ops.Yield, ops.Barrier))]
        self._yielded = [v for op in block.ops if isinstance(op, ops.Yield) for v in op.values]
        self._layouts = layouts
        self._barriers = barriers
        self._fixed: dict[_Order, _Draft] = {(0,): _Draft((0,), None)}
        self._last = self._fixed[0,]
        self._ready: dict[Value, _Ready] = {}
        self._home: dict[Value, _Draft] = {}
        # What stands before each fixed draft: by distance from it, then by layout.
        self._before: dict[_Order, dict[tuple[int, Map | None], _Draft]] = {}

    def items(self) -> tuple[Item, ...]:
        for position, op in enumerate(self._ops):
            self._fix(position, op)
        self._fixed[_END] = _Draft(_END, None, alone=True)
        self._place_blocks()
        drafts = self._merged(self._ordered())
        escaping = self._escaping(drafts)
        return tuple(self._item(draft, escaping) for draft in drafts)

    def _kind(self, op: Op) -> Layout | None:
        """The layout an operation works in; None for a scalar."""
        layout = self._layouts[(op.results or op.operands)[0]]
        return layout if layout.shape else None

    # --- in order: what has a fixed place -----------------------------------------------------------------------------

    def _fix(self, position: int, op: Op) -> None:
        """Place an operation with an effect, an exchange, a structured operation or a scalar; note when the results of
        others may be there."""
        ready = self._available(self._used[op])
        if isinstance(op, (*_Exchange, *_Structured)):
            draft = self._append(None, alone=True, barrier=op in self._barriers)
            ready = _Ready(draft.order, after=True)
        elif op.effect is not Effect.NONE:
            draft = self._memory(op, ready)
            ready = _Ready(draft.order)
        elif self._kind(op) is None:
            draft = self._scalar(op, ready)
            ready = _Ready(draft.order)
        else:
            made = self._fixed.get(ready.order)
            same = made is not None and not made.alone and made.map == self._layouts[op.result].map
            self._ready[op.result] = ready if same or not ready.order else _Ready(ready.order, after=True)
            return
        draft.members.append(position)
        for value in op.results:
            self._ready[value] = ready
            self._home[value] = draft

    def _available(self, values: Iterable[Value]) -> _Ready:
        return max((self._ready[v] for v in values if v in self._ready), key=_later, default=_Ready())

    def _append(self, layout: Layout | None, alone: bool = False, barrier: bool = False) -> _Draft:
        order = (self._last.order[0] + 1,)
        self._last = self._fixed[order] = _Draft(order, layout, alone=alone, barrier=barrier)
        return self._last

    def _memory(self, op: Op, ready: _Ready) -> _Draft:
        """With several registers, one loop may not mix stores with earlier loads or other stores: a thread would store
        before it has loaded all. Nor may it mix what is printed and asserted."""
        kind, reads, last = self._kind(op), op.effect is Effect.READ, self._last
        several = kind is not None and kind.registers > 1
        mixes = several and (last.effects or (last.loads and not reads))
        apart = last.alone or last.map != (kind.map if kind is not None else None)
        late = ready.order > last.order or (ready.order == last.order and ready.after)
        if op in self._barriers or mixes or apart or late:
            last = self._append(kind, barrier=op in self._barriers)
        last.loads |= reads
        last.effects |= not reads
        return last

    def _scalar(self, op: Op, ready: _Ready) -> _Draft:
        """The scalar segment at which the operands are there, or that follows what they come from."""
        order = ready.order or (0,)
        made = self._fixed[order]
        if not made.alone and made.layout is None and not ready.after:
            return made
        order = (*order, 1)
        if order not in self._fixed:
            self._fixed[order] = _Draft(order, None)
        return self._fixed[order]

    # --- backwards: blocks, where they are used -----------------------------------------------------------------------

    def _place_blocks(self) -> None:
        first_use: dict[Value, _Draft] = {}

        def use(values: Iterable[Value], draft: _Draft) -> None:
            for value in values:
                if value not in first_use or _place(draft) < _place(first_use[value]):
                    first_use[value] = draft

        for draft in self._fixed.values():
            for position in draft.members:
                use(self._used[self._ops[position]], draft)
        use(self._yielded, self._fixed[_END])
        for position in range(len(self._ops) - 1, -1, -1):
            op = self._ops[position]
            if op.results and op.results[0] not in self._home and not op.regions:
                # What nothing uses is dead code, which only a skipped DCE leaves.
                draft = self._draft_for(op, first_use.get(op.result, self._fixed[_END]))
                draft.members.append(position)
                self._home[op.result] = draft
                use(op.operands, draft)

    def _draft_for(self, op: Op, user: _Draft) -> _Draft:
        """The segment for an operation that `user` needs: that one, or one before it."""
        layout = self._layouts[op.result]
        if user.map == layout.map and not user.alone:
            return user
        if isinstance(op, ops.Splat):  # it is made again wherever it is used; so it stands with its scalar
            return self._scalar(op, _Ready(self._available(op.operands).order))
        ready = self._ready[op.result]
        if ready.order and not ready.after:  # where its operands are made there is a loop for it already
            return self._fixed[ready.order]
        before = self._before.setdefault(user.order, {})
        distances = [d for d, m in before if m == layout.map and d > user.distance]
        distance = min(distances, default=user.distance + 1)
        if not distances:
            before[distance, layout.map] = _Draft(user.order, layout, distance=distance)
        return before[distance, layout.map]

    # --- the result ---------------------------------------------------------------------------------------------------

    def _ordered(self) -> Iterator[_Draft]:
        for order in sorted(self._fixed):
            made = list(self._before.get(order, {}).values())
            made.sort(key=lambda draft: (draft.distance, -draft.members[-1]))
            yield from reversed(made)
            yield self._fixed[order]

    def _merged(self, drafts: Iterable[_Draft]) -> list[_Draft]:
        """Without empty ones; a segment without effects joins the one before it if that has the same loop."""
        found: list[_Draft] = []
        for draft in drafts:
            if not draft.members:
                continue
            last = found[-1] if found else None
            if draft.distance and last is not None and not last.alone and last.map == draft.map:
                last.members += draft.members
                self._home.update((v, last) for position in draft.members for v in self._ops[position].results)
            else:
                found.append(draft)
        return found

    def _escaping(self, drafts: Sequence[_Draft]) -> set[Value]:
        """What is used outside of the draft that makes it."""
        found = set(self._yielded)
        for draft in drafts:
            for position in draft.members:
                found.update(v for v in self._used[self._ops[position]] if self._home.get(v, draft) is not draft)
        return found

    def _item(self, draft: _Draft, escaping: AbstractSet[Value]) -> Item:
        members = tuple(self._ops[position] for position in sorted(draft.members))
        first = members[0]
        if isinstance(first, _Exchange):
            return Exchange(first, draft.barrier)
        if isinstance(first, _Structured):
            # Recursion follows the nesting of regions.
            blocks = tuple(_Cutter(b, self._layouts, self._barriers, self._used).items() for b in first.regions)
            return Nested(first, blocks, draft.barrier)
        results = [v for op in members if not isinstance(op, ops.Splat) for v in op.results]
        kept = tuple(v for v in results if shape_of(v.type) and v in escaping)
        return Segment(draft.layout, members, kept, draft.barrier)


def _later(ready: _Ready) -> tuple[_Order, bool]:
    return ready.order, ready.after


def _place(draft: _Draft) -> tuple[_Order, int]:
    return draft.order, -draft.distance
