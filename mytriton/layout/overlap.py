"""Lets warpgroups multiply while copies begin for later trips.

In a pipelined loop copies begin before the product, since a load stands before what uses it. Warpgroups multiply
asynchronously, so a product that waits for no other operation of its trip begins first, as soon as its factors are
there, and is finished where it stood.
"""

from __future__ import annotations

from collections.abc import MutableMapping

from mytriton.ir import ops
from mytriton.ir.builder import Ids
from mytriton.ir.core import Block, Func, Op, Value
from mytriton.ir.printer import Printer
from mytriton.layout.layout import Layout
from mytriton.layout.ops import Finish
from mytriton.layout.staging import AsyncWait, Staged
from mytriton.layout.warpgroup import by_warpgroups
from mytriton.stage import Change


def overlap(func: Func, layouts: MutableMapping[Value, Layout]) -> tuple[Func, list[Change]]:
    """The function with products begun early, and what was done; the same one if there was nothing to do. New values
    get their layouts."""
    if not any(isinstance(op, ops.Dot) and by_warpgroups(op) and op.staged == "both" for op in func.walk()):
        return func, []
    step = _Overlap(func, layouts)
    body = step.block(func.body)
    return Func(func.name, body, func.info, func.span, step.ids.value, step.ids.inline), step.changes


class _Overlap:
    def __init__(self, func: Func, layouts: MutableMapping[Value, Layout]) -> None:
        self.ids, self.changes = Ids(func.next_value, func.next_inline), list[Change]()
        self._layouts, self._printer = layouts, Printer(func)

    def block(self, block: Block) -> Block:
        """Recursion follows the nesting of regions, not the length of the kernel."""
        inside = [op.with_regions(tuple(map(self.block, op.regions))) if op.regions else op for op in block.ops]
        wait = next((n for n, op in enumerate(inside) if isinstance(op, AsyncWait)), None)
        if wait is not None:
            inside = [*inside[: wait + 1], *self._after(inside[wait + 1 :], {v for o in inside for v in o.results})]
        return Block(block.params, tuple(inside))

    def _after(self, found: list[Op], made: set[Value]) -> list[Op]:
        """What follows when the factors are there; `made` is what the block makes."""
        views = {op.result: op for op in found if isinstance(op, Staged) and op.stage not in made}
        first: list[Op] = []
        rest: list[Op] = []
        for op in found:
            if (
                not (isinstance(op, ops.Dot) and by_warpgroups(op))
                or op.acc in made
                or not {op.lhs, op.rhs} <= {*views}
            ):
                rest.append(op)
                continue
            begun = Value(self.ids.fresh(False), op.result.type, op.result.hint)
            self._layouts[begun] = self._layouts[op.result]
            first += (views[op.lhs], views[op.rhs], op.evolve(begun=True, results=(begun,)))
            rest.append(Finish(source=begun, results=op.results, span=op.span))
            self._log(op, first[-1])
        return [*first, *(op for op in rest if op not in first)]

    def _log(self, op: ops.Dot, begun: Op) -> None:
        why = "warpgroups multiply while the copies of a later trip begin"
        self.changes.append(
            Change("layout/pipeline", "begin", self._printer.op(op), self._printer.op(begun), op.span, why)
        )
