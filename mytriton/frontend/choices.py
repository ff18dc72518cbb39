"""What run-time conditions do in expressions: `and`, `or`, and `x if condition else y`."""

from __future__ import annotations

from collections.abc import Sequence

from mytriton.frontend.regions import Differ, Join, Regions, block, realized, type_text
from mytriton.frontend.values import Item, Known, Mistake, Operand, is_number
from mytriton.ir import ops
from mytriton.ir.core import Op, Value
from mytriton.source import Span
from mytriton.types import is_pointer, shape_of


class Choices(Regions):
    """Values that depend on run-time conditions."""

    def append_if(self, condition: Value, sides: Sequence[list[Op]], join: Join, span: Span) -> tuple[Value, ...]:
        """Append the `If` whose blocks consist of the operations of two sides, and hand on the values of `join`."""
        builder = self.semantics.builder
        blocks = []
        for position, side in enumerate(sides):
            with self.region(span, side):
                builder.span = span
                values = [self.as_value((first, second)[position], type_) for first, second, type_ in join.pairs]
                builder.append(ops.Yield(values=tuple(values)))
            blocks.append(block((), side))
        builder.span = span
        return builder.append(ops.If(condition=condition, then=blocks[0], orelse=blocks[1])).results

    def choose_value(
        self, condition: Value, sides: Sequence[list[Op]], operands: Sequence[Operand], span: Span
    ) -> Item:
        """`x if condition else y`, each side computed only where it is chosen."""
        join = Join()
        try:
            plan = join.plan(operands[0].item, operands[1].item)
        except Differ:
            join = Join()
            plan = join.plan(*self._promoted(sides, operands, span))
        return realized(plan, self.append_if(condition, sides, join, span))

    def _promoted(self, sides: Sequence[list[Op]], operands: Sequence[Operand], span: Span) -> list[Value]:
        """Two numbers as values of one type and shape, converted in their own sides."""
        semantics = self.semantics
        items = [operand.item for operand in operands]
        for item in items:
            if not (isinstance(item, Known) and is_number(item.value)) and (
                not isinstance(item, Value) or is_pointer(item.type)
            ):
                types = " and ".join(map(type_text, items))
                message = f"the sides of this `if`-`else` have different types: {types}"
                hint = "decide it at compile time, or write an `if` statement"
                raise Mistake("MT153", message, span, hint)
        type_ = semantics.common(operands[0], operands[1], "if-else")
        shapes = {shape_of(item.type) for item in items if isinstance(item, Value)} - {()}
        if len(shapes) > 1:
            pair = f"{semantics.describe(operands[0])} and {semantics.describe(operands[1])}"
            hint = "the sides of a run-time `if`-`else` have one shape"
            raise Mistake("MT204", f"shapes do not match: {pair}", span, hint)
        values = []
        for side, operand in zip(sides, operands, strict=True):
            with self.region(span, side):
                semantics.builder.span = span
                value = semantics.value(operand, type_)
                values.append(semantics.builder.splat(value, next(iter(shapes), ())))
        return values

    def connect(self, op: str, operands: Sequence[Operand], span: Span) -> Item:
        """`and`/`or` of operands of which at least one is computed at run time: all are evaluated. A known one that
        decides nothing has no effect; the others count as true unless they are 0, elementwise for blocks."""
        values = [operand for operand in operands if isinstance(operand.item, Value)]
        if len(values) == 1:
            return values[0].item
        symbol = "&" if op == "and" else "|"
        result = Operand(self.as_bool(values[0], f"an operand of `{op}`"), values[0].expr)
        for operand in values[1:]:
            other = Operand(self.as_bool(operand, f"an operand of `{op}`"), operand.expr)
            self.semantics.builder.span = span
            result = Operand(self.semantics.binary(symbol, result, other, span), operand.expr)
        return result.item
