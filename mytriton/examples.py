"""How a kernel file says how to run itself: example launches with their NumPy reference.

@kernel.example(n=1000)
def case(n):
    ...
    return mytriton.Example(args={...}, grid=..., expected={"out": reference})
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Example:
    """One launch. `args` are all arguments by parameter name, arrays being NumPy arrays (bfloat16 and 8-bit
    floats from `ml_dtypes`) and constexprs included; `options` are launch options such as `num_warps`.

    `expected` maps the names of output arrays to what they must hold afterwards; arrays not named must be unchanged.
    Without it the interpreter is the reference. An element matches if it is within `atol + rtol * |expected|` (see
    `check.tolerance` for the defaults, by dtype), if both are NaN, or if both are the same infinity.
    """

    args: dict[str, Any]
    grid: int | tuple[int, ...] | Callable[[Mapping[str, Any]], Any]
    expected: Mapping[str, Any] | None = None
    rtol: float | None = None
    atol: float | None = None
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ExampleCase:
    """A declared example: `function(**values)` builds it, each time anew."""

    function: Callable[..., Example]
    values: Mapping[str, Any]

    @property
    def label(self) -> str:
        """`add(n=1000)`."""
        return f"{self.function.__name__}({', '.join(f'{k}={v!r}' for k, v in self.values.items())})"

    def build(self) -> Example:
        """The example with fresh arrays. Raises whatever the author's function raises."""
        example = self.function(**self.values)
        if not isinstance(example, Example):
            raise TypeError(f"the example {self.label} must return a mytriton.Example, got {type(example).__name__}")
        return example
