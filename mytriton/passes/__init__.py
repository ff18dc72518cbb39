"""The optimization passes. Each is a function from `Func` to `Func` with a log of what it changed and why; the same
`Func` comes back if nothing did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mytriton.ir.core import Func
from mytriton.passes.cse import cse
from mytriton.passes.dce import dce
from mytriton.passes.fold import fold
from mytriton.stage import Change


@dataclass(frozen=True)
class Pass:
    """`name` is the stage's name after `opt/`. Changes to operations that have no line of their own (constants, casts
    and splats merged or dropped) are not logged, as no listing shows them."""

    name: str
    run: Callable[[Func], tuple[Func, tuple[Change, ...]]]


#: In the order they run.
PASSES: tuple[Pass, ...] = (Pass("fold", fold), Pass("cse", cse), Pass("dce", dce))
