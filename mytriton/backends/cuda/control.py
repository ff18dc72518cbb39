"""Loops and branches as those of C++, and the assignments that carry values through them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from mytriton.backends.cuda.expressions import without_parentheses
from mytriton.backends.cuda.facts import Facts
from mytriton.backends.cuda.literals import c_type
from mytriton.backends.cuda.loops import Loop, Part, Structure
from mytriton.backends.cuda.section import Section
from mytriton.backends.cuda.values import Values
from mytriton.backends.cuda.variables import Variable
from mytriton.backends.cuda.writer import Writer
from mytriton.ir import ops
from mytriton.ir.core import Block, Effect, Op, Value, walk
from mytriton.ir.ops.control import terminator, yielded
from mytriton.types import ScalarType

#: A value that takes the value of another.
Copy = tuple[Value, Value]


class Control(Section):
    """Prints the structured operations of one kernel; `parts` prints what their blocks hold, `right_hand_side` gives
    the expression of one operation."""

    def __init__(
        self,
        facts: Facts,
        values: Values,
        writer: Writer,
        parts: Callable[[Sequence[Part]], None],
        right_hand_side: Callable[[Op], str],
    ) -> None:
        super().__init__(facts, values, writer)
        self._parts = parts
        self._right_hand_side = right_hand_side

    def __call__(self, structure: Structure) -> None:
        """Write a structured operation."""
        op = structure.op
        self._writer.start(op.span, op.results)
        match op:
            case ops.If():
                self._if(op, structure.blocks)
            case ops.For():
                self._assign(list(zip(op.carried, op.initial, strict=True)))
                self._for(op, structure.blocks[0])
            case ops.While():
                self._assign(list(zip(op.condition.params, op.initial, strict=True)))
                self._while(op, structure.blocks)

    # --- if -----------------------------------------------------------------------------------------------------------

    def _if(self, op: ops.If, blocks: Sequence[Sequence[Part]]) -> None:
        for result in op.results:
            self._values.declare(result)
        then, orelse = (self._is_needed(op.results, r, b) for r, b in zip(op.regions, blocks, strict=True))
        condition = without_parentheses(self._values(op.condition))
        if then:
            with self._writer.block(f"if ({condition})"):
                self._branch(op, op.then, blocks[0])
        if orelse:
            # The brace that closes the first block and the word that opens the second stand on lines of their own: a
            # line is linked to one place.
            with self._writer.block("else" if then else f"if (!{self._values(op.condition)})"):
                self._branch(op, op.orelse, blocks[1])

    def _is_needed(self, results: Sequence[Value], region: Block, parts: Sequence[Part]) -> bool:
        return bool(parts) or any(self._differ(*copy) for copy in zip(results, yielded(region), strict=True))

    def _branch(self, op: ops.If, region: Block, parts: Sequence[Part]) -> None:
        self._parts(parts)
        self._hand_over(op.results, region)
        self._writer.start(op.span, op.results)

    # --- loops --------------------------------------------------------------------------------------------------------

    def _for(self, op: ops.For, parts: Sequence[Part]) -> None:
        self._writer.start(op.span, (op.induction, *op.results))
        self._values.declared(op.induction)
        step = self._values.constant(op.step)
        if isinstance(step, int) and step and self._stays_inside(op, step):
            head, first = self._stepping(op, step), ""
        else:
            # One step more than the last might wrap, and so begin anew: count the trips.
            head, first = self._counting(op)
        is_used = any(op.induction in inner.operands for inner in walk(op.body))
        with self._writer.block(head):
            if first and is_used:
                self._writer.line(first)
            self._parts(parts)
            self._hand_over(op.carried, op.body)
            self._writer.start(op.span, op.results)

    def _stepping(self, op: ops.For, step: int) -> str:
        """`for (int k = 0; k < n; k += 4)`."""
        name, (lower, upper, size) = self._values.name(op.induction), map(self._values, (op.lower, op.upper, op.step))
        sign, change = ("<", "+") if step > 0 else (">", "-")
        following = f"{change}{change}{name}" if abs(step) == 1 else f"{name} {change}= {size.removeprefix('-')}"
        return f"for ({c_type(op.induction.type)} {name} = {lower}; {name} {sign} {upper}; {following})"

    def _counting(self, op: ops.For) -> tuple[str, str]:
        """`for (unsigned k_trip = 0, k_trips = mt_trips_i32(0, n, 4); k_trip < k_trips; ++k_trip)`, and the statement
        that makes the variable of the trip's number."""
        values, type_ = self._values, op.induction.type
        assert isinstance(type_, ScalarType)
        unsigned = "unsigned long long" if type_.bits == 64 else "unsigned"
        trip, trips = values.own_name(op.induction, "trip"), values.own_name(op.induction, "trips")
        function = f"mt_trips_{type_ if type_.bits >= 32 else 'i32'}"
        count = values.prelude.call(function, values(op.lower), values(op.upper), values(op.step))
        head = f"for ({unsigned} {trip} = 0, {trips} = {count}; {trip} < {trips}; ++{trip})"
        start, size = (_unsigned(values(v), values.constant(v), unsigned) for v in (op.lower, op.step))
        sum_ = f"{trip} * {size}" if values.constant(op.lower) == 0 else f"{start} + {trip} * {size}"
        return head, f"{c_type(type_)} {values.name(op.induction)} = {sum_};"

    def _stays_inside(self, op: ops.For, step: int) -> bool:
        """Whether one step more than the last is still a number of the variable's type."""
        type_, end = op.induction.type, self._facts.ranges[op.upper]
        assert isinstance(type_, ScalarType)
        if step > 0:
            return end.high - 1 + step <= type_.high
        return end.low + 1 + step >= type_.low < step

    def _while(self, op: ops.While, blocks: Sequence[Sequence[Part]]) -> None:
        self._writer.start(op.span, op.results)
        condition, body = blocks
        (value,) = yielded(op.condition)
        test = self._test(value, condition)
        with self._writer.block(f"while ({test or 'true'})"):
            if test is None:
                self._parts(condition)
                self._writer.start(terminator(op.condition).span or op.span, (value,))
                with self._writer.block(f"if (!{self._values(value)})"):
                    self._writer.line("break;")
            self._parts(body)
            self._hand_over(op.condition.params, op.body)
            self._writer.start(op.span, op.results)

    def _test(self, value: Value, condition: Sequence[Part]) -> str | None:
        """The condition of a loop as one expression, if it is one."""
        if not condition:
            return without_parentheses(self._values(value))
        (loop, *others) = condition
        if others or not isinstance(loop, Loop) or loop.barrier or len(loop.ops) > 1:
            return None
        (op,) = loop.ops
        if value not in op.results or op.effect is not Effect.NONE:
            return None
        self._writer.mention(value)
        return without_parentheses(self._right_hand_side(op))

    # --- assignments --------------------------------------------------------------------------------------------------

    def _hand_over(self, targets: Sequence[Value], region: Block) -> None:
        end = terminator(region)
        self._writer.start(end.span, targets)
        self._assign(list(zip(targets, end.values, strict=True)))

    def _differ(self, target: Value, source: Value) -> bool:
        ours, theirs = (self._values.variables.get(self._facts.named(v)) for v in (target, source))
        return ours is None or ours is not theirs

    def _assign(self, copies: Sequence[Copy]) -> None:
        """All at once: what one assigns another still reads as it was.

        A block may be made of a smaller one or of a scalar (a splat, a slice), not the other way round, so the largest
        go first.
        """
        needed = sorted((c for c in copies if self._differ(*c)), key=lambda c: -self._facts.registers(c[0]))
        for registers, group in groupby(needed, lambda c: self._facts.registers(c[0])):
            pending = list(group)
            for target, _ in pending:
                self._values.declare_array(target)
            with self._values.loop(registers):
                self._in_order(pending)
            self._values.forget()

    def _in_order(self, pending: list[Copy]) -> None:
        reads = {target: self._reads(source) for target, source in pending}
        while pending:
            overwritten = {target: self._values.variables.get(target) for target, _ in pending}
            free = (c for c in pending if not any(overwritten[c[0]] in reads[t] for t, _ in pending if t is not c[0]))
            copy = next(free, None)
            if copy is None:  # each is still read by another: put one aside
                target = pending[0][0]
                self._values.save(target)
                for variables in reads.values():
                    variables.discard(overwritten[target])
                continue
            target, source = copy
            text = without_parentheses(self._values(source))
            self._writer.line(f"{self._values.target(target)} = {text};")
            pending.remove(copy)

    def _reads(self, source: Value) -> set[Variable | None]:
        return {self._values.variables.get(v) for v, _ in self._facts.leaves((source,))}


def _unsigned(text: str, constant: object, type_: str) -> str:
    if isinstance(constant, int) and constant >= 0:
        return f"{constant}{'u' if type_ == 'unsigned' else 'ull'}"
    return f"({type_}){text}"
