"""The optimization passes. Each is a function from `Func` to `Func` with a log of what it changed and why; the same
`Func` comes back if nothing did."""

from __future__ import annotations

from collections.abc import Callable

from mytriton.ir.core import Func
from mytriton.passes.cse import cse
from mytriton.passes.dce import dce
from mytriton.passes.fold import fold
from mytriton.passes.forward import forward
from mytriton.passes.licm import licm
from mytriton.passes.strength import strength
from mytriton.records import dataclass
from mytriton.stage import Change


@dataclass(frozen=True)
class Pass:
    """`name` is the stage's name after `opt/`. Changes to operations that have no line of their own (constants, casts
    and splats merged or dropped) are not logged, as no listing shows them."""

    name: str
    run: Callable[[Func], tuple[Func, tuple[Change, ...]]]


#: In the order they run. Operations that come out of several loops are merged after that, and loads are forwarded once
#: equal pointers are one value; what the later passes leave unused goes last.
PASSES: tuple[Pass, ...] = (
    Pass("fold", fold),
    Pass("licm", licm),
    Pass("cse", cse),
    Pass("forward", forward),
    Pass("strength", strength),
    Pass("dce", dce),
)
