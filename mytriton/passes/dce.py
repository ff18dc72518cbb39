"""Dead code elimination: what no store, assertion or print depends on is dropped, carried values and results of
branches too. A loop without effect and without a used result is dropped whether it ends or not."""

from __future__ import annotations

from dataclasses import replace

from mytriton.analysis.effects import effect_of
from mytriton.ir.core import Block, Effect, Func, Op, Value
from mytriton.ir.ops import For, If, While, Yield
from mytriton.ir.ops.control import yielded
from mytriton.ir.printer import Printer
from mytriton.passes.slots import without_carried, without_results
from mytriton.stage import Change


class _Liveness:
    """Which operations are needed, and which slots (results, or carried values) of structured ones."""

    def __init__(self, func: Func) -> None:
        self.needed: set[Op] = set()
        self.slots: set[tuple[Op, int]] = set()
        self._parent: dict[Op, Op | None] = {}
        self._source: dict[Value, tuple[Op, int]] = {}  # an operation and which of its results, or carried values
        self._pending: list[Value] = []
        self._roots: list[Op] = []
        self._enter(func.body, None)
        for op in self._roots:
            self._need(op)
        seen: set[Value] = set()
        while self._pending:
            value = self._pending.pop()
            if value not in seen and value in self._source:
                seen.add(value)
                self._use(*self._source[value])

    def _enter(self, block: Block, parent: Op | None) -> None:
        """Note what defines each value, and the operations that are needed whoever uses them."""
        # Recursion follows the nesting of regions, not the length of the kernel.
        for op in block.ops:
            self._parent[op] = parent
            for slot, value in enumerate(op.results):
                self._source[value] = op, slot
            if op.structured:
                for inner in op.regions:
                    first = -1 if isinstance(op, For) else 0  # slot -1: the loop variable
                    self._source.update((p, (op, slot)) for slot, p in enumerate(inner.params, first))
                    self._enter(inner, op)
            elif op.effect is not Effect.NONE and effect_of(op) is not Effect.READ:
                self._roots.append(op)

    def _need(self, op: Op | None) -> None:
        """An operation is needed, and with it all that decide whether it runs."""
        while op is not None and op not in self.needed:
            self.needed.add(op)
            match op:
                case Op(structured=False):
                    self._pending += op.operands
                case If():
                    self._pending.append(op.condition)
                case For():
                    self._pending += (op.lower, op.upper, op.step)
                case While():
                    self._pending += yielded(op.condition)
            op = self._parent[op]

    def _use(self, op: Op, slot: int) -> None:
        self._need(op)
        if not op.structured or (op, slot) in self.slots or slot < 0:
            return
        self.slots.add((op, slot))
        if isinstance(op, If):
            self._pending += (yielded(op.then)[slot], yielded(op.orelse)[slot])
        elif isinstance(op, (For, While)):
            self._pending += (op.initial[slot], yielded(op.body)[slot])


class _Sweeper:
    def __init__(self, func: Func) -> None:
        self.printer = Printer(func)
        self.live = _Liveness(func)
        self.changes: list[Change] = []

    def block(self, block: Block) -> Block:
        kept: list[Op] = []
        for op in block.ops:
            if op in self.live.needed:
                kept.append(self._less(op) if op.structured else op)
            elif isinstance(op, Yield):
                kept.append(op)
            elif not op.inline:  # an inline operation without a user is on no line
                self.changes.append(Change("dce", "unused", self.printer.op(op), "", op.span, "unused"))
        same = len(kept) == len(block.ops) and all(a is b for a, b in zip(kept, block.ops, strict=True))
        return block if same else Block(block.params, tuple(kept))

    def _less(self, op: Op) -> Op:
        """A structured operation without what nothing uses."""
        keep = [(op, slot) in self.live.slots for slot in range(len(op.results))]
        place = len(self.changes)
        done = op.with_regions(tuple(self.block(b) for b in op.regions))
        if all(keep):
            return done
        unused = ", ".join(v.id for v, kept in zip(op.results, keep, strict=True) if not kept)
        if isinstance(done, If):
            rule, done = "unused_result", without_results(done, keep)
        elif isinstance(done, (For, While)):
            rule, done = "unused_carried", without_carried(done, keep)
        texts = self.printer.op(op), self.printer.op(done)
        self.changes.insert(place, Change("dce", rule, *texts, op.span, f"nothing uses {unused}"))
        return done


def dce(func: Func) -> tuple[Func, tuple[Change, ...]]:
    """Drop operations whose results nothing uses, unused loads too (a load has no effect but its value)."""
    sweeper = _Sweeper(func)
    body = sweeper.block(func.body)
    return (func if body is func.body else replace(func, body=body)), tuple(sweeper.changes)
