"""What the blocks of structured operations may do besides their results."""

from __future__ import annotations

from mytriton.ir.core import Block, Effect, Func, Op
from mytriton.ir.ops import Load

_NOTHING: frozenset[Effect] = frozenset({Effect.NONE})


def effect_of(op: Op) -> Effect:
    """An operation's effect. A volatile load counts as a write: what it waits for may change any memory."""
    return Effect.WRITE if isinstance(op, Load) and op.volatile else op.effect


def effects_within(func: Func) -> dict[Op, frozenset[Effect]]:
    """For each structured operation, the effects of the operations in its blocks, however deep."""
    found: dict[Op, frozenset[Effect]] = {}

    def visit(block: Block) -> frozenset[Effect]:
        # Recursion follows the nesting of regions, not the length of the kernel.
        effects = set(_NOTHING)
        for op in block.ops:
            if regions := op.regions:
                found[op] = _NOTHING.union(*(visit(b) for b in regions))
                effects |= found[op]
            else:
                effects.add(effect_of(op))
        return frozenset(effects)

    visit(func.body)
    return found
