"""What the classes that print some kinds of operations have in common."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from mytriton.backends.cuda.expressions import without_parentheses
from mytriton.backends.cuda.facts import Facts
from mytriton.backends.cuda.values import Values
from mytriton.backends.cuda.writer import Writer
from mytriton.ir.core import Value


class Section:
    """Prints some kinds of operations of one kernel, with the facts, operands and lines that all of them share."""

    def __init__(self, facts: Facts, values: Values, writer: Writer) -> None:
        self._facts = facts
        self._values = values
        self._writer = writer

    def _under(self, conditions: Sequence[str]) -> AbstractContextManager[None]:
        """A block that is entered where all conditions hold; none where there are no conditions."""
        return self._writer.block(f"if ({' && '.join(conditions)})") if conditions else nullcontext()

    def _element(self, value: Value, index: str = "r") -> str:
        """An element of the operand or the result of an exchange, neither of which is an expression if it is in an
        array."""
        if value in self._facts.arrays or self._facts.named(value) in self._facts.arrays:
            return self._values.element(value, index)
        return self._values(value)

    def _set(self, value: Value, text: str, index: str = "r") -> None:
        """Give an element of the result of an exchange its value."""
        is_array = value in self._facts.arrays
        target = self._values.element(value, index) if is_array else self._values.target(value)
        self._writer.line(f"{target} = {without_parentheses(text)};")
