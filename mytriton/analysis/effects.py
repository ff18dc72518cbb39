"""What the blocks of structured operations may do besides their results."""

from __future__ import annotations

from typing import NamedTuple

from mytriton.ir.core import Block, Effect, Func, Op
from mytriton.ir.ops import Load


class Effects(NamedTuple):
    """Whether something may be written to memory, and whether anything may show outside in another way."""

    writes: bool
    shows: bool


def effect_of(op: Op) -> Effect:
    """An operation's effect. A volatile load counts as a write: what it waits for may change any memory."""
    effect = op.effect
    return Effect.WRITE if effect is Effect.READ and isinstance(op, Load) and op.volatile else effect


def effects_within(func: Func) -> dict[Op, Effects]:
    """For each structured operation, the effects of the operations in its blocks, however deep."""
    found: dict[Op, Effects] = {}

    def visit(block: Block) -> Effects:
        # Recursion follows the nesting of regions, not the length of the kernel.
        writes = shows = False
        for op in block.ops:
            if op.structured:
                inner = [visit(b) for b in op.regions]
                found[op] = Effects(any(e.writes for e in inner), any(e.shows for e in inner))
                writes, shows = writes or found[op].writes, shows or found[op].shows
            elif op.effect is not Effect.NONE:
                effect = effect_of(op)
                writes, shows = writes or effect is Effect.WRITE, shows or effect is Effect.OUTPUT
        return Effects(writes, shows)

    visit(func.body)
    return found
