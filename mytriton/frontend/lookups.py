"""Elements looked up by others, and counted (see `registry.py`)."""

from __future__ import annotations

from mytriton import language as tl
from mytriton.frontend.memory import given, mask_value
from mytriton.frontend.orders import block_of
from mytriton.frontend.registry import builtin
from mytriton.frontend.semantics import Semantics
from mytriton.frontend.shapes import axis_argument
from mytriton.frontend.values import Item, Mistake, Operand
from mytriton.ir import ops
from mytriton.ir.core import Value
from mytriton.source import Span
from mytriton.types import ScalarType, element_of, i32, shape_of


def _integers(s: Semantics, operand: Operand, name: str, what: str) -> Value:
    """A block of integers."""
    value = block_of(s, operand, name)
    element = element_of(value.type)
    if not isinstance(element, ScalarType) or element.kind == "float":
        hint = s.whole(operand) if isinstance(element, ScalarType) else "give numbers: offsets instead of pointers"
        raise Mistake("MT203", f"{what} of tl.{name} must be integers, not {s.describe(operand)}", operand.span, hint)
    return value


@builtin(tl.gather, method=True)
def _gather(s: Semantics, span: Span, src: Operand, index: Operand, axis: Operand) -> Item:
    source, places = block_of(s, src, "gather"), _integers(s, index, "gather", "the indices")
    old, new = shape_of(source.type), shape_of(places.type)
    along = axis_argument(s, axis, len(old), s.describe(src))
    different = [n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b and n != along]
    if len(old) != len(new) or different:
        message = f"tl.gather cannot look up {s.describe(index)} in {s.describe(src)} along axis {along}"
        hint = "both need as many axes: x[:, None] adds one"
        if different:
            hint = f"their extents on axis {different[0]} must be equal: tl.broadcast_to repeats an axis of extent 1"
        raise Mistake("MT204", message, index.span, hint)
    # The extent is a power of 2, so the lowest bits are the index modulo the extent.
    last = s.builder.constant(old[along] - 1, i32, new)
    inside = s.builder.add(ops.And, lhs=s.builder.cast(places, i32), rhs=last)
    return s.builder.add(ops.Gather, source=source, index=inside, axis=along)


@builtin(tl.histogram, method=True)
def _histogram(s: Semantics, span: Span, input: Operand, num_bins: Operand, mask: Operand | None = None) -> Item:
    value = _integers(s, input, "histogram", "the elements")
    element, shape = element_of(value.type), shape_of(value.type)
    if not isinstance(element, ScalarType) or element.bits != 32:
        hint = f"convert it: {s.receiver(input)}.to(tl.int32)"
        message = f"tl.histogram takes 32-bit integers, not {s.describe(input)}"
        raise Mistake("MT203", message, input.span, hint)
    if len(shape) != 1:
        message = f"tl.histogram takes a block of one axis, not {s.describe(input)}"
        raise Mistake("MT204", message, input.span, f"make one of it: tl.ravel({s.short(input)})")
    bins = s.known_int(num_bins, "the number of bins")
    if bins < 1 or bins & (bins - 1):
        message = f"the number of bins must be a power of 2, not {bins}"
        raise Mistake("MT227", message, num_bins.span, "give more; those beyond stay 0")
    s.check_size((bins,), num_bins.span)
    where = given(mask)
    counted = None
    if where is not None:
        value, counted = s.same_shape([value, mask_value(s, where)], [input, where], span)
        if shape_of(value.type) != shape:
            message = f"the mask {s.describe(where)} does not broadcast to {s.describe(input)}"
            raise Mistake("MT204", message, where.span, "give it one axis of as many elements")
    return s.builder.add(ops.Histogram, source=value, mask=counted, bins=bins)
