"""Which arrays a kernel may write to; the others may be read-only."""

from __future__ import annotations

from mytriton.ir import ops
from mytriton.ir.core import Func, Value
from mytriton.ir.ops.control import yielded
from mytriton.types import is_pointer


def written_params(func: Func) -> frozenset[Value]:
    """The pointer parameters through which the function may store. Pointers that may be derived from each other, or are
    chosen between, are taken for one; one made of a number may lead into any array."""
    groups = pointer_groups(func)
    stored: list[Value] = []
    for op in func.walk():
        if isinstance(op, (ops.Store, ops.Atomic)):
            stored.append(op.pointer)
        elif isinstance(op, ops.InlineAsm):
            stored += [v for v in op.args if is_pointer(v.type)]
    written = {groups.find(v) for v in stored}
    return frozenset(p for p in func.pointer_params() if groups.find(p) in written)


def pointer_groups(func: Func) -> PointerGroups:
    """The pointers that may lead into one array."""
    groups = PointerGroups()
    for op in func.walk():
        if isinstance(op, ops.If):
            groups.join(op.results, yielded(op.then), yielded(op.orelse))
        elif isinstance(op, ops.For):
            groups.join(op.results, op.initial, op.carried, yielded(op.body))
        elif isinstance(op, ops.While):
            groups.join(op.results, op.initial, op.condition.params, op.body.params, yielded(op.body))
        elif op.results and is_pointer(op.results[0].type):
            made = isinstance(op, ops.Bitcast) and not is_pointer(op.source.type)
            for value in func.pointer_params() if made else op.operands:
                groups.join(op.results, (value,))
    return groups


class PointerGroups:
    """Disjoint sets of values."""

    def __init__(self) -> None:
        self._parent: dict[Value, Value] = {}

    def find(self, value: Value) -> Value:
        """The one that stands for the set."""
        path = []
        while value in self._parent:
            path.append(value)
            value = self._parent[value]
        self._parent.update((v, value) for v in path)
        return value

    def join(self, *rows: tuple[Value, ...]) -> None:
        """Make one set of the pointers that stand at one place of each row."""
        for first, *others in zip(*rows, strict=True):
            for other in others:
                if is_pointer(first.type) and is_pointer(other.type) and self.find(first) is not self.find(other):
                    self._parent[self.find(first)] = self.find(other)
