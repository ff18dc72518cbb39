"""What a kernel may ask of the compiler: beyond these sizes it would run for minutes, or out of memory or stack."""

from __future__ import annotations

import re
from typing import Any

#: Run-time branches, loops and calls in one another. The passes follow their nesting on Python's stack.
MAX_DEPTH = 100
#: Calls of helpers in one another.
MAX_CALL_DEPTH = 50
#: Calls of helpers in one kernel, each of which is lowered in its place.
MAX_CALLS = 10_000
#: Unrolled iterations in one kernel.
MAX_ITERATIONS = 65536
#: The longest integer a constexpr may be; beyond it nothing fits a type.
MAX_BITS = 4096
#: Characters of a constexpr string, or of all strings in a tuple.
MAX_CHARACTERS = 100_000
#: Items of a tuple, those of the tuples in it included.
MAX_ITEMS = 4096
#: Tuples in one another.
MAX_TUPLE_DEPTH = 50


def formatted(value: Any, form: str) -> str:
    """Python's `format`. Raises `OverflowError` for a width or precision that would take all memory."""
    if any(len(number) > 9 or int(number) > MAX_CHARACTERS for number in re.findall(r"\d+", form)):
        raise OverflowError(f"the result has more than {MAX_CHARACTERS} characters")
    return format(value, form)
