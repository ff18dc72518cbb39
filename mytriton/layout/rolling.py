"""Builds the pipelined form of one loop: the copies before it, and its body with those of a later trip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from mytriton.ir import ops
from mytriton.ir.core import Block, Op, Value
from mytriton.ir.ops.control import terminator, yielded
from mytriton.layout.ahead import Ahead, Maker, used, without_use
from mytriton.layout.copies import Staging
from mytriton.layout.staging import AsyncCommit, AsyncCopy, AsyncWait, Ring, Staged
from mytriton.types import ScalarType, i32


class Rolling:
    """`op` with copies into rings instead of loads. `lowest` is a bound of the loop's upper end; `copies` are those in
    the loop, by load."""

    def __init__(
        self, maker: Maker, op: ops.For, ahead: Ahead, staged: Sequence[tuple[Staging, Ring]], lowest: int
    ) -> None:
        self._maker, self._op, self._ahead, self._staged, self._lowest = maker, op, ahead, staged, lowest
        self._stages = staged[0][1].stages
        self._trips = self._stages - 1  # how far the copies are ahead
        self.copies: dict[Op, AsyncCopy] = {}
        loads = [s.load for s, _ in staged]
        needs = [v for load in loads for v in (load.pointer, load.mask) if v is not None]
        self._slots = ahead.slots(needs)
        carried, last = op.carried, yielded(op.body)
        self._params = [carried[slot] for slot in self._slots]
        self._next = [last[slot] for slot in self._slots]
        self._advances = ahead.steps(self._next)
        self._addresses = [o for o in ahead.steps(needs) if o not in self._advances]
        self._span = loads[0].span

    def run(self, definitions: Mapping[Value, Op], results: AbstractSet[int]) -> list[Op]:
        """What takes the place of the loop; `results` are the numbers of its results that are used."""
        self._lower, self._upper, self._step = (
            int(made.value) if isinstance(made := definitions.get(v), ops.Constant) else None
            for v in (self._op.lower, self._op.upper, self._op.step)
        )
        maker = self._maker
        maker.out, maker.span = [], self._span
        now = dict(zip(self._params, (self._op.initial[slot] for slot in self._slots), strict=True))
        for trip in range(self._trips):
            now = self._before(trip, now)
        limit = self._limit(self._trips)
        first = [now[param] for param in self._params]
        start = maker.constant(0, i32)
        before = maker.out
        return [*before, self._rolled(limit, first, start, results)]

    # --- before the loop ----------------------------------------------------------------------------------------------

    def _before(self, trip: int, now: dict[Value, Value]) -> dict[Value, Value]:
        """Begin the copies of a trip, if it is made; what the carried values are in the next."""
        maker, induction = self._maker, self._op.induction
        now = dict(now)
        if self._uses_induction():
            now[induction] = self._later(self._op.lower, self._lower, trip)
        runs = self._runs(trip)
        for op in self._advances:
            maker.copy(op, now)
        stage = maker.constant(trip, i32)
        self._begin(runs, now, stage)
        return {param: now.get(value, value) for param, value in zip(self._params, self._next, strict=True)}

    def _runs(self, trip: int) -> Value | bool:
        """Whether a trip is made."""
        maker, type_, offset = self._maker, self._type, trip * (self._step or 0)
        if self._lower is not None and self._upper is not None:
            return self._lower + offset < self._upper
        if self._lower is not None:
            if self._lower + offset > type_.high:
                return False
            return maker.binary(ops.CmpGt, self._op.upper, maker.constant(self._lower + offset, type_))
        limit = self._limit(trip)
        return False if limit is None else maker.binary(ops.CmpLt, self._op.lower, limit)

    def _limit(self, trip: int) -> Value | None:
        """The value below which the loop's variable is if some further trips are made; None if they never are."""
        maker, type_, offset = self._maker, self._type, trip * (self._step or 0)
        if not offset:
            return self._op.upper
        if self._upper is not None:
            return maker.constant(self._upper - offset, type_) if self._upper - offset >= type_.low else None
        upper = self._op.upper
        if self._lowest < type_.low + offset:  # or the difference might wrap
            upper = maker.binary(ops.Maximum, upper, maker.constant(type_.low + offset, type_))
        return maker.binary(ops.Sub, upper, maker.constant(offset, type_))

    @property
    def _type(self) -> ScalarType:
        type_ = self._op.induction.type
        assert isinstance(type_, ScalarType)
        return type_

    def _uses_induction(self) -> bool:
        made = (*self._advances, *self._addresses)
        return self._op.induction in self._next or any(self._op.induction in used(op) for op in made)

    def _later(self, value: Value, known: int | None, trips: int) -> Value:
        """The loop's variable some trips later. Where it wraps, that trip is not made."""
        type_, offset = self._type, trips * (self._step or 0)
        if not offset:
            return value
        if known is not None and known + offset <= type_.high:
            return self._maker.constant(known + offset, type_)
        return self._maker.binary(ops.Add, value, self._maker.constant(offset, type_), self._op.induction.hint)

    # --- copies -------------------------------------------------------------------------------------------------------

    def _begin(self, runs: Value | bool, now: dict[Value, Value], stage: Value) -> None:
        """Begin the copies of a trip for which values are as in `now`, and make them a group."""
        maker = self._maker
        outside = maker.out
        if runs is not False:
            maker.out = []
            for op in self._addresses:
                maker.copy(op, now)
            for staging, ring in self._staged:
                load = staging.load
                mask = None if load.mask is None else now.get(load.mask, load.mask)
                copy = AsyncCopy(
                    pointer=now.get(load.pointer, load.pointer), stage=stage, mask=mask, ring=ring,
                    place=staging.place, width=staging.width, span=load.span,
                )  # fmt: skip
                maker.add(copy)
                self.copies[load] = copy
            inside, maker.out = maker.out, outside
            if runs is True:
                outside += inside
            else:
                end = ops.Yield(span=self._span)
                blocks = Block((), (*inside, end)), Block((), (end,))
                maker.add(ops.If(condition=runs, then=blocks[0], orelse=blocks[1], span=self._span))
        maker.add(AsyncCommit(span=self._span))

    # --- the loop -----------------------------------------------------------------------------------------------------

    def _rolled(self, limit: Value | None, first: Sequence[Value], start: Value, results: AbstractSet[int]) -> ops.For:
        maker, op = self._maker, self._op
        ahead = [maker.value(param) for param in self._params]
        stage = Value(maker.ids.fresh(False), i32, "stage")
        maker.layouts[stage] = maker.scalar
        maker.out = []
        maker.add(AsyncWait(pending=self._trips - 1, span=self._span))
        now = dict(zip(self._params, ahead, strict=True))
        if self._uses_induction():
            now[op.induction] = self._later(op.induction, None, self._trips)
        runs = False if limit is None else maker.binary(ops.CmpLt, op.induction, limit, "more")
        for step in self._advances:
            maker.copy(step, now)
        self._begin(runs, now, self._shifted(stage, self._trips, "free"))
        following = [now.get(value, value) for value in self._next]
        for staging, ring in self._staged:
            view = Staged(stage=stage, ring=ring, results=(staging.factor,), span=staging.load.span)
            maker.out.append(view)
        copied = maker.out
        rest, kept = self._rest(results)
        maker.out = []
        next_stage = self._shifted(stage, 1, "following")
        last = terminator(op.body)
        yields = (*(last.values[slot] for slot in kept), *following, next_stage)
        end = last.evolve(values=yields)
        body = Block(
            (op.induction, *(op.carried[slot] for slot in kept), *ahead, stage), (*copied, *rest, *maker.out, end)
        )
        made = [*(op.results[slot] for slot in kept), *(maker.value(v) for v in (*ahead, stage))]
        initial = (*(op.initial[slot] for slot in kept), *first, start)
        return op.evolve(initial=initial, results=tuple(made), body=body)

    def _shifted(self, stage: Value, by: int, hint: str) -> Value:
        """The number of the buffer some trips later."""
        maker, stages = self._maker, self._stages
        moved = maker.binary(ops.Add, stage, maker.constant(by, i32))
        if stages & (stages - 1) == 0:
            return maker.binary(ops.And, moved, maker.constant(stages - 1, i32), hint)
        around = maker.binary(ops.Sub, moved, maker.constant(stages, i32))
        inside = maker.binary(ops.CmpLt, moved, maker.constant(stages, i32))
        return maker.add(ops.Select(condition=inside, if_true=moved, if_false=around), hint).result

    def _rest(self, results: AbstractSet[int]) -> tuple[list[Op], list[int]]:
        """The other operations of the body, without those that only made addresses; and the carried values that are
        still needed."""
        op, last = self._op, yielded(self._op.body)
        gone = {o for staging, _ in self._staged for o in (staging.load, *staging.views)}
        sides: dict[Op, list[str]] = {}
        for staging, _ in self._staged:
            sides.setdefault(staging.dot, []).append(staging.side)
        names = {dot: "both" if len(found) > 1 else found[0] for dot, found in sides.items()}
        body = [o.evolve(staged=names[o]) if o in names else o for o in op.body.ops[:-1] if o not in gone]
        removable = {*self._advances, *self._addresses}
        kept = {slot for slot in range(len(last)) if slot not in self._slots or slot in results}
        while True:
            rest = without_use(body, removable, [last[slot] for slot in kept])
            read = {v for o in rest for v in used(o)}
            more = {slot for slot, param in enumerate(op.carried) if param in read} - kept
            if not more:
                return rest, sorted(kept)
            kept |= more
