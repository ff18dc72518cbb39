"""Facts about values that follow from the operations before them, over branches and loops.

A loop's carried values are first taken for what they start with. Where a trip hands back something else, the two are
joined and everything is looked at again, a few times at most; then nothing is assumed of any carried value, which is
always sound. So the cost is that of a few walks over the function, however loops are nested.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from mytriton.ir.core import Block, Func, Op, Value
from mytriton.ir.ops import For, If, InlineAsm, While
from mytriton.ir.ops.control import yielded

T = TypeVar("T")

#: Walks in which carried values may still change.
ROUNDS = 5


class Forward(Generic[T]):
    """A forward analysis; a subclass says what is known of parameters and results, and joins facts."""

    def __init__(self) -> None:
        self.facts: dict[Value, T] = {}
        self._back: dict[Value, T] = {}  # what trips hand back to a carried value, with what they started from
        self._changed = False
        self._last_round = False

    def tracks(self, value: Value) -> bool:
        """Whether there are facts about values of this type."""
        raise NotImplementedError

    def unknown(self, value: Value) -> T:
        """The fact that holds of every value of the type."""
        raise NotImplementedError

    def parameter(self, value: Value) -> T:
        """What is known of a kernel's argument."""
        return self.unknown(value)

    def transfer(self, op: Op) -> T:
        """What is known of the only result of an operation without blocks."""
        raise NotImplementedError

    def induction(self, op: For) -> T:
        """What is known of a loop's variable."""
        raise NotImplementedError

    def join(self, x: T, y: T) -> T:
        """What holds of both."""
        raise NotImplementedError

    def widen(self, value: Value, old: T, new: T) -> T:
        """Like `join`, for a carried value that was taken for `old`; must come to an end soon."""
        return self.join(old, new)

    def run(self, func: Func) -> dict[Value, T]:
        """The facts of all tracked values."""
        self.facts.update((p, self.parameter(p)) for p in func.params if self.tracks(p))
        for number in range(ROUNDS + 1):
            self._changed, self._last_round = False, number == ROUNDS
            self._block(func.body)
            if not self._changed:
                break
        return self.facts

    def _block(self, block: Block) -> None:
        # Recursion follows the nesting of regions, not the length of the kernel.
        for op in block.ops:
            if not op.structured:
                self._simple(op)
                continue
            match op:
                case If():
                    self._block(op.then)
                    self._block(op.orelse)
                    self._results(op, yielded(op.then), yielded(op.orelse))
                case For():
                    self.facts[op.induction] = self.induction(op)
                    self._loop(op.initial, (op.carried,), (op.body,))
                    self._results(op, op.initial, yielded(op.body))
                case While():
                    self._loop(op.initial, (op.condition.params, op.body.params), (op.condition, op.body))
                    self._results(op, op.initial, yielded(op.body))

    def _simple(self, op: Op) -> None:
        if isinstance(op, InlineAsm):
            self.facts.update((v, self.unknown(v)) for v in op.results if self.tracks(v))
        elif op.results and self.tracks(op.result):
            self.facts[op.result] = self.transfer(op)

    def _results(self, op: Op, first: Sequence[Value], second: Sequence[Value]) -> None:
        for result, x, y in zip(op.results, first, second, strict=True):
            if self.tracks(result):
                self.facts[result] = self.join(self.facts[x], self.facts[y])

    def _loop(self, initial: Sequence[Value], params: Sequence[Sequence[Value]], blocks: Sequence[Block]) -> None:
        slots = [(k, v) for k, v in enumerate(initial) if self.tracks(v)]
        for k, value in slots:
            last = params[-1][k]
            if self._last_round:
                fact = self.unknown(value)
            elif last in self._back:
                fact = self.join(self.facts[value], self._back[last])
            else:
                fact = self.facts[value]
            self.facts.update((p[k], fact) for p in params)
        for block in blocks:
            self._block(block)
        if self._last_round:
            return
        for k, _ in slots:
            last = params[-1][k]
            old, new = self.facts[last], self.facts[yielded(blocks[-1])[k]]
            if self.join(old, new) != old:
                self._back[last] = self.widen(last, old, new)
                self._changed = True
