"""Dead code elimination: what no store depends on is dropped."""

from __future__ import annotations

from dataclasses import replace

from mytriton.ir.core import Block, Effect, Func, Op, Value, walk
from mytriton.ir.printer import Printer
from mytriton.stage import Change


def _is_root(op: Op) -> bool:
    """Whether an operation is needed whoever uses it: it writes, or it ends a block (then it has no result)."""
    if op.regions:
        return any(inner.effect in (Effect.WRITE, Effect.OUTPUT) for b in op.regions for inner in walk(b))
    return op.effect in (Effect.WRITE, Effect.OUTPUT) or not op.results


class _Sweeper:
    def __init__(self, func: Func) -> None:
        self.printer = Printer(func)
        self.live: set[Value] = set()
        self.changes: list[Change] = []

    def block(self, block: Block) -> Block:
        kept: list[Op] = []
        for op in reversed(block.ops):
            if not (_is_root(op) or any(v in self.live for v in op.results)):
                self._drop(op)
                continue
            self.live.update(op.operands)
            kept.append(op.with_regions(tuple(self.block(b) for b in op.regions)) if op.regions else op)
        kept.reverse()
        same = len(kept) == len(block.ops) and all(a is b for a, b in zip(kept, block.ops, strict=True))
        return block if same else Block(block.params, tuple(kept))

    def _drop(self, op: Op) -> None:
        if not op.inline:  # an inline operation without a user is on no line
            self.changes.append(Change("dce", "unused", self.printer.op(op), "", op.span, "unused"))


def dce(func: Func) -> tuple[Func, tuple[Change, ...]]:
    """Drop operations whose results nothing uses, unused loads too (a load has no effect but its value)."""
    sweeper = _Sweeper(func)
    body = sweeper.block(func.body)
    return (func if body is func.body else replace(func, body=body)), tuple(reversed(sweeper.changes))
