"""The order of operations in the first SSA listing.

Loads and stores keep the order in which they were written. A pure operation has no moment of its own: it is put where
its value is first needed, operands before users, so a chain of assignments reads as the computation that feeds each
load and store. What nothing needs comes last, where dce will find it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mytriton.ir.builder import Ids
from mytriton.ir.core import Effect, Op, Value
from mytriton.ir.ops import Store


def _needs(op: Op) -> Iterator[Value]:
    """The operands in the order they are evaluated."""
    if isinstance(op, Store):
        # As in Python's `target[index] = value`, the value comes before the place it goes to.
        return iter((op.value, op.pointer) if op.mask is None else (op.value, op.pointer, op.mask))
    return iter(op.operands)


def schedule(ops: Sequence[Op], hints: Mapping[Value, str], ids: Ids) -> tuple[Op, ...]:
    """The operations in listing order, results numbered from `ids` and carrying the author's names."""
    producers = {value: op for op in ops for value in op.results}
    renamed: dict[Value, Value] = {}
    ordered: list[Op] = []
    done: set[int] = set()

    def emit(op: Op) -> None:
        results = tuple(Value(ids.fresh(op.inline), v.type, hints.get(v, v.hint)) for v in op.results)
        renamed.update(zip(op.results, results, strict=True))
        ordered.append(op.with_operands(renamed, results=results))

    def place(root: Op) -> None:
        if id(root) in done:
            return
        done.add(id(root))
        stack = [(root, _needs(root))]
        while stack:
            op, needs = stack[-1]
            for value in needs:
                producer = producers.get(value)
                if producer is not None and id(producer) not in done and producer.effect is Effect.NONE:
                    done.add(id(producer))
                    stack.append((producer, _needs(producer)))
                    break
            else:
                stack.pop()
                emit(op)

    for op in ops:
        if op.effect is not Effect.NONE:
            place(op)
    for op in ops:
        if not op.inline:
            place(op)
    return tuple(ordered)
