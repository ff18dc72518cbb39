"""What is computed while a kernel is compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mytriton.frontend import limits
from mytriton.frontend.broadcast import Broadcasting
from mytriton.frontend.tree import Formatted
from mytriton.frontend.values import POISON, TOO_LARGE, Item, Known, Mistake, Operand, excess
from mytriton.ir.core import Value
from mytriton.source import Span
from mytriton.types import ScalarType


class Folding(Broadcasting):
    """Computes with compile-time values."""

    def fold(self, compute: Any, span: Span) -> Known:
        """The result of constexprs, as Python computes it; what Python raises becomes a mistake."""
        try:
            return Known(compute())
        except (ArithmeticError, TypeError, ValueError) as error:
            hint = "constexprs are computed as Python computes them, while the kernel is compiled"
            raise Mistake("MT212", f"`{self.text(span)}` cannot be computed: {error}", span, hint) from None

    def limited(self, item: Item, span: Span) -> Item:
        """The item; poison, and a mistake, for a compile-time value that is too large."""
        problem = "" if isinstance(item, Value) else excess(item)
        if not problem:
            return item
        self.report(Mistake("MT212", f"`{self.text(span)}` cannot be computed: {problem}", span, TOO_LARGE).diagnostic)
        return POISON

    def formatted(self, expr: Formatted, operand: Operand, spec: Operand) -> Known:
        """A value in an f-string."""
        value, form = self.known(operand, "a value in an f-string"), self.known(spec, "the format of a value")
        convert = _CONVERSIONS.get(expr.conversion)
        return self.fold(lambda: limits.formatted(convert(value) if convert else value, form), expr.span)

    def settled(self, operation: Callable[[], Item]) -> Known:
        """The result of an operation of run-time values that are known, as the interpreter computes it."""
        import numpy as np  # here, as it takes longer to load than most kernels to compile

        from mytriton.ir.arithmetic import evaluate

        outer, self.builder.ops = self.builder.ops, []
        try:
            item = operation()
        finally:
            made, self.builder.ops = self.builder.ops, outer
        assert isinstance(item, Value) and isinstance(item.type, ScalarType)
        values: dict[Value, Any] = {}
        with np.errstate(all="ignore"):
            for op in made:
                values[op.result] = evaluate(op, [values[v] for v in op.operands])
        return Known(values[item].item(), item.type)


_CONVERSIONS: dict[str, Callable[[Any], str]] = {"r": repr, "s": str, "a": ascii}
