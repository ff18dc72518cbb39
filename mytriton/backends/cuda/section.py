"""What the classes that print some kinds of operations have in common."""

from __future__ import annotations

from mytriton.backends.cuda.facts import Facts
from mytriton.backends.cuda.values import Values
from mytriton.backends.cuda.writer import Writer


class Section:
    """Prints some kinds of operations of one kernel, with the facts, operands and lines that all of them share."""

    def __init__(self, facts: Facts, values: Values, writer: Writer) -> None:
        self._facts = facts
        self._values = values
        self._writer = writer
