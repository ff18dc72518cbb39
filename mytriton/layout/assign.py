"""The layout step: layouts for every value, conversions and steps of reductions, and the items the emitters print."""

from __future__ import annotations

from mytriton.ir.core import Func
from mytriton.ir.printer import Printer
from mytriton.ir.verify import verify
from mytriton.layout.choose import VECTOR_BYTES as VECTOR_BYTES  # also for the emitters
from mytriton.layout.cut import cut
from mytriton.layout.order import barriers
from mytriton.layout.overlap import overlap
from mytriton.layout.pipeline import pipeline
from mytriton.layout.program import LaidOut
from mytriton.layout.rewrite import Rewriter
from mytriton.stage import Change
from mytriton.target import Target


def lay_out(func: Func, target: Target) -> LaidOut:
    """The laid-out program of a function."""
    rewriter = Rewriter(func, target)
    laid_out = rewriter.run()
    laid_out, pipelined = pipeline(laid_out, rewriter.layouts, target)
    laid_out, begun = overlap(laid_out, rewriter.layouts)
    if laid_out is not func:
        verify(laid_out, func)
    waits = barriers(laid_out, rewriter.layouts, rewriter.reductions)
    printer = Printer(laid_out)
    waiting = [Change("layout", "barrier", "", printer.op(op), op.span, why) for op, why in waits.items()]
    items = cut(laid_out, rewriter.layouts, waits.keys())
    return LaidOut(
        laid_out, rewriter.layouts, items, target.num_warps, (*rewriter.changes, *pipelined, *begun, *waiting)
    )
