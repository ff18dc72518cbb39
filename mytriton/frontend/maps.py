"""Functions of the author's that are given single elements, and done for whole blocks (see `registry.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from mytriton import language as tl
from mytriton.frontend.elements import for_each
from mytriton.frontend.memory import given
from mytriton.frontend.registry import builtin
from mytriton.frontend.scans import pick
from mytriton.frontend.semantics import Semantics
from mytriton.frontend.values import Item, Known, Mistake, Operand, Tuple
from mytriton.ir import ops
from mytriton.ir.core import Value
from mytriton.source import Span
from mytriton.types import i32, shape_of


@builtin(tl.map_elementwise)
def _map_elementwise(
    s: Semantics, span: Span, scalar_fn: Operand, args: tuple[Operand, ...], pack: Operand | None = None
) -> Item:
    packed = given(pack)
    count = 1 if packed is None else s.known_int(packed, "`pack`")
    items = [s.number(arg, f"argument {n} of tl.map_elementwise") for n, arg in enumerate(args, 1)]
    blocks = {n: v for n, v in enumerate(items) if isinstance(v, Value) and shape_of(v.type)}
    if not blocks:
        message = "tl.map_elementwise needs a block to go through"
        raise Mistake("MT229", message, span, f"for single numbers, call it: {s.text(scalar_fn.span)}(...)")
    blocks = dict(zip(blocks, s.same_shape(list(blocks.values()), [args[n] for n in blocks], span), strict=True))
    shape = shape_of(next(iter(blocks.values())).type)
    if packed is not None and (count < 1 or prod(shape) % count):
        message = f"`pack` must be a power of 2, at most the {prod(shape)} elements there are, not {count}"
        raise Mistake("MT229", message, packed.span, "it says how many elements a call of the function is given")
    inputs: list[Item] = []
    for n, item in enumerate(items):
        inputs += _apart(s, blocks[n], count) if n in blocks else [item] * count
    inner = shape if count == 1 else (prod(shape) // count,)
    results, single = for_each(s, scalar_fn, inputs, inner, span)
    name = s.text(scalar_fn.span)
    if len(results) % count:
        message = f"`{name}` returns {len(results)} values, for {count} elements"
        raise Mistake("MT229", message, scalar_fn.span, "return as many for each element, those of one result together")
    made = [_together(s, results[n : n + count], shape, name, scalar_fn.span) for n in range(0, len(results), count)]
    return Tuple(tuple(made)) if not single else made[0] if made else Known(None)


def _apart(s: Semantics, value: Value, count: int) -> list[Value]:
    """The elements in groups of `count` consecutive ones: the first of each, the second, and so on."""
    if count == 1:
        return [value]
    groups = prod(shape_of(value.type)) // count
    rows = s.reshape(value, (groups, count))
    return [s.reshape(pick(s, rows, 1, 1, 0, n), (groups,)) for n in range(count)]


def _together(s: Semantics, parts: Sequence[Value], shape: tuple[int, ...], name: str, span: Span) -> Value:
    """What `_apart` has made parts of."""
    if len(parts) == 1:
        return parts[0]
    if len(types := dict.fromkeys(str(v.type) for v in parts)) > 1:
        message = f"`{name}` returns values of several types, {' and '.join(types)}, as one result"
        raise Mistake("MT229", message, span, "convert them to one type")
    rows = (prod(shape) // len(parts), len(parts))
    columns = [s.broadcast(s.reshape(v, (rows[0], 1)), rows) for v in parts]
    at = s.broadcast(s.reshape(s.builder.add(ops.Arange, start=0, end=rows[1]), (1, rows[1])), rows)
    found = columns[0]
    for n, column in enumerate(columns[1:], 1):
        here = s.builder.add(ops.CmpEq, lhs=at, rhs=s.builder.constant(n, i32, rows))
        found = s.builder.add(ops.Select, condition=here, if_true=column, if_false=found)
    return s.reshape(found, shape)
