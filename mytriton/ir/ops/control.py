"""Structured control flow. Conditions and bounds are scalars, so all lanes of a program take the same way."""

from __future__ import annotations

from typing import ClassVar

from mytriton.ir.core import Block, Op, TypeRuleError, Value, attribute, operand, operands, region
from mytriton.ir.ops.rules import require
from mytriton.records import dataclass
from mytriton.types import Type, i1, is_integer, shape_of


@dataclass(frozen=True, eq=False, kw_only=True)
class Yield(Op):
    """Ends the block of a structured operation and hands `values` to it: the next trip's carried values, the results
    of the branch, or a loop's condition."""

    opcode: ClassVar[str] = "yield"
    values: tuple[Value, ...] = operands(())

    def type_rule(self) -> tuple[Type, ...]:
        return ()


@dataclass(frozen=True, eq=False, kw_only=True)
class For(Op):
    """`for i in range(lower, upper, step)`, counting in the type of `i`; a run-time step may be negative. If it is 0 no
    trip is made; what the frontend makes asserts that it is not. `body` has the parameters (i, *carried) and yields
    the next carried values; the results are the last ones, or `initial` if no trip is made. `i` never wraps: the loop
    ends where it would.

    `num_stages` says into how many buffers blocks are loaded ahead that products take; 0: what the launch says."""

    opcode: ClassVar[str] = "for"
    structured: ClassVar[bool] = True
    lower: Value = operand()
    upper: Value = operand()
    step: Value = operand()
    initial: tuple[Value, ...] = operands(())
    num_stages: int = attribute(0)
    body: Block = region()

    @property
    def induction(self) -> Value:
        """The loop variable."""
        return self.body.params[0]

    @property
    def carried(self) -> tuple[Value, ...]:
        """The body's parameters for carried values."""
        return self.body.params[1:]

    def type_rule(self) -> tuple[Type, ...]:
        types = {self.lower.type, self.upper.type, self.step.type, self.induction.type}
        one = len(types) == 1 and is_integer(self.lower.type) and not shape_of(self.lower.type)
        require(one, "the bounds, the step and the variable of a loop must be scalars of one integer type")
        return _carried_types(self.initial, self.carried, yielded(self.body))


@dataclass(frozen=True, eq=False, kw_only=True)
class While(Op):
    """`while`: `condition` (parameters: the carried values) yields an i1; as long as it is true, `body` (the same
    parameters) yields the next carried values. The results are those for which the condition was false."""

    opcode: ClassVar[str] = "while"
    structured: ClassVar[bool] = True
    initial: tuple[Value, ...] = operands(())
    condition: Block = region()
    body: Block = region()

    def type_rule(self) -> tuple[Type, ...]:
        tests = [v.type for v in yielded(self.condition)]
        require(tests == [i1], "the condition of a loop must yield one bool")
        _carried_types(self.initial, self.condition.params, self.initial)
        return _carried_types(self.initial, self.body.params, yielded(self.body))


@dataclass(frozen=True, eq=False, kw_only=True)
class If(Op):
    """`if` on a scalar i1: the results are what the chosen block yields. Neither block has parameters."""

    opcode: ClassVar[str] = "if"
    structured: ClassVar[bool] = True
    condition: Value = operand()
    then: Block = region()
    orelse: Block = region()

    def type_rule(self) -> tuple[Type, ...]:
        require(self.condition.type == i1, "a condition must be a scalar bool, got {}", self.condition.type)
        require(not self.then.params and not self.orelse.params, "the blocks of an `if` have no parameters")
        ours, others = ([v.type for v in yielded(b)] for b in (self.then, self.orelse))
        require(ours == others, "the branches yield different types")
        return tuple(ours)


def terminator(block: Block) -> Yield:
    """The `Yield` that ends the block of a structured operation; raises `TypeRuleError` if there is none."""
    last = block.ops[-1] if block.ops else None
    if not isinstance(last, Yield):
        raise TypeRuleError("a block must end with a yield")
    return last


def yielded(block: Block) -> tuple[Value, ...]:
    """What a block hands to the operation it belongs to."""
    return terminator(block).values


def _carried_types(initial: tuple[Value, ...], params: tuple[Value, ...], last: tuple[Value, ...]) -> tuple[Type, ...]:
    types = tuple(v.type for v in initial)
    same = types == tuple(v.type for v in params) == tuple(v.type for v in last)
    require(same, "carried values change their number or types")
    return types
