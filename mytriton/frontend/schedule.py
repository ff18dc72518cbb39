"""The order of operations in the first SSA listing.

Loads, stores, reductions (which order memory), branches and loops keep the order in which they were written. Any other
operation has no moment of its own: it is put where its value is first needed, operands before users, so a chain of
assignments reads as the computation that feeds each load and store. What a nested block needs of its surroundings comes
before the branch or loop. What nothing needs comes last, where dce will find it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from mytriton.ir.builder import Ids
from mytriton.ir.core import Block, Effect, Op, Value, walk
from mytriton.ir.ops import Reduce, Store, Yield


def _needs(op: Op) -> Iterator[Value]:
    """The operands in the order they are evaluated, then what nested blocks use."""
    if isinstance(op, Store):
        # As in Python's `target[index] = value`, the value comes before the place it goes to.
        return iter((op.value, op.pointer) if op.mask is None else (op.value, op.pointer, op.mask))
    inner = (v for region in op.regions for one in walk(region) for v in one.operands)
    return chain(op.operands, inner) if op.structured else iter(op.operands)


def _stays(op: Op) -> bool:
    """Whether an operation keeps its place among others that do."""
    return op.effect is not Effect.NONE or op.structured or isinstance(op, Reduce)


class _Scheduler:
    def __init__(self, hints: Mapping[Value, str], ids: Ids) -> None:
        self._hints = hints
        self._ids = ids
        self._renamed: dict[Value, Value] = {}

    def _rename(self, values: Sequence[Value], inline: bool = False) -> tuple[Value, ...]:
        hints = self._hints
        results = tuple([Value(self._ids.fresh(inline), v.type, hints.get(v, v.hint)) for v in values])
        self._renamed.update(zip(values, results, strict=True))
        return results

    def _emit(self, op: Op) -> Op:
        done = op.with_operands(self._renamed, results=self._rename(op.results, op.inline))
        if op.structured:
            done = done.with_regions(tuple(Block(self._rename(b.params), self.block(b.ops)) for b in op.regions))
        return done

    def block(self, ops: Sequence[Op]) -> tuple[Op, ...]:
        """The operations of one block in listing order. The recursion follows the nesting of blocks."""
        producers = {value: op for op in ops for value in op.results}
        ordered: list[Op] = []
        done: set[int] = set()

        def place(root: Op) -> None:
            if id(root) in done:
                return
            done.add(id(root))
            stack = [(root, _needs(root))]
            while stack:
                op, needs = stack[-1]
                for value in needs:
                    producer = producers.get(value)
                    if producer is not None and id(producer) not in done and not _stays(producer):
                        done.add(id(producer))
                        stack.append((producer, _needs(producer)))
                        break
                else:
                    stack.pop()
                    ordered.append(self._emit(op))

        for op in ops:
            if _stays(op):
                place(op)
        end = ops[-1] if ops and isinstance(ops[-1], Yield) else None
        for value in end.operands if end is not None else ():
            if value in producers:
                place(producers[value])
        for op in ops:
            if not op.inline and op is not end:
                place(op)
        if end is not None:
            place(end)
        return tuple(ordered)


def schedule(ops: Sequence[Op], hints: Mapping[Value, str], ids: Ids) -> tuple[Op, ...]:
    """The operations in listing order, results numbered from `ids` and carrying the author's names."""
    return _Scheduler(hints, ids).block(ops)
