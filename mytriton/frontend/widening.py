"""A function of single elements, done for all elements of a block at once.

Its operations were lowered on scalars, and are made again on blocks: those that depend on an element become blocks, the
others stay scalars. Where elements take different ways, all ways are taken, each for those elements that take it: both
branches of an `if` are computed and their results chosen from, a loop goes on as long as an element needs it, and what
touches memory has a mask (Allen, Kennedy, Porterfield and Warren, "Conversion of control dependence to data
dependence", 1983). So there is no operation of this kind in the IR, and every backend takes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from mytriton.frontend.lanes import Lanes
from mytriton.ir import ops
from mytriton.ir.core import Block, Effect, Op, Value, walk
from mytriton.ir.ops.control import yielded
from mytriton.types import INTEGERS, BlockType, ScalarType, Type, element_of

#: What a trip of a loop makes of the carried values, and which elements need another one.
_Trip = Callable[[Sequence[Value]], "tuple[Sequence[Value], Value]"]


class Widening(Lanes):
    """Does the operations of a function for blocks."""

    def run(self, body: Iterable[Op]) -> None:
        """The operations of a block. Recursion follows the nesting of regions."""
        for op in body:
            self._builder.span = op.span
            match op:
                case ops.If():
                    self._if(op)
                case ops.For():
                    self._for(op)
                case ops.While():
                    self._while(op)
                case _ if not isinstance(op, ops.Yield):
                    self.plain(op)

    # --- regions ------------------------------------------------------------------------------------------------------

    @contextmanager
    def _region(self) -> Iterator[list[Op]]:
        outer, self._builder.ops = self._builder.ops, []
        try:
            yield self._builder.ops
        finally:
            self._builder.ops = outer

    def _hand(self, values: Sequence[Value], varying: Sequence[bool]) -> tuple[Value, ...]:
        """Values as they go to a place that differs from element to element, or does not."""
        pairs = zip(values, varying, strict=True)
        return tuple([self.block(v) if varies else self._scalar(v) for v, varies in pairs])

    def _yield(self, values: Iterable[Value]) -> None:
        self._builder.append(ops.Yield(values=tuple(values)))

    def _fresh(self, type_: Type) -> Value:
        return Value(self._builder.ids.fresh(False), type_)

    def _params(self, old: Sequence[Value], varying: Sequence[bool]) -> tuple[Value, ...]:
        """The parameters of a block that stand for those of the function's."""
        for value, varies in zip(old, varying, strict=True):
            type_ = BlockType(self._shape, element_of(value.type)) if varies else value.type
            self._set(value, self._fresh(type_), varies)
        return tuple(self._now[value] for value in old)

    def _also(self, varying: Sequence[bool], values: Sequence[Value]) -> list[bool]:
        return [varies or v in self._varying for varies, v in zip(varying, values, strict=True)]

    # --- branches -----------------------------------------------------------------------------------------------------

    def _if(self, op: ops.If) -> None:
        if op.condition in self._varying:
            mask = self.block(op.condition)
            sides = []
            for region in op.regions:
                with self._only(self._side(op, region, mask)):
                    self.run(region.ops)
                self._builder.span = op.span
                sides.append(self._blocks(yielded(region)))
            for old, first, second in zip(op.results, *sides, strict=True):
                self._set(old, self._choose(mask, first, second))
            return
        made = []
        for region in op.regions:
            with self._region() as inner:
                self.run(region.ops)
            made.append(inner)
        varying = self._also(self._also([False] * len(op.results), yielded(op.then)), yielded(op.orelse))
        blocks = []
        for region, inner in zip(op.regions, made, strict=True):
            with self._region() as end:
                self._yield(self._hand(yielded(region), varying))
            blocks.append(Block((), (*inner, *end)))
        self._replace(op, op.evolve(condition=self._scalar(op.condition), then=blocks[0], orelse=blocks[1]), varying)

    def _side(self, op: ops.If, region: Block, mask: Value) -> Value | None:
        """The elements that take a side, if anything in it asks."""
        if not any(isinstance(o, (ops.For, ops.While)) or o.effect is not Effect.NONE for o in walk(region)):
            return self._active
        mask = mask if region is op.then else self._builder.add(ops.Not, source=mask)
        return self._and(self._active, mask)

    def _replace(self, op: Op, new: Op, varying: Sequence[bool]) -> None:
        """Append what stands for a structured operation."""
        done = self._builder.append(new.evolve(results=()))
        for old, result, varies in zip(op.results, done.results, varying, strict=True):
            self._set(old, result, varies)

    # --- loops --------------------------------------------------------------------------------------------------------

    def _for(self, op: ops.For) -> None:
        bounds = op.lower, op.upper, op.step
        if any(v in self._varying for v in bounds):
            self._count(op)
            return
        varying = self._also([False] * len(op.results), op.initial)
        while True:  # a carried value differs if it ever does
            with self._region() as made:
                params = self._params(op.body.params, [False, *varying])
                self.run(op.body.ops)
                self._yield(self._hand(yielded(op.body), varying))
            if varying == (varying := self._also(varying, yielded(op.body))):
                break
        lower, upper, step = map(self._scalar, bounds)
        body, initial = Block(params, tuple(made)), self._hand(op.initial, varying)
        self._replace(op, op.evolve(lower=lower, upper=upper, step=step, initial=initial, body=body), varying)

    def _while(self, op: ops.While) -> None:
        varying = self._also([False] * len(op.results), op.initial)
        (test,) = yielded(op.condition)
        while True:
            with self._region() as tested:
                tests = self._params(op.condition.params, varying)
                self.run(op.condition.ops)
                self._yield([self._scalar(test)])
            if test in self._varying:
                self._repeat(op)
                return
            with self._region() as made:
                params = self._params(op.body.params, varying)
                self.run(op.body.ops)
                self._yield(self._hand(yielded(op.body), varying))
            if varying == (varying := self._also(varying, yielded(op.body))):
                break
        condition, body = Block(tests, tuple(tested)), Block(params, tuple(made))
        initial = self._hand(op.initial, varying)
        self._replace(op, op.evolve(initial=initial, condition=condition, body=body), varying)

    def _repeat(self, op: ops.While) -> None:
        """A `while` that elements leave at different times."""
        (test,) = yielded(op.condition)

        def going(values: Sequence[Value]) -> Value:
            for old, new in zip(op.condition.params, values, strict=True):
                self._set(old, new)
            self.run(op.condition.ops)
            return self.block(test)

        def trip(values: Sequence[Value]) -> tuple[Sequence[Value], Value]:
            for old, new in zip(op.body.params, values, strict=True):
                self._set(old, new)
            self.run(op.body.ops)
            changed = self._blocks(yielded(op.body))
            return changed, going(changed)

        initial = self._blocks(op.initial)
        self._trips(op, initial, going(initial), trip, op.results)

    def _count(self, op: ops.For) -> None:
        """A `for` whose bounds differ from element to element. What is left to go is counted without a sign, so that
        no step passes the end of the type."""
        b = self._builder
        lower, upper, step = self._blocks((op.lower, op.upper, op.step))
        type_ = element_of(lower.type)
        assert isinstance(type_, ScalarType)
        bits = next(t for t in INTEGERS if t.bits == type_.bits and not t.signed)
        zero = b.constant(0, type_, self._shape)
        up, down = b.add(ops.CmpGt, lhs=step, rhs=zero), b.add(ops.CmpLt, lhs=step, rhs=zero)
        size = b.cast(self._choose(up, step, b.add(ops.Neg, source=step)), bits)
        started = b.add(
            ops.Or,
            lhs=b.add(ops.And, lhs=up, rhs=b.add(ops.CmpLt, lhs=lower, rhs=upper)),
            rhs=b.add(ops.And, lhs=down, rhs=b.add(ops.CmpGt, lhs=lower, rhs=upper)),
        )

        def trip(values: Sequence[Value]) -> tuple[Sequence[Value], Value]:
            for old, new in zip(op.body.params, values, strict=True):
                self._set(old, new)
            self.run(op.body.ops)
            b.span, at = op.span, values[0]
            left = self._choose(up, b.add(ops.Sub, lhs=upper, rhs=at), b.add(ops.Sub, lhs=at, rhs=upper))
            more = b.add(ops.CmpGt, lhs=b.cast(left, bits), rhs=size)
            return [b.add(ops.Add, lhs=at, rhs=step), *self._blocks(yielded(op.body))], more

        unused = Value("", lower.type)
        self._trips(op, [lower, *self._blocks(op.initial)], started, trip, (unused, *op.results))

    def _trips(self, op: Op, initial: Sequence[Value], going: Value, trip: _Trip, results: Sequence[Value]) -> None:
        """A loop that each element leaves by itself: it ends when the last one has. `going` are those that start."""
        started = self._and(self._active, going)
        assert started is not None
        tests, params = ([self._fresh(v.type) for v in (started, *initial)] for _ in range(2))
        with self._region() as tested:
            self._yield([self._any(tests[0])])
        with self._region() as made:
            with self._only(params[0]):
                changed, more = trip(params[1:])
            self._builder.span = op.span
            kept = [self._choose(params[0], new, old) for new, old in zip(changed, params[1:], strict=True)]
            self._yield([self._builder.add(ops.And, lhs=params[0], rhs=more), *kept])
        blocks = Block(tuple(tests), tuple(tested)), Block(tuple(params), tuple(made))
        loop = ops.While(initial=(started, *initial), condition=blocks[0], body=blocks[1], span=op.span)
        for old, new in zip(results, self._builder.append(loop).results[1:], strict=True):
            self._set(old, new)
