"""Loops: `range` and `while` at run time, with the names that change in them as carried values; `static_range`."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from mytriton.diagnostics import Label
from mytriton.frontend import limits
from mytriton.frontend import tree as t
from mytriton.frontend.branches import Branches
from mytriton.frontend.carry import Carry, holds_poison, loop_variables
from mytriton.frontend.ranges import Bounds, loop_bounds
from mytriton.frontend.regions import Differ, block, realized, same, substitute
from mytriton.frontend.scope import ON, Flow
from mytriton.frontend.values import POISON, Item, Known, Mistake, Poison, Silent, is_poison
from mytriton.ir import ops
from mytriton.ir.core import Op, Value
from mytriton.source import Span
from mytriton.types import Type

_STATIC = "write tl.static_range, which unrolls the loop: its variable is a constexpr"


class Loops(Branches):
    """Lowers `for` and `while`."""

    #: The run-time loops around the statement that is lowered, in its function.
    loops = 0
    #: Whether that is a function of constexprs, whose numbers are Python's and whose loops are run by the compiler.
    compile_time = False
    _iterations = 0

    # --- unrolled loops ---

    def for_(self, node: t.For) -> Flow:
        """Lower a `for` loop."""
        bounds = loop_bounds(self, node.iterable)
        if bounds is None:
            raise Silent
        if not bounds.unrolled and not self.compile_time:
            self._for(node, bounds)
            return ON
        values = bounds.values(self.semantics)
        # Not len(values), which stops at 2**63 - 1.
        self._count(max(0, -((values.start - values.stop) // values.step)), node.span)
        before = set(self.scope.items)
        flow = self._unroll(node, values)
        self._end(node, before)
        return flow

    def _count(self, iterations: int, span: Span) -> None:
        self._iterations += iterations
        if self._iterations > limits.MAX_ITERATIONS:
            message = f"unrolling this loop exceeds {limits.MAX_ITERATIONS} iterations in one kernel"
            raise Mistake("MT142", message, span, "use `range`, which makes a loop at run time")

    def _unroll(self, node: t.For, values: range) -> Flow:
        for position, value in enumerate(values):
            self.bind(node.target.id, Known(value), node.target.span)
            flow = self.body(node.body, tail=False)
            others = values[position + 1 :]
            if isinstance(flow.returned, Value) and others:
                rest = functools.partial(self._unroll, node, others)
                return self.unless(flow, t.bound_names((node,)), rest, node.span)
            if flow is not ON:
                return flow
        return ON

    def _end(self, node: t.For | t.While, before: set[str]) -> None:
        """After a loop: hide the names that were bound only in it, and its variable, whose value would depend on the
        number of trips."""
        if isinstance(node, t.For):
            self.scope.hide([node.target.id], node.target.span, "the loop variable ends with its loop")
        for name in t.bound_names(node.body):
            if name.id not in before:
                self.scope.hide([name.id], name.span, "assigned only here, inside a loop")

    # --- run-time loops ---

    def _for(self, node: t.For, bounds: Bounds) -> None:
        builder, span, before = self.semantics.builder, node.span, set(self.scope.items)
        builder.span = span
        lower, upper, step = bounds.operands(self.semantics)
        if isinstance(bounds.step.item, Value) and bounds.step.item not in self.semantics.positive:
            moves = builder.add(ops.CmpNe, lhs=step, rhs=builder.constant(0, bounds.counted))
            builder.append(ops.Assert(condition=moves, message="the step of a loop must not be 0", span=span))
        carry = self._carry(node)
        with self.region(span) as made:
            induction = self._param(bounds.counted, node.target.id)
            params = self._enter(node, carry)
            counter = builder.cast(induction, bounds.type)
            self.semantics.hints_on[counter] = _STATIC
            self.bind(node.target.id, counter, node.target.span)
            places = self._trip(node, carry)
        changed = self._changed(carry, params)
        made = self._settle(carry, changed, params, made)
        self._yield(carry, changed, made, span)
        body = block((induction, *(params[slot] for slot in changed)), made)
        builder.span = span
        initial, stages = self._initial(carry, changed), bounds.num_stages
        loop = ops.For(lower=lower, upper=upper, step=step, initial=initial, num_stages=stages, body=body)
        self._bind_results(carry, changed, builder.append(loop).results, places)
        self._end(node, before)

    def while_(self, node: t.While) -> Flow:
        """Lower a `while` loop."""
        if self.compile_time:
            return self._while_known(node)
        self._while(node)
        return ON

    def _while_known(self, node: t.While) -> Flow:
        while True:
            test = self.evaluate(node.test)
            if is_poison(test):
                raise Silent
            if not self.semantics.known(test, "the condition of a `while`"):
                return ON
            self._count(1, node.span)
            flow = self.body(node.body, tail=False)
            if flow is not ON:
                return flow

    def _while(self, node: t.While) -> None:
        builder, span, before = self.semantics.builder, node.span, set(self.scope.items)
        carry = self._carry(node)
        with self.region(span) as tested:
            tests = self._enter(node, carry)
            test = self.evaluate(node.test)
            condition = None if is_poison(test) else self.condition(test, "the condition of a `while`")
            if isinstance(condition, Value):
                builder.append(ops.Yield(values=(condition,)))
        if condition is True:
            hint = "test something that the loop changes; kernels have no `break`"
            raise Mistake("MT151", "the condition of this `while` is always true", node.test.span, hint)
        if condition is not False:
            with self.region(span) as made:
                params = self._enter(node, carry)
                places = self._trip(node, carry)
            if condition is None:
                raise Silent
            changed = self._changed(carry, params)
            tested, made = (self._settle(carry, changed, p, m) for p, m in ((tests, tested), (params, made)))
            self._yield(carry, changed, made, span)
            condition_block, body = (
                block([p[slot] for slot in changed], m) for p, m in ((tests, tested), (params, made))
            )
            builder.span = span
            loop = ops.While(initial=self._initial(carry, changed), condition=condition_block, body=body)
            self._bind_results(carry, changed, builder.append(loop).results, places)
        self._end(node, before)

    # --- carried values ---

    def _carry(self, node: t.For | t.While) -> Carry:
        """Slots for what the loop may change. Constexprs have none: they must not change."""
        ending = {n.id for n in loop_variables((node,))}
        names = dict.fromkeys(n.id for n in t.bound_names(node.body))
        before = {n: self.scope.items[n] for n in names if n in self.scope.items and n not in ending}
        carry = Carry(before, self.scope.places, self.scope.constexprs)
        for name, item in carry.before.items():
            carry.plans[name] = item if name in self.scope.constexprs else carry.plan(name, item)
        return carry

    def _param(self, type_: Type, name: str) -> Value:
        value = Value(self.semantics.builder.ids.fresh(False), type_, name)
        self.semantics.names.setdefault(value, name)
        return value

    def _enter(self, node: t.For | t.While, carry: Carry) -> list[Value]:
        """Parameters for the slots, to which the names are bound in a block of the loop."""
        params = [self._param(type_, name) for _, type_, name in carry.slots]
        for param, (before, _, name) in zip(params, carry.slots, strict=True):
            if isinstance(before, Known):
                self.semantics.hints_on[param] = f"the loop assigns `{name}`, so it is not known at compile time"
        for name, plan in carry.plans.items():
            self.scope.items[name] = realized(plan, params)
        for variable in loop_variables(node.body):
            self.scope.hide([variable.id], variable.span, "the loop variable ends with its loop")
        for bound in t.bound_names(node.body):
            if bound.id not in self.scope.items:
                label = Label(bound.span, "its first value comes only here, later in the loop")
                self.scope.unreachable.setdefault(bound.id, label)
        return params

    def _trip(self, node: t.For | t.While, carry: Carry) -> dict[str, Span]:
        """Lower the body, and take what it leaves for the next trip; where the names were bound last."""
        self.loops += 1
        try:
            self.body(node.body, tail=False)
        finally:
            self.loops -= 1
        for name, plan in carry.plans.items():
            item = self.scope.items.get(name, POISON)
            if not holds_poison(item):
                try:
                    carry.leave(plan, item)
                    continue
                except Differ as differ:
                    self._changes(name, carry, differ)
            carry.before[name] = POISON
        return self.scope.places

    def _changes(self, name: str, carry: Carry, differ: Differ) -> None:
        """Report a name that does not keep its type in a loop."""
        place, old = self.scope.places[name], carry.places[name]
        labels = [Label(old, f"{differ.first} here")] if old != place else []
        if isinstance(carry.plans[name], Known) and name in carry.constexprs:
            message = f"the constexpr `{name}` cannot change in a run-time loop"
            hint = "use another name, for a value that is computed at run time"
            raise Mistake("MT149", message, place, hint, labels)
        message = f"`{name}` is {differ.first} before the loop, but becomes {differ.second} here"
        hint = "a variable keeps its type in a run-time loop: give it this type before the loop, or convert here"
        if (differ.first, differ.second) in _FLOATS:
            hint = f"start with a float: {name} = 0.0"
        self.semantics.report(Mistake("MT145", message, place, hint, labels).diagnostic)

    def _changed(self, carry: Carry, params: Sequence[Value]) -> list[int]:
        """The slots in which a trip leaves another value than it found."""
        found = zip(carry.slots, carry.last, params, strict=True)
        return [
            slot
            for slot, ((before, _, _), last, param) in enumerate(found)
            if last is not None and last is not param and not same(last, before)
        ]

    def _settle(self, carry: Carry, changed: Sequence[int], params: Sequence[Value], made: list[Op]) -> list[Op]:
        """The operations with the values before the loop in place of the parameters that do not change."""
        kept = [slot for slot in range(len(params)) if slot not in changed]
        values = {params[slot]: self.as_value(*carry.slots[slot][:2]) for slot in kept}
        carry.last = [values.get(item, item) if isinstance(item, Value) else item for item in carry.last]
        return substitute(made, values) if values else made

    def _yield(self, carry: Carry, changed: Sequence[int], made: list[Op], span: Span) -> None:
        with self.region(span, made):
            self.semantics.builder.span = span
            values = [self.as_value(carry.last[slot], carry.slots[slot][1]) for slot in changed]
            self.semantics.builder.append(ops.Yield(values=tuple(values)))

    def _initial(self, carry: Carry, changed: Sequence[int]) -> tuple[Value, ...]:
        return tuple(self.as_value(carry.slots[slot][0], carry.slots[slot][1]) for slot in changed)

    def _bind_results(
        self, carry: Carry, changed: Sequence[int], results: Sequence[Value], places: dict[str, Span]
    ) -> None:
        """Bind the names after the loop; those that it did not change keep what they had."""
        final: list[Item] = [before for before, _, _ in carry.slots]
        for slot, result in zip(changed, results, strict=True):
            final[slot] = result
        for name, plan in carry.plans.items():
            item = carry.before[name]
            item = item if isinstance(item, Poison) else realized(plan, final)
            if not same(item, self.scope.items[name]):
                self.bind(name, item, places[name])


#: What becomes a float although it began as an integer, the commonest such mistake.
_FLOATS = [(i, f) for i in ("i32", "i64") for f in ("f16", "bf16", "f32", "f64")]
