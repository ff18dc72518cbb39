"""The layout step: layouts for every value, conversions and steps of reductions, and the items the emitters print."""

from __future__ import annotations

from mytriton.ir.core import Func
from mytriton.layout.choose import VECTOR_BYTES as VECTOR_BYTES  # also for the emitters
from mytriton.layout.cut import cut
from mytriton.layout.order import barriers
from mytriton.layout.program import LaidOut
from mytriton.layout.rewrite import Rewriter
from mytriton.target import Target


def lay_out(func: Func, target: Target) -> LaidOut:
    """The laid-out program of a function."""
    rewriter = Rewriter(func, target)
    laid_out = rewriter.run()
    waits = barriers(laid_out, rewriter.layouts, rewriter.reductions)
    items = cut(laid_out.body, rewriter.layouts, waits)
    return LaidOut(laid_out, rewriter.layouts, items, target.num_warps)
