"""Single elements of blocks, computed as scalars: the first of a block, or the first of the chunk a loop is at."""

from __future__ import annotations

from collections.abc import Sequence

from mytriton.backends.cpu.elementwise import elementwise
from mytriton.backends.cpu.places import Positions, held_type, slot
from mytriton.backends.cpu.plan import Plan, is_spread_scalar
from mytriton.backends.cpu.scalars import ScalarWriter
from mytriton.backends.cpu.views import View
from mytriton.backends.cpu.writer import POINTER, Text, type_name
from mytriton.ir import ops
from mytriton.ir.core import Op, Value
from mytriton.types import shape_of


class Elements:
    """Writes elements for the loops `first` to `last`; what other loops make is in scratch memory.

    Without `positions` the elements are the first ones of their blocks."""

    def __init__(
        self, text: Text, plan: Plan, scalars: ScalarWriter, first: int, last: int, positions: Positions | None = None
    ) -> None:
        self.text, self.plan, self.scalars, self.positions = text, plan, scalars, positions
        self._first, self._last = first, last
        self._names: dict[tuple[Value, View], str] = {}

    def get(self, value: Value, view: View | None = None) -> str:
        """The name of an element."""
        value, view = self.plan.resolve(value, view)
        view = view if self.positions is not None else ()
        missing: dict[tuple[Value, View], Op | None] = {}
        pending = [(value, view)]
        while pending:
            key = pending.pop()
            if key in self._names or key in missing:
                continue
            op = missing[key] = self._definition(key[0])
            pending += [self._resolve(v, key[1]) for v in self._operands(op)]
        for key in sorted(missing, key=lambda k: -1 if (op := missing[k]) is None else self.plan.order[op]):
            self._names[key] = self._element(*key, missing[key])
        return self._names[value, view]

    def _resolve(self, value: Value, view: View) -> tuple[Value, View]:
        return self.plan.resolve(value, view) if self.positions is not None else (self.plan.resolve(value)[0], ())

    def _definition(self, value: Value) -> Op | None:
        """The operation that computes a value here; None if it is kept."""
        made = self.plan.made_in.get(value)
        return self.plan.definitions[value] if made is None or self._first <= made <= self._last else None

    def _operands(self, op: Op | None) -> Sequence[Value]:
        """The blocks whose elements are needed. A range from 0 adds nothing to a block's first element."""
        operands = [v for v in op.operands if shape_of(v.type)] if op is not None else []
        if self.positions is None and isinstance(op, (ops.Add, ops.AddPtr)):
            return [v for v in operands if not self._is_zero(v)] or operands
        return operands

    def _is_zero(self, value: Value) -> bool:
        op = self.plan.definitions.get(self.plan.resolve(value)[0])
        return isinstance(op, ops.Arange) and op.start == 0

    def _element(self, value: Value, view: View, op: Op | None) -> str:
        if is_spread_scalar(op):
            return self.scalars.name(op.source)
        names = [self._names[self._resolve(v, view)] for v in self._operands(op)]
        if op is not None and 0 < len(names) < len(op.operands):
            return names[0]
        suffix = f"{self.positions.suffix(view)}.chunk" if self.positions is not None else ".first"
        result = f"{self.text.name(value)}{suffix}"
        if not self.text.once(result):
            return result
        if op is None:
            self._reload(value, view, result)
            return result
        self.text.at(op)
        if isinstance(op, ops.Arange):
            self._range(op, view, result)
        else:
            elementwise(self.text, self.scalars.emitter, op, result, names)
        return result

    def _range(self, op: ops.Arange, view: View, result: str) -> None:
        start = f"{result}.start" if self.positions is not None else result
        self.text.write(f"{start} = arith.constant {op.start} : i32")
        if self.positions is not None:
            self.text.write(f"{result} = arith.addi {self.positions.first(view)}, {start} : i32")

    def _reload(self, value: Value, view: View, result: str) -> None:
        where = slot(self.text, self.plan, value)
        if self.positions is not None:
            index, base = self.positions.first(view), where
            where = f"{result}.slot"
            types = f"({POINTER}, i32) -> {POINTER}, {type_name(held_type(value))}"
            self.text.write(f"{where} = llvm.getelementptr {base}[{index}] : {types}")
        self.scalars.reload(where, value, result)
