"""Takes carried values out of loops and results out of branches; which of them may go is for a pass to know."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress

from mytriton.ir.core import Block, Value
from mytriton.ir.ops import For, If, While
from mytriton.ir.ops.control import terminator


def _yield_less(block: Block, keep: Sequence[bool], params: tuple[Value, ...]) -> Block:
    last = terminator(block)
    return Block(params, (*block.ops[:-1], last.evolve(values=tuple(compress(last.values, keep)))))


def without_results(op: If, keep: Sequence[bool]) -> If:
    """An `if` with the results for which `keep` is true."""
    return op.evolve(
        results=tuple(compress(op.results, keep)),
        then=_yield_less(op.then, keep, ()),
        orelse=_yield_less(op.orelse, keep, ()),
    )


def without_carried(op: For | While, keep: Sequence[bool]) -> For | While:
    """A loop with the carried values for which `keep` is true."""
    less = op.evolve(results=tuple(compress(op.results, keep)), initial=tuple(compress(op.initial, keep)))
    if isinstance(less, For):
        return less.evolve(body=_yield_less(op.body, keep, (less.induction, *compress(less.carried, keep))))
    return less.evolve(
        condition=Block(tuple(compress(less.condition.params, keep)), less.condition.ops),
        body=_yield_less(op.body, keep, tuple(compress(op.body.params, keep))),
    )
