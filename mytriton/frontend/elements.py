"""Calls of functions of single elements, for all elements of blocks."""

from __future__ import annotations

from collections.abc import Sequence

from mytriton.frontend.semantics import Semantics
from mytriton.frontend.values import Item, Known, Operand, Silent, Tuple, is_poison
from mytriton.frontend.widening import Widening
from mytriton.ir.core import Value
from mytriton.source import Span
from mytriton.types import element_of, shape_of


def for_each(
    s: Semantics, function: Operand, args: Sequence[Item], shape: tuple[int, ...], span: Span
) -> tuple[list[Value], bool]:
    """The results of a function that is given the elements of the blocks among `args`, as blocks of `shape`; and
    whether it returns one value, and no tuple."""
    blocks = {n: arg for n, arg in enumerate(args) if isinstance(arg, Value) and shape_of(arg.type)}
    params = {n: Value(s.builder.ids.fresh(False), element_of(block.type)) for n, block in blocks.items()}
    outer, s.builder.ops = s.builder.ops, []
    try:
        given = [Operand(params.get(n, arg), function.expr) for n, arg in enumerate(args)]
        returned = s.call(function, given, span)
        if is_poison(Operand(returned, function.expr)):
            raise Silent
        items = returned.items if isinstance(returned, Tuple) else (returned,)
        nothing = isinstance(returned, Known) and returned.value is None
        results = [] if nothing else [s.value(Operand(item, function.expr)) for item in items]
    finally:
        made, s.builder.ops = s.builder.ops, outer
    widening = Widening(s, shape, {param: blocks[n] for n, param in params.items()})
    widening.run(made)
    s.builder.span = span
    return [widening.block(v) for v in results], not isinstance(returned, Tuple)
